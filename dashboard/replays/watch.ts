/**
 * Ends a replay if the person who asked for it loses the right to it: is removed, gets a lower role or signs out. The process that took
 * the request checks this until the replay is over. If that process ends first, the replay goes on: it shows nothing to anybody who may not see it.
 */

import { setTimeout as wait } from 'node:timers/promises'

import { cancelEntry } from '../../domain/collection/replay-decision.ts'
import { SECOND_MS } from '../../domain/durations.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { NoteActivity } from '../events/activity.ts'
import type { EventStreams, StillAllowed } from '../events/event-streams.ts'
import { scopeOf, type Call } from '../http/call.ts'

interface WatchParts {
  readonly facts: Pick<Facts, 'run'>
  readonly streams: Pick<EventStreams, 'closing'>
  readonly stillAllowed: StillAllowed
  readonly noteActivity: NoteActivity
  readonly logger: Pick<Logger, 'warn'>
  /** Half a second if absent. */
  readonly everyMs?: number
}

export interface WatchedReplay {
  readonly id: string
  readonly website: string
}

const EVERY_MS = SECOND_MS / 2
/** Whether it is over is asked of the facts, and only in every so many turns. */
const FACTS_EVERY_TURNS = 10
const RIGHT_LOST = 'whoever asked for it was removed, has another role, or signed out'

/** Resolves once the replay is over or cancelled, or when the process stops. Never rejects. */
export async function watchReplay(
  { facts, streams, stillAllowed, noteActivity, logger, everyMs = EVERY_MS }: WatchParts,
  call: Call,
  replay: WatchedReplay,
): Promise<void> {
  const { organization } = scopeOf(call)
  const asked = { id: replay.id, websites: [replay.website], organization: organization.id }
  let isKnown = false
  const isOver = async (): Promise<boolean> => {
    const [row] = await facts.run('replayById', asked)
    // It is stored a moment after it was asked for, and is gone after its retention.
    if (row === undefined) return isKnown
    isKnown = true
    return row.state === 'done' || row.state === 'failed'
  }
  const look = async (turn: number): Promise<boolean> => {
    const isAllowed = await stillAllowed(call, 'Member')
    if (isAllowed && turn % FACTS_EVERY_TURNS !== 0) return false
    if (await isOver()) return true
    if (isAllowed) return false
    const { id, logRetentionDays } = organization
    await noteActivity({ ...cancelEntry(replay, RIGHT_LOST), organization: id, logRetentionDays })
    return true
  }
  for (let turn = 1; !streams.closing.aborted; turn++) {
    const isEnded = await look(turn).catch((error: unknown) => {
      logger.warn({ err: error, replay: replay.id }, 'whether a replay may go on is not known; asking again')
      return false
    })
    if (isEnded) return
    await wait(everyMs, undefined, { signal: streams.closing }).catch(() => undefined)
  }
}
