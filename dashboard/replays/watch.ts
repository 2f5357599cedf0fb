/**
 * Ends replays whose person loses the right to them: is removed, gets a lower role or signs out. Every process of the dashboard looks after all
 * replays that are not over, whoever took the request: that process may have ended since.
 */

import { setTimeout as wait } from 'node:timers/promises'

import { cancelEntry } from '../../domain/collection/replay-decision.ts'
import { SECOND_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { OpenReplayRow } from '../../ports/facts/pages/replay.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import type { SessionVerbs } from '../../ports/hot-state/session-verbs.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { NoteActivity } from '../events/activity.ts'
import type { EventStreams, SessionAllowed } from '../events/event-streams.ts'
import type { Directory } from '../resources/directory.ts'

interface WatchParts {
  readonly facts: Pick<Facts, 'run'>
  readonly hotState: Pick<SessionVerbs, 'putOnce' | 'replaceOnce'>
  readonly directory: Pick<Directory, 'organizations' | 'synced'>
  readonly streams: Pick<EventStreams, 'closing'>
  readonly sessionAllowed: SessionAllowed
  readonly noteActivity: NoteActivity
  readonly logger: Pick<Logger, 'warn'>
  /** Half a second if absent. */
  readonly everyMs?: number
}

export type WatchedReplay = Pick<OpenReplayRow, 'id' | 'website' | 'organization' | 'session'>

export interface ReplayWatch {
  /** Looks after a replay before it is stored. */
  readonly add: (replay: WatchedReplay) => void
  /** Resolves when the process stops; never rejects. */
  readonly ended: Promise<void>
}

const EVERY_MS = SECOND_MS / 2
/** Which replays are open is asked of the facts, and only in every so many turns. */
const FACTS_EVERY_TURNS = 10
/** Far more than are asked for in a day; the oldest first. */
const MOST_OPEN = 1_000
/** Of several processes one notes the end. If it dies before it has, another does so after this time. */
const CLAIM_MS = 30 * SECOND_MS
const RIGHT_LOST = 'whoever asked for it was removed, has another role, or signed out'

/** Starts as soon as it is known who has which rights. */
export function startReplayWatch(parts: WatchParts): ReplayWatch {
  const { directory, streams, logger, everyMs = EVERY_MS } = parts
  const watched: Watched = new Map()
  const look = async (turn: number): Promise<void> => {
    if (turn % FACTS_EVERY_TURNS === 0) await readOpen(watched, parts)
    for (const { session, ...replay } of [...watched.values()]) {
      if (!(await parts.sessionAllowed({ id: session }, replay.organization, 'Member'))) await endReplay(replay, parts)
    }
  }
  const loop = async (): Promise<void> => {
    await directory.synced
    for (let turn = 0; !streams.closing.aborted; turn++) {
      await look(turn).catch((error: unknown) => {
        if (!streams.closing.aborted)
          logger.warn({ err: error }, 'whether replays may go on is not known; asking again')
      })
      await wait(everyMs, undefined, { signal: streams.closing, ref: false }).catch(() => undefined)
    }
  }
  return {
    add: (replay) => void watched.set(replay.id, { ...replay, isStored: false }),
    ended: loop(),
  }
}

/** By ID. `isStored`: the facts know it. */
type Watched = Map<string, WatchedReplay & { readonly isStored: boolean }>

/** Those of an earlier release, whose session is not known, go on. */
async function readOpen(watched: Watched, { facts }: Pick<WatchParts, 'facts'>): Promise<void> {
  const open = await facts.run('openReplays', { limit: MOST_OPEN })
  const ids = new Set(open.map(({ id }) => id))
  for (const { id, website, organization, session } of open) {
    if (session !== '') watched.set(id, { id, website, organization, session, isStored: true })
  }
  for (const [id, replay] of watched) {
    if (!ids.has(id) && (replay.isStored || (await isOver(replay, facts)))) watched.delete(id)
  }
}

type EndedReplay = Omit<WatchedReplay, 'session'>

/** Does nothing if another process does it, or if it is over. */
async function endReplay(
  replay: EndedReplay,
  { facts, hotState, directory, noteActivity }: Pick<WatchParts, 'facts' | 'hotState' | 'directory' | 'noteActivity'>,
): Promise<void> {
  const { organization } = replay
  const claim = `replay-end:${replay.id}`
  if ((await isOver(replay, facts)) || !(await hotState.putOnce(claim, 'claimed', CLAIM_MS))) return
  const { logRetentionDays = LIMITS.logRetentionDays.fallback } = directory.organizations().get(organization) ?? {}
  await noteActivity({ ...cancelEntry(replay, RIGHT_LOST), organization, logRetentionDays })
  await hotState.replaceOnce(claim, 'noted', LIMITS.replayKeepMs)
}

/** It is stored a moment after it was requested. */
async function isOver({ id, website, organization }: EndedReplay, facts: WatchParts['facts']): Promise<boolean> {
  const [row] = await facts.run('replayById', { id, websites: [website], organization })
  return row?.state === 'done' || row?.state === 'failed'
}
