/** The fair queue in front of the engine: which statement is next, by a clock that only the statements themselves move on. */

import { expect } from 'chai'

import { ENGINE_SHARES, type ReadRank } from '../../domain/limits.ts'
import { Turns } from '../../ports/facts/engine/turns.ts'
import type { StatementShare } from '../../ports/facts/query-rows.ts'

interface Asked extends Partial<StatementShare> {
  readonly name?: string
  readonly costMs: number
  /** How many of these wait at any time; each that ends is asked again. */
  readonly always?: number
}

interface Ran {
  readonly name: string
  readonly costMs: number
}

const ofPage = (organization: string, person = `p-${organization}`): StatementShare => ({
  rank: 'page',
  organization,
  person,
})

/** Lets the engine run until a moment of its clock; what ran is in order. */
async function engine() {
  let nowMs = 0
  let endMs = 0
  const turns = new Turns({ elapsedMs: () => nowMs })
  const ran: Ran[] = []
  /** It holds the only place until the engine is started. */
  const start = Promise.withResolvers<void>()
  const held = turns.take({ turn: 'look-up' }, () => start.promise)
  const once = async ({ name, costMs, rank = 'page', organization = '', person = '' }: Asked): Promise<void> => {
    await turns.take({ turn: 'page', share: { rank, organization, person } }, async () => {
      if (nowMs >= endMs) return
      ran.push({ name: name ?? organization, costMs })
      nowMs += costMs
      await Promise.resolve()
    })
  }
  const ask = async (asked: Asked): Promise<void> => {
    do await once(asked)
    while (asked.always !== undefined && nowMs < endMs)
  }
  const waiting: Promise<void>[] = []
  return {
    turns,
    ask: (asked: Asked): void => {
      for (let count = 0; count < (asked.always ?? 1); count += 1) waiting.push(ask(asked))
    },
    runUntil: async (ms: number): Promise<readonly Ran[]> => {
      endMs = ms
      start.resolve()
      await Promise.all([held, ...waiting])
      return ran
    },
    nowMs: () => nowMs,
  }
}

const timeOf = (ran: readonly Ran[], name: string): number =>
  ran.filter((each) => each.name === name).reduce((sum, { costMs }) => sum + costMs, 0)

describe('turns of the engine', () => {
  it('give each rank its share of the time for certain, whatever the others ask', async () => {
    const { ask, runUntil } = await engine()
    const ranks = ['page', 'tail', 'export', 'key', 'replay', 'link'] as const
    const costs: Readonly<Record<ReadRank, number>> = {
      page: 100,
      tail: 20,
      export: 200,
      key: 100,
      replay: 250,
      link: 100,
    }
    for (const [place, rank] of ranks.entries())
      ask({ name: rank, rank, organization: `org-${place}`, costMs: costs[rank], always: 20 })
    const ran = await runUntil(60_000)
    const shares = ranks.reduce((sum, rank) => sum + ENGINE_SHARES[rank], 0)
    for (const rank of ranks) expect(timeOf(ran, rank) / 60_000, rank).to.be.closeTo(ENGINE_SHARES[rank] / shares, 0.01)
  })

  it('let no rank save up what it did not use', async () => {
    const { ask, runUntil, turns } = await engine()
    ask({ name: 'page', organization: 'a', costMs: 100, always: 3 })
    const ended = runUntil(40_000)
    // Exports come after pages have run for a while.
    for (let count = 0; count < 60; count += 1)
      await turns.take({ turn: 'page', share: ofPage('a') }, async () => undefined)
    ask({ name: 'export', rank: 'export', organization: 'b', costMs: 100, always: 3 })
    const ran = (await ended).map(({ name }) => name)
    const came = ran.indexOf('export')
    expect(came).to.be.within(50, 390)
    expect(ran.slice(came, came + 10).filter((name) => name === 'export')).to.have.lengthOf(2)
  })

  it('let the organisation go first that used less time lately, however many statements another sends', async () => {
    const { ask, runUntil } = await engine()
    ask({ organization: 'greedy', person: 'g', costMs: 100, always: 500 })
    ask({ organization: 'modest', person: 'm', costMs: 10, always: 1 })
    const ran = await runUntil(60_000)
    expect(timeOf(ran, 'modest') / 60_000).to.be.closeTo(0.5, 0.02)
    const first = ran.findIndex(({ name }) => name === 'modest')
    expect(first, 'it waits for one statement at most').to.be.at.most(1)
  })

  it('serve whoever used nothing lately before everybody who did', async () => {
    const { ask, runUntil, turns, nowMs } = await engine()
    for (const organization of ['a', 'b', 'c']) ask({ organization, costMs: 100, always: 50 })
    const waits: number[] = []
    const newcomer = async (): Promise<void> => {
      // Comes in the middle, with five statements one after the other, as a page has them.
      await turns.take({ turn: 'page', share: ofPage('a') }, async () => undefined)
      for (let count = 0; count < 5; count += 1) {
        const askedMs = nowMs()
        await turns.take({ turn: 'page', share: ofPage('new') }, async () => void waits.push(nowMs() - askedMs))
      }
    }
    const came = newcomer()
    await runUntil(20_000)
    await came
    expect(Math.max(...waits)).to.be.at.most(100)
  })

  it('keep the turn of a page for its next statement while downloads of others wait', async () => {
    const { ask, runUntil, turns, nowMs } = await engine()
    for (const organization of ['a', 'b'])
      ask({ name: 'export', rank: 'export', organization, costMs: 200, always: 10 })
    let tookMs = Infinity
    const page = async (): Promise<void> => {
      // Comes in the middle, with five statements one after the other.
      while (nowMs() < 5_000)
        await turns.take({ turn: 'page', share: { ...ofPage('a'), rank: 'export' } }, async () => undefined)
      const askedMs = nowMs()
      for (let count = 0; count < 5; count += 1)
        await turns.take({ turn: 'page', share: ofPage('new') }, async () => undefined)
      tookMs = nowMs() - askedMs
    }
    const came = page()
    const ran = await runUntil(20_000)
    await came
    expect(tookMs, 'it waits for the download that runs, and for no other').to.be.at.most(200)
    expect(timeOf(ran, 'export')).to.equal(20_000)
  })

  it('give a person no more for belonging to several organisations', async () => {
    const { ask, runUntil } = await engine()
    for (let place = 0; place < 5; place += 1)
      ask({ name: 'many', organization: `own-${place}`, person: 'many', costMs: 50, always: 10 })
    ask({ name: 'one', organization: 'other', person: 'one', costMs: 50, always: 10 })
    const ran = await runUntil(60_000)
    expect(timeOf(ran, 'one') / 60_000).to.be.closeTo(0.5, 0.02)
  })

  it('divide what an organisation gets between its people', async () => {
    const { ask, runUntil } = await engine()
    ask({ name: 'greedy', organization: 'a', person: 'greedy', costMs: 50, always: 100 })
    ask({ name: 'modest', organization: 'a', person: 'modest', costMs: 50, always: 1 })
    const ran = await runUntil(30_000)
    expect(timeOf(ran, 'modest') / 30_000).to.be.closeTo(0.5, 0.02)
  })

  it('let look-ups of requests pass all of them', async () => {
    const { ask, runUntil, turns } = await engine()
    ask({ organization: 'a', costMs: 100, always: 10 })
    const order: string[] = []
    const waiting = turns.take({ turn: 'page', share: ofPage('new') }, async () => void order.push('page'))
    const lookUp = turns.take({ turn: 'look-up' }, async () => void order.push('look-up'))
    const ran = await runUntil(5_000)
    await Promise.all([waiting, lookUp])
    expect(order).to.deep.equal(['look-up', 'page'])
    expect(ran.length).to.equal(50)
  })

  it('leave places for others while one organisation or one person has theirs', async () => {
    const turns = new Turns({ places: 6, placesOfOne: 3 })
    let most = 0
    const running = new Map<string, number>()
    const task = (key: string) => async (): Promise<void> => {
      running.set(key, (running.get(key) ?? 0) + 1)
      most = Math.max(most, running.get(key) ?? 0)
      await new Promise((done) => setImmediate(done))
      running.set(key, (running.get(key) ?? 0) - 1)
    }
    const greedy = Array.from({ length: 50 }, () =>
      turns.take({ turn: 'page', share: ofPage('greedy') }, task('greedy')),
    )
    let isServed = false
    const other = turns.take({ turn: 'page', share: ofPage('other') }, async () => void (isServed = true))
    await other
    expect([isServed, running.get('greedy')]).to.deep.equal([true, 3])
    const everywhere = Array.from({ length: 30 }, (_, place) =>
      turns.take({ turn: 'page', share: ofPage(`org-${place}`, 'one') }, task('one')),
    )
    await Promise.all([...greedy, ...everywhere])
    expect(most).to.equal(3)
    await turns.idle()
  })

  it('forget a statement that nobody waits for any more', async () => {
    const { ask, runUntil, turns } = await engine()
    const leaving = new AbortController()
    ask({ organization: 'a', costMs: 10 })
    const left = turns
      .take({ turn: 'page', share: ofPage('b'), signal: leaving.signal }, async () => 'ran')
      .catch((error: Error) => error.message)
    leaving.abort(new Error('left'))
    expect(await left).to.equal('left')
    expect((await runUntil(1_000)).map(({ name }) => name)).to.deep.equal(['a'])
    await turns.idle()
  })
})
