/** One name for one idea. The check is first shown what it must find. */

import { expect } from 'chai'

import { repeatedTypeNames } from './names.ts'
import { PRODUCT_FOLDERS, sourceFiles } from './source-files.ts'

/** The same idea in two adapters that share no code. */
const ALLOWED: readonly string[] = ['AppendBounds', 'WaitingAppend']

describe('names of types', () => {
  it('are found if two files declare them', () => {
    const files = [
      { path: 'a.ts', text: 'interface Page {}\ninterface Page {}\ntype Once = string' },
      { path: 'b.ts', text: 'export class Page {}\nfunction Once() {}' },
    ]
    expect(repeatedTypeNames(files)).to.deep.equal(['Page: a.ts, b.ts'])
  })

  it('mean one idea each in the product', () => {
    const repeated = repeatedTypeNames(sourceFiles(PRODUCT_FOLDERS, ['.ts']))
    expect(repeated.filter((line) => !ALLOWED.includes(line.split(':')[0] ?? ''))).to.deep.equal([])
    expect(ALLOWED.length).to.be.at.most(5)
  })
})
