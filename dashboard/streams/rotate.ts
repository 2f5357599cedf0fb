/** Gives a log stream to a webhook another secret; the one before signs too for 24 hours. */

import { refuse, refuseField } from '../../domain/errors.ts'
import { makeSigningSecret, rotatedRefs, withShownSecret } from '../configuration/signing-secret.ts'
import { notTriedOut, writeSpec, type WriteParts } from '../configuration/write.ts'
import type { Call } from '../http/call.ts'
import { streamOf } from './find.ts'

/** The answer alone shows the secret. A stream to a bucket has none. */
export function rotateStreamSecret(parts: WriteParts) {
  return async (call: Call) => {
    const ref = streamOf(call, parts.inventory)
    const stored = ref === null ? null : await parts.writer.read(ref)
    if (ref === null || stored === null) return refuse('not_found')
    const webhook = stored.spec['webhook'] as Readonly<Record<string, unknown>> | undefined
    if (webhook === undefined) return refuseField('/stream', 'writes to a bucket, which no secret signs for')
    const made = await makeSigningSecret(call, ref, parts)
    if ('code' in made) return made
    const after = { ...stored.spec, webhook: { ...webhook, ...rotatedRefs(call, made, webhook['secretRef']) } }
    return withShownSecret(notTriedOut(await writeSpec(parts, call, { ref, stored, after })), made.secret)
  }
}
