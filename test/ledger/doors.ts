/** Lets a world happen through the service's own doors, in its order and at its times: browsers and hooks know nothing else. */

import { createHash } from 'node:crypto'

import { leadPage, type Machine, type MachineEvent, type PageLook, type Visitor, type World } from './world.ts'

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
    ...world.visitors.flatMap((visitor) =>
      visitor.walk.map((look) => ({ at: look.at, happen: () => lookAt(visitor, look, { doors, held }) })),
    ),
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

interface Outside {
  readonly doors: Doors
  readonly held: Held
}

/** As a browser tells of a page: what comes later belongs to the sitting, and has the landing of its first page. */
async function lookAt(visitor: Visitor, look: PageLook, { doors, held: { receipts } }: Outside): Promise<void> {
  const { way, walk, system, at, looker, forgets } = visitor
  const isFirst = look === walk[0]
  const landing = { landed_at: at, page: walk[0]?.page, utm: way.tags, ref: way.ref, click: way.click }
  const { page } = look
  const body = {
    project: WEBSITE,
    url_id: `url_${createHash('sha256').update(page).digest('hex').slice(0, 16)}`,
    page_url: page,
    referrer: isFirst ? way.from : walk[0]?.page,
    source: { referrer: way.from, ...landing, carried: isFirst ? undefined : true },
    sitting: forgets ? undefined : `sitting-${String(visitor.id).padStart(14, '0')}`,
    // A browser that keeps nothing knows a later page by the one before it.
    entry: isFirst ? (forgets ? undefined : true) : false,
    gpc: visitor.isPrivate,
    client: { platform: system.says, automation: looker === 'script' ? true : undefined },
    test: visitor.isTest ? await doors.testMark() : undefined,
  }
  const caller = { origin: new URL(page).origin, userAgent: LOOKS[looker] }
  const { marker } = await post(doors, '/v1/visits', body, caller)
  const receipt = textIn(marker, 'receipt')
  if (look === leadPage(visitor)) receipts.set(visitor.id, receipt)
  if (visitor.keepsMarker) await post(doors, '/v1/visits/activate', { project: WEBSITE, receipt }, caller)
}

function browserOf(visitor: Visitor): Caller {
  return { origin: new URL(leadPage(visitor).page).origin, userAgent: LOOKS[visitor.looker] }
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
