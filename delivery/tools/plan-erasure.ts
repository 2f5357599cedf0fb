/**
 * Decides what an erasure includes. With an installation, the visits that its events name are erased, unless events of another
 * installation name them too. With a visit, the whole chain of receipts of the page in that browser is erased, and the events
 * that name one of them. So nothing that remains names anything that was erased.
 */

import type { OwnedWebsite } from '../../domain/model.ts'
import { hourAfter, hourOf } from '../../domain/durations.ts'
import { MAX_NAMES, type ErasedName, type ErasedRows } from '../../ports/facts/erasure/names.ts'
import type { ErasureCounter, FactsReader } from '../../ports/facts/facts.ts'
import type { QueryRow } from '../../ports/facts/queries.ts'
import { erasedName } from '../facts-writer/erasures.ts'

/** The person's data, as the command names it. */
export interface ErasureSubject {
  readonly website: string
  /** Whose data; null: of the only organisation that has facts about the website. */
  readonly organization: string | null
  readonly installationIds: readonly string[]
  readonly visitIds: readonly string[]
}

/** What is erased, by its IDs. */
export interface ErasedIds {
  readonly installationIds: readonly string[]
  readonly visitIds: readonly string[]
  readonly eventIds: readonly string[]
}

/** Whom an erasure concerns beside the person. */
interface Others {
  /** Visits that stay because other installations were matched to them too. */
  readonly sharedVisitIds: readonly string[]
  /** Installations that lose events, but not all of their data. */
  readonly otherInstallations: number
}

/** How much an erasure takes away. */
interface ErasureExtent {
  /** Hours whose figures change, as Unix ms. */
  readonly hours: readonly number[]
  readonly rows: ErasedRows
  /** What was sent to providers, which only they can delete. */
  readonly sentTo: readonly string[]
}

export interface ErasurePlan extends OwnedWebsite {
  readonly ids: ErasedIds
  readonly others: Others
  readonly extent: ErasureExtent
}

type InstallNaming = QueryRow<'installsNaming'>
type ChainedVisit = QueryRow<'visitsNaming'>

interface FoundNames {
  readonly visits: ReadonlySet<string>
  readonly chain: readonly ChainedVisit[]
  readonly installs: readonly InstallNaming[]
  readonly shared: readonly string[]
}

/** Rejects like `Facts`, and with an explanation if the data is not that of a single person. */
export async function planErasure(facts: FactsReader & ErasureCounter, subject: ErasureSubject): Promise<ErasurePlan> {
  const { installationIds } = subject
  const owner = await erasedOwner(facts, subject)
  const { visits, chain, installs, shared } = await findAll(facts, owner, subject)
  const eventIds = installs.map(({ event_id: id }) => id)
  const others = installs.map(({ installation_id: id }) => id).filter((id) => !installationIds.includes(id))
  const counted = await facts.run('countedForVisits', { ...owner, visit_ids: [...visits] })
  const begun = await facts.run('hoursOfVisits', { ...owner, visit_ids: [...visits] })
  const times = [
    // Page views of the next hour may have belonged to a visit that is erased.
    ...chain.flatMap(({ issued_at_ms: ms }) => [ms, hourAfter(ms)]),
    ...begun.map(({ began_ms: ms }) => ms),
    ...installs.map(({ received_at_ms: ms }) => ms),
    // Installs without a visit of their own that count for one of these.
    ...counted.map(({ received_at_ms: ms }) => ms),
  ]
  const ids = { installationIds, visitIds: [...visits], eventIds }
  return {
    ...owner,
    ids,
    others: { sharedVisitIds: shared, otherInstallations: new Set(others).size },
    extent: {
      hours: [...new Set(times.map(hourOf))],
      rows: await facts.countNamed(erasedNamesOf(owner, ids)),
      sentTo: await sentTo(facts, owner, eventIds),
    },
  }
}

/** Everything that is erased, in the form that is remembered. */
export function erasedNamesOf(
  owner: OwnedWebsite,
  { installationIds, visitIds, eventIds }: ErasedIds,
): readonly ErasedName[] {
  return [...new Set([...installationIds, ...visitIds, ...eventIds])].map((id) => erasedName(owner, id))
}

/** Rejects with an explanation if the website alone does not say whose data it is. */
async function erasedOwner(facts: FactsReader, { organization, website }: ErasureSubject): Promise<OwnedWebsite> {
  if (organization !== null) return { organization, website }
  const owners = await facts.run('ownersOfWebsite', { website })
  const [only] = owners
  if (only !== undefined && owners.length === 1) return { organization: only.organization, website }
  if (only === undefined) throw new Error(`no facts name the website ${website}: say whose it is, with --organization`)
  const names = owners.map((owner) => owner.organization).join(', ')
  throw new Error(`the website ${website} has had several owners: say whose data it is, with --organization (${names})`)
}

/** Repeats until nothing more is found. */
async function findAll(
  facts: FactsReader,
  owner: OwnedWebsite,
  { installationIds, visitIds }: ErasureSubject,
): Promise<FoundNames> {
  const visits = new Set(visitIds)
  const shared = new Set<string>()
  for (;;) {
    const before = visits.size
    const installs = await facts.run('installsNaming', {
      ...owner,
      installation_ids: installationIds,
      visit_ids: [...visits],
    })
    const named = await furtherVisits(facts, { owner, installs, installationIds, visits })
    for (const id of named.own) visits.add(id)
    for (const id of named.shared) shared.add(id)
    const chain = await facts.run('visitsNaming', { ...owner, visit_ids: [...visits] })
    const chained = chain.flatMap(({ visit_id: id, previous_visit_id: previous }) => [id, previous])
    for (const id of chained) if (id !== '') visits.add(id)
    if (visits.size + installs.length + installationIds.length > MAX_NAMES)
      throw new Error(`more than ${MAX_NAMES} visits and events would be erased: this is not the data of one person`)
    if (visits.size === before) return { visits, chain, installs, shared: [...shared].filter((id) => !visits.has(id)) }
  }
}

interface Naming {
  readonly owner: OwnedWebsite
  readonly installs: readonly InstallNaming[]
  readonly installationIds: readonly string[]
  readonly visits: ReadonlySet<string>
}

/** Further visits that the installations' own events name, except those that others were matched to as well. */
async function furtherVisits(
  facts: FactsReader,
  { owner, installs, installationIds, visits }: Naming,
): Promise<{ readonly own: readonly string[]; readonly shared: readonly string[] }> {
  const own = installs.filter(({ installation_id: id }) => installationIds.includes(id))
  const named = [...new Set(own.flatMap(({ visit_ids: ids }) => ids))].filter((id) => !visits.has(id))
  if (named.length === 0) return { own: [], shared: [] }
  const all = await facts.run('installsNaming', { ...owner, installation_ids: [], visit_ids: named })
  const others = all.filter(({ installation_id: id }) => !installationIds.includes(id))
  const taken = new Set(others.flatMap(({ visit_ids: ids }) => ids))
  return { own: named.filter((id) => !taken.has(id)), shared: named.filter((id) => taken.has(id)) }
}

async function sentTo(
  facts: FactsReader,
  owner: OwnedWebsite,
  eventIds: readonly string[],
): Promise<readonly string[]> {
  const found = new Set<string>()
  for (const event_id of eventIds)
    for (const row of await facts.run('deliveriesOfInstall', { ...owner, event_id }))
      if (row.attempts > 0) found.add(`${row.destination} (${row.provider})`)
  return [...found].sort()
}
