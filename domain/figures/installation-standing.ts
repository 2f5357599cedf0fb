/**
 * What an event is among those of its installation, for its deliveries: its kind, and whether it is the one by which the installation is told
 * to destinations that get installs alone.
 */

import {
  byReceipt,
  judgeInstallation,
  knownHistory,
  type InstallationHistory,
  type InstallKind,
  type JudgedEvent,
} from './install-kinds.ts'
import { decidingEvent } from './visit-of-install.ts'

/** An event, with its own visit; empty if it has none. */
export interface EventOfInstallation extends JudgedEvent {
  readonly visitId: string
}

export interface EventStanding {
  readonly kind: InstallKind
  /** It is the install, or of an install without a visit the first later event within seven days that has one. */
  readonly isToldAsInstall: boolean
}

/** `stored` is the first of its events that was judged before, with what was known before that one. */
export function judgeStanding(
  event: EventOfInstallation,
  others: readonly EventOfInstallation[],
  stored?: { readonly receivedAtMs: number; readonly before: InstallationHistory },
): EventStanding {
  const events = [event, ...others.filter(({ eventId }) => eventId !== event.eventId)].toSorted(byReceipt)
  const judgements = judgeInstallation(events, knownHistory(events[0]?.receivedAtMs ?? 0, stored))
  const kinds = events.map((each, at) => ({ ...each, kind: judgements[at]?.kind ?? 'none' }))
  const install = kinds.find(({ kind }) => kind === 'install')
  return {
    kind: kinds.find(({ eventId }) => eventId === event.eventId)?.kind ?? 'none',
    isToldAsInstall: install !== undefined && decidingEvent(install, kinds).eventId === event.eventId,
  }
}
