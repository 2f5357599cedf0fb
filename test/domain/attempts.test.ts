import { expect } from 'chai'
import fc from 'fast-check'

import {
  backoffMs,
  holdMs,
  jobAfter,
  JITTER,
  leavesTierAtMs,
  MAX_ATTEMPTS,
  nextStep,
  retryAfterMs,
  tierFor,
  type AttemptResult,
} from '../../domain/delivery/attempts.ts'
import { TIER_NAMES, TIERS, type Job } from '../../domain/records.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, NOON_MS, visitOf } from '../../fixtures/delivery/builders.ts'

const SECOND_MS = 1_000

const RETRY: AttemptResult = { kind: 'retry', retryAfter: null, isUnclear: false }
const UNCLEAR: AttemptResult = { kind: 'retry', retryAfter: null, isUnclear: true }

function jobWith(overrides: Partial<Job> = {}): Job {
  return {
    v: 1,
    catalogNumber: 1,
    jobId: '0'.repeat(32),
    website: 'acme-dev',
    organization: 'acme',
    destination: 'acme-ga4',
    provider: 'ga4',
    install: {
      eventId: 'event-0001',
      eventType: 'install_completed',
      receivedAtMs: NOON_MS,
      installPath: 'cli',
      platform: 'linux',
      arch: '',
      gpc: false,
      selectionPolicy: 'latest_visit',
      kind: 'install',
    },
    visit: visitOf(),
    sessionMode: 'original_session_window',
    createdAtMs: NOON_MS,
    deadlineAtMs: NOON_MS + 71 * HOUR_MS,
    attempts: 0,
    dueAtMs: NOON_MS,
    unclearSinceMs: null,
    retentionDays: 395,
    logRetentionDays: 30,
    ...overrides,
  }
}

/** Lets every attempt end the same way on its own clock; returns when the attempts were made, and how it ended. */
function liveThrough(
  start: Job,
  result: AttemptResult,
  { random, dedupeMs }: { random: number; dedupeMs: number | null },
) {
  const attemptsAtMs: number[] = []
  let job = start
  let nowMs = start.dueAtMs
  for (;;) {
    attemptsAtMs.push(nowMs - start.dueAtMs)
    job = jobAfter(job, result, nowMs)
    const step = nextStep(job, result, { nowMs, random, dedupeMs })
    if (step.kind !== 'retry') return { attemptsAtMs, step }
    nowMs = step.dueAtMs
  }
}

describe('the schedule of attempts', () => {
  const S = SECOND_MS
  const WAITS_S = [5, 30, 300, 1_800, 7_200, 21_600, 86_400, 86_400, 86_400]

  it('waits 0, 5 s, 30 s, 5 min, 30 min, 2 h, 6 h and then a day each time, to the second', () => {
    const job = jobWith({ deadlineAtMs: NOON_MS + 5 * DAY_MS })
    const { attemptsAtMs } = liveThrough(job, RETRY, { random: 0, dedupeMs: null })
    const expected = WAITS_S.reduce<number[]>((times, wait) => [...times, (times.at(-1) ?? 0) + wait * S], [0])
    expect(attemptsAtMs.slice(0, 10)).to.deep.equal(expected)
  })

  it('tries GA4 a last time a minute before the deadline and then ends as expired', () => {
    const { attemptsAtMs, step } = liveThrough(jobWith(), RETRY, { random: 0, dedupeMs: null })
    expect(attemptsAtMs.map((atMs) => atMs / S)).to.deep.equal([
      0,
      5,
      35,
      335,
      2_135,
      9_335,
      30_935,
      117_335,
      203_735,
      71 * 3_600 - 60,
    ])
    expect(step).to.deep.equal({ kind: 'expired', reason: 'deadline_passed' })
  })

  it('stretches each wait by at most a fifth and never shortens one', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 1, max: 30 }),
        (random, attempts) => {
          const job = jobWith({ attempts, deadlineAtMs: NOON_MS + 400 * DAY_MS })
          const step = nextStep(job, RETRY, { nowMs: NOON_MS, random, dedupeMs: null })
          const waitMs = step.kind === 'retry' ? step.dueAtMs - NOON_MS : Number.NaN
          expect(waitMs).to.be.within(backoffMs(attempts), Math.ceil(backoffMs(attempts) * (1 + JITTER)))
        },
      ),
    )
  })

  it('makes no attempt at or after the deadline, whatever chance says', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 1, max: 80 * 3_600 }),
        (random, lifeS) => {
          const job = jobWith({ deadlineAtMs: NOON_MS + lifeS * S })
          const { attemptsAtMs, step } = liveThrough(job, RETRY, { random, dedupeMs: null })
          expect(Math.max(...attemptsAtMs)).to.be.lessThan(lifeS * S)
          expect(step.kind).to.equal('expired')
        },
      ),
    )
  })

  it('gives up after the most attempts, as failed, if no deadline ends it before', () => {
    const job = jobWith({ deadlineAtMs: NOON_MS + 1_000 * DAY_MS })
    const { attemptsAtMs, step } = liveThrough(job, RETRY, { random: 0, dedupeMs: null })
    expect(attemptsAtMs).to.have.length(MAX_ATTEMPTS)
    expect(step).to.deep.equal({ kind: 'failed', reason: 'retries_ran_out' })
  })

  it('ends at once when delivered or refused', () => {
    const context = { nowMs: NOON_MS, random: 0, dedupeMs: null }
    expect(nextStep(jobWith({ attempts: 1 }), { ...RETRY, kind: 'delivered' }, context)).to.deep.equal({ kind: 'done' })
    expect(nextStep(jobWith({ attempts: 1 }), { ...RETRY, kind: 'refused' }, context)).to.deep.equal({
      kind: 'failed',
      reason: 'refused',
    })
  })
})

describe('an attempt without a clear answer', () => {
  it('is repeated only while the provider still recognises the ID', () => {
    const job = jobWith({ deadlineAtMs: NOON_MS + 7 * DAY_MS })
    const { attemptsAtMs, step } = liveThrough(job, UNCLEAR, { random: 0, dedupeMs: 48 * HOUR_MS })
    expect(Math.max(...attemptsAtMs)).to.be.at.most(48 * HOUR_MS)
    expect(step).to.deep.equal({ kind: 'failed', reason: 'unclear_too_long' })
  })

  it('does not limit a provider that never recognises a repeated ID', () => {
    const { step } = liveThrough(jobWith(), UNCLEAR, { random: 0, dedupeMs: null })
    expect(step.kind).to.equal('expired')
  })

  it('counts from the first of them, also when later ones end clearly', () => {
    const first = jobAfter(jobWith(), UNCLEAR, NOON_MS)
    const second = jobAfter(first, RETRY, NOON_MS + HOUR_MS)
    expect([first.unclearSinceMs, second.unclearSinceMs]).to.deep.equal([NOON_MS, NOON_MS])
    expect(second.attempts).to.equal(2)
  })
})

describe('Retry-After', () => {
  const baseMs = 30 * SECOND_MS
  const read = (header: string | null): number | null => retryAfterMs(header, { baseMs, nowMs: NOON_MS })

  it('is accepted in seconds and as an HTTP date', () => {
    expect(read('120')).to.equal(120 * SECOND_MS)
    expect(read(new Date(NOON_MS + 2 * HOUR_MS).toUTCString())).to.equal(2 * HOUR_MS)
  })

  it('is kept between the wait of the schedule and a day', () => {
    expect(read('1')).to.equal(baseMs)
    expect(read('100000')).to.equal(DAY_MS)
    expect(read(new Date(NOON_MS + 3 * DAY_MS).toUTCString())).to.equal(DAY_MS)
  })

  const GARBAGE = [
    '',
    ' ',
    '0',
    '-5',
    '+5',
    '1.5',
    '1e9',
    '0x10',
    '١٢',
    'soon',
    '5 s',
    '5,5',
    'NaN',
    'Infinity',
    '999999999',
    '99999999',
  ]
  for (const header of [
    null,
    ...GARBAGE,
    '2026-11-20T13:00:00Z',
    'Fri, 20 Nov 2026 11:00:00 GMT',
    'Fri, 20 Nov 2026 25:00:00 GMT',
  ]) {
    it(`means nothing as ${JSON.stringify(header)}`, () => {
      expect(read(header)).to.equal(null)
    })
  }

  it('never makes a wait shorter than the schedule or longer than a day and its jitter, for 10,000 values', () => {
    const header = fc.oneof(
      fc.string(),
      fc.integer().map(String),
      fc.double().map(String),
      fc.nat({ max: 400 * 86_400 }).map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
      fc.integer({ min: -DAY_MS, max: 3 * DAY_MS }).map((ms) => new Date(NOON_MS + ms).toUTCString()),
    )
    const attempts = fc.integer({ min: 1, max: 12 })
    fc.assert(
      fc.property(
        header,
        attempts,
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (retryAfter, made, random) => {
          const job = jobWith({ attempts: made, deadlineAtMs: NOON_MS + 100 * DAY_MS })
          const step = nextStep(
            job,
            { kind: 'throttled', retryAfter, isUnclear: false },
            { nowMs: NOON_MS, random, dedupeMs: null },
          )
          if (step.kind !== 'retry') throw new Error('no retry')
          expect(step.dueAtMs - NOON_MS).to.be.within(backoffMs(made), Math.ceil(DAY_MS * (1 + JITTER)))
          expect(step.reason).to.equal('throttled')
        },
      ),
      { numRuns: 10_000 },
    )
  })

  it('is not shortened for a last attempt before the deadline', () => {
    const job = jobWith({ attempts: 1, deadlineAtMs: NOON_MS + 2 * HOUR_MS })
    const stepFor = (retryAfter: string) =>
      nextStep(
        job,
        { kind: 'throttled', retryAfter, isUnclear: false },
        { nowMs: NOON_MS, random: 0.99, dedupeMs: null },
      )
    expect(stepFor(String(2 * 3_600))).to.deep.equal({ kind: 'expired', reason: 'deadline_passed' })
    expect(stepFor(String(2 * 3_600 - 120))).to.deep.include({
      kind: 'retry',
      dueAtMs: NOON_MS + 2 * HOUR_MS - MINUTE_MS,
    })
  })

  it('puts an attempt off to the second it names', () => {
    const job = jobWith({ attempts: 1 })
    const step = nextStep(
      job,
      { kind: 'throttled', retryAfter: '90', isUnclear: false },
      { nowMs: NOON_MS, random: 0, dedupeMs: null },
    )
    expect(step).to.deep.equal({ kind: 'retry', reason: 'throttled', dueAtMs: NOON_MS + 90 * SECOND_MS })
  })
})

describe('the tiers', () => {
  it('put a wait into the longest tier that is not longer than the wait', () => {
    expect(tierFor(0)).to.equal('5s')
    expect(tierFor(29_999)).to.equal('5s')
    expect(tierFor(30_000)).to.equal('30s')
    expect(tierFor(3 * HOUR_MS)).to.equal('2h')
    expect(tierFor(40 * DAY_MS)).to.equal('24h')
  })

  it('end any wait not before it is due and at most six seconds late, in a bounded number of tiers', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3 * DAY_MS }), (waitMs) => {
        const dueAtMs = NOON_MS + waitMs
        let nowMs = NOON_MS
        let rooms = 0
        do {
          const tier = tierFor(dueAtMs - nowMs)
          nowMs = Math.max(nowMs, leavesTierAtMs({ dueAtMs, enteredAtMs: nowMs, tier }))
          rooms += 1
        } while (nowMs < dueAtMs)
        expect(nowMs).to.equal(dueAtMs)
        expect(rooms).to.be.at.most(30)
      }),
    )
  })

  it("never let the first entry of a tier delay another by more than a fifth of the tier's time", () => {
    for (const tier of TIER_NAMES) {
      const tierMs = TIERS[tier] * SECOND_MS
      const head = leavesTierAtMs({ dueAtMs: NOON_MS + 40 * DAY_MS, enteredAtMs: NOON_MS, tier })
      expect(head - NOON_MS).to.equal(Math.round(tierMs * (1 + JITTER)))
    }
  })

  it('hold a job about as long as it has waited already, from 5 s to 30 min', () => {
    expect([0, 10_000, MINUTE_MS, HOUR_MS, 3 * DAY_MS].map(holdMs)).to.deep.equal([
      5_000,
      5_000,
      30_000,
      30 * MINUTE_MS,
      30 * MINUTE_MS,
    ])
  })
})

describe('a delivery that was accepted and is judged later', () => {
  const ACCEPTED: AttemptResult = { kind: 'accepted', retryAfter: null, isUnclear: false, reference: 'r-1' }
  const UNDECIDED: AttemptResult = { kind: 'undecided', retryAfter: null, isUnclear: false }
  const context = { random: 0, dedupeMs: null }
  const taken = (overrides: Partial<Job> = {}): Job => jobAfter(jobWith(overrides), ACCEPTED, NOON_MS)

  it('keeps its reference, and is polled half an hour later', () => {
    const job = taken()
    expect(job).to.deep.include({ attempts: 1, accepted: { reference: 'r-1', atMs: NOON_MS } })
    const step = { kind: 'retry', reason: 'awaiting_verdict', dueAtMs: NOON_MS + 30 * MINUTE_MS }
    expect(nextStep(job, ACCEPTED, { ...context, nowMs: NOON_MS })).to.deep.equal(step)
  })

  it('is polled ever more rarely, for three days, and then counts as delivered', () => {
    const hours: number[] = []
    let nowMs = NOON_MS
    for (;;) {
      const step = nextStep(taken(), UNDECIDED, { ...context, nowMs })
      if (step.kind !== 'retry') {
        expect(step).to.deep.equal({ kind: 'done' })
        break
      }
      nowMs = step.dueAtMs
      hours.push((nowMs - NOON_MS) / HOUR_MS)
    }
    expect(hours).to.deep.equal([0.5, 1, 2, 4, 8, 16, 24, 48, 72])
  })

  it('is not polled twice within a minute because a poll was a little early', () => {
    const step = (waitMs: number): unknown => nextStep(taken(), UNDECIDED, { ...context, nowMs: NOON_MS + waitMs })
    const retryAt = (waitMs: number): unknown => ({
      kind: 'retry',
      reason: 'awaiting_verdict',
      dueAtMs: NOON_MS + waitMs,
    })
    expect(step(29 * MINUTE_MS)).to.deep.equal(retryAt(HOUR_MS))
    expect(step(29 * MINUTE_MS - 1)).to.deep.equal(retryAt(30 * MINUTE_MS))
  })

  it('neither expires nor runs out of attempts, as it arrived in time', () => {
    const job = taken({ attempts: MAX_ATTEMPTS, deadlineAtMs: NOON_MS + 1 })
    for (const kind of ['retry', 'throttled', 'credentials', 'undecided'] as const) {
      const step = nextStep(job, { ...UNDECIDED, kind }, { ...context, nowMs: NOON_MS + HOUR_MS })
      expect(step.kind).to.equal('retry')
    }
  })

  it('stays clear, however unclear the answer to a poll is', () => {
    expect(jobAfter(taken(), UNCLEAR, NOON_MS).unclearSinceMs).to.equal(null)
  })

  it('goes back to be sent if it came too early, six hours later, or to be replayed if it failed', () => {
    const again = jobAfter(taken(), { ...UNDECIDED, kind: 'resend' }, NOON_MS)
    expect(again).not.to.have.property('accepted')
    const step = nextStep(again, { ...UNDECIDED, kind: 'resend' }, { ...context, nowMs: NOON_MS })
    expect(step).to.deep.equal({ kind: 'retry', reason: 'attempt_failed', dueAtMs: NOON_MS + 6 * HOUR_MS })
    expect(jobAfter(taken(), { ...UNDECIDED, kind: 'refused' }, NOON_MS)).not.to.have.property('accepted')
  })
})
