/** When a log stream retries, which state it reports, and the commands of people. */

import { expect } from 'chai'

import { commandEntry, readCommand, type StreamCommand } from '../../../domain/streams/commands.ts'
import { outcomeOf, pauseAfter, streamStateOf } from '../../../domain/streams/pace.ts'

const NOW_MS = Date.UTC(2026, 10, 24, 6)
const reply = (status: number, failure = '', headers = {}) => outcomeOf({ status, headers, failure }, NOW_MS)

describe('the pace of a log stream', () => {
  it('counts any 2xx as accepted, even if its body breaks off, and nothing else', () => {
    for (const status of [200, 202, 204]) expect(reply(status).isTaken, String(status)).to.equal(true)
    expect(reply(200, 'too_large').isTaken).to.equal(true)
    for (const status of [0, 301, 307, 400, 410, 500])
      expect(reply(status, 'x').isTaken, String(status)).to.equal(false)
  })

  it('grows to an hour and stays there, within a fifth', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 60].map((failures) => pauseAfter(failures, reply(503), 0.5))
    expect(pauses).to.deep.equal([5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 3_600_000])
    expect(pauseAfter(1, reply(503), 0)).to.equal(4_000)
    expect(pauseAfter(1, reply(503), 0.999)).to.be.within(5_900, 6_000)
  })

  it('retries once an hour after a permanent refusal', () => {
    for (const status of [401, 403, 404, 410]) expect(pauseAfter(1, reply(status), 0.5)).to.equal(3_600_000)
    expect(pauseAfter(1, reply(0, 'address_refused'), 0.5)).to.equal(3_600_000)
  })

  it('waits as long as it is asked to, an hour at most', () => {
    expect(pauseAfter(1, reply(429, '', { 'retry-after': '90' }), 0.5)).to.equal(90_000)
    expect(pauseAfter(1, reply(503, '', { 'retry-after': '999999' }), 0.5)).to.equal(3_600_000)
    expect(pauseAfter(1, reply(503, '', { 'retry-after': 'soon' }), 0.5)).to.equal(5_000)
    const at = (laterMs: number) => ({ 'retry-after': new Date(NOW_MS + laterMs).toUTCString() })
    expect(pauseAfter(1, reply(503, '', at(90_000)), 0.5)).to.equal(90_000)
    expect(pauseAfter(1, reply(503, '', at(-90_000)), 0.5)).to.equal(5_000)
  })

  it('knows a refusal for the size: by its status, or by the words of S3, and no other 400', () => {
    const refusals = ['EntityTooLarge', 'MaxMessageLengthExceeded', 'EntityTooSmall', ''].map((refusal) =>
      outcomeOf({ status: 400, headers: {}, failure: '' }, NOW_MS, refusal),
    )
    expect(refusals.map(({ isTooLarge, error }) => [isTooLarge, error])).to.deep.equal([
      [true, 'http_400 EntityTooLarge'],
      [true, 'http_400 MaxMessageLengthExceeded'],
      [false, 'http_400 EntityTooSmall'],
      [false, 'http_400'],
    ])
    expect([413, 400, 503].map((status) => reply(status).isTooLarge)).to.deep.equal([true, false, false])
  })

  it('has one state at a time', () => {
    const standing = { isPaused: false, isProven: true, oldestMs: null, nowMs: 100_000_000 }
    expect(streamStateOf({ failures: 0 }, standing)).to.equal('Delivering')
    expect(streamStateOf({ failures: 0 }, { ...standing, oldestMs: 1 })).to.equal('Behind')
    expect(streamStateOf({ failures: 2 }, { ...standing, oldestMs: 1 })).to.equal('Failing')
    expect(streamStateOf({ failures: 2 }, { ...standing, isProven: false })).to.equal('NotVerified')
    expect(streamStateOf({ failures: 2 }, { ...standing, isPaused: true })).to.equal('Paused')
  })
})

describe('a command to a log stream', () => {
  const orders: readonly StreamCommand[] = [
    { kind: 'skip' },
    { kind: 'test' },
    { kind: 'resend', sinceMs: 1_795_000_000_123 },
  ]
  for (const order of orders)
    it(`${order.kind} is read from its entry of the activity`, () =>
      expect(readCommand(commandEntry(order, 'p_1'))).to.deep.equal(order))

  it('is in no other entry', () => {
    expect(readCommand({ type: 'stream_failing', message: 'Records since 2026-11-22T00:00:00.000Z are …' })).to.equal(
      null,
    )
    expect(readCommand({ type: 'stream_resend', message: 'Records since never are sent again.' })).to.equal(null)
  })
})
