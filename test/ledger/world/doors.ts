/** Lets a world happen through the service's own doors, in its order and at its times: browsers and hooks know nothing else. */

import { createHash } from 'node:crypto'

import {
  DAY,
  leadPage,
  type Erasure,
  type Lead,
  type Machine,
  type MachineEvent,
  type PageLook,
  type Visitor,
  type World,
} from './world.ts'

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
  readonly setTime: (atMs: number) => void | Promise<void>
  /** Asks the dashboard for the mark of a test. */
  readonly testMark: () => Promise<string>
  /** Resolves when the service has done with an event what it had to do. Time goes on then. */
  readonly settle: () => Promise<void>
  /** It settles after every event. */
  readonly isPatient: boolean
  /** Lets it happen, but keeps what is answered from the rest of the service until the returned function is called. */
  readonly holdBack: (happen: () => Promise<void>) => Promise<() => Promise<void>>
  /** Called when a hook begins with its request. */
  readonly onHook: () => void
  /** Called when a hook gets no answer; it tries once more then. */
  readonly whenCutOff: () => Promise<void>
  /** What receipts say can be looked up again when this was called with true as often as with false; whether that is so now. */
  readonly setClear: (isClear: boolean) => boolean
  /** Erases what the command line names so. */
  readonly erase: (words: readonly string[]) => Promise<void>
  /** From now on the website keeps thirty days; what is older goes. */
  readonly forget: () => Promise<void>
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
  const outside = { doors, held }
  const natural: Moment[] = [
    ...world.visitors.flatMap((visitor) =>
      visitor.walk.flatMap((look) =>
        passedOn(look.at, visitor.heldFor, { doors, happen: () => lookAt(visitor, look, outside) }),
      ),
    ),
    ...world.visitors.flatMap((visitor) =>
      visitor.copiedAt === null ? [] : [{ at: visitor.copiedAt, happen: () => copy(visitor, doors, held) }],
    ),
    ...world.machines.flatMap((machine) =>
      machine.events.flatMap((event) => [
        ...passedOn(event.at, event.heldFor, { doors, happen: () => reportUnclear(machine, event, outside) }),
        ...(event.unclearFor === 0 ? [] : [{ at: event.at + event.unclearFor, happen: () => clear(doors) }]),
      ]),
    ),
    ...world.erasures.map((erasure) => ({ at: erasure.at, happen: () => doors.erase(erasedWords(erasure, held)) })),
    ...daysOf(world).map((at) => ({ at, happen: doors.forget })),
  ]
  for (const { at, happen } of natural.toSorted((a, b) => a.at - b.at)) {
    // What would end later ends with the world.
    await doors.setTime(Math.min(at, world.endsAt))
    await happen()
  }
}

interface Happening {
  readonly doors: Doors
  readonly happen: () => Promise<void>
}

/** What happens, and later that the rest of the service gets to know it. */
function passedOn(at: number, heldFor: number, { doors, happen }: Happening): readonly Moment[] {
  if (heldFor === 0) return [{ at, happen }]
  let release = (): Promise<void> => Promise.reject(new Error('it has not happened'))
  return [
    { at, happen: async () => void (release = await doors.holdBack(happen)) },
    { at: at + heldFor, happen: () => release() },
  ]
}

/** Those on which the website forgets. */
function daysOf({ forgetsFrom, machines }: World): readonly number[] {
  if (forgetsFrom === null) return []
  const last = Math.max(...machines.flatMap(({ events }) => events.map(({ at }) => at)))
  return Array.from({ length: Math.ceil((last - forgetsFrom) / DAY) + 1 }, (_, day) => forgetsFrom + day * DAY)
}

function erasedWords({ machines, visitors }: Erasure, { receipts }: Held): readonly string[] {
  const named = {
    '--installation': machines.map(({ id }) => id),
    '--receipt': visitors.map(({ id }) => receipts.get(id) ?? ''),
  }
  return Object.entries(named).flatMap(([flag, names]) => (names.length === 0 ? [] : [flag, names.join(',')]))
}

async function reportUnclear(machine: Machine, event: MachineEvent, { doors, held }: Outside): Promise<void> {
  if (event.unclearFor > 0) doors.setClear(false)
  await report(machine, event, doors, held)
}

async function clear(doors: Doors): Promise<void> {
  if (doors.setClear(true)) await doors.settle()
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
    identities: identitiesOf(visitor),
    client: { platform: system.says, automation: looker === 'script' ? true : undefined },
    test: visitor.isTest ? await doors.testMark() : undefined,
  }
  const caller = { origin: new URL(page).origin, userAgent: LOOKS[looker] }
  const { marker } = await post(doors, '/v1/visits', body, caller)
  const receipt = textIn(marker, 'receipt')
  if (look === leadPage(visitor)) receipts.set(visitor.id, receipt)
  if (visitor.keepsMarker) await post(doors, '/v1/visits/activate', { project: WEBSITE, receipt }, caller)
}

/** The cookie of a network of ads. */
function identitiesOf({ isKnownToAds, at, id }: Visitor): object | undefined {
  return isKnownToAds ? { meta: { fbp: `fb.1.${at}.${1_000_000 + id}` } } : undefined
}

function browserOf(visitor: Visitor): Caller {
  return { origin: new URL(leadPage(visitor).page).origin, userAgent: LOOKS[visitor.looker] }
}

async function copy(visitor: Visitor, doors: Doors, { receipts, tokens }: Held): Promise<void> {
  const body = { project: WEBSITE, receipt: receipts.get(visitor.id) ?? '', copied: true }
  const answer = await post(doors, '/v1/handoffs', body, browserOf(visitor))
  tokens.set(visitor.id, textIn(answer, 'token'))
}

function proofOf(lead: Lead, { receipts, tokens }: Held): object {
  if (lead === null) return { receipts: [] }
  const { id } = lead.visitor
  return lead.by === 'token' ? { receipts: [], handoff: tokens.get(id) ?? '' } : { receipts: [receipts.get(id) ?? ''] }
}

async function report(machine: Machine, event: MachineEvent, doors: Doors, held: Held): Promise<void> {
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
    ...proofOf(event.lead, held),
  }
  const agent = machine.agent === '' ? '' : ` agent/${machine.agent}`
  const hook = { origin: null, userAgent: `whence-hook/1.0.0${agent}` }
  const tell = (): Promise<unknown> => post(doors, '/v1/events', body, hook)
  doors.onHook()
  await tell().catch(async (error: unknown) => {
    // The service was there, and refused.
    if (!(error instanceof TypeError)) throw error
    await doors.whenCutOff()
    await tell()
  })
  if (event.comesTwice) await tell()
  if (doors.isPatient) await doors.settle()
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
