/**
 * Resolves an object's references. References to other namespaces need permission from both sides, and a refusal
 * reveals nothing more.
 */

import type { AllowedNamespaces } from '../catalog.ts'
import { allowedNamespacesProblems, permits } from '../resources/allowed-namespaces.ts'
import type { ObjectId, Resource } from './objects.ts'
import { objectKey } from './objects.ts'
import type { Compiler } from './compiler.ts'
import type { ResourceRef } from '../resources/resources.ts'

/** The draft of the Organization, or null after the problem has been reported. */
export function organizationOf(
  compiler: Compiler,
  from: ObjectId & { readonly spec: { readonly organizationRef: ResourceRef } },
) {
  const ref = { kind: 'Organization', to: from.spec.organizationRef, field: '/spec/organizationRef' } as const
  const organization = resolveRef(compiler, from, ref, compiler.made.organizations)
  if (organization !== null) compiler.ownership.owners.set(from.key, organization.id)
  return organization
}

/** The draft of the Website, or null after the problem has been reported. */
export function referredWebsite(
  compiler: Compiler,
  from: ObjectId & { readonly spec: { readonly websiteRef: ResourceRef } },
) {
  const ref = { kind: 'Website', to: from.spec.websiteRef, field: '/spec/websiteRef' } as const
  const website = resolveRef(compiler, from, ref, compiler.made.websites)
  if (website !== null) compiler.ownership.owners.set(from.key, website.organization.id)
  return website
}

/** Records which namespaces the object admits; false after a problem of its own has been reported. */
export function readAllowedNamespaces(
  compiler: Compiler,
  object: Resource<'Organization'> | Resource<'Website'>,
): boolean {
  const { allowedNamespaces } = object.spec
  if (allowedNamespaces === undefined) return true
  compiler.ownership.allowed.set(object.key, allowedNamespaces)
  const problems = allowedNamespacesProblems(allowedNamespaces)
  for (const { field, message } of problems) {
    compiler.report(object, 'InvalidField', `/spec/allowedNamespaces${field}`, message)
  }
  return problems.length === 0
}

interface Reference {
  readonly kind: 'Organization' | 'Website'
  readonly to: ResourceRef
  readonly field: string
}

function resolveRef<T>(compiler: Compiler, from: ObjectId, ref: Reference, drafts: ReadonlyMap<string, T>): T | null {
  const { name, namespace = from.namespace } = ref.to
  const key = objectKey(ref.kind, namespace, name)
  const isOwn = compiler.ownership.tenants.get(key) === compiler.ownership.tenants.get(from.key)
  if (namespace !== from.namespace && !(isOwn && isPermitted(compiler, from, compiler.ownership.allowed.get(key)))) {
    // The same message whether it is missing, refused or not permitted: other namespaces learn nothing.
    const message = `namespace ${namespace} has no ${ref.kind} ${name} that allows references from namespace ${from.namespace}`
    compiler.report(from, 'RefNotPermitted', `${ref.field}/namespace`, message)
    return null
  }
  const draft = isOwn ? drafts.get(key) : undefined
  if (draft !== undefined) return draft
  const field = `${ref.field}/name`
  // To one tenant, objects of another do not exist.
  if (isOwn && compiler.objects.seen.has(key)) {
    compiler.report(from, 'RefNotAccepted', field, `${ref.kind} ${name} is itself refused`)
  } else {
    compiler.report(from, 'RefNotFound', field, `there is no ${ref.kind} ${name} in namespace ${namespace}`)
  }
  return null
}

function isPermitted({ objects }: Compiler, from: ObjectId, allowed: AllowedNamespaces | undefined): boolean {
  return allowed !== undefined && permits(allowed, from.namespace, objects.namespaces.get(from.namespace) ?? {})
}
