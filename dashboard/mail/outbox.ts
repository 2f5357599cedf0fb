/**
 * Sends mails after the answer: a bounded queue in memory, with retries and growing pauses. A crash loses the mails in it; their
 * recipients ask again, and nothing else depends on a mail.
 */

import type { Logger } from '../../runtime/logger.ts'
import { MailRefused, type Mail, type Mailer } from './mailer.ts'

export interface Outbox {
  /** Never waits and never throws; false if there is no room. */
  readonly put: (mail: Mail) => boolean
  /** Resolves when nothing is on its way any more. */
  readonly idle: () => Promise<void>
  readonly close: () => Promise<void>
}

const MOST_WAITING = 1_000
const PAUSES_MS = [1_000, 5_000, 30_000, 120_000]

interface OutboxParts {
  readonly mailer: Mailer
  readonly logger: Logger
  /** For tests; the pauses between tries. */
  readonly pausesMs?: readonly number[]
}

export function createOutbox({ mailer, logger, pausesMs = PAUSES_MS }: OutboxParts): Outbox {
  const underWay = new Set<Promise<void>>()
  const stop = new AbortController()
  const deliver = async (mail: Mail): Promise<void> => {
    for (const pauseMs of [...pausesMs, null]) {
      if (stop.signal.aborted || (await isDone(mail)) || pauseMs === null) return
      await pause(pauseMs, stop.signal)
    }
  }
  const isDone = async (mail: Mail): Promise<boolean> => {
    try {
      await mailer.send(mail)
      return true
    } catch (error) {
      logger.warn({ why: error instanceof Error ? error.message : 'unknown' }, 'mail not sent')
      return error instanceof MailRefused
    }
  }
  return {
    put(mail) {
      if (underWay.size >= MOST_WAITING || stop.signal.aborted) {
        logger.error({ waiting: underWay.size }, 'no room for one more mail')
        return false
      }
      const sent: Promise<void> = deliver(mail).finally(() => underWay.delete(sent))
      underWay.add(sent)
      return true
    },
    idle: async () => void (await Promise.all(underWay)),
    async close() {
      stop.abort()
      await Promise.all(underWay)
      mailer.close()
    },
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
}
