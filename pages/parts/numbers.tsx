/** Counts, shares and their changes as text; the bars beside them are decoration. */

import type { ReactNode } from 'react'

export function shownCount(count: number): string {
  return count.toLocaleString()
}

const LEAST_PERCENT = 0.1

/** "–" if the whole is 0: a share of no visits is not 0 %. What is not quite nothing or not quite all never reads as that. */
export function shareText(part: number, whole: number): string {
  if (whole === 0) return '–'
  const percent = (100 * part) / whole
  if (percent > 0 && percent < LEAST_PERCENT) return `< ${LEAST_PERCENT.toLocaleString()} %`
  if (percent < 100 && percent > 100 - LEAST_PERCENT) return `> ${(100 - LEAST_PERCENT).toLocaleString()} %`
  const digits = (percent > 0 && percent < 10) || (percent > 99 && percent < 100) ? 1 : 0
  return `${percent.toLocaleString(undefined, { maximumFractionDigits: digits })} %`
}

interface ChangeProps {
  readonly now: number
  /** Null if nothing is compared. */
  readonly before: number | null
  /** "the 7 days before" */
  readonly since: string
}

/** The count of the same row in what is compared: 0 if that has no such row, null if nothing is compared. */
export function countBefore<Row>(
  rows: readonly Row[] | undefined,
  isSame: (row: Row) => boolean,
  countOf: (row: Row) => number,
): number | null {
  if (rows === undefined) return null
  const row = rows.find(isSame)
  return row === undefined ? 0 : countOf(row)
}

/** The arrow and the sign convey it without colour. */
export function Change({ now, before, since }: ChangeProps): ReactNode {
  if (before === null || (before === 0 && now === 0)) return null
  const text = before === 0 ? 'new' : now === before ? 'as before' : `${arrow(now - before)} ${relative(now, before)}`
  return (
    <span className="change" title={`${shownCount(before)} in ${since}`}>
      {text}
    </span>
  )
}

/** For shares: the difference in percentage points. */
export function ShareChange({ now, before, since }: ChangeProps): ReactNode {
  if (before === null) return null
  const points = Math.round(1_000 * (now - before)) / 10
  const text = points === 0 ? 'as before' : `${arrow(points)} ${Math.abs(points).toLocaleString()} points`
  return (
    <span className="change" title={`${Math.round(100 * before)} % in ${since}`}>
      {text}
    </span>
  )
}

function arrow(difference: number): string {
  return difference > 0 ? '▲' : '▼'
}

function relative(now: number, before: number): string {
  const times = now / before
  if (times >= 10) return `${Math.round(times).toLocaleString()} times`
  return `${Math.round(100 * Math.abs(times - 1)).toLocaleString()} %`
}

/** A share from 0 to 1 as a bar, beside its number. */
export function Bar({ share, tone = 'accent' }: { readonly share: number; readonly tone?: string }): ReactNode {
  return (
    <span className={`share-bar ${tone}`} aria-hidden>
      <span style={{ width: `${Math.max(share > 0 ? 0.4 : 0, 100 * Math.min(1, share))}%` }} />
    </span>
  )
}

const STEPS_S = [
  { unit: 86_400, name: 'day' },
  { unit: 3_600, name: 'hour' },
  { unit: 60, name: 'minute' },
  { unit: 1, name: 'second' },
] as const

/** "3 days", "1.5 hours": in one unit, as people say it. */
export function spanText(ms: number): string {
  const seconds = Math.abs(ms) / 1_000
  const step = STEPS_S.find(({ unit }) => seconds >= unit)
  if (step === undefined) return seconds === 0 ? 'no time' : `${Math.round(seconds * 1_000)} ms`
  const count = seconds / step.unit
  const shown = count < 10 && step.unit > 1 ? Math.round(count * 10) / 10 : Math.round(count)
  return `${shown.toLocaleString()} ${step.name}${shown === 1 ? '' : 's'}`
}
