/** The windows in which lists are read back, of which some are too long for one statement. */

import { expect } from 'chai'

import { walkBack, type PageClock, type WalkWindow } from '../../dashboard/reads/walk-back.ts'
import { DAY_MS, SECOND_MS } from '../../domain/durations.ts'

const NOW_MS = Date.UTC(2026, 6, 20, 12)

interface Row {
  readonly atMs: number
}

describe('a list that is read back in windows', () => {
  /** The windows that were read, if a statement copes with at most this much time. */
  const windows = async (mostMs: number, sinceMs: number): Promise<readonly WalkWindow[]> => {
    const seen: WalkWindow[] = []
    const read = async (window: WalkWindow) => {
      if (window.until_ms - window.since_ms > mostMs) return null
      seen.push(window)
      return { rows: [], reached: null }
    }
    const positionOf = ({ atMs: beforeMs }: Row) => ({ beforeMs, beforeId: '' })
    const from = { beforeMs: NOW_MS, beforeId: '' }
    const clock = { elapsedMs: () => 0 }
    await walkBack<Row>({ sinceMs, from, limit: 1, firstSpanMs: DAY_MS }, { read, positionOf }, clock)
    return seen
  }

  for (const mostMs of [1, 7, 42_188, 84_375, DAY_MS])
    it(`has every moment once, in whole milliseconds, in windows of at most ${mostMs} ms`, async () => {
      const sinceMs = NOW_MS - Math.min(mostMs * 100, DAY_MS + SECOND_MS)
      const seen = await windows(mostMs, sinceMs)
      expect(seen.every((window) => Number.isInteger(window.since_ms) && Number.isInteger(window.until_ms))).to.equal(
        true,
      )
      expect(seen.map(({ until_ms: untilMs }) => untilMs)).to.deep.equal([
        NOW_MS,
        ...seen.slice(0, -1).map(({ since_ms: since }) => since),
      ])
      expect(seen.at(-1)?.since_ms).to.equal(sinceMs)
    })

  it('ends after a second with the position that it has reached, unless more time is given', async () => {
    const sinceMs = NOW_MS - 90 * DAY_MS
    const walk = async (patience: Pick<PageClock, 'patienceMs'>) => {
      let nowMs = 0
      const spans: number[] = []
      const read = async ({ since_ms: fromMs, until_ms: toMs }: WalkWindow) => {
        nowMs += 700
        spans.push(toMs - fromMs)
        return { rows: [], reached: null }
      }
      const positionOf = ({ atMs: beforeMs }: Row) => ({ beforeMs, beforeId: '' })
      const asked = { sinceMs, from: { beforeMs: NOW_MS, beforeId: '' }, limit: 1, firstSpanMs: DAY_MS }
      const grown = { read, positionOf, nextSpanMs: (spanMs: number) => 2 * spanMs }
      const { next } = await walkBack<Row>(asked, grown, { elapsedMs: () => nowMs, ...patience })
      return { next, days: spans.map((span) => span / DAY_MS) }
    }
    expect(await walk({})).to.deep.equal({ next: { beforeMs: NOW_MS - 3 * DAY_MS, beforeId: '' }, days: [1, 2] })
    expect(await walk({ patienceMs: Number.POSITIVE_INFINITY })).to.deep.equal({
      next: null,
      days: [1, 2, 4, 8, 16, 32, 27],
    })
  })
})
