/** A spool in front of a real broker that stops and returns: within the port, and in an api that starts while Kafka is unreachable. */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { kafkaEventLog, checkKafkaTopics } from '../../ports/event-log/kafka/kafka.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import { parseKafkaUrl, type KafkaSettings } from '../../ports/event-log/kafka/url.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { SPOOL_LOG_OPTIONS, spooledEventLog, type SpooledEventLog } from '../../ports/event-log/spool/spooled.ts'
import { openLmdb } from '../../ports/shared/lmdb/environment.ts'
import { kafkaJars, startKafka, type KafkaBroker } from '../../fixtures/engines/kafka.ts'
import { startProgram, type Program } from '../../fixtures/service/programs.ts'
import { post, visitBody } from '../../fixtures/service/requests.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { MANIFESTS, TEST_ORIGIN, TEST_SECRET } from '../../fixtures/service/service.ts'
import { until } from '../../fixtures/until.ts'

describe('a spool in front of a real broker', function () {
  this.timeout(180_000)
  let broker: KafkaBroker
  let folder: string

  before(async function () {
    this.timeout(400_000)
    const jars = await kafkaJars()
    if (jars === null) return this.skip()
    folder = await mkdtemp(join(tmpdir(), 'whence-spool-'))
    broker = await startKafka(jars)
  })
  after(async () => {
    await broker?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it('answers every append through an outage and a restart, and all of them reach Kafka in order', async () => {
    const settings = settingsOf(urlOf(broker, 'port.'))
    await checkKafkaTopics(settings, { create: 'all', topics: ['visits'] })
    const open = async (): Promise<{ log: SpooledEventLog; close(): Promise<void> }> => {
      const environment = await openLmdb(join(folder, 'port'), { nowMs: Date.now, onFatal: fail, minFreeBytes: 0 })
      const spool = await lmdbEventLog(environment, SPOOL_LOG_OPTIONS)
      const log = await spooledEventLog(await kafkaEventLog(settings), spool, {
        maxBytes: 1e9,
        closing: { stalledMs: 100 },
      })
      return { log, close: () => log.close().then(() => environment.close()) }
    }
    let opened = await open()
    let next = 0
    const appendSome = async (count: number): Promise<void> => {
      for (let each = 0; each < count; each++, next++) {
        await opened.log.append(
          'visits',
          numbers(5).map((key) => ({ key: `${key}`, value: `${next}` })),
        )
      }
    }
    await appendSome(20)
    await broker.kill()
    await appendSome(50)
    expect(opened.log.spool().entries).to.equal(250)
    await opened.close()
    opened = await open()
    await appendSome(50)
    expect(opened.log.spool().entries).to.equal(500)
    await broker.restart()
    while (opened.log.spool().entries > 0) await appendSome(1)
    await appendSome(5)
    const seen = new Map<string, string[]>()
    await opened.log.consume(
      'visits',
      'g',
      async ({ entries }) => {
        for (const { key, value } of entries) {
          const ofKey = seen.get(key) ?? []
          // Entries that Kafka stored without acknowledging come again; the first offset counts.
          if (!ofKey.includes(value)) seen.set(key, [...ofKey, value])
        }
      },
      { maxEntries: 1_000 },
    )
    await until(() => numbers(5).every((key) => seen.get(`${key}`)?.includes(`${next - 1}`) === true))
    await opened.close()
    for (const key of numbers(5)) expect(seen.get(`${key}`)).to.deep.equal(numbers(next).map(String))
  })

  it('lets an api start and answer while Kafka is unreachable, and gives Kafka everything before it ends', async () => {
    const url = urlOf(broker, 'api.')
    await checkKafkaTopics(settingsOf(url), { create: 'needed' })
    const manifests = join(folder, 'manifests')
    await mkdir(manifests)
    for (const [name, text] of Object.entries(MANIFESTS)) await writeFile(join(manifests, name), text)
    const start = async (): Promise<Program & { readonly url: string; readonly metricsAt: string }> => {
      const port = await freePort()
      const metricsAt = `127.0.0.1:${await freePort()}`
      const program = startProgram(['api', '--listen', `127.0.0.1:${port}`], {
        env: {
          WHENCE_EVENT_LOG: url,
          // Neither is running: collection works without them.
          WHENCE_HOT_STATE: `redis://127.0.0.1:${await freePort()}`,
          WHENCE_FACTS: `http://127.0.0.1:${await freePort()}/whence`,
          WHENCE_MANIFESTS: manifests,
          WHENCE_METRICS_LISTEN: metricsAt,
          WHENCE_SECRET: TEST_SECRET,
          WHENCE_SPOOL: join(folder, 'api'),
        },
      })
      await program.ready
      return { ...program, url: `http://127.0.0.1:${port}`, metricsAt }
    }
    const visit = async (api: { readonly url: string }): Promise<void> => {
      const { status, body } = await post(`${api.url}/v1/visits`, visitBody(), TEST_ORIGIN)
      expect(status, JSON.stringify(body)).to.be.within(200, 201)
    }
    const statusOf = async ({ metricsAt }: { readonly metricsAt: string }): Promise<{ spool: { entries: number } }> =>
      (await (await fetch(`http://${metricsAt}/status`)).json()) as { spool: { entries: number } }

    await broker.kill()
    let api = await start()
    for (let each = 0; each < 5; each++) await visit(api)
    expect((await statusOf(api)).spool).to.deep.include({ entries: 5, maxBytes: 1_000_000_000 })
    expect(await api.end('SIGKILL')).to.equal('SIGKILL')
    api = await start()
    expect((await statusOf(api)).spool.entries).to.equal(5)
    await visit(api)
    await broker.restart()
    expect(await api.end('SIGTERM')).to.equal(0)

    const log = await kafkaEventLog(settingsOf(url))
    const stored = await readAll(log, 6)
    await log.close()
    expect(stored).to.equal(6)
  })
})

function urlOf(broker: KafkaBroker, prefix: string): string {
  return `kafka://${broker.plain}?replication=1&min-in-sync=1&partitions=4&prefix=${prefix}`
}

function settingsOf(url: string): KafkaSettings {
  const parsed = parseKafkaUrl(url)
  if (!parsed.ok) throw new Error(parsed.why)
  return parsed.value
}

/** A failure that no test caused is an error. */
function fail(error: Error): void {
  setImmediate(() => {
    throw error
  })
}

/** Distinct visits on the log: what Kafka took without an answer is there twice. */
async function readAll(log: EventLog, wanted: number): Promise<number> {
  const keys = new Set<string>()
  const consumer = await log.consume(
    'visits',
    'g',
    async ({ entries }) => {
      for (const { key } of entries) keys.add(key)
    },
    { maxEntries: 100 },
  )
  await until(() => keys.size >= wanted)
  await consumer.close()
  return keys.size
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}
