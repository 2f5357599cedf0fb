/** Routes about configuration: objects of all kinds, Secrets that are only written, and new organisations. */

import { Type } from 'typebox'

import { LIMITS } from '../../domain/limits.ts'
import { OBJECT_NAME_SCHEMA, SECRET_KEY_SCHEMA } from '../../domain/resources/envelope.ts'
import { displayName } from '../../domain/resources/resource-fields.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import { LISTED_OBJECT, SPEC, STORED_OBJECT, TRIED_OBJECT, WARNING, WRITTEN_OBJECT } from './objects.ts'
import type { RouteRow } from './route.ts'
import { FLAG, NUMBER, TEXT, typed } from './shapes.ts'

const KIND = '/api/organizations/:organization/resources/:kind'
const OBJECT = `${KIND}/:namespace/:name` as const

const QUERY = { dryRun: oneOf(['All'], 'Check only, and write nothing.') }

const chosenName = (description: string) => Type.Optional(Type.String({ ...OBJECT_NAME_SCHEMA, description }))
const OWNER = chosenName('Name of the object that the Secret goes with.')

const CREDENTIALS = typed<Readonly<Record<string, string>>>({
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
})

const TIME_ZONE = Type.String({
  description: 'Of days in figures, by its name in the IANA database; UTC if absent.',
  minLength: 1,
  maxLength: LIMITS.timeZoneChars,
})

export const CONFIGURATION_ROUTES = {
  resources: {
    method: 'GET',
    path: KIND,
    needs: 'Viewer',
    rate: 'read',
    summary: 'Objects of one kind, with their conditions and managers.',
    answers: { 200: Type.Object({ resources: Type.Array(LISTED_OBJECT) }) },
  },
  createResource: {
    method: 'POST',
    path: KIND,
    needs: 'Member',
    rate: 'write',
    query: QUERY,
    refuses: ['conflict', 'managed_elsewhere', 'plan_limit', 'plan_required'],
    versions: ['given'],
    summary: 'Create an object; the answer has the warnings of the compiler.',
    body: Type.Object({ name: chosenName('Name of the object; a random one if it is absent.'), spec: SPEC }),
    answers: { 200: TRIED_OBJECT, 201: WRITTEN_OBJECT },
  },
  resource: {
    method: 'GET',
    path: OBJECT,
    needs: 'Viewer',
    rate: 'read',
    versions: ['given'],
    summary: 'One object, with its version as ETag and the fields that are read-only.',
    answers: { 200: STORED_OBJECT },
  },
  changeResource: {
    method: 'PUT',
    path: OBJECT,
    needs: 'Member',
    rate: 'write',
    query: QUERY,
    refuses: ['conflict', 'version_required', 'managed_elsewhere', 'plan_limit', 'plan_required'],
    versions: ['seen', 'given'],
    summary: 'Change an object: its whole spec, with its version as If-Match.',
    body: Type.Object({ spec: SPEC }),
    answers: { 200: Type.Union([TRIED_OBJECT, WRITTEN_OBJECT]) },
  },
  removeResource: {
    method: 'DELETE',
    path: OBJECT,
    needs: 'Member',
    rate: 'write',
    query: QUERY,
    refuses: ['conflict', 'version_required', 'managed_elsewhere', 'plan_limit', 'plan_required'],
    versions: ['seen'],
    summary: 'Delete an object, with its version as If-Match.',
    answers: { 200: Type.Object({ fits: FLAG, warnings: Type.Array(WARNING) }), 204: null },
  },
  createSecret: {
    method: 'POST',
    path: '/api/organizations/:organization/secrets',
    needs: 'Member',
    rate: 'write',
    refuses: ['conflict', 'plan_limit', 'plan_required'],
    summary: 'Store credentials in a new Secret, which cannot be read here again; answers its name.',
    body: Type.Object({ values: CREDENTIALS, destination: OWNER, logStream: OWNER }),
    answers: { 201: Type.Object({ name: TEXT, keys: Type.Array(TEXT) }) },
  },
  createTestMark: {
    method: 'POST',
    path: '/api/organizations/:organization/websites/:website/test',
    needs: 'Member',
    rate: 'write',
    summary: 'Sign the mark of a test, for ten minutes: what carries it is recorded, and in no figure and no delivery.',
    answers: {
      201: Type.Object({
        mark: Type.String({ description: "For the hook's `--test`." }),
        expiresAt: NUMBER,
        link: Type.String({ description: 'A page of the website, with the mark for its script.' }),
      }),
    },
  },
  signUp: {
    method: 'POST',
    path: '/api/organizations',
    needs: 'Person',
    rate: 'write',
    refuses: ['forbidden', 'person_limit', 'conflict'],
    summary: 'Create an organisation, if sign-up is open.',
    body: Type.Object({ displayName: typed<string>(displayName), timeZone: Type.Optional(TIME_ZONE) }),
    answers: { 201: Type.Object({ id: TEXT }) },
  },
} as const satisfies Record<string, RouteRow>
