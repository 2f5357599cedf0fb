/** Makes up what happens to an installation: its install, the first run, upgrades and reinstalls, each event with what decided it. */

import type { Visit } from '../../domain/collection/visit-fields.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../domain/durations.ts'
import { EXAMPLE_DATA } from '../../domain/figures/example-data.ts'
import { BELONGS_MS, byReceipt, judgeInstallation, type InstallKind } from '../../domain/figures/install-kinds.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { CandidateVerdict, EventType, Install, InstallOutcome, SelectionPolicy } from '../../domain/model.ts'
import type { InstallRecord } from '../../domain/records.ts'
import { wholeBetween, MADE_UP, momentOn, requestAt, type Pen } from './day.ts'
import { isPathPaused, versionOn, type Machine } from './machines.ts'
import type { MadeUpView } from './visits.ts'

/** What came with an event: the token of a visit, what a scan of the browsers found, or nothing that could be read. */
export type Brought =
  | { readonly kind: 'token'; readonly visit: Visit }
  | { readonly kind: 'receipts'; readonly views: readonly MadeUpView[] }
  | { readonly kind: 'stranger'; readonly verdict: 'forged' | 'other_website' }
  | { readonly kind: 'nothing' }

interface ReportedEvent {
  readonly record: InstallRecord
  /** The visit that it was matched to. */
  readonly visit: Visit | null
}

export interface MadeUpEvent extends ReportedEvent {
  readonly kind: InstallKind
}

interface Reported {
  readonly eventType: EventType
  readonly atMs: number
  readonly version: string
  readonly brought: Brought
}

/** All events of one installation, in order of time. Who copies a command runs it minutes later, or on another day. */
export function installationStory(
  pen: Pen,
  machine: Machine,
  { brought, atMs }: { readonly brought: Brought; readonly atMs: number },
): readonly MadeUpEvent[] {
  const { random } = pen
  const version = random() < 0.95 ? versionOn(machine.product, atMs) : ''
  const known: ReportedEvent[] = []
  const report = (eventType: EventType, at: number, changes: Partial<Reported> = {}): void => {
    known.push(madeUpEvent(pen, machine, { known, reported: { eventType, atMs: at, version, brought, ...changes } }))
  }
  const again: Brought = brought.kind === 'token' ? { kind: 'nothing' } : brought
  // A package manager that reports nothing: the program says so itself, and the installer only later.
  if (random() < 0.06) {
    report('first_run', atMs)
    if (random() < 0.5)
      report('install_completed', momentAfter(pen, atMs, wholeBetween(1, 5, random)), { brought: again })
    return judgedStory(known)
  }
  if (random() < 0.4) report('install_started', atMs)
  // Some look at the page again, so that only the first run brings what the install lacked.
  const isLate = brought.kind === 'receipts' && random() < 0.06
  report('install_completed', atMs + 20 * SECOND_MS, isLate ? { brought: { kind: 'nothing' } } : {})
  if (machine.runsIn === 'person' && random() < 0.72) {
    const isSoon = random() < 0.85
    const ranMs = isSoon
      ? atMs + wholeBetween(1, 8, random) * MINUTE_MS
      : momentAfter(pen, atMs, wholeBetween(1, BELONGS_MS / DAY_MS - 1, random))
    report('first_run', ranMs, { brought: again })
  }
  if (machine.runsIn === 'person') laterEvents(pen, machine, { version, again, report, atMs })
  return judgedStory(known)
}

function judgedStory(known: readonly ReportedEvent[]): readonly MadeUpEvent[] {
  const events = known.toSorted((a, b) => byReceipt(a.record.install, b.record.install))
  const judgements = judgeInstallation(events.map(({ record }) => record.install))
  return events.map((event, place) => ({ ...event, kind: judgements[place]?.kind ?? 'none' }))
}

interface LaterEvents {
  readonly version: string
  readonly again: Brought
  readonly report: (eventType: EventType, atMs: number, changes?: Partial<Reported>) => void
  readonly atMs: number
}

function laterEvents(pen: Pen, { product }: Machine, { version, again, report, atMs }: LaterEvents): void {
  const { random } = pen
  if (random() < 0.08) {
    // The same version over itself, before the next one comes out.
    const repeatedMs = momentAfter(pen, atMs, wholeBetween(8, 20, random))
    if (version !== '' && versionOn(product, repeatedMs) === version)
      report('install_completed', repeatedMs, { brought: again })
  }
  if (random() < 0.35) {
    const upgradedMs = momentAfter(pen, atMs, wholeBetween(25, 140, random))
    const newer = versionOn(product, upgradedMs)
    if (version !== '' && newer !== version) report('install_completed', upgradedMs, { version: newer, brought: again })
  }
}

/** A moment of working hours so many days after another moment. */
export function momentAfter(pen: Pen, atMs: number, daysLater: number): number {
  const days = Math.floor(atMs / DAY_MS) - pen.day.dayMs / DAY_MS + daysLater
  return momentOn(pen, days)
}

interface EventInputs {
  readonly known: readonly ReportedEvent[]
  readonly reported: Reported
}

function madeUpEvent(pen: Pen, machine: Machine, { known, reported }: EventInputs): ReportedEvent {
  const { website, organization, seed, dayMs } = pen.day
  const { eventType, atMs, version } = reported
  const eventId = `${EXAMPLE_DATA.idPrefix}${seed}-${dayMs / DAY_MS}-${pen.nextNumber()}`
  const { outcome, visit } = outcomeBy(machine, { known, reported })
  const { product, runsIn, agent, browsers, place, platform, arch, timezone, installationId } = machine
  const { resolution, candidateCount, selectionPolicy } = outcome
  const install: Install = {
    website,
    organization,
    eventId,
    installationId,
    eventType,
    receivedAtMs: atMs,
    installPath: product.installPath,
    platform,
    arch,
    browsers,
    defaultBrowser: browsers[0] ?? '',
    timezone,
    language: '',
    productVersion: version,
    place,
    isCi: runsIn === 'ci',
    isContainer: runsIn === 'container',
    isTest: runsIn === 'test',
    ...(agent === null ? {} : { agent }),
    ...outcome,
    // Dispatch makes deliveries of what is planned here: nothing is.
    deliveries: [],
    catalogNumber: 0,
    answer: {
      ok: true,
      event_id: eventId,
      duplicate: false,
      resolution,
      candidate_count: candidateCount,
      selection_policy: selectionPolicy,
      ga: { status: 'not_queued', deliveries: [] },
    },
  }
  const record: InstallRecord = { ...MADE_UP, kind: 'install', request: requestAt(pen, '/v1/events', atMs), install }
  return { record, visit }
}

type MadeUpOutcome = Pick<
  InstallOutcome,
  'resolution' | 'selectionPolicy' | 'candidateCount' | 'visitId' | 'visitIssuedAtMs' | 'gpc' | 'verdicts'
>

interface DecidedByVisit {
  readonly outcome: MadeUpOutcome
  readonly visit: Visit | null
}

function outcomeBy({ product }: Machine, { known, reported }: EventInputs): DecidedByVisit {
  const { brought, atMs } = reported
  if (isPathPaused(product, atMs)) return matchedToNone([], 'counted')
  const found = verdictsOf(brought, atMs)
  const active = found.filter(({ verdict }) => verdict === 'active' || verdict === 'handoff')
  const verdicts = found.map(({ visit, verdict }) => verdictOn(visit, verdict))
  const newest = active.at(-1)?.visit ?? null
  if (newest !== null)
    return matchedTo(newest, verdicts, {
      selectionPolicy: brought.kind === 'token' ? 'handoff' : 'latest_visit',
      candidateCount: active.length,
    })
  const earlier = known.findLast(({ visit }) => visit !== null)?.visit ?? null
  if (earlier !== null && !isTooLate(earlier, atMs))
    return matchedTo(earlier, verdicts, { selectionPolicy: 'same_installation', candidateCount: 0 })
  return matchedToNone(verdicts, 'unmatched')
}

interface FoundVisit {
  readonly visit: Visit | null
  readonly verdict: CandidateVerdict['verdict']
}

/** What the service says of each receipt or token. */
function verdictsOf(brought: Brought, atMs: number): readonly FoundVisit[] {
  switch (brought.kind) {
    case 'nothing':
      return []
    case 'stranger':
      return [{ visit: null, verdict: brought.verdict }]
    case 'token':
      return [{ visit: brought.visit, verdict: isTooLate(brought.visit, atMs) ? 'expired' : 'handoff' }]
    case 'receipts':
      return brought.views.map(({ visit, state }) => {
        if (visit.isHandoffOnly) return { visit, verdict: 'handoff_only' }
        if (isTooLate(visit, atMs)) return { visit, verdict: 'expired' }
        return { visit, verdict: state === 'issued' ? 'never_activated' : state }
      })
  }
}

function verdictOn(visit: Visit | null, verdict: CandidateVerdict['verdict']): CandidateVerdict {
  return { visitId: visit?.visitId ?? null, issuedAtMs: visit?.issuedAtMs ?? null, verdict }
}

function isTooLate({ issuedAtMs }: Visit, atMs: number): boolean {
  return atMs - issuedAtMs > LIMITS.receiptLifetimeMs
}

interface HowMatched {
  readonly selectionPolicy: SelectionPolicy
  readonly candidateCount: number
}

function matchedTo(visit: Visit, verdicts: readonly CandidateVerdict[], how: HowMatched): DecidedByVisit {
  const { visitId, issuedAtMs: visitIssuedAtMs, gpc } = visit
  return { visit, outcome: { resolution: 'matched', ...how, visitId, visitIssuedAtMs, gpc, verdicts } }
}

function matchedToNone(verdicts: readonly CandidateVerdict[], resolution: 'unmatched' | 'counted'): DecidedByVisit {
  const nothing = { selectionPolicy: 'none', candidateCount: 0, visitId: null, visitIssuedAtMs: null } as const
  return { visit: null, outcome: { resolution, ...nothing, gpc: false, verdicts } }
}

/** From the last thing that a visitor did to the command on a machine: minutes, hours or days. */
export function runAfter(pen: Pen, endMs: number): number {
  const { random } = pen
  const chance = random()
  if (chance < 0.88) return endMs + wholeBetween(20, 400, random) * SECOND_MS
  return momentAfter(pen, endMs, chance < 0.97 ? wholeBetween(1, 6, random) : wholeBetween(8, 25, random))
}
