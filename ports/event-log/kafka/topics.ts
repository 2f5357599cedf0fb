/** Sees to it that topics are there and keep what was acknowledged, before a process works on them. */

import { setTimeout as wait } from 'node:timers/promises'

import type { Topic } from '../../../domain/records.ts'

import { LogUnavailable } from '../event-log.ts'
import { kafkaClient, QUESTION_MS, unavailable } from './client.ts'
import type { KafkaSettings } from './url.ts'
import type { TopicProblem, TopicReport } from './topic-layout.ts'
import { ALL_TOPICS, ensureTopics } from './topic-layout.ts'

const CREATE_MS = 30_000
const CHECK_AGAIN_MS = 500

/**
 * Creates missing topics where `canCreate`, and says what is unsafe about those that are there; rejects with
 * `LogUnavailable` where Kafka does not answer or does not let this user in.
 */
export async function checkKafkaTopics(
  settings: KafkaSettings,
  { canCreate, topics = ALL_TOPICS }: { readonly canCreate: boolean; readonly topics?: readonly Topic[] },
): Promise<TopicReport> {
  const admin = kafkaClient(settings, { requestMs: canCreate ? CREATE_MS : QUESTION_MS }).admin()
  try {
    await admin.connect().catch((error: unknown) => {
      throw new NoBrokerAnswers('Kafka cannot be reached', { cause: error })
    })
    return await ensureTopics(admin, { prefix: settings.prefix, layout: settings.layout, topics, canCreate })
  } catch (error) {
    throw unavailable('the topics could not be checked', error)
  } finally {
    void admin.disconnect().catch(() => undefined)
  }
}

/** Not one of the brokers named lets this process in. */
class NoBrokerAnswers extends LogUnavailable {}

/** Settings of topics can lose what was acknowledged; `problems` says which. */
export class UnsafeTopics extends Error {
  override readonly name = 'UnsafeTopics'
  readonly problems: readonly TopicProblem[]

  constructor(problems: readonly TopicProblem[]) {
    super(problems.map(({ topic, message }) => `topic ${topic} ${message}`).join('; '))
    this.problems = problems
  }
}

export interface SafeTopicsOptions {
  readonly topics?: readonly Topic[]
  /** How long it is tried again while any broker answers, in ms: others may be away, or about to take over from them. */
  readonly forMs?: number
  /** Told of each try that failed and is followed by another one. */
  readonly onFailure?: (error: LogUnavailable) => void
}

/**
 * What a process calls before it takes work: throws `UnsafeTopics` where topics are missing, or unsafe and the URL does
 * not say `unsafe=allow`; with it, hands back what there is to warn of. `LogUnavailable` says that nothing is known.
 */
export async function requireSafeTopics(
  settings: KafkaSettings,
  { topics = ALL_TOPICS, forMs = 0, onFailure = () => undefined }: SafeTopicsOptions = {},
): Promise<readonly TopicProblem[]> {
  const endAtMs = performance.now() + forMs
  for (;;) {
    try {
      const { problems } = await checkKafkaTopics(settings, { canCreate: false, topics })
      const fatal = settings.layout.isUnsafeAllowed ? problems.filter(({ isMissing }) => isMissing) : problems
      if (fatal.length > 0) throw new UnsafeTopics(fatal)
      return problems
    } catch (error) {
      const isWorthATry = error instanceof LogUnavailable && !(error instanceof NoBrokerAnswers)
      if (!isWorthATry || performance.now() > endAtMs) throw error
      onFailure(error)
      await wait(CHECK_AGAIN_MS)
    }
  }
}
