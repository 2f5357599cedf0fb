/** Reads back everything that the service has stored, once all its roles have worked off their topics. */

import { setTimeout as wait } from 'node:timers/promises'
import { newestInstalls } from '../../bin/tools/lists/newest-installs.ts'
import type { Ga4StandIn } from '../../stand-ins/ga4.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import type { RequestLogRow } from '../../ports/facts/query-rows.ts'
import { LOAD_ORGANIZATION } from './service.manifests.ts'
import type { Operation, Stored, StoredDelivery, StoredInstall } from './service.history.ts'

const PAGE_ROWS = 10_000
const KEYS_AT_ONCE = 5_000
/** Longer than the claim of a killed process holds a job back, and than the waiting room that follows. */
const SETTLE_MS = 90_000
const SETTLE_PAUSE_MS = 250

interface Settling {
  readonly drain: () => Promise<void>
  readonly facts: Facts
  readonly eventLog: EventLog
}

/** Works off what waits for a retry or for its visit as well: both step aside for seconds of real time. */
export async function settle(service: Settling): Promise<void> {
  const deadlineMs = performance.now() + SETTLE_MS
  do {
    await service.drain()
    if ((await parkedInstalls(service)) === 0) {
      // What was parked a moment ago may have become a job in between.
      await service.drain()
      if ((await openDeliveries(service.facts)) === 0) return
    }
    await wait(SETTLE_PAUSE_MS)
  } while (performance.now() < deadlineMs)
}

export async function readStored(facts: Facts, ga4: Ga4StandIn, operations: readonly Operation[]): Promise<Stored> {
  const logs = new Map<string, number>()
  for (const { user_agent: tag } of await allLogs(facts)) logs.set(tag, (logs.get(tag) ?? 0) + 1)
  const installs = await pages<StoredInstall & { received_at_ms: number }>(
    (page) => newestInstalls(facts, page),
    (row) => ({ before_ms: row.received_at_ms, before_id: row.event_id }),
  )
  const { visitIds, activeVisitIds } = await visitsOf(facts, operations)
  return {
    logs,
    installs,
    deliveries: await deliveriesOf(facts, installs),
    visitIds,
    activeVisitIds,
    sentIds: ga4.requests().map(({ body }) => String((body as any).events[0].params.install_id)),
  }
}

type Page = { since_ms: number; until_ms: number; limit: number; before_ms?: number; before_id?: string }

async function pages<R>(
  fetch: (page: Page) => Promise<readonly R[]>,
  cursor: (last: R) => { before_ms: number; before_id: string },
): Promise<R[]> {
  const all: R[] = []
  let page: Page = { since_ms: 0, until_ms: Date.now() * 2, limit: PAGE_ROWS }
  for (;;) {
    const rows = await fetch(page)
    all.push(...rows)
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE_ROWS) return all
    page = { ...page, ...cursor(last) }
  }
}

function allLogs(facts: Facts): Promise<RequestLogRow[]> {
  return pages(
    (page) => facts.run('listLogs', page),
    (row) => ({ before_ms: row.received_at_ms, before_id: row.id }),
  )
}

async function deliveriesOf(facts: Facts, installs: readonly StoredInstall[]): Promise<StoredDelivery[]> {
  const rows: StoredDelivery[] = []
  const period = { since_ms: 0, until_ms: Date.now() * 2, limit: PAGE_ROWS }
  for (const website of new Set(installs.map((row) => row.website))) {
    const some = await facts.run('listDeliveries', { ...period, website })
    if (some.length === PAGE_ROWS) throw new Error('more deliveries than one page holds: use more websites')
    rows.push(...some)
  }
  return rows
}

/** Which of the visits that answers named are there, how many others, and which are active. */
async function visitsOf(facts: Facts, operations: readonly Operation[]) {
  const visitIds = new Set<string>()
  const activeVisitIds = new Set<string>()
  const named = operations.filter(({ kind, subject }) => kind !== 'event' && subject !== '')
  for (const [website, some] of Map.groupBy(named, (operation) => operation.website)) {
    const ids = [...new Set(some.map(({ subject }) => subject))]
    for (let at = 0; at < ids.length; at += KEYS_AT_ONCE) {
      const rows = await facts.run('receiptFacts', {
        organization: LOAD_ORGANIZATION,
        website,
        visit_ids: ids.slice(at, at + KEYS_AT_ONCE),
      })
      for (const row of rows.filter(({ is_recorded: isRecorded }) => isRecorded)) visitIds.add(row.visit_id)
      for (const row of rows.filter(({ is_active: isActive }) => isActive)) activeVisitIds.add(row.visit_id)
    }
  }
  const [counts] = await facts.run('counts', {})
  for (let unnamed = visitIds.size; unnamed < (counts?.visits ?? 0); unnamed++) visitIds.add(`unnamed ${unnamed}`)
  return { visitIds, activeVisitIds }
}

/** Installs whose visit was not in the facts yet; they have no delivery until they are dispatched. */
async function parkedInstalls({ eventLog }: Settling): Promise<number> {
  const parked = (await eventLog.lag()).filter(({ topic }) => topic.startsWith('dispatch.'))
  return parked.reduce((sum, { entries }) => sum + entries, 0)
}

async function openDeliveries(facts: Facts): Promise<number> {
  const period = { since_ms: 0, until_ms: Date.now() * 2, limit: 1 }
  const rows = await Promise.all(
    ['pending', 'retrying'].map((status) => facts.run('listDeliveries', { ...period, status })),
  )
  return rows.flat().length
}
