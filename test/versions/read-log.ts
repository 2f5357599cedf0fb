/**
 * Runs every reader of this tree's release on a log, and prints the results: `node test/versions/read-log.ts FOLDER`.
 *
 * `write` before the folder appends the samples of this tree's release instead.
 */

import { join } from 'node:path'

import { Registry } from 'prom-client'

import { startDispatch } from '../../delivery/dispatch/dispatch.ts'
import { startFactsWriter } from '../../delivery/facts-writer/facts-writer.ts'
import { startMailRole } from '../../delivery/mail/mail-role.ts'
import { startDecidedAnswers } from '../../delivery/state/decided-answers.ts'
import { startLateRevocations } from '../../delivery/state/late-revocations.ts'
import { ga4 } from '../../delivery/providers/ga4.ts'
import { listDeadLetters } from '../../delivery/tools/replay.ts'
import { startGa4StandIn } from '../../stand-ins/ga4.ts'
import { NOTICED_TOPICS } from '../../delivery/webhooks/notice.ts'
import { startWebhooks } from '../../delivery/webhooks/webhooks.ts'
import { startWorker } from '../../delivery/worker/worker.ts'
import { webhookKey, type Webhook } from '../../domain/catalog.ts'
import type { Topic } from '../../domain/records.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { createRandomness } from '../../runtime/random.ts'
import { ACME, catalogOf, destinationOf } from '../../fixtures/delivery/builders.ts'
import { credentialsOf, openStore, TestClock, type Store } from '../../fixtures/delivery/harness.ts'
import { Receiver, SECRET } from '../delivery/webhooks/receiver.ts'
import { sampleEntries, SAMPLE_WEBHOOK, type SampleEntry } from './samples.ts'

export interface LogReport {
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>
  /** Event IDs of what reached GA4, in order. */
  readonly delivered: readonly string[]
  /** IDs of the mails that were sent, in alphabetical order. */
  readonly mailed: readonly string[]
  /** What webhooks were told, once for each message, in alphabetical order. */
  readonly told: readonly string[]
  /** IDs of the replays of decisions that somebody waits for. */
  readonly replays: readonly string[]
  readonly letters: readonly string[]
  readonly unreadLetters: number
  /** Topics with entries that a role has not done, `role topic`, in order. */
  readonly behind: readonly string[]
  /** Partitions that wait for a later release, as the metrics say, `role topic`, in order. */
  readonly held: readonly string[]
  /** Entries that were passed over, as the metrics say. */
  readonly unreadable: number
}

const QUIET_LOOKS = 100
const LOOK_MS = 25

const WEBHOOK: Webhook = {
  id: SAMPLE_WEBHOOK,
  namespace: 'default',
  objectName: 'acme-events',
  displayName: 'Our events',
  format: 'Standard',
  url: 'https://hooks.acme.dev/in',
  events: ['install.matched', 'delivery.failed', 'limit.reached'],
  isPaused: false,
  previousSecretUntilMs: null,
}

export async function appendTo(folder: string, entries: readonly SampleEntry[]): Promise<void> {
  const store = await openStore(join(folder, 'log'), new TestClock().nowMs)
  await beginWebhooks(store.log)
  for (const { topic, key, value } of entries) await store.log.append(topic as Topic, [{ key, value }])
  await store.close()
}

/** The role `webhooks` reads events from the end that a topic had when it first ran: it did so before these samples. */
async function beginWebhooks(log: EventLog): Promise<void> {
  const notNow = async () => ({ done: 0, resumeAtMs: Infinity })
  for (const topic of NOTICED_TOPICS) {
    const consumer = await log.consume(topic, 'webhooks', notNow, { maxEntries: 1, from: 'newest' })
    await consumer.close()
  }
}

/** Until nothing has moved for a second. `isMigrated`: a later release has made the tables. */
export async function readLog(folder: string, { isMigrated = false } = {}): Promise<LogReport> {
  const clock = new TestClock()
  const standIn = await startGa4StandIn({ port: 0, nowMs: clock.nowMs })
  const receiver = await Receiver.open()
  const store = await openStore(join(folder, 'log'), clock.nowMs)
  const connection = await openChdb(join(folder, 'facts'))
  if (!isMigrated) await migrate(connection)
  const facts = clickhouseFacts(connection, { nowMs: clock.nowMs })
  const registry = new Registry()
  const mailed: string[] = []
  const roles = await startRoles({ store, facts, clock, registry, mailed, receiver, ga4Url: standIn.url })
  await quiet(store.log)
  const { letters, unread } = await listDeadLetters(store.log)
  const report: LogReport = {
    rows: (await facts.run('counts', {}))[0] as unknown as LogReport['rows'],
    delivered: standIn.requests().flatMap((hit) => eventIdsOf(hit)),
    mailed: mailed.toSorted(),
    told: toldTo(receiver),
    replays: (await facts.run('openReplays', { limit: 10 })).map(({ id }) => id),
    letters: letters.map(({ job }) => job.install.eventId),
    unreadLetters: unread.count,
    behind: await behindOf(store.log),
    ...(await metricsOf(registry)),
  }
  await Promise.all(roles.map((role) => role.close()))
  await store.close()
  await facts.close()
  await standIn.close()
  await receiver.close()
  return report
}

interface RoleParts {
  readonly store: Store
  readonly facts: Facts
  readonly clock: TestClock
  readonly registry: Registry
  /** Gets the IDs of mails. */
  readonly mailed: string[]
  readonly receiver: Receiver
  readonly ga4Url: string
}

async function startRoles({ store, mailed, receiver, ...told }: RoleParts): Promise<{ close(): Promise<unknown> }[]> {
  const destinations = [destinationOf()]
  const catalog = catalogOf(destinations)
  const organizations = new Map([[ACME.id, { ...ACME, webhooks: [WEBHOOK] }]])
  const { facts, registry, clock, ga4Url } = told
  const telemetry = { logger: SILENT_LOGGER, registry }
  const shared = { eventLog: store.log, hotState: store.hotState, facts, nowMs: clock.nowMs, random: () => 0 }
  const current = () => ({ ...catalog, organizations })
  const parts = { ...shared, telemetry, catalog: { current, credentials: () => credentialsOf(destinations) } }
  const secrets = new Map([[webhookKey(WEBHOOK), { secret: SECRET }]])
  const randomness = createRandomness()
  const post: Parameters<typeof startMailRole>[0]['post'] = async (_letter, { mailId }) => {
    mailed.push(mailId)
    return 'sent'
  }
  return [
    await startFactsWriter({
      ...shared,
      ...telemetry,
      options: { lingerMs: 0, gatherMs: 0, busyGatherMs: 0, politeness: 0 },
    }),
    await startLateRevocations(parts),
    await startDecidedAnswers(parts),
    await startMailRole({ ...parts, post, randomness }),
    await startDispatch({ ...parts, claims: parts.hotState }),
    await startWorker({ provider: ga4, baseUrl: ga4Url }, parts),
    await startWebhooks(
      { ...parts, randomness, catalog: { current, credentials: () => secrets } },
      receiver.outbound(),
    ),
  ]
}

/** Several records may tell of one event, which then has one ID; receivers recognise it by that. */
function toldTo(receiver: Receiver): string[] {
  const byId = new Map(receiver.received.map(({ id, payload }) => [id, payload]))
  return [...byId.values()].map(({ type, data }) => `${type} ${String(data['eventId'] ?? data['limit'])}`).sort()
}

async function quiet(log: EventLog): Promise<void> {
  let looks = 0
  for (let before = ''; looks < QUIET_LOOKS; looks++) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    const now = JSON.stringify(await log.lag())
    if (now !== before) looks = 0
    before = now
  }
}

function eventIdsOf(hit: unknown): string[] {
  const { body } = hit as { body: { events: readonly { params: Readonly<Record<string, string>> }[] } }
  return body.events.map(({ params }) => params['install_id'] ?? '')
}

async function behindOf(log: EventLog): Promise<string[]> {
  const lags = (await log.lag()).filter(({ entries }) => entries > 0)
  return lags.map(({ group, topic }) => `${group} ${topic}`).sort()
}

async function metricsOf(registry: Registry): Promise<Pick<LogReport, 'held' | 'unreadable'>> {
  const valuesOf = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values ?? []
  const held = await valuesOf('whence_held_partitions')
  const unreadable = await valuesOf('whence_unreadable_entries_total')
  return {
    held: held.map(({ labels }) => `${labels['role']} ${labels['topic']}`).sort(),
    unreadable: unreadable.reduce((sum, { value }) => sum + value, 0),
  }
}

if (import.meta.main) {
  const [first = '', second = ''] = process.argv.slice(2)
  if (first === 'write') await appendTo(second, sampleEntries())
  else process.stdout.write(`${JSON.stringify(await readLog(first))}\n`)
  process.exit(0)
}
