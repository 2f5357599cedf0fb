/** What LMDB does when the disk is slow, fails or is full; strace plays the disk. */

import { expect } from 'chai'

import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { deleteFolder, openTestEnvironment, temporaryFolder } from '../contract/lmdb-harness.ts'

import type { Appender } from './lmdb.processes.ts'
import { canTrace, idsOf, startAppender } from './lmdb.processes.ts'

describe('LMDB and the disk', function () {
  // Only ends a test that hangs: under strace each start takes long.
  this.timeout(120_000)
  let folder: string

  before(function () {
    if (!canTrace()) this.skip()
  })
  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(async () => {
    await deleteFolder(folder)
  })

  it('acknowledges nothing before the sync', async () => {
    const delayMs = 300
    const inject = `fdatasync:delay_enter=${delayMs * 1_000}`
    const appender = startAppender({ folder, firstId: 0, inFlight: 4, count: 8, inject })
    await appender.ended
    const tookMs = appender.lines.filter((line) => line.startsWith('ack ')).map((line) => Number(line.split(' ')[2]))
    expect(tookMs.length).to.equal(8)
    expect(Math.min(...tookMs)).to.be.at.least(delayMs)
  })

  it('refuses everything after a failed sync, reports so once and never retries', async () => {
    const appender = startAppender({
      folder,
      firstId: 0,
      inFlight: 4,
      count: 200,
      inject: 'fdatasync:error=EIO:when=8',
    })
    await endsOrderly(appender)
    const fatalAt = appender.lines.findIndex((line) => line.startsWith('fatal '))
    expect(appender.lines.filter((line) => line.startsWith('fatal ')).length).to.equal(1)
    expect(idsOf(appender.lines.slice(fatalAt), 'ack')).to.deep.equal([])
    expect(idsOf(appender.lines.slice(fatalAt), 'refused').length).to.be.greaterThan(100)
    await expectStored(folder, idsOf(appender.lines, 'ack'))
  })

  it('acknowledges nothing that a failed write has lost', async () => {
    // The range covers data pages and the meta page of two transactions. lmdb may crash when it reports the error.
    for (let write = 14; write < 20; write++) {
      const at = `${folder}/${write}`
      const inject = `pwrite64:error=${write % 2 === 0 ? 'EIO' : 'ENOSPC'}:when=${write}`
      const appender = startAppender({ folder: at, firstId: 0, inFlight: 3, count: 40, inject })
      const { status } = await appender.ended
      const refused = idsOf(appender.lines, 'refused')
      expect(status === 0 ? refused : ['crashed'], `write ${write}`).to.not.be.empty
      await expectStored(at, idsOf(appender.lines, 'ack'))
    }
  })
})

async function endsOrderly(appender: Appender): Promise<void> {
  const { status, stderr } = await appender.ended
  const complaints = appender.lines.filter((line) => line.startsWith('unhandled '))
  expect({ status, complaints, last: appender.lines.at(-1) }, stderr).to.deep.equal({
    status: 0,
    complaints: [],
    last: 'closed',
  })
}

async function expectStored(folder: string, acked: readonly number[]): Promise<void> {
  const environment = await openTestEnvironment(folder, Date.now)
  const log = await lmdbEventLog(environment)
  const keys = (await log.read('visits', 0, 10_000)).map(({ key }) => Number(key.replace('acme:', '')))
  await log.close()
  await environment.close()
  const wrong = acked.filter((id) => keys.filter((key) => key === id).length !== 1)
  expect(wrong).to.deep.equal([])
}
