/** What is installed is what was reviewed: each package of the lockfile has a digest. No JSON file has a key twice. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'

import { doubledKeys } from './json-keys.ts'
import { ROOT, sourceFiles } from './source-files.ts'

interface LockedPackage {
  readonly version: string
  readonly integrity?: string
  readonly optional?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/**
 * Binaries for other platforms than the one that the lockfile was last made on. The registry did not have them then; none
 * of them is installed on Linux with an x64 processor, which the image and the tests run on.
 */
const WITHOUT_DIGEST: readonly string[] = [
  '@chdb/lib-darwin-arm64',
  '@chdb/lib-darwin-x64',
  '@chdb/lib-linux-arm64-gnu',
]

/** As SECURITY.md writes numbers. */
const COUNTS = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine'] as const

describe('the lockfile', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>
  }
  const locked = Object.entries(packages).filter(([path]) => path !== '')

  it('holds a digest of every package but the listed binaries of other platforms', () => {
    expect(locked.length).to.be.greaterThan(300)
    const without = locked.filter(([, { integrity = '' }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity))
    expect(without.map(([path]) => path.replace(/^.*node_modules\//, ''))).to.have.members(WITHOUT_DIGEST)
    const words = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')
    expect(words).to.include(`- ${COUNTS[without.length]} packages in the lockfile`)
    for (const [path, { optional, os = [], cpu = [] }] of without) {
      expect(optional, path).to.equal(true)
      expect(os.includes('linux') && cpu.includes('x64'), path).to.equal(false)
    }
  })

  it('knows the packages of every platform: `npm ci` refuses one that does not', () => {
    const names = new Set(locked.map(([path]) => path.replace(/^.*node_modules\//, '')))
    const wanted = locked.flatMap(([, { optionalDependencies = {} }]) => Object.keys(optionalDependencies))
    expect(wanted.length).to.be.greaterThan(20)
    expect(wanted.filter((name) => !names.has(name))).to.deep.equal([])
  })
})

describe('JSON files', () => {
  it('are found if an object has a key twice, at any depth', () => {
    const text = '{ "a": { "b": 1, "c": [{ "b": 1, "b": 2 }] }, "d": 1, "a": 2 }'
    expect(doubledKeys({ path: 'x.json', text })).to.deep.equal(['x.json has "a" twice', 'x.json has "b" twice'])
  })

  it('have each key of an object once', () => {
    const files = sourceFiles([''], ['.json'])
    expect(files.map(({ path }) => path)).to.include.members(['package.json', 'package-lock.json', 'tsconfig.json'])
    expect(files.flatMap(doubledKeys)).to.deep.equal([])
  })
})
