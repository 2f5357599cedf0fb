/** Replay: the log consumed again from its start shows nothing new, and fills an empty ClickHouse with the very same. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { Clients } from '../crash/service.load.ts'
import { LOAD_MANIFESTS, LOAD_WEBSITES } from '../crash/service.manifests.ts'
import { kafkaClient } from '../../ports/event-log/kafka/client.ts'
import { FACT_TABLES } from '../../ports/facts/columns.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { ROLES, startDistributed, type Distributed } from '../../fixtures/service/distributed.ts'
import { KEEP_HITS, LOAD_ENV, type FaultParts } from './breaking.suite.ts'
import { settled } from './settled.ts'

const CHILD = new URL('facts-writer.child.ts', import.meta.url).pathname
const LOAD_MS = 1_500
const CLIENTS = 8

/** @param andThen further tests of the same service, whose facts are complete */
export function replayingTheLog({ place }: FaultParts, andThen: (serviceOf: () => Distributed) => void): void {
  describe('when the log is consumed again from its start', function () {
    this.timeout(240_000)
    let service: Distributed
    let rowsBefore: Readonly<Record<string, string>>

    before(async () => {
      const manifests = { 'load.yaml': LOAD_MANIFESTS }
      const engines = await place()
      service = await startDistributed({ engines, manifests, keepHits: KEEP_HITS, envOf: { api: LOAD_ENV } })
      const load = new Clients().start({ url: service.url, websites: LOAD_WEBSITES, clients: CLIENTS })
      await wait(LOAD_MS)
      await load.stop()
      await settled(service)
      rowsBefore = await everyRow(service)
    })
    after(() => service?.stop())

    it('shows no further row and delivers nothing', async () => {
      const hits = service.ga4.requests().length
      expect(hits).to.be.greaterThan(5)
      await Promise.all(ROLES.map((role) => service.program(role).end('SIGTERM')))
      await forgetPositions(service, () => true)
      await Promise.all(ROLES.map((role) => service.restart(role)))
      await settled(service)
      expect(await everyRow(service)).to.deep.equal(rowsBefore)
      expect(service.ga4.requests().length).to.equal(hits)
    })

    it('fills a new database with the same rows, even if killed before an insert and before its position was committed', async () => {
      await service.program('facts-writer').end('SIGTERM')
      await forgetPositions(service, (group) => group.includes('facts-writer'))
      const { connection, ownEnv } = service.engines
      const database = new URL(ownEnv.WHENCE_FACTS).pathname.slice(1)
      await connection.command(`DROP DATABASE ${database} SYNC`)
      await service.engines.root.command(`CREATE DATABASE ${database}`)
      await migrate(connection)
      for (const point of ['before-insert', 'before-commit']) {
        const child = spawn(process.execPath, [CHILD, ownEnv.WHENCE_EVENT_LOG, ownEnv.WHENCE_FACTS, point])
        expect(await once(child, 'exit')).to.deep.equal([null, 'SIGKILL'])
      }
      await service.restart('facts-writer')
      await settled(service)
      expect(await everyRow(service)).to.deep.equal(rowsBefore)
    })

    andThen(() => service)
  })
}

/** Kafka has the groups begin at the oldest entry when it knows nothing of them. */
async function forgetPositions({ engines }: Distributed, isMeant: (group: string) => boolean): Promise<void> {
  const { kafkaSettings } = engines
  const admin = kafkaClient(kafkaSettings, { requestMs: 30_000 }).admin()
  await admin.connect()
  const { groups } = await admin.listGroups()
  const ours = groups.map(({ groupId }) => groupId).filter((group) => group.startsWith(kafkaSettings.prefix))
  await admin.deleteGroups(ours.filter(isMeant))
  await admin.disconnect()
}

/** Figures and what asks for them: made from facts, with versions of their own at each time that facts come. */
const FIGURES: readonly string[] = ['website_hours', 'hour_marks']

/** Of each table of facts its visible rows as sorted text, with every column that says what happened. */
async function everyRow({ engines }: Distributed): Promise<Readonly<Record<string, string>>> {
  const tables: Record<string, string> = {}
  for (const table of FACT_TABLES.filter((each) => !FIGURES.includes(each))) {
    const rows = await engines.connection.query(`SELECT * FROM ${table} FINAL`, {}, { turn: 'report' })
    tables[table] = rows
      .map((row) => JSON.stringify(row))
      .toSorted()
      .join('\n')
  }
  return tables
}
