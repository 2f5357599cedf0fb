/** How far a log stream is. Every step is a function of the state before it; the role `streams` stores each of them. */

import { LIMITS } from '../limits.ts'
import { DAY_MS } from '../durations.ts'
import { partitionName, readLane } from './lane.ts'

/** By lane: everything up to and with this offset is done. */
export type DoneOffsets = Readonly<Record<string, number>>

/** A part of one lane: above `after`, up to and with `through`. */
export interface Border {
  readonly lane: string
  readonly after: number
  readonly through: number
}

/**
 * Why records are missing from a stream. `overflow`: it was behind too far or too long. `skipped`: a person said so.
 * `log_renewed`: the log had lost records before they were read.
 */
type GapReason = 'overflow' | 'skipped' | 'log_renewed'

/** What a stream says in place of records that it never sends. */
export interface Gap {
  readonly reason: GapReason
  /** Null if nobody can know. */
  readonly dropped: number | null
  /** Times of the oldest and newest of them, Unix ms; null if unknown. */
  readonly fromMs: number | null
  readonly toMs: number | null
}

/** Which records a stream sends, and how. */
export interface StreamForm {
  /** Empty: all. */
  readonly websites: readonly string[]
  readonly kinds: readonly string[]
  readonly minStatus: number
  readonly includeBodies: boolean
  readonly compress: boolean
}

/** A batch that is stored before it is sent: the same plan gives the same bytes under the same ID. */
export interface StreamPlan {
  /** 16 hex digits. */
  readonly id: string
  readonly borders: readonly Border[]
  readonly gaps: readonly Gap[]
  readonly records: number
  readonly form: StreamForm
  readonly plannedAtMs: number
}

/** One try to send something, as the page shows it. */
export interface SentBatch {
  readonly id: string
  readonly kind: 'batch' | 'test' | 'verify'
  readonly atMs: number
  readonly records: number
  readonly bytes: number
  readonly tookMs: number
  /** 0: no answer came. */
  readonly status: number
  /** Empty if it was taken. */
  readonly error: string
  /** The first kilobyte of the answer. */
  readonly answer: string
}

export interface StreamProgress {
  readonly done: DoneOffsets
  readonly plan: StreamPlan | null
  /** To be told with the next batch. */
  readonly gaps: readonly Gap[]
  readonly delivered: number
  readonly dropped: number
  /** How often a person had records sent again: such batches are new ones to a receiver. */
  readonly resends: number
  readonly failures: number
  readonly failingSinceMs: number | null
  readonly retryAtMs: number
  readonly lastError: string
  readonly deliveredAtMs: number | null
  /** Digest of the address that has proven itself; empty: none has. */
  readonly provenTarget: string
  /** Digest of what it sends to and with, when it last failed: a change is tried at once. */
  readonly failedWith: string
  readonly registeredAtMs: number
  /** The last command that was carried out. */
  readonly commandAtMs: number
  readonly commandId: string
  /** The newest first. */
  readonly sent: readonly SentBatch[]
}

const KEPT_BATCHES = 20
/** A lane is forgotten this long after the next one of its partition began: by then none of its records is left. */
const LANE_KEPT_MS = (LIMITS.logStreamBacklogDays + 2) * DAY_MS

export function newProgress(done: DoneOffsets, nowMs: number): StreamProgress {
  return {
    ...{ done, plan: null, gaps: [], delivered: 0, dropped: 0, resends: 0 },
    ...{ failures: 0, failingSinceMs: null, retryAtMs: 0, lastError: '', deliveredAtMs: null },
    ...{ provenTarget: '', failedWith: '', registeredAtMs: nowMs, commandAtMs: nowMs, commandId: '', sent: [] },
  }
}

export function advanced(done: DoneOffsets, borders: readonly Border[]): DoneOffsets {
  const next: Record<string, number> = { ...done }
  for (const { lane, through } of borders) next[lane] = Math.max(next[lane] ?? -1, through)
  return next
}

/** What is done once the batch that is being sent is. */
export function doneWithPlan({ done, plan }: Pick<StreamProgress, 'done' | 'plan'>): DoneOffsets {
  return plan === null ? done : advanced(done, plan.borders)
}

/** The batch was taken. */
export function delivered(progress: StreamProgress, nowMs: number): StreamProgress {
  const { plan } = progress
  if (plan === null) return progress
  const settled = {
    failures: 0,
    failingSinceMs: null,
    retryAtMs: 0,
    lastError: '',
    failedWith: '',
    deliveredAtMs: nowMs,
  }
  const done = withoutOldLanes(advanced(progress.done, plan.borders), nowMs)
  return { ...progress, ...settled, done, plan: null, delivered: progress.delivered + plan.records }
}

interface Failure {
  readonly error: string
  readonly retryAtMs: number
  readonly target: string
}

/** It was not taken; the plan stays. */
export function streamFailed(
  progress: StreamProgress,
  { error, retryAtMs, target }: Failure,
  nowMs: number,
): StreamProgress {
  const { failures, failingSinceMs } = progress
  const since = failingSinceMs ?? nowMs
  return { ...progress, failures: failures + 1, failingSinceMs: since, retryAtMs, lastError: error, failedWith: target }
}

export function withSent(progress: StreamProgress, batch: SentBatch): StreamProgress {
  return { ...progress, sent: [batch, ...progress.sent].slice(0, KEPT_BATCHES) }
}

/** Records between these borders are never sent: they are counted, and said in the stream. */
export function passedOver(progress: StreamProgress, borders: readonly Border[], gap: Gap): StreamProgress {
  const done = advanced(progress.done, borders)
  const dropped = progress.dropped + (gap.dropped ?? 0)
  return { ...progress, done, dropped, gaps: withGap(progress.gaps, gap) }
}

/** Gives up the batch that is being sent. Whether it arrived is not known: its records count as dropped. */
export function planGivenUp(progress: StreamProgress, reason: GapReason): StreamProgress {
  const { plan } = progress
  if (plan === null) return progress
  const untold = plan.gaps.reduce(withGap, progress.gaps)
  const gap = { reason, dropped: plan.records, fromMs: null, toMs: null }
  return passedOver({ ...progress, plan: null, gaps: untold }, plan.borders, gap)
}

/** `firsts`: the first offset to send again, by lane. The batch that is being sent is part of what is sent again. */
export function sentAgain(progress: StreamProgress, firsts: DoneOffsets): StreamProgress {
  const done: Record<string, number> = { ...progress.done }
  for (const [lane, first] of Object.entries(firsts)) {
    if (done[lane] !== undefined) done[lane] = Math.min(done[lane], first - 1)
  }
  const gaps = (progress.plan?.gaps ?? []).reduce(withGap, progress.gaps)
  return { ...progress, done, gaps, plan: null, resends: progress.resends + 1, retryAtMs: 0 }
}

/** Gaps of one reason that nobody was told of yet become one. */
function withGap(gaps: readonly Gap[], gap: Gap): readonly Gap[] {
  const same = gaps.find(({ reason }) => reason === gap.reason)
  if (same === undefined) return [...gaps, gap]
  const dropped = same.dropped === null || gap.dropped === null ? null : same.dropped + gap.dropped
  const both = {
    reason: gap.reason,
    dropped,
    fromMs: least(same.fromMs, gap.fromMs, Math.min),
    toMs: least(same.toMs, gap.toMs, Math.max),
  }
  return gaps.map((each) => (each === same ? both : each))
}

function least(a: number | null, b: number | null, of: (a: number, b: number) => number): number | null {
  return a === null ? b : b === null ? a : of(a, b)
}

function withoutOldLanes(done: DoneOffsets, nowMs: number): DoneOffsets {
  const lanes = Object.keys(done).map((name) => ({ name, lane: readLane(name) }))
  const newest = newestLanes(Object.keys(done))
  const isOld = ({ name, lane }: (typeof lanes)[number]): boolean => {
    const next = lane === null ? undefined : newest.get(partitionName(lane))
    return next !== undefined && next.name !== name && next.begunAtMs < nowMs - LANE_KEPT_MS
  }
  return Object.fromEntries(lanes.filter((each) => !isOld(each)).map(({ name }) => [name, done[name] ?? -1]))
}

interface NewestLane {
  readonly name: string
  readonly begunAtMs: number
}

/** Of each partition the lane that records are written to now. */
export function newestLanes(names: Iterable<string>): ReadonlyMap<string, NewestLane> {
  const newest = new Map<string, NewestLane>()
  for (const name of names) {
    const lane = readLane(name)
    if (lane === null) continue
    const key = partitionName(lane)
    if ((newest.get(key)?.begunAtMs ?? -1) < lane.begunAtMs) newest.set(key, { name, begunAtMs: lane.begunAtMs })
  }
  return newest
}
