/** Narrows the credentials of a folder of manifests to those of one provider, for its worker, or of log streams. */

import { destinationKey, logStreamKey, type Catalog, type Credentials } from '../../domain/catalog.ts'
import type { ProviderId } from '../../domain/providers/index.ts'

interface CredentialSource {
  readonly current: () => Catalog
  readonly credentials: () => Credentials
}

/** Computed again only after the catalog or the credentials changed. */
export function ownCredentials(provider: ProviderId, source: CredentialSource): () => Credentials {
  return remembered(source, (catalog, all) => ownOf(provider, catalog, all))
}

/** Those of log streams alone. */
export function streamCredentials(source: CredentialSource): () => Credentials {
  return remembered(source, (catalog, all) => {
    const streams = [...catalog.organizations.values()].flatMap(({ logStreams }) => logStreams)
    const keys = new Set(streams.map(logStreamKey))
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
  for (const { id, destinations } of catalog.websites.values()) {
    for (const destination of destinations) {
      const key = destinationKey(id, destination.id)
      const secrets = destination.provider === provider ? all.get(key) : undefined
      if (secrets !== undefined) own.set(key, secrets)
    }
  }
  return own
}
