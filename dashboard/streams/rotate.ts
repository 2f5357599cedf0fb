/** Gives a log stream to a webhook another secret; the one before signs too for 24 hours. */

import { isObject } from '../../domain/strict-json.ts'
import { refuse, refuseField } from '../../domain/errors.ts'
import { makeSigningSecret, rotatedRefs, withShownSecret, type SecretRef } from '../configuration/signing-secret.ts'
import { notTriedOut, writeSpec, type WriteParts } from '../configuration/write.ts'
import type { OrganizationCall, CallTo } from '../http/call.ts'
import { streamOf } from './find.ts'

/** The answer alone shows the secret. A stream to a bucket has none. */
export function rotateStreamSecret(parts: WriteParts) {
  return async (call: CallTo<'rotateStreamSecret'>) => {
    const ref = streamOf(call, parts.inventory)
    const stored = ref === null ? null : await parts.writer.read(ref)
    if (ref === null || stored === null) return refuse('not_found')
    const { webhook } = stored.spec
    if (!isObject(webhook)) return refuseField('/stream', 'writes to a bucket, which no secret signs for')
    const write = (using: WriteParts, asked: OrganizationCall, secretRef: SecretRef) => {
      const rotated = { ...webhook, ...rotatedRefs(call, secretRef, webhook['secretRef']) }
      return writeSpec(using, asked, { ref, stored, after: { ...stored.spec, webhook: rotated } })
    }
    const made = await makeSigningSecret(call, { owner: ref, write }, parts)
    if ('code' in made) return made
    return withShownSecret(notTriedOut(await write(parts, call, made.ref)), made.secret)
  }
}
