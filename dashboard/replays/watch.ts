/**
 * Ends a replay whose person loses the right to it: who is removed, gets a lower role or signs out. The process that took the request looks
 * until the replay is over. If that process ends first, the replay goes on: it shows nothing to anybody who may not see it.
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
/** The facts are asked more rarely whether it is over. */
const TURNS_OF_FACTS = 10

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
  const cancel = async (): Promise<void> => {
    const { message, ...entry } = cancelEntry(replay)
    const why = 'whoever asked for it was removed, has another role, or signed out'
    const { logRetentionDays } = organization
    await noteActivity({
      ...{ ...entry, organization: organization.id, logRetentionDays },
      message: `${message.slice(0, -1)}: ${why}.`,
    })
  }
  const look = async (turn: number): Promise<boolean> => {
    const isAllowed = await stillAllowed(call, 'Member')
    if (isAllowed && turn % TURNS_OF_FACTS !== 0) return false
    if (await isOver()) return true
    if (isAllowed) return false
    await cancel()
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
