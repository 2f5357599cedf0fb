/** Builds the bodies that a log stream posts to a webhook: the same plan gives the same text. */

import { memberOf } from '../strict-json.ts'
import type { Gap, StreamPlan } from './progress.ts'

/** `records`: the JSON of each, in order. */
export function batchBody(stream: string, plan: StreamPlan, records: readonly string[]): string {
  return envelope(stream, plan.id, [...gapTexts(plan), ...records])
}

export function testBody(stream: string, id: string, atMs: number): string {
  return envelope(stream, id, [testText(id, atMs)])
}

/** A made-up record under a unique ID. */
export function testText(id: string, atMs: number): string {
  return JSON.stringify({
    type: 'test',
    id,
    at: atMs,
    message: 'A test of this log stream. No request and no delivery caused it.',
  })
}

/** How a batch reports missing records, before its own. */
export function gapTexts({ id, gaps }: StreamPlan): readonly string[] {
  return gaps.map((gap, index) => gapText(gap, `${id}-gap-${index + 1}`))
}

/** Asks whether the receiver at the address wants the stream. */
export function verifyBody(stream: string, challenge: string): string {
  return JSON.stringify({ type: 'verify', stream, challenge })
}

/** Whether the answer returns the challenge: as its whole body, in a field of that name, or in a header. */
export function returnsChallenge(
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
  challenge: string,
): boolean {
  if (headers['webhook-challenge'] === challenge || body.trim() === challenge) return true
  try {
    return memberOf(JSON.parse(body), 'challenge') === challenge
  } catch {
    return false
  }
}

function envelope(stream: string, batch: string, records: readonly string[]): string {
  const head = JSON.stringify({ type: 'logs', stream, batch })
  return `${head.slice(0, -1)},"records":[${records.join(',')}]}`
}

function gapText({ reason, dropped, fromMs, toMs }: Gap, id: string): string {
  return JSON.stringify({ type: 'gap', id, reason, dropped, from: timeOf(fromMs), to: timeOf(toMs) })
}

function timeOf(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString()
}
