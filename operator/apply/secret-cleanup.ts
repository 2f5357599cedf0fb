/** Deletes the Secrets that the dashboard made and nothing needs any more. The dashboard cannot: whoever may delete a Secret may read it. */

import { LIMITS } from '../../domain/limits.ts'
import { DASHBOARD_SECRET_TYPE } from '../../domain/resources/envelope.ts'
import type { KubeClient, KubeRequests } from '../../runtime/kube/client.ts'
import { KubeError } from '../../runtime/kube/client.ts'
import { type KubeObject, kubeKey, placeOfKey } from '../../runtime/kube/objects.ts'
import type { Logger } from '../../runtime/logger.ts'
import { RESOURCE_PLURALS } from '../../domain/resources/crd.ts'
import { RESOURCE_API_VERSION, type ResourceKind } from '../../domain/resources/resources.ts'
import { createUnusedSecrets, type UnusedSecret } from '../../domain/resources/secret-use.ts'
import { fetchSecret, referredSecrets } from '../gather/secrets.ts'
import type { WorldResources } from '../gather/world.ts'
import type { ObjectRemover } from './writer.ts'
import { listOf } from '../../domain/guards.ts'
import { memberOf } from '../../domain/strict-json.ts'
import { isKubeObject } from '../../runtime/kube/objects.ts'

interface SecretCleanupOptions {
  readonly client: KubeClient
  readonly writer: ObjectRemover
  readonly world: KnownSecrets
  readonly logger: Logger
  readonly nowMs: () => number
}

/** The Secrets of the dashboard, and what may refer to them. */
interface KnownSecrets {
  readonly resources: WorldResources['resources']
  readonly dashboardSecrets: WorldResources['dashboardSecrets']
  /** Whether no object that may refer to a Secret is unknown, or known only in part. */
  readonly isAllKnown: () => boolean
}

interface SecretCleanup {
  /** To be called regularly by the operator that leads. */
  readonly run: () => Promise<void>
}

export function createSecretCleanup(options: SecretCleanupOptions): SecretCleanup {
  const { world, nowMs } = options
  const unused = createUnusedSecrets()
  const refusals = createRefusals(options.logger)
  return {
    run: async () => {
      if (!world.isAllKnown()) {
        unused.startOver()
        return
      }
      const { resources, dashboardSecrets } = world
      const referring = [...resources('Destination'), ...resources('LogStream'), ...resources('Webhook')]
      const referred = new Set(referredSecrets(referring).keys())
      const due = unused.due(dashboardSecrets().map(metadataOf), referred, nowMs())
      await removeAll(refusals.inTurns(due).slice(0, LIMITS.secretReadsPerPass), refusals, options)
    },
  }
}

/** What is refused stays, and stops nothing else; nor does it stop a namespace for good, since rights may be granted later. */
async function removeAll(due: readonly UnusedSecret[], refusals: Refusals, options: SecretCleanupOptions) {
  const { client, writer, logger } = options
  /** Namespaces in which nothing may be deleted; one try each time is enough. */
  const closed = new Set<string>()
  const referredNow = createReferredNow(client)
  for (const secret of due) {
    const { namespace, name } = placeOfKey(secret.key)
    // Whatever happens next, others come first the next time.
    refusals.tried(secret)
    if (closed.has(namespace)) continue
    const found = await fetchSecret(client, secret.key)
    if (found === 'forbidden') refusals.tell('read', namespace, `no right to read ${secret.key}`)
    if (!wasMadeByDashboard(found, secret)) continue
    if ((await referredNow(namespace)).has(secret.key)) continue
    try {
      await writer.remove('Secret', namespace, name, secret.uid)
    } catch (error) {
      if (!(error instanceof KubeError) || error.status !== 403) throw error
      closed.add(namespace)
      refusals.tell('delete', namespace, error.message)
      continue
    }
    logger.info({ secret: secret.key }, 'deleted a Secret of the dashboard that nothing refers to')
  }
}

const isListOfObjects = listOf(isKubeObject)

const REFERRING = ['Destination', 'LogStream', 'Webhook'] as const satisfies readonly ResourceKind[]

/**
 * The Secrets that objects of a namespace refer to at this moment, asked of the API server once a pass: the operator's own copies may be
 * behind, and a Secret that was deleted does not come back.
 */
function createReferredNow(client: KubeRequests): (namespace: string) => Promise<ReadonlySet<string>> {
  const known = new Map<string, Promise<ReadonlySet<string>>>()
  const read = async (namespace: string): Promise<ReadonlySet<string>> => {
    const lists = await Promise.all(
      REFERRING.map(async (kind) => {
        const path = `/apis/${RESOURCE_API_VERSION}/namespaces/${namespace}/${RESOURCE_PLURALS[kind]}`
        const items = memberOf(await client.request({ method: 'GET', path }), 'items')
        // A Secret of which nothing is known must not be deleted.
        if (!isListOfObjects(items)) throw new KubeError(0, 'NoList', 'the answer of the API server is not a list')
        return items
      }),
    )
    return new Set(referredSecrets(lists.flat()).keys())
  }
  return (namespace) => {
    const reading = known.get(namespace) ?? read(namespace)
    known.set(namespace, reading)
    return reading
  }
}

interface Refusals {
  /** Those that were not tried yet first, then those that were not tried for longest. */
  readonly inTurns: (due: readonly UnusedSecret[]) => readonly UnusedSecret[]
  readonly tried: (secret: UnusedSecret) => void
  /** Says once for each namespace that something may not be read, and once that nothing may be deleted. */
  readonly tell: (what: 'read' | 'delete', namespace: string, why: string) => void
}

function createRefusals(logger: Logger): Refusals {
  let tries = 0
  /** By UID. */
  const lastTries = new Map<string, number>()
  const told = new Set<string>()
  return {
    inTurns: (due) => {
      const existing = new Set(due.map(({ uid }) => uid))
      for (const uid of lastTries.keys()) if (!existing.has(uid)) lastTries.delete(uid)
      return due.toSorted((a, b) => (lastTries.get(a.uid) ?? 0) - (lastTries.get(b.uid) ?? 0))
    },
    tried: ({ uid }) => void lastTries.set(uid, (tries += 1)),
    tell: (what, namespace, why) => {
      if (told.has(`${what} ${namespace}`)) return
      told.add(`${what} ${namespace}`)
      logger.warn({ namespace, why }, 'Secrets of the dashboard that nothing refers to stay in this namespace')
    },
  }
}

function metadataOf(object: KubeObject): UnusedSecret {
  const { uid = '', creationTimestamp = '' } = object.metadata
  return { key: kubeKey(object), uid, createdAtMs: Date.parse(creationTimestamp) }
}

/** Only its type, which metadata does not tell, says for certain that the dashboard made it. */
function wasMadeByDashboard(found: KubeObject | 'forbidden' | null, { uid }: UnusedSecret): boolean {
  if (found === null || found === 'forbidden') return false
  return found.metadata.uid === uid && found['type'] === DASHBOARD_SECRET_TYPE
}
