/** What the weekly mail says, once for its text and its document: the words of the pages, and shares only where they say something. */

import { ORIGIN_NAMES } from '../../domain/figures/installs.ts'
import { isCountedAlone, MANY_INSTALLS } from '../../domain/figures/overview.ts'
import { saysShares } from '../../domain/figures/weekly.ts'
import type { ChangedInstalls, WeekFigures, WeeklySummary } from '../../domain/people/weekly-summary.ts'
import { plainLine } from '../mail/plain-line.ts'

/** A number of the week and of the one before. Empty texts are left out. */
interface ComparedNumber {
  readonly now: string
  readonly before: string
  readonly change: string
}

/** As the Overview calls it. */
export interface WeekNumber extends ComparedNumber {
  readonly title: string
  /** What it is a share of, or what else there is to know. */
  readonly beside: string
}

interface ChangedValue {
  /** "Campaign" */
  readonly title: string
  readonly value: string
  readonly text: string
}

export interface WeekWords {
  /** "16 to 22 November 2026" */
  readonly period: string
  /** What "before" means, if anything is compared; empty otherwise. */
  readonly compared: string
  readonly numbers: readonly WeekNumber[]
  readonly changes: readonly ChangedValue[]
  readonly notes: readonly string[]
}

/** What visitors brought along may be long. */
const VALUE_CHARS = 80

export function weekWords(summary: WeeklySummary): WeekWords {
  return {
    period: weekText(summary),
    compared: summary.before === null ? '' : 'Beside the week before',
    numbers: numbersOf(summary),
    changes: summary.changes.map(changedValue),
    notes: notesOf(summary),
  }
}

export function mailCount(count: number): string {
  return count.toLocaleString('en')
}

function numbersOf(summary: WeeklySummary): readonly WeekNumber[] {
  const { now, before } = summary
  const hasShares = saysShares(summary)
  const volume = (countOf: (figures: WeekFigures) => number): ComparedNumber =>
    before === null
      ? { now: mailCount(countOf(now)), before: '', change: '' }
      : comparedVolume(countOf(now), countOf(before), hasShares)
  const share = (shareOf: (figures: WeekFigures) => WeekShare): ComparedNumber =>
    comparedShare(shareOf(now), before === null ? NOTHING : shareOf(before), hasShares)
  const installs = { title: 'Installs', beside: '', ...volume((figures) => figures.installs) }
  const visits = { title: 'Visits', beside: '', ...volume((figures) => figures.visits) }
  // Whose visits are not looked for have no source, and convert none.
  if (isCountedAlone(now)) return [installs, { ...ONLY_COUNTED, now: mailCount(now.counted) }, visits]
  const ofInstalls = hasShares ? `${percentText({ part: now.knownSource, whole: now.installs })} of installs` : ''
  return [
    installs,
    { title: 'Match rate', beside: 'of installs that were looked up', ...share(matchedShare) },
    { title: 'With a known source', beside: ofInstalls, ...volume((figures) => figures.knownSource) },
    visits,
    // Visits of the week have until the end of the next one: the two weeks stand beside each other, and no difference is made of them.
    { title: 'Conversion', beside: 'of visits; may still rise', ...beforeAlone(summary, convertedShare, hasShares) },
  ]
}

const ONLY_COUNTED = { title: 'Counted, not looked up', beside: '', before: '', change: '' } as const
const AS_BEFORE = 'as before'

interface WeekShare {
  readonly part: number
  readonly whole: number
}

function matchedShare({ matched, lookedUp }: WeekFigures): WeekShare {
  return { part: matched, whole: lookedUp }
}

function convertedShare({ converted, visits }: WeekFigures): WeekShare {
  return { part: converted, whole: visits }
}

function weekShareText(share: WeekShare, hasShares: boolean): string {
  if (share.whole === 0) return '–'
  return hasShares ? percentText(share) : `${mailCount(share.part)} of ${mailCount(share.whole)}`
}

/** As the pages round: one digit below 10 %, and what is not quite nothing or not quite all never reads as that. */
function percentText({ part, whole }: WeekShare): string {
  const percent = (100 * part) / whole
  if (percent > 0 && percent < 0.1) return '< 0.1 %'
  if (percent < 100 && percent > 99.9) return '> 99.9 %'
  const digits = (percent > 0 && percent < 10) || (percent > 99 && percent < 100) ? 1 : 0
  return `${percent.toLocaleString('en', { maximumFractionDigits: digits })} %`
}

function comparedVolume(now: number, before: number, hasShares: boolean): ComparedNumber {
  if (now === before) return { now: mailCount(now), before: '', change: now === 0 ? '' : AS_BEFORE }
  return { now: mailCount(now), before: mailCount(before), change: volumeChange(now, before, hasShares) }
}

function volumeChange(now: number, before: number, hasShares: boolean): string {
  if (!hasShares) return `${upOrDown(now - before)} ${mailCount(Math.abs(now - before))}`
  if (before === 0) return 'new'
  const times = now / before
  if (times >= 10) return `${upOrDown(1)} ${mailCount(Math.round(times))} times`
  return `${upOrDown(now - before)} ${Math.round(100 * Math.abs(times - 1))} %`
}

const NOTHING: WeekShare = { part: 0, whole: 0 }

/** A share of nothing is compared with nothing. */
function comparedShare(now: WeekShare, before: WeekShare, hasShares: boolean): ComparedNumber {
  const shown = weekShareText(now, hasShares)
  if (before.whole === 0) return { now: shown, before: '', change: '' }
  const change = hasShares && now.whole > 0 ? pointsText(now.part / now.whole - before.part / before.whole) : ''
  return { now: shown, before: change === AS_BEFORE ? '' : weekShareText(before, hasShares), change }
}

/** Both, and no difference. */
function beforeAlone(
  { now, before }: WeeklySummary,
  shareOf: (figures: WeekFigures) => WeekShare,
  hasShares: boolean,
): ComparedNumber {
  const then = before === null ? NOTHING : shareOf(before)
  return {
    now: weekShareText(shareOf(now), hasShares),
    before: then.whole === 0 ? '' : weekShareText(then, hasShares),
    change: '',
  }
}

function pointsText(difference: number): string {
  const points = Math.round(1_000 * difference) / 10
  return points === 0 ? AS_BEFORE : `${upOrDown(points)} ${Math.abs(points)} points`
}

function upOrDown(difference: number): string {
  return difference > 0 ? '▲' : '▼'
}

function changedValue({ by, value, installs, before }: ChangedInstalls): ChangedValue {
  const text = `${mailCount(installs)} ${installs === 1 ? 'install' : 'installs'}, ${mailCount(before)} before`
  const line = plainLine(value)
  const characters = [...line]
  const shown = characters.length > VALUE_CHARS ? `${characters.slice(0, VALUE_CHARS - 1).join('')}…` : line
  return { title: ORIGIN_NAMES[by], value: shown, text }
}

function notesOf(summary: WeeklySummary): readonly string[] {
  const { before, changes, timeZone } = summary
  return [
    ...(saysShares(summary)
      ? []
      : [`A percentage of fewer than ${MANY_INSTALLS} installs says little, so there are none.`]),
    ...(before === null ? ['There is no whole week before it, so nothing is compared.'] : []),
    ...(before !== null && changes.length === 0
      ? ['No campaign, source or landing page brought more or fewer installs than the week before.']
      : []),
    `Days are those of ${timeZone}. Installs are machines, not people; CI, containers and tests are left out.`,
  ]
}

function weekText({ from, to }: WeeklySummary): string {
  const first = new Date(from)
  const last = new Date(to)
  const day = (date: Date): string => String(date.getUTCDate())
  const month = (date: Date): string => date.toLocaleDateString('en', { month: 'long', timeZone: 'UTC' })
  const year = (date: Date): string => String(date.getUTCFullYear())
  const isSameYear = year(first) === year(last)
  const begins = [
    day(first),
    ...(isSameYear && month(first) === month(last) ? [] : [month(first)]),
    ...(isSameYear ? [] : [year(first)]),
  ]
  return `${begins.join(' ')} to ${day(last)} ${month(last)} ${year(last)}`
}
