/** Lists of the commands are read in windows of time, from the newest back. */

import { expect } from 'chai'

import { readBack } from '../../bin/tools/lists/read-back.ts'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'

const NOW_MS = Date.UTC(2026, 10, 26)

interface Line {
  readonly id: string
  readonly atMs: number
}

const lineAt = (agoMs: number): Line => ({ id: `line-${agoMs}`, atMs: NOW_MS - agoMs })

describe('a list of the commands', () => {
  /** Length of each window that was read, in ms. */
  let windows: number[]
  /** What it said it had searched back to. */
  let said: number[]
  const read = (
    lines: readonly Line[],
    of: 'lines' | 'texts' | 'others',
    limit = 10,
    { aheadMs = 0, everyMs = 1_000 } = {},
  ): Promise<readonly Line[]> => {
    windows = []
    said = []
    return readBack<Line>(
      {
        of,
        positionOf: ({ id, atMs }) => ({ beforeMs: atMs, beforeId: id }),
        read: async ({ since_ms: since, until_ms: until, limit: most }) => {
          windows.push(until - since)
          const found = lines.filter(({ atMs }) => atMs >= since && atMs < until)
          return { rows: found.slice(0, most), reached: null }
        },
      },
      {
        sinceMs: NOW_MS - 30 * DAY_MS,
        untilMs: NOW_MS + aheadMs,
        limit,
        nowMs: NOW_MS,
        onSearched: (ms) => said.push(ms),
        everyMs,
      },
    )
  }

  it('says how far back it has searched, and never a time that is still to come', async () => {
    await read([], 'others', 10, { aheadMs: DAY_MS, everyMs: -1 })
    expect(said.length).to.be.greaterThan(0)
    expect(said.filter((ms) => ms >= NOW_MS)).to.deep.equal([])
  })

  it('reads no further back than it needs', async () => {
    const lines = [1, 2, 3].map((minutes) => lineAt(minutes * 60_000))
    expect(await read(lines, 'lines', 2)).to.deep.equal(lines.slice(0, 2))
    expect(windows).to.deep.equal([HOUR_MS])
  })

  it('finds what is old in windows of which none is long', async () => {
    const old = [lineAt(3 * DAY_MS), lineAt(29 * DAY_MS)]
    for (const [of, mostMs] of [
      ['lines', 2 * DAY_MS],
      ['texts', 6 * HOUR_MS],
    ] as const) {
      expect(await read(old, of)).to.deep.equal(old)
      expect(Math.max(...windows)).to.equal(mostMs)
      expect(windows.reduce((all, ms) => all + ms)).to.equal(30 * DAY_MS)
    }
    expect(await read(old, 'others')).to.deep.equal(old)
    expect(windows[0]).to.equal(DAY_MS)
  })

  it('goes on where a window was not complete', async () => {
    const lines = [1, 2, 3, 4, 5].map((hours) => lineAt(hours * HOUR_MS))
    const found = await readBack<Line>(
      {
        of: 'others',
        positionOf: ({ id, atMs }) => ({ beforeMs: atMs, beforeId: id }),
        // As if each statement saw only the newest two.
        read: async ({ since_ms: since, until_ms: until, before_ms: before = Infinity }) => {
          const left = lines.filter(({ atMs }) => atMs >= since && atMs < Math.min(until, before))
          const rows = left.slice(0, 2)
          const last = rows.at(-1)
          const reached = last === undefined ? null : { beforeMs: last.atMs, beforeId: last.id }
          return { rows, reached: left.length > 2 ? reached : null }
        },
      },
      { sinceMs: NOW_MS - DAY_MS, untilMs: NOW_MS, limit: 5, nowMs: NOW_MS, onSearched: () => undefined },
    )
    expect(found).to.deep.equal(lines)
  })
})
