/** Lets a stop give up what was asked of the API server or of the facts: either may hang. */

import { unlessAborted } from '../../common/deadline.ts'
import type { KubeClient } from '../../runtime/kube/client.ts'
import type { TrafficFacts } from './traffic.ts'

interface Askers {
  readonly client: KubeClient
  /** Null if no figures are shown. */
  readonly readFacts: TrafficFacts | null
}

/** The same, but every request rejects at the signal. Watches have signals of their own. */
export function stoppable<T extends Askers>(askers: T, signal: AbortSignal): T {
  const { client, readFacts } = askers
  const request: KubeClient['request'] = (asked) =>
    client.request({ ...asked, signal: asked.signal === undefined ? signal : AbortSignal.any([asked.signal, signal]) })
  return {
    ...askers,
    client: { ...client, request },
    readFacts: readFacts && {
      traffic: (period) => unlessAborted(signal, () => readFacts.traffic(period)),
      destinationStates: () => unlessAborted(signal, () => readFacts.destinationStates()),
      streamStates: () => unlessAborted(signal, () => readFacts.streamStates()),
    },
  }
}
