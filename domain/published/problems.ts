/**
 * The problems shown to organisations, as the operator publishes them beside the catalog. The operator has no event log, and
 * the processes that have one do not see the objects.
 */

import { isPlanUse } from '../plan.ts'
import type { CatalogProblem } from '../catalog.ts'
import { LIMITS } from '../limits.ts'
import { withoutRoom } from './fair-share.ts'
import { jsonOf } from './index.ts'
import { isText, shapeOf, isWhole, orAbsent, isOneOf } from '../guards.ts'
import { memberOf } from '../strict-json.ts'

/** A problem of an object whose organisation is known. */
export interface PublishedProblem extends CatalogProblem {
  readonly organization: string
  /** When it was first seen; every pass since then has seen it. */
  readonly sinceMs: number
}

/** Two reports with the same key are one problem. */
export function problemIdentity(problem: CatalogProblem): string {
  const { organization = '', object, source, field, reason, message } = problem
  return JSON.stringify([organization, object, source, field, reason, message])
}

/**
 * The problems to publish; known ones keep their times. The problems of one namespace take no room from another's, however many
 * organisations it has. Within a namespace, each organisation's oldest problem comes before any organisation's second one.
 */
export function problemsToPublish(
  problems: readonly CatalogProblem[],
  before: readonly PublishedProblem[],
  nowMs: number,
): readonly PublishedProblem[] {
  const times = new Map(before.map((problem) => [problemIdentity(problem), problem.sinceMs]))
  const wanted = new Map<string, PublishedProblem>()
  for (const problem of problems) {
    const { organization } = problem
    const key = problemIdentity(problem)
    if (organization !== undefined) wanted.set(key, { ...problem, organization, sinceMs: times.get(key) ?? nowMs })
  }
  const ordered = inTurns([...wanted].sort(byTime))
  const claims = ordered.map(([key, problem]) => {
    return { key, owner: namespaceOf(problem), bytes: JSON.stringify(problem).length }
  })
  const out = withoutRoom(claims, LIMITS.publishedProblemsBytes)
  return ordered.flatMap(([key, problem]) => (out.has(key) ? [] : [problem]))
}

type ProblemEntry = readonly [key: string, problem: PublishedProblem]

function byTime([oneKey, one]: ProblemEntry, [otherKey, other]: ProblemEntry): number {
  return one.sinceMs - other.sinceMs || (oneKey < otherKey ? -1 : 1)
}

/** The first problem of each organisation, then the second of each, and so on. */
function inTurns(entries: readonly ProblemEntry[]): readonly ProblemEntry[] {
  const counts = new Map<string, number>()
  const turns: ProblemEntry[][] = []
  for (const entry of entries) {
    const { organization } = entry[1]
    const turn = counts.get(organization) ?? 0
    counts.set(organization, turn + 1)
    const own = turns[turn] ?? []
    own.push(entry)
    turns[turn] = own
  }
  return turns.flat()
}

/** The ID of an organisation begins with its namespace, unless that is the default one. */
function namespaceOf({ organization }: { readonly organization: string }): string {
  return organization.includes('/') ? organization.slice(0, organization.indexOf('/')) : ''
}

export function problemsText(problems: readonly PublishedProblem[]): string {
  return JSON.stringify({ problems })
}

/** Empty if this is not a list of problems: only what people see depends on it. */
export function readProblems(text: string | null): readonly PublishedProblem[] {
  if (text === null) return []
  try {
    const problems = memberOf(jsonOf(text), 'problems')
    return Array.isArray(problems) ? problems.filter(isPublished) : []
  } catch {
    return []
  }
}

const isPublished = shapeOf<PublishedProblem>({
  organization: isText,
  object: isText,
  source: isText,
  field: isText,
  reason: isText,
  message: isText,
  sinceMs: isWhole,
  plan: orAbsent(isPlanUse),
  isWarning: orAbsent(isOneOf([true])),
})
