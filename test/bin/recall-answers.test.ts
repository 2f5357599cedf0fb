/** If a kill leaves a record without its answer, that is repaired before the next request: the first record's answer counts. */

import { expect } from 'chai'
import { recallAnswers } from '../../delivery/recovery/recall-answers.ts'
import { createRecordReader } from '../../delivery/record-reader.ts'
import { encodeRecord, recordKey } from '../../domain/records.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import { lmdbHotState } from '../../ports/hot-state/lmdb/lmdb.ts'
import type { LmdbEnvironment } from '../../ports/shared/lmdb/environment.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { deleteFolder, openTestEnvironment, temporaryFolder } from '../contract/lmdb-harness.ts'

const READ = createRecordReader({ logger: SILENT_LOGGER }, 'recall')

describe('recalling answers at the start', () => {
  let folder: string
  let nowMs: number
  let environment: LmdbEnvironment
  let eventLog: EventLog
  let hotState: HotState

  beforeEach(async () => {
    folder = await temporaryFolder()
    nowMs = Date.now()
    environment = await openTestEnvironment(folder, () => nowMs)
    eventLog = await lmdbEventLog(environment)
    hotState = await lmdbHotState(environment)
  })
  afterEach(async () => {
    await eventLog.close()
    await hotState.close()
    await environment.close()
    await deleteFolder(folder)
  })

  const visit = { visitId: '00'.repeat(16), visitIssuedAtMs: Date.now() }
  const append = (eventId: string, resolution: string, more: object = {}) => {
    const answer = { ok: true, event_id: eventId, duplicate: false, resolution }
    const install = {
      organization: 'acme',
      website: 'site',
      eventId,
      installationId: `of-${eventId}`,
      visitId: null,
      gpc: false,
      answer,
      eventType: 'first_run',
      receivedAtMs: nowMs,
      deliveries: [],
      ...more,
    }
    const record = { v: 1, kind: 'install', install, request: { body: '' }, retentionDays: 395 }
    const value = encodeRecord(record as never)
    return eventLog.append('installs', [{ key: recordKey({ organization: 'acme', website: 'site' }, eventId), value }])
  }
  const ask = (eventId: string, installationId = `of-${eventId}`) =>
    hotState.claimInstall({ organization: 'acme', website: 'site', eventId, installationId, owner: 'test' })

  it('remembers the answer of a record that has none', async () => {
    await append('event-1', 'matched')
    expect(await recallAnswers({ eventLog, hotState, read: READ })).to.equal(1)
    const outcome = await ask('event-1')
    expect(outcome.kind === 'settled' && JSON.parse(outcome.answer)).to.include({ resolution: 'matched' })
  })

  it('remembers the visit of the installation too', async () => {
    await append('event-1', 'matched', visit)
    await recallAnswers({ eventLog, hotState, read: READ })
    const outcome = await ask('event-2', 'of-event-1')
    expect(outcome.kind === 'first' && outcome.installation).to.deep.equal({
      kind: 'matched',
      visit: {
        organization: 'acme',
        website: 'site',
        visitId: visit.visitId,
        issuedAtMs: visit.visitIssuedAtMs,
        gpc: false,
      },
    })
  })

  it('keeps the first of two records, and what was settled', async () => {
    await append('event-1', 'matched')
    await append('event-1', 'unmatched')
    await append('event-2', 'unmatched')
    const claim = {
      organization: 'acme',
      website: 'site',
      eventId: 'event-2',
      installationId: 'of-event-2',
      owner: 'test',
    }
    await hotState.claimInstall(claim)
    await hotState.settleInstall({ ...claim, answer: '"told"', receivedAtMs: 0, matched: null })
    expect(await recallAnswers({ eventLog, hotState, read: READ })).to.equal(1)
    const first = await ask('event-1')
    expect(first.kind === 'settled' && JSON.parse(first.answer)).to.include({ resolution: 'matched' })
    expect(await ask('event-2')).to.deep.equal({ kind: 'settled', answer: '"told"' })
  })

  it('reads nothing older than a claim can be, and finds the end of a long log', async () => {
    await append('event-old', 'matched')
    nowMs += 60_000
    for (let at = 0; at < 2_500; at += 500) {
      await Promise.all(Array.from({ length: 500 }, (_, index) => append(`event-${at + index}`, 'matched')))
    }
    expect(await recallAnswers({ eventLog, hotState, read: READ })).to.equal(2_500)
    expect((await ask('event-old')).kind).to.equal('first')
    expect((await ask('event-2499')).kind).to.equal('settled')
    expect(await recallAnswers({ eventLog, hotState, read: READ })).to.equal(0)
  })

  it('skips an empty log and an unreadable entry', async () => {
    expect(await recallAnswers({ eventLog, hotState, read: READ })).to.equal(0)
    await eventLog.append('installs', [{ key: 'site', value: 'not a record' }])
    await append('event-1', 'matched')
    expect(await recallAnswers({ eventLog, hotState, read: READ })).to.equal(1)
  })
})
