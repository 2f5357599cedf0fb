/** Places moments around an install on a scale that shows both seconds near it and weeks away from it. */

import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../domain/durations.ts'
import { deadlineOf, isStillOpen, type Story } from './story.ts'

interface Tick {
  readonly at: number
  readonly text: string
  /** Shown first; the others only if there is room. */
  readonly isMain: boolean
}

export interface Scale {
  /** From 0 (left edge) to 100. */
  readonly at: (ms: number) => number
  readonly ticks: readonly Tick[]
  /** Set if something is still to come. */
  readonly nowMs: number | null
}

const EDGE = 3
const MIDDLE = 50
/** Span of a side on which nothing happened. */
const NARROW_SIDE = 16
const LEAST_MS = 10 * SECOND_MS
const MAIN_GAP = 14
const LEAST_GAP = 7

const MARKS = [
  { ms: SECOND_MS, text: '1 s' },
  { ms: 10 * SECOND_MS, text: '10 s' },
  { ms: MINUTE_MS, text: '1 min' },
  { ms: 10 * MINUTE_MS, text: '10 min' },
  { ms: HOUR_MS, text: '1 h' },
  { ms: 6 * HOUR_MS, text: '6 h' },
  { ms: DAY_MS, text: '1 day' },
  { ms: 3 * DAY_MS, text: '3 days' },
  { ms: 7 * DAY_MS, text: '7 days' },
  { ms: 30 * DAY_MS, text: '30 days' },
] as const

/** The logarithm of the distance: each power of ten has the same width. */
export function scaleOf(story: Story, nowMs: number): Scale {
  const isWaiting = story.deliveries.some(isStillOpen)
  const offsets = scaleMoments(story).map((ms) => ms - story.installedAtMs)
  const before = Math.max(0, ...offsets.map((offset) => -offset))
  const after = Math.max(0, ...offsets, isWaiting ? nowMs - story.installedAtMs : 0)
  const middle = before > 0 === after > 0 ? MIDDLE : before > 0 ? 100 - NARROW_SIDE : NARROW_SIDE
  const left = { width: middle - EDGE, furthest: Math.max(before, LEAST_MS) }
  const right = { width: 100 - EDGE - middle, furthest: Math.max(after, LEAST_MS) }
  const place = (offset: number): number => {
    const { width, furthest } = offset < 0 ? left : right
    return middle + Math.sign(offset) * width * Math.min(1, spread(Math.abs(offset)) / spread(furthest))
  }
  const sides = [...(before > 0 ? [-1] : []), ...(after > 0 ? [1] : [])]
  return {
    at: (ms) => place(ms - story.installedAtMs),
    ticks: sides.flatMap((sign) => ticksOf(sign, sign < 0 ? left.furthest : right.furthest, place)),
    nowMs: isWaiting ? nowMs : null,
  }
}

function spread(ms: number): number {
  return Math.log10(1 + ms / SECOND_MS)
}

/** From the middle outwards, each far enough from the previous one and from the install. */
function ticksOf(sign: number, furthest: number, place: (offset: number) => number): readonly Tick[] {
  const ticks: Tick[] = []
  let last = place(0)
  let lastMain = place(0)
  for (const { ms, text } of MARKS) {
    const at = place(sign * ms)
    if (ms > furthest || Math.abs(at - last) < LEAST_GAP) continue
    const isMain = Math.abs(at - lastMain) >= MAIN_GAP
    ticks.push({ at, text, isMain })
    last = at
    if (isMain) lastMain = at
  }
  return ticks
}

function scaleMoments({ visits, deliveries }: Story): readonly number[] {
  const ofVisits = visits.flatMap(({ times: { issuedAtMs, activatedAtMs, copiedAtMs } }) => [
    issuedAtMs,
    activatedAtMs,
    copiedAtMs,
  ])
  const ofDeliveries = deliveries.flatMap((lane) => [
    deadlineOf(lane),
    lane.delivery?.next_attempt_at_ms ?? null,
    ...lane.attempts.map((attempt) => attempt.started_at_ms),
  ])
  return [...ofVisits, ...ofDeliveries].filter((ms) => ms !== null)
}
