/** Whether what was installed ran: the only thing that is measured after an install. */

import { BELONGS_MS, type InstallKind, type JudgedEvent } from './install-kinds.ts'

export interface InstallProgress {
  /** An installer came to its end: the install is such an event, or one belongs to it. */
  readonly isCompleted: boolean
  /** And the product ran for the first time within seven days before or after that. */
  readonly hasRun: boolean
}

export const NO_PROGRESS: InstallProgress = { isCompleted: false, hasRun: false }

type KnownEvent = JudgedEvent & { readonly kind: InstallKind }

/** Of an install, by the events of its installation. */
export function installProgress(install: KnownEvent, events: readonly KnownEvent[]): InstallProgress {
  if (install.kind !== 'install') return NO_PROGRESS
  const completion = events.find((event) => isCompletionOf(install, event))
  if (completion === undefined) return NO_PROGRESS
  const isNear = ({ receivedAtMs }: KnownEvent): boolean =>
    Math.abs(receivedAtMs - completion.receivedAtMs) <= BELONGS_MS
  return { isCompleted: true, hasRun: events.some((event) => event.eventType === 'first_run' && isNear(event)) }
}

function isCompletionOf(install: KnownEvent, event: KnownEvent): boolean {
  if (event.eventType !== 'install_completed') return false
  const sinceMs = event.receivedAtMs - install.receivedAtMs
  return event === install || (event.kind === 'none' && sinceMs >= 0 && sinceMs <= BELONGS_MS)
}
