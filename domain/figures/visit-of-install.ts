/** Which event's visit an install counts for. */

import { BELONGS_MS, type InstallKind, type JudgedEvent } from './install-kinds.ts'

interface EventWithVisit extends JudgedEvent {
  readonly kind: InstallKind
  /** Empty if it has none. */
  readonly visitId: string
}

/**
 * An event's own visit; of an install without one, that of the first later event within seven days which had one. `events` are those of the
 * installation in the order of `byReceipt`.
 */
export function decidingEvent<Event extends EventWithVisit>(event: Event, events: readonly Event[]): Event {
  if (event.kind !== 'install' || event.visitId !== '') return event
  const untilMs = event.receivedAtMs + BELONGS_MS
  const later = events.slice(events.indexOf(event) + 1)
  return later.find(({ visitId, receivedAtMs }) => visitId !== '' && receivedAtMs <= untilMs) ?? event
}
