/** Runs kubectl, with the rights, context and namespace of the plugin's caller. */

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'

import { isObject } from '../../domain/strict-json.ts'
import { shapeOf, isText, orAbsent, isNumber, mapOf, listOf, type Guard, parsedAs } from '../../domain/guards.ts'

interface KubectlAnswer {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Any object of Kubernetes, as far as the plugin reads it. */
export interface ClusterObject {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly generation?: number }
  readonly spec?: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>>
  readonly data?: Readonly<Record<string, string>>
  readonly binaryData?: Readonly<Record<string, string>>
}

export const isClusterObject = shapeOf<ClusterObject>({
  kind: isText,
  metadata: shapeOf<ClusterObject['metadata']>({
    name: isText,
    namespace: orAbsent(isText),
    generation: orAbsent(isNumber),
  }),
  spec: orAbsent(isObject),
  status: orAbsent(isObject),
  data: orAbsent(mapOf(isText)),
  binaryData: orAbsent(mapOf(isText)),
})

export const isClusterList = shapeOf<{ readonly items: readonly ClusterObject[] }>({ items: listOf(isClusterObject) })

/** Options of kubectl that the plugin passes on: cluster, namespace and user. */
export interface ClusterChoice {
  readonly options: readonly string[]
  /** Namespace of the release; null: searched in all namespaces, of which only one may have it. */
  readonly releaseNamespace: string | null
}

const TIMEOUT_MS = 60_000

/**
 * Resolves with its exit code and output.
 * @throws if kubectl cannot be started.
 */
export async function kubectl({ options }: ClusterChoice, words: readonly string[]): Promise<KubectlAnswer> {
  const child = spawn('kubectl', [...words, ...options], { stdio: ['ignore', 'pipe', 'pipe'], timeout: TIMEOUT_MS })
  const parts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (parts[name] += text))
  const code = await exitCode(child)
  return { ...parts, code }
}

/** 1 if a signal ended it. */
async function exitCode(child: ChildProcess): Promise<number> {
  const ended: readonly unknown[] = await once(child, 'close')
  return typeof ended[0] === 'number' ? ended[0] : 1
}

/** The parsed answer of `kubectl get … -o json`; null with the reason if there is none. */
export async function getJson<T>(
  choice: ClusterChoice,
  words: readonly string[],
  isRight: Guard<T>,
): Promise<{ readonly value: T; readonly why: '' } | { readonly value: null; readonly why: string }> {
  const { code, stdout, stderr } = await kubectl(choice, ['get', ...words, '-o', 'json'])
  if (code !== 0) return { value: null, why: stderr.trim() }
  const value = parsedAs(isRight, stdout)
  if (value === null) return { value: null, why: 'kubectl printed another form of object' }
  return { value, why: '' }
}

/** Connects the plugin's standard input and output to `kubectl exec` in a pod of this component. Rejects if there is none. */
export async function execIn(choice: ClusterChoice, component: string, words: readonly string[]): Promise<number> {
  const { pod, why } = await runningPod(choice, component)
  if (pod === null) throw new Error(why)
  return execInPod(choice, pod, words)
}

/**
 * One that runs, with the reason if there is none.
 * @throws Error if several namespaces have one
 */
export async function runningPod(
  choice: ClusterChoice,
  component: string,
): Promise<{ readonly pod: ClusterObject; readonly why: '' } | { readonly pod: null; readonly why: string }> {
  const selector = `app.kubernetes.io/part-of=whence,app.kubernetes.io/component=${component}`
  const place = choice.releaseNamespace === null ? ['--all-namespaces'] : ['--namespace', choice.releaseNamespace]
  // Pods are in the release's namespace, whatever namespace the resources are in.
  const elsewhere = withoutNamespace(choice)
  const running = ['--field-selector', 'status.phase=Running']
  const pods = await getJson(elsewhere, ['pods', '--selector', selector, ...running, ...place], isClusterList)
  const found = pods.value?.items ?? []
  oneNamespace(found, `pods of ${component}`)
  const [pod] = found
  if (pod !== undefined) return { pod, why: '' }
  const where = choice.releaseNamespace === null ? 'in any namespace' : `in ${choice.releaseNamespace}`
  const none = `no pod of ${component} runs ${where}; --release-namespace names another`
  return { pod: null, why: pods.why === '' ? none : pods.why }
}

/** As `execIn`, in this pod. */
export async function execInPod(choice: ClusterChoice, pod: ClusterObject, words: readonly string[]): Promise<number> {
  const { name, namespace = 'default' } = pod.metadata
  const exec = [
    'exec',
    name,
    '--namespace',
    namespace,
    ...withoutNamespace(choice).options,
    '--',
    'whencectl',
    ...words,
  ]
  const child = spawn('kubectl', exec, { stdio: 'inherit' })
  const code = await exitCode(child)
  return code
}

/**
 * Anyone who may create objects can give them our labels, so the plugin never chooses among several namespaces.
 * @throws Error that names them
 */
export function oneNamespace(objects: readonly ClusterObject[], what: string): void {
  const namespaces = [...new Set(objects.map(({ metadata }) => metadata.namespace ?? 'default'))].sort()
  if (namespaces.length > 1) throw new Error(`there are ${what} in ${namespaces.join(', ')}: use --release-namespace`)
}

/** The same cluster and person, without a namespace or with another one. */
export function withoutNamespace(choice: ClusterChoice): ClusterChoice {
  const { options } = choice
  const isKept = (option: string, at: number) => option !== '--namespace' && options[at - 1] !== '--namespace'
  return { ...choice, options: options.filter(isKept) }
}
