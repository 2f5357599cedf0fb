/** The page about kept data names every table and every object that holds some, with its time and what erasure does to it. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'

import { RIGHTS_KINDS } from '../../domain/published/rights-mark.ts'
import { FACT_TABLES } from '../../ports/facts/columns.ts'
import { ROOT } from './source-files.ts'

/** Whose objects hold nothing but what is configured, or stand on the page about people. */
const ELSEWHERE = ['Organization', 'Member']

describe('docs/data.md', () => {
  const rows = readFileSync(join(ROOT, 'docs/data.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
  const places = rows.map(([, where = '']) => where).join()

  it('names each table of facts', () => {
    expect(FACT_TABLES.filter((table) => !places.includes(`\`${table}\``))).to.deep.equal([])
  })

  it('names each kind of object that opens something', () => {
    const kinds = RIGHTS_KINDS.filter((kind) => !ELSEWHERE.includes(kind))
    expect(kinds.filter((kind) => !places.includes(`\`${kind}\` objects`))).to.deep.equal([])
  })

  it('says of each how long it is kept, and what erasure does to it', () => {
    expect(rows.length).to.be.greaterThan(15)
    for (const cells of rows)
      expect(
        cells.filter((cell) => cell !== ''),
        cells[0],
      ).to.have.length(4)
  })
})
