/**
 * The api's metrics: requests by route, status and code, and what its queues dropped. No label contains a value from a
 * request.
 */

import { Counter, Histogram, type Registry } from 'prom-client'

export interface ApiMetrics {
  readonly answered: (route: string, status: number, code: string, seconds: number) => void
  readonly shed: (what: 'request_record' | 'activity') => void
  readonly lookup: (what: string) => void
  readonly connectionEnded: (why: string) => void
  readonly matchedOften: () => void
}

const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

export function createApiMetrics(registry: Registry): ApiMetrics {
  const registers = [registry]
  const requests = new Counter({
    name: 'whence_requests_total',
    help: 'Requests answered, by route, status and error code.',
    labelNames: ['route', 'status', 'code'],
    registers,
  })
  const seconds = new Histogram({
    name: 'whence_request_seconds',
    help: 'Time from the request head to the answer.',
    labelNames: ['route'],
    buckets: SECONDS_BUCKETS,
    registers,
  })
  const shed = new Counter({
    name: 'whence_records_shed_total',
    help: 'Records of refusals, reads and activity that the event log did not accept.',
    labelNames: ['what'],
    registers,
  })
  const lookups = new Counter({
    name: 'whence_fact_lookups_total',
    help: 'Look-ups in ClickHouse on the request path because the hot state had no answer.',
    labelNames: ['what'],
    registers,
  })
  const ended = new Counter({
    name: 'whence_connections_ended_total',
    help: 'Connections refused or ended because their client did not use them, by reason.',
    labelNames: ['why'],
    registers,
  })
  const matchedOften = new Counter({
    name: 'whence_matches_over_warning_total',
    help: 'Installations matched to a visit beyond what `warnings.installationsPerVisit` of its website allows for a day.',
    registers,
  })
  return {
    answered: (route, status, code, took) => {
      requests.inc({ route, status: String(status), code })
      seconds.observe({ route }, took)
    },
    shed: (what) => shed.inc({ what }),
    lookup: (what) => lookups.inc({ what }),
    connectionEnded: (why) => ended.inc({ why }),
    matchedOften: () => matchedOften.inc(),
  }
}
