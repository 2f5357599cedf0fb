/** Lets a world happen through the service's own doors, in its order and at its times: browsers and hooks know nothing else. */

import { createHash } from 'node:crypto'

import type { Machine, MachineEvent, Visitor, World } from './world.ts'

const WEBSITE = 'acme-dev'
/** What each kind of looker says of itself. */
const LOOKS = {
  person: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  crawler: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  assistant:
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot',
  script: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
} as const

export interface Doors {
  readonly url: string
  /** Sets the service's clock. */
  readonly setTime: (atMs: number) => void
  /** Asks the dashboard for the mark of a test. */
  readonly testMark: () => Promise<string>
}

interface Moment {
  readonly at: number
  readonly happen: () => Promise<void>
}

/** What browsers and clipboards hold. */
interface Held {
  readonly receipts: Map<number, string>
  readonly tokens: Map<number, string>
}

export async function letHappen(world: World, doors: Doors): Promise<void> {
  const held: Held = { receipts: new Map(), tokens: new Map() }
  const moments: Moment[] = [
    ...world.visitors.map((visitor) => ({ at: visitor.at, happen: () => visit(visitor, doors, held) })),
    ...world.visitors.flatMap((visitor) =>
      visitor.copiedAt === null ? [] : [{ at: visitor.copiedAt, happen: () => copy(visitor, doors, held) }],
    ),
    ...world.machines.flatMap((machine) =>
      machine.events.map((event) => ({ at: event.at, happen: () => report(machine, event, doors, held) })),
    ),
  ]
  for (const { at, happen } of moments.sort((a, b) => a.at - b.at)) {
    doors.setTime(at)
    await happen()
  }
}

async function visit(visitor: Visitor, doors: Doors, { receipts }: Held): Promise<void> {
  const { way, page, system, at, looker } = visitor
  const source = { referrer: way.from, utm: way.tags, landed_at: at, page, ref: way.ref, click: way.click }
  const body = {
    project: WEBSITE,
    url_id: `url_${createHash('sha256').update(page).digest('hex').slice(0, 16)}`,
    page_url: page,
    referrer: way.from,
    source,
    gpc: visitor.isPrivate,
    client: { platform: system.says, automation: looker === 'script' ? true : undefined },
    test: visitor.isTest ? await doors.testMark() : undefined,
  }
  const { marker } = await post(doors, '/v1/visits', body, browserOf(visitor))
  const receipt = textIn(marker, 'receipt')
  receipts.set(visitor.id, receipt)
  if (visitor.keepsMarker) await post(doors, '/v1/visits/activate', { project: WEBSITE, receipt }, browserOf(visitor))
}

function browserOf({ page, looker }: Visitor): Caller {
  return { origin: new URL(page).origin, userAgent: LOOKS[looker] }
}

async function copy(visitor: Visitor, doors: Doors, { receipts, tokens }: Held): Promise<void> {
  const body = { project: WEBSITE, receipt: receipts.get(visitor.id) ?? '', copied: true }
  const answer = await post(doors, '/v1/handoffs', body, browserOf(visitor))
  tokens.set(visitor.id, textIn(answer, 'token'))
}

async function report(machine: Machine, event: MachineEvent, doors: Doors, { receipts, tokens }: Held): Promise<void> {
  const { lead } = event
  const proof =
    lead === null
      ? { receipts: [] }
      : lead.by === 'token'
        ? { receipts: [], handoff: tokens.get(lead.visitor.id) ?? '' }
        : { receipts: [receipts.get(lead.visitor.id) ?? ''] }
  const body = {
    project: WEBSITE,
    event_id: event.id,
    installation_id: machine.id,
    event_type: event.what,
    platform: machine.system,
    install_path: machine.method,
    timezone: machine.zone.says,
    product_version: event.version === '' ? undefined : event.version,
    place: machine.place === '' ? undefined : machine.place,
    ci: machine.isCi ? true : undefined,
    container: machine.isContainer ? true : undefined,
    test: machine.isTest ? await doors.testMark() : undefined,
    ...proof,
  }
  const agent = machine.agent === '' ? '' : ` agent/${machine.agent}`
  const hook = { origin: null, userAgent: `whence-hook/1.0.0${agent}` }
  await post(doors, '/v1/events', body, hook)
  if (event.comesTwice) await post(doors, '/v1/events', body, hook)
}

interface Caller {
  /** Null: no browser. */
  readonly origin: string | null
  readonly userAgent: string
}

let addresses = 0

/** Each from an address of its own, as from so many places. */
async function post(
  { url }: Doors,
  path: string,
  body: object,
  { origin, userAgent }: Caller,
): Promise<Record<string, unknown>> {
  addresses += 1
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': userAgent,
      'X-Forwarded-For': `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`,
      ...(origin === null ? {} : { Origin: origin }),
    },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`)
  const answer: unknown = JSON.parse(text)
  if (typeof answer !== 'object' || answer === null) throw new Error(`${path} answered no object`)
  return { ...answer }
}

function textIn(value: unknown, name: string): string {
  const member: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
  if (typeof member !== 'string') throw new Error(`an answer has no ${name}`)
  return member
}
