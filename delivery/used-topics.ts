/**
 * Makes topics ahead that the catalog has a use for. A provider has topics of its own, and most catalogs use one or two providers;
 * with its first destination they are made, long before the first install asks for them.
 */

import type { CatalogOrganizations, CatalogWebsites } from '../domain/catalog.ts'
import type { Topic } from '../domain/records.ts'
import type { LogWriter } from '../ports/event-log/event-log.ts'
import { every, type Repetition } from '../common/every.ts'

type UsingCatalog = CatalogOrganizations & CatalogWebsites

/** Without those that are always there. */
function usedTopics({ websites, organizations }: UsingCatalog): readonly Topic[] {
  const providers = new Set([...websites.values()].flatMap((each) => each.destinations.map(({ provider }) => provider)))
  const hasWebhooks = [...organizations.values()].some(({ webhooks }) => webhooks.length > 0)
  return [
    ...[...providers].map((provider): Topic => `deliver.${provider}`),
    ...(hasWebhooks ? ['webhooks' as const] : []),
  ]
}

interface UsedTopicsParts {
  readonly eventLog: LogWriter
  readonly catalog: {
    readonly current: () => UsingCatalog
    readonly onChange: (listener: () => void) => () => void
  }
  /** Called for each failure, after which it is tried again. */
  readonly onFailure: (error: unknown) => void
}

const AGAIN_MS = 5_000

/** Those of the catalog in force, and of each one that follows. */
export function startPreparingTopics({ eventLog, catalog, onFailure }: UsedTopicsParts): Pick<Repetition, 'close'> {
  const prepare = async (): Promise<void> => {
    for (const topic of usedTopics(catalog.current())) await eventLog.prepare?.(topic)
  }
  const preparing = every(Infinity, prepare, { onFailure, retryMs: AGAIN_MS })
  const unsubscribe = catalog.onChange(preparing.now)
  return {
    close: () => {
      unsubscribe()
      return preparing.close()
    },
  }
}
