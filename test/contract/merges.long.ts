/** The engine merges what has piled up within the memory that it has: a merge that does not fit begins again for ever. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect } from 'chai'

import { deleteFolder, temporaryFolder } from './lmdb-harness.ts'

interface Merged {
  readonly inserted: number
  readonly parts: readonly unknown[]
}

describe('Merges', function () {
  this.timeout(120_000)

  /** The engine counts what its whole process holds, and this one holds what other tests left. */
  const mergedBy = async (child: string): Promise<Merged> => {
    const folder = await temporaryFolder()
    try {
      const file = fileURLToPath(new URL(child, import.meta.url))
      const { stdout } = await promisify(execFile)(process.execPath, [file, folder])
      return JSON.parse(stdout) as Merged
    } finally {
      await deleteFolder(folder)
    }
  }

  it('of many installs make their projections anew in little memory', async () => {
    const { inserted, parts } = await mergedBy('./merges.child.ts')
    expect(parts).to.deep.equal([{ rows: inserted, projections: 2 }])
  })

  it('of figures of many hours, counted twice, need no more than the embedded engine has', async () => {
    const { inserted, parts } = await mergedBy('./website-hours.child.ts')
    expect(parts).to.deep.equal([{ rows: inserted }])
  })
})
