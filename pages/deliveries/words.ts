/** What deliveries are, and what one can do about them, in a reader's words. */

import { DELIVERY_REASONS } from '../../domain/reasons.ts'

/** The table of reasons that the service itself goes by. */
export function sentenceOfReason(reason: string): string {
  const rows: Readonly<Record<string, { readonly when: string }>> = DELIVERY_REASONS
  return rows[reason]?.when ?? reason
}

/** What to do about an answer of a provider; 0: there was none. */
export function adviceOf(status: number): string {
  if (status === 401 || status === 403) {
    return 'Give the destination new credentials in Resources. What waits is sent as soon as the provider takes them.'
  }
  if (status === 429) return 'Nothing: the service slows down by itself and tries again.'
  if (status === 0 || status >= 500) {
    return 'Nothing, unless it lasts for hours: each delivery is tried again until its deadline. Then look at the provider’s status page.'
  }
  if (status >= 300) {
    return 'The provider will refuse the same again. Read its words, change the destination in Resources, then send what failed once more.'
  }
  return 'Open one of them: its tries say what was expected.'
}
