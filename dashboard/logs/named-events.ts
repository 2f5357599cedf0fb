/** Attempts at delivery name their event. A list that is asked for an installation or a visit reads the attempts of their events, too. */

import type { DirectedFilters } from './filters.ts'

/** Events of installations and visits with these IDs. */
type EventsOf = (references: readonly string[]) => Promise<readonly { readonly event_id: string }[]>

/** The same filters, of which those for attempts name the events, too. Rejects like `eventsOf`, which is asked only if there are references. */
export async function withNamedEvents(filters: DirectedFilters, eventsOf: EventsOf): Promise<DirectedFilters> {
  const { attempts } = filters
  if (attempts?.references === undefined) return filters
  const events = (await eventsOf(attempts.references)).map(({ event_id: id }) => id)
  return { ...filters, attempts: { ...attempts, references: [...attempts.references, ...events] } }
}
