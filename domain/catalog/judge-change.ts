/** Judges a change before it is made: what the compiler would report about it, and about everything else. */

import type { JsonObject } from '../strict-json.ts'
import type { CatalogProblem } from '../catalog.ts'
import type { Sha256Hex } from '../origin.ts'
import { RESOURCE_API_VERSION } from '../resources/resources.ts'
import { compileCatalog, type CompileMemory } from './compile-catalog.ts'
import { objectKey, shownName, type SourceObject } from './objects.ts'

interface JudgedChange {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  /** Null: the object is removed. */
  readonly spec: JsonObject | null
}

interface JudgeInput {
  /** Oldest first. */
  readonly objects: readonly SourceObject[]
  /** Secrets cannot be read here, and count as complete. */
  readonly isWithoutSecrets: boolean
  readonly sha256Hex: Sha256Hex
  readonly nowMs: number
  /** For callers that judge changes of nearly the same objects. */
  readonly memory?: CompileMemory
}

interface ChangeVerdict {
  /** New problems of the object itself; it would not be in force. */
  readonly refusals: readonly CatalogProblem[]
  /** Warnings about the object if it stays in force, and all problems that the change causes for others. */
  readonly warnings: readonly CatalogProblem[]
}

export function judgeChange(change: JudgedChange, input: JudgeInput): ChangeVerdict {
  const problemsOf = (objects: readonly SourceObject[]) => compileCatalog({ ...input, objects }).problems
  const known = new Set(problemsOf(input.objects).map(problemKey))
  const news = problemsOf(withChange(input.objects, change)).filter((each) => !known.has(problemKey(each)))
  const own = `${change.kind}/${shownName(change)}`
  const isRefusal = ({ object, isWarning }: CatalogProblem) => object === own && isWarning !== true
  return { refusals: news.filter(isRefusal), warnings: news.filter((each) => !isRefusal(each)) }
}

function problemKey({ object, reason, field, message }: CatalogProblem): string {
  return [object, reason, field, message].join('\n')
}

/** A changed object keeps its creation time; a new one is the youngest. */
function withChange(objects: readonly SourceObject[], change: JudgedChange): readonly SourceObject[] {
  const { kind, namespace, name, spec } = change
  const value = { apiVersion: RESOURCE_API_VERSION, kind, metadata: { name, namespace }, spec }
  const changed = spec === null ? [] : [{ value, locate: () => '' }]
  const key = objectKey(kind, namespace, name)
  const isIt = ({ value: other }: SourceObject) => manifestKey(other) === key
  if (!objects.some(isIt)) return [...objects, ...changed]
  return objects.flatMap((object) => (isIt(object) ? changed : [object]))
}

function manifestKey(value: unknown): string {
  const { kind, metadata } = (value ?? {}) as { readonly kind?: unknown; readonly metadata?: object }
  const { name, namespace = 'default' } = (metadata ?? {}) as { readonly name?: unknown; readonly namespace?: unknown }
  const isNamed = typeof kind === 'string' && typeof namespace === 'string' && typeof name === 'string'
  return isNamed ? objectKey(kind, namespace, name) : ''
}
