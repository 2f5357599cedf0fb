/** Finds the objects that this installation owns, if several see one namespace. */

import { recordOf } from '../../domain/typed-keys.ts'
import { objectKey } from '../../domain/catalog/objects.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import { isOfWebsite, RESOURCE_KINDS, refIn } from '../../domain/resources/resources.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { PAUSED_ANNOTATION } from './annotations.ts'
import { memberOf } from '../../domain/strict-json.ts'

export type Resources = { readonly [K in ResourceKind]: readonly KubeObject[] }

interface Ownership {
  readonly own: Resources
  readonly foreign: readonly ForeignObject[]
}

export interface ForeignObject {
  readonly kind: ResourceKind
  readonly object: KubeObject
  /** Its owner. */
  readonly installation: string
}

/**
 * The installation named by an object, or else the first one that wrote its status; null if there is neither: any
 * installation may take it.
 */
export function installationOfObject({ spec, status }: KubeObject): string | null {
  return textIn(spec) ?? textIn(status)
}

/** An object without its own mark follows the object it refers to. */
export function ownership(resources: Resources, installation: string): Ownership {
  const foreign: ForeignObject[] = []
  const owners = new Map<string, string>()
  const isOwn = (kind: ResourceKind, object: KubeObject): boolean => {
    const owner = textIn(object['spec']) ?? owners.get(referredKey(kind, object)) ?? textIn(object['status'])
    if (owner === null || owner === installation) return true
    const { name, namespace = '' } = object.metadata
    owners.set(objectKey(kind, namespace, name), owner)
    foreign.push({ kind, object, installation: owner })
    return false
  }
  // Organisations before what refers to them, websites before destinations.
  const own = recordOf(RESOURCE_KINDS, (kind) => resources[kind].filter((object) => isOwn(kind, object)))
  return { own, foreign }
}

/** Those with something in force that can be kept by itself. Other kinds are parts of what these have. */
const PAUSABLE = ['Website', 'Destination'] as const

/** Separates the objects that a person paused from the rest. */
export function withoutPaused(resources: Resources): {
  readonly resources: Resources
  readonly paused: ReadonlySet<string>
} {
  const paused = new Set<string>()
  const running: Partial<Record<ResourceKind, readonly KubeObject[]>> = {}
  for (const kind of PAUSABLE) {
    const out = resources[kind].filter(isPaused)
    for (const { metadata } of out) paused.add(objectKey(kind, metadata.namespace ?? '', metadata.name))
    if (out.length > 0) running[kind] = resources[kind].filter((each) => !isPaused(each))
  }
  return { resources: { ...resources, ...running }, paused }
}

function isPaused({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[PAUSED_ANNOTATION] === 'true'
}

function referredKey(kind: ResourceKind, { metadata, spec }: KubeObject): string {
  if (kind === 'Organization') return ''
  const [to, field] = isOfWebsite(kind) ? ['Website', 'websiteRef'] : ['Organization', 'organizationRef']
  const { name = '', namespace = metadata.namespace ?? '' } = refIn(spec, field)
  return objectKey(to, namespace, name)
}

function textIn(part: unknown): string | null {
  const installation = memberOf(part, 'installation')
  return typeof installation === 'string' && installation !== '' ? installation : null
}
