/** Finds websites that turn from accepted to refused, and compiles those that the guard keeps in force. */

import type { SmallSteps } from '../../domain/published/steps.ts'
import type { CatalogProblem, Website } from '../../domain/catalog.ts'
import { destinationKey } from '../../domain/catalog.ts'
import { shownName } from '../../domain/catalog/objects.ts'
import type { CatalogInput, Compilation } from '../../domain/catalog/compile-catalog.ts'
import { websiteKey } from '../../domain/catalog/compile-held.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { RECONCILE_ANNOTATION } from '../gather/annotations.ts'
import { emptyCompileMemory } from '../../domain/catalog/compile-catalog.ts'
import { compileWithin } from './compile-within.ts'
import type { Gathered } from './gathered.ts'
import type { GuardMemory, TurnedWebsite } from './guard.ts'
import { guard, isUnmeant } from './guard.ts'

/** By `objectKey`: websites that stay in force although their objects are refused. */
export function guardWebsites(
  { before, resources, nowMs }: Gathered,
  { catalog, problems }: Compilation,
  memory: GuardMemory,
): ReadonlyMap<string, TurnedWebsite> {
  if (before === null) return new Map()
  const accepted = new Set([...catalog.websites.values()].map(websiteKey))
  const suspects = [...before.catalog.websites.values()].filter((website) => !accepted.has(websiteKey(website)))
  if (suspects.length === 0 && memory.size === 0) return new Map()
  const reasons = Map.groupBy(problems, ({ object }) => object)
  const refused = new Map<string, { readonly released: string }>()
  for (const object of resources.Website) {
    const { name, namespace = '' } = object.metadata
    const own = reasons.get(`Website/${shownName({ name, namespace })}`) ?? []
    const isRefused = !accepted.has(websiteKey({ namespace, objectName: name }))
    if (isRefused && areUnmeant(own))
      refused.set(websiteKey({ namespace, objectName: name }), { released: releasedBy(object) })
  }
  const turned = suspects.flatMap((website) => {
    const key = websiteKey(website)
    const found = refused.get(key)
    return found === undefined
      ? []
      : [[key, { website, credentials: websiteCredentials(website, before.credentials), ...found }] as const]
  })
  return guard(memory, { nowMs, accepted: accepted.size, turned: new Map(turned), refused })
}

/** Compiles again with these websites in their places. The problems of their objects stay. */
export function* compileKept(
  gathered: Gathered,
  {
    input,
    compiled,
    kept,
  }: {
    readonly input: CatalogInput
    readonly compiled: Compilation
    readonly kept: ReadonlyMap<string, TurnedWebsite>
  },
): SmallSteps<Compilation> {
  const { before, heldNamespaces: namespaces, paused } = gathered
  const forms = [...kept.values()]
  const websites = new Map([
    ...(before?.catalog.websites ?? []),
    ...forms.map(({ website }) => [website.id, website] as const),
  ])
  const held = {
    catalog: { organizations: before?.catalog.organizations ?? new Map(), websites },
    credentials: new Map([...(before?.credentials ?? []), ...forms.flatMap(({ credentials }) => [...credentials])]),
    namespaces,
    objects: new Set([...kept.keys(), ...paused]),
  }
  const memory = emptyCompileMemory(input.memory?.digests.texts)
  const compilation = yield* compileWithin(gathered, { ...input, memory }, held)
  const names = new Map(forms.map(({ website }) => [shownWebsite(website), website.organization.id]))
  const isKept = ({ object }: CatalogProblem) => names.has(object)
  const problems = [...compilation.problems.filter((each) => !isKept(each)), ...compiled.problems.filter(isKept)]
  return {
    ...compilation,
    problems: [...problems, ...[...names].map(([name, organization]) => keptWarning(name, organization))],
  }
}

function keptWarning(object: string, organization: string): CatalogProblem {
  const message = 'too many websites were refused at once, so each stays in force in its last accepted form'
  return { object, source: '', field: '', reason: 'LastAcceptedKept', message, organization, isWarning: true }
}

function areUnmeant(problems: readonly CatalogProblem[]): boolean {
  const refusals = problems.filter(({ isWarning }) => isWarning !== true)
  return refusals.length > 0 && refusals.every(({ reason }) => isUnmeant(reason))
}

function releasedBy({ metadata }: KubeObject): string {
  return metadata.annotations?.[RECONCILE_ANNOTATION] ?? ''
}

function websiteCredentials(website: Website, all: ReadonlyMap<string, Readonly<Record<string, string>>>) {
  return new Map(
    website.destinations.flatMap((destination) => {
      const key = destinationKey(destination, destination.id)
      const own = all.get(key)
      return own === undefined ? [] : [[key, own] as const]
    }),
  )
}

function shownWebsite({ namespace, objectName: name }: Website): string {
  return `Website/${shownName({ namespace, name })}`
}
