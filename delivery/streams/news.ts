/** What the role `streams` reports: activity of the organisation, at most hourly for each subject, and metrics. */

import { Counter, Gauge, type Registry } from 'prom-client'

import { streamSubject } from '../../domain/streams/commands.ts'
import type { StreamState } from '../../domain/streams/pace.ts'
import type { Gap } from '../../domain/streams/progress.ts'
import { createHourlyNews, type HourlyNewsParts } from '../hourly-news.ts'
import type { StreamStanding } from './progress-store.ts'
import type { StreamInForce } from './in-force.ts'
import type { Sent } from './sender.ts'

const MESSAGES = {
  stream_failing: (detail: string) =>
    `Its batches are not taken (${detail}). It is tried again; nothing is lost for seven days, or up to a million records.`,
  stream_overflow: (detail: string) =>
    `It was behind too far: the oldest ${detail} records were dropped, which the stream says too.`,
  stream_too_large: (detail: string) =>
    `The receiver refused ${detail} of its records for their size, though each came alone: they were dropped, which the stream says too.`,
  stream_log_renewed: () =>
    'The event log was recreated or restored: records that it lost before they were read are missing from the stream.',
} as const satisfies Record<string, (detail: string) => string>

const DROP_REASONS = ['overflow', 'skipped', 'too_large'] as const satisfies readonly Gap['reason'][]
type DropReason = (typeof DROP_REASONS)[number]

export interface StreamNews {
  /** Never rejects: what is not reported now is reported in an hour. */
  readonly tell: (inForce: StreamInForce, type: keyof typeof MESSAGES, detail: string) => Promise<void>
  readonly sent: (sent: Sent) => void
  /** Records that the stream does not send; it reports the gap itself. */
  readonly dropped: (reason: DropReason, records: number) => void
  readonly standings: (all: readonly StreamStanding[]) => void
}

export function createStreamNews(parts: HourlyNewsParts): StreamNews {
  const metrics = createStreamMetrics(parts.telemetry.registry)
  const news = createHourlyNews(parts)
  return {
    async tell({ stream, organization }, type, detail) {
      metrics?.told(type)
      await news({ organization, type, subject: streamSubject(stream.id), message: MESSAGES[type](detail) })
    },
    sent: ({ shown }) => metrics?.sent(shown.error === '' ? 'taken' : 'refused', shown.records),
    dropped: (reason, records) => metrics?.dropped(reason, records),
    standings: (all) => metrics?.standings(all),
  }
}

const STATES: readonly StreamState[] = ['Delivering', 'Behind', 'Failing', 'Paused', 'NotVerified']

function createStreamMetrics(registry: Registry | undefined) {
  if (registry === undefined) return null
  const registers = [registry]
  const streams = new Gauge({
    name: 'whence_streams',
    help: 'Log streams that this process serves, by state.',
    labelNames: ['state'],
    registers,
  })
  const behind = new Gauge({
    name: 'whence_stream_oldest_seconds',
    help: 'Age of the oldest record that a log stream of this process still has to send.',
    registers,
  })
  const batches = new Counter({
    name: 'whence_stream_batches_total',
    help: 'Batches sent, by whether they were accepted.',
    labelNames: ['result'],
    registers,
  })
  const records = new Counter({ name: 'whence_stream_records_total', help: 'Records that were accepted.', registers })
  const news = new Counter({
    name: 'whence_stream_news_total',
    help: 'Reports to organisations about their log streams, by type; activity has at most one an hour.',
    labelNames: ['type'],
    registers,
  })
  const drops = new Counter({
    name: 'whence_stream_dropped_records_total',
    help: 'Records that log streams did not send, by why: too many or too old, skipped by a person, or refused for their size.',
    labelNames: ['reason'],
    registers,
  })
  // From the start, so that the first drop is an increase.
  for (const reason of DROP_REASONS) drops.inc({ reason }, 0)
  return {
    dropped: (reason: DropReason, count: number) => drops.inc({ reason }, count),
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
