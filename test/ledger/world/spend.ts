/** What ads cost in a world, as files of an ad account say it, and what a visit and an install must have cost. */

import { entriesIn, visitorsIn, type Book, type Period } from './book.ts'
import { dateOf, startOf, stepsIn } from './calendar.ts'
import { DAY } from './world.ts'

interface SpendLine {
  /** Of the world, from 0. */
  readonly day: number
  readonly source: string
  readonly campaign: string
  /** In the smallest unit of the currency. */
  readonly amount: number
  readonly currency: 'EUR' | 'JPY'
}

export interface SpendFile {
  readonly name: string
  readonly lines: readonly SpendLine[]
  /** Somebody took it back after all files had come. */
  readonly isRemoved: boolean
}

const line = (
  day: number,
  [source, campaign]: readonly [string, string],
  [amount, currency]: readonly [number, SpendLine['currency']],
): SpendLine => ({ day, source, campaign, amount, currency })

/** In the order in which they come. */
export const FILES: readonly SpendFile[] = [
  {
    name: 'first.csv',
    isRemoved: false,
    lines: [0, 1, 2, 3, 4, 5, 6, 7].flatMap((day) => [
      line(day, ['newsletter', 'launch'], [1_000 + day, 'EUR']),
      // Of two groups of ads, which add up.
      line(day, ['hn', 'show-hn'], [250, 'EUR']),
      line(day, ['hn', 'show-hn'], [51 * day, 'EUR']),
      line(day, ['hn', 'show-hn'], [30 + day, 'JPY']),
      // Its clicks are tagged by the network, and name no campaign that the file does.
      line(day, ['google', 'brand'], [333, 'EUR']),
      line(day, ['podcast', ''], [70, 'EUR']),
      line(day, ['billboard', 'launch'], [5, 'EUR']),
    ]),
  },
  {
    name: 'corrected.csv',
    isRemoved: false,
    // The campaign "launch" of these days and this source is gone.
    lines: [1, 2].map((day) => line(day, ['newsletter', 'lunch'], [900, 'EUR'])),
  },
  { name: 'mistaken.csv', isRemoved: true, lines: [line(3, ['hn', 'show-hn'], [99_999, 'EUR'])] },
]

export function fileText({ lines }: SpendFile, startAt: number): string {
  const rows = lines.map(({ day, source, campaign, amount, currency }) =>
    [dateOf(startAt + day * DAY), source, campaign, amountText(amount, currency), currency].join(','),
  )
  return `${['day,source,campaign,amount,currency', ...rows].join('\n')}\n`
}

function amountText(amount: number, currency: SpendLine['currency']): string {
  return currency === 'JPY' ? String(amount) : (amount / 100).toFixed(2)
}

/** Of each day and source those of the last file that has any. */
function linesInForce(files: readonly SpendFile[]): readonly SpendLine[] {
  const placeOf = ({ day, source }: SpendLine): string => `${day} ${source}`
  const inForce = new Map<string, readonly SpendLine[]>()
  for (const { lines } of files.filter(({ isRemoved }) => !isRemoved))
    for (const [place, own] of Map.groupBy(lines, placeOf)) inForce.set(place, own)
  return [...inForce.values()].flat()
}

export type SpendBy = 'campaign' | 'source'

export interface SpendRow {
  readonly source: string
  readonly campaign: string
  readonly currency: string
  readonly amount: number
  readonly visits: number
  readonly installs: number
}

/** Of the days that lie whole in the period, in no order. */
export function spendRows(book: Book, by: SpendBy, { period, startAt }: SpendAsked): readonly SpendRow[] {
  const days = stepsIn('day', period).filter(({ isPart }) => !isPart)
  const whole = { since: days[0]?.since ?? 0, until: days.at(-1)?.until ?? 0 }
  const own = linesInForce(FILES)
    .filter(({ day }) => days.some(({ since }) => since === startOf('day', startAt + day * DAY)))
    .map((each) => ({ ...each, campaign: by === 'source' ? '' : each.campaign }))
  const groups = Map.groupBy(own, ({ source, campaign, currency }) => [source, campaign, currency].join('\n'))
  return [...groups.values()].flatMap((lines) => {
    const [first] = lines
    if (first === undefined) return []
    const { source, campaign, currency } = first
    const isOf = ({ called }: { readonly called: { readonly source: string; readonly campaign: string } }): boolean =>
      called.source === source && (by === 'source' || called.campaign === campaign)
    const installs = entriesIn(book, whole).filter(
      ({ kind, visitor }) => kind === 'install' && visitor !== null && isOf(visitor.way),
    )
    return [
      {
        source,
        campaign,
        currency,
        amount: lines.reduce((sum, { amount }) => sum + amount, 0),
        visits: visitorsIn(book, whole).filter(({ way }) => isOf(way)).length,
        installs: installs.length,
      },
    ]
  })
}

interface SpendAsked {
  readonly period: Period
  /** Of the world. */
  readonly startAt: number
}

export function isJoined({ visits, installs }: SpendRow): boolean {
  return visits + installs > 0
}
