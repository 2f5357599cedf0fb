/** The operator's metrics. */

import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

export interface OperatorMetrics {
  readonly wrote: (what: string, result: 'written' | 'refused') => void
  /** One pass over all objects, in seconds. */
  readonly decided: (seconds: number, counts: DecidedCounts) => void
  /** Kinds whose definition in the cluster differs from this program's. */
  readonly differing: (kinds: readonly string[]) => void
  /** Objects that belong to other installations. */
  readonly foreign: (count: number) => void
  /** Namespaces that the operator may not read. */
  readonly unreadable: (namespaces: ReadonlySet<string>) => void
  /** Objects that memory had no room for, by namespace. */
  readonly cut: (objects: ReadonlyMap<string, number>) => void
  /** A published catalog, in seconds since the first change in it was seen. */
  readonly published: (seconds: number) => void
  readonly retried: () => void
  /** The facts were queried for the figures of all websites. */
  readonly readTraffic: (result: 'read' | 'failed') => void
  readonly leading: (isLeading: boolean) => void
}

interface DecidedCounts {
  readonly websites: number
  readonly refused: number
  /** Websites that are refused but stay in force. */
  readonly held: number
}

/** The present state of the work. */
interface QueueLook {
  readonly depth: () => number
  readonly longestRunningMs: () => number
  /** Age of the oldest change that is not published. */
  readonly unpublishedMs: () => number
}

const PASS_BUCKETS_S = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

export function createOperatorMetrics(registry: Registry, queue: QueueLook): OperatorMetrics {
  const registers = [registry]
  const labelled = { registers, labelNames: ['what', 'result'] as const }
  const writes = new Counter({ name: 'whence_operator_writes_total', help: 'Writes to the API server.', ...labelled })
  const gauge = (name: string, help: string) => new Gauge({ name: `whence_operator_${name}`, help, registers })
  const histogram = (name: string, help: string) =>
    new Histogram({ name: `whence_operator_${name}`, help, registers, buckets: PASS_BUCKETS_S })
  const leader = gauge('leader', '1 if this process leads.')
  const websites = gauge('websites', 'Websites in force.')
  const refused = gauge('refused_objects', 'Resources that are refused or incomplete.')
  const held = gauge('held_websites', 'Refused websites that stay in force in their last accepted form.')
  const foreign = gauge('foreign_objects', 'Objects that belong to other installations and are left alone.')
  const differing = new Gauge({
    name: 'whence_operator_definition_differs',
    help: '1 for each kind whose definition in the cluster is of another version than the operator.',
    labelNames: ['kind'],
    registers,
  })
  const byNamespace = (name: string, help: string) => watchedGauge(registry, name, help)
  const unreadable = byNamespace('namespace_unreadable', '1 for each watched namespace that the operator may not read.')
  const cut = byNamespace('cut_objects', "Objects of each namespace that exceed its share of the operator's memory.")
  const passes = histogram('pass_seconds', 'Time to decide about all objects.')
  const publishing = histogram('publish_seconds', 'From the first unpublished change to the published catalog.')
  const retries = new Counter({ name: 'whence_operator_retries_total', help: 'Retries that failed again.', registers })
  const reads = new Counter({
    name: 'whence_operator_traffic_reads_total',
    help: 'Queries of the facts for the figures of websites.',
    labelNames: ['result'],
    registers,
  })
  collectAges(registry, queue)
  return {
    wrote: (what, result) => writes.inc({ what, result }),
    decided: (seconds, counts) => {
      passes.observe(seconds)
      websites.set(counts.websites)
      refused.set(counts.refused)
      held.set(counts.held)
    },
    differing: (kinds) => {
      differing.reset()
      for (const kind of kinds) differing.set({ kind }, 1)
    },
    foreign: (count) => foreign.set(count),
    unreadable: (namespaces) => unreadable(new Map([...namespaces].map((namespace) => [namespace, 1]))),
    cut,
    published: (seconds) => publishing.observe(seconds),
    retried: () => retries.inc(),
    readTraffic: (result) => reads.inc({ result }),
    leading: (isLeading) => leader.set(isLeading ? 1 : 0),
  }
}

/** A gauge with one value for each namespace; the others have none. */
function watchedGauge(registry: Registry, name: string, help: string): (values: ReadonlyMap<string, number>) => void {
  // Prometheus gives every series the namespace of the pod that it comes from.
  const labelled = { labelNames: ['watched'], registers: [registry] }
  const gauge = new Gauge({ name: `whence_operator_${name}`, help, ...labelled })
  return (values) => {
    gauge.reset()
    for (const [watched, value] of values) gauge.set({ watched }, value)
  }
}

function collectAges(registry: Registry, queue: QueueLook): void {
  const collected = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  collected('whence_operator_unpublished_seconds', 'Age of the oldest change that is not published.', () => {
    return queue.unpublishedMs() / 1_000
  })
  collected('workqueue_depth', 'Keys that wait or are being processed.', queue.depth)
  collected('workqueue_longest_running_processor_seconds', 'Age of the longest running work.', () => {
    return queue.longestRunningMs() / 1_000
  })
}
