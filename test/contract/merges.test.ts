/** The engine merges what has piled up within the memory that it has: a merge that does not fit begins again for ever. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect } from 'chai'

import { deleteFolder, temporaryFolder } from './lmdb-harness.ts'

const CHILD = fileURLToPath(new URL('./merges.child.ts', import.meta.url))

interface Merged {
  readonly inserted: number
  readonly parts: readonly unknown[]
}

describe('Merges', function () {
  this.timeout(120_000)

  it('of many installs make their projections anew in little memory', async () => {
    const folder = await temporaryFolder()
    try {
      // The engine counts what its whole process holds, and this one holds what other tests left.
      const { stdout } = await promisify(execFile)(process.execPath, [CHILD, folder])
      const { inserted, parts } = JSON.parse(stdout) as Merged
      expect(parts).to.deep.equal([{ rows: inserted, projections: 2 }])
    } finally {
      await deleteFolder(folder)
    }
  })
})
