/** Decides which parts of the configuration a role may change, and what the dashboard never changes. */

import type { JsonObject } from '../strict-json.ts'
import { refuse, refuseField, type Refusal } from '../errors.ts'
import { RECONSTRUCTION_CHOICES_HOURS } from '../limits.ts'
import type { MemberRole } from '../model.ts'
import { isSame } from '../resources/field-owners.ts'
import type { ResourceKind } from '../resources/resources.ts'
import { mayDo } from './roles.ts'

/** `before` is null for a new object, `after` for one that is removed. */
interface ResourceChange {
  readonly kind: ResourceKind
  readonly before: JsonObject | null
  readonly after: JsonObject | null
}

/** Depends on the object before and after the change. */
export function refuseResourceChange(actor: MemberRole, change: ResourceChange): Refusal | null {
  const { kind, before, after } = change
  if (kind === 'Member') return refuseField('/kind', 'is changed under /members')
  // An organisation is created by signing up, or by the operator of the service.
  if (kind === 'Organization' && before === null) return refuse('forbidden')
  if (!mayDo(actor, actionOf(change))) return refuse('forbidden')
  return before === null || after === null ? null : refuseFixed(kind, before, after)
}

function actionOf({
  kind,
  before,
  after,
}: ResourceChange): 'writeContent' | 'writeConfiguration' | 'removeOrganization' | 'manageKeys' | 'manageLinks' {
  if (kind === 'Organization') return after === null ? 'removeOrganization' : 'writeConfiguration'
  if (kind === 'ApiKey') return 'manageKeys'
  if (kind === 'ShareLink') return 'manageLinks'
  if (kind === 'InstallPath') return 'writeContent'
  if (kind === 'Destination') return [before, after].every(isHarmless) ? 'writeContent' : 'writeConfiguration'
  const isPages =
    kind === 'Website' && before !== null && after !== null && isSame(withoutPages(before), withoutPages(after))
  return isPages ? 'writeContent' : 'writeConfiguration'
}

/** No install of such a destination counts at a provider. */
function isHarmless(destination: JsonObject | null): boolean {
  return destination === null || (destination['mode'] ?? 'Validate') === 'Validate'
}

function withoutPages({ pages: _pages, ...rest }: JsonObject): JsonObject {
  return rest
}

/** The owner of an object cannot be changed here, and only payments change the plan. */
const FIXED = ['organizationRef', 'installation', 'tenant'] as const
const PAID = ['plan', 'billing'] as const

function refuseFixed(kind: ResourceKind, before: JsonObject, after: JsonObject): Refusal | null {
  if (kind === 'Organization' && PAID.some((name) => !isSame(before[name], after[name]))) return refuse('forbidden')
  const changed = FIXED.find((name) => !isSame(before[name], after[name]))
  if (changed !== undefined) return refuseField(`/spec/${changed}`, 'cannot be changed')
  return refuseWindow(before, after)
}

/** The dashboard offers three windows; another window set with kubectl is left as it is. */
export function refuseWindow(
  before: JsonObject | null,
  { reconstructionWindowHours: wanted }: JsonObject,
): Refusal | null {
  const offered = RECONSTRUCTION_CHOICES_HOURS
  if (wanted === undefined || wanted === before?.['reconstructionWindowHours'] || offered.includes(Number(wanted)))
    return null
  return refuseField(
    '/spec/reconstructionWindowHours',
    `must be ${offered.slice(0, -1).join(', ')} or ${offered.at(-1)}`,
  )
}
