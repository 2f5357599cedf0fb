/** Counts what a worker does, per provider; never per destination, of which there may be very many. */

import { Counter, Gauge, Histogram, type Metric, type Registry } from 'prom-client'

import type { ProviderId } from '../../domain/model.ts'
import type { Verdict } from '../providers/provider.ts'

export interface WorkerMetrics {
  /** Of one exchange; `split` is one that was refused whole and goes on in parts. */
  attempt(outcome: Verdict['kind'] | 'split', tookMs: number): void
  /** `receivedAtMs` is the install's; for delivered ones the time since then is measured. */
  told(status: string, reason: string, sinceReceivedMs: number): void
}

/** Read when the metrics are scraped. */
export interface WorkerGauges {
  readonly inFlight: () => number
  /** Paused or with an open breaker. */
  readonly troubled: () => number
  readonly paused: () => number
}

export const NO_METRICS: WorkerMetrics = { attempt: () => undefined, told: () => undefined }

const EXCHANGE_BUCKETS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const DELIVERED_BUCKETS_S = [0.1, 0.25, 0.5, 1, 2.5, 5, 30, 300, 3_600, 21_600, 86_400]

/** Several workers of one process share a registry; each metric is made by the first of them. */
export function createWorkerMetrics(registry: Registry, provider: ProviderId, gauges: WorkerGauges): WorkerMetrics {
  const attempts = once(registry, 'whence_delivery_attempt_seconds', (name) => {
    const help = 'Time of one exchange with a provider, by how it ended.'
    const labelNames = ['provider', 'outcome']
    return new Histogram({ name, help, labelNames, buckets: EXCHANGE_BUCKETS_S, registers: [registry] })
  })
  const states = once(registry, 'whence_delivery_states_total', (name) => {
    const help = 'States that deliveries reached in the worker, with the reason.'
    return new Counter({ name, help, labelNames: ['provider', 'status', 'reason'], registers: [registry] })
  })
  const delivered = once(registry, 'whence_delivery_age_seconds', (name) => {
    const help = 'Time from the report of an install to its delivery.'
    return new Histogram({ name, help, labelNames: ['provider'], buckets: DELIVERED_BUCKETS_S, registers: [registry] })
  })
  observe(registry, provider, gauges)
  return {
    attempt: (outcome, tookMs) => attempts.observe({ provider, outcome }, tookMs / 1_000),
    told(status, reason, sinceReceivedMs) {
      states.inc({ provider, status, reason })
      if (status === 'delivered') delivered.observe({ provider }, sinceReceivedMs / 1_000)
    },
  }
}

/** A gauge asks all workers of the process; who asks first makes it. */
function observe(registry: Registry, provider: ProviderId, gauges: WorkerGauges): void {
  for (const [what, name, help] of GAUGES) {
    const gauge = once(registry, name, () => new AskingGauge(name, help, registry))
    gauge.ask(provider, gauges[what])
  }
}

const GAUGES = [
  ['inFlight', 'whence_delivery_in_flight', 'Exchanges with providers under way.'],
  ['troubled', 'whence_delivery_troubled_destinations', 'Destinations that are paused or whose breaker is open.'],
  ['paused', 'whence_delivery_paused_destinations', 'Destinations whose credentials the provider refuses.'],
] as const

class AskingGauge extends Gauge<'provider'> {
  readonly #sources: Map<ProviderId, () => number>

  constructor(name: string, help: string, registry: Registry) {
    const sources = new Map<ProviderId, () => number>()
    super({
      name,
      help,
      labelNames: ['provider'],
      registers: [registry],
      collect() {
        for (const [provider, value] of sources) this.set({ provider }, value())
      },
    })
    this.#sources = sources
  }

  ask(provider: ProviderId, value: () => number): void {
    this.#sources.set(provider, value)
  }
}

function once<M extends Metric>(registry: Registry, name: string, make: (name: string) => M): M {
  return (registry.getSingleMetric(name) as M | undefined) ?? make(name)
}
