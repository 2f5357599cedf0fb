/** The cluster of a benchmark: its objects, and the settings by which programs find it. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { RESOURCE_PLURALS } from '../../domain/resources/crd.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import type { KubeServer } from '../../fixtures/engines/kube.ts'
import type { Manifest } from '../../fixtures/service/manifests.ts'
import { createKubeClient } from '../../runtime/kube/client.ts'
import { inLanes } from '../support/kube-ceiling.ts'

interface ClusterOptions {
  /** Holds the token of the programs. */
  readonly folder: string
  readonly namespace: string
  readonly objects: readonly Manifest[]
}

/** Applies all objects in this namespace, and returns the settings that name the cluster. */
export async function clusterSettings(
  kube: KubeServer,
  { folder, namespace, objects }: ClusterOptions,
): Promise<Readonly<Record<string, string>>> {
  const tokenFile = join(folder, 'token')
  await writeFile(tokenFile, kube.adminToken, { mode: 0o600 })
  await kube.installCrds()
  await kube.apply([namespace, 'whence'].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })))
  const client = createKubeClient({ url: kube.url, tokenFile, caFile: kube.caFile, userAgent: 'kubectl' }, Date.now)
  await inLanes(objects.values(), async (body) => {
    const plural = RESOURCE_PLURALS[body['kind'] as ResourceKind]
    await client.request({ method: 'POST', path: `/apis/whence.dev/v1alpha1/namespaces/${namespace}/${plural}`, body })
  })
  client.close()
  return {
    WHENCE_KUBE_URL: kube.url,
    WHENCE_KUBE_TOKEN_FILE: tokenFile,
    WHENCE_KUBE_CA_FILE: kube.caFile,
    WHENCE_CATALOG: 'kubernetes:whence/whence',
    WHENCE_WATCH_NAMESPACES: namespace,
    WHENCE_TRUST_PROXY: '127.0.0.0/8',
  }
}
