/** Row versions: which of two rows with one key a reader sees. */

import { expect } from 'chai'
import * as fc from 'fast-check'

import { addFactRows } from '../../delivery/facts-writer/fact-rows.ts'
import { firstRecordWins, firstWins, latestWins } from '../../delivery/facts-writer/row-versions.ts'
import { DELIVERY_STATUSES } from '../../domain/model.ts'
import type { ReplayRecord } from '../../domain/records.ts'
import type { FactRow } from '../../ports/facts/facts.ts'
import {
  activationRecord,
  activityRecord,
  attempt,
  decisionRecord,
  deliveryRecord,
  handoffRecord,
  installRecord,
  requestRecord,
  SAMPLE_MS,
  visit,
  visitId,
  visitRecord,
  webhookAttemptRecord,
} from '../contract/fact-samples.ts'

const PLACE = { topic: 'activations', partition: 3, offset: 77 }
const time = fc.integer({ min: 0, max: 4_102_444_799_999 })
const offset = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
const status = fc.constantFrom(...DELIVERY_STATUSES)

describe('row versions', () => {
  it('are whole numbers that the engine and JavaScript hold exactly', () => {
    fc.assert(
      fc.property(time, offset, status, (atMs, at, state) => {
        for (const version of [firstWins(atMs, at), latestWins(state, atMs, at)]) {
          expect(version).to.satisfy(Number.isSafeInteger)
          expect(version).to.be.at.least(0)
        }
      }),
    )
  })

  it('of first ones go from 0 to 2^51 - 1, so that a replayed row has the version of the one that is stored', () => {
    expect(firstWins(0, 0)).to.equal(2 ** 51 - 1)
    expect(firstWins(2 ** 42 - 1, 511)).to.equal(0)
    expect(firstWins(2 ** 42 - 1, 512)).to.equal(511)
  })

  it('let what came earlier win among first ones, whatever the offsets', () => {
    fc.assert(
      fc.property(time, time, offset, offset, (one, other, a, b) => {
        fc.pre(one < other)
        expect(firstWins(one, a)).to.be.greaterThan(firstWins(other, b))
      }),
    )
  })

  it('let the entry further ahead on the log win among first ones of one time, and the later one among states', () => {
    const inSpan = fc.integer({ min: 0, max: 511 })
    fc.assert(
      fc.property(time, inSpan, inSpan, status, (atMs, a, b, state) => {
        fc.pre(a < b)
        expect(firstWins(atMs, a)).to.be.greaterThan(firstWins(atMs, b))
        expect(latestWins(state, atMs, a)).to.be.lessThan(latestWins(state, atMs, b))
      }),
    )
  })

  it('of decisions let the record that was received first win, then the one further ahead on the log', () => {
    const inSpan = fc.integer({ min: 0, max: 2 ** 22 - 1 })
    fc.assert(
      fc.property(time, time, offset, offset, (one, other, a, b) => {
        fc.pre(one < other)
        expect(firstRecordWins(one, a) > firstRecordWins(other, b)).to.equal(true)
      }),
    )
    fc.assert(
      fc.property(time, inSpan, inSpan, (atMs, a, b) => {
        fc.pre(a < b)
        expect(firstRecordWins(atMs, a) > firstRecordWins(atMs, b)).to.equal(true)
      }),
    )
    expect(firstRecordWins(0, 0)).to.equal(2n ** 64n - 1n)
    expect(firstRecordWins(2 ** 42 - 1, 2 ** 22 - 1)).to.equal(0n)
  })

  it('never let an end that is final be undone, and let delivered outrank all', () => {
    fc.assert(
      fc.property(time, time, offset, offset, (one, other, a, b) => {
        const delivered = latestWins('delivered', one, a)
        for (const state of DELIVERY_STATUSES.filter((known) => known !== 'delivered')) {
          expect(delivered).to.be.greaterThan(latestWins(state, other, b))
        }
        for (const end of ['skipped', 'expired'] as const) {
          for (const state of ['pending', 'retrying', 'failed'] as const) {
            expect(latestWins(end, one, a)).to.be.greaterThan(latestWins(state, other, b))
          }
        }
      }),
    )
  })

  it('let an open state of the last time of all rank below an end', () => {
    expect(latestWins('failed', 2 ** 42 - 1, 511)).to.be.lessThan(latestWins('skipped', 0, 0))
  })

  it('let the later state win among open ones, clocks apart by five seconds or not', () => {
    const atMs = SAMPLE_MS
    expect(latestWins('retrying', atMs - 4_999, 1)).to.be.greaterThan(latestWins('pending', atMs, 2))
    expect(latestWins('failed', atMs - 4_999, 1)).to.be.greaterThan(latestWins('retrying', atMs, 2))
    expect(latestWins('pending', atMs + 10_001, 2)).to.be.greaterThan(latestWins('failed', atMs, 1))
  })
})

describe('row versions of a correction', () => {
  const corrected = (state: (typeof DELIVERY_STATUSES)[number], atMs: number): number =>
    latestWins(state, atMs, 0, true)

  it('let it replace a skip that was recorded before, and nothing else', () => {
    fc.assert(
      fc.property(time, status, offset, (atMs, state, at) => {
        expect(corrected(state, atMs + 1)).to.be.greaterThan(latestWins('skipped', atMs, at))
        if (state !== 'delivered') expect(corrected(state, atMs)).to.be.below(latestWins('delivered', atMs, at))
        expect(corrected(state, atMs)).to.satisfy(Number.isSafeInteger)
      }),
    )
  })

  it('order its states as they happen', () => {
    const story = (['pending', 'retrying', 'failed', 'expired', 'delivered'] as const).map((state, step) =>
      corrected(state, SAMPLE_MS + step * 20_000),
    )
    expect(story).to.deep.equal(story.toSorted((one, other) => one - other))
  })
})

describe('rows of a record', () => {
  const rowsOf = (record: Parameters<typeof addFactRows>[0]): readonly (readonly [string, FactRow])[] => {
    const rows: (readonly [string, FactRow])[] = []
    addFactRows(record, PLACE, (table, row) => rows.push([table, row]))
    return rows
  }

  it('carry the place of their entry on the log', () => {
    for (const [, row] of rowsOf(activationRecord({ website: 'acme' }))) {
      expect(row).to.include({ log_topic: 'activations', log_partition: 3, log_offset: 77 })
    }
  })

  it('move the state of both receipts if an activation revoked one', () => {
    const active = visitId()
    const revoked = visitId()
    const ids = { visitId: active, revokedVisitId: revoked, revokedIssuedAtMs: SAMPLE_MS - 1 }
    const rows = rowsOf(activationRecord({ website: 'acme', ...ids })).filter(([table]) => table === 'activations')
    expect(rows.map(([, row]) => [row['visit_id'], row['effect'], row['issued_at']])).to.deep.equal([
      [active, 'activated', SAMPLE_MS],
      [revoked, 'revoked', SAMPLE_MS - 1],
    ])
  })

  it('move the state of one receipt if it is unknown when the replaced one was issued', () => {
    const ids = { revokedVisitId: visitId(), revokedIssuedAtMs: null }
    const rows = rowsOf(activationRecord({ website: 'acme', ...ids })).filter(([table]) => table === 'activations')
    expect(rows.map(([, row]) => row['effect'])).to.deep.equal(['activated'])
  })

  it('move the state of one receipt if none is named as replaced', () => {
    const ids = { revokedVisitId: null, revokedIssuedAtMs: SAMPLE_MS }
    const rows = rowsOf(activationRecord({ website: 'acme', ...ids })).filter(([table]) => table === 'activations')
    expect(rows.map(([, row]) => row['effect'])).to.deep.equal(['activated'])
  })

  it('are empty if a visit names no campaign and an install no path, agent or visit', () => {
    const [[, bare] = []] = rowsOf(visitRecord({ utm: {} }))
    const campaign = ['source', 'medium', 'campaign', 'term', 'content', 'id'].map((name) => bare?.[`utm_${name}`])
    expect(campaign).to.deep.equal(Array(6).fill(''))
    const [[, install] = []] = rowsOf(installRecord({ installPath: null, visitId: null }))
    expect(install).to.include({ install_path: '', agent: '', visit_id: '' })
  })

  it('hold the visit of a handoff that recorded one of its own', () => {
    const own = visit({ website: 'acme', isHandoffOnly: true })
    const rows = rowsOf(handoffRecord({ website: 'acme', visitId: own.visitId, isHandoffOnly: true, visit: own }))
    expect(rows.map(([table]) => table)).to.deep.equal(['visits', 'handoffs', 'request_logs'])
    expect(rows[1]?.[1]).to.include({ is_handoff_only: true })
  })

  it('hold no visit of a handoff that continues one', () => {
    const rows = rowsOf(handoffRecord({ website: 'acme', visitId: visitId(), visit: null }))
    expect(rows.map(([table]) => table)).to.deep.equal(['handoffs', 'request_logs'])
    expect(rows[0]?.[1]).to.include({ is_handoff_only: false })
  })

  it('let a handoff that says copied win over one that does not, whichever comes first, and the first of its kind', () => {
    const versionOf = (isCopied: boolean, askedAtMs: number): number => {
      const [[, row] = []] = rowsOf(handoffRecord({ website: 'acme', isCopied, askedAtMs }))
      expect(row?.['is_copied']).to.equal(isCopied)
      return Number(row?.['row_version'])
    }
    const early = SAMPLE_MS
    const late = SAMPLE_MS + 30 * 86_400_000
    const order = [versionOf(true, early), versionOf(true, late), versionOf(false, early), versionOf(false, late)]
    expect(order).to.deep.equal(order.toSorted((a, b) => b - a))
    expect(new Set(order).size).to.equal(order.length)
    expect(order.every(Number.isSafeInteger)).to.equal(true)
  })

  it('are one for a delivery that was not attempted', () => {
    const rows = rowsOf(deliveryRecord({ website: 'acme', eventId: 'event-0001', attempt: null }))
    expect(rows.map(([table]) => table)).to.deep.equal(['deliveries'])
  })

  it('are one for a replay of decisions, kept for as long as its result', () => {
    const record: ReplayRecord = {
      v: 1,
      kind: 'replay',
      id: 'one',
      organization: 'acme',
      website: 'acme-dev',
      askedAtMs: 7,
      sinceMs: 1,
      untilMs: 5,
      policy: { policy: 'first_visit', windowMs: 3, isTokensOnly: true },
      session: 'of-a-person',
    }
    const [[table, row] = [], ...more] = rowsOf(record)
    expect({ table, more }).to.deep.equal({ table: 'decision_replays', more: [] })
    expect(row).to.include({
      website: 'acme-dev',
      id: 'one',
      organization: 'acme',
      asked_at: 7,
      policy: 'first_visit',
      window_ms: 3,
      is_tokens_only: true,
      since: 1,
      until: 5,
      retention_days: 7,
      session: 'of-a-person',
    })
    const [[, own] = []] = rowsOf({ ...record, session: 'digest' })
    expect(own).to.include({ session: 'digest' })
  })

  it('are one for an attempt at a webhook, of which a repeated one with the same number replaces the one before', () => {
    const record = webhookAttemptRecord({ number: 3, nextAttemptAtMs: SAMPLE_MS + 9_000 })
    const [[table, row] = [], ...more] = rowsOf(record)
    expect({ table, more }).to.deep.equal({ table: 'webhook_attempts', more: [] })
    expect(row).to.deep.equal({
      organization: 'acme',
      webhook: 'default/events',
      message_id: record.messageId,
      number: 3,
      type: 'install.matched',
      website: 'acme',
      state: 'failed',
      status: 500,
      error: 'http_500',
      answer: 'no',
      body: '{}',
      happened_at: SAMPLE_MS,
      started_at: SAMPLE_MS + 1_000,
      duration_ms: 20,
      next_attempt_at: SAMPLE_MS + 9_000,
      retention_days: 30,
      log_topic: PLACE.topic,
      log_partition: PLACE.partition,
      log_offset: PLACE.offset,
      row_version: (SAMPLE_MS + 1_000) * 512 + 77,
    })
  })

  it('keep an activity about rights for at least 90 days, and any other as long as Logs', () => {
    const daysOf = (changes: Parameters<typeof activityRecord>[0]) =>
      rowsOf(activityRecord(changes))[0]?.[1]['retention_days' as never]
    for (const type of [
      'object_created',
      'object_changed',
      'destination_live',
      'origins_changed',
      'object_removal',
      'object_removed',
      'sign_in',
      'account_replaced',
    ] as const)
      expect([daysOf({ type, logRetentionDays: 7 }), daysOf({ type, logRetentionDays: 365 })], type).to.deep.equal([
        90, 365,
      ])
    expect(daysOf({ type: 'export', logRetentionDays: 7 })).to.equal(7)
  })

  it('name nobody and no field of an activity that nobody brought about', () => {
    expect(rowsOf(activityRecord())[0]?.[1]).to.deep.include({ actor: '', manager: '', fields: [] })
    const named = { actor: 'p_1', manager: 'helm', fields: ['/spec/plan'] }
    expect(rowsOf(activityRecord(named))[0]?.[1]).to.deep.include(named)
  })

  it('name a request to the dashboard so, and any other by what it left', () => {
    const kinds = [requestRecord(), { ...requestRecord(), isOfDashboard: true as const }, visitRecord()].map(
      (record) => rowsOf(record).find(([table]) => table === 'request_logs')?.[1]['kind'],
    )
    expect(kinds).to.deep.equal(['request', 'dashboard', 'visit'])
  })

  it('lie apart from those of strangers if they are requests to the dashboard, by organisation', () => {
    const own = { organization: 'acme', website: '' }
    const places = [
      requestRecord({ organization: '', website: '' }),
      { ...requestRecord(own), isOfDashboard: true as const },
    ].map((record) => rowsOf(record)[0]?.[1]['website'])
    expect(places).to.deep.equal(['', '~acme'])
  })

  it('are none for a record of a kind that nobody knows', () => {
    const unknown = { ...visitRecord(), kind: 'unheard-of' } as unknown as ReturnType<typeof visitRecord>
    expect(() => rowsOf(unknown)).to.throw('record of unknown kind')
  })

  it('name the reason of an install without a visit, and none of any other', () => {
    const reasonOf = (changes: Parameters<typeof installRecord>[0]): unknown =>
      rowsOf(installRecord(changes)).find(([table]) => table === 'installs')?.[1]['reason']
    expect(reasonOf({ resolution: 'unmatched', verdicts: [] })).to.equal('no_receipt')
    expect(reasonOf({ resolution: 'pending', verdicts: [] })).to.equal('')
  })

  it('are one for a decision, which is no request', () => {
    const rows = rowsOf(decisionRecord(installRecord({ resolution: 'pending' })))
    expect(rows.map(([table, row]) => [table, row['resolution']])).to.deep.equal([['install_decisions', 'matched']])
  })

  it('keep the time a log line is kept apart from the time a fact is kept', () => {
    const rows = new Map(rowsOf(activationRecord({ website: 'acme', retentionDays: 395 })))
    expect([rows.get('activations')?.['retention_days'], rows.get('request_logs')?.['retention_days']]).to.deep.equal([
      395, 30,
    ])
  })

  it('keep an attempt, which holds a request and its answer, as long as a log line and its delivery as long as a fact', () => {
    const record = deliveryRecord({ website: 'acme', eventId: 'event-0001', attempt: attempt() })
    const rows = new Map(rowsOf({ ...record, retentionDays: 395, logRetentionDays: 30 }))
    expect([rows.get('deliveries')?.['retention_days'], rows.get('attempts')?.['retention_days']]).to.deep.equal([
      395, 30,
    ])
  })
})
