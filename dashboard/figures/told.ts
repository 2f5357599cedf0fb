/** What became of the installs of a period at each destination that gets installs alone. */

import { toldInstalls, toldLater, type ToldGroup } from '../../domain/delivery/told-installs.ts'
import { ADVERTISING_PROVIDERS } from '../../domain/providers/index.ts'
import type { FiguresQuestion } from './asked-period.ts'
import type { OrganizationSource } from './pages.ts'
import { installSlices, type InstallSlice } from './read-installs.ts'

const PROVIDERS = { providers: ADVERTISING_PROVIDERS }

export async function toldPage(source: OrganizationSource, question: FiguresQuestion) {
  const { reads } = source
  const groups: ToldGroup[] = []
  const counted = new Map<string, number>()
  for (const slice of await installSlices(source, question)) {
    for (const { website, installs } of await reads.run('installsByWebsite', slice))
      counted.set(website, (counted.get(website) ?? 0) + installs)
    groups.push(...(await reads.run('toldInstalls', { ...slice, ...PROVIDERS })))
    groups.push(...(await readLater(source, slice)))
  }
  const destinations = reads.websites.flatMap(({ id: website, destinations: all }) =>
    all
      .filter(({ provider }) => ADVERTISING_PROVIDERS.some((each) => each === provider))
      .map(({ id, displayName, provider }) => ({ website, id, displayName, provider })),
  )
  const websites = [...counted].map(([website, installs]) => ({ website, installs }))
  return { destinations: toldInstalls(destinations, summed(groups), websites) }
}

/** Events of one statement. */
const EVENTS_AT_ONCE = 1_000

async function readLater({ reads }: OrganizationSource, slice: InstallSlice): Promise<readonly ToldGroup[]> {
  const later = await reads.run('laterTold', slice)
  const groups: ToldGroup[] = []
  for (let from = 0; from < later.length; from += EVENTS_AT_ONCE) {
    const some = later.slice(from, from + EVENTS_AT_ONCE)
    const keys = { of_websites: some.map(({ website }) => website), event_ids: some.map((each) => each.event_id) }
    groups.push(...toldLater(some, await reads.run('toldEvents', { ...keys, ...PROVIDERS })))
  }
  return groups
}

/** Groups that stand alike in several pieces of the period, as one. */
function summed(groups: readonly ToldGroup[]): readonly ToldGroup[] {
  const keyOf = ({ website, destination, status, reason }: ToldGroup) =>
    [website, destination, status, reason].join('\t')
  return [...Map.groupBy(groups, keyOf).values()].flatMap(([first, ...more]) =>
    first === undefined
      ? []
      : [{ ...first, installs: more.reduce((sum, { installs }) => sum + installs, first.installs) }],
  )
}
