/** Routes about configuration: objects of all kinds, Secrets that are only written, new organisations, and what keeps a set-up from working. */

import { Type } from 'typebox'

import { LIMITS, REPLAY_RULES } from '../../domain/limits.ts'
import { PLANS } from '../../domain/model.ts'
import { PAGE_FAILURES, PAGE_FINDINGS } from '../../domain/onboarding/page-check.ts'
import { SET_UP_TROUBLES } from '../../domain/onboarding/troubles.ts'
import { PROVIDER_IDS } from '../../domain/providers/index.ts'
import { OBJECT_NAME_SCHEMA, SECRET_KEY_SCHEMA } from '../../domain/resources/envelope.ts'
import { displayName } from '../../domain/resources/resource-fields.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import { LISTED_OBJECT, SPEC, STORED_OBJECT, TRIED_OBJECT, WARNING, WRITTEN_OBJECT } from './objects.ts'
import type { RouteRow } from './route.ts'
import { FLAG, MAYBE_TIME, maybe, NUMBER, TEXT, typed, WEBSITE_PARAMETER } from './shapes.ts'

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

const TROUBLE = Type.Object(
  {
    step: oneOf(['visit_seen', 'hook_reached', 'install_matched'], 'The step of the checklist that it keeps open.'),
    trouble: oneOf(SET_UP_TROUBLES, 'What is wrong.'),
    origin: maybe(TEXT, 'The origin that is not registered; null where there is none to name.'),
    at: maybe(NUMBER, 'Unix ms, of the newest; null for what holds whatever comes.'),
    count: NUMBER,
  },
  { $id: 'SetUpTrouble' },
)

const { page_checks: CHECKS, destination_trials: TRIALS } = REPLAY_RULES

export const SET_UP_ROUTES = {
  setUp: {
    method: 'GET',
    path: '/api/organizations/:organization/set-up',
    needs: 'Viewer',
    rate: 'read',
    query: { website: WEBSITE_PARAMETER },
    summary: 'What keeps steps of the set-up from completing, by the requests of the last hour and the newest install.',
    answers: {
      200: Type.Object({
        plan: oneOf(PLANS, 'Of the organisation.'),
        seen: Type.Object(
          { visit: MAYBE_TIME, activation: MAYBE_TIME, handoff: MAYBE_TIME, install: MAYBE_TIME },
          { description: 'When the newest of the last hour was taken, tests included.' },
        ),
        troubles: Type.Array(TROUBLE),
      }),
    },
  },
  checkPage: {
    method: 'POST',
    path: '/api/organizations/:organization/websites/:website/page-checks',
    needs: 'Member',
    rate: 'write',
    body: Type.Object({
      url: Type.String({
        description: 'Address of a page on one of the origins of the website.',
        minLength: 1,
        maxLength: LIMITS.outboundUrlChars,
      }),
    }),
    summary: `Fetch a page and say what its source lacks; nothing of the page is passed on. ${CHECKS.limit} an hour for the organisation, one at a time.`,
    answers: {
      200: Type.Object({
        failure: maybe(oneOf(PAGE_FAILURES), 'Why the page could not be read; null if it was.'),
        status: maybe(NUMBER, 'Of the answer; null if none came.'),
        findings: Type.Array(oneOf(PAGE_FINDINGS), { description: 'The most certain first; none without a page.' }),
      }),
    },
  },
  tryDestination: {
    method: 'POST',
    path: '/api/organizations/:organization/websites/:website/destination-trials',
    needs: 'Member',
    rate: 'write',
    refuses: ['plan_required'],
    summary: `Try settings and credentials of a destination with a marked test event, which counts nowhere; nothing is stored. ${TRIALS.limit} an hour for the organisation, one at a time.`,
    body: Type.Object({
      provider: oneOf(PROVIDER_IDS),
      settings: typed<Readonly<Record<string, unknown>>>({
        type: 'object',
        description: "The provider's block of a Destination, without its reference to a Secret.",
        additionalProperties: true,
      }),
      values: CREDENTIALS,
    }),
    answers: {
      200: Type.Object({
        verdict: oneOf(
          ['passed', 'refused', 'unclear'],
          'Whether the provider takes it, as far as that can be tested.',
        ),
        code: Type.String({ description: 'What decided it.' }),
        facility: Type.String({ description: 'How it was tested, in words.' }),
        status: maybe(NUMBER, "Of the provider's answer; null if none came."),
        answer: Type.String({ description: "The beginning of the provider's answer, without credentials." }),
      }),
    },
  },
} as const satisfies Record<string, RouteRow>
