/**
 * The dashboard's metrics: requests, sign-ins, limits, and what the payment provider was asked. No label holds a value of a request, so
 * none can name a person, an address or an organisation.
 */

import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

import { BoundedMap } from '../../common/bounded-map.ts'
import { MINUTE_MS } from '../../domain/durations.ts'

export interface DashboardMetrics {
  /** `route` is the pattern, empty if there is none; `code` is empty if nothing was refused. */
  readonly answered: (request: CountedAnswer) => void
  /** A message never became a request: the HTTP parser refused it. */
  readonly broken: (status: number, code: string) => void
  /** Somebody was signed in, or not; outcomes are codes of a closed list. */
  readonly signIn: (way: 'mail' | 'oidc' | 'link', outcome: string) => void
  /** The identity provider did not name the groups of a person. */
  readonly groupsMissing: () => void
  /** A session was used; its ID goes into no label. */
  readonly sessionSeen: (id: string) => void
  readonly limitReached: (limit: string) => void
  /** A refusal that is neither in Logs nor in activity. */
  readonly refusalShed: () => void
  /** A connection was refused or ended because its client did not use it. */
  readonly connectionEnded: (why: string) => void
  readonly paymentsAsked: (what: string, outcome: 'ok' | 'unavailable' | 'failed') => void
}

interface CountedAnswer {
  readonly route: string
  readonly status: number
  readonly code: string
  /** Until it was known what to answer. */
  readonly seconds: number
}

const SECONDS_BUCKETS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
const SEEN_MS = 5 * MINUTE_MS
const SESSIONS_MAX = 100_000

export function createDashboardMetrics(registry: Registry, nowMs: () => number): DashboardMetrics {
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> =>
    new Counter({ name, help, labelNames: [...labelNames], registers: [registry] })
  const requests = counter(
    'whence_dashboard_requests_total',
    'Requests of the dashboard answered, by route, status and error code.',
    ['route', 'status', 'code'],
  )
  const seconds = new Histogram({
    name: 'whence_dashboard_request_seconds',
    help: 'Time from a request of the dashboard until it was known what to answer.',
    labelNames: ['route'],
    buckets: SECONDS_BUCKETS,
    registers: [registry],
  })
  const signIns = counter('whence_sign_ins_total', 'Tries to sign in, by way and outcome.', ['way', 'outcome'])
  const groupsMissing = counter(
    'whence_sign_ins_without_groups_total',
    "Sign-ins at which the identity provider did not give the claim that lists a person's groups.",
    [],
  )
  const limits = counter('whence_dashboard_limits_total', 'Requests refused for a rate or for the plan, by limit.', [
    'limit',
  ])
  const shed = counter('whence_dashboard_refusals_shed_total', 'Refusals that are neither in Logs nor in activity.', [])
  const payments = counter('whence_payment_requests_total', 'Requests to the payment provider, by kind and outcome.', [
    'what',
    'outcome',
  ])
  const ended = counter(
    'whence_dashboard_connections_ended_total',
    'Connections to the dashboard refused or ended because their client did not use them, by reason.',
    ['why'],
  )
  return {
    answered({ route, status, code, seconds: took }) {
      requests.inc({ route, status: String(status), code })
      seconds.observe({ route }, took)
    },
    broken: (status, code) => requests.inc({ route: '', status: String(status), code }),
    groupsMissing: () => groupsMissing.inc(),
    signIn: (way, outcome) => signIns.inc({ way, outcome }),
    sessionSeen: sessionGauge(registry, nowMs),
    limitReached: (limit) => limits.inc({ limit }),
    refusalShed: () => shed.inc(),
    connectionEnded: (why) => ended.inc({ why }),
    paymentsAsked: (what, outcome) => payments.inc({ what, outcome }),
  }
}

/** Counted when it is looked at; a process that has seen more says so many. */
function sessionGauge(registry: Registry, nowMs: () => number): (id: string) => void {
  const seen = new BoundedMap<string, number>(SESSIONS_MAX)
  const gauge: Gauge = new Gauge({
    name: 'whence_dashboard_sessions',
    help: 'Sessions that this process has answered within five minutes.',
    registers: [registry],
    collect() {
      const since = nowMs() - SEEN_MS
      for (const [id, atMs] of seen.entries()) {
        if (atMs > since) break
        seen.delete(id)
      }
      gauge.set(seen.size)
    },
  })
  return (id) => seen.set(id, nowMs())
}
