/** What people read of an alert: on pages, in mails and in messages. */

import { knownAbout, type AlertEnd, type AlertKind, type AlertRecord, type AlertedArrival } from './alert.ts'

export type ToldAlert = Pick<
  AlertRecord,
  'website' | 'rule' | 'of' | 'period' | 'value' | 'expected' | 'threshold' | 'state'
>

/** One that was read: its rule, and what does not arrive, may be ones that only a later release knows. */
export type ReadAlert = Omit<ToldAlert, 'rule' | 'of'> & { readonly rule: string; readonly of: string }

/** Null for a rule that only a later release knows. */
export function toldAlertOf(alert: ReadAlert): ToldAlert | null {
  const known = knownAbout(alert.rule, alert.of)
  return known === null ? null : { ...alert, ...known }
}

export interface AlertWords {
  /** "Fewer installs than usual" */
  readonly title: string
  /** What was measured, with the website and the day. */
  readonly sentence: string
  /** What it may mean, and where to look. */
  readonly advice: string
}

const ARRIVAL_WORDS: Readonly<Record<AlertedArrival, string>> = {
  visits: 'visits',
  copies: 'copied commands',
  installs: 'installs',
}
const count = (number: number): string => number.toLocaleString('en-US')

/** Texts in plain English; of names only those of websites, rules and days. */
export function alertWords(alert: ToldAlert): AlertWords {
  const { title, measured, advice } = measuredWords(alert)
  const about = alert.website === '' ? '' : `${alert.website}: `
  const sentence =
    alert.state === 'opened' ? measured : `No longer: ${title.toLowerCase()} (since ${alertedPeriod(alert.period)}).`
  return { title, sentence: `${about}${sentence}`, advice }
}

/** By rule. An alert of `NothingArrives` has a title of its own, which names what does not arrive. */
export const ALERT_TITLES: Readonly<Record<AlertKind, string>> = {
  InstallsDown: 'Fewer installs than usual',
  InstallsUp: 'More installs than usual',
  MatchRateDown: 'Fewer installs are matched',
  NothingArrives: 'Nothing arrives',
  DeliveriesFailing: 'Deliveries are failing',
  QuotaNear: 'The monthly quota is nearly used up',
}

interface MeasuredWords {
  readonly title: string
  readonly measured: string
  readonly advice: string
}

function measuredWords({ rule, of, period: measured, value, expected }: ToldAlert): MeasuredWords {
  const period = alertedPeriod(measured)
  switch (rule) {
    case 'InstallsDown':
      return {
        title: ALERT_TITLES.InstallsDown,
        measured: `${count(value)} installs on ${period}; the same weekday usually has ${count(expected)}.`,
        advice:
          'Look at Sources: has one of them stopped? If visits are as usual, try the install command of your page: it may have lost the hook.',
      }
    case 'InstallsUp':
      return {
        title: ALERT_TITLES.InstallsUp,
        measured: `${count(value)} installs on ${period}; the same weekday usually has ${count(expected)}.`,
        advice:
          'Look at Sources and Install methods: a mention, a campaign, or a machine that installs again and again.',
      }
    case 'MatchRateDown':
      return {
        title: ALERT_TITLES.MatchRateDown,
        measured: `${value} % of the installs of ${period} have a visit; usually ${expected} % do.`,
        advice:
          'Look at Match rate for the reason. Often a page lost the SDK, or a command is copied from somewhere else.',
      }
    case 'NothingArrives': {
      const what = of === '' ? 'data' : ARRIVAL_WORDS[of]
      return {
        title: `No ${what} arrive`,
        measured: `No ${what} in the last 24 hours of ${period}; usually there are about ${count(expected)} a day.`,
        advice: adviceOfArrival(of),
      }
    }
    case 'DeliveriesFailing':
      return {
        title: ALERT_TITLES.DeliveriesFailing,
        measured: `${count(value)} of ${count(expected)} deliveries of ${period} failed or came too late.`,
        advice: 'Look at Deliveries for the reason; failed ones can be sent again.',
      }
    case 'QuotaNear':
      return {
        title: ALERT_TITLES.QuotaNear,
        measured: `${count(value)} of the ${count(expected)} tracked events of ${period} are used.`,
        advice: 'Look at Plan and usage: a larger plan has room for more.',
      }
  }
}

const DAY_NAME = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
const MONTH_NAME = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** "27 November 2026", or "November 2026". */
function alertedPeriod(period: string): string {
  const ms = Date.parse(period)
  if (Number.isNaN(ms)) return period
  return (period.length > 'yyyy-mm'.length ? DAY_NAME : MONTH_NAME).format(ms)
}

function adviceOfArrival(of: AlertedArrival | ''): string {
  switch (of) {
    case 'visits':
      return 'Open your page: is the SDK still on it? A content policy or a new template may keep it out.'
    case 'copies':
      return 'Copy the command on your page: the button may have changed, so that the SDK no longer sees it.'
    default:
      return 'Run your install command: it may have lost the hook, or cannot reach this service.'
  }
}

export const END_WORDS: Readonly<Record<AlertEnd, string>> = {
  usual: 'It is as usual again.',
  not_compared: 'There is too little to compare it with.',
  off: 'Its rule was switched off.',
  website_gone: 'Its website was deleted.',
}
