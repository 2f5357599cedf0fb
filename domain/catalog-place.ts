/** Names of the objects in which a cluster keeps the compiled catalog: agreed between the operator and those who read. */

import type { ProviderId } from './model.ts'
import { RESOURCE_GROUP } from './resources.ts'

/** Where the compiled catalog lies in a cluster. */
export interface CatalogPlace {
  readonly namespace: string
  /** What the names of its objects begin with; two installations in one namespace need two. */
  readonly name: string
}

/** Its value is the place's name. */
export const CATALOG_LABEL = `${RESOURCE_GROUP}/catalog`

/** Members of the objects. */
export const INDEX_KEY = 'index.json'
export const SHARD_KEY = 'shard.json.gz'
export const CREDENTIALS_KEY = 'credentials.json.gz'

export function indexName({ name }: CatalogPlace): string {
  return `${name}-catalog`
}

/** The number of all shards is part of the name, so that one more or less never mixes with what is there. */
export function shardName({ name }: CatalogPlace, number: number, count: number): string {
  return `${name}-catalog-${number}-of-${count}`
}

/** A fixed name each: the right to watch one Secret can be given by name alone. */
export function credentialsName({ name }: CatalogPlace, provider: ProviderId): string {
  return `${name}-${provider.replaceAll('_', '-')}`
}
