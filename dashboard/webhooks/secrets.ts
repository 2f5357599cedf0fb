/** Creates the secrets of webhooks: each is shown once, in the answer to the request that created it. */

import { refuse } from '../../domain/errors.ts'
import { createObject, notTriedOut, writeSpec, type WriteParts } from '../configuration/write.ts'
import { makeSigningSecret, rotatedRefs, withShownSecret, type SecretRef } from '../configuration/signing-secret.ts'
import type { OrganizationCall, CallTo } from '../http/call.ts'
import { ownWebhook } from './own.ts'

/** Makes a webhook and its secret. */
export function createWebhook(parts: WriteParts) {
  return async (call: CallTo<'createWebhook'>) => {
    const { name, ...fields } = call.body
    const named = name === undefined ? {} : { name }
    const write = (using: WriteParts, asked: OrganizationCall, secretRef: SecretRef) =>
      createObject(using, asked, { ...named, kind: 'Webhook', spec: { ...fields, secretRef } })
    const made = await makeSigningSecret(call, { owner: null, write }, parts)
    if ('code' in made) return made
    return withShownSecret(notTriedOut(await write(parts, call, made.ref)), made.secret)
  }
}

/** Another secret; the one before signs too for 24 hours, and the one before that no more. */
export function rotateSecret(parts: WriteParts) {
  return async (call: CallTo<'rotateWebhookSecret'>) => {
    const webhook = ownWebhook(call, parts.inventory)
    if ('code' in webhook) return webhook
    const stored = await parts.writer.read(webhook)
    if (stored === null) return refuse('not_found')
    const write = (using: WriteParts, asked: OrganizationCall, ref: SecretRef) => {
      const after = { ...stored.spec, ...rotatedRefs(call, ref, stored.spec['secretRef']) }
      return writeSpec(using, asked, { ref: webhook, stored, after })
    }
    const made = await makeSigningSecret(call, { owner: webhook, write }, parts)
    if ('code' in made) return made
    return withShownSecret(notTriedOut(await write(parts, call, made.ref)), made.secret)
  }
}
