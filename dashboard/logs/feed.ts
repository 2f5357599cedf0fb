/** New lines of Logs for watchers: one poll a second for each set of websites, however many watch it. */

import { setTimeout as wait } from 'node:timers/promises'

import { LIMITS } from '../../domain/limits.ts'
import { SECOND_MS } from '../../domain/durations.ts'
import { newestOf } from '../../domain/logs/walk.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { StatementShare } from '../../ports/facts/query-rows.ts'
import type { LogLineRow } from '../../ports/facts/pages/logs.ts'

/** Of one poll, the oldest first. */
export interface FeedTick {
  readonly rows: readonly LogLineRow[]
  /** Lines may have come that are not among the rows of any poll. */
  readonly isCut: boolean
}

interface FeedKey {
  readonly organization: string
  /** Of the column for the website. */
  readonly websites: readonly string[]
}

export interface LineFeeds {
  /** Calls back at every poll, also if it found nothing or failed. The result ends it. */
  readonly watch: (key: FeedKey, onTick: (tick: FeedTick) => void) => () => void
}

interface FeedParts {
  readonly facts: FactsReader
  readonly nowMs: () => number
  readonly pollMs?: number
}

/** Lines become visible a moment after their time: each poll looks back this far, and shows each line once. */
const OVERLAP_MS = 15 * SECOND_MS
/** All that come within the overlap are read again, so that none is missed that becomes visible late. */
const MOST_LINES = 2_000
/** If the facts are further behind, lines become visible too late for any poll to find them. So often it is checked whether there are such lines. */
const COUNT_EVERY_MS = 15 * SECOND_MS
/** How far back lines are counted for this check. */
const COUNTED_MS = 60 * SECOND_MS

export function createLineFeeds(parts: FeedParts): LineFeeds {
  const feeds = new Map<string, Feed>()
  return {
    watch(key, onTick) {
      const name = JSON.stringify([key.organization, key.websites])
      let feed = feeds.get(name)
      if (feed === undefined) feeds.set(name, (feed = startFeed(key, parts)))
      const { watchers, end } = feed
      watchers.add(onTick)
      return () => {
        watchers.delete(onTick)
        if (watchers.size > 0 || feeds.get(name)?.watchers !== watchers) return
        feeds.delete(name)
        end.abort()
      }
    },
  }
}

interface Feed {
  readonly watchers: Set<(tick: FeedTick) => void>
  readonly end: AbortController
}

function startFeed(key: FeedKey, { facts, nowMs, pollMs = SECOND_MS }: FeedParts): Feed {
  const feed: Feed = { watchers: new Set(), end: new AbortController() }
  const { signal } = feed.end
  const seen = new Map<string, number>()
  const startMs = nowMs()
  const count = createLateCount(key, { facts, startMs, signal })
  let readUntilMs = startMs
  const poll = async (): Promise<void> => {
    const atOnceMs = nowMs()
    const rows = await newestLines(key, { facts, nowMs: atOnceMs, signal })
    const isBehind = rows.length >= MOST_LINES || atOnceMs - readUntilMs > OVERLAP_MS
    readUntilMs = atOnceMs
    const fresh = rows.filter(({ id, at_ms: atMs }) => atMs >= startMs - SECOND_MS && !seen.has(id)).toReversed()
    for (const { id, at_ms: atMs } of fresh) seen.set(id, atMs)
    for (const [id, atMs] of seen) if (atMs < atOnceMs - OVERLAP_MS) seen.delete(id)
    count.add(fresh)
    tell({ rows: fresh, isCut: isBehind })
    if (await count.hasMore(atOnceMs)) tell({ rows: [], isCut: true })
  }
  const tell = (tick: FeedTick): void => {
    for (const watcher of feed.watchers) watcher(tick)
  }
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      // While the engine is unavailable nothing is new; the next poll finds what came meanwhile, as far as it looks back.
      await poll().catch(() => tell({ rows: [], isCut: false }))
      await wait(pollMs, undefined, { signal }).catch(() => undefined)
    }
  }
  void run()
  return feed
}

interface LateCountParts {
  readonly facts: FeedParts['facts']
  /** Lines from before are not shown, so they are not counted either. */
  readonly startMs: number
  readonly signal: AbortSignal
}

/** Finds out whether lines became visible that no poll has found; it reports each only once. If the facts do not answer, the next poll counts. */
function createLateCount(key: FeedKey, { facts, startMs, signal }: LateCountParts) {
  /** Lines by the second in which they began. */
  const known = new Map<number, number>()
  let countedAtMs = startMs
  const ofSecond = (ms: number): number => ms - (ms % SECOND_MS)
  return {
    add(rows: readonly LogLineRow[]): void {
      for (const { at_ms: atMs } of rows) known.set(ofSecond(atMs), (known.get(ofSecond(atMs)) ?? 0) + 1)
    },

    async hasMore(nowMs: number): Promise<boolean> {
      if (nowMs - countedAtMs < COUNT_EVERY_MS) return false
      // Lines of the time in between would not be counted any more.
      const isLate = nowMs - countedAtMs > COUNTED_MS - OVERLAP_MS
      const since = ofSecond(Math.max(startMs, nowMs - COUNTED_MS)) + SECOND_MS
      const period = { since_ms: since, until_ms: ofSecond(nowMs - OVERLAP_MS) }
      const visible = new Map<number, number>()
      for (const { second_ms: second, lines } of await facts.run(
        'lineSeconds',
        { ...key, ...period },
        { signal, share: watchedShare(key) },
      ))
        visible.set(second, (visible.get(second) ?? 0) + lines)
      countedAtMs = nowMs
      for (const second of known.keys()) if (second < since) known.delete(second)
      const missed = [...visible].filter(([second, lines]) => lines > (known.get(second) ?? 0))
      for (const [second, lines] of missed) known.set(second, lines)
      return missed.length > 0 || isLate
    },
  }
}

/** Several people may watch it. */
function watchedShare({ organization }: FeedKey): StatementShare {
  return { rank: 'tail', organization, person: '' }
}

async function newestLines(
  key: FeedKey,
  {
    facts,
    nowMs,
    signal,
  }: { readonly facts: FeedParts['facts']; readonly nowMs: number; readonly signal: AbortSignal },
): Promise<readonly LogLineRow[]> {
  const bounds = { since_ms: nowMs - OVERLAP_MS, until_ms: nowMs + LIMITS.clockSkewMs, limit: MOST_LINES, names: 1 }
  return newestOf(
    [
      await facts.run('requestLines', { ...key, ...bounds }, { signal, share: watchedShare(key) }),
      await facts.run('attemptLines', { ...key, ...bounds }, { signal, share: watchedShare(key) }),
    ],
    MOST_LINES,
  )
}
