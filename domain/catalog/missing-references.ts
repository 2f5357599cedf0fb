/** Tells references to objects that may exist elsewhere, in a cluster or another repository, from wrong references. */

import type { CatalogProblem } from '../catalog.ts'
import { memberOf } from '../strict-json.ts'
import { objectKey, shownName, type SourceObject } from './objects.ts'

const KIND_OF_REFERENCE: Readonly<Record<string, string>> = { organizationRef: 'Organization', websiteRef: 'Website' }
const DEFAULT_NAMESPACE = 'default'

interface Named {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly value: unknown
}

/**
 * Removes problems that exist only because an object is not among `objects`. If the object is there but does not fit, for
 * example a Secret without the named key, the problem stays.
 */
export function withoutMissing(
  problems: readonly CatalogProblem[],
  objects: readonly SourceObject[],
): readonly CatalogProblem[] {
  const named = objects.map(({ value }) => namedObject(value)).filter((each) => each !== null)
  const keys = new Set(named.map(({ kind, namespace, name }) => objectKey(kind, namespace, name)))
  const byShownName = new Map(named.map((each) => [`${each.kind}/${shownName(each)}`, each]))
  return problems.filter((problem) => !isMissing(problem, byShownName.get(problem.object), keys))
}

function isMissing({ reason, field }: CatalogProblem, from: Named | undefined, keys: ReadonlySet<string>): boolean {
  // The object that it refers to is present, but has a problem of its own.
  if (reason === 'RefNotAccepted') return true
  if (reason !== 'RefNotFound' && reason !== 'RefNotPermitted') return false
  if (field === '/spec/defaultInstallPath') return true
  const steps = field.slice(1).split('/')
  const at = steps.findLastIndex((step) => step.endsWith('Ref'))
  const reference = steps.slice(0, at + 1).reduce<unknown>(memberOf, from?.value)
  const name = memberOf(reference, 'name')
  if (from === undefined || typeof name !== 'string') return false
  const kind = KIND_OF_REFERENCE[steps[at] ?? ''] ?? 'Secret'
  const namespace = memberOf(reference, 'namespace')
  return !keys.has(objectKey(kind, typeof namespace === 'string' ? namespace : from.namespace, name))
}

function namedObject(value: unknown): Named | null {
  const kind = memberOf(value, 'kind')
  const metadata = memberOf(value, 'metadata')
  const name = memberOf(metadata, 'name')
  const namespace = memberOf(metadata, 'namespace')
  if (typeof kind !== 'string' || typeof name !== 'string') return null
  return { kind, name, namespace: typeof namespace === 'string' ? namespace : DEFAULT_NAMESPACE, value }
}
