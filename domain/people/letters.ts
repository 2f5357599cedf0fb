/**
 * Letters to send: what each is about, by IDs. Addresses and links are looked up when the letter is sent. Only a support
 * request carries its text, and a weekly mail its numbers, since nothing else keeps them.
 */

import type { ReadAlert } from '../alerts/alert-words.ts'
import { HOUR_MS } from '../durations.ts'
import { LIMITS } from '../limits.ts'
import type { WeeklySummary } from './weekly-summary.ts'

export type Letter =
  /** `link` names the one-time link; it is not the link's token. */
  | { readonly kind: 'sign-in'; readonly link: string }
  /** About a Member object; void once the object has another invitation, or none. */
  | {
      readonly kind: 'invitation'
      readonly namespace: string
      readonly name: string
      readonly invitation: string
      /** ID of the organisation whose activity reports a letter that could not be delivered. */
      readonly organization: string
    }
  | SupportLetter
  | WeeklyLetter
  | AlertNotice

/** A person's question to the operator of the service. */
export interface SupportLetter {
  readonly kind: 'support'
  /** ID of the organisation. */
  readonly organization: string
  readonly person: string
  /** The person to answer. */
  readonly email: string
  readonly message: string
  /** The text as the person saw it; empty if the person chose not to send it. */
  readonly diagnostics: string
}

/** The numbers of a week, to a member who wants them when it is sent. */
export interface WeeklyLetter {
  readonly kind: 'weekly'
  /** ID of the organisation. */
  readonly organization: string
  /** Of the Member object. */
  readonly namespace: string
  readonly name: string
  readonly summary: WeeklySummary
}

/** An alert was opened or closed. */
interface AlertNotice {
  readonly kind: 'alert'
  readonly organization: string
  /** Name of the Member. */
  readonly member: string
  readonly alert: ReadAlert
}

type LetterKind = Letter['kind']

/** For how long sending is tried, in ms. */
export const LETTER_LIFETIME_MS: { readonly [K in LetterKind]: number } = {
  'sign-in': LIMITS.signInMs,
  invitation: 24 * HOUR_MS,
  support: 72 * HOUR_MS,
  weekly: 24 * HOUR_MS,
  alert: 72 * HOUR_MS,
}

/**
 * How one try ended. `void`: there is nothing left to send. `later`: the letter could not be sent or was not accepted, and may
 * be tried again. `refused`: the mail server will never accept it.
 */
export type LetterOutcome = 'sent' | 'void' | 'later' | 'refused'
