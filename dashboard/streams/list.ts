/** Lists log streams with their progress, dropped records, and the answers of their receivers. */

import { refuse } from '../../domain/errors.ts'
import { readProgress, type Gap, type SentBatch, type StreamProgress } from '../../domain/streams/progress.ts'
import type { StreamStandingRow } from '../../ports/facts/query-rows.ts'
import { answer } from '../http/call.ts'
import type { ReadScope } from '../reads/scope.ts'
import type { Inventory, ListedObject } from '../resources/inventory.ts'
import { streamId, streamOf } from './find.ts'

export interface StreamListParts {
  readonly scope: ReadScope
  readonly inventory: Inventory
}

export function listStreams({ scope, inventory }: StreamListParts) {
  return scope(async (reads, call) => {
    const objects = inventory.list('LogStream', reads.organization.id)
    const rows = await reads.run('streamsOfOrganization', { streams: objects.map(streamId) })
    const rowOf = new Map(rows.map((row) => [row.stream, row]))
    const streams = objects.map((object) => listedStream(object, rowOf.get(streamId(object)), call.nowMs))
    return answer({ streams })
  })
}

export function listAttempts({ scope, inventory }: StreamListParts) {
  return scope(async (reads, call) => {
    const object = streamOf(call, inventory)
    if (object === null) return refuse('not_found')
    const [row] = await reads.run('streamsOfOrganization', { streams: [streamId(object)] })
    const sent = row === undefined ? [] : readProgress(row.progress).sent
    return answer({ attempts: sent.map(shownAttempt) })
  })
}

/** Times are Unix ms. Without a row no process has served it yet, and only its object is known. */
function listedStream(object: ListedObject, row: StreamStandingRow | undefined, nowMs: number) {
  const { name, namespace, version, conditions, origin, spec } = object
  return {
    name,
    namespace,
    version,
    conditions,
    origin,
    displayName: spec['displayName'] as string | undefined,
    paused: spec['paused'] === true,
    ...shownTarget(spec),
    ...(row === undefined ? NOT_BEGUN : shownStanding(row, readProgress(row.progress), nowMs)),
  }
}

const NOT_BEGUN = {
  state: null,
  behind: 0,
  oldestAt: null,
  lagMs: null,
  deliveredAt: null,
  failingSince: null,
  retryAt: null,
  lastError: null,
  delivered: 0,
  dropped: 0,
  isProven: false,
  asOf: null,
  gaps: [],
} as const

function shownStanding(row: StreamStandingRow, progress: StreamProgress, nowMs: number) {
  const { state, behind, oldest_at_ms: oldestAt, delivered_at_ms: deliveredAt, seen_at_ms: asOf } = row
  const { failing_since_ms: failingSince, last_error: lastError, delivered, dropped } = row
  const { gaps: untold, told, retryAtMs, provenTarget } = progress
  const gaps = [...untold.map((gap) => shownGap(gap, null)), ...told.map((gap) => shownGap(gap, gap.atMs))]
  return {
    state,
    behind,
    oldestAt,
    lagMs: oldestAt === null ? null : Math.max(0, nowMs - oldestAt),
    deliveredAt,
    failingSince,
    retryAt: failingSince === null ? null : retryAtMs,
    lastError: lastError === '' ? null : lastError,
    delivered,
    dropped,
    isProven: provenTarget !== '',
    asOf,
    gaps,
  }
}

/** `toldAt` null: it was not reported to the receiver yet. */
function shownGap({ reason, dropped, fromMs, toMs }: Gap, toldAt: number | null) {
  return { reason, dropped, from: fromMs, to: toMs, toldAt }
}

function shownAttempt({ id, kind, atMs, records, bytes, tookMs, status, error, answer: text }: SentBatch) {
  return { id, kind, at: atMs, records, bytes, tookMs, status, error: error === '' ? null : error, answer: text }
}

/** Its address. The contents of its Secret are unknown here. */
function shownTarget({ webhook, s3 }: ListedObject['spec']) {
  if (webhook !== undefined) return { to: 'webhook' as const, url: (webhook as { readonly url?: string }).url ?? '' }
  const { endpoint, bucket, prefix } = (s3 ?? {}) as Readonly<
    Record<'endpoint' | 'bucket' | 'prefix', string | undefined>
  >
  return { to: 's3' as const, endpoint, bucket, prefix }
}
