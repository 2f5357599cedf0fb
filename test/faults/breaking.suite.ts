/** Faults under load: every process and engine is killed, stopped or cut off in turn, and the history is checked at the end. */

import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { brokenWithoutMemory, type Operation } from '../crash/service.history.ts'
import { Clients, type Load } from '../crash/service.load.ts'
import { LOAD_MANIFESTS, LOAD_WEBSITES } from '../crash/service.manifests.ts'
import { readStored } from '../crash/service.stored.ts'
import { LIMITS } from '../../domain/limits.ts'
import { ROLES, startDistributed, type Distributed } from '../../fixtures/service/distributed.ts'
import type { Engines } from '../../fixtures/engines/engines.ts'
import { residentBytes } from '../../fixtures/service/programs.ts'
import type { Links } from '../../fixtures/engines/toxiproxy.ts'
import { LONG, silenceMs } from './lengths.ts'
import { settled } from './settled.ts'

/** Each request of the load names an address of its own, as behind a proxy: limits are not what is tested. */
export const LOAD_ENV = { WHENCE_TRUST_PROXY: '127.0.0.1/32' }
export const KEEP_HITS = 1_000_000
const CLIENTS = 8
const MIB = 1024 * 1024
const OUTAGE_MIB = 96
const BEAT_MS = 700

export interface FaultParts {
  readonly links: () => Links
  /** Topics, a database and a Redis database that nothing before has touched, on engines that are shared. */
  readonly place: () => Promise<Engines>
}

export function breakingPartsUnderLoad({ links, place }: FaultParts): void {
  describe('under load, while parts break', function () {
    this.timeout(LONG.isLong ? 1_200_000 : 240_000)
    const clients = new Clients()
    let engines: Engines
    let service: Distributed
    let load: Load

    before(async () => {
      const manifests = { 'load.yaml': LOAD_MANIFESTS }
      engines = await place()
      service = await startDistributed({ engines, manifests, keepHits: KEEP_HITS, envOf: { api: LOAD_ENV } })
    })
    after(async () => {
      await load?.stop()
      await service?.stop()
    })
    beforeEach(() => {
      load = clients.start({ url: service.url, websites: LOAD_WEBSITES, clients: CLIENTS })
    })
    afterEach(() => load.stop())

    /** Requests that began and ended while `during` ran. */
    const during = async (act: () => Promise<void>): Promise<readonly Operation[]> => {
      const from = performance.now()
      const first = clients.operations.length
      await act()
      const until = performance.now()
      return clients.operations.slice(first).filter(({ beganAt, endedAt }) => beganAt >= from && endedAt <= until)
    }
    /** Answers again; a client that met a dead connection has ended, so new ones come. */
    const answering = async (): Promise<void> => {
      await load.stop()
      load = clients.start({ url: service.url, websites: LOAD_WEBSITES, clients: CLIENTS })
      const first = clients.operations.length
      while (!clients.operations.slice(first).some(({ outcome }) => outcome === 'ok')) await wait(BEAT_MS / 10)
    }

    for (let round = 0; round < LONG.rounds; round++) {
      it(`keeps working while every role is killed (${round + 1})`, async () => {
        // Kafka takes half a minute to give up on a killed member; they wait for that at the same time.
        const restarts: Promise<void>[] = []
        for (const role of ROLES) {
          restarts.push(service.restart(role))
          await wait(BEAT_MS)
        }
        await service.restart('api')
        await answering()
        await Promise.all(restarts)
      })

      it(`keeps working when the broker and ClickHouse were killed (${round + 1})`, async () => {
        const { kafka, clickhouse } = engines
        await kafka.kill()
        await wait(BEAT_MS)
        await kafka.restart()
        await answering()
        await clickhouse.kill()
        const alone = await during(() => wait(BEAT_MS * 2))
        // Collection needs only the log.
        expect(alone.some(({ outcome }) => outcome === 'ok')).to.equal(true)
        await clickhouse.restart()
      })

      it(`promises nothing, answers soon and uses little memory while the broker is silent (${round + 1})`, async () => {
        await wait(BEAT_MS)
        const { pid } = service.program('api')
        const bytesBefore = await residentBytes(pid)
        engines.kafka.pause()
        let mostBytes = 0
        const answered = await during(async () => {
          for (let waitedMs = 0; waitedMs < silenceMs(); waitedMs += BEAT_MS) {
            await wait(BEAT_MS)
            mostBytes = Math.max(mostBytes, await residentBytes(pid))
          }
        }).finally(() => engines.kafka.resume())
        const slowestMs = Math.max(...answered.map(tookMs))
        const grownMib = (mostBytes - bytesBefore) / MIB
        console.log(
          `        ${answered.length} answers, the slowest after ${slowestMs.toFixed(0)} ms; ${grownMib.toFixed(0)} MiB more`,
        )
        expect(answered.length).to.be.greaterThan(CLIENTS)
        expect(answered.filter(({ outcome, kind }) => outcome === 'ok' && kind !== 'event')).to.deep.equal([])
        // What is repeated was stored before; a first report is not.
        const firsts = answered.filter(({ outcome, answer }) => outcome === 'ok' && answer['duplicate'] !== true)
        expect(firsts).to.deep.equal([])
        const late = answered.filter(
          (one) => tookMs(one) > LONG.answerMs + (one.kind === 'event' ? LIMITS.claimWaitMs : 0),
        )
        expect(late).to.deep.equal([])
        expect(grownMib).to.be.lessThan(OUTAGE_MIB)
        await answering()
      })

      it(`keeps working while links to the log and to ClickHouse are cut and slow (${round + 1})`, async () => {
        for (const name of ['kafka', 'clickhouse']) {
          await links().delay(name, 200, 100)
          await wait(BEAT_MS * 2)
          await links().delay(name, 0)
          for (let cuts = 0; cuts < 3; cuts++) {
            await links().cut(name)
            await wait(BEAT_MS)
            await links().mend(name)
            await answering()
          }
        }
      })

      it(`keeps working while second processes of roles join and leave (${round + 1})`, async () => {
        const joined = await Promise.all(
          (['facts-writer', 'dispatch', 'ga4'] as const).map((role) => service.add(role)),
        )
        await wait(BEAT_MS * 2)
        await Promise.all(
          joined.map((program, index) => program.end(LONG.isLong && index === 0 ? 'SIGKILL' : 'SIGTERM')),
        )
        await answering()
      })
    }

    it('has stored once whatever it answered, and delivered it under one ID', async () => {
      await load.stop()
      await clients.start({ url: service.url, websites: [], clients: 0 }).stop()
      await settled(service)
      const stored = await readStored(service.facts, service.ga4, clients.operations)
      const outcomes = Map.groupBy(clients.operations, ({ outcome }) => outcome)
      const told = [...outcomes].map(([outcome, some]) => `${some.length} ${outcome}`).join(', ')
      console.log(`        ${told}; ${stored.installs.length} installs, ${stored.sentIds.length} hits`)
      expect(brokenWithoutMemory(clients.operations, stored)).to.deep.equal([])
      expect((await service.facts.run('counts', {}))[0]?.poison_records).to.equal(0)
      // A run that answered next to nothing, or was never cut off, would show nothing.
      expect(outcomes.get('ok')?.length).to.be.greaterThan(200)
      expect(outcomes.get('unknown')?.length).to.be.greaterThan(10)
    })
  })
}

/** A report whose event another request has in hand waits for that one first, and only then for the log. */
const tookMs = ({ beganAt, endedAt }: Operation): number => endedAt - beganAt
