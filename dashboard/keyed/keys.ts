/** Lists, makes and revokes API keys. Each is an object of the configuration like others, so that kubectl and Git may hold it, too. */

import { sha256Hex } from '../../common/digest.ts'
import { shownName } from '../../domain/catalog/objects.ts'
import { refuse } from '../../domain/errors.ts'
import { KEY_SCOPES } from '../../domain/model.ts'
import { API_KEY_BYTES, apiKeyText, hashOfKey } from '../../domain/people/api-key.ts'
import { isList } from '../../domain/guards.ts'
import { textOf } from '../../domain/strict-json.ts'
import type { KEY_ADMIN_ROUTES } from '../api/keys.ts'
import { createObject, notTriedOut, type WriteParts } from '../configuration/write.ts'
import { answer, answerCreated, DONE, type CallTo, type HandlersOf } from '../http/call.ts'
import { refusedWrite } from '../people/members.ts'
import type { Directory } from '../resources/directory.ts'
import type { ListedObject } from '../resources/inventory.ts'

interface KeyAdminParts {
  readonly directory: Directory
  readonly writing: WriteParts
}

export function keyAdminHandlers({ directory, writing }: KeyAdminParts): HandlersOf<typeof KEY_ADMIN_ROUTES> {
  return { apiKeys: listKeys(directory, writing), createApiKey: createKey(writing), revokeApiKey: revokeKey(writing) }
}

function listKeys(directory: Directory, { inventory }: WriteParts) {
  return async (call: CallTo<'apiKeys'>) => {
    const { id } = call.scope.organization
    const inForce = new Set(
      [...directory.apiKeys().values()]
        .filter(({ organization, expiresAtMs }) => organization === id && expiresAtMs > call.nowMs)
        .map(shownName),
    )
    const keys = inventory.list('ApiKey', id).map((object) => answeredKey(object, inForce.has(shownName(object))))
    return answer({ keys })
  }
}

/** Of an object that may be refused, as far as it can be read. */
function answeredKey({ namespace, name, createdAt, conditions, origin, spec }: ListedObject, isInForce: boolean) {
  const { displayName, scopes, expiresAt } = spec
  const expiresAtMs = Date.parse(textOf(expiresAt))
  return {
    namespace,
    name,
    displayName: typeof displayName === 'string' ? displayName : name,
    scopes: isList(scopes) ? KEY_SCOPES.filter((scope) => scopes.includes(scope)) : [],
    createdAt,
    expiresAt: Number.isNaN(expiresAtMs) ? 0 : expiresAtMs,
    isInForce,
    conditions,
    origin,
  }
}

function createKey(writing: WriteParts) {
  return async (call: CallTo<'createApiKey'>) => {
    const { displayName, scopes, expiresAt } = call.body
    const key = apiKeyText(writing.randomness.bytes(API_KEY_BYTES))
    const spec = { displayName, scopes, expiresAt, keyHash: hashOfKey(key, sha256Hex) }
    const made = notTriedOut(await createObject(writing, call, { kind: 'ApiKey', spec }))
    if (made.kind === 'refused') return made
    const { namespace, name, warnings } = made.body
    return answerCreated({ namespace, name, key, warnings })
  }
}

/** It names no version: whatever was changed of the key meanwhile, it is to go. */
function revokeKey({ inventory, writer, trail }: WriteParts) {
  return async (call: CallTo<'revokeApiKey'>) => {
    const { namespace, name } = call.params
    const ref = { kind: 'ApiKey', namespace, name } as const
    const isOwn = inventory.organizationOf(ref) === call.scope.organization.id
    const stored = isOwn ? await writer.read(ref) : null
    if (stored === null) return refuse('not_found')
    await trail.noteRemoval(call, `ApiKey/${shownName(ref)}`)
    const outcome = await writer.remove(ref, stored.version, { mayTakeOver: true })
    return outcome.kind === 'written' ? DONE : refusedWrite(outcome)
  }
}
