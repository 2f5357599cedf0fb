/** Looks at all that is paid for once a day: events of the payment provider get lost. */

import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Directory } from '../resources/directory.ts'
import { applyPresent, type PresentParts } from './present.ts'

interface ReconcileParts extends PresentParts {
  readonly directory: Directory
  readonly logger: Pick<Logger, 'warn' | 'info'>
  /** From 0 up to 1. */
  readonly random: () => number
}

/** One after the other, so that the provider is not kept busy. Gives how many plans changed; what fails waits for the next day. */
export async function reconcilePlans(parts: ReconcileParts): Promise<number> {
  let changed = 0
  for (const organization of [...parts.directory.organizations().values()]) {
    try {
      if ((await applyPresent(organization, parts)) === 'written') changed += 1
    } catch (error) {
      parts.logger.warn(
        { err: error, organization: organization.id },
        'what an organisation pays for was not looked at',
      )
    }
  }
  return changed
}

/** Begins within an hour, so that processes that start together do not ask together. */
export function startReconciling(parts: ReconcileParts): { readonly stop: () => void } {
  const look = (): void =>
    void reconcilePlans(parts).then((changed) => parts.logger.info({ changed }, 'plans are as they are paid for'))
  let timer = setTimeout(() => {
    look()
    timer = setInterval(look, DAY_MS).unref()
  }, parts.random() * HOUR_MS).unref()
  // One call ends timers of both kinds.
  return { stop: () => clearTimeout(timer) }
}
