/** Serves the metrics, probes and status of one process. */

import { connectionPeer } from '../../api/http/client-address.ts'
import { serveMetrics, type ListenAddress, type MetricsServer } from '../../runtime/metrics.ts'
import type { Process } from './process.ts'

export interface Probes extends MetricsServer {
  /**
   * The process can answer from now on, while `check` returns true and it is neither draining nor stopping. No check asks whether an
   * engine is there: a process without its log still serves hook and SDK, and refuses the rest at once, where no pod at all would
   * let callers hang (ADR 53).
   */
  readonly ready: (check?: () => boolean) => void
  /** Sets what `GET /status` answers. */
  readonly tellStatus: (status: () => object) => void
}

export async function startMetrics({ lifecycle, registry }: Process, address: ListenAddress): Promise<Probes> {
  let check: () => boolean = () => false
  let status: () => object = () => ({})
  const server = await lifecycle.start(
    'metrics',
    () =>
      serveMetrics(registry, address, {
        isReady: () => !lifecycle.isDraining() && check(),
        status: () => status(),
        // As on the public port: anyone with one IPv6 address has 2 to the power of 64 of them.
        peerOf: connectionPeer([]),
      }),
    (started) => started.close(),
  )
  return {
    ...server,
    ready: (given = () => true) => void (check = given),
    tellStatus: (given) => void (status = given),
  }
}
