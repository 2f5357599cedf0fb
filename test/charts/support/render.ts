/** Renders the charts with the real helm, and gives the pieces of what comes out that tests look at. */

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { parseAllDocuments } from 'yaml'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../../..')
export const CHART = join(ROOT, 'charts/whence')
export const CRD_CHART = join(ROOT, 'charts/whence-crds')
/** What the chart is rendered for; helm on its own assumes a version of its own build. */
const KUBE_VERSION = '1.32.4'
/** Installing waits for hooks. */
const HELM_MS = 150_000
const MAX_BYTES = 64 * 1024 * 1024

/** Any object of Kubernetes, as far as tests look into it. */
export type KubeManifest = Readonly<Record<string, any>>

/** One pod's template with the place that it comes from. */
export interface RenderedPod {
  /** For example `Deployment w-whence-api`. */
  readonly of: string
  readonly metadata: KubeManifest
  readonly spec: KubeManifest
}

/** The listed sets of values, with which the chart is promised to work. */
export const VALUE_SETS = [
  'cluster',
  'everything',
  'all-namespaces',
  'spool',
  'stand-ins',
  'embedded',
  'embedded-full',
] as const
export const valueFile = (name: string): string => join(CHART, 'ci', `${name}.yaml`)

const PROMETHEUS = 'networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.purpose=monitoring'

/** Each row of the combinations takes one of each. */
const SWITCHES: readonly (readonly string[])[] = [
  ['watch.allNamespaces=true', 'watch.allNamespaces=false', 'watch.namespaces={one,two}'],
  ['api.autoscaling.enabled=true', 'api.autoscaling.enabled=false', 'api.spool.enabled=true'],
  ['keda.enabled=true,keda.bootstrapServers=kafka:9092', 'keda.enabled=false'],
  ['gateway.enabled=true,gateway.parentRefs[0].name=public', 'gateway.enabled=false'],
  ['ingress.enabled=true,ingress.hosts={whence.acme.dev}', 'ingress.enabled=false'],
  ['engineFiles.existingSecret=files', 'engineFiles.existingSecret='],
  ['networkPolicy.enabled=true', 'networkPolicy.enabled=false'],
  ['crds.enabled=true', 'crds.enabled=false', 'crds.keep=false'],
  [`metrics.serviceMonitor.enabled=true,${PROMETHEUS}`, 'metrics.rules.enabled=true', 'metrics.dashboards.enabled=true'],
  ['test.enabled=true', 'test.enabled=false'],
  ['operator.traffic=true', 'operator.traffic=false'],
  ['operator.audit=true', 'operator.audit=false'],
  ['dashboard.enabled=true', 'dashboard.enabled=false'],
  ['providers.meta.enabled=true', 'providers.meta.enabled=false'],
  ['pods.topologySpread=true', 'pods.topologySpread=false,pods.preStopSleepSeconds=0'],
  ['pods.runAsUser=65532', 'pods.runAsUser=null'],
  ['commonLabels.team=growth,commonAnnotations.note=x', 'commonLabels=null'],
]

let all: Promise<ReadonlyMap<string, readonly KubeManifest[]>> | null = null

/** Every listed set of values, and combinations in which any two choices meet. Rendered once for all callers. */
export function renderAll(helm: string): Promise<ReadonlyMap<string, readonly KubeManifest[]>> {
  all ??= (async () => {
    const rendered = new Map<string, readonly KubeManifest[]>()
    for (const name of VALUE_SETS) rendered.set(name, await render(helm, name))
    for (const [number, row] of pairwise(SWITCHES).entries())
      rendered.set(`combination ${number}: ${row.join(' ')}`, await render(helm, 'cluster', row))
    return rendered
  })()
  return all
}

/** Hooks and tests included. `sets` are as in `--set`; without any it is the value set as it is. */
export async function render(
  helm: string,
  valueSet: string,
  sets: readonly string[] = [],
  chart = CHART,
): Promise<readonly KubeManifest[]> {
  const words = ['template', 'w', chart, '--namespace', 'acme', '--kube-version', KUBE_VERSION, '-f', valueFile(valueSet)]
  const { stdout } = await runHelm(helm, [...words, ...sets.flatMap((set) => ['--set', set])])
  return manifestsOf(stdout)
}

export function runHelm(
  helm: string,
  words: readonly string[],
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return run(helm, words, { timeout: HELM_MS, maxBuffer: MAX_BYTES })
}

export function manifestsOf(text: string): readonly KubeManifest[] {
  return parseAllDocuments(text)
    .map((document): unknown => {
      const [problem] = document.errors
      if (problem !== undefined) throw problem
      return document.toJS()
    })
    .filter((value): value is KubeManifest => value !== null && value !== undefined)
}

/** Of every kind that makes pods, and pods themselves. */
export function podsOf(manifests: readonly KubeManifest[]): readonly RenderedPod[] {
  return manifests.flatMap((manifest): readonly RenderedPod[] => {
    const of = `${String(manifest['kind'])} ${String(manifest['metadata'].name)}`
    if (manifest['kind'] === 'Pod') return [{ of, metadata: manifest['metadata'], spec: manifest['spec'] }]
    const template = manifest['spec']?.template
    return template?.spec?.containers === undefined ? [] : [{ of, metadata: template.metadata, spec: template.spec }]
  })
}

/** Rows in which any two choices of any two switches occur together at least once. */
function pairwise<T>(switches: readonly (readonly T[])[]): readonly (readonly T[])[] {
  const open = new Set<string>()
  const pairs = (row: readonly (number | null)[]): readonly string[] =>
    row.flatMap((a, i) => row.slice(i + 1).flatMap((b, j) => (a === null || b === null ? [] : [`${i}:${a} ${i + 1 + j}:${b}`])))
  for (const [i, first] of switches.entries())
    for (const [j, second] of switches.entries())
      if (j > i) first.forEach((_, a) => second.forEach((__, b) => open.add(`${i}:${a} ${j}:${b}`)))
  const rows: (readonly T[])[] = []
  while (open.size > 0) {
    const row: (number | null)[] = switches.map(() => null)
    const [seed = ''] = open
    for (const part of seed.split(' ')) {
      const [place = 0, choice = 0] = part.split(':').map(Number)
      row[place] = choice
    }
    for (const [place, choices] of switches.entries()) {
      if (row[place] !== null) continue
      const gains = choices.map((_, choice) => pairs(row.with(place, choice)).filter((pair) => open.has(pair)).length)
      row[place] = gains.indexOf(Math.max(...gains))
    }
    for (const pair of pairs(row)) open.delete(pair)
    rows.push(switches.map((choices, place) => choices[row[place] ?? 0] as T))
  }
  return rows
}
