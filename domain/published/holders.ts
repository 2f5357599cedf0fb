/** Decides who gets which credentials in a cluster: each role that sends something gets its own, and no role sees those of another. */

import { destinationKey, logStreamKey, webhookKey, type Catalog } from '../catalog.ts'
import { PROVIDER_IDS } from '../providers/index.ts'

/** The workers of each provider, and the roles that send log streams and call webhooks. */
export const CREDENTIAL_HOLDERS = [...PROVIDER_IDS, 'streams', 'webhooks'] as const
export type CredentialHolder = (typeof CREDENTIAL_HOLDERS)[number]

/** The credentials that one object needs to send. */
interface HeldCredentials {
  readonly holder: CredentialHolder
  /** The key under which the credentials are found. */
  readonly key: string
  readonly kind: 'Destination' | 'LogStream' | 'Webhook'
  readonly namespace: string
  readonly name: string
}

/** The needs of every object in this catalog that has credentials. */
export function heldCredentials({ websites, organizations }: Catalog): readonly HeldCredentials[] {
  const ofDestinations = [...websites.values()].flatMap((website) =>
    website.destinations.map((destination) => {
      const { id, namespace, provider: holder } = destination
      return { holder, key: destinationKey(destination, id), kind: 'Destination' as const, namespace, name: id }
    }),
  )
  const ofStreams = [...organizations.values()].flatMap(({ logStreams }) =>
    logStreams.map((stream) => {
      const { namespace, objectName: name } = stream
      return { holder: 'streams' as const, key: logStreamKey(stream), kind: 'LogStream' as const, namespace, name }
    }),
  )
  const ofWebhooks = [...organizations.values()].flatMap(({ webhooks }) =>
    webhooks.map((webhook) => {
      const { namespace, objectName: name } = webhook
      return { holder: 'webhooks' as const, key: webhookKey(webhook), kind: 'Webhook' as const, namespace, name }
    }),
  )
  return [...ofDestinations, ...ofStreams, ...ofWebhooks]
}
