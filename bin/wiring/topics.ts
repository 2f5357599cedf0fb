/**
 * Makes sure that no process uses topics that could lose acknowledged entries, even if Kafka is unreachable at its
 * start.
 */

import { requireSafeTopics, UnsafeTopics } from '../../ports/event-log/kafka/kafka.ts'
import type { KafkaSettings } from '../../ports/event-log/kafka/url.ts'
import type { PartStarter } from '../../runtime/lifecycle.ts'
import type { Logger } from '../../runtime/logger.ts'
import { unlessAborted, within } from '../../common/deadline.ts'
import { every } from '../../common/every.ts'

export interface TopicCheckParts {
  readonly lifecycle: PartStarter
  readonly logger: Logger
  /** True: the process may start while Kafka is unreachable, and ends once its topics turn out to be unsafe. */
  readonly mayWait: boolean
}

const AGAIN_MS = 5_000
/** A broker that hangs accepts connections and answers nothing. */
const FIRST_CHECK_MS = 5_000
/** Long enough for the other brokers to take over from a lost one. */
const CHECK_FOR_MS = 45_000

/** @throws UnsafeTopics; if the process may not wait, also the error that prevents the check */
export async function checkTopics(
  kafka: KafkaSettings,
  { lifecycle, logger, mayWait }: TopicCheckParts,
): Promise<void> {
  const onFailure = (error: Error): void => logger.warn({ err: error, task: 'check_topics' }, 'topics not checked yet')
  const check = async (): Promise<void> => {
    const problems = await requireSafeTopics(kafka, mayWait ? {} : { forMs: CHECK_FOR_MS, onFailure })
    for (const { topic, message } of problems) logger.warn({ topic, message }, 'unsafe topic')
  }
  try {
    return await (mayWait ? within(check(), FIRST_CHECK_MS) : check())
  } catch (error) {
    if (!mayWait || error instanceof UnsafeTopics) throw error
    logger.error({ err: error }, 'event log unavailable: its topics are checked when it is back')
  }
  const rules = { firstMs: AGAIN_MS, retryMs: AGAIN_MS, onFailure: () => undefined }
  const checkAgain = async (): Promise<void> => {
    try {
      await check()
      logger.info('topics checked')
    } catch (error) {
      if (!(error instanceof UnsafeTopics)) throw error
      lifecycle.fail('event log', error)
    }
  }
  await lifecycle.start(
    'topics',
    () => every(Infinity, (signal) => unlessAborted(signal, checkAgain), rules),
    ({ close }) => close(),
  )
}
