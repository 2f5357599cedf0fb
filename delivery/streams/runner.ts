/**
 * Serves one log stream while its lease lasts: plans a batch, stores the plan, sends it, and continues. After a kill between
 * any two steps the same plan is sent again, with the same ID and the same bytes.
 */

import { sha256Hex } from '../../common/digest.ts'
import { HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import {
  STREAM_COMMAND_TYPES,
  readCommand,
  streamSubject,
  testBatchId,
  type StreamCommand,
} from '../../domain/streams/commands.ts'
import { pauseAfter, streamStateOf, type SendOutcome } from '../../domain/streams/pace.ts'
import { planBatch, type Watermarks } from '../../domain/streams/plan.ts'
import {
  adoptedBy,
  commandsSince,
  delivered,
  doneWithPlan,
  isCommandDone,
  isOfAnotherObject,
  refusedForSize,
  refusedInOldForm,
  streamFailed,
  newProgress,
  withCommandDone,
  withSent,
  type DoneOffsets,
  type StreamPlan,
  type StreamProgress,
} from '../../domain/streams/progress.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { OpenLaneRow } from '../../ports/facts/streams.ts'
import { openLanes, readNext } from './backlog-reader.ts'
import { readBatch } from './batch-records.ts'
import { isOfNewerObject, streamForm, type StreamInForce } from './in-force.ts'
import type { StreamNews } from './news.ts'
import { batchBounds, isDue, leavesOpen } from './due.ts'
import type { ProgressStore, StreamStanding } from './progress-store.ts'
import type { PackingRoom } from './packing-room.ts'
import { isProven, newChallenge, proven } from './proof.ts'
import type { CatalogWaits } from '../catalog-waits.ts'
import { targetDigest, type Sent, type StreamSender } from './sender.ts'
import { rewound, skippedToNow, trimmed, type TrimParts } from './trim.ts'

interface RunnerParts {
  readonly configured: StreamConfiguration
  readonly backlog: RecordsToSend
  readonly store: ProgressStore
  readonly sending: StreamSending
  readonly news: StreamNews
  readonly nowMs: () => number
}

/** A stream as this process's copy of the catalog has it. */
interface StreamConfiguration {
  /** Null once it is no longer in force. */
  readonly current: () => StreamInForce | null
  /** Of the catalog in which `current` looks. */
  readonly catalogNumber: () => number
  readonly waits: CatalogWaits
}

/** What there is to send, and how much of the log is in the facts. */
interface RecordsToSend {
  readonly facts: FactsReader
  readonly watermarks: () => Promise<Watermarks>
}

/** How batches go out. */
interface StreamSending {
  readonly senderOf: (inForce: StreamInForce) => StreamSender
  /** Shared by all streams of the process. */
  readonly packing: PackingRoom
  /** In [0, 1): spreads the retries. */
  readonly random: () => number
}

/** How often an idle stream looks for records, and the longest wait of any stream, in ms. */
const IDLE_MS = 2_000
const MOST_MS = 5_000
const COMMANDS_EVERY_MS = 4_000
const STANDING_EVERY_MS = 30_000
/** How long a batch waits for rows of Logs that a replica does not show yet; what is missing then was erased. */
const MISSING_MS = 15 * MINUTE_MS

/** Steps of one stream; each resolves with the wait until the next one, in ms. */
export class StreamRunner {
  readonly #parts: RunnerParts
  #progress: StreamProgress | null = null
  #stored = ''
  #storedLag = ''
  #storedAtMs = 0
  #lanes: readonly OpenLaneRow[] = []
  /** Whether the rows begin with the first record of the plan, or after it. */
  #areLanesWithPlan = true
  /** An object for a bucket is due, and one object could not hold everything that was open. */
  #isEmptying = false
  #trimmedAtMs = 0
  #commandsAtMs = 0

  constructor(parts: RunnerParts) {
    this.#parts = parts
  }

  /** Rejects like `Facts` and the log; the next step then begins where this one did. */
  async step(): Promise<number> {
    const inForce = this.#parts.configured.current()
    if (inForce === null) return MOST_MS
    const opened = await this.#open(inForce)
    if (opened === null) return MOST_MS
    let progress = await this.#obey(inForce, opened)
    if (inForce.stream.isPaused) return this.#waiting(inForce, progress, MOST_MS)
    progress = this.#triedAnew(inForce, progress)
    const waitMs = progress.retryAtMs - this.#parts.nowMs()
    if (waitMs > 0) return this.#waiting(inForce, progress, Math.min(waitMs, MOST_MS))
    if (!isProven(inForce, progress)) return this.#prove(inForce, progress)
    return this.#goOn(inForce, progress)
  }

  /** Its state, for metrics. */
  standing(): StreamStanding | null {
    const inForce = this.#parts.configured.current()
    return inForce === null || this.#progress === null ? null : this.#standingOf(inForce, this.#progress)
  }

  /**
   * What is stored, unless that belongs to an object that was deleted: its plan is not sent, and its counts are not shown. Null while the stream
   * that is known here may be the deleted one: the progress belongs to one of a newer catalog.
   */
  async #open(inForce: StreamInForce): Promise<StreamProgress | null> {
    const { uid } = inForce.stream
    const { configured, store } = this.#parts
    const known = this.#progress ?? (await store.load())
    if (isOfNewerObject(known, uid, configured.waits)) return null
    const isKnown = known !== null && !isOfAnotherObject(known, uid)
    return isKnown ? this.#keep(adoptedBy(known, uid)) : this.#begin(inForce)
  }

  async #begin(inForce: StreamInForce): Promise<StreamProgress> {
    const { startFrom, uid } = inForce.stream
    const lanes = startFrom === 'Backlog' ? [] : await this.#openLanes(inForce, {})
    const done = Object.fromEntries(lanes.map(({ lane, last }) => [lane, last]))
    this.#lanes = []
    this.#isEmptying = false
    return this.#keep(newProgress(done, this.#parts.nowMs(), uid, this.#parts.configured.catalogNumber()))
  }

  #openLanes(inForce: StreamInForce, done: DoneOffsets): Promise<readonly OpenLaneRow[]> {
    return openLanes(this.#parts.backlog.facts, inForce.organization.id, { done, form: streamForm(inForce) })
  }

  #keep(progress: StreamProgress): StreamProgress {
    this.#progress = progress
    return progress
  }

  async #goOn(inForce: StreamInForce, before: StreamProgress): Promise<number> {
    const progress = await this.#trim(inForce, before)
    const planned = progress.plan === null ? await this.#plan(inForce, progress) : progress
    this.#keep(planned)
    if (planned.plan === null) return this.#rest(inForce, planned, IDLE_MS)
    await this.#store(inForce, planned)
    return this.#send(inForce, planned, planned.plan)
  }

  async #plan(inForce: StreamInForce, progress: StreamProgress): Promise<StreamProgress> {
    const { backlog, nowMs } = this.#parts
    const { stream, organization } = inForce
    const watermarks = await backlog.watermarks()
    this.#lanes = await this.#openLanes(inForce, progress.done)
    this.#areLanesWithPlan = true
    if (this.#lanes.length === 0 && progress.gaps.length === 0) return progress
    const whole = batchBounds(inForce)
    const bounds = { ...whole, records: Math.min(whole.records, progress.cut?.records ?? Infinity) }
    if (!this.#isEmptying && !isDue(inForce, progress, { lanes: this.#lanes, nowMs: nowMs() })) return progress
    const rows = await readNext(backlog.facts, organization.id, { lanes: this.#lanes, records: bounds.records })
    const planned = planBatch(
      { progress, rows, watermarks, form: streamForm(inForce), bounds, nowMs: nowMs() },
      { stream: `${organization.id} ${stream.id}`, sha256Hex },
    )
    this.#isEmptying = planned.plan !== null && leavesOpen(planned.plan, this.#lanes)
    return planned
  }

  async #send(inForce: StreamInForce, progress: StreamProgress, plan: StreamPlan): Promise<number> {
    const { sending, nowMs, news } = this.#parts
    const send = await sending.packing.within(plan.bytes, () => this.#packed(inForce, plan))
    if (send === null) return this.#rest(inForce, progress, MOST_MS)
    const sent = await send()
    news.sent(sent)
    if (!sent.outcome.isTaken) return this.#refused(inForce, withSent(progress, sent.shown), sent)
    for (const gap of plan.gaps) if (gap.reason === 'log_renewed') await news.tell(inForce, 'stream_log_renewed', '')
    this.#keep(delivered(withSent(progress, sent.shown), nowMs()))
    return 0
  }

  /** Null while records may be missing only because a replica does not show them yet. */
  async #packed(inForce: StreamInForce, plan: StreamPlan): Promise<(() => Promise<Sent>) | null> {
    const { backlog, sending, nowMs } = this.#parts
    const { records, missing } = await readBatch(backlog.facts, inForce.organization.id, plan)
    if (missing > 0 && nowMs() - plan.plannedAtMs < MISSING_MS) return null
    return sending.senderOf(inForce).pack(plan, records)
  }

  async #prove(inForce: StreamInForce, progress: StreamProgress): Promise<number> {
    const { verify } = this.#parts.sending.senderOf(inForce)
    const sent = await verify?.(newChallenge())
    const shown = sent === undefined ? progress : withSent(progress, sent.shown)
    if (sent?.outcome.isTaken === false) return this.#failed(inForce, shown, sent.outcome)
    await this.#store(inForce, this.#keep(proven(inForce, shown)))
    return 0
  }

  async #refused(inForce: StreamInForce, progress: StreamProgress, { outcome }: Sent): Promise<number> {
    const next = outcome.isTooLarge
      ? refusedForSize(progress)
      : refusedInOldForm(progress, streamForm(inForce), outcome.error)
    if (next.plan !== null) return this.#failed(inForce, next, outcome)
    await this.#store(inForce, this.#keep(next))
    const dropped = this.#countDrops('too_large', progress, next)
    if (dropped > 0) await this.#parts.news.tell(inForce, 'stream_too_large', `${dropped}`)
    return 0
  }

  async #failed(inForce: StreamInForce, progress: StreamProgress, outcome: SendOutcome): Promise<number> {
    const { nowMs, sending, news } = this.#parts
    const pauseMs = pauseAfter(progress.failures + 1, outcome, sending.random())
    const failure = { error: outcome.error, retryAtMs: nowMs() + pauseMs, target: targetDigest(inForce.target) }
    const next = this.#keep(streamFailed(progress, failure, nowMs()))
    await this.#store(inForce, next)
    const isWorthTelling = outcome.isLasting || next.failures >= TOLD_AFTER
    if (isWorthTelling) await news.tell(inForce, 'stream_failing', outcome.error)
    return Math.min(pauseMs, MOST_MS)
  }

  /** The address or the credentials changed since the failure: there is no reason to wait. */
  #triedAnew({ target }: StreamInForce, progress: StreamProgress): StreamProgress {
    const isOther = progress.failedWith !== '' && progress.failedWith !== targetDigest(target)
    return isOther ? this.#keep({ ...progress, retryAtMs: 0, failedWith: '' }) : progress
  }

  async #waiting(inForce: StreamInForce, progress: StreamProgress, waitMs: number): Promise<number> {
    return this.#rest(inForce, await this.#trim(inForce, progress), waitMs)
  }

  /** Checks once a minute whether the backlog is too large. */
  async #trim(inForce: StreamInForce, progress: StreamProgress): Promise<StreamProgress> {
    const now = this.#parts.nowMs()
    if (now - this.#trimmedAtMs < MINUTE_MS) return progress
    const { news } = this.#parts
    this.#lanes = await this.#openLanes(inForce, doneWithPlan(progress))
    this.#areLanesWithPlan = false
    const next = await trimmed(await this.#trimParts(inForce), progress, this.#lanes)
    this.#trimmedAtMs = now
    if (next === progress) return progress
    this.#lanes = await this.#openLanes(inForce, doneWithPlan(next))
    await this.#store(inForce, this.#keep(next))
    const dropped = this.#countDrops('overflow', progress, next)
    if (dropped > 0) await news.tell(inForce, 'stream_overflow', `${dropped}`)
    return next
  }

  /** How many were dropped between these two states. */
  #countDrops(
    reason: Parameters<StreamNews['dropped']>[0],
    before: StreamProgress,
    { dropped }: { readonly dropped: number },
  ): number {
    const count = dropped - before.dropped
    if (count > 0) this.#parts.news.dropped(reason, count)
    return count
  }

  async #trimParts(inForce: StreamInForce): Promise<TrimParts> {
    const { facts, watermarks } = this.#parts.backlog
    const form = streamForm(inForce)
    const nowMs = this.#parts.nowMs()
    return { facts, organization: inForce.organization.id, form, watermarks: await watermarks(), nowMs }
  }

  /** Carries out new commands, each once. */
  async #obey(inForce: StreamInForce, before: StreamProgress): Promise<StreamProgress> {
    const { backlog, nowMs } = this.#parts
    if (nowMs() - this.#commandsAtMs < COMMANDS_EVERY_MS) return before
    const { organization, stream } = inForce
    const rows = await backlog.facts.run('streamCommands', {
      organization: organization.id,
      subject: streamSubject(stream.id),
      types: STREAM_COMMAND_TYPES,
      since_ms: commandsSince(before),
    })
    let progress = before
    for (const { at_ms: atMs, id, type, message } of rows) {
      if (isCommandDone(progress, id)) continue
      const command = readCommand({ type, message })
      const next = command === null ? progress : await this.#carryOut(command, inForce, { progress, id })
      progress = this.#keep(withCommandDone(next, { id, atMs }))
      await this.#store(inForce, progress)
    }
    this.#commandsAtMs = nowMs()
    return progress
  }

  async #carryOut(
    command: StreamCommand,
    inForce: StreamInForce,
    { progress, id }: { readonly progress: StreamProgress; readonly id: string },
  ): Promise<StreamProgress> {
    const parts = await this.#trimParts(inForce)
    if (command.kind === 'skip') return this.#skip(parts, progress)
    if (command.kind === 'resend') return rewound(parts, progress, command.sinceMs)
    return this.#test(inForce, progress, testBatchId(id))
  }

  async #skip(parts: TrimParts, progress: StreamProgress): Promise<StreamProgress> {
    const next = await skippedToNow(parts, progress)
    this.#countDrops('skipped', progress, next)
    return next
  }

  /** An address that has not passed the challenge gets the challenge, and nothing else. */
  async #test(inForce: StreamInForce, progress: StreamProgress, id: string): Promise<StreamProgress> {
    const sender = this.#parts.sending.senderOf(inForce)
    if (sender.verify === null || isProven(inForce, progress)) return withSent(progress, (await sender.test(id)).shown)
    const { shown, outcome } = await sender.verify(newChallenge())
    const told = withSent(progress, { ...shown, id })
    return outcome.isTaken ? proven(inForce, told) : told
  }

  /**
   * Nothing is to be sent now: what is not stored yet is, how far behind it is every half a minute if that changed, and
   * all of it once an hour.
   */
  async #rest(inForce: StreamInForce, progress: StreamProgress, waitMs: number): Promise<number> {
    const age = this.#parts.nowMs() - this.#storedAtMs
    const isOther = this.#fingerprint(inForce, progress) !== this.#stored
    const isOtherLag = age >= STANDING_EVERY_MS && this.#roughLag(inForce, progress) !== this.#storedLag
    if (isOther || isOtherLag || age >= HOUR_MS) await this.#store(inForce, progress)
    return waitMs
  }

  async #store(inForce: StreamInForce, progress: StreamProgress): Promise<void> {
    await this.#parts.store.save(progress, this.#standingOf(inForce, progress))
    this.#stored = this.#fingerprint(inForce, progress)
    this.#storedLag = this.#roughLag(inForce, progress)
    this.#storedAtMs = this.#parts.nowMs()
  }

  #fingerprint(inForce: StreamInForce, progress: StreamProgress): string {
    return JSON.stringify([progress, this.#standingOf(inForce, progress).state])
  }

  /** Rounded to two digits, so that a stream that is a million records behind is not stored again for every record. */
  #roughLag(inForce: StreamInForce, progress: StreamProgress): string {
    const { behind, oldestMs } = this.#standingOf(inForce, progress)
    return `${behind.toPrecision(2)} ${Math.floor((oldestMs ?? 0) / MINUTE_MS)}`
  }

  #standingOf(inForce: StreamInForce, progress: StreamProgress): StreamStanding {
    const plan = this.#areLanesWithPlan ? null : progress.plan
    const behind = this.#lanes.reduce((sum, { records }) => sum + records, plan?.records ?? 0)
    const times = this.#lanes.flatMap(({ records, oldest_ms: atMs }) => (records === 0 ? [] : [atMs]))
    const oldestMs = Math.min(...times, plan?.oldestMs ?? Infinity)
    const oldest = Number.isFinite(oldestMs) ? oldestMs : null
    const { nowMs } = this.#parts
    const isPaused = inForce.stream.isPaused
    const state = streamStateOf(progress, {
      isPaused,
      isProven: isProven(inForce, progress),
      oldestMs: oldest,
      nowMs: nowMs(),
    })
    return { state, behind, oldestMs: oldest }
  }
}

/** Failures in a row before they are reported; the restart of a receiver is not worth reporting. */
const TOLD_AFTER = 3
