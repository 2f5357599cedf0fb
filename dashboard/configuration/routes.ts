/** Routes about configuration: objects of all kinds, Secrets that are only written, and new organisations. */

import { LIMITS } from '../../domain/limits.ts'
import { displayName } from '../../domain/resources/resource-fields.ts'
import { OBJECT_NAME_SCHEMA, SECRET_KEY_SCHEMA } from '../../domain/resources/envelope.ts'
import { objectSchema, type JsonSchema } from '../../domain/schema/json-schema.ts'
import type { HandlersOf } from '../http/call.ts'
import type { RouteRow } from '../http/route.ts'
import { listResources, readResource } from './read.ts'
import { createSecret } from './secrets.ts'
import { signUp, type SignUpParts } from './sign-up.ts'
import { changeResource, createResource, removeResource, type WriteParts } from './write.ts'

const KIND = '/api/organizations/:organization/resources/:kind'
const OBJECT = `${KIND}/:namespace/:name` as const

const spec: JsonSchema = {
  type: 'object',
  description: 'As docs/resources.md says for its kind.',
  additionalProperties: true,
}
const query = {
  dryRun: { type: 'string', description: 'Check only, and write nothing.', enum: ['All'] },
} as const satisfies Record<string, JsonSchema>
const name: JsonSchema = { ...OBJECT_NAME_SCHEMA, description: 'Name of the object; a random one if it is absent.' }
const owner: JsonSchema = { ...OBJECT_NAME_SCHEMA, description: 'Name of the object that the Secret goes with.' }

export const CONFIGURATION_ROUTES = {
  resources: {
    method: 'GET',
    path: KIND,
    needs: 'Viewer',
    rate: 'read',
    summary: 'Objects of one kind, with their conditions and managers.',
  },
  createResource: {
    method: 'POST',
    path: KIND,
    needs: 'Member',
    rate: 'write',
    query,
    refuses: ['conflict', 'managed_elsewhere', 'plan_limit', 'plan_required'],
    summary: 'Create an object; the answer has the warnings of the compiler.',
    body: objectSchema({ name, spec }, ['spec']),
  },
  resource: {
    method: 'GET',
    path: OBJECT,
    needs: 'Viewer',
    rate: 'read',
    summary: 'One object, with its version as ETag and the fields that are read-only.',
  },
  changeResource: {
    method: 'PUT',
    path: OBJECT,
    needs: 'Member',
    rate: 'write',
    query,
    refuses: ['conflict', 'version_required', 'managed_elsewhere', 'plan_limit', 'plan_required'],
    summary: 'Change an object: its whole spec, with its version as If-Match.',
    body: objectSchema({ spec }, ['spec']),
  },
  removeResource: {
    method: 'DELETE',
    path: OBJECT,
    needs: 'Member',
    rate: 'write',
    query,
    refuses: ['conflict', 'version_required', 'managed_elsewhere', 'plan_limit', 'plan_required'],
    summary: 'Delete an object, with its version as If-Match.',
  },
  createSecret: {
    method: 'POST',
    path: '/api/organizations/:organization/secrets',
    needs: 'Member',
    rate: 'write',
    refuses: ['conflict', 'plan_limit', 'plan_required'],
    summary: 'Store credentials in a new Secret, which cannot be read here again; answers its name.',
    body: objectSchema(
      {
        values: {
          type: 'object',
          description: 'Texts by key.',
          minProperties: 1,
          maxProperties: 8,
          propertyNames: SECRET_KEY_SCHEMA,
          additionalProperties: {
            type: 'string',
            description: 'A credential.',
            minLength: 1,
            maxLength: LIMITS.credentialBytes,
          },
        },
        destination: owner,
        logStream: owner,
      },
      ['values'],
    ),
  },
  signUp: {
    method: 'POST',
    path: '/api/organizations',
    needs: 'Person',
    rate: 'write',
    refuses: ['forbidden', 'person_limit', 'conflict'],
    summary: 'Create an organisation, if sign-up is open.',
    body: objectSchema({ displayName }, ['displayName']),
  },
} as const satisfies Record<string, RouteRow>

export function configurationHandlers(parts: WriteParts & SignUpParts): HandlersOf<typeof CONFIGURATION_ROUTES> {
  return {
    resources: listResources(parts),
    createResource: createResource(parts),
    resource: readResource(parts),
    changeResource: changeResource(parts),
    removeResource: removeResource(parts),
    createSecret: createSecret(parts),
    signUp: signUp(parts),
  }
}
