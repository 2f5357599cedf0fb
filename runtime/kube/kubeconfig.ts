/**
 * Reads identity and address of the API server from a person's kubeconfig: certificates, tokens, and programs that
 * fetch one.
 */

import type { KubeConfig } from '@kubernetes/client-node'
import type { RequestOptions } from 'node:https'

import type { KubeAccess, KubeIdentity } from './client.ts'
import { memberOf } from '../../domain/strict-json.ts'

/**
 * Uses the file's current context. Tokens from a program are fetched again when they expire.
 * @throws Error if the file cannot be read or its current context names no cluster
 */
export async function readKubeconfig(file: string): Promise<KubeAccess> {
  // Loaded only if used: it is large, and pods read the files that Kubernetes mounts.
  const { KubeConfig } = await import('@kubernetes/client-node')
  const config = new KubeConfig()
  try {
    config.loadFromFile(file)
  } catch (error) {
    throw new Error(`the kubeconfig ${file} cannot be read`, { cause: error })
  }
  const cluster = config.getCurrentCluster()
  if (cluster === null) throw new Error(`the kubeconfig ${file} has no cluster in its current context`)
  return { url: cluster.server, identify: () => kubeIdentity(config), forget: () => undefined }
}

async function kubeIdentity(config: KubeConfig): Promise<KubeIdentity> {
  const options: RequestOptions & { auth?: string | null } = {}
  await config.applyToHTTPSOptions(options)
  const { ca, cert, key, servername, rejectUnauthorized, auth } = options
  const told = memberOf(options.headers, 'Authorization')
  const basic = typeof auth === 'string' ? `Basic ${Buffer.from(auth).toString('base64')}` : null
  const known = Object.entries({ ca, cert, key, servername, rejectUnauthorized })
  const tls: Partial<KubeIdentity> = Object.fromEntries(
    known.filter(([, value]) => value !== undefined && value !== null),
  )
  return { ...tls, authorization: typeof told === 'string' ? told : basic }
}
