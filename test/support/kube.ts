/** Starts a real etcd and a real kube-apiserver on free loopback ports in a temporary folder, and ends them by process ID. */

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, openSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePorts } from './free-port.ts'

const run = promisify(execFile)
const FETCH = join(import.meta.dirname, 'kube-tools', 'fetch.sh')
/** The build takes some minutes on a machine that has nothing yet. */
const BUILD_MS = 1_200_000
const START_MS = 90_000
const CALL_MS = 30_000
const HOST = '127.0.0.1'
/** Go collects garbage each time the heap has doubled, which with a heap as small as a test's takes a quarter of the time. */
const GO_ENV = { GOGC: '400', GOMEMLIMIT: '2GiB' }

export interface KubeTools {
  readonly kubeApiserver: string
  readonly kubectl: string
  readonly helm: string
}

export interface KubeAnswer {
  readonly status: number
  readonly body: any
}

export interface CallOptions {
  readonly method?: string
  readonly body?: unknown
  readonly contentType?: string
  /** The administrator's by default. */
  readonly token?: string
}

/** One line of the audit log, as far as tests read it. */
export interface AuditEvent {
  readonly verb: string
  readonly requestURI: string
  readonly userAgent?: string
  readonly user: { readonly username: string }
  readonly objectRef?: {
    readonly resource?: string
    readonly subresource?: string
    readonly namespace?: string
    readonly name?: string
    readonly apiGroup?: string
  }
  readonly responseStatus?: { readonly code?: number }
  readonly requestReceivedTimestamp: string
}

export interface KubeServer {
  /** `https://127.0.0.1:PORT`. */
  readonly url: string
  readonly port: number
  /** PEM file that the server's certificate is checked against. */
  readonly caFile: string
  /** Of a user in `system:masters`. */
  readonly adminToken: string
  /** A file that `kubectl` and `helm` take as KUBECONFIG, for the administrator. */
  readonly kubeconfig: string
  readonly tools: KubeTools
  /** One request with JSON in and out; path with query, as in `/api/v1/namespaces`. */
  call(path: string, options?: CallOptions): Promise<KubeAnswer>
  /** Like `call`, and throws unless the answer is 2xx. */
  want(path: string, options?: CallOptions): Promise<any>
  /** Server-side apply of whole objects with this field manager; throws if one is refused. */
  apply(objects: readonly object[], fieldManager?: string): Promise<void>
  /** kubectl as the administrator, or with another kubeconfig; resolves with its standard output. */
  kubectl(args: readonly string[], input?: string): Promise<string>
  /** Creates a ServiceAccount if there is none and returns a token of it. */
  serviceAccountToken(namespace: string, name: string): Promise<string>
  /** Writes a kubeconfig for this token; gives back its path. */
  kubeconfigFor(token: string): Promise<string>
  /** Installs the project's own CRDs and waits until they are served. */
  installCrds(): Promise<void>
  /** Audit events that the log holds so far. */
  audit(): Promise<readonly AuditEvent[]>
  /** Forgets etcd's history: watches from before then get 410 once the server has restarted. */
  compact(): Promise<void>
  /** SIGSTOP and SIGCONT of the apiserver. */
  pause(): void
  resume(): void
  /** SIGKILL of the apiserver. */
  kill(): Promise<void>
  /** Starts the apiserver again on the same port and data. */
  restart(): Promise<void>
  /** Ends both and deletes their folder. */
  stop(): Promise<void>
}

/** Null if Go or etcd is missing, unless CI=true: then that is an error. The first call builds the programs. */
export async function kubeTools(): Promise<KubeTools | null> {
  try {
    await run('etcd', ['--version'], { timeout: CALL_MS })
    const child = spawn(FETCH, [], { stdio: ['ignore', 'pipe', 'inherit'], timeout: BUILD_MS })
    const [[code], text] = await Promise.all([once(child, 'exit'), textOf(child.stdout)])
    if (code !== 0) throw new Error(`${FETCH} ended with ${String(code)}`)
    const folder = text.trim()
    const tool = (name: string) => join(folder, name)
    return { kubeApiserver: tool('kube-apiserver'), kubectl: tool('kubectl'), helm: tool('helm') }
  } catch (error) {
    const why = `kube-apiserver cannot be had (sh test/install-tools.sh; Go builds it): ${String(error)}`
    if (process.env['CI'] === 'true') throw new Error(why, { cause: error })
    console.error(why)
    return null
  }
}

/** `tools` is what `kubeTools` gave. */
export async function startKube(tools: KubeTools): Promise<KubeServer> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-kube-'))
  const children = new Map<string, ChildProcess>()
  try {
    return await startIn(folder, tools, children)
  } catch (error) {
    await endAll(children)
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

async function startIn(folder: string, tools: KubeTools, children: Map<string, ChildProcess>): Promise<KubeServer> {
  const [etcdPort = 0, peerPort = 0, port = 0] = await freePorts(3)
  const adminToken = randomUUID()
  const etcdUrl = `http://${HOST}:${etcdPort}`
  const url = `https://${HOST}:${port}`
  const caFile = join(folder, 'certs', 'apiserver.crt')
  const args = await prepare(folder, { adminToken, etcdUrl, port })
  children.set('etcd', launch(folder, 'etcd', 'etcd', etcdArgs(folder, etcdUrl, `http://${HOST}:${peerPort}`)))
  const launchServer = async (): Promise<void> => {
    children.set('apiserver', launch(folder, 'apiserver', tools.kubeApiserver, args))
    await ready(folder, children, { url, caFile, adminToken })
  }
  await launchServer()
  const call: KubeServer['call'] = async (path, options = {}) =>
    callOnce(`${url}${path}`, await readFile(caFile), { token: adminToken, ...options })
  const want: KubeServer['want'] = async (path, options) => {
    const { status, body } = await call(path, options)
    if (status >= 300) throw new Error(`${options?.method ?? 'GET'} ${path}: ${status} ${String(body.message)}`)
    return body
  }
  const kubeconfigFor = (token: string) => writeKubeconfig(folder, { url, caFile, token })
  const kubeconfig = await kubeconfigFor(adminToken)
  const apply: KubeServer['apply'] = async (objects, fieldManager = 'test') => {
    for (const object of objects) await want(applyPath(object, fieldManager), applyOptions(object))
  }
  return {
    ...{ url, port, caFile, adminToken, kubeconfig, tools, call, want, apply, kubeconfigFor },
    kubectl: (words, input) => kubectl(tools.kubectl, kubeconfig, words, input),
    async serviceAccountToken(namespace, name) {
      const base = `/api/v1/namespaces/${namespace}/serviceaccounts`
      await call(base, { method: 'POST', body: { metadata: { name } } })
      const answer = await want(`${base}/${name}/token`, {
        method: 'POST',
        body: { spec: { expirationSeconds: 3_600 } },
      })
      return String(answer.status.token)
    },
    async installCrds() {
      await run(tools.kubectl, ['--kubeconfig', kubeconfig, 'apply', '--server-side', '-f', CRDS], {
        timeout: START_MS,
      })
      const wait = ['wait', '--for=condition=Established', '--timeout=60s', '-f', CRDS]
      await run(tools.kubectl, ['--kubeconfig', kubeconfig, ...wait], { timeout: START_MS })
    },
    async audit() {
      const text = await readFile(join(folder, 'audit.log'), 'utf8').catch(() => '')
      // The last line may be in the middle of being written.
      const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n')
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as AuditEvent)
    },
    compact: () => compact(etcdUrl),
    pause: () => void children.get('apiserver')?.kill('SIGSTOP'),
    resume: () => void children.get('apiserver')?.kill('SIGCONT'),
    kill: () => end(children.get('apiserver')),
    restart: launchServer,
    stop: async () => {
      await endAll(children)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const CRDS = join(import.meta.dirname, '../../crds')

interface ServerPlace {
  readonly adminToken: string
  readonly etcdUrl: string
  readonly port: number
}

/** Writes what the apiserver reads, and gives back its arguments. */
async function prepare(folder: string, { adminToken, etcdUrl, port }: ServerPlace): Promise<readonly string[]> {
  const file = (name: string) => join(folder, name)
  await mkdir(file('certs'))
  await run('openssl', ['genrsa', '-out', file('sa.key'), '2048'], { timeout: CALL_MS })
  await writeFile(file('tokens.csv'), `${adminToken},admin,admin,"system:masters"\n`, { mode: 0o600 })
  const rules = [{ level: 'None', nonResourceURLs: ['/readyz*', '/healthz*', '/livez*'] }, { level: 'Metadata' }]
  const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'], rules }
  await writeFile(file('audit.json'), JSON.stringify(policy))
  return [
    `--etcd-servers=${etcdUrl}`,
    `--bind-address=${HOST}`,
    `--advertise-address=${HOST}`,
    `--secure-port=${port}`,
    `--cert-dir=${file('certs')}`,
    `--token-auth-file=${file('tokens.csv')}`,
    '--authorization-mode=RBAC',
    `--service-account-issuer=https://kubernetes.default.svc`,
    `--service-account-key-file=${file('sa.key')}`,
    `--service-account-signing-key-file=${file('sa.key')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    `--audit-policy-file=${file('audit.json')}`,
    `--audit-log-path=${file('audit.log')}`,
    '--audit-log-mode=blocking',
    '--endpoint-reconciler-type=none',
    '--allow-privileged=false',
    // Tests forget history when they want to, not by the clock.
    '--etcd-compaction-interval=0',
  ]
}

function etcdArgs(folder: string, client: string, peer: string): readonly string[] {
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    ...[`--listen-client-urls=${client}`, `--advertise-client-urls=${client}`],
    ...[`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`, `--initial-cluster=default=${peer}`],
    '--unsafe-no-fsync',
    '--log-level=error',
  ]
}

function launch(folder: string, name: string, command: string, args: readonly string[]): ChildProcess {
  const output = openSync(join(folder, `${name}.log`), 'a')
  const child = spawn(command, args, { stdio: ['ignore', output, output], env: { ...GO_ENV, ...process.env } })
  // A test run that is broken off must not leave servers behind.
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  return child
}

async function ready(
  folder: string,
  children: ReadonlyMap<string, ChildProcess>,
  { url, caFile, adminToken }: { readonly url: string; readonly caFile: string; readonly adminToken: string },
): Promise<void> {
  const untilMs = Date.now() + START_MS
  while (!(await isReady(url, caFile, adminToken))) {
    const dead = [...children].find(([, child]) => child.exitCode !== null)
    if (dead !== undefined || Date.now() > untilMs) {
      const name = dead?.[0] ?? 'apiserver'
      const log = await readFile(join(folder, `${name}.log`), 'utf8').catch(() => '')
      throw new Error(`${name} did not start:\n${log.slice(-4_000)}`)
    }
    await pause(50)
  }
}

async function isReady(url: string, caFile: string, token: string): Promise<boolean> {
  if (!existsSync(caFile)) return false
  try {
    const ca = await readFile(caFile)
    return (await callOnce(`${url}/readyz`, ca, { token })).status === 200
  } catch {
    return false
  }
}

async function callOnce(url: string, ca: Buffer, options: CallOptions): Promise<KubeAnswer> {
  const { method = 'GET', body, contentType = 'application/json', token = '' } = options
  const sent = request(url, { method, ca, agent: false, timeout: CALL_MS })
  sent.on('timeout', () => sent.destroy(new Error(`${method} ${url} took too long`)))
  sent.setHeader('authorization', `Bearer ${token}`)
  if (body !== undefined) sent.setHeader('content-type', contentType)
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const [response] = await once(sent, 'response')
  const text = await textOf(response)
  const isJson = text.startsWith('{')
  return { status: response.statusCode ?? 0, body: isJson ? JSON.parse(text) : { message: text } }
}

function applyPath(object: any, fieldManager: string): string {
  const { apiVersion, kind, metadata } = object
  const base = String(apiVersion).includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const plural = `${String(kind).toLowerCase()}s`
  const isClusterWide = CLUSTER_WIDE.includes(kind)
  const namespace = isClusterWide ? '' : `/namespaces/${metadata.namespace ?? 'default'}`
  return `${base}${namespace}/${plural}/${metadata.name}?fieldManager=${fieldManager}&force=true&fieldValidation=Strict`
}

const CLUSTER_WIDE = ['Namespace', 'ClusterRole', 'ClusterRoleBinding', 'CustomResourceDefinition']

function applyOptions(object: object): CallOptions {
  return { method: 'PATCH', body: object, contentType: 'application/apply-patch+yaml' }
}

async function writeKubeconfig(
  folder: string,
  { url, caFile, token }: { readonly url: string; readonly caFile: string; readonly token: string },
): Promise<string> {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority': caFile } }],
    users: [{ name: 'user', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'user' } }],
    'current-context': 'test',
  }
  const path = join(folder, `kubeconfig-${randomUUID()}.json`)
  await writeFile(path, JSON.stringify(config), { mode: 0o600 })
  return path
}

async function kubectl(
  command: string,
  kubeconfig: string,
  words: readonly string[],
  input: string | undefined,
): Promise<string> {
  const child = spawn(command, ['--kubeconfig', kubeconfig, ...words], { timeout: START_MS })
  child.stdin.end(input ?? '')
  const [[code], stdout, stderr] = await Promise.all([once(child, 'exit'), textOf(child.stdout), textOf(child.stderr)])
  if (code !== 0) throw new Error(`kubectl ${words.join(' ')}: ${stderr}`)
  return stdout
}

async function compact(etcdUrl: string): Promise<void> {
  const post = async (path: string, body: object): Promise<any> => {
    const sent = httpRequest(`${etcdUrl}${path}`, { method: 'POST', agent: false, timeout: CALL_MS })
    sent.end(JSON.stringify(body))
    const [response] = await once(sent, 'response')
    return JSON.parse(await textOf(response))
  }
  const { header } = await post('/v3/kv/range', { key: Buffer.from('/').toString('base64') })
  await post('/v3/kv/compaction', { revision: header.revision, physical: true })
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  stream.setEncoding('utf8')
  for await (const chunk of stream) text += String(chunk)
  return text
}

async function endAll(children: ReadonlyMap<string, ChildProcess>): Promise<void> {
  for (const child of [...children.values()].reverse()) await end(child)
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
