/**
 * Judges install events and stores them as figures count them. The facts-writer does so for each batch, so that these figures are as fresh as the
 * facts, and the role `rollup` again for each hour: two writers may have written events of one installation at the same time.
 *
 * It may be repeated; of calls at the same time, the next one puts right what neither of them saw.
 */

import { byReceipt, judgeInstallation, knownHistory, NO_HISTORY } from '../../domain/figures/install-kinds.ts'
import { NO_PROGRESS, installProgress, type InstallProgress } from '../../domain/figures/runs.ts'
import { decidingEvent } from '../../domain/figures/visit-of-install.ts'
import type { OwnedWebsite } from '../../domain/model.ts'
import { ownerKey, recordKey } from '../../domain/records.ts'
import { ORIGIN_COLUMNS } from '../../ports/facts/counted-install-columns.ts'
import { EVENTS_AT_ONCE, EVENTS_OF_INSTALLATION, type CountableRow } from '../../ports/facts/counting.ts'
import type { FactsReader, FactsWriter } from '../../ports/facts/facts.ts'
import { ownersOf } from '../../ports/facts/query-parts.ts'
import { keysOf, recordOf } from '../../domain/typed-keys.ts'
import type { HourMarks } from './hour-marks.ts'
import { firstStored, judgedEventOf, rowOfCount, type CountedInstallRow, type RowEvent } from './stored-events.ts'

export type EventKey = OwnedWebsite & { readonly event_id: string }

/** A row that is new or other than it was, and the one before. */
interface ChangedRow {
  readonly row: CountedInstallRow
  readonly former: CountedInstallRow | null
}

interface CountingTools {
  readonly marks: HourMarks
  /** Knows what was erased and may not be deleted yet: its rows are left alone. */
  readonly erasures?: { readonly haveErased: (owner: OwnedWebsite, ids: readonly string[]) => boolean }
  /** If it says no, what was judged names something that was erased meanwhile: it is judged anew. */
  readonly isStillRight?: () => Promise<boolean>
}

/**
 * Counts these events, and others of their installations that they change. The hours of their visits are marked, after the rows are stored. Events
 * that are no facts are passed over. Rejects like `Facts`.
 */
export async function countInstalls(
  facts: FactsReader & FactsWriter,
  keys: readonly EventKey[],
  { marks, erasures, isStillRight }: CountingTools,
): Promise<void> {
  const isKept = (row: CountedInstallRow): boolean =>
    erasures?.haveErased(row, [row.event_id, row.installation_id, row.visit_id]) !== true
  for (let from = 0; from < keys.length; from += EVENTS_AT_ONCE) {
    const asked = await factsOf(facts, keys.slice(from, from + EVENTS_AT_ONCE))
    let changes = await judgeSome(facts, asked, isKept)
    while (changes.length > 0 && isStillRight !== undefined && !(await isStillRight()))
      changes = await judgeSome(facts, asked, isKept)
    await storeChanges(facts, changes, marks)
  }
}

async function storeChanges(facts: FactsWriter, changes: readonly ChangedRow[], marks: HourMarks): Promise<void> {
  if (changes.length === 0) return
  const hours = marks.collect()
  for (const { row, former } of changes) {
    hours.note('counted_installs', row)
    if (former !== null) hours.note('counted_installs', former)
  }
  // Also before the rows: a visit that an install no longer counts for is known from the row that these replace.
  if (changes.some(({ former }) => former !== null)) await facts.insert('hour_marks', hours.rows())
  await facts.insert(
    'counted_installs',
    changes.map(({ row }) => row),
  )
  await facts.insert('hour_marks', hours.rows())
}

async function judgeSome(
  facts: FactsReader,
  all: readonly CountedInstallRow[],
  isKept: (row: CountedInstallRow) => boolean,
): Promise<readonly ChangedRow[]> {
  const asked = all.filter(isKept)
  if (asked.length === 0) return []
  const installations = { ...ownersOf(asked), installation_ids: asked.map((event) => event.installation_id) }
  const stored = (await facts.run('countedEvents', installations)).map(rowOfCount).filter(isKept)
  const byInstallation = Map.groupBy(stored, keyOfInstallation)
  const judgeable = await withoutSettled(facts, asked, byInstallation)
  const events = [...judgeable, ...(await adoptingEvents(facts, asked, stored))]
  const judged = [...Map.groupBy(events, keyOfInstallation)].flatMap(([key, own]) =>
    judgedChanges(own, byInstallation.get(key) ?? []),
  )
  const changes = await withOrigins(facts, judged.filter(isToBeLookedAt))
  return changes.filter(isToBeStored).map(({ row, former }) => ({ row: nextVersion(row, former), former }))
}

async function factsOf(facts: FactsReader, keys: readonly EventKey[]): Promise<readonly CountedInstallRow[]> {
  const asked = { ...ownersOf(keys), event_ids: keys.map(({ event_id: id }) => id) }
  return (await facts.run('countableEvents', asked)).map(rowOfFact)
}

/**
 * Of an installation with very many events only the newest are read: they know what was before them. Older ones stay as they were judged, so
 * only those that are not judged yet are left here.
 */
async function withoutSettled(
  facts: FactsReader,
  asked: readonly CountedInstallRow[],
  stored: ReadonlyMap<string, readonly CountedInstallRow[]>,
): Promise<readonly CountedInstallRow[]> {
  const isOlder = (row: CountedInstallRow): boolean => {
    const newest = stored.get(keyOfInstallation(row)) ?? []
    return newest.length >= EVENTS_OF_INSTALLATION && newest.every(({ received_at: ms }) => ms > row.received_at)
  }
  const older = asked.filter(isOlder)
  if (older.length === 0) return asked
  const times = older.map(({ received_at: ms }) => ms)
  const settled = await facts.run('settledEvents', {
    ...ownersOf(older),
    event_ids: older.map((row) => row.event_id),
    since_ms: Math.min(...times),
    until_ms: Math.max(...times) + 1,
  })
  const known = new Set(settled.map((row) => recordKey(row, row.event_id)))
  return asked.filter((row) => !isOlder(row) || !known.has(keyOfEvent(row)))
}

/** Installs that count for the visit of a later event: their rows do not say what was decided about themselves. */
async function adoptingEvents(
  facts: FactsReader,
  asked: readonly CountedInstallRow[],
  stored: readonly CountedInstallRow[],
): Promise<readonly CountedInstallRow[]> {
  const known = new Set(asked.map(keyOfEvent))
  const missing = stored.filter(
    (row) => row.is_visit_of_later && row.kind !== 'superseded' && !known.has(keyOfEvent(row)),
  )
  return missing.length === 0 ? [] : factsOf(facts, missing)
}

function keyOfEvent(row: CountedInstallRow): string {
  return recordKey(row, row.event_id)
}

function keyOfInstallation(row: CountedInstallRow): string {
  return `${ownerKey(row)}\n${row.installation_id}`
}

/** The position in the table: another record of the event has another one. */
function placeInTable({ received_at: ms, event_id: id }: CountedInstallRow): string {
  return `${ms} ${id}`
}

/** The rows of an installation as they should be, each with the one that is stored. `events` are some of its facts. */
function judgedChanges(
  events: readonly CountedInstallRow[],
  stored: readonly CountedInstallRow[],
): readonly ChangedRow[] {
  const fresh = new Set(events.map((row) => row.event_id))
  const standing = stored.filter(({ kind }) => kind !== 'superseded')
  const rows = judgedRows([...events, ...standing.filter((row) => !fresh.has(row.event_id))], standing)
  const places = new Set(rows.map(placeInTable))
  const superseded = standing
    .filter((row) => !places.has(placeInTable(row)))
    .map((row) => ({ ...row, kind: 'superseded' }))
  const before = new Map(stored.map((row) => [placeInTable(row), row]))
  return [...rows, ...superseded].map((row) => {
    const former = before.get(placeInTable(row)) ?? null
    const hasOrigin = former?.is_visit_known === true && former.visit_id === row.visit_id
    return { row: hasOrigin ? withOrigin(row, former) : row, former }
  })
}

/** New, other than it is stored, or of a visit that was not known: its origin may be there now. */
function isToBeLookedAt(change: ChangedRow): boolean {
  return isToBeStored(change) || (change.row.visit_id !== '' && !change.row.is_visit_known)
}

function isToBeStored({ row, former }: ChangedRow): boolean {
  return former === null || keysOf(row).some((column) => column !== 'row_version' && row[column] !== former[column])
}

function nextVersion(row: CountedInstallRow, former: CountedInstallRow | null): CountedInstallRow {
  return { ...row, row_version: (former?.row_version ?? 0) + 1 }
}

/** All of these events with the kind of each, and of an install the visit that it counts for. Tests of the set-up are judged by themselves. */
function judgedRows(
  rows: readonly CountedInstallRow[],
  stored: readonly CountedInstallRow[],
): readonly CountedInstallRow[] {
  return [false, true].flatMap((areTests) => {
    const isOne = (row: CountedInstallRow): boolean => row.is_test === areTests
    return judgedTogether(rows.filter(isOne), stored.filter(isOne))
  })
}

function judgedTogether(
  rows: readonly CountedInstallRow[],
  stored: readonly CountedInstallRow[],
): readonly CountedInstallRow[] {
  const events = rows.map(judgedEventOf).toSorted(byReceipt)
  const known = firstStored(stored.map(judgedEventOf))
  const judgements = judgeInstallation(events, knownHistory(events[0]?.receivedAtMs ?? 0, known))
  const kinds = events.map((event, at) => ({ ...event, ...(judgements[at] ?? NOT_JUDGED) }))
  return kinds.map((event) => ({
    ...event.row,
    ...decisionColumns(event, decidingEvent(event, kinds)),
    installed_before: event.before.installedAtMs,
    is_begun_by_run: event.before.isBegunByRun,
    version_before: event.before.version,
    kind: event.kind,
    ...progressColumns(installProgress(event, kinds)),
  }))
}

const NOT_JUDGED = { kind: 'none', before: NO_HISTORY } as const

function decisionColumns(event: RowEvent, { row }: RowEvent) {
  const { resolution, selection_policy, reason, visit_id, visit_issued_at } = row
  return {
    resolution,
    selection_policy,
    reason,
    visit_id,
    visit_issued_at,
    is_visit_of_later: event.row.is_visit_of_later || row !== event.row,
  }
}

function progressColumns({ isCompleted, hasRun }: InstallProgress) {
  return { is_completed: isCompleted, has_run: hasRun }
}

/** With the origins of the visits, as far as the facts have them. */
async function withOrigins(facts: FactsReader, changes: readonly ChangedRow[]): Promise<readonly ChangedRow[]> {
  const wanted = changes.map(({ row }) => row).filter((row) => row.visit_id !== '' && !row.is_visit_known)
  if (wanted.length === 0) return changes
  const visits = await facts.run('originsOfVisits', {
    ...ownersOf(wanted),
    visit_ids: wanted.map((row) => row.visit_id),
  })
  const origins = new Map(visits.map((visit) => [keyOfVisit(visit), visit]))
  return changes.map(({ row, former }) => {
    const origin = row.is_visit_known ? undefined : origins.get(keyOfVisit(row))
    return { row: origin === undefined ? row : withOrigin(row, { ...origin, is_visit_known: true }), former }
  })
}

function keyOfVisit(of: OwnedWebsite & { readonly visit_id: string }): string {
  return `${ownerKey(of)}\n${of.visit_id}`
}

type Origin = Pick<CountedInstallRow, 'is_visit_known' | keyof typeof ORIGIN_COLUMNS>

function withOrigin(row: CountedInstallRow, origin: Origin): CountedInstallRow {
  return {
    ...row,
    ...recordOf(keysOf(ORIGIN_COLUMNS), (column) => origin[column]),
    is_visit_known: origin.is_visit_known,
  }
}

const NO_ORIGIN = { ...recordOf(keysOf(ORIGIN_COLUMNS), () => ''), is_visit_known: false }

function rowOfFact(fact: CountableRow): CountedInstallRow {
  const { received_at_ms: received_at, visit_issued_at_ms: visit_issued_at, is_ci, is_container, ...columns } = fact
  return {
    ...columns,
    received_at,
    visit_issued_at,
    kind: 'none',
    installed_before: null,
    is_begun_by_run: false,
    version_before: '',
    ...progressColumns(NO_PROGRESS),
    is_left_out: is_ci || is_container || columns.is_test,
    is_visit_of_later: false,
    ...NO_ORIGIN,
    row_version: 1,
  }
}
