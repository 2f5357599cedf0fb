/** What is installed is what was looked at: each package of the lockfile by its digest. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'

import { ROOT } from './source-files.ts'

interface LockedPackage {
  readonly version: string
  readonly integrity?: string
  readonly optional?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
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

describe('the lockfile', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>
  }
  const locked = Object.entries(packages).filter(([path]) => path !== '')

  it('holds a digest of every package but the listed binaries of other platforms', () => {
    expect(locked.length).to.be.greaterThan(300)
    const without = locked.filter(([, { integrity = '' }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity))
    expect(without.map(([path]) => path.replace(/^.*node_modules\//, ''))).to.have.members(WITHOUT_DIGEST)
    for (const [path, { optional, os = [], cpu = [] }] of without) {
      expect(optional, path).to.equal(true)
      expect(os.includes('linux') && cpu.includes('x64'), path).to.equal(false)
    }
  })
})
