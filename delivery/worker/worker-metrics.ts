/** Metrics of the workers, per provider; never per destination, since there may be very many. */

import { Counter, Gauge, Histogram, type Metric, type Registry } from 'prom-client'

import type { ProviderId } from '../../domain/providers/index.ts'
import type { Verdict } from '../providers/provider.ts'

export interface WorkerMetrics {
  /** One exchange ended; `split`: the batch was refused as a whole and is sent again in parts. */
  attempt(outcome: Verdict['kind'] | 'split', tookMs: number): void
  /** A delivery reached a state. `sinceReceivedMs`: since the install was reported; observed for delivered ones. */
  recorded(status: string, reason: string, sinceReceivedMs: number): void
}

/** Read when the metrics are scraped. */
export interface WorkerGauges {
  readonly inFlight: () => number
  /** Paused or with an open breaker. */
  readonly troubled: () => number
  readonly paused: () => number
}

export const NO_METRICS: WorkerMetrics = { attempt: () => undefined, recorded: () => undefined }

const EXCHANGE_BUCKETS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const DELIVERED_BUCKETS_S = [0.1, 0.25, 0.5, 1, 2.5, 5, 30, 300, 3_600, 21_600, 86_400]

/** The workers of one process share a registry; the first of them creates each metric. */
export function createWorkerMetrics(registry: Registry, provider: ProviderId, gauges: WorkerGauges): WorkerMetrics {
  const attempts = getOrCreate(registry, 'whence_delivery_attempt_seconds', (name) => {
    const help = 'Duration of one exchange with a provider, by outcome.'
    const labelNames = ['provider', 'outcome']
    return new Histogram({ name, help, labelNames, buckets: EXCHANGE_BUCKETS_S, registers: [registry] })
  })
  const states = getOrCreate(registry, 'whence_delivery_states_total', (name) => {
    const help = 'States that deliveries reached in the workers, by reason.'
    return new Counter({ name, help, labelNames: ['provider', 'status', 'reason'], registers: [registry] })
  })
  const delivered = getOrCreate(registry, 'whence_delivery_age_seconds', (name) => {
    const help = 'Time from the report of an install to its delivery.'
    return new Histogram({ name, help, labelNames: ['provider'], buckets: DELIVERED_BUCKETS_S, registers: [registry] })
  })
  observeGauges(registry, provider, gauges)
  return {
    attempt: (outcome, tookMs) => attempts.observe({ provider, outcome }, tookMs / 1_000),
    recorded(status, reason, sinceReceivedMs) {
      states.inc({ provider, status, reason })
      if (status === 'delivered') delivered.observe({ provider }, sinceReceivedMs / 1_000)
    },
  }
}

/** A gauge reads the values of all workers of the process; the first of them creates it. */
function observeGauges(registry: Registry, provider: ProviderId, gauges: WorkerGauges): void {
  for (const [what, name, help] of GAUGES) {
    const gauge = getOrCreate(registry, name, () => new CallbackGauge(name, help, registry))
    gauge.addSource(provider, gauges[what])
  }
}

const GAUGES = [
  ['inFlight', 'whence_delivery_in_flight', 'Exchanges with providers in flight.'],
  [
    'troubled',
    'whence_delivery_troubled_destinations',
    'Destinations that are paused or whose circuit breaker is open.',
  ],
  ['paused', 'whence_delivery_paused_destinations', 'Destinations whose credentials the provider refuses.'],
] as const

class CallbackGauge extends Gauge<'provider'> {
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

  addSource(provider: ProviderId, value: () => number): void {
    this.#sources.set(provider, value)
  }
}

function getOrCreate<M extends Metric>(registry: Registry, name: string, make: (name: string) => M): M {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- only this file makes metrics of these names
  return (registry.getSingleMetric(name) as M | undefined) ?? make(name)
}
