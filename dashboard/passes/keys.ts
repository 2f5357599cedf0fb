/** Lists, makes and revokes API keys. */

import { sha256Hex } from '../../common/digest.ts'
import { shownName } from '../../domain/catalog/objects.ts'
import { KEY_SCOPES } from '../../domain/model.ts'
import { apiKeyText } from '../../domain/people/api-key.ts'
import { hashOfPass, PASS_BYTES } from '../../domain/people/pass.ts'
import { isList } from '../../domain/guards.ts'
import type { KEY_ADMIN_ROUTES } from '../api/keys.ts'
import { createObject, notTriedOut, type WriteParts } from '../configuration/write.ts'
import { answer, answerCreated, type CallTo, type HandlersOf } from '../http/call.ts'
import { answeredPass, namesInForce, revokePass, type PassAdminParts } from './passes.ts'

export function keyAdminHandlers(parts: PassAdminParts): HandlersOf<typeof KEY_ADMIN_ROUTES> {
  const { writing } = parts
  return { apiKeys: listKeys(parts), createApiKey: createKey(writing), revokeApiKey: revokePass(writing, 'ApiKey') }
}

function listKeys({ directory, writing: { inventory } }: PassAdminParts) {
  return async (call: CallTo<'apiKeys'>) => {
    const inForce = namesInForce(directory.passes().apiKeys, call)
    const keys = inventory.list('ApiKey', call.scope.organization.id).map((object) => {
      const { scopes } = object.spec
      return {
        ...answeredPass(object, inForce.has(shownName(object))),
        scopes: isList(scopes) ? KEY_SCOPES.filter((scope) => scopes.includes(scope)) : [],
      }
    })
    return answer({ keys })
  }
}

function createKey(writing: WriteParts) {
  return async (call: CallTo<'createApiKey'>) => {
    const { displayName, scopes, expiresAt } = call.body
    const key = apiKeyText(writing.randomness.bytes(PASS_BYTES))
    const spec = { displayName, scopes, expiresAt, keyHash: hashOfPass(key, sha256Hex) }
    const made = notTriedOut(await createObject(writing, call, { kind: 'ApiKey', spec }))
    if (made.kind === 'refused') return made
    const { namespace, name, warnings } = made.body
    return answerCreated({ namespace, name, key, warnings })
  }
}
