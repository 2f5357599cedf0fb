/** Digests of texts and bytes. */

import { hash } from 'node:crypto'

/** The SHA-256 of UTF-8 text or of bytes, as 64 hexadecimal digits in lower case. */
export function sha256Hex(content: string | NodeJS.ArrayBufferView): string {
  return hash('sha256', content, 'hex')
}

/** The same in the form of the `integrity` attribute of a script or style. */
export function sha256Integrity(content: string | NodeJS.ArrayBufferView): string {
  return `sha256-${hash('sha256', content, 'base64')}`
}
