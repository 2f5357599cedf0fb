/**
 * Plays controllers, kubelet and cluster network for one namespace: runs what pod templates say as processes.
 *
 * Each Deployment, StatefulSet, Job and Pod gets one process with the environment, the mounted files and the
 * ServiceAccount's token that its manifest says; its probes are asked, and its status is written back. What a container has
 * for itself, a process has not: paths of mounts are rewritten to folders, ports to free ones, and names of Services to the
 * ports of the processes behind them.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import type { KubeServer } from '../../../fixtures/engines/kube.ts'
import { ROOT } from '../../tidy/source-files.ts'
import type { KubeManifest } from './render.ts'
import { freePort } from '../../../fixtures/engines/free-port.ts'

export interface Kubelet {
  /** The address of this workload's port, for example `http://127.0.0.1:12345`. */
  readonly url: (workload: string, port: string) => string
  /** What each process wrote, the latest of it. */
  readonly output: () => string
  /** Names of the workloads that run, in order. */
  readonly running: () => readonly string[]
  /** How often a process was started in the place of this workload. */
  readonly starts: (workload: string) => number
  /** `whence` with these words beside the process of a workload, as `kubectl exec` would start it. */
  readonly exec: (workload: string, words: readonly string[]) => Promise<{ readonly code: number; readonly text: string }>
  readonly stop: () => Promise<void>
}

const LOOK_MS = 200
const EXEC_MS = 60_000
const WHENCE = join(ROOT, 'bin/whencectl.ts')
const KEPT_CHARS = 20_000
const HOST = '127.0.0.1'
const KINDS = [
  ['/apis/apps/v1', 'deployments'],
  ['/apis/apps/v1', 'statefulsets'],
  ['/apis/batch/v1', 'jobs'],
  ['/api/v1', 'pods'],
] as const
const MERGE = 'application/merge-patch+json'

interface Work {
  readonly name: string
  readonly path: string
  /** Of the pod, so that a change of it starts a new process. */
  readonly digest: string
  readonly child: ChildProcess
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** Port on this machine by port of the container. */
  readonly ports: ReadonlyMap<number, number>
  output: string
  isReady: boolean
}

/** Looks at the namespace again and again until it is stopped. */
export function startKubelet(kube: KubeServer, namespace: string): Kubelet {
  const playing = new Playing(kube, namespace)
  const running = playing.run()
  return {
    url: (workload, port) => playing.url(workload, port),
    output: () => [...playing.work.values()].map((it) => `--- ${it.name}\n${it.output}`).join('\n'),
    running: () => [...playing.work.values()].map(({ name }) => name).sort(),
    starts: (workload) => playing.starts.get(workload) ?? 0,
    exec: (workload, words) => playing.exec(workload, words),
    stop: async () => {
      playing.isStopped = true
      await running
    },
  }
}

class Playing {
  readonly work = new Map<string, Work>()
  readonly starts = new Map<string, number>()
  isStopped = false
  readonly #kube: KubeServer
  readonly #namespace: string
  readonly #namedPorts = new Map<string, number>()

  constructor(kube: KubeServer, namespace: string) {
    this.#kube = kube
    this.#namespace = namespace
  }

  async run(): Promise<void> {
    while (!this.isStopped) {
      // The API server may be on its way down or up again: what is missed now is seen the next time.
      await this.#look().catch((error: unknown) => console.error(`kubelet: ${String(error)}`))
      await pause(LOOK_MS)
    }
    await Promise.all([...this.work.keys()].map((path) => this.#end(path)))
  }

  url(workload: string, port: string): string {
    const found = this.#namedPorts.get(`${workload} ${port}`)
    if (found === undefined) throw new Error(`${workload} has no port ${port}; ${[...this.#namedPorts.keys()].join(', ')}`)
    return `http://${HOST}:${found}`
  }

  async exec(workload: string, words: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
    const work = [...this.work.values()].find(({ name }) => name === workload)
    if (work === undefined) throw new Error(`${workload} does not run`)
    const child = spawn(process.execPath, [WHENCE, ...words], { cwd: work.folder, env: work.env, timeout: EXEC_MS })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (text += String(part)))
    const [code] = (await once(child, 'close')) as [number | null]
    return { code: code ?? 1, text }
  }

  async #look(): Promise<void> {
    const wanted = new Map<string, { readonly item: KubeManifest; readonly kind: string }>()
    for (const [base, kind] of KINDS) {
      const list = await this.#kube.want(`${base}/namespaces/${this.#namespace}/${kind}`)
      for (const item of list.items) {
        if (isToRun(item))
          wanted.set(`${base}/namespaces/${this.#namespace}/${kind}/${item.metadata.name}`, { item, kind })
      }
    }
    for (const path of this.work.keys()) if (!wanted.has(path)) await this.#end(path)
    for (const [path, { item, kind }] of wanted) await this.#keep(path, item, kind)
  }

  /** Starts it if it does not run as it should, and reports its state. */
  async #keep(path: string, item: KubeManifest, kind: string): Promise<void> {
    const pod = kind === 'pods' ? item : item['spec'].template
    const digest = createHash('sha256').update(JSON.stringify([pod.spec, item['metadata'].uid])).digest('hex')
    const before = this.work.get(path)
    if (before?.digest !== digest) {
      await this.#end(path)
      const work = await this.#start(path, item, pod.spec, digest)
      this.work.set(path, work)
      this.starts.set(work.name, (this.starts.get(work.name) ?? 0) + 1)
      return
    }
    const [container] = pod.spec.containers
    const exit = before.child.exitCode
    if (kind === 'jobs' || kind === 'pods') {
      if (exit !== null) await this.#told(path, kind === 'jobs' ? jobStatus(exit) : podStatus(exit))
      return
    }
    if (exit !== null) {
      // As kubelet restarts a container that ended.
      this.work.delete(path)
      return
    }
    before.isReady = await isAnswering(container.readinessProbe ?? container.startupProbe, container, before.ports)
    await this.#told(path, workloadStatus(item, before.isReady, kind))
  }

  async #told(path: string, status: object): Promise<void> {
    await this.#kube.call(`${path}/status`, { method: 'PATCH', contentType: MERGE, body: { status } })
  }

  async #start(path: string, item: KubeManifest, spec: KubeManifest, digest: string): Promise<Work> {
    const name = String(item['metadata'].name)
    const folder = await mkdtemp(join(tmpdir(), 'whence-pod-'))
    const [container] = spec['containers']
    const mounts = await this.#mount(folder, spec, container)
    const ports = await this.#takePorts(name, container)
    const services = await this.#services()
    const places = [...ports].map(([own, free]) => [`0.0.0.0:${own}`, `${HOST}:${free}`] as const)
    const rewritten = rewriter([...mounts, ...services, ...places])
    const given = await this.#environment(container, spec, name)
    const env = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, rewritten(value)]))
    const words: readonly string[] = [...(container.command ?? ['node', '/app/bin/whencectl.ts']), ...(container.args ?? [])]
    const [, ...rest] = words.map((word) => rewritten(word).replace('/app/', `${ROOT}/`))
    const child = spawn(process.execPath, rest, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env,
    })
    // A test run that is broken off must not leave processes behind.
    const kill = (): void => void child.kill('SIGKILL')
    process.once('exit', kill)
    child.once('exit', () => process.off('exit', kill))
    const work: Work = { name, path, digest, child, folder, env, ports, output: '', isReady: false }
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text) => (work.output = `${work.output}${String(text)}`.slice(-KEPT_CHARS)))
    return work
  }

  /** Folder on this machine by path in the container; the longest path first. */
  async #mount(folder: string, spec: KubeManifest, container: KubeManifest): Promise<readonly (readonly [string, string])[]> {
    const mounts: (readonly [string, string])[] = []
    for (const { name, mountPath } of container['volumeMounts'] ?? []) {
      const place = join(folder, 'volumes', name)
      await mkdir(place, { recursive: true })
      const volume = (spec['volumes'] ?? []).find((it: KubeManifest) => it['name'] === name) ?? {}
      for (const [file, text] of await this.#filesOf(volume, spec)) {
        await mkdir(dirname(join(place, file)), { recursive: true })
        await writeFile(join(place, file), text, { mode: modeOf(volume) })
      }
      mounts.push([mountPath, place])
    }
    return mounts.sort(([a], [b]) => b.length - a.length)
  }

  async #filesOf(volume: KubeManifest, spec: KubeManifest): Promise<readonly (readonly [string, string])[]> {
    if (volume['projected'] !== undefined) {
      const parts = await Promise.all(volume['projected'].sources.map((it: KubeManifest) => this.#filesOf(it, spec)))
      return parts.flat()
    }
    const { secret, configMap, serviceAccountToken } = volume as Readonly<Record<string, KubeManifest | undefined>>
    if (serviceAccountToken !== undefined) {
      const body = { spec: { expirationSeconds: serviceAccountToken['expirationSeconds'] } }
      const account = `/api/v1/namespaces/${this.#namespace}/serviceaccounts/${String(spec['serviceAccountName'])}/token`
      const answer = await this.#kube.want(account, { method: 'POST', body })
      return [[serviceAccountToken['path'], answer.status.token]]
    }
    if (configMap?.['name'] === 'kube-root-ca.crt') return [['ca.crt', await readFile(this.#kube.caFile, 'utf8')]]
    if (configMap !== undefined) return chosen(configMap, (await this.#get('configmaps', configMap['name']))['data'])
    if (secret !== undefined) {
      const { data = {} } = await this.#get('secrets', secret['secretName'] ?? secret['name'])
      return chosen(secret, decoded(data))
    }
    return []
  }

  async #environment(container: KubeManifest, spec: KubeManifest, name: string): Promise<Record<string, string>> {
    const address = new URL(this.#kube.url)
    const env: Record<string, string> = {
      PATH: process.env['PATH'] ?? '',
      KUBERNETES_SERVICE_HOST: address.hostname,
      KUBERNETES_SERVICE_PORT: address.port,
    }
    for (const { name: key, value, valueFrom } of container['env'] ?? []) {
      const wanted = valueFrom?.secretKeyRef
      if (value !== undefined) env[key] = value
      else if (wanted !== undefined) env[key] = decoded((await this.#get('secrets', wanted.name))['data'])[wanted.key] ?? ''
      else if (valueFrom?.fieldRef?.fieldPath === 'metadata.name') env[key] = `${name}-pod`
      else throw new Error(`${key} of ${String(spec['serviceAccountName'])} comes from what is not played here`)
    }
    return env
  }

  async #takePorts(name: string, container: KubeManifest): Promise<ReadonlyMap<number, number>> {
    const ports = new Map<number, number>()
    for (const { name: port, containerPort } of container['ports'] ?? []) {
      const free = await freePort()
      ports.set(containerPort, free)
      this.#namedPorts.set(`${name} ${port}`, free)
    }
    return ports
  }

  /** `http://NAME:PORT` of each Service, and the address of a process behind it. */
  async #services(): Promise<readonly (readonly [string, string])[]> {
    const { items } = await this.#kube.want(`/api/v1/namespaces/${this.#namespace}/services`)
    return items.flatMap(({ metadata, spec }: KubeManifest) =>
      spec.ports.flatMap(({ port, targetPort }: KubeManifest) => {
        const behind = [`${metadata.name}-api ${targetPort}`, `${metadata.name} ${targetPort}`]
        const found = behind.map((key) => this.#namedPorts.get(key)).find((it) => it !== undefined)
        return found === undefined ? [] : [[`http://${metadata.name}:${port}`, `http://${HOST}:${found}`] as const]
      }),
    )
  }

  #get(kind: string, name: string): Promise<KubeManifest> {
    return this.#kube.want(`/api/v1/namespaces/${this.#namespace}/${kind}/${name}`) as Promise<KubeManifest>
  }

  async #end(path: string): Promise<void> {
    const work = this.work.get(path)
    if (work === undefined) return
    this.work.delete(path)
    if (work.child.exitCode === null && work.child.signalCode === null) {
      const ended = once(work.child, 'exit')
      work.child.kill('SIGTERM')
      await ended
    }
    await rm(work.folder, { recursive: true, force: true })
  }
}

/** What kubelet gives the files of a volume, if the volume says nothing. */
const DEFAULT_FILE_MODE = 0o644

function modeOf({ secret, configMap, projected }: KubeManifest): number {
  return [secret, configMap, projected].find((it) => it !== undefined)?.defaultMode ?? DEFAULT_FILE_MODE
}

/** In one go, so that nothing that was put in is rewritten itself: our folders lie in what a container may mount. */
function rewriter(pairs: readonly (readonly [string, string])[]): (text: string) => string {
  const known = new Map(pairs)
  const pattern = new RegExp(pairs.map(([from]) => from.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'g')
  return (text) => (pairs.length === 0 ? text : text.replaceAll(pattern, (from) => known.get(from) ?? from))
}

function isToRun({ metadata, spec, status = {} }: KubeManifest): boolean {
  const isOver = /^(Succeeded|Failed)$/.test(status.phase ?? '') || status.completionTime !== undefined
  return metadata.deletionTimestamp === undefined && !isOver && spec.replicas !== 0
}

/** Files of a Secret or ConfigMap: those that are named, or all. */
function chosen(source: KubeManifest, data: Readonly<Record<string, string>> = {}): readonly (readonly [string, string])[] {
  const items: readonly KubeManifest[] | undefined = source['items']
  if (items === undefined) return Object.entries(data)
  return items.map((item): readonly [string, string] => {
    const text = data[item['key']]
    if (text === undefined) throw new Error(`${String(source['secretName'] ?? source['name'])} has no key ${String(item['key'])}`)
    return [item['path'], text]
  })
}

function decoded(data: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]))
}

async function isAnswering(
  probe: KubeManifest | undefined,
  container: KubeManifest,
  ports: ReadonlyMap<number, number>,
): Promise<boolean> {
  if (probe === undefined) return true
  const { path, port } = probe['httpGet']
  const own = container['ports'].find((it: KubeManifest) => it['name'] === port)?.containerPort
  try {
    const answer = await fetch(`http://${HOST}:${ports.get(own)}${path}`, { signal: AbortSignal.timeout(3_000) })
    await answer.arrayBuffer()
    return answer.ok
  } catch {
    return false
  }
}

function workloadStatus({ metadata, spec }: KubeManifest, isReady: boolean, kind: string): object {
  const all = spec.replicas ?? 1
  const ready = isReady ? all : 0
  const counts = { replicas: all, readyReplicas: ready, availableReplicas: ready, updatedReplicas: all }
  const status = { observedGeneration: metadata.generation, ...counts }
  if (kind === 'statefulsets') return { ...status, currentReplicas: all, currentRevision: 'one', updateRevision: 'one' }
  return { ...status, conditions: [condition('Available', isReady), condition('Progressing', true)] }
}

function jobStatus(exit: number): object {
  const now = new Date().toISOString()
  const ended = exit === 0 ? { succeeded: 1, completionTime: now } : { failed: 1 }
  const types = exit === 0 ? ['SuccessCriteriaMet', 'Complete'] : ['FailureTarget', 'Failed']
  const conditions = types.map((type) => ({ ...condition(type, true), lastProbeTime: now, lastTransitionTime: now }))
  return { startTime: now, ...ended, conditions, ready: 0, uncountedTerminatedPods: {} }
}

function podStatus(exit: number): object {
  return { phase: exit === 0 ? 'Succeeded' : 'Failed' }
}

function condition(type: string, isTrue: boolean): object {
  return { type, status: isTrue ? 'True' : 'False', reason: 'Played', message: '' }
}

