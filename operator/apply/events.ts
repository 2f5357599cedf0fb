/** Reports changes of a resource's readiness as Kubernetes events: only transitions, and a bounded number. */

import type { ResourceKind } from '../../domain/resources/resources.ts'
import { RESOURCE_API_VERSION } from '../../domain/resources/resources.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Transition } from './statuses.ts'
import type { Writer } from './writer.ts'

interface EventsOptions {
  readonly writer: Writer
  /** Name of this operator's pod. */
  readonly identity: string
  readonly logger: Logger
  readonly nowMs: () => number
}

/** As in client-go: a burst, then a trickle. If an event is dropped, the object's condition still shows the state. */
const BURST = 25
const REFILL_MS = 1_000
const NOTE_CHARS = 1_000

/** The content of one event. */
interface Told {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

interface Events {
  readonly transition: (transition: Transition) => void
  readonly tell: (kind: ResourceKind, object: KubeObject, told: Told) => void
}

/** Sends events without delaying callers. A new object that is ready gets none. */
export function createEvents({ writer, identity, logger, nowMs }: EventsOptions): Events {
  let tokens = BURST
  let filledAtMs = nowMs()
  const tell = (kind: ResourceKind, object: KubeObject, { type, reason, message }: Told): void => {
    const now = nowMs()
    tokens = Math.min(BURST, tokens + (now - filledAtMs) / REFILL_MS)
    filledAtMs = now
    if (tokens < 1) return
    tokens -= 1
    const { name, namespace = '', uid, resourceVersion } = object.metadata
    const event = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { generateName: `${name.slice(0, 200)}-`, namespace },
      eventTime: new Date(now).toISOString().replace('Z', '000Z'),
      reportingController: 'whence.dev/operator',
      reportingInstance: identity,
      action: 'Reconcile',
      type,
      reason,
      note: message.slice(0, NOTE_CHARS),
      regarding: { apiVersion: RESOURCE_API_VERSION, kind, name, namespace, uid, resourceVersion },
    }
    writer.create(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`, event).catch((error: unknown) => {
      logger.debug({ why: String(error) }, 'event not written')
    })
  }
  const transition = ({ decided: { kind, object }, before, after }: Transition): void => {
    if (before === null && after.status === 'True') return
    const message = after.message === '' ? 'it is in force' : after.message
    tell(kind, object, { type: after.status === 'True' ? 'Normal' : 'Warning', reason: after.reason, message })
  }
  return { transition, tell }
}
