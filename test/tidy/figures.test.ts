/** The figures by which the order of the code is watched stay where they are good (docs/adr, `tools/figures/print.ts`). */

import { expect } from 'chai'

import { functionsOf, namesDeclaredTwice } from '../../tools/figures/measures.ts'
import { sourcesOf } from '../../tools/figures/source.ts'
import { ROOT } from './source-files.ts'

describe('the code', () => {
  const sources = sourcesOf(ROOT)

  it('has hardly a function above 60 lines', () => {
    const functions = sources.flatMap(functionsOf).filter(({ lines }) => lines > 1)
    expect(functions.length).to.be.greaterThan(1_000)
    expect(functions.filter(({ lines }) => lines > 60).length / functions.length).to.be.at.most(0.001)
  })

  it('gives one name to one type: at most five are declared in more than one file', () => {
    const product = sources.filter(({ path }) => !path.startsWith('bench/'))
    expect(namesDeclaredTwice(product)).to.have.length.at.most(5)
  })
})
