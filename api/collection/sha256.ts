/** SHA-256 of a text, for IDs of pages. */

import { hash } from 'node:crypto'

/** Lower-case hex. */
export function sha256Hex(text: string): string {
  return hash('sha256', text, 'hex')
}
