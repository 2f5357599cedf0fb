/** Opens a process's access to its cluster: a client for the API, and the catalog that the operator keeps there. */

import { Registry } from 'prom-client'

import type { Catalog, Credentials } from '../../domain/catalog.ts'
import type { CredentialHolder } from '../../domain/published/holders.ts'
import type { CatalogPlace } from '../../domain/published/place.ts'
import { openCatalogFolder, type CatalogSource } from '../../runtime/catalog/source.ts'
import { openClusterCatalog } from '../../runtime/catalog/cluster-catalog.ts'
import { clientFor, createKubeClient, type KubeClient } from '../../runtime/kube/client.ts'
import { readKubeconfig } from '../../runtime/kube/kubeconfig.ts'
import { createKubeMetrics } from '../../runtime/kube/metrics.ts'
import { createLogger } from '../../runtime/logger.ts'
import type { KubeSettings, SettingsNamed } from '../../runtime/settings/settings-of.ts'
import { openDataFolder } from './data-folder.ts'
import type { Process } from './process.ts'
import { version } from './version.ts'

/**
 * Kubernetes gives its pods the address of the API; a setting or a kubeconfig may override it.
 * @throws if there is none.
 */
async function kubeClientOf(program: string, settings: KubeSettings, env: NodeJS.ProcessEnv): Promise<KubeClient> {
  const userAgent = `whence-${program}/${version()}`
  if (settings.kubeconfig !== null) return clientFor(await readKubeconfig(settings.kubeconfig), userAgent)
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = env
  if (settings.kubeUrl === null && host === '') {
    throw new Error('outside of a cluster --kubeconfig (WHENCE_KUBECONFIG) must give the address of its API')
  }
  const url = settings.kubeUrl ?? `https://${host.includes(':') ? `[${host}]` : host}:${port}`
  const { kubeTokenFile: tokenFile, kubeCaFile: caFile } = settings
  return createKubeClient({ url, tokenFile, caFile, userAgent }, Date.now)
}

const TOOL_PATIENCE_MS = 10_000

/** Opens the client of a program, which its lifecycle closes. */
export function openKube(
  { lifecycle }: Process,
  program: string,
  settings: KubeSettings,
  env: NodeJS.ProcessEnv,
): Promise<KubeClient> {
  return lifecycle.start(
    'kube',
    () => kubeClientOf(program, settings, env),
    (opened) => opened.close(),
  )
}

type CatalogSettings = SettingsNamed<'catalog' | 'data' | 'manifests'> & KubeSettings

interface CatalogReader {
  readonly program: string
  /** Whose credentials it reads; null for none. */
  readonly holder: CredentialHolder | null
  readonly env: NodeJS.ProcessEnv
}

/** The catalog of a separate process: from the cluster if a setting says so, otherwise from the folder of manifests. */
export async function openCatalog(
  own: Process,
  settings: CatalogSettings,
  { program, holder, env }: CatalogReader,
): Promise<CatalogSource> {
  const { logger, lifecycle, nowMs } = own
  const { catalog: place, data, manifests } = settings
  if (place === null) {
    return lifecycle.start(
      'catalog',
      () => openCatalogFolder({ folder: manifests, env, logger, nowMs }),
      (source) => source.close(),
    )
  }
  openDataFolder(data, logger)
  const client = await openKube(own, program, settings, env)
  const watching = { client, metrics: createKubeMetrics(own.registry), logger, random: Math.random }
  return lifecycle.start(
    'catalog',
    () => openClusterCatalog({ watching, place, holder, folder: data }),
    (source) => source.close(),
  )
}

/** Where a tool finds the catalog of a cluster, and keeps its own copy. */
export interface ClusterPlace extends KubeSettings {
  readonly catalog: CatalogPlace
  readonly data: string
}

/** Reads the catalog of the cluster once, for a tool; with one holder's credentials, or with none. @throws NoCatalog */
export async function readCluster(
  settings: ClusterPlace,
  env: NodeJS.ProcessEnv,
  holder: CredentialHolder | null,
): Promise<{ readonly catalog: Catalog; readonly credentials: Credentials }> {
  const { catalog: place, data } = settings
  const client = await kubeClientOf('tool', settings, env)
  const logger = createLogger({ program: 'tool', level: 'error', format: 'auto' })
  const watching = { client, logger, metrics: createKubeMetrics(new Registry()), random: Math.random }
  // A separate folder: the worker beside it keeps its copy under the same name.
  const options = { watching, place, holder, folder: `${data}/tools` }
  try {
    const source = await openClusterCatalog({ ...options, patienceMs: TOOL_PATIENCE_MS })
    const read = { catalog: source.current(), credentials: source.credentials() }
    await source.close()
    return read
  } finally {
    client.close()
  }
}
