/**
 * The diagnostics of a support request: only what the schema lists, so no bodies, no addresses and no secrets. The person
 * sees them first, and sends back what was shown.
 */

import { DAY_MS } from '../../domain/durations.ts'
import { ERRORS } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { MEMBER_ROLES, PLANS } from '../../domain/model.ts'
import { CONDITION_TYPES } from '../../domain/resources/conditions.ts'
import { OBJECT_NAME_SCHEMA } from '../../domain/resources/envelope.ts'
import { RESOURCE_KINDS } from '../../domain/resources/resources.ts'
import { objectSchema, type JsonSchema } from '../../domain/schema/json-schema.ts'
import { scopeOf, type Call } from '../http/call.ts'
import type { ReadScope } from '../reads/scope.ts'
import type { Inventory } from '../resources/inventory.ts'

const VERSION_CHARS = 64
const CONDITIONS_MAX = 50
const ERRORS_MAX = 20
/** One of our codes, or a reason of the compiler. */
const WORD: JsonSchema = { type: 'string', maxLength: 64, pattern: '^[A-Za-z_]*$' }

export const DIAGNOSTICS_SCHEMA: JsonSchema = {
  ...objectSchema(
    {
      version: {
        type: 'string',
        description: 'Of this service.',
        maxLength: VERSION_CHARS,
        pattern: '^[0-9A-Za-z.+-]*$',
      },
      plan: { type: 'string', description: 'Of the organisation.', enum: PLANS },
      role: { type: 'string', description: 'Of the person who asks for support.', enum: MEMBER_ROLES },
      conditions: {
        type: 'array',
        description: 'Conditions of objects that report a problem. Objects of members are left out.',
        maxItems: CONDITIONS_MAX,
        items: objectSchema(
          {
            kind: { type: 'string', enum: RESOURCE_KINDS.filter((kind) => kind !== 'Member') },
            name: OBJECT_NAME_SCHEMA,
            type: { type: 'string', enum: CONDITION_TYPES },
            reason: WORD,
          },
          ['kind', 'name', 'type', 'reason'],
        ),
      },
      errors: {
        type: 'array',
        description: 'Codes of the last refused requests, newest first.',
        maxItems: ERRORS_MAX,
        items: objectSchema(
          {
            at: { type: 'integer', description: 'Unix ms.', minimum: 0 },
            code: { type: 'string', enum: Object.keys(ERRORS) },
          },
          ['at', 'code'],
        ),
      },
    },
    [],
  ),
  description: 'As the preview returned them; absent: none are sent.',
}

interface Diagnostics {
  readonly version: string
  readonly plan: string
  readonly role: string
  readonly conditions: ReturnType<typeof unhealthyConditions>
  readonly errors: readonly { readonly at: number; readonly code: string }[]
}

export interface DiagnosticsParts {
  readonly scope: ReadScope
  readonly inventory: Inventory
  readonly version: string
}

/** Of the organisation in the path. Without error codes while ClickHouse is unreachable, when support is needed most. */
export async function diagnose(call: Call, parts: DiagnosticsParts): Promise<Diagnostics> {
  const { organization, role } = scopeOf(call)
  return {
    version: parts.version,
    plan: organization.plan,
    role,
    conditions: unhealthyConditions(organization.id, parts.inventory),
    errors: await errorsOf(call, parts.scope).catch(() => []),
  }
}

function unhealthyConditions(organization: string, inventory: Inventory) {
  return RESOURCE_KINDS.filter((kind) => kind !== 'Member')
    .flatMap((kind) => inventory.list(kind, organization))
    .flatMap(({ kind, name, conditions }) =>
      conditions
        .filter(({ type, status }) =>
          type === 'Warning' || type === 'Stalled' ? status === 'True' : status === 'False',
        )
        .map(({ type, reason }) => ({ kind, name, type, reason })),
    )
    .slice(0, CONDITIONS_MAX)
}

async function errorsOf(call: Call, scope: ReadScope): Promise<Diagnostics['errors']> {
  const readErrors = scope((reads) =>
    reads.run('requestLines', {
      since_ms: call.nowMs - reads.organization.logRetentionDays * DAY_MS,
      until_ms: call.nowMs + LIMITS.clockSkewMs,
      status_from: 400,
      limit: ERRORS_MAX,
    }),
  )
  const rows = await readErrors(call)
  if ('code' in rows) return []
  return rows.filter(({ code }) => code in ERRORS).map(({ at_ms: at, code }) => ({ at, code }))
}
