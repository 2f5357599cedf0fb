/** Visits that were answered in the moment before a kill can be activated after the next start. */

import { expect } from 'chai'
import { recallVisits } from '../../delivery/recovery/recall-visits.ts'
import { createRecordReader } from '../../delivery/record-reader.ts'
import { encodeRecord } from '../../domain/records.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { lmdbHotState } from '../../ports/hot-state/lmdb/lmdb.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { deleteFolder, openTestEnvironment, temporaryFolder } from '../contract/lmdb-harness.ts'

const READ = createRecordReader({ logger: SILENT_LOGGER }, 'recall')

const visitIdOf = (issuedAtMs: number, number: number): string =>
  `01${issuedAtMs.toString(16).padStart(12, '0')}${number.toString(16).padStart(18, '0')}`

describe('recalling visits at the start', () => {
  it('restores the visits of the last moments, with what they replace, and changes no known state', async () => {
    const folder = await temporaryFolder()
    const nowMs = Date.now()
    const environment = await openTestEnvironment(folder, () => nowMs)
    const eventLog = await lmdbEventLog(environment)
    const hotState = await lmdbHotState(environment)
    const replaced = { organization: 'acme', website: 'site', visitId: visitIdOf(nowMs - 9, 9), issuedAtMs: nowMs - 9 }
    const visits = Array.from({ length: 1_500 }, (_, number) => ({
      organization: 'acme',
      website: 'site',
      visitId: visitIdOf(nowMs, number),
      issuedAtMs: nowMs,
      previousVisitId: number === 1_499 ? replaced.visitId : null,
      traffic: {},
      visitor: {},
    }))
    const entries = visits.map((visit) => ({
      key: visit.visitId,
      value: encodeRecord({ v: 1, kind: 'visit', visit } as never),
    }))
    await eventLog.append('visits', [...entries, { key: 'unreadable', value: '{' }])
    const first = visits[0]!
    const last = visits[1_499]!
    await hotState.learn({ ...first, previous: null }, 'active')

    await recallVisits({ eventLog, hotState, read: READ })
    expect(await hotState.receiptStates([first, visits[700]!])).to.deep.equal(['active', 'issued'])
    expect(await hotState.activate(last)).to.deep.equal({ kind: 'activated', revoked: replaced })
    await eventLog.close()
    await hotState.close()
    await environment.close()
    await deleteFolder(folder)
  })
})
