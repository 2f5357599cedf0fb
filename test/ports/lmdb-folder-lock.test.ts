/** The lock that keeps a data folder to one process. */

import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'

import { DataFolderInUse, lockDataFolder } from '../../ports/shared/lmdb/folder-lock.ts'
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
    expect(await refusal(folder)).to.be.instanceOf(DataFolderInUse)
    await lock.release()
  })

  it('keeps its holder from being locked out by the process ID left in the file', async () => {
    const first = await hold()
    first.child.kill('SIGKILL')
    await first.ended
    const second = await hold()
    expect(second.lines).to.include('ready')
  })

  it('locks the file too, which other network namespaces see', async function () {
    const tryFlock = (): number | null => spawnSync('flock', ['-n', join(folder, 'whence.lock'), 'true']).status
    const lock = await lockDataFolder(folder)
    const whileHeld = tryFlock()
    await lock.release()
    if (whileHeld === null && process.env['CI'] !== 'true') this.skip()
    expect(whileHeld).to.equal(1)
    expect(tryFlock()).to.equal(0)
  })

  it('locks if flock is missing, against processes that have it and that lack it', async function () {
    if (process.platform !== 'linux') this.skip()
    const withoutFlock = { PATH: '/nonexistent' }
    const { child, ended } = await hold(withoutFlock)
    expect(await refusal(folder)).to.be.instanceOf(DataFolderInUse)
    child.kill('SIGKILL')
    await ended
    const lock = await lockDataFolder(folder)
    const late = startAppender({ folder, firstId: 0, inFlight: 1, environment: withoutFlock })
    const { stderr } = await late.ended
    expect(late.lines).to.deep.equal([])
    expect(stderr).to.contain(`in use by process ${process.pid}`)
    await lock.release()
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
