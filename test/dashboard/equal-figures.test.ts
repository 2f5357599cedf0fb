/** Figures that several people ask for at once: one statement for all of them, and none older than a second. */

import { expect } from 'chai'

import { shareFigures } from '../../dashboard/reads/equal-figures.ts'
import type { QueryName } from '../../ports/facts/queries.ts'

interface Asked {
  readonly query: string
  readonly signal: AbortSignal | undefined
  readonly answer: (rows: readonly unknown[]) => void
  readonly fail: (error: Error) => void
}

describe('figures that several people ask for', () => {
  const PERIOD = { websites: ['acme'], since_ms: 1, until_ms: 2 }
  let asked: Asked[]
  let nowMs: number
  let run: (query: QueryName, params: object, signal?: AbortSignal) => Promise<readonly unknown[]>
  beforeEach(() => {
    asked = []
    nowMs = 1_000
    const facts = {
      run: (query: string, _params: object, { signal }: { readonly signal?: AbortSignal } = {}) =>
        new Promise((answer, fail) => asked.push({ query, signal, answer: answer, fail })),
    }
    const shared = shareFigures(facts as never, () => nowMs)
    run = (query, params, signal) => shared(query, params as never, { signal })
  })
  const rowsOf = (count: number) => [{ at_ms: 0, counts: [count] }]

  it('are counted once for all who ask while it runs and for a second from its beginning', async () => {
    const both = [run('visitSteps', PERIOD), run('visitSteps', PERIOD)]
    expect(asked).to.have.lengthOf(1)
    asked[0]?.answer(rowsOf(7))
    expect(await Promise.all(both)).to.deep.equal([rowsOf(7), rowsOf(7)])
    nowMs += 999
    expect(await run('visitSteps', PERIOD)).to.deep.equal(rowsOf(7))
    nowMs += 1
    const later = run('visitSteps', PERIOD)
    expect(asked).to.have.lengthOf(2)
    asked[1]?.answer(rowsOf(8))
    expect(await later).to.deep.equal(rowsOf(8))
  })

  it('are those of the websites and the period that each of them asked for', async () => {
    const questions = [PERIOD, { ...PERIOD, websites: ['other'] }, { ...PERIOD, until_ms: 3 }]
    const answers = questions.map((params) => run('visitSteps', params))
    answers.push(run('rolledSteps', { ...PERIOD, column: 'visits' }))
    expect(asked.map(({ query }) => query)).to.deep.equal(['visitSteps', 'visitSteps', 'visitSteps', 'rolledSteps'])
    for (const [place, { answer }] of asked.entries()) answer(rowsOf(place))
    expect(await Promise.all(answers)).to.deep.equal([0, 1, 2, 3].map(rowsOf))
  })

  it('are counted again after a failure, which everybody is told who waited', async () => {
    const both = [run('visitSteps', PERIOD), run('visitSteps', PERIOD)]
    asked[0]?.fail(new Error('away'))
    const outcomes = await Promise.allSettled(both)
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected'])
    void run('visitSteps', PERIOD)
    expect(asked).to.have.lengthOf(2)
  })

  it('are given up when the last one leaves, and not before', async () => {
    const one = new AbortController()
    const other = new AbortController()
    const both = [run('visitSteps', PERIOD, one.signal), run('visitSteps', PERIOD, other.signal)]
    const outcomes = Promise.allSettled(both)
    one.abort(new Error('gone'))
    await both[0]?.catch(() => undefined)
    expect(asked[0]?.signal?.aborted).to.equal(false)
    other.abort(new Error('gone too'))
    expect((await outcomes).map((each) => 'reason' in each && (each.reason as Error).message)).to.deep.equal([
      'gone',
      'gone too',
    ])
    expect(asked[0]?.signal?.aborted).to.equal(true)
    void run('visitSteps', PERIOD)
    expect(asked, 'nobody gets the rows of one that was given up').to.have.lengthOf(2)
  })

  it('are the only thing that is shared: whoever changed something sees it in every list', () => {
    const { signal } = new AbortController()
    void run('installList' as QueryName, PERIOD, signal)
    void run('installList' as QueryName, PERIOD, signal)
    expect(asked.map((each) => each.signal === signal)).to.deep.equal([true, true])
  })
})
