/** The words of the weekly mail: shares only where they say something, comparisons only with what there is, and no line of somebody else's. */

import { expect } from 'chai'

import { weeklyMail } from '../../dashboard/weekly/mail-texts.ts'
import { weekWords } from '../../dashboard/weekly/mail-words.ts'
import type { WeekFigures, WeeklySummary } from '../../domain/people/weekly-summary.ts'

const NONE: WeekFigures = {
  installs: 0,
  matched: 0,
  lookedUp: 0,
  counted: 0,
  knownSource: 0,
  visits: 0,
  converted: 0,
}
const MANY: WeekFigures = {
  installs: 1_412,
  matched: 1_301,
  lookedUp: 1_398,
  counted: 0,
  knownSource: 940,
  visits: 39_120,
  converted: 1_288,
}
const summaryOf = (now: Partial<WeekFigures>, before: Partial<WeekFigures> | null): WeeklySummary => ({
  from: '2026-11-16',
  to: '2026-11-22',
  timeZone: 'Europe/Berlin',
  now: { ...NONE, ...now },
  before: before === null ? null : { ...NONE, ...before },
  changes: [],
})
const shown = (summary: WeeklySummary) =>
  weekWords(summary).numbers.map(({ title, now, before, change }) => [title, now, before, change].join('|'))
const SURROUNDINGS = {
  organization: { id: 'acme', displayName: 'Acme' },
  baseUrl: 'https://whence.acme.dev',
  brand: 'Whence',
  endUrl: 'https://whence.acme.dev/api/mail/weekly/x',
}

describe('the words of the weekly mail', () => {
  it('are those of the Overview, with the week before', () => {
    const before = { ...MANY, installs: 1_150, knownSource: 801, visits: 3_344, converted: 110 }
    expect(shown(summaryOf(MANY, before))).to.deep.equal([
      'Installs|1,412|1,150|▲ 23 %',
      'Match rate|93 %||as before',
      'With a known source|940|801|▲ 17 %',
      'Visits|39,120|3,344|▲ 12 times',
      'Conversion|3.3 %|3.3 %|',
    ])
  })

  it('have no percentage if one of the weeks has fewer than 20 installs', () => {
    const few = { installs: 7, matched: 5, lookedUp: 6, knownSource: 3, visits: 312, converted: 4 }
    for (const [now, before] of [
      [few, MANY],
      [MANY, few],
      [few, few],
      [NONE, NONE],
      [few, null],
    ] as const) {
      const summary = summaryOf(now, before)
      expect(weeklyMail('anna@acme.dev', summary, SURROUNDINGS).text).not.to.contain('%')
      expect(weekWords(summary).notes.join(' ')).to.contain('fewer than 20')
    }
    expect(shown(summaryOf(few, { ...few, installs: 4, matched: 3, lookedUp: 4 }))).to.deep.equal([
      'Installs|7|4|▲ 3',
      'Match rate|5 of 6|3 of 4|',
      'With a known source|3||as before',
      'Visits|312||as before',
      'Conversion|4 of 312|4 of 312|',
    ])
  })

  it('say that installs were counted and not looked up, and show no rate of them', () => {
    const text = weeklyMail(
      'anna@acme.dev',
      summaryOf({ installs: 40, counted: 40, visits: 90 }, null),
      SURROUNDINGS,
    ).text
    expect(text).to.contain('Counted, not looked up: 40')
    for (const absent of ['Match rate', 'known source', 'Conversion', '%']) expect(text).not.to.contain(absent)
  })

  it('compare nothing with a week that cannot be compared, and a share of nothing with nothing', () => {
    const alone = weeklyMail('anna@acme.dev', summaryOf(MANY, null), SURROUNDINGS).text
    expect(alone).to.contain('nothing is compared')
    expect(alone).not.to.match(/before[,)]|▲|▼/)
    expect(shown(summaryOf(NONE, NONE))).to.deep.equal([
      'Installs|0||',
      'Match rate|–||',
      'With a known source|0||',
      'Visits|0||',
      'Conversion|–||',
    ])
  })

  it('name a week by its days, across months and years', () => {
    const periodOf = (from: string, to: string) => weekWords({ ...summaryOf(MANY, null), from, to }).period
    expect(periodOf('2026-11-16', '2026-11-22')).to.equal('16 to 22 November 2026')
    expect(periodOf('2026-11-30', '2026-12-06')).to.equal('30 November to 6 December 2026')
    expect(periodOf('2025-12-29', '2026-01-04')).to.equal('29 December 2025 to 4 January 2026')
  })

  it('stay in their line, whatever an organisation or a campaign is called', () => {
    const hostile = 'a\r\nBcc: eve@evil.example\u2028\u202e<b>"'
    const changes = [{ by: 'campaign' as const, value: `${hostile}${'x'.repeat(300)}`, installs: 1, before: 0 }]
    const { subject, text, regular } = weeklyMail(
      'anna@acme.dev',
      { ...summaryOf(MANY, MANY), changes },
      { ...SURROUNDINGS, organization: { id: 'acme', displayName: hostile } },
    )
    for (const line of [subject, ...text.split('\n'), ...(regular?.html.split('\n') ?? [])]) {
      expect(line).not.to.match(/[\r\u2028\u202e]|^Bcc/)
    }
    expect(regular?.html).not.to.contain('<b>"')
    expect(text).to.match(/x…: 1 install, 0 before/)
  })
})
