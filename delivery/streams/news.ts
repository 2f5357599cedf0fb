/** What the role `streams` tells: activity of the organisation, at most hourly for each thing, and metrics. */

import { Counter, Gauge, type Registry } from 'prom-client'

import { HOUR_MS } from '../../domain/durations.ts'
import { encodeRecord, recordKey, type ActivityRecord } from '../../domain/records.ts'
import { streamSubject } from '../../domain/streams/commands.ts'
import type { StreamState } from '../../domain/streams/pace.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import type { Logger } from '../../runtime/logger.ts'
import { timeOrderedId, type Randomness } from '../../runtime/random.ts'
import type { StreamStanding } from './progress-store.ts'
import type { StreamInForce } from './in-force.ts'
import type { Sent } from './sender.ts'

const MESSAGES = {
  stream_failing: (detail: string) =>
    `Its batches are not taken (${detail}). It is tried again, and nothing is lost for seven days.`,
  stream_overflow: (detail: string) =>
    `It was behind too far: the oldest ${detail} records were dropped, which the stream says too.`,
  stream_log_renewed: () =>
    'The event log had begun again: records that it had lost before they were read are missing from the stream.',
} as const satisfies Record<string, (detail: string) => string>

export interface StreamNews {
  /** Never rejects: what is not told now is told in an hour. */
  readonly tell: (inForce: StreamInForce, type: keyof typeof MESSAGES, detail: string) => Promise<void>
  readonly sent: (sent: Sent) => void
  readonly standings: (all: readonly StreamStanding[]) => void
}

interface NewsParts {
  readonly eventLog: Pick<EventLog, 'append'>
  readonly hotState: Pick<HotState, 'claimJob'>
  readonly logger: Pick<Logger, 'warn'>
  readonly randomness: Randomness
  readonly nowMs: () => number
  readonly registry?: Registry
}

export function createStreamNews(parts: NewsParts): StreamNews {
  const metrics = createStreamMetrics(parts.registry)
  return {
    async tell(inForce, type, detail) {
      const { stream, organization } = inForce
      const { hotState, eventLog, randomness, logger, nowMs } = parts
      logger.warn({ stream: stream.id, organization: organization.id, type, detail }, 'news of a log stream')
      metrics?.told(type)
      const atMs = nowMs()
      const id = timeOrderedId(randomness, atMs)
      const isFirst = await hotState.claimJob(`news/${type}/${stream.id}`, id, HOUR_MS).catch(() => false)
      if (!isFirst) return
      const record: ActivityRecord = {
        ...{ v: 1, kind: 'activity', id, atMs, organization: organization.id, website: '', type },
        ...{ subject: streamSubject(stream.id), message: MESSAGES[type](detail) },
        logRetentionDays: organization.logRetentionDays,
      }
      const entry = { key: recordKey('', id), value: encodeRecord(record) }
      await eventLog
        .append('activity', [entry])
        .catch((error: unknown) => logger.warn({ err: error }, 'news not stored'))
    },
    sent: ({ shown }) => metrics?.sent(shown.error === '' ? 'taken' : 'refused', shown.records),
    standings: (all) => metrics?.standings(all),
  }
}

const STATES: readonly StreamState[] = ['Delivering', 'Behind', 'Failing', 'Paused', 'NotVerified']

function createStreamMetrics(registry: Registry | undefined) {
  if (registry === undefined) return null
  const registers = [registry]
  const streams = new Gauge({
    name: 'whence_streams',
    help: 'Log streams that this process looks after, by state.',
    labelNames: ['state'],
    registers,
  })
  const behind = new Gauge({
    name: 'whence_stream_oldest_seconds',
    help: 'Age of the oldest record that a log stream of this process has still to send.',
    registers,
  })
  const batches = new Counter({
    name: 'whence_stream_batches_total',
    help: 'Batches posted, by whether they were taken.',
    labelNames: ['result'],
    registers,
  })
  const records = new Counter({ name: 'whence_stream_records_total', help: 'Records that were taken.', registers })
  const news = new Counter({
    name: 'whence_stream_news_total',
    help: 'What organisations are told of their log streams, by type; activity has at most one an hour.',
    labelNames: ['type'],
    registers,
  })
  return {
    told: (type: string) => news.inc({ type }),
    sent: (result: 'taken' | 'refused', count: number) => {
      batches.inc({ result })
      if (result === 'taken') records.inc(count)
    },
    standings(all: readonly StreamStanding[]) {
      for (const state of STATES) streams.set({ state }, all.filter((each) => each.state === state).length)
      const oldest = all.reduce((least, { oldestMs }) => Math.min(least, oldestMs ?? Infinity), Infinity)
      behind.set(Number.isFinite(oldest) ? Math.max(0, (Date.now() - oldest) / 1_000) : 0)
    },
  }
}
