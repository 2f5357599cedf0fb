/** Deletes the Secrets that the dashboard made and nothing needs any more. The dashboard cannot: whoever may delete a Secret may read it. */

import { LIMITS } from '../../domain/limits.ts'
import { DASHBOARD_SECRET_TYPE } from '../../domain/resources/envelope.ts'
import type { KubeClient } from '../../runtime/kube/client.ts'
import { KubeError } from '../../runtime/kube/client.ts'
import { type KubeObject, kubeKey } from '../../runtime/kube/objects.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import { createUnusedSecrets, type UnusedSecret } from '../decide/unused-secrets.ts'
import type { Room } from '../gather/room.ts'
import { referredSecrets } from '../gather/secrets.ts'
import type { World } from '../gather/world.ts'
import type { Writer } from './writer.ts'

interface SecretCleanupOptions {
  readonly client: KubeClient
  readonly writer: Pick<Writer, 'remove'>
  readonly world: Pick<World, 'resources' | 'dashboardSecrets' | 'isWhole'>
  readonly room: Pick<Room, 'cut'>
  /** Kinds with fields that this operator may not know, some of which may refer to Secrets. */
  readonly differing: () => readonly ResourceKind[]
  readonly logger: Logger
  readonly nowMs: () => number
}

interface SecretCleanup {
  /** To be called regularly by the operator that leads. */
  readonly run: () => Promise<void>
}

export function createSecretCleanup(options: SecretCleanupOptions): SecretCleanup {
  const { world, room, writer, logger, nowMs } = options
  const unused = createUnusedSecrets()
  let isForbidden = false
  /** Whether no object that may refer to a Secret is unknown, or known only in part. */
  const isAllKnown = (): boolean => world.isWhole() && room.cut().size === 0 && options.differing().length === 0
  /** Only its type, which metadata does not tell, says for certain that the dashboard made it. */
  const remove = async (secret: UnusedSecret): Promise<void> => {
    if (!(await wasMadeByDashboard(options.client, secret))) return
    const [namespace, name] = placeOfKey(secret.key)
    await writer.remove('Secret', namespace, name, secret.uid)
    logger.info({ secret: secret.key }, 'deleted a Secret of the dashboard that nothing refers to')
  }
  return {
    run: async () => {
      if (isForbidden) return
      if (!isAllKnown()) {
        unused.startOver()
        return
      }
      const { resources, dashboardSecrets } = world
      const referring = [...resources('Destination'), ...resources('LogStream'), ...resources('Webhook')]
      const referred = new Set(referredSecrets(referring).keys())
      const due = unused.due(dashboardSecrets().map(metadataOf), referred, nowMs()).slice(0, LIMITS.secretReadsPerPass)
      try {
        for (const secret of due) await remove(secret)
      } catch (error) {
        if (!(error instanceof KubeError) || error.status !== 403) throw error
        isForbidden = true
        logger.warn(
          { why: error.message },
          'Secrets of the dashboard that nothing refers to stay: no right to delete them',
        )
      }
    },
  }
}

function metadataOf(object: KubeObject): UnusedSecret {
  const { uid = '', creationTimestamp = '' } = object.metadata
  return { key: kubeKey(object), uid, createdAtMs: Date.parse(creationTimestamp) }
}

function placeOfKey(key: string): readonly [namespace: string, name: string] {
  const [namespace = '', name = ''] = key.split('/')
  return [namespace, name]
}

async function wasMadeByDashboard(client: KubeClient, { key, uid }: UnusedSecret): Promise<boolean> {
  const [namespace, name] = placeOfKey(key)
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets/${encodeURIComponent(name)}`
  try {
    const { metadata, type } = (await client.request({ method: 'GET', path })) as KubeObject
    return metadata.uid === uid && type === DASHBOARD_SECRET_TYPE
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return false
    throw error
  }
}
