/** What the benchmark of the operator reads and computes: memory of processes, percentiles of times. */

import { readFileSync } from 'node:fs'

/** In MB, from the kernel. */
export function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const match = new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Math.round(Number(match?.[1] ?? 0) / 1_024)
}

export function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
