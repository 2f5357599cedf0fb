/** EventLog on a real Kafka broker: the contract, and what only a broker can do to it. */

import { expect } from 'chai'
import kafkajs from 'kafkajs'

import { TIER_NAMES } from '../../domain/records.ts'
import type { BatchOutcome, Entry, EventLog } from '../../ports/event-log/event-log.ts'
import { LogUnavailable } from '../../ports/event-log/event-log.ts'
import { kafkaClient } from '../../ports/event-log/kafka/client.ts'
import { checkKafkaTopics, requireSafeTopics, UnsafeTopics } from '../../ports/event-log/kafka/kafka.ts'
import type { KafkaSettings } from '../../ports/event-log/kafka/url.ts'
import { parseKafkaUrl } from '../../ports/event-log/kafka/url.ts'
import type { KafkaBroker } from '../../fixtures/engines/kafka.ts'
import { KAFKA_USER, kafkaJars, startKafka } from '../../fixtures/engines/kafka.ts'

import { eventLogContract } from './event-log.contract.ts'
import { createTopics, kafkaHarness, kafkaSettings, openKafka } from './kafka-harness.ts'
import { until } from '../../fixtures/until.ts'

/** Of Kafka's protocol: a setting that the topic itself has. */
const TOPIC_CONFIG = 1
const FOUR_PARTITIONS = 'partitions=4&replication=1'

describe('Kafka', function () {
  this.timeout(60_000)
  let broker: KafkaBroker
  let logs: EventLog[] = []

  before(async function () {
    this.timeout(400_000)
    const jars = await kafkaJars()
    if (jars === null) return this.skip()
    broker = await startKafka(jars)
  })
  after(async () => {
    await broker?.stop()
  })
  afterEach(async () => {
    broker.resume()
    await Promise.all(logs.map((log) => log.close()))
    logs = []
  })

  const opened: typeof openKafka = async (settings, options) => {
    const log = await openKafka(settings, options)
    logs.push(log)
    return log
  }
  const created = async (query: string): Promise<KafkaSettings> => {
    const settings = kafkaSettings(broker, query)
    await createTopics(settings, ['visits'])
    return settings
  }

  eventLogContract('Kafka', (bounds = {}) => kafkaHarness(broker, bounds))

  describe('several partitions', () => {
    it('keep 20 concurrent appends at 20 places, and a key in its partition', async () => {
      const settings = await created(FOUR_PARTITIONS)
      const log = await opened(settings)
      await Promise.all(numbers(20).map((number) => log.append('visits', [{ key: `k${number}`, value: 'first' }])))
      const again = await opened(settings)
      await Promise.all(numbers(20).map((number) => again.append('visits', [{ key: `k${number}`, value: 'again' }])))
      const places = new Map<string, Set<number>>()
      const offsets = new Set<string>()
      await log.consume(
        'visits',
        'g',
        async ({ partition, entries }) => {
          for (const { key, offset } of entries) {
            places.set(key, (places.get(key) ?? new Set()).add(partition))
            offsets.add(`${partition}/${offset}`)
          }
        },
        { maxEntries: 7 },
      )
      await until(() => offsets.size === 40)
      expect([...places.values()].map(({ size }) => size)).to.deep.equal(numbers(20).map(() => 1))
      expect(new Set([...places.values()].flatMap((partitions) => [...partitions])).size).to.be.greaterThan(1)
    })

    it('are read page by page without leaving anything out', async () => {
      const log = await opened(await created(FOUR_PARTITIONS))
      await log.append('visits', numbers(30).map(numbered))
      const seen: string[] = []
      let from = 0
      for (let page = await log.read('visits', from, 6); page.length > 0; page = await log.read('visits', from, 6)) {
        seen.push(...page.map(({ value }) => value))
        from = (page.at(-1)?.offset ?? 0) + 1
      }
      expect(seen.toSorted()).to.deep.equal(numbers(30).map(String).toSorted())
      const again = await Promise.all([log.read('visits', 0, 1_000), log.read('visits', 3, 1_000)])
      const ofOffset = again.map((page) => page.filter(({ offset }) => offset >= 3).map(({ value }) => value))
      expect(ofOffset[1]).to.deep.equal(ofOffset[0])
      expect(again[0]).to.have.length(30)
    })

    it('each give their newest entries', async () => {
      const log = await opened(await created(FOUR_PARTITIONS))
      await log.append('visits', numbers(400).map(numbered))
      // Of one key, so that one partition has more than the others.
      await log.append(
        'visits',
        numbers(1_500).map((number) => ({ key: 'one', value: `of one ${number}` })),
      )
      const all: string[] = []
      for await (const page of log.readLast('visits', { entries: 100_000 })) all.push(...page.map(({ value }) => value))
      expect(new Set(all).size).to.equal(1_900)
      expect(all.filter((value) => value.startsWith('of one'))).to.deep.equal(numbers(1_500).map((n) => `of one ${n}`))
      const few: string[] = []
      for await (const page of log.readLast('visits', { entries: 3 })) few.push(...page.map(({ value }) => value))
      expect(few).to.have.length(12)
      expect(few).to.include.members(['of one 1497', 'of one 1498', 'of one 1499'])
    })

    it('are held one by one: a partition that waits keeps no other from going on', async () => {
      const log = await opened(await created(FOUR_PARTITIONS))
      let heldPartition = -1
      const seen = new Set<string>()
      const consumer = await log.consume(
        'visits',
        'g',
        async ({ partition, entries }): Promise<BatchOutcome | void> => {
          if (heldPartition === -1) heldPartition = partition
          if (partition === heldPartition) return { done: 0, resumeAtMs: Date.now() + 60_000 }
          for (const { value } of entries) seen.add(value)
        },
        { maxEntries: 1 },
      )
      await log.append('visits', numbers(40).map(numbered))
      await until(async () => seen.size + (await log.lag()).reduce((sum, { entries }) => sum + entries, 0) === 40)
      expect(seen.size).to.be.within(1, 39)
      await consumer.close()
    })
  })

  describe('batches', () => {
    it('carry one call of many megabytes in parts that the broker takes, in order', async () => {
      const log = await opened(await created('partitions=1&replication=1'))
      const entries = numbers(60).map((number) => ({ key: 'same', value: `${number}:`.padEnd(100_000, 'x') }))
      await log.append('visits', entries, { deadlineMs: 20_000 })
      const stored = await log.read('visits', 0, 100)
      expect(stored.map(({ value }) => value.slice(0, 4))).to.deep.equal(entries.map(({ value }) => value.slice(0, 4)))
    })

    it('refuse an entry that no broker would take, and nothing else with it', async () => {
      const log = await opened(await created('partitions=1&replication=1'))
      const tooLarge = rejection(log.append('visits', [{ key: 'k', value: 'x'.repeat(1024 * 1024) }]))
      await log.append('visits', [{ key: 'k', value: 'fits' }])
      expect(await tooLarge).to.be.instanceOf(RangeError)
    })

    it('are refused if the topic is missing', async () => {
      const log = await opened(kafkaSettings(broker))
      expect(await rejection(log.append('visits', [{ key: 'k', value: 'v' }]))).to.be.instanceOf(LogUnavailable)
      expect(log.health().isAccepting).to.equal(false)
    })
  })

  describe('a broker that hangs', () => {
    it('stores nothing, has every append answered meanwhile, and takes new ones afterwards', async () => {
      const log = await opened(await created(FOUR_PARTITIONS), { bounds: { maxBytes: 100_000 } })
      await log.append('visits', [numbered(0)])
      broker.pause()
      const outcomes: unknown[] = []
      for (let round = 0; round < 10; round++) {
        const appends = numbers(100).map((number) =>
          rejection(log.append('visits', [{ key: `${number}`, value: 'x'.repeat(2_000) }], { deadlineMs: 250 })),
        )
        expect(log.health().queuedBytes).to.be.at.most(100_000)
        outcomes.push(...(await Promise.all(appends)))
      }
      await until(() => !log.health().isAccepting)
      broker.resume()
      expect(outcomes.filter((outcome) => !(outcome instanceof LogUnavailable))).to.deep.equal([])
      await until(async () => (await rejection(log.append('visits', [numbered(1)]))) === null)
      expect(log.health().isAccepting).to.equal(true)
    })

    it('recreates a silent consumer, which continues at its position', async () => {
      const failures: string[] = []
      const log = await opened(await created(FOUR_PARTITIONS), {
        watchdog: { stalledMs: 600 },
        listener: { onHandlerFailure: (error) => void failures.push(String(error)) },
      })
      const seen = new Set<string>()
      const handler = async ({ entries }: { entries: readonly Entry[] }): Promise<void> => {
        for (const { value } of entries) seen.add(value)
      }
      await log.consume('visits', 'g', handler, { maxEntries: 10 })
      await log.append('visits', numbers(20).map(numbered))
      await until(() => seen.size === 20)
      broker.pause()
      await until(() => failures.some((failure) => failure.includes('nothing was fetched')))
      broker.resume()
      await until(async () => (await rejection(log.append('visits', [numbered(20)]))) === null)
      await until(() => seen.size === 21)
      await until(async () => (await log.lag()).every(({ entries }) => entries === 0))
    })
  })

  describe('a rebalance in the middle of a batch', () => {
    it('loses nothing and ends with everything committed', async () => {
      const settings = await created(FOUR_PARTITIONS)
      const [left, right] = await Promise.all([opened(settings), opened(settings)])
      const seen = new Set<string>()
      const finish = Promise.withResolvers<void>()
      let inHand = 0
      let isFirst = true
      const slow = async ({ entries }: { entries: readonly Entry[] }): Promise<void> => {
        inHand++
        if (isFirst) await finish.promise
        for (const { value } of entries) seen.add(value)
      }
      await left.consume('visits', 'g', slow, { maxEntries: 10 })
      await left.append('visits', numbers(200).map(numbered))
      await until(() => inHand >= 2)
      const other = new Set<string>()
      const quick = async ({ entries }: { entries: readonly Entry[] }): Promise<void> => {
        for (const { value } of entries) other.add(value)
      }
      const consumer = await right.consume('visits', 'g', quick, { maxEntries: 10 })
      isFirst = false
      finish.resolve()
      await left.append('visits', numbers(400).slice(200).map(numbered))
      await until(() => new Set([...seen, ...other]).size === 400)
      expect(other.size).to.be.greaterThan(0)
      await consumer.close()
      await left.append('visits', numbers(420).slice(400).map(numbered))
      await until(() => new Set([...seen, ...other]).size === 420)
      await until(async () => (await left.lag()).every(({ entries }) => entries === 0))
    })

    it('loses nothing when members come and go while entries arrive', async () => {
      const settings = await created(FOUR_PARTITIONS)
      const log = await opened(settings)
      const seen = new Set<string>()
      const join = async (): Promise<{ close(): Promise<void> }> =>
        log.consume(
          'visits',
          'g',
          async ({ entries }) => {
            await new Promise((resolve) => setTimeout(resolve, 3))
            for (const { value } of entries) seen.add(value)
          },
          { maxEntries: 5 },
        )
      await join()
      let count = 0
      let isOver = false
      const writing = (async () => {
        while (!isOver)
          await log.append(
            'visits',
            numbers(5).map(() => numbered(count++)),
            { deadlineMs: 5_000 },
          )
      })()
      for (let round = 0; round < 3; round++) {
        const member = await join()
        const before = seen.size
        await until(() => seen.size > before)
        await member.close()
      }
      isOver = true
      await writing
      await until(() => seen.size === count)
    })
  })

  describe('topics', () => {
    it('are made once, safe, and then found so', async () => {
      const settings = kafkaSettings(broker, 'partitions=2&replication=1')
      const first = await checkKafkaTopics(settings, { create: 'all' })
      expect(first.created.length).to.be.greaterThan(50)
      const second = await checkKafkaTopics(settings, { create: 'all' })
      expect(second).to.deep.equal({ created: [], problems: [] })
      expect(await requireSafeTopics(settings)).to.deep.equal([])
    })

    it('have the partitions of their group, and are sent no setting that is Kafka\u2019s own', async () => {
      const settings = kafkaSettings(broker, 'replication=1&partitions-records=5')
      await checkKafkaTopics(settings, { create: 'needed' })
      const [visits, waiting, dead] = ['visits', 'dispatch.5s', 'dead-letters'].map(
        (topic) => `${settings.prefix}${topic}`,
      )
      const admin = kafkaClient(settings, { requestMs: 10_000 }).admin()
      const { topics } = await admin.fetchTopicMetadata({ topics: [visits!, waiting!] })
      const partitionsOf = (name: string | undefined) => topics.find((each) => each.name === name)?.partitions.length
      expect([partitionsOf(visits), partitionsOf(waiting)]).to.deep.equal([5, 3])
      const setOf = async (name: string): Promise<readonly string[]> => {
        const resources = [{ type: kafkajs.ConfigResourceTypes.TOPIC, name }]
        const { resources: found } = await admin.describeConfigs({ includeSynonyms: false, resources })
        const isOwn = ({ configSource }: { readonly configSource: unknown }): boolean => configSource === TOPIC_CONFIG
        return found.flatMap(({ configEntries }) => configEntries.filter(isOwn).map(({ configName }) => configName))
      }
      expect(await setOf(visits!)).to.deep.equal([])
      expect(await setOf(dead!)).to.deep.equal(['retention.ms'])
      await admin.disconnect()
    })

    it('of providers, webhooks and mail exist once something needs them, all of a kind together', async () => {
      const settings = kafkaSettings(broker, 'replication=1')
      const { created } = await checkKafkaTopics(settings, { create: 'needed' })
      expect(created.filter((name) => /deliver\.|webhooks|mail/.test(name))).to.deep.equal([])
      expect(await requireSafeTopics(settings)).to.deep.equal([])
      const log = await opened(settings)
      await log.append('deliver.meta', [numbered(1)])
      const admin = kafkaClient(settings, { requestMs: 10_000 }).admin()
      const there = (await admin.listTopics()).filter((name) => name.startsWith(`${settings.prefix}deliver.`))
      await admin.disconnect()
      expect(there).to.have.length(1 + TIER_NAMES.length)
      expect(there.every((name) => name.startsWith(`${settings.prefix}deliver.meta`))).to.equal(true)
      expect(await requireSafeTopics(settings)).to.deep.equal([])
    })

    it('bring everything to a consumer that was there first, however many processes make them', async () => {
      const settings = kafkaSettings(broker, 'replication=1&partitions=2')
      await checkKafkaTopics(settings, { create: 'needed' })
      const seen: string[] = []
      const early = await opened(settings)
      const consumer = await early.consume(
        'deliver.x',
        'deliver.x',
        async ({ entries }) => void seen.push(...entries.map(({ value }) => value)),
        { maxEntries: 10 },
      )
      const writers = await Promise.all(numbers(3).map(() => opened(settings)))
      await Promise.all(writers.map((log, number) => log.append('deliver.x', [numbered(number)])))
      await Promise.all([writers[0]?.prepare?.('deliver.x'), early.append('deliver.x', [numbered(3)])])
      await until(() => seen.length >= 4)
      expect(seen.toSorted()).to.deep.equal(numbers(4).map(String))
      await consumer.close()
      const idle = await early.consume('webhooks', 'webhooks', async () => undefined, { maxEntries: 1 })
      await idle.rewind(0)
      await idle.close()
    })

    it('are completed by the next release if it has more of a kind', async () => {
      const settings = kafkaSettings(broker, 'replication=1&partitions=1')
      await createTopics(settings, ['deliver.ga4'])
      const { created } = await checkKafkaTopics(settings, { create: 'needed' })
      expect(created).to.include(`${settings.prefix}deliver.ga4.5s`)
      expect(created).to.not.include(`${settings.prefix}deliver.x`)
    })

    it('that a cluster makes unsafe by its own defaults are reported when they are made', async () => {
      const settings = kafkaSettings(broker, 'replication=1&partitions=1')
      const admin = kafkaClient(settings, { requestMs: 10_000 }).admin()
      const { brokers } = await admin.describeCluster()
      const resource = { type: kafkajs.ConfigResourceTypes.BROKER, name: String(brokers[0]?.nodeId) }
      const withDefault = async (value: string): Promise<void> => {
        await admin.alterConfigs({
          validateOnly: false,
          resources: [{ ...resource, configEntries: [{ name: 'log.retention.ms', value }] }],
        })
      }
      await withDefault('3600000')
      try {
        const { problems } = await checkKafkaTopics(settings, { create: 'all', topics: ['visits'] })
        expect(problems.map(({ message }) => message)).to.deep.equal(['has retention.ms 3600000 and needs 604800000'])
      } finally {
        await withDefault('604800000')
        await admin.disconnect()
      }
    })

    it('are refused while they are missing, even if unsafe ones are allowed', async () => {
      const settings = kafkaSettings(broker, 'replication=1&unsafe=allow')
      const refusal = await rejection(requireSafeTopics(settings, { topics: ['visits'] }))
      expect(refusal).to.be.instanceOf(UnsafeTopics)
      expect(String(refusal)).to.include('is missing')
    })

    it('are refused if they could lose what was acknowledged, unless that is allowed', async () => {
      const settings = kafkaSettings(broker, 'replication=1')
      const admin = kafkaClient(settings, { requestMs: 10_000 }).admin()
      const unsafe = {
        'retention.ms': '1000',
        'retention.bytes': '5000',
        'max.message.bytes': '1000',
        'unclean.leader.election.enable': 'true',
        'cleanup.policy': 'compact',
      }
      const configEntries = Object.entries(unsafe).map(([name, value]) => ({ name, value }))
      await admin.createTopics({
        topics: [{ topic: `${settings.prefix}visits`, configEntries }],
        waitForLeaders: false,
      })
      await until(async () => (await admin.listTopics()).includes(`${settings.prefix}visits`))
      await admin.disconnect()
      const demanding = { ...settings, layout: { ...settings.layout, replication: 3, minInSync: 2 } }
      const refusal = await rejection(requireSafeTopics(demanding, { topics: ['visits'] }))
      expect(refusal).to.be.instanceOf(UnsafeTopics)
      for (const word of [...Object.keys(unsafe), 'has 1 copies', 'min.insync.replicas']) {
        expect(String(refusal)).to.include(word)
      }
      const allowed = { ...demanding, layout: { ...demanding.layout, isUnsafeAllowed: true } }
      expect(await requireSafeTopics(allowed, { topics: ['visits'] })).to.have.length(7)
    })
  })

  describe('who is let in', () => {
    const password = encodeURIComponent(KAFKA_USER.password)
    const settingsOf = (url: string): KafkaSettings => {
      const parsed = parseKafkaUrl(url)
      if (!parsed.ok) throw new Error(parsed.why)
      return parsed.value
    }
    const roundTrip = async (settings: KafkaSettings): Promise<readonly string[]> => {
      await createTopics(settings, ['visits'])
      const log = await opened(settings)
      await log.append('visits', [numbered(7)])
      const values: string[] = []
      const handler = async ({ entries }: { entries: readonly Entry[] }): Promise<void> => {
        values.push(...entries.map(({ value }) => value))
      }
      await log.consume('visits', 'g', handler, { maxEntries: 1 })
      await until(() => values.length > 0)
      return values
    }

    for (const mechanism of ['plain', 'scram-sha-256', 'scram-sha-512']) {
      it(`is who knows the password, by ${mechanism}`, async () => {
        const query = `sasl=${mechanism}&replication=1&partitions=1&prefix=${mechanism}.`
        const values = await roundTrip(settingsOf(`kafka://alice:${password}@${broker.sasl}?${query}`))
        expect(values).to.deep.equal(['7'])
      })

      it(`is not who gets it wrong, by ${mechanism}`, async () => {
        const log = await opened(settingsOf(`kafka://alice:wrong@${broker.sasl}?sasl=${mechanism}&replication=1`))
        expect(await rejection(log.append('visits', [numbered(0)]))).to.be.instanceOf(LogUnavailable)
      })
    }

    it('is served over TLS by a certificate that the given authority signed', async () => {
      const query = `tls=1&ca=${broker.caFile}&replication=1&partitions=1&prefix=tls.`
      expect(await roundTrip(settingsOf(`kafka://${broker.tls}?${query}`))).to.deep.equal(['7'])
    })

    it('does not talk over TLS to a broker with an untrusted certificate', async () => {
      const log = await opened(settingsOf(`kafka://${broker.tls}?tls=1&replication=1&prefix=tls.`))
      expect(await rejection(log.append('visits', [numbered(0)]))).to.be.instanceOf(LogUnavailable)
    })
  })

  describe('a broker that is killed and started again', () => {
    it('has everything that was acknowledged, and both sides go on by themselves', async function () {
      this.timeout(120_000)
      const settings = await created(FOUR_PARTITIONS)
      const log = await opened(settings)
      const seen = new Set<string>()
      const handler = async ({ entries }: { entries: readonly Entry[] }): Promise<void> => {
        for (const { value } of entries) seen.add(value)
      }
      await log.consume('visits', 'g', handler, { maxEntries: 50 })
      const acknowledged: string[] = []
      let next = 0
      let isOver = false
      const write = async (): Promise<void> => {
        while (!isOver) {
          const value = `${next++}`
          const refusal = await rejection(log.append('visits', [{ key: value, value }], { deadlineMs: 300 }))
          if (refusal === null) acknowledged.push(value)
          else expect(refusal).to.be.instanceOf(LogUnavailable)
        }
      }
      const writers = numbers(20).map(write)
      await until(() => acknowledged.length > 200)
      await broker.kill()
      const late = await opened(settings)
      expect(await rejection(late.append('visits', [numbered(-1)], { deadlineMs: 200 }))).to.be.instanceOf(
        LogUnavailable,
      )
      expect(await rejection(late.progress('visits', 'g'))).to.be.instanceOf(LogUnavailable)
      await broker.restart()
      const before = acknowledged.length
      await until(() => acknowledged.length > before + 200)
      isOver = true
      await Promise.all(writers)
      await late.append('visits', [numbered(-2)], { deadlineMs: 10_000 })
      await until(() => seen.has('-2') && acknowledged.every((value) => seen.has(value)))
      const stored = new Set((await log.read('visits', 0, 1_000_000)).map(({ value }) => value))
      expect(acknowledged.filter((value) => !stored.has(value))).to.deep.equal([])
      // Its first request was sent while no broker answered.
      await until(async () => {
        const { done, ends } = await late.progress('visits', 'g')
        return done.join() === ends.join()
      })
    })
  })
})

function numbered(number: number): Entry {
  return { key: `acme:${number}`, value: `${number}` }
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  return null
}
