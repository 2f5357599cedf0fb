/** Opening and closing: once each, whoever judges how often, and by the rules of the organisation. */

import { expect } from 'chai'

import type { AlertRecord, AlertSubject } from '../../../domain/alerts/alert.ts'
import { alertChanges, type AlertJudgement, type KnownAlertOfPeriod } from '../../../domain/alerts/changes.ts'
import { fitsThreshold, thresholdFor } from '../../../domain/alerts/rules.ts'
import { sha256Hex } from '../../../common/digest.ts'

const DOWN: AlertSubject = { rule: 'InstallsDown', of: '', website: 'acme' }
const MEASURE = { value: 3, expected: 40, threshold: 50 }
const unusual = { kind: 'unusual', measure: MEASURE } as const
const usual = { kind: 'usual', measure: { ...MEASURE, value: 41 } } as const
const BY = { sha256Hex, nowMs: 1_000, catalogNumber: 7 }

/** The log, as the next judgement finds it. */
class Memory {
  readonly records: AlertRecord[] = []

  judge(period: string, verdict: AlertJudgement['verdict'], subject = DOWN): readonly string[] {
    const before = { organization: 'acme-org', known: this.known() }
    const changes = alertChanges([{ subject, period, verdict }], before, BY)
    this.records.push(...changes)
    return changes.map(({ state, period: of, end = '' }) => `${state} ${of}${end === '' ? '' : ` ${end}`}`)
  }

  known(): readonly KnownAlertOfPeriod[] {
    const isClosed = (id: string): boolean => this.records.some((each) => each.id === id && each.state === 'closed')
    return this.records
      .filter(({ state }) => state === 'opened')
      .map((record) => ({ ...record, isOpen: !isClosed(record.id) }))
  }
}

describe('an alert', () => {
  it('is opened once while it goes on, and closed once', () => {
    const memory = new Memory()
    expect(memory.judge('2026-11-01', unusual)).to.deep.equal(['opened 2026-11-01'])
    expect(memory.judge('2026-11-01', unusual), 'judged again').to.deep.equal([])
    expect(memory.judge('2026-11-02', unusual), 'goes on').to.deep.equal([])
    expect(memory.judge('2026-11-03', usual)).to.deep.equal(['closed 2026-11-01 usual'])
    expect(memory.judge('2026-11-03', usual)).to.deep.equal([])
    expect(memory.judge('2026-11-04', unusual)).to.deep.equal(['opened 2026-11-04'])
    expect(memory.records[1]).to.include({ value: 41, catalogNumber: 7, organization: 'acme-org' })
  })

  it('is not opened again for a day on which a late hour has closed it', () => {
    const memory = new Memory()
    memory.judge('2026-11-01', unusual)
    expect(memory.judge('2026-11-01', usual)).to.deep.equal(['closed 2026-11-01 usual'])
    expect(memory.judge('2026-11-01', unusual)).to.deep.equal([])
    expect(memory.judge('2026-11-02', unusual)).to.deep.equal(['opened 2026-11-02'])
  })

  it('has one ID for its organisation, website, rule and period, and another for any other', () => {
    const subjects: readonly AlertSubject[] = [
      DOWN,
      { ...DOWN, website: 'other' },
      { ...DOWN, rule: 'InstallsUp' },
      { ...DOWN, rule: 'NothingArrives', of: 'visits' },
      { ...DOWN, rule: 'NothingArrives', of: 'copies' },
    ]
    const idsOf = (organization: string, period: string) =>
      subjects.flatMap((subject) => {
        const judgement = { subject, period, verdict: unusual }
        return alertChanges([judgement], { organization, known: [] }, BY).map(({ id }) => id)
      })
    const ids = [...idsOf('a', '2026-11-01'), ...idsOf('b', '2026-11-01'), ...idsOf('a', '2026-11-02')]
    expect(new Set(ids).size).to.equal(15)
    expect(ids).to.include.members(idsOf('a', '2026-11-01'))
    expect(ids.every((id) => /^[0-9a-f]{32}$/.test(id))).to.equal(true)
  })

  it('is closed where nothing is left to compare with, but silence only by what arrives', () => {
    const memory = new Memory()
    const silence: AlertSubject = { ...DOWN, rule: 'NothingArrives', of: 'visits' }
    memory.judge('2026-11-01', unusual)
    memory.judge('2026-11-01', unusual, silence)
    expect(memory.judge('2026-11-02', { kind: 'not_judged' })).to.deep.equal(['closed 2026-11-01 not_compared'])
    expect(memory.judge('2026-11-02', { kind: 'not_judged' }, silence)).to.deep.equal([])
    expect(memory.judge('2026-11-03', usual, silence)).to.deep.equal(['closed 2026-11-01 usual'])
  })

  it('is closed when its rule is switched off or its website is gone', () => {
    const memory = new Memory()
    memory.judge('2026-11-01', unusual)
    expect(memory.judge('2026-11-01', { kind: 'off' })).to.deep.equal(['closed 2026-11-01 off'])
    memory.judge('2026-11-02', unusual)
    expect(memory.judge('2026-11-02', { kind: 'website_gone' })).to.deep.equal(['closed 2026-11-02 website_gone'])
    expect(memory.judge('2026-11-03', { kind: 'off' }), 'nothing is open').to.deep.equal([])
  })
})

describe('rules for alerts', () => {
  it('have defaults, and one for a website goes before one for all', () => {
    expect(thresholdFor([], 'InstallsDown', 'acme')).to.equal(50)
    expect(thresholdFor([], 'NothingArrives', 'acme')).to.equal(0)
    const rules = [
      { kind: 'InstallsDown', off: true },
      { kind: 'InstallsDown', website: 'acme', threshold: 30 },
      { kind: 'InstallsDown', website: 'acme', threshold: 90 },
      { kind: 'MatchRateDown', website: 'acme', off: false },
    ] as const
    expect(thresholdFor(rules, 'InstallsDown', 'acme')).to.equal(30)
    expect(thresholdFor(rules, 'InstallsDown', 'other')).to.equal(null)
    expect(thresholdFor(rules, 'InstallsUp', 'other')).to.equal(300)
    expect(thresholdFor(rules, 'MatchRateDown', 'acme')).to.equal(20)
  })

  it('refuse thresholds that make no sense for their kind', () => {
    expect(fitsThreshold({ kind: 'InstallsDown', threshold: 99 })).to.equal(true)
    expect(fitsThreshold({ kind: 'InstallsDown' })).to.equal(true)
    expect(fitsThreshold({ kind: 'InstallsDown', threshold: 100 })).to.equal(false)
    expect(fitsThreshold({ kind: 'InstallsUp', threshold: 100 })).to.equal(false)
    expect(fitsThreshold({ kind: 'NothingArrives', threshold: 24 })).to.equal(false)
  })
})
