/** Signs what a person writes, so that the activity can name them. */

import { sha256Hex } from '../../common/digest.ts'
import { changedByText } from '../../domain/people/changed-by.ts'
import { specDigest } from '../../domain/resources/spec-digest.ts'
import { sessionOf, type Call } from '../http/call.ts'
import type { WriteManner } from '../resources/writer.ts'

/** Keyed hash under the key for changes. */
export type ChangeHash = (text: string) => string

export function signedBy(call: Call, changeHash: ChangeHash): NonNullable<WriteManner['sign']> {
  const { person } = sessionOf(call)
  const { requestId: request } = call
  return (subject, spec) =>
    changedByText({ subject, specDigest: specDigest(spec, sha256Hex), person, request }, changeHash)
}
