/**
 * Makes the operator's objects go with the release: besides statuses, it writes the catalog, credentials and the Lease.
 * Each of these names an owner that the chart creates, and the cluster deletes objects whose owner is gone. Without
 * that owner no owner is set, and the objects stay until someone deletes them.
 */

import type { CatalogPlace } from '../../domain/published/place.ts'
import type { KubeClient, KubeRequest } from '../../runtime/kube/client.ts'
import { memberOf, objectOf } from '../../domain/strict-json.ts'

/** An owner reference of Kubernetes. */
interface Owner {
  readonly apiVersion: 'v1'
  readonly kind: 'ConfigMap'
  readonly name: string
  readonly uid: string
}

/** An owner that was deleted and recreated by helm has another uid. */
const KEPT_MS = 60_000
const RETRY_MS = 5_000
/** Renewing the Lease waits for it, and must not be late. */
const PATIENCE_MS = 2_000
const OWNED = /^\/(api\/v1|apis\/coordination\.k8s\.io\/v1)\/namespaces\/([^/?]+)\/(configmaps|secrets|leases)(\/|\?|$)/

/** The same client, but it adds the owner to what it writes in the catalog's namespace. */
export function owningClient(client: KubeClient, place: CatalogPlace, nowMs: () => number): KubeClient {
  const ownerOf = ownerKeeper(client, place, nowMs)
  return {
    ...client,
    request: async (request) => {
      if (!isOwned(request, place)) return client.request(request)
      const owner = await ownerOf()
      return client.request(owner === null ? request : { ...request, body: owned(request.body, owner) })
    },
  }
}

function isOwned({ method, path, body }: KubeRequest, { namespace }: CatalogPlace): boolean {
  if (method === 'GET' || method === 'DELETE' || body === undefined) return false
  return OWNED.exec(path)?.[2] === namespace
}

function owned(body: unknown, owner: Owner): unknown {
  return { ...objectOf(body), metadata: { ...objectOf(memberOf(body, 'metadata')), ownerReferences: [owner] } }
}

/** If it cannot be read, the last known owner: an apply without it would remove it. */
function ownerKeeper(client: KubeClient, place: CatalogPlace, nowMs: () => number): () => Promise<Owner | null> {
  let last: Owner | null = null
  let readAtMs = -Infinity
  let reading: Promise<void> | null = null
  const read = async (): Promise<void> => {
    try {
      last = await readOwner(client, place)
      readAtMs = nowMs()
    } catch {
      // The following write reports the fault of the API server, and should not wait for it twice.
      readAtMs = nowMs() - KEPT_MS + RETRY_MS
    } finally {
      reading = null
    }
  }
  return async () => {
    if (nowMs() - readAtMs >= KEPT_MS) await (reading ??= read())
    return last
  }
}

async function readOwner(client: KubeClient, { namespace, name }: CatalogPlace): Promise<Owner | null> {
  const query = `fieldSelector=${encodeURIComponent(`metadata.name=${name}-owner`)}`
  const path = `/api/v1/namespaces/${namespace}/configmaps?${query}`
  const answer = await client.request({ method: 'GET', path, signal: AbortSignal.timeout(PATIENCE_MS) })
  const uid = memberOf(memberOf(memberOf(memberOf(answer, 'items'), '0'), 'metadata'), 'uid')
  return typeof uid !== 'string' ? null : { apiVersion: 'v1', kind: 'ConfigMap', name: `${name}-owner`, uid }
}
