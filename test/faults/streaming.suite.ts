/**
 * Log streams while the facts-writer and the role that sends are killed, and everything around them breaks: a consumer of the
 * webhook and one of the bucket that tell records by their IDs hold every record of Logs once, in order.
 */

import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { expect } from 'chai'

import { encodeRecord } from '../../domain/records.ts'
import { testCertificate } from '../../fixtures/engines/certificate.ts'
import type { Engines } from '../../fixtures/engines/engines.ts'
import { startS3, versitygwProgram, type S3Server } from '../../fixtures/engines/versitygw.ts'
import { until } from '../../fixtures/until.ts'
import { LogUnavailable, type EventLog } from '../../ports/event-log/event-log.ts'
import { kafkaEventLog } from '../../ports/event-log/kafka/kafka.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { SPOOL_LOG_OPTIONS, spooledEventLog, type SpooledEventLog } from '../../ports/event-log/spool/spooled.ts'
import { openTestEnvironment } from '../contract/lmdb-harness.ts'
import { attempt, deliveryRecord, requestRecord } from '../contract/fact-samples.ts'
import { diceOf } from '../chaos/dice.ts'
import { heldOnce, readBucket } from '../delivery/streams/bucket-consumer.ts'
import { Receiver, type Mood, type ReceivedRecord } from '../delivery/streams/receiver.ts'
import type { FaultParts } from './breaking.suite.ts'
import { watchedLink, type WatchedLink } from './watched-link.ts'

export const STREAMING_ORGANIZATION = 'streaming'
export const S3_HOST = 's3.acme.dev'

/** Of a child. */
const WRITER_POINTS = ['before facts are stored', 'before their position is kept'] as const
const SENDER_POINTS = ['before a plan is stored', 'after a plan is stored', 'before a batch is stored as done'] as const
export type KillPoint = (typeof WRITER_POINTS)[number] | (typeof SENDER_POINTS)[number]
/** What receives decides about these. */
const SENT_POINTS = ['after a batch arrived', 'while an object is written'] as const
type Kill = KillPoint | (typeof SENT_POINTS)[number]
const KILLS = { 'facts-writer': WRITER_POINTS, streams: [...SENDER_POINTS, ...SENT_POINTS] } as const
type Role = keyof typeof KILLS

const MOODS = {
  'a receiver that fails': 503,
  'that hangs': 'hangs',
  'that redirects': 'redirects',
  'that is gone': 410,
}
const FAULTS = [
  'no fault',
  'FLUSHALL',
  'a silent broker',
  'a killed broker',
  'a late spool',
  'a bucket that is gone',
  ...(Object.keys(MOODS) as (keyof typeof MOODS)[]),
] as const
type Fault = (typeof FAULTS)[number]

export interface Places {
  readonly eventLog: string
  readonly hotState: string
  readonly facts: string
  readonly port: number
  readonly certPem: string
  readonly bucketPort: number
  readonly bucketPem: string
  readonly bucket: string
  /** How often the streams have been edited. */
  readonly edits: number
}
export interface ChildMessage {
  readonly point?: KillPoint
  readonly edits?: number
}

const CYCLES = Number(process.env['WHENCE_CRASH_CYCLES'] ?? 10)
const SEED = Number(process.env['WHENCE_CRASH_SEED'] ?? 17)
const RECORDS = 60
const SPOOLED_MS = 2 * 3_600_000
const SILENCE_MS = 1_500
const STOPPING_MS = 300
/** Of an append that meets a silent broker: half of it later the records are in the spool. */
const SPOOL_DEADLINE_MS = 1_000
const LOOK_EVERY_MS = 250
const BUILD_MS = 700_000
/** Failures in a row, from several faults: a few more, and the next try is an hour away. */
const SELDOM_TRIED = 3
/** Of one append, each after its deadline: no single fault lasts as long as more of them. */
const MOST_REFUSALS = 5
const PROGRESS_EVERY = 25
/** The first belongs to the TLS handshake; when the second one comes the object is on its way, or written. */
const PIECE_OF_OBJECT = 2
const BUCKET = 'acme-logs'
const CHILD = new URL('streaming.child.ts', import.meta.url).pathname

export function streamingThroughKills({ place }: FaultParts): void {
  describe('log streams whose writer and sender are killed', function () {
    this.timeout(180_000 + CYCLES * 20_000)
    const closers: (() => unknown)[] = []
    const children = new Map<Role, ChildProcess>()
    const appended: string[] = []
    const certificate = testCertificate([S3_HOST])
    let engines: Engines
    let eventLog: EventLog
    let spooled: SpooledEventLog
    let receiver: Receiver
    let s3: S3Server
    let toBucket: WatchedLink
    let folder: string
    let edits = 0
    let refused = 0

    before(async function () {
      this.timeout(BUILD_MS)
      const program = await versitygwProgram()
      if (program === null) return this.skip()
      s3 = await startS3(program, certificate)
      closers.push(() => s3.stop())
      toBucket = await watchedLink(s3.port)
      closers.push(() => toBucket.close())
      folder = await s3.bucket(BUCKET)
      engines = await place()
      closers.push(() => engines.stop())
      eventLog = await kafkaEventLog(engines.kafkaSettings)
      closers.push(() => eventLog.close())
      spooled = await openSpool()
      receiver = await Receiver.open()
      closers.push(() => receiver.close())
      await start('streams')
      // Registered: from now on the facts-writer keeps records for them.
      await until(async () => (await ids('SELECT DISTINCT stream AS id FROM stream_progress')).length === 2)
      await start('facts-writer')
    })
    after(async () => {
      for (const child of children.values()) child.kill('SIGKILL')
      for (const close of closers.toReversed()) await close()
    })

    const openSpool = async (): Promise<SpooledEventLog> => {
      const place = await mkdtemp(join(tmpdir(), 'whence-spool-'))
      const environment = await openTestEnvironment(place, Date.now)
      const spool = await lmdbEventLog(environment, SPOOL_LOG_OPTIONS)
      const log = await spooledEventLog(await kafkaEventLog(engines.kafkaSettings), spool, { maxBytes: 1e9 })
      closers.push(
        () => rm(place, { recursive: true }),
        () => environment.close(),
        () => log.close(),
      )
      return log
    }
    const start = async (role: Role): Promise<void> => {
      const { WHENCE_EVENT_LOG, WHENCE_HOT_STATE, WHENCE_FACTS } = engines.ownEnv
      const places: Places = {
        eventLog: WHENCE_EVENT_LOG,
        hotState: WHENCE_HOT_STATE,
        facts: WHENCE_FACTS,
        port: receiver.port,
        certPem: Receiver.certPem,
        bucketPort: toBucket.port,
        bucketPem: certificate.certPem,
        bucket: BUCKET,
        edits,
      }
      const child = fork(CHILD, [role, JSON.stringify(places)])
      children.set(role, child)
      await once(child, 'message')
    }
    const tell = (role: Role, message: ChildMessage): void => void children.get(role)?.send(message)
    /** What a person does about a receiver that refuses for good: it is tried again at once. */
    const edit = (): void => tell('streams', { edits: (edits += 1) })
    const rows = async <T>(sql: string): Promise<readonly T[]> =>
      (await engines.connection.query(sql, {}, { turn: 'report' })) as readonly T[]
    const ids = async (sql: string): Promise<readonly string[]> =>
      (await rows<{ readonly id: string }>(sql)).map(({ id }) => id)

    const append = async (log: EventLog = eventLog, ageMs = 0, deadlineMs = 30_000): Promise<void> => {
      const atMs = Date.now() - ageMs
      const mine = { organization: STREAMING_ORGANIZATION, website: 'acme', receivedAtMs: atMs }
      const requests = Array.from({ length: RECORDS }, () => requestRecord(mine))
      const sent = attempt({ startedAtMs: atMs })
      const delivery = deliveryRecord({ organization: STREAMING_ORGANIZATION, attempt: sent })
      appended.push(...requests.map(({ request }) => request.id), sent.attemptId)
      const entries = requests.map((record) => ({ key: record.request.id, value: encodeRecord(record) }))
      const attempts = [{ key: 'acme', value: encodeRecord(delivery) }]
      const limits = { deadlineMs, patienceMs: deadlineMs }
      await untilTaken(() => log.append('requests', entries, limits))
      await untilTaken(() => log.append('deliveries', attempts, limits))
    }
    /** What a client does that was not told `ok`: the same again, although it may have arrived. */
    const untilTaken = async (send: () => Promise<unknown>): Promise<void> => {
      for (let refusals = 0; ; refusals += 1) {
        try {
          await send()
          return
        } catch (error) {
          if (!(error instanceof LogUnavailable) || refusals === MOST_REFUSALS) throw error
          refused += 1
        }
      }
    }
    const silently = async (act: () => Promise<void>): Promise<void> => {
      engines.kafka.pause()
      // Its threads stop one after the other.
      await wait(STOPPING_MS)
      try {
        await act()
      } finally {
        engines.kafka.resume()
      }
    }
    const isSpoolEmpty = (): boolean => spooled.spool().entries === 0

    /** Breaks something while records come; it is well again when this resolves. */
    const breaks = async (fault: Fault): Promise<void> => {
      if (fault === 'FLUSHALL') engines.redis.cli('flushall')
      if (fault === 'a silent broker') {
        const appending = append()
        await silently(() => wait(SILENCE_MS))
        await appending
      }
      if (fault === 'a killed broker') {
        const appending = append()
        await engines.kafka.kill()
        await engines.kafka.restart()
        await appending
      }
      if (fault === 'a late spool') {
        await silently(async () => {
          await append(spooled, SPOOLED_MS, SPOOL_DEADLINE_MS)
          expect(spooled.spool().entries).to.be.above(RECORDS)
        })
        await until(isSpoolEmpty)
      }
    }
    /** Somebody's receiver refuses, and what it refused is planned; it takes everything again when this resolves. */
    const refuses = async (fault: Fault): Promise<void> => {
      if (fault in MOODS) {
        const asked = receiver.asked
        receiver.mood = MOODS[fault as keyof typeof MOODS] as Mood
        await append()
        await until(() => receiver.asked > asked)
        receiver.mood = 'takes'
        if (fault === 'that is gone' || (await failuresInARow()) >= SELDOM_TRIED) edit()
      }
      if (fault === 'a bucket that is gone') {
        await rename(folder, `${folder}-away`)
        await append()
        await until(async () => (await stateOf('acme-bucket', 'last_error')).includes('NoSuchBucket'))
        await rename(`${folder}-away`, folder)
        edit()
      }
    }
    /** Of the newest state of a stream; empty before there is one. */
    const stateOf = async (stream: string, value: string): Promise<string> => {
      const [last = ''] = await ids(
        `SELECT ${value} AS id FROM stream_progress WHERE stream = 'default/${stream}' ORDER BY row_version DESC LIMIT 1`,
      )
      return last
    }
    const failuresInARow = async (): Promise<number> =>
      Number(await stateOf('acme-logs', "toString(JSONExtractUInt(progress, 'failures'))"))
    const kill = async (role: Role, at: Kill, fault: Fault): Promise<void> => {
      const child = children.get(role)
      if (child === undefined) throw new Error(`${role} does not run`)
      await refuses(fault)
      const died = once(child, 'exit')
      const die = (): void => void child.kill('SIGKILL')
      if (at === 'after a batch arrived') receiver.onBatch = die
      else if (at === 'while an object is written') toBucket.onPiece = (piece) => piece === PIECE_OF_OBJECT && die()
      else tell(role, { point: at })
      await append()
      await breaks(fault)
      expect(await died, at).to.deep.equal([null, 'SIGKILL'])
      receiver.onBatch = toBucket.onPiece = () => undefined
      await start(role)
    }
    /** All faults and all points come equally often, in an order that the seed decides. */
    const dealer = <T>(cards: readonly T[]): (() => T) => {
      let deck: T[] = []
      return () => {
        if (deck.length === 0) deck = dice.shuffled(cards)
        return deck.shift() as T
      }
    }
    const dice = diceOf(SEED)
    /** In each lane, IDs by the offsets at which they came first. */
    const expectOrder = (held: readonly ReceivedRecord[], lanes: ReadonlyMap<string, readonly string[]>): void => {
      const at = new Map(held.map(({ id }, index) => [id, index]))
      for (const [lane, own] of lanes) {
        const places = own.map((id) => at.get(id) ?? -1)
        expect(places, lane).to.deep.equal(places.toSorted((a, b) => a - b))
      }
    }
    const lanesOfLog = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
      const found = await rows<{ readonly lane: string; readonly id: string }>(
        `SELECT lane, id, min(log_offset) AS first FROM
          (SELECT lane, first_offset + above AS log_offset, id
          FROM stream_pointers ARRAY JOIN offsets AS above, splitByChar(',', ids) AS id
          WHERE organization = '${STREAMING_ORGANIZATION}')
        GROUP BY lane, id ORDER BY lane, first LIMIT 1000000`,
      )
      const byLane = Map.groupBy(found, ({ lane }) => lane)
      return new Map([...byLane].map(([lane, own]) => [lane, own.map(({ id }) => id)]))
    }
    const hasAll = (records: readonly ReceivedRecord[]): boolean =>
      new Set(records.map(({ id }) => id)).size >= appended.length

    it(`hold every record of Logs once, in the order of its lane, after ${CYCLES} kills, while engines and receivers fail`, async () => {
      const points = { 'facts-writer': dealer<Kill>(KILLS['facts-writer']), streams: dealer<Kill>(KILLS.streams) }
      const nextFault = dealer(FAULTS)
      const counts = new Map<string, number>()
      for (let cycle = 0; cycle < CYCLES; cycle += 1) {
        const role = cycle % 2 === 0 ? 'facts-writer' : 'streams'
        const point = points[role]()
        const fault = nextFault()
        await kill(role, point, fault)
        for (const each of [point, fault]) counts.set(each, (counts.get(each) ?? 0) + 1)
        if ((cycle + 1) % PROGRESS_EVERY === 0) console.log(`        ${cycle + 1} of ${CYCLES} kills`)
      }
      await append()
      while (!hasAll(receiver.records) || !hasAll((await readBucket(folder)).records)) await wait(LOOK_EVERY_MS)
      const inLogs = await ids(
        'SELECT id FROM request_logs FINAL UNION ALL SELECT attempt_id AS id FROM attempts FINAL',
      )
      expect(inLogs.toSorted(), 'Logs').to.deep.equal(appended.toSorted())
      const bucket = await readBucket(folder)
      const lanes = await lanesOfLog()
      for (const records of [receiver.records, bucket.records]) {
        const held = heldOnce(records)
        expect(held.map(({ id }) => id).toSorted()).to.deep.equal(inLogs.toSorted())
        expect(
          held.filter(({ type }) => type !== undefined),
          'nothing was dropped',
        ).to.deep.equal([])
        expectOrder(held, lanes)
      }
      for (const [id, bodies] of receiver.bodies) expect(new Set(bodies).size, id).to.equal(1)
      expect(receiver.faults).to.deep.equal([])
      const again = [receiver.records, bucket.records].map((records) => records.length - appended.length)
      console.log(`        ${[...counts].map(([what, times]) => `${times} ${what}`).join(', ')}`)
      console.log(
        `        ${appended.length} records, ${receiver.ids.length} batches with ${again[0]} records again, ${bucket.objects} objects with ${again[1]} again, ${edits} edits, ${refused} appends sent again`,
      )
    })
  })
}
