/** Rows of the embedded engine's answers, made one by one. */

import { expect } from 'chai'

import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import type { FactsConnection } from '../../ports/facts/engine/connection.ts'
import { readsOfLines } from '../../ports/facts/engine/read-rows.ts'
import { FactsUnavailable } from '../../ports/facts/facts.ts'

const LINES = '{"a":1}\n{"a":"é😀"}\n'
const ROWS = [{ a: 1 }, { a: 'é😀' }]

/** In memory of its own, as the engine's answers are. */
function ownBuffer(text: string): Buffer {
  const bytes = new TextEncoder().encode(text)
  return Buffer.from(bytes.buffer, 0, bytes.length)
}

const rowsIn = async (answer: Buffer): Promise<Generator<unknown>> => {
  const rows = await readsOfLines(async () => answer).each('', {}, { turn: 'page' })
  return rows as Generator<unknown>
}

describe('rows of an answer that is there as a whole', () => {
  it('are made as they are taken, and its memory is given back after the last one', async () => {
    const answer = ownBuffer(LINES)
    const rows = await rowsIn(answer)
    expect(rows.next().value).to.deep.equal(ROWS[0])
    expect(answer.length).to.equal(Buffer.byteLength(LINES))
    expect([...rows]).to.deep.equal(ROWS.slice(1))
    expect(answer.length, 'it is gone').to.equal(0)
    expect([...rows]).to.deep.equal([])
  })

  it('leave alone what shares their memory', async () => {
    const shared = ownBuffer(`before${LINES}after`)
    const answer = shared.subarray('before'.length, 'before'.length + Buffer.byteLength(LINES))
    expect([...(await rowsIn(answer))]).to.deep.equal(ROWS)
    expect(shared.toString()).to.equal(`before${LINES}after`)
  })

  it('need no end of line after the last one, and may be none', async () => {
    expect([...(await rowsIn(ownBuffer(LINES.trimEnd())))]).to.deep.equal(ROWS)
    expect([...(await rowsIn(ownBuffer('')))]).to.deep.equal([])
  })

  it('end like a statement that failed if one cannot be read, without its text', async () => {
    const each = async () => rowsIn(ownBuffer('{"a":1}\n{"canary-of-a-row'))
    const connection = { query: async () => [], each } as unknown as FactsConnection
    const rows = await clickhouseFacts(connection, { nowMs: Date.now }).each('counts', {})
    const taken: unknown[] = []
    const take = (): void => {
      for (const row of rows) taken.push(row)
    }
    expect(take).to.throw(FactsUnavailable).with.property('message').that.does.not.include('canary')
    expect(taken).to.deep.equal(ROWS.slice(0, 1))
  })
})
