/** The figures by which the order of the code is watched stay good (docs/adr, `tools/figures/print.ts`). */

import { expect } from 'chai'
import ts from 'typescript'

import { functionsDeclaredTwice, functionsOf, typesDeclaredTwice } from '../../tools/figures/measures.ts'
import { filesPerFolder, sourcesOf } from '../../tools/figures/source.ts'
import { PRODUCT_FOLDERS, ROOT } from './source-files.ts'

/** One of them is a function that two builds of the SDK have each for themselves. */
const MOST_SHARED_NAMES = 5

describe('the code', () => {
  const sources = sourcesOf(ROOT)

  it('has hardly a function above 60 lines', () => {
    const functions = sources.flatMap(functionsOf).filter(({ lines }) => lines > 1)
    expect(functions.length).to.be.greaterThan(1_000)
    expect(functions.filter(({ lines }) => lines > 60).length / functions.length).to.be.at.most(0.001)
  })

  it('is counted with every folder of the product', () => {
    const counted = new Set([...filesPerFolder(ROOT).keys()].map((folder) => folder.split('/')[0]))
    expect(PRODUCT_FOLDERS.filter((folder) => !counted.has(folder))).to.deep.equal([])
  })

  const product = sources.filter(({ path }) => !path.startsWith('bench/'))

  it('gives one name to one type: at most five are declared in more than one file', () => {
    expect(typesDeclaredTwice(product)).to.have.length.at.most(MOST_SHARED_NAMES)
  })

  it('gives one name to one function: at most five are declared in more than one file', () => {
    expect(functionsDeclaredTwice(product)).to.have.length.at.most(MOST_SHARED_NAMES)
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
