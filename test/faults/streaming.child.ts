/**
 * The facts-writer, or the role `streams` with a stream to a receiver of the test and one to a bucket, as a process that kills
 * itself at a point once it is told to. Usage: ROLE PLACES, as JSON; points come as messages, and so do edits of the streams.
 */

import { connect, type Socket } from 'node:net'

import { startFactsWriter } from '../../delivery/facts-writer/facts-writer.ts'
import { startStreams } from '../../delivery/streams/streams.ts'
import { logStreamKey, type Catalog, type LogStream, type CatalogOrganizations } from '../../domain/catalog.ts'
import { S3_KEYS, S3_REGION } from '../../fixtures/engines/versitygw.ts'
import { kafkaEventLog } from '../../ports/event-log/kafka/kafka.ts'
import { parseKafkaUrl } from '../../ports/event-log/kafka/url.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openClickHouse } from '../../ports/facts/engine/connect-server.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { redisHotState } from '../../ports/hot-state/redis/redis.ts'
import { createLogger } from '../../runtime/logger.ts'
import { SECRET, URL_OF_RECEIVER } from '../delivery/streams/receiver.ts'
import { STREAM } from '../delivery/streams/stage.ts'
import { S3_HOST, STREAMING_ORGANIZATION, type ChildMessage, type KillPoint, type Places } from './streaming.suite.ts'

const PUBLIC = '93.184.215.14'
/** A receiver that hangs is given up soon. */
const CALL_MS = 1_500
const OBJECT_MS = 30_000
const [role = '', json = ''] = process.argv.slice(2)
const places = JSON.parse(json) as Places
const parsed = parseKafkaUrl(places.eventLog)
if (!parsed.ok) throw new Error(parsed.why)
// Its place in the group is free soon after it is killed.
const eventLog = await kafkaEventLog(parsed.value, { membership: { sessionMs: 3_000, heartbeatMs: 500 } })
const facts = clickhouseFacts(openClickHouse(places.facts), { nowMs: Date.now })
const logger = createLogger({ program: 'test', level: 'fatal' })

let armed: KillPoint | null = null
let catalog = catalogAfter(places.edits)
process.on('message', ({ point, edits }: ChildMessage) => {
  if (point !== undefined) armed = point
  if (edits !== undefined) catalog = catalogAfter(edits)
})
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
    const isPlan = table === 'stream_progress' && JSON.stringify(rows).includes('\\"plan\\":{')
    await dieAt(isPlan ? 'before a plan is stored' : 'before a batch is stored as done')
    await facts.insert(table, rows)
    if (isPlan) await dieAt('after a plan is stored')
  },
}

/** Each edit gives the webhook another address and the bucket another prefix, as a person does whose receiver is gone. */
function catalogAfter(edits: number): CatalogOrganizations {
  const bucket = { endpoint: `https://${S3_HOST}`, region: S3_REGION, bucket: places.bucket }
  const own = { ...STREAM, flushSeconds: 2 }
  const streams: readonly LogStream[] = [
    { ...own, webhook: { url: `${URL_OF_RECEIVER}/${edits}` } },
    {
      ...own,
      id: 'default/acme-bucket',
      objectName: 'acme-bucket',
      webhook: null,
      s3: { ...bucket, prefix: `logs-${edits}`, addressing: 'Path', encryption: null },
    },
  ]
  const organization = { id: STREAMING_ORGANIZATION, logRetentionDays: 90, logStreams: streams }
  return { organizations: new Map([[organization.id, organization]]) as unknown as Catalog['organizations'] }
}

function dialTo(port: number): Socket {
  return Object.defineProperty(connect(port, '127.0.0.1'), 'remoteAddress', { value: PUBLIC })
}

if (role === 'facts-writer') {
  await startFactsWriter({ eventLog, facts: dying, logger, nowMs: Date.now })
} else {
  const keys = { 'access-key-id': S3_KEYS.accessKeyId, 'secret-access-key': S3_KEYS.secretAccessKey }
  const [webhook, bucket] = [...catalog.organizations.values()].flatMap(({ logStreams }) =>
    logStreams.map(logStreamKey),
  )
  const credentials = new Map<string, Readonly<Record<string, string>>>([
    [webhook ?? '', { secret: SECRET }],
    [bucket ?? '', keys],
  ])
  const resolve = async (): Promise<readonly string[]> => [PUBLIC]
  startStreams(
    {
      facts: dying,
      eventLog,
      telemetry: { logger },
      nowMs: Date.now,
      hotState: await redisHotState(places.hotState),
      catalog: { current: () => ({ ...catalog, number: 1 }), credentials: () => credentials },
    },
    {
      webhook: { resolve, callMs: CALL_MS, trustedPem: places.certPem, dial: () => dialTo(places.port) },
      bucket: { resolve, callMs: OBJECT_MS, trustedPem: places.bucketPem, dial: () => dialTo(places.bucketPort) },
    },
    // The same after a kill: nothing waits for its lease to end.
    process.env['OWNER'] ?? 'streams',
  )
}
process.send?.('started')
