/** Metrics of a process's communication with the API server. */

import { Counter, Gauge, type Registry } from 'prom-client'

export interface KubeMetrics {
  readonly event: (resource: string, type: string) => void
  readonly listed: (resource: string) => void
  /** A watch ended with an error; status 0 if the server was not reached. */
  readonly restarted: (resource: string, status: number) => void
  readonly objects: (resource: string, count: number) => void
}

export function createKubeMetrics(registry: Registry): KubeMetrics {
  const registers = [registry]
  const events = new Counter({
    name: 'whence_kube_watch_events_total',
    help: 'Events received from watches, bookmarks included.',
    labelNames: ['resource', 'type'],
    registers,
  })
  const lists = new Counter({
    name: 'whence_kube_lists_total',
    help: 'Full lists read: one at the start, and one whenever the watch history was gone.',
    labelNames: ['resource'],
    registers,
  })
  const restarts = new Counter({
    name: 'whence_kube_watch_restarts_total',
    help: 'Watches that ended with an error, by HTTP status; 0 for a broken connection.',
    labelNames: ['resource', 'status'],
    registers,
  })
  const objects = new Gauge({
    name: 'whence_kube_objects',
    help: 'Objects in the copy of this process.',
    labelNames: ['resource'],
    registers,
  })
  return {
    event: (resource, type) => events.inc({ resource, type }),
    listed: (resource) => lists.inc({ resource }),
    restarted: (resource, status) => restarts.inc({ resource, status: String(status) }),
    objects: (resource, count) => objects.set({ resource }, count),
  }
}
