/**
 * What every figure of a world must be, by the definitions that marketers are given and nothing else: an install is counted when it
 * arrived, and belongs to the visit that led to it.
 */

import { DAY, leadPage, type Lead, type Machine, type MachineEvent, type Visitor, type World } from './world.ts'

const WEEK = 7 * DAY
const MONTH = 30 * DAY

/** An event of a machine that figures count. */
export interface Entry {
  readonly id: string
  readonly at: number
  readonly kind: 'install' | 'upgrade' | 'reinstall'
  readonly machine: Machine
  readonly version: string
  readonly outcome: 'found' | 'none' | 'not looked up' | 'being decided'
  readonly visitor: Visitor | null
  readonly isCompleted: boolean
  readonly hasRun: boolean
}

export interface Book {
  readonly entries: readonly Entry[]
  /** All that visits may have led to, whatever part of the entries is asked for. */
  readonly outcomes: readonly Entry[]
  readonly visitors: readonly Visitor[]
}

/** Without what is in no figure: programs that look at pages, machines on which nobody chose to install, and tests of the house. */
export function keepBook(world: World, now = Infinity): Book {
  const { visitors, machines } = withoutErased(world)
  const counted = machines.filter(({ isCi, isContainer, isTest }) => !isCi && !isContainer && !isTest)
  const entries = counted.flatMap((machine) => entriesOf(machine, { world, now }))
  return {
    visitors: visitors.filter(({ looker, isTest }) => looker === 'person' && !isTest),
    entries,
    outcomes: entries,
  }
}

/** How many requests that quotas count came within the period: page views of all but crawlers, and events of all machines. */
export function trackedIn(world: World, period: Period) {
  const { visitors, machines } = withoutErased(world)
  const looks = visitors.flatMap(({ looker, walk }) => (looker === 'crawler' ? [] : walk))
  const events = machines.flatMap((machine) => machine.events)
  const among = (all: readonly { readonly at: number }[]): number => all.filter(({ at }) => isIn(period, at)).length
  return { pageViews: among(looks), events: among(events) }
}

/** With the installs of every machine. What visits led to is without those. */
export function keepBookOfAll(world: World): Book {
  const { machines } = withoutErased(world)
  return { ...keepBook(world), entries: machines.flatMap((machine) => entriesOf(machine, { world, now: Infinity })) }
}

/**
 * With a machine its events go, and the page views that only they name; with a page view all events that name it. What else the machine and the
 * visitor did stays.
 */
function withoutErased(world: World): Pick<World, 'visitors' | 'machines'> {
  const erased = new Set(world.erasures.flatMap(({ machines }) => machines))
  const asked = new Set(world.erasures.flatMap(({ visitors }) => visitors))
  const naming = (machine: Machine): readonly (Visitor | null)[] =>
    judgedEvents(machine, world).map(({ visitor }) => visitor)
  const named = new Set([...erased].flatMap(naming))
  const namedByOthers = new Set(world.machines.filter((machine) => !erased.has(machine)).flatMap(naming))
  const isErased = (visitor: Visitor | null): boolean =>
    visitor !== null && (asked.has(visitor) || (named.has(visitor) && !namedByOthers.has(visitor)))
  return {
    visitors: world.visitors.flatMap((visitor) => (isErased(visitor) ? withoutLead(visitor) : [visitor])),
    machines: world.machines
      .filter((machine) => !erased.has(machine))
      .map((machine) => ({
        ...machine,
        events: judgedEvents(machine, world).flatMap(({ event, visitor }) => (isErased(visitor) ? [] : [event])),
      })),
  }
}

/** Whoever keeps nothing between pages has no other page view that begins a visit. */
function withoutLead(visitor: Visitor): readonly Visitor[] {
  const walk = visitor.walk.filter((look) => look !== leadPage(visitor))
  return walk.length === 0 || visitor.forgets ? [] : [{ ...visitor, walk, copiedAt: null }]
}

interface Judging {
  readonly world: Pick<World, 'forgetsFrom'>
  readonly now: number
}

/** An event of a machine, what it is among the others, and the visit that it can be led back to by itself. */
export interface Judged {
  readonly event: MachineEvent
  readonly kind: Entry['kind'] | null
  readonly visitor: Visitor | null
}

function entriesOf(machine: Machine, { world, now }: Judging): readonly Entry[] {
  const events = judgedEvents(machine, world)
  return events.flatMap((each): readonly Entry[] => {
    const { event, kind } = each
    if (kind === null) return []
    const visitor = kind === 'install' ? decidingEvent(each, events).visitor : each.visitor
    const completion = kind === 'install' ? completionOf(each, events) : null
    const isDecided = event.at + event.unclearFor <= now || visitor === null
    const found = visitor === null ? 'none' : 'found'
    return [
      {
        id: event.id,
        at: event.at,
        kind,
        machine,
        version: event.version,
        outcome: machine.method === 'old' ? 'not looked up' : isDecided ? found : 'being decided',
        visitor: isDecided ? visitor : null,
        isCompleted: completion !== null,
        hasRun: completion !== null && events.some((other) => isRunNear(completion, other.event)),
      },
    ]
  })
}

/** The first that finished or ran is the install; another version after that is an upgrade; any other finished one is a reinstall. */
export function judgedEvents(machine: Machine, world: Pick<World, 'forgetsFrom'>): readonly Judged[] {
  let seen: Judged[] = []
  const all: Judged[] = []
  let install: MachineEvent | null = null
  let version = ''
  for (const event of machine.events) {
    if (isUnknown(event, seen.at(-1)?.event, world)) {
      seen = []
      install = null
      version = ''
    }
    const said = event.what === 'install_started' ? '' : bare(event.version)
    const kind = kindOfNext(event, { install, isOther: said !== '' && version !== '' && said !== version })
    if (kind === 'install') install = event
    if (said !== '') version = said
    const judged = { event, kind, visitor: ownVisitor(machine, event, seen) }
    seen.push(judged)
    all.push(judged)
  }
  return all
}

/** Nothing is kept of the machine when this arrives. */
function isUnknown({ at }: MachineEvent, last: MachineEvent | undefined, { forgetsFrom }: Pick<World, 'forgetsFrom'>) {
  return forgetsFrom !== null && at >= forgetsFrom && last !== undefined && at - last.at > MONTH
}

function bare(version: string): string {
  return version.startsWith('v') ? version.slice(1) : version
}

interface Before {
  readonly install: MachineEvent | null
  /** The event says another version than the last that was said. */
  readonly isOther: boolean
}

function kindOfNext({ what, at }: MachineEvent, { install, isOther }: Before): Judged['kind'] {
  if (what === 'install_started') return null
  if (install === null) return 'install'
  if (isOther) return 'upgrade'
  const belongs = what === 'first_run' || (install.what === 'first_run' && at - install.at <= WEEK)
  return belongs ? null : 'reinstall'
}

/** What the event itself proves; without that, where an earlier event of the machine had come from. */
function ownVisitor(machine: Machine, { lead, at }: MachineEvent, before: readonly Judged[]): Visitor | null {
  if (machine.method === 'old') return null
  const proven = provenBy(lead, at)
  if (proven !== null) return proven
  const earlier = before.findLast(({ visitor }) => visitor !== null)?.visitor ?? null
  return earlier !== null && at - earlier.at <= MONTH ? earlier : null
}

function provenBy(lead: Lead, at: number): Visitor | null {
  if (lead === null || at - lead.visitor.at > MONTH) return null
  return lead.by === 'token' || lead.visitor.keepsMarker ? lead.visitor : null
}

/** Of an install that came from nowhere, the first later event within a week that has a visit; else itself. */
export function decidingEvent(install: Judged, events: readonly Judged[]): Judged {
  if (install.visitor !== null) return install
  const later = events.find(
    ({ event, visitor }) => visitor !== null && event.at > install.event.at && event.at - install.event.at <= WEEK,
  )
  return later ?? install
}

/** The event by which the installer of this install came to its end. */
function completionOf(install: Judged, events: readonly Judged[]): MachineEvent | null {
  if (install.event.what === 'install_completed') return install.event
  const later = events.find(
    ({ event, kind }) =>
      kind === null &&
      event.what === 'install_completed' &&
      event.at > install.event.at &&
      event.at - install.event.at <= WEEK,
  )
  return later?.event ?? null
}

function isRunNear(completion: MachineEvent, { what, at }: MachineEvent): boolean {
  return what === 'first_run' && Math.abs(at - completion.at) <= WEEK
}

/** Counts of one row, by the names that the surfaces give them. */
export type Counts = Readonly<Record<string, number>>

export interface Period {
  readonly since: number
  readonly until: number
}

const isIn = ({ since, until }: Period, at: number): boolean => at >= since && at < until

/** That arrived in the period. */
export function entriesIn({ entries }: Book, period: Period): readonly Entry[] {
  return entries.filter(({ at }) => isIn(period, at))
}

/** Whose visit began in the period. */
export function visitorsIn({ visitors }: Book, period: Period): readonly Visitor[] {
  return visitors.filter(({ at }) => isIn(period, at))
}

export function countEntries(entries: readonly Entry[]): Counts {
  const installs = entries.filter(({ kind }) => kind === 'install')
  const having = (test: (entry: Entry) => boolean): number => installs.filter(test).length
  return {
    installs: installs.length,
    matched: having(({ outcome }) => outcome === 'found'),
    unmatched: having(({ outcome }) => outcome === 'none'),
    counted: having(({ outcome }) => outcome === 'not looked up'),
    pending: having(({ outcome }) => outcome === 'being decided'),
    known_source: having(({ visitor }) => visitor !== null && visitor.way.called.source !== ''),
    completed: having(({ isCompleted }) => isCompleted),
    ran: having(({ hasRun }) => hasRun),
    upgrades: entries.filter(({ kind }) => kind === 'upgrade').length,
    reinstalls: entries.filter(({ kind }) => kind === 'reinstall').length,
  }
}

/** Visits of the period with what they led to until the end of the world. */
export function countVisits(book: Book, visitors: readonly Visitor[]): Counts {
  const installsOf = (visitor: Visitor): readonly Entry[] =>
    book.outcomes.filter((entry) => entry.kind === 'install' && entry.visitor === visitor)
  return {
    visits: visitors.length,
    activated: visitors.filter(({ keepsMarker }) => keepsMarker).length,
    copied: visitors.filter(({ copiedAt }) => copiedAt !== null).length,
    installed: visitors.filter((visitor) => installsOf(visitor).length > 0).length,
    converted: visitors.filter((visitor) => installsOf(visitor).some(({ at }) => at - visitor.at <= WEEK)).length,
  }
}

/** What a visit is called by each dimension; an empty word: it has none. */
const OF_VISITOR: Readonly<Record<string, (visitor: Visitor) => string>> = {
  source: ({ way }) => way.called.source,
  medium: ({ way }) => way.called.medium,
  channel: ({ way }) => way.called.channel,
  campaign: ({ way }) => way.called.campaign,
  term: ({ way }) => way.called.term,
  content: ({ way }) => way.called.content,
  referrer: ({ way }) => way.called.referrer,
  page: (visitor) => leadPage(visitor).page,
  landing_page: ({ walk }) => walk[0]?.page ?? '',
  visitor_platform: ({ system }) => system.called,
}

/** A visit is called by each page that it saw. */
export function namesOfVisit(dimension: string, visitor: Visitor): readonly string[] {
  if (dimension !== 'page') return [OF_VISITOR[dimension]?.(visitor) ?? '']
  const seen = visitor.forgets ? visitor.walk.slice(0, 1) : visitor.walk
  return [...new Set(seen.map(({ page }) => page))]
}

const OF_MACHINE: Readonly<Record<string, (entry: Entry) => string>> = {
  path: ({ machine }) => machine.method,
  platform: ({ machine }) => machine.system,
  agent: ({ machine }) => machine.agent,
  country: ({ machine }) => machine.zone.called,
  place: ({ machine }) => machine.place,
  version: ({ version }) => version,
}

/** Where somebody came from, in contrast to what a machine is. */
export function isOfVisit(dimension: string): boolean {
  return dimension in OF_VISITOR
}

/** What an event is called; null: by something that it does not have, such as a visit that nobody found. */
export function nameOfEntry(dimension: string, entry: Entry): string | null {
  const ofMachine = OF_MACHINE[dimension]
  if (ofMachine !== undefined) return ofMachine(entry)
  return entry.visitor === null ? null : (OF_VISITOR[dimension]?.(entry.visitor) ?? '')
}

/** Every dimension by which the ledger knows the truth. */
export const DIMENSIONS: readonly string[] = [...Object.keys(OF_VISITOR), ...Object.keys(OF_MACHINE)]

/** Name of a row (`kind value`) with what it must count. */
export type Rows = ReadonlyMap<string, { readonly installs: Counts; readonly visits: Counts | null }>

/** All rows of one dimension, of installs that arrived and visits that began in the period. */
export function rowsBy(book: Book, dimension: string, period: Period): Rows {
  const entries = entriesIn(book, period)
  const visitors = visitorsIn(book, period)
  const ofVisitor = OF_VISITOR[dimension]
  const ofMachine = OF_MACHINE[dimension]
  const entryRow = (entry: Entry): string => {
    if (ofMachine !== undefined) return named(dimension, ofMachine(entry))
    if (entry.outcome === 'not looked up') return 'not_looked_up '
    if (entry.outcome === 'being decided') return 'pending '
    return entry.visitor === null || ofVisitor === undefined ? 'no_visit ' : named(dimension, ofVisitor(entry.visitor))
  }
  const byEntry = Map.groupBy(entries, entryRow)
  const byVisitor = ofVisitor === undefined ? null : visitorsByName(visitors, dimension)
  const names = new Set([...byEntry.keys(), ...(byVisitor?.keys() ?? [])])
  return new Map(
    [...names].map((name) => [
      name,
      {
        installs: countEntries(byEntry.get(name) ?? []),
        visits: byVisitor === null ? null : countVisits(book, byVisitor.get(name) ?? []),
      },
    ]),
  )
}

function visitorsByName(visitors: readonly Visitor[], dimension: string): ReadonlyMap<string, readonly Visitor[]> {
  const found = new Map<string, Visitor[]>()
  for (const visitor of visitors) {
    for (const name of namesOfVisit(dimension, visitor)) {
      const row = named(dimension, name)
      found.set(row, [...(found.get(row) ?? []), visitor])
    }
  }
  return found
}

export function totalOf(book: Book, period: Period): { readonly installs: Counts; readonly visits: Counts } {
  return { installs: countEntries(entriesIn(book, period)), visits: countVisits(book, visitorsIn(book, period)) }
}

function named(dimension: string, word: string): string {
  if (word !== '') return `value ${word}`
  if (dimension === 'source') return 'direct '
  return dimension === 'campaign' ? 'no_campaign ' : 'none '
}
