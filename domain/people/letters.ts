/**
 * Letters to send: what each is about, by IDs. Addresses and links are looked up when it is sent; a support
 * request alone carries its text, since nothing else keeps it.
 */

import { HOUR_MS } from '../durations.ts'
import { LIMITS } from '../limits.ts'

export type Letter =
  /** `link` names the one-time link; it is not the link's token. */
  | { readonly kind: 'sign-in'; readonly link: string }
  /** Of a Member object; void once the object has another invitation, or none. */
  | {
      readonly kind: 'invitation'
      readonly namespace: string
      readonly name: string
      readonly invitation: string
      /** ID of the organisation, whose activity says so if it cannot be delivered. */
      readonly organization: string
    }
  | SupportLetter

/** A person's question to the operator of the service. */
export interface SupportLetter {
  readonly kind: 'support'
  /** ID of the organisation. */
  readonly organization: string
  readonly person: string
  /** Whom to answer. */
  readonly email: string
  readonly message: string
  /** As the person was shown it; empty if it was not to be sent. */
  readonly diagnostics: string
}

type LetterKind = Letter['kind']

/** For how long sending is tried, in ms. */
export const LETTER_LIFETIME_MS: { readonly [K in LetterKind]: number } = {
  'sign-in': LIMITS.signInMs,
  invitation: 24 * HOUR_MS,
  support: 72 * HOUR_MS,
}

/**
 * What came of one try. `void`: there is nothing to send any more. `later`: it could not be tried or was not taken, and may be
 * tried again. `refused`: the mail server will never take it.
 */
export type LetterOutcome = 'sent' | 'void' | 'later' | 'refused'
