/** What is wrong with a text of ad spend, to follow the name of its column; null if nothing is. */

import { LIMITS } from '../limits.ts'
import { isCurrency } from './currencies.ts'

export function wrongSource(text: string): string | null {
  return text === '' ? 'is empty' : wrongName(text)
}

/** Of a source or campaign: as visits hold it, so that it can be compared. Nothing is cut off or taken away. */
export function wrongName(text: string): string | null {
  if (text.length > LIMITS.utmChars) return `must have at most ${LIMITS.utmChars} characters`
  if (/\p{Cc}/u.test(text)) return 'has a control character or a line break'
  return text === text.trim() ? null : 'begins or ends with a space'
}

export function wrongCurrency(text: string): string | null {
  return isCurrency(text) ? null : 'must be a code of ISO 4217, such as EUR'
}
