/** What charts mark by themselves: the first sight of a version, a destination that went live, and changed origins of a website. */

import { DAY_MS } from '../../domain/durations.ts'
import { MILESTONES } from '../../domain/people/change-entry.ts'
import type { FiguresQuestion } from '../figures/asked-period.ts'
import type { OrganizationFacts } from '../reads/scope.ts'

/** Of each kind: more would hide the chart. */
const MOST_OF_A_KIND = 10

export interface ChartAnnotation {
  readonly at: number
  readonly kind: 'version' | (typeof MILESTONES)[number]
  /** The version, or what people call the destination or the website. */
  readonly name: string
}

/** Of the period, in order. A version that was there on the first kept day may be older than that, so it is left out. */
export async function readAnnotations(
  reads: OrganizationFacts,
  { sinceMs, untilMs, keptSinceMs }: FiguresQuestion,
): Promise<readonly ChartAnnotation[]> {
  const period = { since_ms: sinceMs, until_ms: untilMs, limit: MOST_OF_A_KIND }
  const since = Math.max(sinceMs, keptSinceMs + DAY_MS)
  const versions = await reads.run('firstVersions', { ...period, since_ms: since })
  const found: ChartAnnotation[] = versions.map(({ version, first_ms: at }) => ({ at, kind: 'version', name: version }))
  for (const kind of MILESTONES) {
    for (const { noticed_at_ms: at, subject } of await reads.run('activityPage', { ...period, type: kind })) {
      const name = shownNameOf(reads, subject)
      if (name !== null) found.push({ at, kind, name })
    }
  }
  return found.toSorted((a, b) => a.at - b.at)
}

/** Of `Website/acme-dev` or `Destination/acme/ga4`, as far as that belongs to the websites that are shown; null if it does not. */
function shownNameOf({ websites }: OrganizationFacts, subject: string): string | null {
  const [kind] = subject.split('/')
  const objects = kind === 'Website' ? websites : websites.flatMap(({ destinations }) => destinations)
  const found = objects.find(({ id }) => id === subject.split('/').at(-1))
  return found === undefined ? null : found.displayName || found.id
}
