/** Digest of a spec, whatever the order of its members. */

import type { Sha256Hex } from '../origin.ts'
import { canonicalText } from './field-owners.ts'

export function specDigest(spec: unknown, sha256Hex: Sha256Hex): string {
  return sha256Hex(canonicalText(spec))
}
