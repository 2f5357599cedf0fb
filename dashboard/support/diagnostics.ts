/**
 * The diagnostics of a support request: only what the schema lists, so no bodies, no addresses and no secrets. The person
 * sees them first, and sends back what was shown.
 */

import { DAY_MS } from '../../domain/durations.ts'
import { ERRORS } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { RESOURCE_KINDS } from '../../domain/resources/resources.ts'
import type { JsonFrom } from '../api/routes.ts'
import { MOST_DIAGNOSTICS } from '../api/support.ts'
import { type OrganizationCall } from '../http/call.ts'
import type { ReadScope } from '../reads/scope.ts'
import type { Inventory } from '../resources/inventory.ts'

type Diagnostics = JsonFrom<'previewSupport'>['diagnostics']

export interface DiagnosticsParts {
  readonly scope: ReadScope
  readonly inventory: Inventory
  readonly version: string
}

/** Of the organisation in the path. Without error codes while ClickHouse is unreachable, when support is needed most. */
export async function diagnose(call: OrganizationCall, parts: DiagnosticsParts): Promise<Diagnostics> {
  const { organization, role } = call.scope
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
    .slice(0, MOST_DIAGNOSTICS.conditions)
}

async function errorsOf(call: OrganizationCall, scope: ReadScope): Promise<Diagnostics['errors']> {
  const readErrors = scope((reads) =>
    reads.run('requestLines', {
      since_ms: call.nowMs - reads.organization.logRetentionDays * DAY_MS,
      until_ms: call.nowMs + LIMITS.clockSkewMs,
      status_from: 400,
      limit: MOST_DIAGNOSTICS.errors,
    }),
  )
  const rows = await readErrors(call)
  if ('code' in rows) return []
  return rows.filter(({ code }) => code in ERRORS).map(({ at_ms: at, code }) => ({ at, code }))
}
