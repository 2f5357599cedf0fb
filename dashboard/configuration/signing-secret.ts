/** Makes the secrets that sign what webhooks and log streams post: each is shown once, in the answer to the request that made it. */

import { refuse, refuseField, type Refusal } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { scopeOf, type Answer, type Call } from '../http/call.ts'
import type { ResourceAddress } from '../resources/writer.ts'
import { randomName } from './random-name.ts'
import type { WriteParts } from './write.ts'

/** Within the 24 to 64 of the Standard Webhooks specification. */
const SECRET_BYTES = 32
const KEY = 'secret'

interface MadeSecret {
  readonly secret: string
  readonly ref: { readonly name: string; readonly key: string }
}

/** Makes a secret in the namespace of the organisation; `owner`: the object that it goes with, if it exists already. */
export async function makeSigningSecret(
  call: Call,
  owner: ResourceAddress | null,
  { writer, randomness }: WriteParts,
): Promise<MadeSecret | Refusal> {
  const { namespace, tenant = null } = scopeOf(call).organization
  const secret = `whsec_${Buffer.from(randomness.bytes(SECRET_BYTES)).toString('base64')}`
  const name = randomName('Secret', randomness)
  const outcome = await writer.createSecret({ namespace, name, values: { [KEY]: secret }, tenant, owner })
  if (outcome.kind === 'written') return { secret, ref: { name, key: KEY } }
  return outcome.kind === 'refused' ? refuseField('', outcome.message) : refuse('conflict')
}

export function withShownSecret<Body extends object, Status extends 200 | 201>(
  outcome: Answer<Body, Status> | Refusal,
  secret: string,
) {
  if (outcome.kind === 'refused') return outcome
  return { ...outcome, body: { ...outcome.body, secret } }
}

/** The fields that refer to the new secret, and to the one before for as long as it signs too. */
export function rotatedRefs(call: Pick<Call, 'nowMs'>, { ref }: MadeSecret, before: unknown) {
  const until = `${new Date(call.nowMs + LIMITS.webhookSecretOverlapMs).toISOString().slice(0, 19)}Z`
  return { secretRef: ref, previousSecretRef: before, previousSecretUntil: until }
}
