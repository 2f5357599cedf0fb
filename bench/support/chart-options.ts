/** The chart's settings for Node.js, so that the benchmark measures what is installed. */

import { readFileSync } from 'node:fs'

import { parse } from 'yaml'

interface PodMemory {
  readonly resources: { readonly limits: { readonly memory: string } }
}

interface ChartValues {
  readonly operator: { readonly nodeOptions: string }
  readonly api: PodMemory
  readonly dashboard: PodMemory
  readonly pods: { readonly nodeOptions: string }
}

export function operatorOptions(): string {
  return chartValues().operator.nodeOptions
}

/** With the heap that Node.js takes within the pod's memory limit, which is half of it. */
export function apiOptions(): string {
  return optionsOf('api')
}

export function dashboardOptions(): string {
  return optionsOf('dashboard')
}

function optionsOf(program: 'api' | 'dashboard'): string {
  const { pods, [program]: pod } = chartValues()
  const limitMb = Number(/^(\d+)Mi$/.exec(pod.resources.limits.memory)?.[1])
  return `${pods.nodeOptions} --max-old-space-size=${limitMb / 2}`
}

function chartValues(): ChartValues {
  const text = readFileSync(new URL('../../charts/whence/values.yaml', import.meta.url), 'utf8')
  return parse(text) as ChartValues
}
