/** Shared by the advertising providers' builders: opt-out, the form of click IDs, and the times they count from. */

import type { Job } from '../../domain/records.ts'
import type { DestinationContext, ProviderBatch, ProviderRequest, Skip } from './provider.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { textOf } from '../../domain/strict-json.ts'

/** No advertising provider accepts a click older than this, whatever window is set. */
export const CLICK_LIFETIME_MS = 90 * DAY_MS

/** Global Privacy Control of the visit, or of the token that matched it: then no request may be built. */
export function isOptedOut(job: Job): boolean {
  return job.install.gpc || job.visit.gpc
}

export function skip(reason: Skip['reason']): Skip {
  return { kind: 'skip', reason }
}

/** The value if it can be a click ID: one malformed value makes some providers refuse a whole batch. */
export function clickId(value: string | undefined): string | null {
  return value !== undefined && /^[A-Za-z0-9_.~-]{1,1024}$/.test(value) ? value : null
}

/** When the visitor came to the website; clicks are shortly before. The browser's clock says so and may be ahead, but the visit was issued later. */
export function landedAtMs({ visit }: Job): number {
  return Math.min(visit.landedAtMs ?? visit.issuedAtMs, visit.issuedAtMs)
}

/** Time of the install, but never ahead of the sender's clock. */
export function installAtMs(job: Job, nowMs: number): number {
  return Math.min(job.install.receivedAtMs, nowMs)
}

/** One delivery in a provider's form, with the details that `explain` shows. */
export interface Row {
  readonly body: Readonly<Record<string, unknown>>
  /** Which identifiers it uses, for `explain`. */
  readonly detail: string
  /** The identifiers themselves. */
  readonly secrets: readonly string[]
}

interface RowProvider {
  readonly row: (job: Job, destination: DestinationContext, nowMs: number) => Row | Skip
  /** Everything of the request except the rows. */
  readonly envelope: (rows: readonly Row[], destination: DestinationContext) => RequestEnvelope
}

export type RequestEnvelope = Omit<ProviderRequest, 'sessionMode' | 'detail'>

/** The code that makes events test events, if the destination only validates and has one; otherwise null. */
export function testEventCode({ settings, isValidateOnly }: DestinationContext): string | null {
  return (isValidateOnly && textOf(settings['testEventCode'])) || null
}

/** The request of one delivery: a batch of one. */
export function requestOfOne(
  { row, envelope }: RowProvider,
  job: Job,
  destination: DestinationContext,
  nowMs: number,
): ProviderRequest | Skip {
  const built = row(job, destination, nowMs)
  if (isSkip(built)) return built
  return { ...envelope([built], destination), sessionMode: job.sessionMode, detail: built.detail }
}

/** @throws if a job has no row; the caller must have removed those. */
export function requestOfMany({ row, envelope }: RowProvider): ProviderBatch['request'] {
  return (jobs, destination, nowMs) => {
    const rows = jobs.map((job) => {
      const built = row(job, destination, nowMs)
      if (isSkip(built)) throw new Error(`job in a batch cannot be sent: ${built.reason}`)
      return built
    })
    const detail = `one of ${rows.length} in a request`
    return { ...envelope(rows, destination), sessionMode: jobs[0]?.sessionMode ?? 'none', detail }
  }
}

function isSkip(built: Row | Skip): built is Skip {
  return 'kind' in built
}
