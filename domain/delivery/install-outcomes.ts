/** What became of installs at a destination that gets installs alone: each of them is delivered, waits, has ended otherwise, or has no delivery there. */

/** Installs of a website whose delivery to a destination stands alike. */
export interface OutcomeGroup {
  readonly website: string
  readonly destination: string
  readonly provider: string
  readonly status: string
  readonly reason: string
  readonly installs: number
}

/** An install that has the visit of a later event, and one of the events whose delivery may stand for it: its own among them. */
export interface LaterEvent {
  readonly website: string
  readonly install_id: string
  readonly event_id: string
}

/** How the delivery of an event stands. */
export interface EventDelivery {
  readonly website: string
  readonly event_id: string
  readonly destination: string
  readonly provider: string
  readonly status: string
  readonly reason: string
}

/**
 * Of several deliveries of an install the first of these counts: that of a later event has taken the place of one that was skipped. Of those that
 * stand alike, that of the event which has the visit.
 */
const BEST_FIRST = ['delivered', 'retrying', 'pending', 'failed', 'expired', 'skipped']

/** One group for each install and destination, by the delivery that counts. Of each install the event that has the visit comes first in `later`. */
export function laterOutcomes(later: readonly LaterEvent[], events: readonly EventDelivery[]): readonly OutcomeGroup[] {
  const place = ({ status }: EventDelivery): number => BEST_FIRST.indexOf(status)
  const best = new Map<string, EventDelivery>()
  const byEvent = Map.groupBy(events, ({ website, event_id: id }) => `${website}\t${id}`)
  for (const { website, install_id: install, event_id: id } of later)
    for (const event of byEvent.get(`${website}\t${id}`) ?? []) {
      const key = [website, install, event.destination].join('\t')
      const known = best.get(key)
      if (known === undefined || place(event) < place(known)) best.set(key, event)
    }
  return [...best.values()].map(({ website, destination, provider, status, reason }) => ({
    website,
    destination,
    provider,
    status,
    reason,
    installs: 1,
  }))
}

interface OutcomeDestination {
  readonly website: string
  readonly id: string
  readonly displayName: string
  readonly provider: string
}

interface SkippedFor {
  readonly reason: string
  readonly installs: number
}

/** All but `installs` add up to it. */
export interface InstallOutcomes extends OutcomeDestination {
  /** Of its website. */
  readonly installs: number
  readonly delivered: number
  /** Planned, or to be tried again. */
  readonly waiting: number
  readonly failed: number
  readonly expired: number
  /** By reason, the commonest first. */
  readonly skipped: readonly SkippedFor[]
  /** They came before the destination was there, or have just come. */
  readonly none: number
}

interface CountedWebsite {
  readonly website: string
  readonly installs: number
}

/** Those that are configured, in their order, and then those that are gone and have a delivery of an install. */
export function installOutcomes(
  destinations: readonly OutcomeDestination[],
  groups: readonly OutcomeGroup[],
  websites: readonly CountedWebsite[],
): readonly InstallOutcomes[] {
  const gone = groups.filter(
    (group) => !destinations.some(({ website, id }) => website === group.website && id === group.destination),
  )
  const formerly = new Map(
    gone.map(({ website, destination: id, provider }) => [
      `${website}/${id}`,
      { website, id, displayName: id, provider },
    ]),
  )
  return [...destinations, ...formerly.values()].map((destination) =>
    outcomesAt(
      destination,
      groups.filter(({ website, destination: id }) => website === destination.website && id === destination.id),
      websites.find(({ website }) => website === destination.website)?.installs ?? 0,
    ),
  )
}

function outcomesAt(
  destination: OutcomeDestination,
  groups: readonly OutcomeGroup[],
  counted: number,
): InstallOutcomes {
  const installsIn = (...statuses: readonly string[]): number =>
    groups.reduce((sum, { status, installs }) => sum + (statuses.includes(status) ? installs : 0), 0)
  const known = groups.reduce((sum, { installs }) => sum + installs, 0)
  // An install that came in between is in the groups alone.
  const installs = Math.max(counted, known)
  return {
    ...destination,
    installs,
    delivered: installsIn('delivered'),
    waiting: installsIn('pending', 'retrying'),
    failed: installsIn('failed'),
    expired: installsIn('expired'),
    skipped: groups
      .filter(({ status }) => status === 'skipped')
      .map(({ reason, installs: skipped }) => ({ reason, installs: skipped }))
      .toSorted((a, b) => b.installs - a.installs),
    none: installs - known,
  }
}
