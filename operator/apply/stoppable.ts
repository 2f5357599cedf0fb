/** Lets a stop give up what was asked of the API server or of the facts: either may hang. */

import { unlessAborted } from '../../common/deadline.ts'
import type { KubeClient } from '../../runtime/kube/client.ts'
import type { TrafficFacts } from './traffic.ts'

/** The same, but every request rejects at the signal. Watches have signals of their own. */
export function stoppableClient(client: KubeClient, signal: AbortSignal): KubeClient {
  const request: KubeClient['request'] = (asked) =>
    client.request({ ...asked, signal: asked.signal === undefined ? signal : AbortSignal.any([asked.signal, signal]) })
  return { ...client, request }
}

/** The same, but every query rejects at the signal. */
export function stoppableTraffic(facts: TrafficFacts, signal: AbortSignal): TrafficFacts {
  return {
    traffic: (period) => unlessAborted(signal, () => facts.traffic(period)),
    destinationStates: () => unlessAborted(signal, () => facts.destinationStates()),
    streamStates: () => unlessAborted(signal, () => facts.streamStates()),
  }
}
