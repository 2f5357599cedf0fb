/** Checks one row of a file of ad spend, and makes it a typed value. */

import { DAY_MS } from '../durations.ts'
import { LIMITS } from '../limits.ts'
import { keysOf } from '../typed-keys.ts'
import { placesOf } from './currencies.ts'
import { wrongCurrency, wrongName, wrongSource } from './spend-texts.ts'

/** What one row of a file says was spent. */
export interface SpendRow {
  /** Of the file, counted from 1: where the row begins. */
  readonly line: number
  /** A day of the ad account, as the Unix ms at which it begins in UTC. */
  readonly dayMs: number
  readonly source: string
  /** Empty: of no campaign. */
  readonly campaign: string
  readonly currency: string
  /** In the smallest unit of the currency. */
  readonly amount: number
}

/** The texts of a row, by what they say. */
export interface SpendTexts {
  readonly day: string
  readonly source: string
  readonly campaign: string
  readonly amount: string
  readonly currency: string
}

/** Days that a file may name, as `SpendRow.dayMs`; both inclusive. */
export interface SpendDays {
  readonly firstMs: number
  readonly lastMs: number
}

/** From the oldest day that a website keeps to tomorrow, which has begun in the east. */
export function spendDays(nowMs: number, retentionDays: number): SpendDays {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS
  return { firstMs: today - retentionDays * DAY_MS, lastMs: today + DAY_MS }
}

/** A value, or what is wrong with its text, to follow the name of its column. */
type Checked<T> = { readonly value: T } | { readonly wrong: string }

/** The row, or what is wrong with the first column that is not right. */
export function checkSpendRow(
  line: number,
  texts: SpendTexts,
  days: SpendDays,
): SpendRow | { readonly column: keyof SpendTexts; readonly wrong: string } {
  const day = checkDay(texts.day, days)
  if ('wrong' in day) return { column: 'day', ...day }
  const { source, campaign, currency } = texts
  const wrongs = { source: wrongSource(source), campaign: wrongName(campaign), currency: wrongCurrency(currency) }
  for (const column of keysOf(wrongs)) {
    const wrong = wrongs[column]
    if (wrong !== null) return { column, wrong }
  }
  const amount = checkAmount(texts.amount, currency)
  if ('wrong' in amount) return { column: 'amount', ...amount }
  return { line, dayMs: day.value, source, campaign, currency, amount: amount.value }
}

const DAY = /^\d{4}-\d{2}-\d{2}$/

function checkDay(text: string, { firstMs, lastMs }: SpendDays): Checked<number> {
  const value = DAY.test(text) ? Date.parse(text) : Number.NaN
  // `Date.parse` takes 30 February for 2 March.
  if (Number.isNaN(value) || !new Date(value).toISOString().startsWith(text))
    return { wrong: 'must be a day such as 2026-11-30' }
  if (value > lastMs) return { wrong: 'is in the future' }
  return value < firstMs ? { wrong: 'is older than the website keeps' } : { value }
}

const AMOUNT = /^(\d{1,15})(?:\.(\d+))?$/

function checkAmount(text: string, currency: string): Checked<number> {
  if (text === '') return { wrong: 'is empty' }
  if (text.startsWith('-')) return { wrong: 'must not be negative' }
  const [found, whole = '', decimals = ''] = AMOUNT.exec(text) ?? []
  if (found === undefined)
    return {
      wrong:
        'must be digits with a point before decimals, such as 1234.50: no sign, exponent or separator of thousands',
    }
  const places = placesOf(currency)
  if (decimals.length > places) return { wrong: `must have at most ${placesText(places)} in this currency` }
  const value = Number(`${whole}${decimals.padEnd(places, '0')}`)
  return value > LIMITS.spendAmountUnits ? { wrong: 'is too large' } : { value }
}

function placesText(places: number): string {
  return places === 1 ? '1 decimal place' : `${places} decimal places`
}
