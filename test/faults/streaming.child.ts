/**
 * The facts-writer, or the role `streams` with one stream to a receiver of the test, as a process that kills itself at a
 * point once it is told to. Usage: ROLE EVENT_LOG HOT_STATE FACTS PORT CERTIFICATE; points come as messages.
 */

import { connect } from 'node:net'

import { startFactsWriter } from '../../delivery/facts-writer/facts-writer.ts'
import { startStreams } from '../../delivery/streams/streams.ts'
import type { Catalog } from '../../domain/catalog.ts'
import { kafkaEventLog } from '../../ports/event-log/kafka/kafka.ts'
import { parseKafkaUrl } from '../../ports/event-log/kafka/url.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openClickHouse } from '../../ports/facts/engine/connect-server.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { redisHotState } from '../../ports/hot-state/redis/redis.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRandomness } from '../../runtime/random.ts'
import { SECRET } from '../delivery/streams/receiver.ts'
import { STREAM } from '../delivery/streams/stage.ts'
import { STREAMING_ORGANIZATION, type KillPoint } from './streaming.suite.ts'

const PUBLIC = '93.184.215.14'
const [role = '', eventLogUrl = '', hotStateUrl = '', factsUrl = '', port = '', certificate = ''] =
  process.argv.slice(2)
const parsed = parseKafkaUrl(eventLogUrl)
if (!parsed.ok) throw new Error(parsed.why)
// Its place in the group is free soon after it is killed.
const eventLog = await kafkaEventLog(parsed.value, { sessionMs: 3_000, heartbeatMs: 500 })
const facts = clickhouseFacts(openClickHouse(factsUrl), { nowMs: Date.now })
const logger = createLogger({ program: 'test', level: 'fatal' })

let armed: KillPoint | null = null
process.on('message', (point: KillPoint) => void (armed = point))
const dieAt = async (point: KillPoint): Promise<void> => {
  if (armed !== point) return
  process.kill(process.pid, 'SIGKILL')
  await new Promise(() => undefined)
}

/** Kills around the inserts of a batch of facts, and of a stream's progress. */
const dying: Facts = {
  ...facts,
  startBatch: () => {
    const batch = facts.startBatch()
    const insert = async (): Promise<void> => {
      await dieAt('before facts are stored')
      await batch.insert()
      await dieAt('before their position is kept')
    }
    return Object.defineProperty({ add: batch.add.bind(batch), insert, chars: 0 }, 'chars', { get: () => batch.chars })
  },
  insert: async (table, rows) => {
    const isPlan = table === 'stream_progress' && JSON.stringify(rows).includes('\\"pointerPlan\\":{')
    await dieAt(isPlan ? 'before a plan is stored' : 'before a batch is stored as done')
    await facts.insert(table, rows)
    if (isPlan) await dieAt('after a plan is stored')
  },
}

if (role === 'facts-writer') {
  await startFactsWriter({ eventLog, facts: dying, logger, nowMs: Date.now })
} else {
  const organization = { id: STREAMING_ORGANIZATION, logRetentionDays: 90, logStreams: [STREAM] }
  const organizations = new Map([[STREAMING_ORGANIZATION, organization]]) as unknown as Catalog['organizations']
  const credentials = new Map([[`LogStream/${STREAM.id}`, { secret: SECRET }]])
  startStreams({
    ...{ facts: dying, eventLog, logger, nowMs: Date.now, randomness: createRandomness() },
    hotState: await redisHotState(hotStateUrl),
    // The same after a kill: nothing waits for its lease to end.
    owner: process.env['OWNER'] ?? 'streams',
    catalog: () => ({ organizations }),
    credentials: () => credentials,
    outbound: {
      trustedPem: certificate,
      resolve: async () => [PUBLIC],
      dial: () => Object.defineProperty(connect(Number(port), '127.0.0.1'), 'remoteAddress', { value: PUBLIC }),
    },
  })
}
process.send?.('started')
