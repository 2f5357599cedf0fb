/** The table of figures: each has its date and a command that exists, and no cell is a text. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'

import { performanceChart, readResults } from '../../tools/docs/performance.ts'
import { ROOT } from './source-files.ts'

const ONE = { what: 'visits', goal: '10 ms', measured: '9 ms', share: 0.9, date: '2026-11-28', command: 'make scale' }
const read = (change: object) => readResults(JSON.stringify([{ ...ONE, ...change }]))

describe('figures of performance', () => {
  it('are refused without a date or a command, with a text for a cell, and with a share of no goal', () => {
    expect(read({})).to.have.lengthOf(1)
    for (const change of [
      { date: undefined },
      { command: undefined },
      { date: 'today' },
      { measured: 'x'.repeat(201) },
      { goal: undefined },
      { share: undefined },
      { share: 0 },
      { note: 'more' },
    ])
      expect(() => read(change), JSON.stringify(change)).to.throw('bench/results.yaml')
  })

  it('name a program that is there', () => {
    const results = readResults(readFileSync(join(ROOT, 'bench/results.yaml'), 'utf8'))
    const programs = results.flatMap(({ command }) => /^node (\S+)/.exec(command)?.[1] ?? [])
    expect(programs.length).to.be.greaterThan(40)
    expect(programs.filter((program) => !existsSync(join(ROOT, program)))).to.deep.equal([])
  })

  it('are drawn in another colour if they miss their goal', () => {
    const colours = (share: number) =>
      [...performanceChart(read({ share })).matchAll(/<rect x.* fill="(\S+)"/g)].map(([, colour]) => colour)
    expect(colours(1)).to.deep.equal(colours(0.5)).and.to.have.lengthOf(1)
    expect(colours(1.01)).to.not.deep.equal(colours(1))
  })
})
