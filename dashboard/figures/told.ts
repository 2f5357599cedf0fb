/** What became of the installs of a period at each destination that gets installs alone. */

import { toldInstalls, type ToldGroup } from '../../domain/delivery/told-installs.ts'
import { ADVERTISING_PROVIDERS } from '../../domain/providers/index.ts'
import type { FiguresQuestion } from './asked-period.ts'
import type { OrganizationSource } from './pages.ts'
import { installSlices } from './read-installs.ts'

export async function toldPage(source: OrganizationSource, question: FiguresQuestion) {
  const { reads } = source
  const groups: ToldGroup[] = []
  const counted = new Map<string, number>()
  for (const slice of await installSlices(source, question)) {
    for (const { website, installs } of await reads.run('installsByWebsite', slice))
      counted.set(website, (counted.get(website) ?? 0) + installs)
    groups.push(...(await reads.run('toldInstalls', { ...slice, providers: ADVERTISING_PROVIDERS })))
  }
  const destinations = reads.websites.flatMap(({ id: website, destinations: all }) =>
    all
      .filter(({ provider }) => ADVERTISING_PROVIDERS.some((each) => each === provider))
      .map(({ id, displayName, provider }) => ({ website, id, displayName, provider })),
  )
  const websites = [...counted].map(([website, installs]) => ({ website, installs }))
  return { destinations: toldInstalls(destinations, summed(groups), websites) }
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
