/** Log streams while the facts-writer and the role that sends are killed: a consumer that dedupes by ID holds every record once, in order. */

import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'

import { expect } from 'chai'

import { encodeRecord } from '../../domain/records.ts'
import type { Engines } from '../../fixtures/engines/engines.ts'
import { until } from '../../fixtures/until.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import { kafkaEventLog } from '../../ports/event-log/kafka/kafka.ts'
import { attempt, deliveryRecord, requestRecord } from '../contract/fact-samples.ts'
import { diceOf } from '../chaos/dice.ts'
import { Receiver } from '../delivery/streams/receiver.ts'
import type { FaultParts } from './breaking.suite.ts'

export const STREAMING_ORGANIZATION = 'streaming'

const WRITER_POINTS = ['before facts are stored', 'before their position is kept'] as const
const SENDER_POINTS = [
  ...(['before a plan is stored', 'after a plan is stored', 'before a batch is stored as done'] as const),
]
/** Of a child; `after a batch arrived` is decided by the receiver. */
export type KillPoint = (typeof WRITER_POINTS)[number] | (typeof SENDER_POINTS)[number]
type Kill = KillPoint | 'after a batch arrived'
type Role = 'facts-writer' | 'streams'

const CYCLES = Number(process.env['WHENCE_CRASH_CYCLES'] ?? 5)
const SEED = Number(process.env['WHENCE_CRASH_SEED'] ?? 17)
const RECORDS = 60
const SPOOLED_MS = 2 * 3_600_000
const SILENCE_MS = 1_500
const CHILD = new URL('streaming.child.ts', import.meta.url).pathname

export function streamingThroughKills({ place }: FaultParts): void {
  describe('a log stream whose writer and sender are killed', function () {
    this.timeout(120_000 + CYCLES * 15_000)
    let engines: Engines
    let eventLog: EventLog
    let receiver: Receiver
    const children = new Map<Role, ChildProcess>()
    const appended: string[] = []

    before(async () => {
      engines = await place()
      eventLog = await kafkaEventLog(engines.kafkaSettings)
      receiver = await Receiver.open()
      await start('streams')
      // Registered: from now on the facts-writer keeps records for it.
      await until(async () => (await count('stream_progress')) > 0)
      await start('facts-writer')
    })
    after(async () => {
      for (const child of children.values()) child.kill('SIGKILL')
      await receiver?.close()
      await eventLog?.close()
      await engines?.stop()
    })

    const start = async (role: Role): Promise<void> => {
      const { WHENCE_EVENT_LOG, WHENCE_HOT_STATE, WHENCE_FACTS } = engines.ownEnv
      const words = [role, WHENCE_EVENT_LOG, WHENCE_HOT_STATE, WHENCE_FACTS, String(receiver.port), Receiver.certPem]
      const child = fork(CHILD, words)
      children.set(role, child)
      await once(child, 'message')
    }
    const query = (sql: string) => engines.connection.query(sql, {}, { turn: 'report' })
    const count = async (table: string): Promise<number> => {
      const [row] = (await query(`SELECT count() AS rows FROM ${table}`)) as readonly { readonly rows: string }[]
      return Number(row?.rows)
    }
    /** `ageMs`: how long they lay in a spool. */
    const append = async (ageMs = 0): Promise<void> => {
      const mine = { organization: STREAMING_ORGANIZATION, website: 'acme', receivedAtMs: Date.now() - ageMs }
      const requests = Array.from({ length: RECORDS }, () => requestRecord(mine))
      const sent = attempt({ startedAtMs: Date.now() - ageMs })
      const delivery = deliveryRecord({ organization: STREAMING_ORGANIZATION, attempt: sent })
      appended.push(...requests.map(({ request }) => request.id), sent.attemptId)
      const entries = requests.map((record) => ({ key: record.request.id, value: encodeRecord(record) }))
      const deadline = { deadlineMs: 30_000, patienceMs: 30_000 }
      await eventLog.append('requests', entries, deadline)
      await eventLog.append('deliveries', [{ key: 'acme', value: encodeRecord(delivery) }], deadline)
    }
    const kill = async (role: Role, at: Kill, strike: () => Promise<void>): Promise<void> => {
      const child = children.get(role)
      if (child === undefined) throw new Error(`${role} does not run`)
      const died = once(child, 'exit')
      if (at === 'after a batch arrived') receiver.onBatch = () => void child.kill('SIGKILL')
      else child.send(at)
      await strike()
      expect(await died, at).to.deep.equal([null, 'SIGKILL'])
      receiver.onBatch = () => undefined
      await start(role)
    }
    const database = (): string => new URL(engines.ownEnv.WHENCE_HOT_STATE).pathname.slice(1)

    it(`holds every record of Logs once, in the order of its lane, after ${CYCLES} kills, a FLUSHALL, a silent broker and a late spool`, async () => {
      const dice = diceOf(SEED)
      const kills: Kill[] = []
      const deck = (): readonly (readonly [Role, Kill])[] =>
        dice.shuffled([
          ...WRITER_POINTS.map((point) => ['facts-writer', point] as const),
          ...[...SENDER_POINTS, 'after a batch arrived' as const].map((point) => ['streams', point] as const),
        ])
      let cards = deck()
      for (let cycle = 0; cycle < CYCLES; cycle += 1) {
        const [[role, point] = ['streams', 'after a batch arrived'] as const, ...rest] = cards
        cards = rest.length === 0 ? deck() : rest
        await kill(role, point, () => append(cycle % 3 === 1 ? SPOOLED_MS : 0))
        kills.push(point)
        if (cycle === 1) engines.redis.cli('-n', database(), 'flushdb')
        if (cycle === 2) {
          engines.kafka.pause()
          await wait(SILENCE_MS)
          engines.kafka.resume()
        }
      }
      await append()
      await until(() => new Set(receiver.records.map(({ id }) => id)).size >= appended.length)
      expect(kills).to.have.lengthOf(CYCLES)
      const held = receiver.held()
      expect(held.map(({ id }) => id).toSorted()).to.deep.equal(appended.toSorted())
      expect(
        held.filter(({ type }) => type !== undefined),
        'nothing was dropped',
      ).to.deep.equal([])
      for (const [id, bodies] of receiver.bodies) expect(new Set(bodies).size, id).to.equal(1)
      const rows = (await query(
        `SELECT lane, first_offset + above AS log_offset, id
        FROM stream_pointers ARRAY JOIN offsets AS above, splitByChar(',', ids) AS id
        WHERE organization = '${STREAMING_ORGANIZATION}' ORDER BY lane, log_offset LIMIT 1 BY lane, log_offset LIMIT 1000000`,
      )) as readonly { readonly lane: string; readonly id: string }[]
      const place = new Map(held.map(({ id }, index) => [id, index]))
      for (const [lane, own] of Map.groupBy(rows, (row) => row.lane)) {
        const places = own.map(({ id }) => place.get(id) ?? -1)
        expect(places, lane).to.deep.equal(places.toSorted((a, b) => a - b))
      }
      const twice = receiver.records.length - held.length
      console.log(`        ${appended.length} records, ${receiver.ids.length} batches, ${twice} records came again`)
    })
  })
}
