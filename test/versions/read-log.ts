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
import { startWorker } from '../../delivery/worker/worker.ts'
import type { Topic } from '../../domain/records.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { createRandomness } from '../../runtime/random.ts'
import { catalogOf, destinationOf } from '../../fixtures/delivery/builders.ts'
import { credentialsOf, openStore, TestClock } from '../../fixtures/delivery/harness.ts'
import { laterEntries, sampleEntries, type SampleEntry } from './samples.ts'

export interface LogReport {
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>
  /** Event IDs of what reached GA4, in order. */
  readonly delivered: readonly string[]
  /** IDs of the mails that were sent, in alphabetical order. */
  readonly mailed: readonly string[]
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

const QUIET_LOOKS = 40
const LOOK_MS = 25

export async function appendTo(folder: string, entries: readonly SampleEntry[]): Promise<void> {
  const store = await openStore(join(folder, 'log'), new TestClock().nowMs)
  for (const { topic, key, value } of entries) await store.log.append(topic as Topic, [{ key, value }])
  await store.close()
}

/** Until nothing has moved for a second. */
export async function readLog(folder: string): Promise<LogReport> {
  const clock = new TestClock()
  const destinations = [destinationOf()]
  const standIn = await startGa4StandIn({ port: 0, nowMs: clock.nowMs })
  const store = await openStore(join(folder, 'log'), clock.nowMs)
  const connection = await openChdb(join(folder, 'facts'))
  await migrate(connection)
  const facts = clickhouseFacts(connection, { nowMs: clock.nowMs })
  const registry = new Registry()
  const shared = { eventLog: store.log, hotState: store.hotState, facts, nowMs: clock.nowMs, random: () => 0, registry }
  const parts = { ...shared, logger: SILENT_LOGGER, catalog: () => catalogOf(destinations) }
  const mailed: string[] = []
  const post: Parameters<typeof startMailRole>[0]['post'] = async (_letter, { mailId }) => {
    mailed.push(mailId)
    return 'sent'
  }
  const roles = [
    await startFactsWriter({ ...parts, options: { lingerMs: 0, gatherMs: 0, busyGatherMs: 0, politeness: 0 } }),
    await startLateRevocations(parts),
    await startDecidedAnswers(parts),
    await startMailRole({ ...parts, post, randomness: createRandomness() }),
    await startDispatch(parts),
    await startWorker({
      ...parts,
      ...{ provider: ga4, baseUrl: standIn.url, credentials: () => credentialsOf(destinations) },
    }),
  ]
  await quiet(store.log)
  const { letters, unread } = await listDeadLetters(store.log)
  const report: LogReport = {
    rows: (await facts.run('counts', {}))[0] as unknown as LogReport['rows'],
    delivered: standIn.requests().flatMap((hit) => eventIdsOf(hit)),
    mailed: mailed.toSorted(),
    replays: (await facts.run('openReplays', { limit: 10 })).map(({ id }) => id),
    letters: letters.map(({ job }) => job.install.eventId),
    unreadLetters: unread.count,
    behind: await behindOf(store.log),
    ...(await metricsOf(registry)),
  }
  await Promise.all(roles.map((role) => role.stop()))
  await store.close()
  await facts.close()
  await standIn.stop()
  return report
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
  if (first === 'write') await appendTo(second, [...sampleEntries(), ...laterEntries()])
  else process.stdout.write(`${JSON.stringify(await readLog(first))}\n`)
  process.exit(0)
}
