/**
 * Looks for earlier reports of events that the hot state does not know but may have forgotten: in the facts, and among the installs
 * that are on the log and not in the facts yet. Both together hold every event that was answered.
 *
 * All events that wait are looked for in one round, and one round runs at a time: what follows from a loss of the hot state must not
 * keep the facts-writer from catching up.
 */

import { FACTS_WRITER_GROUP } from '../../../domain/collection/facts-lag.ts'
import { recordKey } from '../../../domain/records.ts'
import type { KnownAnswer } from '../../../ports/hot-state/settled-record.ts'
import { settledInstallOf } from '../../../ports/facts/settled-installs.ts'
import { ownersOf } from '../../../ports/facts/query-parts.ts'
import type { ApiDeps } from '../../deps.ts'
import { InstallTail, type SoughtEvent } from './install-tail.ts'
import { inTime } from '../look-up.ts'

/** Events of one round; the others wait for the next one. */
const ROUND_EVENTS = 500
/** Later ones are taken for new: they could not be looked for in time. */
const MOST_WAITING = 5_000

/** Null if the event is new, or if that cannot be found out within the time of a look-up. Never rejects. */
type FindEarlierReport = (event: SoughtEvent) => Promise<KnownAnswer | null>

interface WaitingEvent {
  readonly event: SoughtEvent
  readonly answer: PromiseWithResolvers<KnownAnswer | null>
  /** Its request does not wait any more. */
  isGivenUp: boolean
}

type Deps = Pick<ApiDeps, 'eventLog' | 'facts' | 'logger' | 'metrics'>

export function earlierReports(deps: Deps): FindEarlierReport {
  const rounds = new Rounds(deps)
  return async (event) => {
    if (rounds.isFull) return null
    const waiting: WaitingEvent = { event, answer: Promise.withResolvers(), isGivenUp: false }
    rounds.add(waiting)
    try {
      return await inTime(waiting.answer.promise)
    } catch (error) {
      waiting.isGivenUp = true
      deps.logger.warn({ err: error }, 'an earlier report of an event could not be looked up')
      return null
    }
  }
}

class Rounds {
  readonly #deps: Deps
  readonly #tail: InstallTail
  #waiting: WaitingEvent[] = []
  #isAsking = false

  constructor(deps: Deps) {
    this.#deps = deps
    this.#tail = new InstallTail(deps.eventLog)
  }

  get isFull(): boolean {
    return this.#waiting.length >= MOST_WAITING
  }

  add(waiting: WaitingEvent): void {
    this.#waiting.push(waiting)
    if (!this.#isAsking) void this.#ask()
  }

  async #ask(): Promise<void> {
    this.#isAsking = true
    for (;;) {
      const open = this.#waiting.filter(({ isGivenUp }) => !isGivenUp)
      this.#waiting = open.slice(ROUND_EVENTS)
      const round = open.slice(0, ROUND_EVENTS)
      if (round.length === 0) break
      await this.#answer(round)
    }
    this.#isAsking = false
  }

  async #answer(round: readonly WaitingEvent[]): Promise<void> {
    try {
      const known = await this.#find(round.map(({ event }) => event))
      for (const { event, answer } of round) answer.resolve(known.get(soughtKey(event)) ?? null)
    } catch (error) {
      for (const { answer } of round) {
        // Who was given up does not listen any more.
        answer.promise.catch(() => undefined)
        answer.reject(error)
      }
    }
  }

  async #find(events: readonly SoughtEvent[]): Promise<ReadonlyMap<string, KnownAnswer>> {
    const { eventLog, facts, metrics } = this.#deps
    metrics.lookup('events')
    // The position first: what is before it must be among the rows, what is behind it is read from the log.
    const progress = await eventLog.progress('installs', FACTS_WRITER_GROUP)
    const rows = await facts.run('settledInstalls', {
      ...ownersOf(events),
      event_ids: events.map(({ eventId }) => eventId),
    })
    const stored = rows.map((row) => ({ ...settledInstallOf(row), isPending: row.resolution === 'pending' }))
    const known = new Map(stored.map((answer) => [soughtKey(answer), answer]))
    if (events.every((event) => known.has(soughtKey(event)))) return known
    await this.#tail.readTo(progress)
    return new Map([...events.flatMap((event) => this.#tail.answersTo(event)), ...known])
  }
}

function soughtKey(event: SoughtEvent): string {
  return recordKey(event, event.eventId)
}
