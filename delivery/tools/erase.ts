/**
 * Erases the data of one person from the facts permanently: first it records the erasure, then it waits until the writers have
 * finished batches that began without knowing of it, then it deletes the rows. After a crash in between the erasure stays
 * recorded, and erasing again completes it.
 */

import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'

import { FACTS_WRITER_GROUP, hasReached } from '../../domain/collection/facts-lag.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { OwnedWebsite } from '../../domain/model.ts'
import { encodeRecord, ownerKey, RECORD_TOPICS, recordKey, type ActivityRecord } from '../../domain/records.ts'
import type { LogWriter, LogProgress } from '../../ports/event-log/event-log.ts'
import { isErasedWhole, type ErasedName } from '../../ports/facts/erasure/names.ts'
import type { RowOf } from '../../ports/facts/columns.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { markTheseHours } from '../rollup/mark-hours.ts'
import { erasedNamesOf, planErasure, type ErasurePlan, type ErasureSubject } from './plan-erasure.ts'

export interface ErasureDeps extends FactsAtATime {
  readonly eventLog: LogWriter & LogProgress
  /** Whether a facts-writer is running, which may be writing a batch that it read before. */
  readonly isWriterRunning: boolean
}

/** Facts, and when they are changed. */
interface FactsAtATime {
  readonly facts: Facts
  readonly nowMs: () => number
}

/** A remembered erasure. A copy of it is needed to restore an older backup. */
export type RememberedErasure = ErasedName & { readonly erasedAtMs: number }

export interface ErasureReport {
  readonly plan: ErasurePlan
  readonly remembered: readonly RememberedErasure[]
}

const WAIT_MS = 250
/** If the facts-writer has not come this far within this time, it is not running properly. */
const MOST_WAIT_MS = 120_000
const ID_BYTES = 14

/** Rejects like `Facts` and `EventLog`, and with an explanation if the facts-writer makes no progress. It may be repeated. */
export async function erase(deps: ErasureDeps, subject: ErasureSubject): Promise<ErasureReport> {
  let plan = await planErasure(deps.facts, subject)
  for (;;) {
    await remember(deps, plan)
    await untilWritten(deps)
    // Records that were not stored yet may have named more.
    const again = await planErasure(deps.facts, subject)
    const isWhole = erasedNamesOf(again, again.ids).length <= erasedNamesOf(plan, plan.ids).length
    plan = merged(plan, again)
    if (isWhole) break
  }
  await eraseNow(deps, erasedNamesOf(plan, plan.ids), plan)
  await noteErasure(deps, plan)
  const erasedAtMs = deps.nowMs()
  return { plan, remembered: erasedNamesOf(plan, plan.ids).map((name) => ({ ...name, erasedAtMs })) }
}

/** For facts that were restored from an older backup: no writer works on them yet. */
export async function eraseAgain(
  { facts, nowMs }: FactsAtATime,
  remembered: readonly RememberedErasure[],
): Promise<void> {
  await facts.insert('erasures', remembered.map(erasureRow))
  const whole = remembered.filter(isErasedWhole)
  const named = remembered.filter((name) => !isErasedWhole(name))
  for (const { organization } of whole) await facts.eraseOrganization(organization)
  await facts.erase(named)
  const hours = await facts.run('hoursWithFacts', { since_ms: 0, until_ms: nowMs() * 2, limit: MOST_HOURS })
  const byOwner = Map.groupBy(hours, ownerKey)
  for (const [key, [owner]] of Map.groupBy(named, ownerKey)) {
    const own = byOwner.get(key)?.map(({ hour_ms: ms }) => ms) ?? []
    if (owner !== undefined) await correctFigures({ facts, nowMs }, own, owner)
  }
}

const MOST_HOURS = 10_000_000

async function remember({ facts, nowMs }: ErasureDeps, plan: ErasurePlan): Promise<void> {
  const erasedAtMs = nowMs()
  await facts.insert(
    'erasures',
    erasedNamesOf(plan, plan.ids).map((name) => erasureRow({ ...name, erasedAtMs })),
  )
}

export function erasureRow({
  organization,
  website,
  digest,
  reference,
  erasedAtMs,
}: RememberedErasure): RowOf<'erasures'> {
  return { organization, website, digest, reference, erased_at: erasedAtMs, row_version: 1 }
}

/** Resolves once every writer has finished the batches that it began before it could know about the erasure. */
export async function untilWritten({ eventLog, isWriterRunning, nowMs }: ErasureDeps): Promise<void> {
  if (!isWriterRunning) return
  const untilMs = nowMs() + MOST_WAIT_MS
  for (const topic of RECORD_TOPICS) {
    const { ends } = await eventLog.progress(topic, FACTS_WRITER_GROUP)
    while (!hasReached((await eventLog.progress(topic, FACTS_WRITER_GROUP)).done, ends)) {
      if (nowMs() > untilMs)
        throw new Error(
          'the facts-writer makes no progress: no new data of this person is stored, but old rows remain; erase again',
        )
      await wait(WAIT_MS)
    }
  }
}

async function eraseNow(deps: ErasureDeps, names: readonly ErasedName[], plan: ErasurePlan): Promise<void> {
  await deps.facts.erase(names)
  await correctFigures(deps, plan.extent.hours, plan)
}

/** Counted again within a minute; until then these hours have no figures, rather than figures that include the erased data. */
async function correctFigures(
  { facts, nowMs }: FactsAtATime,
  hours: readonly number[],
  { organization, website }: OwnedWebsite,
): Promise<void> {
  await facts.eraseFigures({ organization, website }, hours)
  await markTheseHours(facts, { organization, website, hours, writer: randomUUID(), nowMs: nowMs() })
}

/** Reports how much was erased, but not whose data it was. */
async function noteErasure({ eventLog, nowMs }: ErasureDeps, plan: ErasurePlan): Promise<void> {
  const { organization, website, ids } = plan
  const { installationIds, visitIds, eventIds } = ids
  const id = randomBytes(ID_BYTES).toString('hex')
  const record: ActivityRecord = {
    v: 1,
    kind: 'activity',
    id,
    atMs: nowMs(),
    organization,
    website,
    type: 'data_erased',
    subject: website,
    message: `Data of a person was erased: ${installationIds.length} installations, ${visitIds.length} visits, ${eventIds.length} install events.`,
    logRetentionDays: LIMITS.logRetentionDays.fallback,
  }
  await eventLog.append('activity', [{ key: recordKey(record, id), value: encodeRecord(record) }])
}

function merged(before: ErasurePlan, after: ErasurePlan): ErasurePlan {
  const both = (pick: (plan: ErasurePlan) => readonly string[]): readonly string[] => [
    ...new Set([...pick(before), ...pick(after)]),
  ]
  return {
    ...after,
    ids: { ...after.ids, visitIds: both(({ ids }) => ids.visitIds), eventIds: both(({ ids }) => ids.eventIds) },
    extent: { ...after.extent, hours: [...new Set([...before.extent.hours, ...after.extent.hours])] },
  }
}
