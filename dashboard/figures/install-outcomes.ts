/** What became of the installs of a period at each destination that gets installs alone. */

import {
  installOutcomes,
  laterOutcomes,
  type EventDelivery,
  type OutcomeGroup,
} from '../../domain/delivery/install-outcomes.ts'
import { ADVERTISING_PROVIDERS } from '../../domain/providers/index.ts'
import type { FiguresQuestion } from './asked-period.ts'
import type { OrganizationSource } from './pages.ts'
import { installSlices, type InstallSlice } from './read-installs.ts'

const PROVIDERS = { providers: ADVERTISING_PROVIDERS }

export async function outcomesPage(source: OrganizationSource, question: FiguresQuestion) {
  const { reads } = source
  const groups: OutcomeGroup[] = []
  const counted = new Map<string, number>()
  for (const slice of await installSlices(source, question)) {
    for (const { website, installs } of await reads.run('installsByWebsite', slice))
      counted.set(website, (counted.get(website) ?? 0) + installs)
    groups.push(...(await reads.run('installOutcomes', { ...slice, ...PROVIDERS })))
    groups.push(...(await readLater(source, slice)))
  }
  const destinations = reads.websites.flatMap(({ id: website, destinations: all }) =>
    all
      .filter(({ provider }) => ADVERTISING_PROVIDERS.some((each) => each === provider))
      .map(({ id, displayName, provider }) => ({ website, id, displayName, provider })),
  )
  const websites = [...counted].map(([website, installs]) => ({ website, installs }))
  return { destinations: installOutcomes(destinations, summed(groups), websites) }
}

/** Events of one statement. */
const EVENTS_AT_ONCE = 1_000

/** The events of an install may be in several statements, so that which delivery counts is decided of all. */
async function readLater({ reads }: OrganizationSource, slice: InstallSlice): Promise<readonly OutcomeGroup[]> {
  const later = await reads.run('laterEvents', slice)
  const deliveries: EventDelivery[] = []
  for (let from = 0; from < later.length; from += EVENTS_AT_ONCE) {
    const some = later.slice(from, from + EVENTS_AT_ONCE)
    const keys = { of_websites: some.map(({ website }) => website), event_ids: some.map((each) => each.event_id) }
    deliveries.push(...(await reads.run('eventDeliveries', { ...keys, ...PROVIDERS })))
  }
  return laterOutcomes(later, deliveries)
}

/** Groups that stand alike in several pieces of the period, as one. */
function summed(groups: readonly OutcomeGroup[]): readonly OutcomeGroup[] {
  const keyOf = ({ website, destination, status, reason }: OutcomeGroup) =>
    [website, destination, status, reason].join('\t')
  return [...Map.groupBy(groups, keyOf).values()].flatMap(([first, ...more]) =>
    first === undefined
      ? []
      : [{ ...first, installs: more.reduce((sum, { installs }) => sum + installs, first.installs) }],
  )
}
