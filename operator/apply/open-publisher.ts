/** Opens what publishes the catalog, with the credentials beside it, for an operator. */

import { randomBytes } from 'node:crypto'

import { sha256Hex } from '../../common/digest.ts'
import { indexName, type CatalogPlace } from '../../domain/published/place.ts'
import { createRightsMark, RIGHTS_KINDS } from '../../domain/published/rights-mark.ts'
import type { KubeClient } from '../../runtime/kube/client.ts'
import { ownReader } from '../gather/secrets.ts'
import type { World } from '../gather/world.ts'
import { createCredentialStore } from './credential-store.ts'
import { createPublisher } from './publisher.ts'
import type { Writer } from './writer.ts'

interface PublishingOptions {
  readonly client: KubeClient
  readonly place: CatalogPlace
  readonly credentialSlots: number
  readonly nowMs: () => number
}

const nonce = (): string => randomBytes(16).toString('hex')

/** `own` reads objects in the namespace of the catalog from the API server. */
export function openPublisher(
  { client, place, credentialSlots: slots, nowMs }: PublishingOptions,
  world: World,
  writer: Writer,
) {
  const own = ownReader(client, place)
  const read = (name: string) => own('secrets', name)
  const credentials = createCredentialStore({ writer, place, slots, sha256Hex, nonce, nowMs, read })
  const readIndexMap = () => own('configmaps', indexName(place))
  const mark = createRightsMark(sha256Hex)
  const rights = () => mark(RIGHTS_KINDS.flatMap((kind) => world.resources(kind)))
  return {
    own,
    credentials,
    publisher: createPublisher({ ...world, writer, place, readIndexMap, credentials, rights, nowMs }),
  }
}
