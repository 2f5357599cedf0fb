/** What the status of a LogStream shows, and that a healthy stream is not written for every batch. */

import { expect } from 'chai'

import { readShownStream, shownStream, type StreamReport } from '../../../domain/streams/status.ts'

const NOW_MS = Date.parse('2026-11-22T12:00:30Z')
const MINUTE_MS = 60_000
const WELL: StreamReport = {
  organization: 'acme',
  stream: 'default/logs',
  state: 'Delivering',
  behind: 0,
  oldestMs: null,
  deliveredMs: NOW_MS,
  failingSinceMs: null,
  lastError: '',
  dropped: 0,
}
const FAILING: StreamReport = {
  ...WELL,
  state: 'Failing',
  behind: 12_345,
  oldestMs: NOW_MS - 5_000,
  failingSinceMs: NOW_MS - MINUTE_MS,
  lastError: 'http_503',
}

describe('the status of a log stream', () => {
  it('has state, backlog and times in the words of the resource', () => {
    expect(shownStream(FAILING, null, NOW_MS)).to.deep.equal({
      state: 'Failing',
      behindRecords: 12_000,
      oldest: '2026-11-22T12:00:00Z',
      dropped: 0,
      lastDeliveredAt: '2026-11-22T12:00:30Z',
      lastError: 'http_503',
      conditions: [
        {
          type: 'Delivering',
          status: 'False',
          reason: 'Failing',
          lastTransitionTime: '2026-11-22T11:59:30Z',
          message: 'the last batch was not accepted (http_503); it is tried again',
        },
      ],
    })
  })

  it('says whether batches are accepted, and if not, why', () => {
    const told = (report: StreamReport): string => {
      const [{ status, reason }] = shownStream(report, null, NOW_MS).conditions
      return `${status} ${reason}`
    }
    expect(told(WELL)).to.equal('True Delivering')
    expect(told({ ...WELL, state: 'Behind' })).to.equal('True Delivering')
    expect(told({ ...WELL, state: 'Paused' })).to.equal('False Paused')
    expect(told({ ...WELL, state: 'NotVerified' })).to.equal('False NotVerified')
  })

  it('stays the same object for less than ten minutes of batches, and a few records', () => {
    const shown = shownStream({ ...FAILING, state: 'Behind' }, null, NOW_MS)
    const later = { ...FAILING, state: 'Behind', deliveredMs: NOW_MS + 9 * MINUTE_MS, behind: 12_600 } as const
    expect(shownStream(later, shown, NOW_MS + 9 * MINUTE_MS)).to.equal(shown)
    const muchLater = { ...later, deliveredMs: NOW_MS + 10 * MINUTE_MS }
    expect(shownStream(muchLater, shown, NOW_MS)).to.include({ lastDeliveredAt: '2026-11-22T12:10:30Z' })
    expect(shownStream({ ...later, behind: 14_000 }, shown, NOW_MS)).to.include({ behindRecords: 14_000 })
  })

  it('is read back from the object as it was written, beside conditions of others', () => {
    const shown = shownStream(FAILING, null, NOW_MS)
    const ready = { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: 'x' }
    const status = { observedGeneration: 3, ...shown, conditions: [ready, ...shown.conditions] }
    expect(readShownStream(status)).to.deep.equal(shown)
    expect(readShownStream({ conditions: [ready] })).to.equal(null)
  })

  it('keeps the time of its condition while that says the same', () => {
    const shown = shownStream(FAILING, null, NOW_MS)
    const other = { ...FAILING, lastError: 'timeout', failingSinceMs: NOW_MS }
    const [condition] = shownStream(other, shown, NOW_MS).conditions
    expect(condition).to.include({ lastTransitionTime: '2026-11-22T11:59:30Z' })
    expect(condition?.message).to.include('timeout')
  })
})
