/**
 * Ends replays whose person loses the right to them: is removed, gets a lower role or signs out. Every process of the dashboard looks after all
 * replays that are not over, whoever took the request: that process may have ended since.
 */

import { once } from 'node:events'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'

import { cancelEntry } from '../../domain/collection/replay-decision.ts'
import { MINUTE_MS, SECOND_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { OpenReplayRow } from '../../ports/facts/pages/replay.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { OnceVerbs } from '../../ports/hot-state/session-verbs.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { NoteActivity } from '../events/activity.ts'
import { replayStanding, type RightsSource } from './standing.ts'

interface WatchParts {
  readonly facts: FactsReader
  readonly hotState: OnceVerbs
  readonly rights: RightsSource
  readonly noteActivity: NoteActivity
  readonly logger: Logger
  readonly nowMs: () => number
}

export type WatchedReplay = Pick<OpenReplayRow, 'id' | 'website' | 'organization' | 'session' | 'asked_at_ms'>

interface ReplayWatch {
  /** Looks after a replay that its person has just requested, before it is stored. */
  readonly add: (replay: WatchedReplay) => void
  /** Resolves when the process stops; never rejects. */
  readonly ended: Promise<void>
}

const EVERY_MS = SECOND_MS / 2
/** Which replays are open is asked of the facts, and only in every so many turns; a process that has just started asks in each, as it may replace one that looked after them. */
const FACTS_EVERY_TURNS = 10
const FIRST_TURNS = 20
/** Far more than are requested in a day; the oldest first. */
const MOST_OPEN = 1_000
/** Others have a turn of the event loop, or of the store, after so many. */
const AT_ONCE = 20
/** Of several processes one notes the end. If it dies before it has, another does so after this time. */
const CLAIM_MS = 30 * SECOND_MS
/**
 * A process that has never seen the person's role may have old objects: a first list comes from a cache of the API server, and a
 * broken watch is noticed after a minute and a half.
 */
const OBJECTS_LATE_MS = 2 * MINUTE_MS
const RIGHT_LOST = 'whoever asked for it was removed, has another role, or signed out'

/** Starts as soon as the objects are known. `closing`: aborted when the process stops. */
export function startReplayWatch(parts: WatchParts, closing: AbortSignal, everyMs = EVERY_MS): ReplayWatch {
  const { rights, logger } = parts
  const watch = new Watch(parts, closing)
  let isFailing = false
  const loop = async (): Promise<void> => {
    await Promise.race([rights.directory.synced, closed(closing)])
    for (let turn = 0; !closing.aborted; turn++) {
      if (turn < FIRST_TURNS || turn % FACTS_EVERY_TURNS === 0) watch.readOpen()
      await watch.look()
      const failure = watch.failure()
      if (failure !== null && !isFailing && !closing.aborted) {
        logger.warn({ err: failure }, 'whether replays may go on is not known; asking again')
      }
      isFailing = failure !== null
      await wait(everyMs, undefined, { signal: closing, ref: false }).catch(() => undefined)
    }
  }
  return { add: (replay) => watch.add(replay), ended: loop() }
}

async function closed(closing: AbortSignal): Promise<void> {
  if (!closing.aborted) await once(closing, 'abort')
}

interface Watched {
  readonly replay: WatchedReplay
  /** The facts know it. */
  isStored: boolean
  /** This process has seen that its person may have it. */
  hasHadRight: boolean
  /** Since when its person has had no role, as far as this process knows; null if they have one. Unix ms. */
  deniedSinceMs: number | null
  /** Its end is in hand. Unix ms. */
  restsUntilMs: number
  /** Why the last look at it, or its end, failed; null if neither did. */
  failure: unknown
}

class Watch {
  readonly #parts: WatchParts
  readonly #closing: AbortSignal
  readonly #watched = new Map<string, Watched>()
  /** Why the facts could not be read the last time; null if they could. */
  #factsFailure: unknown = null
  #isReading = false

  constructor(parts: WatchParts, closing: AbortSignal) {
    this.#parts = parts
    this.#closing = closing
  }

  add(replay: WatchedReplay): void {
    this.#watched.set(replay.id, { ...UNSEEN, replay, hasHadRight: true })
  }

  /** A failure that no success has followed; null if there is none. */
  failure(): unknown {
    const ofOne = [...this.#watched.values()].find(({ failure }) => failure !== null)
    return this.#factsFailure ?? ofOne?.failure ?? null
  }

  /** Beside the looks, which do not wait for the facts. */
  readOpen(): void {
    if (this.#isReading) return
    this.#isReading = true
    void this.#readOpen()
      .then(
        () => (this.#factsFailure = null),
        (error: unknown) => (this.#factsFailure = error),
      )
      .finally(() => (this.#isReading = false))
  }

  /** Never rejects. */
  async look(): Promise<void> {
    const nowMs = this.#parts.nowMs()
    const due = [...this.#watched.values()].filter(({ restsUntilMs }) => restsUntilMs <= nowMs)
    for (let from = 0; from < due.length && !this.#closing.aborted; from += AT_ONCE) {
      if (from > 0) await nextTurn()
      await Promise.all(due.slice(from, from + AT_ONCE).map((each) => this.#lookAt(each, nowMs)))
    }
  }

  async #lookAt(watched: Watched, nowMs: number): Promise<void> {
    try {
      if (!(await this.#isLost(watched, nowMs))) return void (watched.failure = null)
    } catch (error) {
      return void (watched.failure = error)
    }
    watched.restsUntilMs = nowMs + CLAIM_MS
    // Others do not wait for the log.
    void this.#end(watched.replay).then(
      () => (watched.failure = null),
      (error: unknown) => {
        watched.restsUntilMs = 0
        watched.failure = error
      },
    )
  }

  async #isLost(watched: Watched, nowMs: number): Promise<boolean> {
    const standing = await replayStanding(watched.replay, this.#parts.rights)
    if (standing === 'signed_out') return true
    if (standing === 'allowed') {
      watched.hasHadRight = true
      watched.deniedSinceMs = null
      return false
    }
    if (watched.hasHadRight) return true
    // Perhaps it is one of a namespace that only other processes watch.
    if (standing === 'unknown_organization') return false
    watched.deniedSinceMs ??= nowMs
    return nowMs - watched.deniedSinceMs >= OBJECTS_LATE_MS
  }

  /** Does nothing if another process does it, or if it was done before. */
  async #end(replay: WatchedReplay): Promise<void> {
    const { hotState, rights, noteActivity } = this.#parts
    const { organization } = replay
    if (!(await hotState.putOnce(endKey(replay), 'claimed', CLAIM_MS))) return
    try {
      const isOver = await this.#isOver(replay)
      const { logRetentionDays = LIMITS.logRetentionDays.fallback } =
        rights.directory.organizations().get(organization) ?? {}
      if (!isOver) await noteActivity({ ...cancelEntry(replay, RIGHT_LOST), organization, logRetentionDays })
      await hotState.replaceOnce(endKey(replay), isOver ? 'over' : 'noted', LIMITS.replayKeepMs)
    } catch (error) {
      await hotState.takeOnce(endKey(replay)).catch(() => undefined)
      throw error
    }
  }

  async #readOpen(): Promise<void> {
    const open = await this.#parts.facts.run('openReplays', { limit: MOST_OPEN })
    for (const replay of open) {
      const known = this.#watched.get(replay.id)
      if (known !== undefined) known.isStored = true
      else this.#watched.set(replay.id, { ...UNSEEN, replay, isStored: true })
    }
    const ids = new Set(open.map(({ id }) => id))
    for (const { replay, isStored } of [...this.#watched.values()]) {
      if (ids.has(replay.id)) continue
      const isOver = await this.#isOver(replay)
      // If something is erased it is made again, which its person need not be there for.
      if (isOver) await this.#parts.hotState.putOnce(endKey(replay), 'over', LIMITS.replayKeepMs)
      const isKept = this.#parts.nowMs() - replay.asked_at_ms < LIMITS.replayKeepMs
      if (isOver || isStored || !isKept) this.#watched.delete(replay.id)
    }
  }

  /** It is stored a moment after it was requested. */
  async #isOver({ id, website, organization }: WatchedReplay): Promise<boolean> {
    const [row] = await this.#parts.facts.run('replayById', { id, websites: [website], organization })
    return row?.state === 'done' || row?.state === 'failed'
  }
}

const UNSEEN = { isStored: false, hasHadRight: false, deniedSinceMs: null, restsUntilMs: 0, failure: null }

/** What is known of its end: claimed by a process, noted, or not to be noted any more. */
function endKey({ id }: WatchedReplay): string {
  return `replay-end:${id}`
}
