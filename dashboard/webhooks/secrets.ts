/** Creates the secrets of webhooks: each is shown once, in the answer to the request that created it. */

import { refuse } from '../../domain/errors.ts'
import { createResource, notTriedOut, writeSpec, type WriteParts } from '../configuration/write.ts'
import { makeSigningSecret, rotatedRefs, withShownSecret } from '../configuration/signing-secret.ts'
import type { Call } from '../http/call.ts'
import { ownWebhook } from './own.ts'

/** Makes a webhook and its secret. */
export function createWebhook(parts: WriteParts) {
  const create = createResource(parts)
  return async (call: Call) => {
    const made = await makeSigningSecret(call, null, parts)
    if ('code' in made) return made
    const { name, ...fields } = call.body
    const body = { ...(name === undefined ? {} : { name }), spec: { ...fields, secretRef: made.ref } }
    const created = await create({ ...call, params: { ...call.params, kind: 'Webhook' }, body })
    return withShownSecret(notTriedOut(created), made.secret)
  }
}

/** Another secret; the one before signs too for 24 hours, and the one before that no more. */
export function rotateSecret(parts: WriteParts) {
  return async (call: Call) => {
    const webhook = ownWebhook(call, parts.inventory)
    if ('code' in webhook) return webhook
    const stored = await parts.writer.read(webhook)
    if (stored === null) return refuse('not_found')
    const made = await makeSigningSecret(call, webhook, parts)
    if ('code' in made) return made
    const after = { ...stored.spec, ...rotatedRefs(call, made, stored.spec['secretRef']) }
    return withShownSecret(notTriedOut(await writeSpec(parts, call, { ref: webhook, stored, after })), made.secret)
  }
}
