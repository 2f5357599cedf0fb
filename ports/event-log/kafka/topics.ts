/** Makes sure that topics exist and keep what was acknowledged, before a process uses them. */

import { setTimeout as wait } from 'node:timers/promises'

import type { Topic } from '../../../domain/records.ts'

import { LogUnavailable } from '../event-log.ts'
import { kafkaClient, QUESTION_MS, logUnavailable } from './client.ts'
import type { KafkaSettings } from './url.ts'
import type { TopicCheck, TopicProblem, TopicReport } from './topic-layout.ts'
import { ensureTopics } from './topic-layout.ts'
import { ALL_TOPICS } from './topic-groups.ts'

const CREATE_MS = 30_000
const CHECK_AGAIN_MS = 500

/**
 * Creates missing topics as asked, and reports what is unsafe about those that are there. Rejects with `LogUnavailable`
 * if Kafka does not answer or refuses this user.
 */
export async function checkKafkaTopics(
  settings: KafkaSettings,
  { create, topics = ALL_TOPICS }: { readonly create: TopicCheck['create']; readonly topics?: readonly Topic[] },
): Promise<TopicReport> {
  const admin = kafkaClient(settings, { requestMs: create === 'nothing' ? QUESTION_MS : CREATE_MS }).admin()
  try {
    await admin.connect().catch((error: unknown) => {
      throw new NoBrokerAnswers('Kafka cannot be reached', { cause: error })
    })
    return await ensureTopics(admin, { prefix: settings.prefix, layout: settings.layout, topics, create })
  } catch (error) {
    throw logUnavailable('the topics could not be checked', error)
  } finally {
    void admin.disconnect().catch(() => undefined)
  }
}

/** None of the brokers can be reached. */
export class NoBrokerAnswers extends LogUnavailable {}

/** Topics have settings that can lose acknowledged entries; `problems` lists them. */
export class UnsafeTopics extends Error {
  override readonly name = 'UnsafeTopics'
  readonly problems: readonly TopicProblem[]

  constructor(problems: readonly TopicProblem[]) {
    super(problems.map(({ topic, message }) => `topic ${topic} ${message}`).join('; '))
    this.problems = problems
  }
}

interface SafeTopicsOptions {
  readonly topics?: readonly Topic[]
  /** How long to retry while any broker answers, in ms: others may be down, or about to take over. */
  readonly forMs?: number
  /** Called for each failed try that will be retried. */
  readonly onFailure?: (error: LogUnavailable) => void
}

/**
 * A process calls this before it takes work. Throws `UnsafeTopics` if topics are missing, or if they are unsafe and the
 * URL does not say `unsafe=allow`; with it, returns the problems as warnings. `LogUnavailable` means that nothing is
 * known.
 */
export async function requireSafeTopics(
  settings: KafkaSettings,
  { topics = ALL_TOPICS, forMs = 0, onFailure = () => undefined }: SafeTopicsOptions = {},
): Promise<readonly TopicProblem[]> {
  const endAtMs = performance.now() + forMs
  for (;;) {
    try {
      const { problems } = await checkKafkaTopics(settings, { create: 'nothing', topics })
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
