/**
 * Creates, changes and removes objects. What the compiler would refuse is refused before it is written; if two
 * requests race, the compiler has the last word, and says it in the object's conditions.
 */

import type { CatalogProblem } from '../../domain/catalog.ts'
import { shownName } from '../../domain/catalog/objects.ts'
import { refuse, refuseField, type Refusal } from '../../domain/errors.ts'
import { refuseResourceChange, refuseWindow } from '../../domain/people/change-resource.ts'
import { mayDo } from '../../domain/people/roles.ts'
import { refuseUse } from '../../domain/plan.ts'
import { isSame } from '../../domain/resources/field-owners.ts'
import { isOfWebsite, type ResourceKind, refIn } from '../../domain/resources/resources.ts'
import type { Randomness } from '../../runtime/random.ts'
import { answer, answerCreated, DONE, type Answer, type OrganizationCall, type CallTo } from '../http/call.ts'
import type { Trail } from '../events/trail.ts'
import { installationOf, type Inventory } from '../resources/inventory.ts'
import type { StoredObject, WriteManner, WriteOutcome, WrittenObject } from '../resources/writer.ts'
import { copiedPatch } from '../resources/patch.ts'
import { requestedKind, ownRefOf, type CallOfObject, type ObjectReadParts } from './read.ts'
import { randomName } from './random-name.ts'
import { shownAlone, shownSpec } from './shown.ts'

export interface WriteParts extends ObjectReadParts {
  readonly randomness: Randomness
  readonly trail: Trail
}

type Spec = WrittenObject['spec']
type WantedObject = WrittenObject & { readonly kind: ResourceKind }

export function createResource(parts: WriteParts) {
  return async (call: CallTo<'createResource'>) => {
    const kind = requestedKind(call)
    return kind === null ? refuse('not_found') : createObject(parts, call, { ...call.body, kind })
  }
}

interface AskedObject {
  readonly kind: ResourceKind
  /** Absent: a random one. */
  readonly name?: string
  readonly spec: Spec
}

/** Creates an object in the organisation of the call. */
export async function createObject(parts: WriteParts, call: OrganizationCall, asked: AskedObject) {
  const object = newObject(call, asked, parts)
  if ('code' in object) return object
  const { kind, spec: after } = object
  const refused =
    refuseResourceChange(call.scope.role, { kind, before: null, after }) ??
    refuseWindow(null, after) ??
    refuseForeignWebsite(call, object, parts.inventory)
  if (refused !== null) return refused
  const { refusals, warnings } = parts.inventory.judge(object)
  const problem = refusalOf(refusals)
  if (problem !== null) return problem
  const outcome = await parts.writer.create(object, mannerOf(call, parts))
  if (outcome.kind === 'conflict')
    return refuse('conflict', { field: '/name', message: 'there is an object of this name' })
  return toldOf({ call, object, outcome, warnings, stored: null, answerWith: answerCreated }, parts)
}

export function changeResource(parts: WriteParts) {
  return async (call: CallTo<'changeResource'>) => {
    const found = await expected(call, parts)
    if ('code' in found) return found
    return writeSpec(parts, call, { ...found, after: call.body.spec })
  }
}

/** Writes the whole spec of an object of the organisation, if it did not change since it was read. */
export async function writeSpec(
  parts: WriteParts,
  call: OrganizationCall,
  { ref, stored, after }: ExpectedObject & { readonly after: Spec },
) {
  const object = { ...ref, spec: after }
  const refused =
    refuseResourceChange(call.scope.role, { kind: ref.kind, before: stored.spec, after }) ??
    refuseForeignWebsite(call, object, parts.inventory)
  if (refused !== null) return refused
  const { refusals, warnings } = parts.inventory.judge(object)
  const problem = refusalOf(refusals)
  if (problem !== null) return problem
  const outcome = await parts.writer.replace(object, stored.version, mannerOf(call, parts))
  return toldOf({ call, object, outcome, warnings, stored, answerWith: answer }, parts)
}

export function removeResource(parts: WriteParts) {
  return async (call: CallTo<'removeResource'>) => {
    const found = await expected(call, parts)
    if ('code' in found) return found
    const { ref, stored } = found
    const refused = refuseResourceChange(call.scope.role, { kind: ref.kind, before: stored.spec, after: null })
    if (refused !== null) return refused
    const manner = mannerOf(call, parts)
    if (manner.isDryRun !== true) await parts.trail.noteRemoval(call, `${ref.kind}/${shownName(ref)}`)
    const outcome = await parts.writer.remove(ref, stored.version, manner)
    if (outcome.kind === 'written' && manner.isDryRun === true)
      return answer({ fits: true, warnings: parts.inventory.judge({ ...ref, spec: null }).warnings.map(shownProblem) })
    if (outcome.kind === 'written') return DONE
    return refusedBy(outcome, stored, null) ?? DONE
  }
}

interface ExpectedObject {
  readonly ref: { readonly kind: ResourceKind; readonly namespace: string; readonly name: string }
  readonly stored: StoredObject
}

/** The stored object, if it belongs to the organisation and has the version that the request names. */
async function expected(call: CallOfObject, { inventory, writer }: ObjectReadParts): Promise<ExpectedObject | Refusal> {
  const ref = ownRefOf(call, inventory)
  const stored = ref === null ? null : await writer.read(ref)
  if (ref === null || stored === null) return refuse('not_found')
  if (call.ifMatch === null) return refuse('version_required')
  if (call.ifMatch === stored.version) return { ref, stored }
  const current = { version: stored.version, spec: shownSpec(stored, call.scope.role) }
  return refuse('conflict', { given: call.ifMatch, current })
}

/** The path decides which organisation it belongs to, whatever the body says. Objects of tenants have random names. */
function newObject(
  call: OrganizationCall,
  { kind, name: asked, spec: given }: AskedObject,
  parts: WriteParts,
): WantedObject | Refusal {
  const { namespace, tenant } = call.scope.organization
  if (tenant !== undefined && asked !== undefined) return refuseField('/name', 'is given by the service')
  if (tenant !== undefined && kind === 'Website' && given['id'] !== undefined) {
    return refuseField('/spec/id', 'is given by the service')
  }
  const forced = forcedFields(call, kind, parts)
  const other = ['organizationRef', 'tenant', 'installation'].find(
    (name) => given[name] !== undefined && !isSame(given[name], forced[name]),
  )
  if (other !== undefined) return refuseField(`/spec/${other}`, 'follows from the organisation')
  return { kind, namespace, name: asked ?? randomName(kind, parts.randomness), spec: { ...given, ...forced } }
}

function forcedFields(call: OrganizationCall, kind: ResourceKind, { inventory }: ObjectReadParts): Spec {
  const { organization } = call.scope
  const { objectName, tenant } = organization
  return {
    ...(isOfWebsite(kind) ? {} : { organizationRef: { name: objectName } }),
    ...(tenant === undefined ? {} : { tenant }),
    ...installationOf(organization, inventory),
  }
}

/** Destinations and links may only name websites of the organisation. */
function refuseForeignWebsite(
  call: OrganizationCall,
  { kind, namespace, spec }: WantedObject,
  inventory: Inventory,
): Refusal | null {
  if (!isOfWebsite(kind)) return null
  const { name, namespace: there = namespace } = refIn(spec, 'websiteRef')
  if (name === undefined) return null
  const place = { kind: 'Website', name, namespace: there }
  if (inventory.organizationOf(place) === call.scope.organization.id) return null
  return refuseField('/spec/websiteRef/name', 'there is no such Website in the organisation')
}

function mannerOf(call: OrganizationCall, { trail }: WriteParts): WriteManner {
  return {
    isDryRun: call.query['dryRun'] === 'All',
    mayTakeOver: mayDo(call.scope.role, 'writeConfiguration'),
    sign: trail.sign(call),
  }
}

interface Done<Status extends 200 | 201> {
  readonly call: OrganizationCall
  readonly object: WantedObject
  readonly outcome: WriteOutcome
  readonly warnings: readonly CatalogProblem[]
  readonly stored: StoredObject | null
  readonly answerWith: <Body extends object>(body: Body, more: { readonly etag: string }) => Answer<Body, Status>
}

async function toldOf<Status extends 200 | 201>(done: Done<Status>, { inventory, writer }: ObjectReadParts) {
  const { call, object, outcome, stored: before, answerWith } = done
  const warnings = done.warnings.map(shownProblem)
  if (outcome.kind === 'fits') return answer({ fits: true, spec: outcome.spec, warnings })
  const refused = refusedBy(outcome, before, object.spec)
  if (refused !== null) return refused
  const stored = await writer.read(object)
  // Someone deleted it meanwhile.
  if (stored === null) return refuse('not_found')
  const shown = shownAlone(stored, inventory.find(object), call.scope.role)
  return answerWith({ ...shown, warnings }, { etag: stored.version })
}

type TriedOut = Answer<{ readonly fits: boolean; readonly spec: Spec; readonly warnings: readonly object[] }, 200>

/**
 * The same outcome, for routes that have no dry run.
 * @throws Error after one
 */
export function notTriedOut<Outcome extends Answer | Refusal>(outcome: Outcome): Exclude<Outcome, TriedOut> {
  if (outcome.kind === 'answer' && 'fits' in (outcome.body ?? {})) throw new Error('nobody asked for a dry run')
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a dry run has just been ruled out
  return outcome as Exclude<Outcome, TriedOut>
}

/** `before` null: it is new; `wanted` null: it is deleted. */
function refusedBy(outcome: WriteOutcome, before: StoredObject | null, wanted: Spec | null): Refusal | null {
  switch (outcome.kind) {
    case 'written':
    case 'fits':
      return null
    case 'conflict':
      return before === null ? refuse('conflict') : refuse('conflict', { given: before.version })
    case 'managed_elsewhere': {
      const { manager, field, dependant } = outcome
      if (dependant !== undefined) return refuse('managed_elsewhere', { manager, field, ...dependant })
      const patch = before === null || wanted === null ? {} : { patch: copiedPatch(before, wanted) }
      return refuse('managed_elsewhere', { manager, field, ...patch })
    }
    case 'refused':
      return refusalOf([outcome])
  }
}

interface ChangeProblem {
  readonly field: string
  readonly message: string
  readonly plan?: CatalogProblem['plan']
  readonly reason: string
}

/** Of several refusals, the plan's comes first: fixing the others would not help. */
function refusalOf(findings: readonly ChangeProblem[]): Refusal | null {
  const told = findings.find(({ plan }) => plan !== undefined) ?? findings[0]
  if (told === undefined) return null
  const { reason, field, message, plan } = told
  if (plan === undefined) return refuse('invalid_field', { field, message, reason })
  return refuseUse(plan)
}

function shownProblem({ object, reason, field, message }: CatalogProblem) {
  return { object, reason, field, message }
}
