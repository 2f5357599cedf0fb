/**
 * Tells whether this process's copy of the catalog is older than the one that planned some work: then an object that is missing here may be
 * there, and whatever cannot be undone waits. That it waits is counted, and logged once a minute.
 */

import { Counter, Gauge, type Registry } from 'prom-client'

import { oncePerObject } from '../domain/once-per-object.ts'
import { isCopyBehind, type CatalogInHand } from '../domain/published/catalog-number.ts'
import type { NumberedCatalog } from '../domain/catalog.ts'
import { MINUTE_MS, SECOND_MS } from '../domain/durations.ts'
import type { Telemetry } from '../runtime/metrics.ts'

interface WaitingDeps {
  readonly catalog: CatalogInHand<NumberedCatalog>
  readonly telemetry: Telemetry
  readonly nowMs: () => number
}

export interface CatalogWaits {
  /** `plannedBy`: the number that the work carries; absent in work that no catalog planned. */
  readonly isBehind: (plannedBy: number | undefined) => boolean
  /** Notes that something waits for that number. Returns how long it has been behind, in ms; 0 at first. */
  readonly waitFor: (plannedBy: number) => number
}

export function createCatalogWaits({ catalog, telemetry, nowMs }: WaitingDeps, role: string): CatalogWaits {
  const { logger, registry } = telemetry
  const metrics = registry === undefined ? null : waitMetrics(registry)
  let needed = 0
  let sinceMs = 0
  let toldAtMs = Number.NEGATIVE_INFINITY
  const behindMs = (): number => (isCopyBehind(catalog, needed) ? Math.max(0, nowMs() - sinceMs) : 0)
  metrics?.behind.set(role, behindMs)
  return {
    isBehind: (plannedBy) => isCopyBehind(catalog, plannedBy),
    waitFor: (plannedBy) => {
      const now = nowMs()
      if (!isCopyBehind(catalog, needed)) sinceMs = now
      needed = Math.max(needed, plannedBy)
      metrics?.waits.inc({ role })
      if (now - toldAtMs >= MINUTE_MS) {
        toldAtMs = now
        const { number } = catalog.current()
        logger.warn({ role, number, plannedBy }, 'waits for a newer catalog: what it lacks may be there by now')
      }
      return behindMs()
    },
  }
}

/** When to look again at a job that has waited so long, in Unix ms: soon at first, and later every half a minute. */
export function lookAgainAtMs(nowMs: number, behindMs: number): number {
  return nowMs + Math.min(Math.max(behindMs, LOOK_AGAIN_MS.least), LOOK_AGAIN_MS.most)
}

const LOOK_AGAIN_MS = { least: 5 * SECOND_MS, most: 30 * SECOND_MS }

interface WaitMetrics {
  readonly waits: Counter<'role'>
  /** By role: for how long it has been behind, in ms. */
  readonly behind: Map<string, () => number>
}

/** One for all roles of a process. */
const waitMetrics = oncePerObject(newMetrics)

function newMetrics(registry: Registry): WaitMetrics {
  const behind = new Map<string, () => number>()
  const registers = [registry]
  new Gauge({
    name: 'whence_catalog_behind_seconds',
    help: 'For how long work has waited because the copy of the catalog here is older than the one that planned it.',
    labelNames: ['role'],
    registers,
    collect() {
      for (const [role, behindMs] of behind) this.set({ role }, behindMs() / SECOND_MS)
    },
  })
  const waits = new Counter({
    name: 'whence_catalog_waits_total',
    help: 'How often something was put off because the copy of the catalog here is older than the one that planned it.',
    labelNames: ['role'],
    registers,
  })
  return { waits, behind }
}
