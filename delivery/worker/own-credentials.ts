/** Narrows the credentials of a folder of manifests: to one provider for its worker, to log streams, or to webhooks. */

import {
  destinationKey,
  logStreamKey,
  webhookKey,
  type Catalog,
  type Credentials,
  type Organization,
} from '../../domain/catalog.ts'
import type { ProviderId } from '../../domain/providers/index.ts'

interface CredentialSource {
  readonly current: () => Catalog
  readonly credentials: () => Credentials
}

/** Computed again only after the catalog or the credentials changed. */
export function ownCredentials(provider: ProviderId, source: CredentialSource): () => Credentials {
  return remembered(source, (catalog, all) => ownOf(provider, catalog, all))
}

/** The credentials of log streams only. */
export function streamCredentials(source: CredentialSource): () => Credentials {
  return credentialsNamed(source, ({ logStreams }) => logStreams.map(logStreamKey))
}

/** The credentials of webhooks only. */
export function webhookCredentials(source: CredentialSource): () => Credentials {
  return credentialsNamed(source, ({ webhooks }) => webhooks.map(webhookKey))
}

function credentialsNamed(
  source: CredentialSource,
  keysOf: (organization: Organization) => readonly string[],
): () => Credentials {
  return remembered(source, (catalog, all) => {
    const keys = new Set([...catalog.organizations.values()].flatMap(keysOf))
    return new Map([...all].filter(([key]) => keys.has(key)))
  })
}

function remembered(
  source: CredentialSource,
  narrow: (catalog: Catalog, all: Credentials) => Credentials,
): () => Credentials {
  let from: { readonly catalog: Catalog; readonly all: Credentials } | null = null
  let own: Credentials = new Map()
  return () => {
    const catalog = source.current()
    const all = source.credentials()
    if (from?.catalog !== catalog || from.all !== all) {
      own = narrow(catalog, all)
      from = { catalog, all }
    }
    return own
  }
}

function ownOf(provider: ProviderId, catalog: Catalog, all: Credentials): Credentials {
  const own = new Map<string, Readonly<Record<string, string>>>()
  for (const { destinations } of catalog.websites.values()) {
    for (const destination of destinations) {
      const key = destinationKey(destination, destination.id)
      const secrets = destination.provider === provider ? all.get(key) : undefined
      if (secrets !== undefined) own.set(key, secrets)
    }
  }
  return own
}
