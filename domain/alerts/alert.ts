/** An alert: something about a website, or an organisation, that its people should look at. */

import type { Sha256Hex } from '../origin.ts'
import type { WebsiteId } from '../model.ts'

/** Those of `Organization.spec.alerts.rules`. */
export const ALERT_KINDS = [
  'InstallsDown',
  'InstallsUp',
  'MatchRateDown',
  'NothingArrives',
  'DeliveriesFailing',
  'QuotaNear',
] as const
export type AlertKind = (typeof ALERT_KINDS)[number]

/** What `NothingArrives` judges apart. */
export const ARRIVALS = ['visits', 'copies', 'installs'] as const
export type AlertedArrival = (typeof ARRIVALS)[number]

/** What is judged: one kind of alert about one website. */
export interface AlertSubject {
  readonly rule: AlertKind
  /** What does not arrive; empty for other kinds. */
  readonly of: AlertedArrival | ''
  /** Empty: it is about the organisation. */
  readonly website: WebsiteId
}

/** Of a rule, and of what does not arrive, that were read; null if either is one that only a later release knows. */
export function knownAbout(rule: string, of: string): Pick<AlertSubject, 'rule' | 'of'> | null {
  const knownRule = ALERT_KINDS.find((each) => each === rule)
  const knownOf = (['', ...ARRIVALS] as const).find((each) => each === of)
  return knownRule === undefined || knownOf === undefined ? null : { rule: knownRule, of: knownOf }
}

/**
 * Why an alert was closed. `usual`: it is as it should be again. `not_compared`: there is too little to judge it by. `off`: its rule was switched off.
 * `website_gone`: its website was deleted.
 */
export const ALERT_ENDS = ['usual', 'not_compared', 'off', 'website_gone'] as const
export type AlertEnd = (typeof ALERT_ENDS)[number]

/** What was measured, and against what. Whole numbers; rates in per cent. */
export interface AlertMeasure {
  readonly value: number
  /** What is usual, or for deliveries and quotas the whole. */
  readonly expected: number
  readonly threshold: number
}

/** An alert was opened, or closed. Two records with the same ID and state are one. */
export interface AlertRecord extends AlertSubject, AlertMeasure {
  readonly v: 1
  readonly kind: 'alert'
  readonly id: string
  readonly organization: string
  /** The day that opened it, or the month: "2026-11-28", "2026-11". */
  readonly period: string
  readonly state: 'opened' | 'closed'
  readonly atMs: number
  /** Only of one that is closed. */
  readonly end?: AlertEnd
  /** Number of the catalog that it was judged with. */
  readonly catalogNumber: number
}

/** An alert as far as judging needs to know it. */
export interface KnownAlert extends AlertSubject {
  readonly id: string
  readonly isOpen: boolean
}

/** What tells alerts of an organisation apart. */
export interface AlertKey extends AlertSubject {
  readonly organization: string
  readonly period: string
}

/** 32 hex digits; the same whoever judges, and however often. */
export function alertId({ organization, website, rule, of, period }: AlertKey, sha256Hex: Sha256Hex): string {
  return sha256Hex(['alert', organization, website, rule, of, period].join('\n')).slice(0, 32)
}

/** Tells what is judged of one organisation apart. */
export function subjectKey({ website, rule, of }: AlertSubject): string {
  return `${website}\t${rule}\t${of}`
}
