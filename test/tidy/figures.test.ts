/** The figures that measure the structure of the code stay good (docs/adr, `tools/figures/print.ts`). */

import { expect } from 'chai'
import ts from 'typescript'

import { cyclesOf } from '../../tools/figures/cycles.ts'
import { functionsDeclaredTwice, functionsOf, typesDeclaredTwice } from '../../tools/figures/measures.ts'
import { filesPerFolder, sourcesOf } from '../../tools/figures/source.ts'
import { PRODUCT_FOLDERS, ROOT } from './source-files.ts'

const MOST_FILES_OF_A_FOLDER = 25
const MOST_PARAMETERS = 4

describe('the code', () => {
  const sources = sourcesOf(ROOT)

  it('has at most one function above 60 lines in a hundred', () => {
    const functions = sources.flatMap(functionsOf).filter(({ lines }) => lines > 1)
    expect(functions.length).to.be.greaterThan(1_000)
    expect(functions.filter(({ lines }) => lines > 60).length / functions.length).to.be.at.most(0.01)
  })

  it('has no function of more than four parameters', () => {
    const functions = sources.flatMap(functionsOf)
    expect(functions.some(({ parameters }) => parameters === MOST_PARAMETERS)).to.equal(true)
    expect(functions.filter(({ parameters }) => parameters > MOST_PARAMETERS)).to.deep.equal([])
  })

  it('has at most 25 files in 95 of 100 folders', () => {
    const counts = [...filesPerFolder(ROOT).values()]
    expect(counts.length).to.be.greaterThan(50)
    expect(counts.filter((count) => count > MOST_FILES_OF_A_FOLDER).length).to.be.at.most(counts.length / 20)
  })

  it('has no cycle of imports, types and benchmarks included', () => {
    expect(cyclesOf(sources, { types: true })).to.deep.equal([])
  })

  it('is counted with every folder of the product', () => {
    const counted = new Set([...filesPerFolder(ROOT).keys()].map((folder) => folder.split('/')[0]))
    expect(PRODUCT_FOLDERS.filter((folder) => !counted.has(folder))).to.deep.equal([])
  })

  const product = sources.filter(({ path }) => !path.startsWith('bench/'))

  it('gives one name to one type', () => {
    expect(typesDeclaredTwice(product)).to.deep.equal([])
  })

  it('gives one name to one function', () => {
    expect(functionsDeclaredTwice(product)).to.deep.equal([])
  })

  it('is told when two files declare a name', () => {
    const source = (path: string, text: string) => ({ path, lines: 1, parsed: ts.createSourceFile(path, text, 99) })
    const one = source('api/a.ts', 'interface A {}\nfunction b() {}\nconst c = () => 1\nconst d = 1')
    const other = source('bin/a.ts', 'type A = 1\nconst b = () => 2\nexport async function c() {}\nconst d = 1')
    expect(typesDeclaredTwice([one, other])).to.deep.equal(['A'])
    expect(functionsDeclaredTwice([one, other])).to.deep.equal(['b', 'c'])
    expect(functionsDeclaredTwice([one])).to.deep.equal([])
  })
})
