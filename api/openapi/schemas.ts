/** What the public interface answers: for the OpenAPI document, and for the types of the routes that answer it. */

import { keysOf } from '../../domain/typed-keys.ts'
import { Type, type TSchema } from 'typebox'

import { ERRORS } from '../../domain/errors.ts'
import { CROSS_ORIGINS, DELIVERY_STATUSES, PLANS, SELECTION_POLICIES } from '../../domain/model.ts'
import { PROVIDER_IDS } from '../../domain/providers/index.ts'
import { oneOf, type Shape } from '../../runtime/http/shapes.ts'

export type SchemaJson = Readonly<Record<string, unknown>>

const TEXT = Type.String()
const WHOLE = Type.Integer()
const OK = Type.Literal(true)
const RECORDED = Type.Optional(
  Type.Literal(false, { description: 'Present if a Free organisation is over its quota.' }),
)
const MODE = oneOf(['live', 'validate', 'none'])
/** Values by names that nobody can know in advance. */
function mapSchema<Schema extends TSchema>(values: Schema) {
  return { ...Type.Unsafe<Record<string, Shape<Schema>>>({}), type: 'object', additionalProperties: values }
}

const FLAGS = mapSchema(Type.Boolean())
const DIGEST = Type.String({ pattern: '^[0-9a-f]{64}$' })

const MARKER = Type.Object({
  format: Type.Literal('opfs-install-attribution'),
  version: Type.Literal(1),
  project: TEXT,
  url_id: TEXT,
  origin: TEXT,
  receipt: TEXT,
  created_at: WHOLE,
  expires_at: WHOLE,
})

const DELIVERY = Type.Object({
  destination: TEXT,
  status: oneOf<string>(DELIVERY_STATUSES),
  session_mode: oneOf(['original_session_window', 'client_only', 'none']),
})

const EVENT_ANSWER = Type.Object({
  ok: OK,
  event_id: TEXT,
  duplicate: Type.Boolean(),
  resolution: oneOf(
    ['matched', 'unmatched', 'counted', 'pending'],
    '`pending`: the data that decides it could not be read now. It is decided within seconds once that data is available, after an hour at the latest; reporting the same event again then returns the decision.',
  ),
  candidate_count: WHOLE,
  selection_policy: oneOf(SELECTION_POLICIES),
  ga: Type.Object({ status: TEXT, deliveries: Type.Array(DELIVERY) }),
  recorded: RECORDED,
})

const VISIT_ANSWER = Type.Object({ marker: MARKER, recorded: RECORDED })
const HANDOFF_ANSWER = Type.Object({
  ok: OK,
  token: TEXT,
  expires_at: WHOLE,
  receipt: Type.Optional(TEXT),
  recorded: RECORDED,
})
const ONLY_OK = Type.Object({ ok: OK })

const HEALTH = Type.Object({
  ok: OK,
  ga_mode: MODE,
  delivery: MODE,
  version: TEXT,
  catalog: Type.Object({ version: TEXT, isComplete: Type.Boolean() }),
  event_log: FLAGS,
  hot_state: FLAGS,
  facts: FLAGS,
})

const RATE = Type.Object({ limit: WHOLE, windowS: WHOLE, per: TEXT })
const ofPlans = (schema: object) => Type.Object(Object.fromEntries(PLANS.map((plan) => [plan, schema])))

/** By the names that the paths refer to. */
export const COMPONENTS = {
  Error: Type.Object({
    error: oneOf<string>(keysOf(ERRORS)),
    field: Type.Optional(TEXT),
    message: Type.Optional(TEXT),
    retryAfter: Type.Optional(WHOLE),
  }),
  Ok: ONLY_OK,
  VisitAnswer: VISIT_ANSWER,
  HandoffAnswer: HANDOFF_ANSWER,
  BrowserConfig: Type.Object({ measurementIds: Type.Array(TEXT), providers: Type.Array(oneOf(PROVIDER_IDS)) }),
  Origins: Type.Object({
    origins: Type.Array(TEXT),
    ignoredReferrers: Type.Array(TEXT),
    crossOrigin: oneOf(CROSS_ORIGINS),
  }),
  Health: HEALTH,
  EventAnswer: EVENT_ANSWER,
  Limits: Type.Object({
    plans: ofPlans({ type: 'object' }),
    // In the operator's own words: a number, a text, an object, or null.
    prices: ofPlans({}),
    rates: mapSchema(RATE),
    service: Type.Unsafe<object>({ type: 'object' }),
    notBuilt: Type.Object({ service: Type.Array(TEXT), rates: Type.Array(TEXT) }),
  }),
  SkillManifest: Type.Object({
    name: TEXT,
    version: TEXT,
    base_url: TEXT,
    files: Type.Array(Type.Object({ path: TEXT, sha256: DIGEST })),
    hook: Type.Object({ url: TEXT, sha256: DIGEST }),
  }),
}

/** What a component's name stands for. */
export type AnswerNamed<Name extends keyof typeof COMPONENTS> = Shape<(typeof COMPONENTS)[Name]>

/** What the endpoints of collection answer. */
export type CollectionAnswer = AnswerNamed<'Ok' | 'VisitAnswer' | 'HandoffAnswer' | 'EventAnswer'>
