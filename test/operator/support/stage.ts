/** Runs operators and readers of the catalog in this process, against a real API server, each as a ServiceAccount. */

import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Registry } from 'prom-client'

import { until as untilSeen } from '../../../fixtures/until.ts'
import type { CatalogPlace } from '../../../domain/published/place.ts'
import type { CredentialHolder } from '../../../domain/published/holders.ts'
import type { AuditTools } from '../../../operator/apply/audit.ts'
import type { Operator } from '../../../operator/operator.ts'
import { startOperator } from '../../../operator/operator.ts'
import type { TrafficFacts } from '../../../operator/apply/traffic.ts'
import { openClusterCatalog } from '../../../runtime/catalog/cluster-catalog.ts'
import type { CatalogSource } from '../../../runtime/catalog/source.ts'
import type { KubeClient } from '../../../runtime/kube/client.ts'
import { createKubeClient } from '../../../runtime/kube/client.ts'
import { createKubeMetrics } from '../../../runtime/kube/metrics.ts'
import { createLogger } from '../../../runtime/logger.ts'
import type { KubeServer } from '../../../fixtures/engines/kube.ts'

export const PLACE: CatalogPlace = { namespace: 'whence', name: 'whence' }
export const BASE_URL = 'https://whence.example'

const ROOM_BYTES = 150_000_000
/** Generous: the machine may be busy with other things. */
const WAIT_MS = 100_000

export interface StartedOperator extends Operator {
  readonly registry: Registry
  readonly identity: string
  readonly isLost: () => boolean
}

/** What may be otherwise than in most tests. */
export interface OperatorChoice {
  readonly installation?: string
  readonly place?: CatalogPlace
  readonly namespaces?: readonly string[]
  /** Whose rights it has; the administrator's by default. */
  readonly tokenFile?: string
  readonly audit?: AuditTools
  readonly roomBytes?: number
  readonly nowMs?: () => number
}

export interface Stage {
  readonly folder: string
  readonly tokenFile: string
  /** An operator; ended with the stage if not before. */
  operator(identity?: string, readFacts?: TrafficFacts | null, more?: OperatorChoice): StartedOperator
  /** A reader of the catalog, as api and workers are. */
  catalog(holder?: CredentialHolder | null, folder?: string): Promise<CatalogSource>
  client(name: string): KubeClient
  stop(): Promise<void>
}

export const quiet = createLogger({ program: 'test', level: 'silent', format: 'json' })

/** `url` and `caFile`: of the API server, or of a proxy in front of it. */
export async function openStage(kube: KubeServer, url = kube.url, caFile = kube.caFile): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-operator-'))
  const tokenFile = join(folder, 'token')
  await writeFile(tokenFile, kube.adminToken, { mode: 0o600 })
  const closing: (() => unknown)[] = []
  const client = (name: string, own = tokenFile): KubeClient => {
    const opened = createKubeClient({ url, tokenFile: own, caFile, userAgent: name }, Date.now)
    closing.push(() => opened.close())
    return opened
  }
  return {
    folder,
    tokenFile,
    client,
    operator(identity = `operator-${randomUUID()}`, readFacts = null, more = {}) {
      const { installation = 'default', place = PLACE, namespaces = [], tokenFile: own, audit = null } = more
      const { roomBytes = ROOM_BYTES, nowMs = Date.now } = more
      const registry = new Registry()
      let isLost = false
      const started = startOperator({
        client: client(identity, own),
        territory: { place, namespaces, installation },
        rules: { baseUrl: BASE_URL, credentialSlots: 4, ownSecrets: ['whence-secret'], roomBytes },
        stores: { readFacts, audit },
        process: { identity, registry, logger: quiet, nowMs, random: Math.random, onLost: () => void (isLost = true) },
        pace: { trafficMs: 200, tidyMs: 200 },
      })
      closing.push(() => started.close())
      return { ...started, registry, identity, isLost: () => isLost }
    },
    async catalog(holder = null, data = join(folder, randomUUID())) {
      const metrics = createKubeMetrics(new Registry())
      const source = await openClusterCatalog({
        watching: { client: client(`reader-${holder ?? 'api'}`), metrics, logger: quiet, random: Math.random },
        place: PLACE,
        holder,
        folder: data,
        patienceMs: WAIT_MS,
      })
      closing.push(() => source.close())
      return source
    },
    async stop() {
      for (const close of closing.reverse()) await close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The condition in words first, as they stand in front of long conditions here. */
export function until<T>(what: string, look: () => T | Promise<T>, withinMs = WAIT_MS) {
  return untilSeen(look, { what, withinMs, everyMs: 20 })
}
