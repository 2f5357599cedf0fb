/** How the operator's queues treat keys and failures. */

import { KubeError } from '../runtime/kube/client.ts'
import type { QueueRules } from './work-queue.ts'

const FORBIDDEN_RETRY_MS = 30_000

/** A status that takes longer shows an API server that has too much to do. */
const SLOW_MS = 1_000

export const QUEUE_RULES: QueueRules = {
  slowMs: SLOW_MS,
  /** The namespace of an `objectKey`; empty for other work. */
  ownerOf: (key) => key.split('/')[1] ?? '',
  leastDelayMs: (error) => {
    if (!(error instanceof KubeError)) return 0
    return error.status === 403 ? FORBIDDEN_RETRY_MS : (error.retryAfterS ?? 0) * 1_000
  },
}
