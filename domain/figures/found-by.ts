/** What led installs to their visits: a token that the copied command brought along, a marker in a browser on the machine, or neither. */

import { VISIT_POLICIES } from '../model.ts'

/** In the order in which it is looked for. `earlier`: an earlier event of the installation had been matched. */
export const HOWS = ['token', 'earlier', 'marker', 'neither'] as const
export type FoundBy = (typeof HOWS)[number]

interface PolicyCounts {
  /** A selection policy. */
  readonly value: string
  readonly matched: number
  readonly unmatched: number
}

/** What a match by this policy was led by. */
export function howOf(policy: string): Exclude<FoundBy, 'neither'> {
  if (policy === 'handoff') return 'token'
  return VISIT_POLICIES.some((each) => each === policy) ? 'marker' : 'earlier'
}

/** Installs that were looked up and decided, each once. */
export function matchedBy(policies: readonly PolicyCounts[]): Readonly<Record<FoundBy, number>> {
  const found = { token: 0, earlier: 0, marker: 0, neither: 0 }
  for (const { value, matched, unmatched } of policies) {
    found[howOf(value)] += matched
    found.neither += unmatched
  }
  return found
}
