/** Waits until nothing is on its way any more, and reads back all that a round has left behind. */

import { setTimeout as wait } from 'node:timers/promises'
import { newestInstalls } from '../../bin/tools/lists/newest-installs.ts'
import type { RecordedHit } from '../../stand-ins/ga4.ts'
import type { RecordedRequest } from '../../stand-ins/server.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { startProgram } from '../../fixtures/service/programs.ts'
import { keyOf, type Call, type Explained, type Hit, type Stored, type StoredInstall } from './history.ts'
import { CHAOS_ORGANIZATION, CHAOS_WEBSITES } from './manifests.ts'
import type { ChaosService } from './service.ts'

/** Deliveries that met a provider in trouble more than twice wait for five minutes. */
const SETTLE_MS = 420_000
const PAUSE_MS = 500
const QUIET_LOOKS = 3
const PAGE_ROWS = 10_000
const KEYS_AT_ONCE = 5_000

/** Resolves with null, or with what is left if it takes too long. */
export async function settle({ eventLog, facts }: ChaosService): Promise<string | null> {
  const deadlineMs = performance.now() + SETTLE_MS
  let quiet = 0
  for (;;) {
    const left = await leftOver(eventLog, facts).catch((error: unknown) => [String(error)])
    quiet = left.length === 0 ? quiet + 1 : 0
    if (quiet === QUIET_LOOKS) return null
    if (performance.now() > deadlineMs) return left.join('; ')
    await wait(PAUSE_MS)
  }
}

async function leftOver(eventLog: ChaosService['eventLog'], facts: Facts): Promise<string[]> {
  // Read in this order: an entry that leaves a waiting room becomes an open delivery before it is settled.
  const waiting = (await eventLog.lag()).filter(({ entries }) => entries > 0)
  const period = { since_ms: 0, until_ms: Date.now() * 2, limit: 1 }
  const open = await Promise.all(
    ['pending', 'retrying'].map((status) => facts.run('listDeliveries', { ...period, status })),
  )
  return [
    ...waiting.map(({ group, topic, entries }) => `${group} lags behind ${topic} by ${entries}`),
    ...open.flat().map(({ event_id, destination, status }) => `${event_id} at ${destination} is ${status}`),
  ]
}

/** @param sinceMs rows of what was received before belong to another round */
export async function readStored(
  service: ChaosService,
  calls: readonly Call[],
  sinceMs: number,
): Promise<Omit<Stored, 'explained'>> {
  const { facts } = service
  const logs = await pages(
    (page) => facts.run('listLogs', page),
    (row) => ({ before_ms: row.received_at_ms, before_id: row.id }),
    sinceMs,
  )
  const tags = new Map(logs.map(({ id, user_agent: tag }) => [id, tag]))
  const installs = await pages(
    (page) => newestInstalls(facts, page),
    (row) => ({ before_ms: row.received_at_ms, before_id: row.event_id }),
    sinceMs,
  )
  const events = new Set(installs.map(keyOf))
  const deliveries = await deliveriesOf(facts, sinceMs)
  return {
    logs: countsOf(logs.map(({ user_agent: tag }) => tag)),
    installs: installs.map((row): StoredInstall => ({ ...row, tag: tags.get(row.request_id) ?? '' })),
    deliveries: deliveries.filter((row) => events.has(keyOf(row))),
    hits: hitsSince(service, sinceMs),
    poisonRecords: (await facts.run('counts', {}))[0]?.poison_records ?? 0,
    ...(await visitsOf(service, calls, sinceMs)),
  }
}

function countsOf(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

type Page = { since_ms: number; until_ms: number; limit: number; before_ms?: number; before_id?: string }

async function pages<R>(
  fetch: (page: Page) => Promise<readonly R[]>,
  cursor: (last: R) => { before_ms: number; before_id: string },
  sinceMs: number,
): Promise<R[]> {
  const all: R[] = []
  let page: Page = { since_ms: sinceMs, until_ms: Date.now() * 2, limit: PAGE_ROWS }
  for (;;) {
    const rows = await fetch(page)
    all.push(...rows)
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE_ROWS) return all
    page = { ...page, ...cursor(last) }
  }
}

async function deliveriesOf(facts: Facts, sinceMs: number) {
  const period = { since_ms: sinceMs, until_ms: Date.now() * 2, limit: PAGE_ROWS }
  const rows = await Promise.all(CHAOS_WEBSITES.map((website) => facts.run('listDeliveries', { ...period, website })))
  if (rows.some(({ length }) => length === PAGE_ROWS)) throw new Error('more deliveries than one page holds')
  return rows.flat()
}

async function visitsOf({ facts, engines }: ChaosService, calls: readonly Call[], sinceMs: number) {
  const visits = new Map<string, Stored['visits'] extends ReadonlyMap<string, infer V> ? V : never>()
  const handoffs = new Set<string>()
  for (const [website, some] of Map.groupBy(calls, (call) => call.website)) {
    const ids = [...new Set(some.map(({ visit }) => visit))].filter((id) => id !== '')
    for (let at = 0; at < ids.length; at += KEYS_AT_ONCE) {
      const keys = ids.slice(at, at + KEYS_AT_ONCE)
      for (const row of await facts.run('receiptFacts', { organization: CHAOS_ORGANIZATION, website, visit_ids: keys }))
        visits.set(row.visit_id, row)
      const named = {
        organizations: keys.map(() => CHAOS_ORGANIZATION),
        websites: keys.map(() => website),
        visit_ids: keys,
      }
      for (const row of await facts.run('handoffsOfVisits', named)) handoffs.add(row.visit_id)
    }
  }
  const sql = 'SELECT count() AS visits FROM visits FINAL WHERE issued_at >= fromUnixTimestamp64Milli({since:Int64})'
  const [counted] = await engines.connection.query(sql, { since: sinceMs }, { turn: 'report' })
  return { visits, handoffs, visitCount: Number((counted as { visits?: string } | undefined)?.visits) }
}

/** Every event that reached a provider since then; Meta takes many in one request. */
export function hitsSince({ ga4, meta }: Pick<ChaosService, 'ga4' | 'meta'>, sinceMs: number): Hit[] {
  const isNew = ({ receivedAtMs }: { readonly receivedAtMs: number }): boolean => receivedAtMs >= sinceMs
  return [...ga4.requests().filter(isNew).map(ga4Hit), ...meta.requests().filter(isNew).flatMap(metaHits)]
}

function ga4Hit({ body, answered, receivedAtMs }: RecordedHit): Hit {
  const { client_id: identity, events } = body as {
    client_id: string
    events: readonly [{ name: string; params: any }]
  }
  const [{ name, params }] = events
  const isTaken = answered === 204
  return { provider: 'ga4', id: String(params.install_id), eventName: name, identity, isTaken, atMs: receivedAtMs }
}

function metaHits({ body, answered, receivedAtMs }: RecordedRequest): Hit[] {
  const { data } = body as { data: readonly { event_id: string; event_name: string; user_data: { fbp: string } }[] }
  return data.map(({ event_id: id, event_name: eventName, user_data: user }) => ({
    provider: 'meta',
    id,
    eventName,
    identity: user.fbp,
    isTaken: answered === 200,
    atMs: receivedAtMs,
  }))
}

/** The output of `whencectl explain --json` for some events, each from a separate process as for a person. */
export async function explain(
  { engines }: Pick<ChaosService, 'engines'>,
  rows: readonly Pick<StoredInstall, 'website' | 'event_id'>[],
): Promise<Explained[]> {
  const { WHENCE_EVENT_LOG, WHENCE_FACTS } = engines.ownEnv
  const told: Explained[] = []
  for (const { website, event_id } of rows) {
    const words = ['explain', event_id, '--website', website, '--json']
    const tool = startProgram(words, { env: { WHENCE_EVENT_LOG, WHENCE_FACTS }, isHeard: true })
    if ((await tool.ended) !== 0) throw new Error(`whencectl explain ${event_id}: ${tool.stderr()}`)
    const { install, deliveries } = JSON.parse(tool.stdout()) as {
      install: StoredInstall
      deliveries: Stored['deliveries']
    }
    told.push({ website, event_id, resolution: install.resolution, visit_id: install.visit_id, deliveries })
  }
  return told
}
