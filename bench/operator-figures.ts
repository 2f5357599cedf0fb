/** What the benchmark of the operator reads and reckons: the chart's setting, memory of processes, ranks of times. */

import { readFileSync } from 'node:fs'

import { parse } from 'yaml'

/** What the chart gives the operator: what is measured is what is installed. */
export function chartNodeOptions(): string {
  const text = readFileSync(new URL('../charts/whence/values.yaml', import.meta.url), 'utf8')
  return (parse(text) as { readonly operator: { readonly nodeOptions: string } }).operator.nodeOptions
}

/** In MB, from the kernel. */
export function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const match = new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Math.round(Number(match?.[1] ?? 0) / 1_024)
}

export function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  return at(
    [...values].sort((a, b) => a - b),
    0.5,
  )
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
