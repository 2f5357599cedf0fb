/** Folders are created, or the reason why not is reported. */

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { makeFolder } from '../../ports/shared/folders.ts'

describe('makeFolder', () => {
  let root: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'whence-folders-'))
  })
  afterEach(() => rmSync(root, { recursive: true }))

  it('makes what is missing above it too', () => {
    makeFolder(join(root, 'a', 'b', 'c'))
    expect(existsSync(join(root, 'a', 'b', 'c'))).to.equal(true)
  })

  it('does not change an existing one', () => {
    makeFolder(root)
    expect(existsSync(root)).to.equal(true)
  })

  it('says that a file is in the way', () => {
    writeFileSync(join(root, 'file'), '')
    expect(() => makeFolder(join(root, 'file', 'a'))).to.throw(/cannot be made \(ENOTDIR\)/)
  })

  it('ends if a file system refuses new names', function () {
    if (process.platform !== 'linux') this.skip()
    expect(() => makeFolder('/proc/whence/data')).to.throw('the folder /proc/whence/data cannot be made (ENOENT)')
  })
})
