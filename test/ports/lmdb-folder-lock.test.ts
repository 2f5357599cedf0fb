/** The lock that keeps a data folder to one process. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'

import { DataFolderInUse, lockDataFolder, takeWithSocket } from '../../ports/lmdb/folder-lock.ts'
import type { Appender } from '../crash/lmdb.processes.ts'
import { startAppender } from '../crash/lmdb.processes.ts'

describe('Data folder lock', () => {
  let folder: string
  let holder: Appender | null = null

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-lock-'))
  })
  afterEach(async () => {
    holder?.child.kill('SIGKILL')
    await holder?.ended
    holder = null
    await rm(folder, { recursive: true })
  })

  const hold = async (environment: Record<string, string> = {}): Promise<Appender> => {
    holder = startAppender({ folder, firstId: 0, inFlight: 1, environment })
    await holder.printed('ready', 1)
    return holder
  }

  it('creates the folder and gives it to one at a time', async () => {
    const inside = join(folder, 'new', 'data')
    const lock = await lockDataFolder(inside)
    expect(await refusal(inside)).to.be.instanceOf(DataFolderInUse)
    await lock.release()
    await lock.release()
    const next = await lockDataFolder(inside)
    await next.release()
  })

  it('refuses while another process has the folder, and names the folder and that process', async () => {
    const { child } = await hold()
    const error = await refusal(folder)
    expect(error).to.be.instanceOf(DataFolderInUse)
    expect(String(error)).to.contain(folder).and.contain(`process ${child.pid}`)
  })

  it('is free again after kill -9 of its holder', async () => {
    const { child, ended } = await hold()
    child.kill('SIGKILL')
    await ended
    const lock = await lockDataFolder(folder)
    await lock.release()
  })

  it('keeps its holder from being locked out by the process ID left in the file', async () => {
    const first = await hold()
    first.child.kill('SIGKILL')
    await first.ended
    const second = await hold()
    expect(second.lines).to.include('ready')
  })

  it('locks by a socket where flock is missing', async function () {
    if (process.platform !== 'linux') this.skip()
    const { child, ended } = await hold({ PATH: '/nonexistent' })
    expect(await takeWithSocket(folder)).to.equal('held')
    child.kill('SIGKILL')
    await ended
    const taken = await takeWithSocket(folder)
    expect(taken).to.have.property('free')
    if (typeof taken === 'object') await taken.free()
  })
})

async function refusal(folder: string): Promise<unknown> {
  try {
    const lock = await lockDataFolder(folder)
    await lock.release()
  } catch (error) {
    return error
  }
  return null
}
