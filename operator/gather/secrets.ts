/** Reads the values of referenced Secrets, and of no others: the rest is known only by name and version. */

import type { CatalogPlace } from '../../domain/published/place.ts'
import type { KubeClient } from '../../runtime/kube/client.ts'
import { KubeError } from '../../runtime/kube/client.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { kubeKey, stripped } from '../../runtime/kube/objects.ts'

interface SecretValues {
  /** The existing Secrets with these keys (`namespace/name`) as they are now. */
  readonly read: (keys: ReadonlySet<string>) => Promise<readonly KubeObject[]>
}

const AT_ONCE = 16

/**
 * A Secret that may be listed but not read keeps its last known value: its namespace must not stop the others.
 *
 * `versions` finds the metadata of a Secret by its key: a value is read again only after its version has changed.
 */
export function createSecretValues(
  client: KubeClient,
  versions: (key: string) => KubeObject | undefined,
): SecretValues {
  const known = new Map<string, KubeObject>()
  return {
    read: async (keys) => {
      for (const key of known.keys()) if (!keys.has(key)) known.delete(key)
      const wanted = [...keys].filter((key) => isOutdated(known.get(key), versions(key)))
      const lanes = Array.from({ length: Math.min(AT_ONCE, wanted.length) }, async () => {
        for (let key = wanted.pop(); key !== undefined; key = wanted.pop()) {
          const secret = versions(key) === undefined ? null : await fetchSecret(client, key)
          if (secret === null) known.delete(key)
          else if (secret !== 'forbidden') known.set(key, secret)
        }
      })
      await Promise.all(lanes)
      return [...known.values()]
    },
  }
}

/** Keys of the Secrets that these objects refer to, even if the objects are faulty. */
export function referredSecrets(objects: readonly KubeObject[]): ReadonlySet<string> {
  return new Set(objects.flatMap(secretKeysOf))
}

/** Objects are never changed in place, and most of them are the same as before. */
const REFERRED = new WeakMap<KubeObject, readonly string[]>()

function secretKeysOf(object: KubeObject): readonly string[] {
  const known = REFERRED.get(object) ?? secretsIn(object)
  REFERRED.set(object, known)
  return known
}

function secretsIn({ metadata, spec }: KubeObject): readonly string[] {
  const blocks = Object.values(fieldsIn(spec)).flatMap((block) => Object.entries(fieldsIn(block)))
  return blocks.flatMap(([field, ref]) => {
    const { name } = fieldsIn(ref)
    return field.endsWith('Ref') && typeof name === 'string' ? [`${metadata.namespace ?? ''}/${name}`] : []
  })
}

function isOutdated(known: KubeObject | undefined, now: KubeObject | undefined): boolean {
  return known?.metadata.resourceVersion !== now?.metadata.resourceVersion
}

/** Reads the operator's own objects by name, as they are now; null if there is none. */
export function ownReader(client: KubeClient, { namespace }: CatalogPlace) {
  return async (plural: 'configmaps' | 'secrets', name: string): Promise<KubeObject | null> => {
    try {
      const path = `/api/v1/namespaces/${namespace}/${plural}/${name}`
      return stripped((await client.request({ method: 'GET', path })) as KubeObject)
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return null
      throw error
    }
  }
}

async function fetchSecret(client: KubeClient, key: string): Promise<KubeObject | 'forbidden' | null> {
  const [namespace = '', name = ''] = key.split('/')
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets/${encodeURIComponent(name)}`
  try {
    const secret = stripped((await client.request({ method: 'GET', path })) as KubeObject)
    return kubeKey(secret) === key ? secret : null
  } catch (error) {
    // Deleted a moment ago; its event will arrive.
    if (error instanceof KubeError && error.status === 404) return null
    if (error instanceof KubeError && error.status === 403) return 'forbidden'
    throw error
  }
}

function fieldsIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}
