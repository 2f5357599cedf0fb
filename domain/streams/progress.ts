/** The progress of a log stream. Every step is a function of the previous state; the role `streams` stores each state. */

import { LIMITS } from '../limits.ts'
import { DAY_MS, MINUTE_MS } from '../durations.ts'
import { partitionName, readLane } from './lane.ts'

/** By lane: everything up to and including this offset is done. */
export type DoneOffsets = Readonly<Record<string, number>>

/** A range of one lane: after `after`, up to and including `through`. */
export interface Border {
  readonly lane: string
  readonly after: number
  readonly through: number
}

/**
 * Why records are missing from a stream. `overflow`: the stream was too far behind, or for too long. `skipped`: a person
 * skipped them. `log_renewed`: the log lost records before they were read. `too_large`: the receiver refused a record for its size,
 * though it came alone.
 */
type GapReason = 'overflow' | 'skipped' | 'log_renewed' | 'too_large'

/** What a stream sends in place of dropped records. */
export interface Gap {
  readonly reason: GapReason
  /** Null if unknowable. */
  readonly dropped: number | null
  /** Unix ms of the oldest and the newest of them; null if unknown. */
  readonly fromMs: number | null
  readonly toMs: number | null
}

/** A gap that was reported to the receiver. */
interface ToldGap extends Gap {
  readonly atMs: number
}

/** Which records a stream sends, and how. */
export interface StreamForm {
  /** Empty: all. */
  readonly websites: readonly string[]
  readonly kinds: readonly string[]
  readonly minStatus: number
  readonly includeBodies: boolean
  readonly compress: boolean
  /** Of the keys in a bucket; absent for a webhook. */
  readonly prefix?: string
}

/** A batch, stored before it is sent: the same plan gives the same bytes under the same ID. */
export interface StreamPlan {
  /** 16 hex digits. */
  readonly id: string
  readonly borders: readonly Border[]
  readonly gaps: readonly Gap[]
  readonly records: number
  /** Of the texts of its records, about. */
  readonly bytes: number
  readonly form: StreamForm
  readonly plannedAtMs: number
  /** Time of its oldest record; `plannedAtMs` if it has none. */
  readonly oldestMs: number
}

/** One attempt to send something, as the page shows it. */
export interface SentBatch {
  readonly id: string
  readonly kind: 'batch' | 'test' | 'verify'
  readonly atMs: number
  readonly records: number
  readonly bytes: number
  readonly tookMs: number
  /** 0 if there was no answer. */
  readonly status: number
  /** Empty if it was accepted. */
  readonly error: string
  /** The first kilobyte of the answer. */
  readonly answer: string
}

/** Batches of fewer records than usual. */
interface CutBatches {
  /** Most records of a batch. */
  readonly records: number
  /** Batches of this size that were accepted. */
  readonly accepted: number
  /** How often the record that is being sent alone was refused for its size. */
  readonly refusedAlone: number
}

interface DoneCommand {
  readonly id: string
  readonly atMs: number
}

export interface StreamProgress {
  /** Of the object that it belongs to; empty if unknown, as of a file that has none. */
  readonly uid: string
  /** Of the catalog in which that object was found first. */
  readonly catalogNumber: number
  readonly done: DoneOffsets
  readonly plan: StreamPlan | null
  /** To be reported with the next batch. */
  readonly gaps: readonly Gap[]
  readonly delivered: number
  readonly dropped: number
  /** How many times people had records sent again: to a receiver, the batches then count as new ones. */
  readonly resends: number
  readonly failures: number
  readonly failingSinceMs: number | null
  readonly retryAtMs: number
  readonly lastError: string
  readonly deliveredAtMs: number | null
  /** Digest of the address that passed the challenge; empty if none has. */
  readonly provenTarget: string
  /** Digest of address and credentials at the last failure: after a change the stream retries at once. */
  readonly failedWith: string
  /** How large batches are since the receiver refused one for its size; null if it never has, or takes whole ones again. */
  readonly cut: CutBatches | null
  readonly registeredAtMs: number
  /** Of the newest command that was carried out; Unix ms. */
  readonly commandAtMs: number
  /** Commands before it belong to nobody; Unix ms. */
  readonly commandsFromMs: number
  /** Those that were carried out, as far as they are looked at again. */
  readonly commandsDone: readonly DoneCommand[]
  /** The newest first. */
  readonly sent: readonly SentBatch[]
  /** The newest first. */
  readonly told: readonly ToldGap[]
}

/** How many sent batches, and how many reported gaps, are remembered. */
const KEPT = 20
/** A lane is forgotten this long after its successor began: by then none of its records are left. */
const LANE_KEPT_MS = (LIMITS.logStreamBacklogDays + 2) * DAY_MS

export function newProgress(done: DoneOffsets, nowMs: number, uid = '', catalogNumber = 0): StreamProgress {
  return {
    uid,
    catalogNumber,
    done,
    plan: null,
    gaps: [],
    delivered: 0,
    dropped: 0,
    resends: 0,
    failures: 0,
    failingSinceMs: null,
    retryAtMs: 0,
    lastError: '',
    deliveredAtMs: null,
    provenTarget: '',
    failedWith: '',
    cut: null,
    registeredAtMs: nowMs,
    commandAtMs: nowMs,
    commandsFromMs: nowMs,
    commandsDone: [],
    sent: [],
    told: [],
  }
}

/** Whether it belongs to an object that was deleted and made again under its name. An unknown UID tells nothing. */
export function isOfAnotherObject(progress: { readonly uid: string }, uid: string): boolean {
  return progress.uid !== '' && uid !== '' && progress.uid !== uid
}

/** Progress without a UID belongs to the object that is there now. */
export function adoptedBy(progress: StreamProgress, uid: string): StreamProgress {
  return progress.uid === '' && uid !== '' ? { ...progress, uid } : progress
}

export function writtenProgress(progress: StreamProgress): string {
  return JSON.stringify(progress)
}

/** From the stored JSON. */
export function readProgress(text: string): StreamProgress {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- only `writtenProgress` makes it
  return JSON.parse(text) as StreamProgress
}

export function advanced(done: DoneOffsets, borders: readonly Border[]): DoneOffsets {
  const next: Record<string, number> = { ...done }
  for (const { lane, through } of borders) next[lane] = Math.max(next[lane] ?? -1, through)
  return next
}

/** The positions after the batch that is being sent. */
export function doneWithPlan({ done, plan }: StreamProgress): DoneOffsets {
  return plan === null ? done : advanced(done, plan.borders)
}

/** A command may become visible so long after later ones: pods' clocks differ, and a facts-writer may be behind. */
const COMMAND_LATE_MS = 10 * MINUTE_MS

/** From when on commands are read, Unix ms: again some of those that were carried out. */
export function commandsSince({ commandAtMs, commandsFromMs }: StreamProgress): number {
  return Math.max(commandsFromMs, commandAtMs - COMMAND_LATE_MS)
}

export function isCommandDone({ commandsDone }: StreamProgress, id: string): boolean {
  return commandsDone.some((done) => done.id === id)
}

export function withCommandDone(progress: StreamProgress, command: DoneCommand): StreamProgress {
  const next = { ...progress, commandAtMs: Math.max(command.atMs, progress.commandAtMs) }
  const commandsDone = [...progress.commandsDone, command].filter(({ atMs }) => atMs >= commandsSince(next))
  return { ...next, commandsDone }
}

/** The batch was accepted. */
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
  const told = [...plan.gaps.map((gap) => ({ ...gap, atMs: nowMs })), ...progress.told].slice(0, KEPT)
  const cut = progress.cut === null ? null : grown(progress.cut)
  return { ...progress, ...settled, done, told, cut, plan: null, delivered: progress.delivered + plan.records }
}

/** A receiver that took so many small batches is tried with larger ones. */
const GROWS_AFTER = 32
/** A record that was refused alone so many times, over some 40 minutes, is given up. */
const MOST_ALONE = 6

function grown({ records, accepted }: CutBatches): CutBatches | null {
  if (accepted + 1 < GROWS_AFTER) return { records, accepted: accepted + 1, refusedAlone: 0 }
  return records * 2 >= LIMITS.streamObjectRecords ? null : { records: records * 2, accepted: 0, refusedAlone: 0 }
}

/**
 * The receiver refused the batch for its size. The records are planned anew, half as many at once. A single record keeps its plan, to be
 * tried again after a pause, as the receiver may have been set up wrongly; after the last try it is dropped.
 */
export function refusedForSize(progress: StreamProgress): StreamProgress {
  const { plan, cut } = progress
  const records = plan?.records ?? 0
  if (records > 1) {
    return { ...planTakenBack(progress), cut: { records: Math.floor(records / 2), accepted: 0, refusedAlone: 0 } }
  }
  const refusedAlone = (cut?.refusedAlone ?? 0) + 1
  const alone = { ...progress, cut: { records: 1, accepted: 0, refusedAlone } }
  if (records === 0 || refusedAlone < MOST_ALONE) return alone
  const without = planGivenUp({ ...alone, cut: { records: 1, accepted: 0, refusedAlone: 0 } }, 'too_large')
  return { ...without, failures: 0, failingSinceMs: null, retryAtMs: 0, lastError: '' }
}

/**
 * The receiver refused the batch, and its form is changed since: its records are planned anew, as another batch. In the form before they might
 * never be taken.
 */
export function refusedInOldForm(progress: StreamProgress, form: StreamForm, error: string): StreamProgress {
  const { plan } = progress
  const isOld = plan !== null && (plan.form.compress !== form.compress || plan.form.prefix !== form.prefix)
  return isOld && REFUSED.test(error) ? planTakenBack(progress) : progress
}

/** Says that nothing was taken; after anything else the batch may have arrived. */
const REFUSED = /^http_4/

interface Failure {
  readonly error: string
  readonly retryAtMs: number
  readonly target: string
}

/** The batch was not accepted; the plan stays. */
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
  return { ...progress, sent: [batch, ...progress.sent].slice(0, KEPT) }
}

/** Drops the records between these borders: they are counted, and the stream reports the gap. */
export function passedOver(progress: StreamProgress, borders: readonly Border[], gap: Gap): StreamProgress {
  const done = advanced(progress.done, borders)
  const dropped = progress.dropped + (gap.dropped ?? 0)
  return { ...progress, done, dropped, gaps: withGap(progress.gaps, gap) }
}

/** Gives up the batch that is being sent. Whether it arrived is unknown, so its records count as dropped. */
export function planGivenUp(progress: StreamProgress, reason: GapReason): StreamProgress {
  const { plan } = progress
  if (plan === null) return progress
  const gap = { reason, dropped: plan.records, fromMs: null, toMs: null }
  return passedOver(planTakenBack(progress), plan.borders, gap)
}

/** The records of the batch that is being sent are open again, to be planned anew. Those that arrived arrive again. */
export function planTakenBack(progress: StreamProgress): StreamProgress {
  const { plan } = progress
  return plan === null ? progress : { ...progress, plan: null, gaps: plan.gaps.reduce(withGap, progress.gaps) }
}

/** `firsts`: the first offset to send again, by lane. It includes the batch that is being sent. */
export function sentAgain(progress: StreamProgress, firsts: DoneOffsets): StreamProgress {
  const done: Record<string, number> = { ...progress.done }
  for (const [lane, first] of Object.entries(firsts)) {
    if (done[lane] !== undefined) done[lane] = Math.min(done[lane], first - 1)
  }
  return { ...planTakenBack(progress), done, resends: progress.resends + 1, retryAtMs: 0 }
}

/** Merges gaps that have the same reason and were not reported yet. */
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

/** The current lane of each partition, by `partitionName`. */
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
