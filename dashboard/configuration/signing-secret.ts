/** Makes the secrets that sign what webhooks and log streams post: each is shown once, in the answer to the request that made it. */

import { refuse, refuseField, type Refusal } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { Answer, OrganizationCall } from '../http/call.ts'
import type { ResourceAddress, WriteOutcome } from '../resources/writer.ts'
import { refuseFull, secretRoom } from './secrets.ts'
import { randomName } from './random-name.ts'
import type { WriteParts } from './write.ts'

/** What refers to a secret, as the request that makes it would write it. */
type WriteReferring = (parts: WriteParts, call: OrganizationCall, ref: SecretRef) => Promise<Answer | Refusal>

interface SecretUse {
  /** The object that the secret goes with, if it exists already. */
  readonly owner: ResourceAddress | null
  readonly write: WriteReferring
}

/** Within the 24 to 64 of the Standard Webhooks specification. */
const SECRET_BYTES = 32
const KEY = 'secret'

export interface SecretRef {
  readonly name: string
  readonly key: string
}

interface MadeSecret {
  readonly secret: string
  readonly ref: SecretRef
}

/**
 * Makes a secret in the namespace of the organisation. What will refer to it is tried out first: with a refusal, a Secret would stay
 * that nobody knows.
 */
export async function makeSigningSecret(
  call: OrganizationCall,
  { owner, write }: SecretUse,
  parts: WriteParts,
): Promise<MadeSecret | Refusal> {
  const { writer, randomness } = parts
  const { namespace, tenant = null } = call.scope.organization
  const name = randomName('Secret', randomness)
  const dry = { ...call, query: { ...call.query, dryRun: 'All' } }
  const tried = await write(asIfMade(parts), dry, { name, key: KEY })
  if (tried.kind === 'refused') return withoutPatch(tried)
  const secret = `whsec_${Buffer.from(randomness.bytes(SECRET_BYTES)).toString('base64')}`
  const room = secretRoom(call, parts.inventory)
  const outcome = await writer.createSecret({ namespace, name, values: { [KEY]: secret }, tenant, owner, room })
  if (outcome.kind === 'written') return { secret, ref: { name, key: KEY } }
  if (outcome.kind === 'full') return refuseFull(call, { ...room, ...outcome })
  return outcome.kind === 'refused' ? refuseField('', outcome.message) : refuse('conflict')
}

/** The same parts, to which it is no fault that the Secret is not there yet. */
function asIfMade(parts: WriteParts): WriteParts {
  const { inventory, writer } = parts
  const isExpected = ({ reason, field }: { readonly reason: string; readonly field: string }): boolean =>
    reason === 'RefNotFound' && field.endsWith('/secretRef/name')
  const fitting = (outcome: WriteOutcome): WriteOutcome =>
    outcome.kind === 'refused' && isExpected(outcome) ? { kind: 'fits', spec: {} } : outcome
  return {
    ...parts,
    inventory: {
      ...inventory,
      judge: (change) => {
        const { refusals, warnings } = inventory.judge(change)
        return { refusals: refusals.filter((each) => !isExpected(each)), warnings }
      },
    },
    writer: {
      ...writer,
      create: async (object, manner) => fitting(await writer.create(object, manner)),
      replace: async (object, version, manner) => fitting(await writer.replace(object, version, manner)),
    },
  }
}

/** Whoever copied it would refer to a Secret that does not exist. */
function withoutPatch(refusal: Refusal): Refusal {
  const { patch: _patch, ...extra } = refusal.extra ?? {}
  return { ...refusal, extra }
}

export function withShownSecret<Body extends object, Status extends 200 | 201>(
  outcome: Answer<Body, Status> | Refusal,
  secret: string,
) {
  if (outcome.kind === 'refused') return outcome
  return { ...outcome, body: { ...outcome.body, secret } }
}

/** The fields that refer to the new secret, and to the one before for as long as it signs too. */
export function rotatedRefs(call: { readonly nowMs: number }, ref: SecretRef, before: unknown) {
  const until = `${new Date(call.nowMs + LIMITS.webhookSecretOverlapMs).toISOString().slice(0, 19)}Z`
  return { secretRef: ref, previousSecretRef: before, previousSecretUntil: until }
}
