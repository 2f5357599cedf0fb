/**
 * The role `webhooks`, with two webhooks to a receiver of the test, as a process that kills itself at a point once it is told to. Usage:
 * EVENT_LOG HOT_STATE PORT CERTIFICATE; points come as messages.
 */

import { connect } from 'node:net'

import { startWebhooks } from '../../delivery/webhooks/webhooks.ts'
import { webhookKey, type Catalog } from '../../domain/catalog.ts'
import { visitOf } from '../../fixtures/delivery/builders.ts'
import { FactsDouble } from '../../fixtures/delivery/facts-double.ts'
import { kafkaEventLog } from '../../ports/event-log/kafka/kafka.ts'
import { parseKafkaUrl } from '../../ports/event-log/kafka/url.ts'
import { redisHotState } from '../../ports/hot-state/redis/redis.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRandomness } from '../../runtime/random.ts'
import { SECRET } from '../delivery/webhooks/receiver.ts'
import { EVENTS_ORGANIZATION, WEBHOOKS, type WebhookKillPoint } from './webhooks.suite.ts'

const PUBLIC = '93.184.215.14'
const [eventLogUrl = '', hotStateUrl = '', port = '', certificate = ''] = process.argv.slice(2)
const parsed = parseKafkaUrl(eventLogUrl)
if (!parsed.ok) throw new Error(parsed.why)
// Its place in the group is free soon after it is killed.
const eventLog = await kafkaEventLog(parsed.value, { membership: { sessionMs: 3_000, heartbeatMs: 500 } })

let armed: WebhookKillPoint | null = null
process.on('message', (point: WebhookKillPoint) => void (armed = point))
const dieAt = async (point: WebhookKillPoint): Promise<void> => {
  if (armed !== point) return
  process.kill(process.pid, 'SIGKILL')
  await new Promise(() => undefined)
}

const STEPS = { webhooks: 'jobs', webhook_attempts: 'an attempt' } as const

const organization = { id: EVENTS_ORGANIZATION, plan: 'Enterprise', logRetentionDays: 90, webhooks: WEBHOOKS }
const organizations = new Map([[EVENTS_ORGANIZATION, organization]]) as unknown as Catalog['organizations']
const credentials = new Map(WEBHOOKS.map((each) => [webhookKey(each), { secret: SECRET }]))
const facts = new FactsDouble()
facts.anyVisit = visitOf({})
await startWebhooks(
  {
    eventLog: {
      consume: eventLog.consume.bind(eventLog),
      readLast: eventLog.readLast.bind(eventLog),
      append: async (topic, entries, options) => {
        const what = STEPS[topic as keyof typeof STEPS] as (typeof STEPS)[keyof typeof STEPS] | undefined
        if (what !== undefined) await dieAt(`before ${what} is kept`)
        const result = await eventLog.append(topic, entries, options)
        if (what !== undefined) await dieAt(`after ${what} is kept`)
        return result
      },
    },
    facts,
    telemetry: { logger: createLogger({ program: 'test', level: 'fatal' }) },
    nowMs: Date.now,
    randomness: createRandomness(),
    hotState: await redisHotState(hotStateUrl),
    catalog: { current: () => ({ organizations, number: 1 }), credentials: () => credentials },
  },
  {
    trustedPem: certificate,
    resolve: async () => [PUBLIC],
    dial: () => Object.defineProperty(connect(Number(port), '127.0.0.1'), 'remoteAddress', { value: PUBLIC }),
  },
)
process.send?.('started')
