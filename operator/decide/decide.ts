/** Decides what the cluster should hold, from the gathered input alone: the catalog, credentials and statuses. */

import type { SmallSteps } from '../../domain/published/steps.ts'
import type { CatalogProblem } from '../../domain/catalog.ts'
import { installerLine } from '../../domain/collection/installer-line.ts'
import { objectKey } from '../../domain/catalog/objects.ts'
import { areWarnings } from '../../domain/resources/problems.ts'
import type { CatalogPart, LayoutMemory, LayoutTools } from '../../domain/published/layout.ts'
import { emptyLayoutMemory, layOut } from '../../domain/published/layout.ts'
import { problemsToPublish, type PublishedProblem } from '../../domain/published/problems.ts'
import { emptyCompileMemory } from '../../domain/catalog/compile-catalog.ts'
import type { Compilation, CompileMemory } from '../../domain/catalog/compile-catalog.ts'
import type { CredentialHolder } from '../../domain/published/holders.ts'
import { RESOURCE_KINDS } from '../../domain/resources/resources.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { credentialParts, type CredentialMemory } from './credential-parts.ts'
import type { DecidedFields, DecidedObject, KnownObject, ObjectMemory } from '../gather/known-objects.ts'
import type { GuardMemory } from './guard.ts'
import { compileKept, guardWebsites } from './keep-websites.ts'
import { compileWithin } from './compile-within.ts'
import { emptyObjectMemory, forgetAllBut, knownObject, plainSource } from '../gather/known-objects.ts'
import type { InForce, Gathered } from './gathered.ts'
import { memberOf } from '../../domain/strict-json.ts'

/** What readers of the catalog see of a decision. */
export interface Published {
  readonly version: string
  readonly parts: readonly CatalogPart[]
  /** The texts of each holder's Secrets. */
  readonly credentials: ReadonlyMap<CredentialHolder, readonly string[]>
  /** What organisations see of it. */
  readonly problems: readonly PublishedProblem[]
}

export interface Decision extends Published {
  readonly inForce: InForce
  /** Websites that are refused but stay in force. */
  readonly held: number
  readonly websites: number
  /** Objects with a problem. */
  readonly refused: number
  /** By `objectKey`. */
  readonly objects: ReadonlyMap<string, DecidedObject>
  /** Unix ms from which on the same objects are decided otherwise. */
  readonly changesAtMs: number
  /** IDs of the organisations that they belong to, by `objectKey`. */
  readonly owners: ReadonlyMap<string, string>
}

/** What one decision passes to the next, for the same base URL: results that hold while their inputs are unchanged. */
export interface DecisionMemory {
  readonly objects: ObjectMemory
  readonly compile: CompileMemory
  readonly layout: LayoutMemory
  readonly credentials: CredentialMemory
  /** The only part that changes results: what turned from accepted to refused recently. */
  readonly guard: GuardMemory
}

export function emptyMemory(): DecisionMemory {
  const compile = emptyCompileMemory()
  return {
    objects: emptyObjectMemory(),
    compile,
    layout: emptyLayoutMemory(compile.digests.texts),
    credentials: new Map(),
    guard: new Map(),
  }
}

/**
 * Except for its guard, the memory changes only the time it takes. No step takes long, however much was gathered. If the steps are not
 * done to their end, the next decision does them again.
 */
export function* decide(gathered: Gathered, tools: LayoutTools, memory: DecisionMemory): SmallSteps<Decision> {
  const { resources, secrets, namespaces, partsInUse } = gathered
  memory.objects.decision += 1
  const known = RESOURCE_KINDS.flatMap((kind) =>
    oldestFirst(
      resources[kind].map((object) => knownObject(kind, object, memory.objects)),
      memory.objects.decision,
    ),
  )
  const plain = [
    ...secrets.map((secret) => plainSource('Secret', secret, memory.objects)),
    ...namespaces.map((namespace) => plainSource('Namespace', namespace, memory.objects)),
  ]
  const objects = [...plain, ...known.map(({ source }) => source)]
  const input = { objects, sha256Hex: tools.sha256Hex, memory: memory.compile, nowMs: gathered.nowMs }
  const compiled = yield* compileWithin(gathered, input, null)
  const kept = guardWebsites(gathered, compiled, memory.guard)
  const compilation = kept.size === 0 ? compiled : yield* compileKept(gathered, { input, compiled, kept })
  const { catalog, credentials } = compilation
  const decided = decidedObjects(known, compilation, gathered)
  const parts = yield* layOut(catalog, partsInUse, tools, memory.layout)
  forgetAllBut(decided, memory.objects)
  return {
    inForce: { catalog, credentials },
    version: catalog.version,
    held: kept.size,
    parts,
    websites: catalog.websites.size,
    refused: [...decided.values()].filter(({ isInForce }) => !isInForce).length,
    credentials: credentialParts(compilation, memory.credentials),
    problems: problemsToPublish(compilation.problems, gathered.published, gathered.nowMs),
    objects: decided,
    changesAtMs: compilation.people.changesAtMs,
    owners: compilation.owners,
  }
}

/**
 * Older objects take precedence, so that every pass decides alike. Two objects of the previous decision are compared by
 * their ranks then, which is faster than comparing texts and gives the same order.
 */
function oldestFirst(objects: KnownObject[], decision: number): readonly KnownObject[] {
  const last = decision - 1
  objects.sort((a, b) => {
    if (a.rankedIn === last && b.rankedIn === last) return a.rank - b.rank
    return a.age < b.age ? -1 : 1
  })
  for (const [rank, object] of objects.entries()) {
    object.rank = rank
    object.rankedIn = decision
  }
  return objects
}

const NONE: readonly CatalogProblem[] = []

function decidedObjects(
  all: readonly KnownObject[],
  compilation: Compilation,
  { baseUrl, warnings }: Gathered,
): ReadonlyMap<string, DecidedObject> {
  const problems = Map.groupBy(compilation.problems, (problem) => problem.object)
  const decided = new Map<string, DecidedObject>()
  for (const known of all) {
    const compiled = problems.size === 0 ? NONE : (problems.get(known.shown) ?? NONE)
    const warned = warnings({ kind: known.kind, namespace: known.object.metadata.namespace ?? '' })
    const own = warned.length === 0 ? compiled : [...compiled, ...warned]
    known.decided = decidedObject(known, own, { compilation, baseUrl })
    decided.set(known.key, known.decided)
  }
  return decided
}

interface DecidedView {
  readonly compilation: Compilation
  readonly baseUrl: string
}

/** The previous decision if it would be the same. */
function decidedObject(known: KnownObject, problems: readonly CatalogProblem[], view: DecidedView): DecidedObject {
  const { kind, object, decided: last } = known
  const externalInput = areWarnings(problems) ? externalInputOf(known, view.compilation) : null
  const isSame = last?.problems.length === 0 && problems.length === 0 && known.externalInput === externalInput
  if (isSame && last.object === object) return last
  known.externalInput = externalInput
  if (isSame) return { kind, object, problems, isInForce: true, fields: last.fields }
  const isInForce = areWarnings(problems)
  return { kind, object, problems, isInForce, fields: isInForce ? decidedFields(known, view.baseUrl) : {} }
}

function shortId({ metadata, spec }: KubeObject): string {
  const id = memberOf(spec, 'id')
  return typeof id === 'string' ? id : metadata.name
}

/** The only input from other objects that its fields depend on. */
function externalInputOf(
  { kind, object }: KnownObject,
  { catalog, owners, websiteCounts }: Compilation,
): string | number | null {
  if (kind === 'Website') return catalog.websites.get(shortId(object))?.organization.firstInstallPath ?? null
  if (kind !== 'Organization') return null
  const { name, namespace = '' } = object.metadata
  return websiteCounts.get(owners.get(objectKey(kind, namespace, name)) ?? '') ?? 0
}

function decidedFields({ kind, object, externalInput }: KnownObject, baseUrl: string): DecidedFields {
  const id = shortId(object)
  if (kind === 'InstallPath') return { id }
  if (kind === 'Organization') return { websites: externalInput }
  if (kind !== 'Website') return {}
  return {
    id,
    snippet: `<script async src="${baseUrl}/browser.js" data-project="${id}"></script>`,
    hookCommand: installerLine({ baseUrl, website: id, path: externalInput === null ? null : String(externalInput) }),
  }
}
