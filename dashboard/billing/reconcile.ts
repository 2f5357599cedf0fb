/** Reconciles all subscriptions once a day, because events of the payment provider get lost. */

import { unlessAborted } from '../../common/deadline.ts'
import { every, type Repetition } from '../../common/every.ts'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Directory } from '../resources/directory.ts'
import type { ApplyPresent } from './present.ts'

interface ReconcileParts {
  readonly applyPresent: ApplyPresent
  readonly directory: Directory
  readonly logger: Logger
  /** In [0, 1). */
  readonly random: () => number
}

/**
 * One after another, to spare the provider. Resolves with the number of plans that changed; failures wait for the next day.
 * @internal
 */
export async function reconcilePlans(parts: ReconcileParts): Promise<number> {
  let changed = 0
  for (const organization of [...parts.directory.organizations().values()]) {
    try {
      if ((await parts.applyPresent(organization)) === 'written') changed += 1
    } catch (error) {
      parts.logger.warn({ err: error, organization: organization.id }, 'the plan of an organisation was not reconciled')
    }
  }
  return changed
}

/** Begins within an hour, so that processes that start together do not all ask at the same time. */
export function startReconciling(parts: ReconcileParts): Repetition {
  const { logger, random } = parts
  const reconcile = async (): Promise<void> => {
    const changed = await reconcilePlans(parts)
    logger.info({ changed }, 'plans reconciled with payments')
  }
  return every(DAY_MS, (signal) => unlessAborted(signal, reconcile), {
    firstMs: random() * HOUR_MS,
    onFailure: (error) =>
      logger.warn({ err: error, task: 'reconcile_plans' }, 'plans were not reconciled with payments'),
  })
}
