/** Judges a change before it is made: what the compiler would report about it, and about everything else. */

import type { JsonObject } from '../strict-json.ts'
import type { CatalogProblem } from '../catalog.ts'
import type { Sha256Hex } from '../origin.ts'
import { RESOURCE_API_VERSION } from '../resources/resources.ts'
import { compileCatalog, type CompileMemory } from './compile-catalog.ts'
import { objectKey, shownName, type SourceObject } from './objects.ts'
import { readManifest } from '../resources/envelope.ts'

interface ChangedObject {
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

interface JudgedChange extends ChangedObject {
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

/** The problems that the compiler reports without the change and with it. */
interface ComparedProblems {
  readonly before: readonly CatalogProblem[]
  readonly after: readonly CatalogProblem[]
  /** With the change, as if the object had only just been created. */
  readonly asNew: () => readonly CatalogProblem[]
}

export function judgeChange(change: JudgedChange, input: JudgeInput): ChangeVerdict {
  const { objects, isWithoutSecrets, ...rest } = input
  const problemsOf = (all: readonly SourceObject[]) =>
    compileCatalog({ ...rest, objects: all, rules: { isWithoutSecrets } }).problems
  const { others, changed, place } = splitBy(objects, change)
  return judgeProblems(change, {
    before: problemsOf(objects),
    after: problemsOf([...others.slice(0, place), ...changed, ...others.slice(place)]),
    asNew: () => problemsOf([...others, ...changed]),
  })
}

/**
 * The verdict, whoever compiled. Who has an ID or an origin keeps it: an object that would take one away only because it is
 * older is refused as a new one would be.
 */
export function judgeProblems(change: ChangedObject, { before, after, asNew }: ComparedProblems): ChangeVerdict {
  const known = new Set(before.map(problemKey))
  const news = after.filter((each) => !known.has(problemKey(each)))
  const own = `${change.kind}/${shownName(change)}`
  const isRefusal = ({ object, isWarning }: CatalogProblem) => object === own && isWarning !== true
  const refusals = news.filter(isRefusal)
  const warnings = news.filter((each) => !isRefusal(each))
  if (refusals.length > 0 || !warnings.some(isTaken)) return { refusals, warnings }
  return { refusals: asNew().filter((each) => isRefusal(each) && isTaken(each)), warnings }
}

function isTaken({ reason, isWarning }: CatalogProblem): boolean {
  return isWarning !== true && (reason === 'IdTaken' || reason === 'OriginTaken')
}

function problemKey({ object, reason, field, message }: CatalogProblem): string {
  return [object, reason, field, message].join('\n')
}

/** A changed object keeps its creation time; a new one is the youngest. */
function splitBy(objects: readonly SourceObject[], change: JudgedChange) {
  const { kind, namespace, name, spec } = change
  const value = { apiVersion: RESOURCE_API_VERSION, kind, metadata: { name, namespace }, spec }
  const changed: readonly SourceObject[] = spec === null ? [] : [{ value, locate: () => '' }]
  const key = objectKey(kind, namespace, name)
  const isIt = ({ value: other }: SourceObject) => manifestKey(other) === key
  const found = objects.findIndex(isIt)
  const others = found === -1 ? objects : objects.filter((object) => !isIt(object))
  return { others, changed, place: found === -1 ? others.length : found }
}

function manifestKey(value: unknown): string {
  const { kind, namespace, name } = readManifest(value)
  return kind === '' || name === '' ? '' : objectKey(kind, namespace, name)
}
