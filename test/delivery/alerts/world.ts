/** Websites whose days are told, with a real log, real facts and the parts that judge them, one step at a time. */

import { join } from 'node:path'

import { createAlertJudge } from '../../../delivery/alerts/alerts.ts'
import { startFactsWriter } from '../../../delivery/facts-writer/facts-writer.ts'
import { rollUp } from '../../../delivery/rollup/rollup.ts'
import type { AlertRecord } from '../../../domain/alerts/alert.ts'
import { MINUTE_MS } from '../../../domain/durations.ts'
import type { Catalog, Organization } from '../../../domain/catalog.ts'
import { decodeRecord, type LogRecord } from '../../../domain/records.ts'
import type { TimeStep } from '../../../domain/time-zones.ts'
import { ACME, catalogOf } from '../../../fixtures/delivery/builders.ts'
import { until } from '../../../fixtures/until.ts'
import { lmdbEventLog, type LmdbEventLog } from '../../../ports/event-log/lmdb/lmdb.ts'
import { clickhouseFacts } from '../../../ports/facts/clickhouse.ts'
import { openChdb } from '../../../ports/facts/engine/connect-chdb.ts'
import type { Facts } from '../../../ports/facts/facts.ts'
import { migrate } from '../../../ports/facts/migrate.ts'
import type { LmdbEnvironment } from '../../../ports/shared/lmdb/environment.ts'
import { SILENT_LOGGER } from '../../../runtime/logger.ts'
import { installRecord, unique, visitRecord } from '../../contract/fact-samples.ts'
import { deleteFolder, openTestEnvironment, temporaryFolder } from '../../contract/lmdb-harness.ts'
import { storeCounted } from '../../support/counted.ts'

const PROMPT = { lingerMs: 0, gatherMs: 0, busyGatherMs: 0, politeness: 0 }

export class AlertWorld {
  nowMs = 0
  organization: Organization = ACME
  website = ''
  readonly facts: Facts
  readonly #folder: string
  readonly #environment: LmdbEnvironment
  readonly #log: LmdbEventLog
  #writer: { close(): Promise<void> } | null = null
  #judge: (() => Promise<void>) | null = null

  private constructor(folder: string, environment: LmdbEnvironment, log: LmdbEventLog, facts: Facts) {
    this.#folder = folder
    this.#environment = environment
    this.#log = log
    this.facts = facts
  }

  static async open(): Promise<AlertWorld> {
    const folder = await temporaryFolder()
    const environment = await openTestEnvironment(folder, Date.now)
    const connection = await openChdb(join(folder, 'facts'))
    await migrate(connection)
    const log = await lmdbEventLog(environment)
    return new AlertWorld(folder, environment, log, clickhouseFacts(connection, { nowMs: Date.now }))
  }

  async close(): Promise<void> {
    await this.stopWriting()
    await this.#log.close()
    await this.#environment.close()
    await this.facts.close()
    await deleteFolder(this.#folder)
  }

  /** Another organisation, with a website that nothing has come from. */
  begin(changes: Partial<Organization> = {}): void {
    this.organization = { ...ACME, id: unique('organization'), ...changes }
    this.website = unique('site')
    this.restart()
  }

  catalog(): Catalog {
    const { websites, ...rest } = catalogOf([])
    const own = [...websites.values()].map((each) => ({
      ...each,
      id: this.website,
      organization: this.organization,
    }))
    const organizations = new Map([[this.organization.id, this.organization]])
    const shown = own.filter(({ id }) => id !== '').map((each) => [each.id, each] as const)
    return { ...rest, organizations, websites: new Map(shown) }
  }

  async write(): Promise<void> {
    this.#writer ??= await startFactsWriter({
      eventLog: this.#log,
      facts: this.facts,
      logger: SILENT_LOGGER,
      nowMs: () => this.nowMs,
      options: PROMPT,
    })
  }

  async stopWriting(): Promise<void> {
    await this.#writer?.close()
    this.#writer = null
  }

  /** As another process would: nothing is remembered. */
  restart(): void {
    this.#judge = createAlertJudge({
      facts: this.facts,
      eventLog: this.#log,
      catalog: { current: () => this.catalog() },
      nowMs: () => this.nowMs,
      onChange: () => undefined,
    })
  }

  /** So many installs and as many visits, from the start of a step on; few hours, as each takes a while to count. */
  recordsOf({ at, until: end }: TimeStep, installs: number, changes: object = {}): readonly LogRecord[] {
    const of = { website: this.website, organization: this.organization.id }
    const stepMs = Math.min(Math.floor((end - at) / (installs + 1)), MINUTE_MS)
    return Array.from({ length: installs }, (_, place) => {
      const receivedAtMs = at + place * stepMs
      return [
        installRecord({ ...of, receivedAtMs, ...changes }),
        visitRecord({ ...of, issuedAtMs: receivedAtMs, visitId: visitIdAt(receivedAtMs) }),
      ]
    }).flat()
  }

  async store(records: readonly LogRecord[]): Promise<void> {
    await storeCounted(this.facts, records, () => this.nowMs)
  }

  async count(): Promise<void> {
    await rollUp({ facts: this.facts, nowMs: () => this.nowMs })
  }

  /** One round, once the facts hold what was recorded before. Resolves with what has been recorded of the organisation by then. */
  async judge(rounds = 1): Promise<readonly string[]> {
    for (let round = 0; round < rounds; round++) {
      await this.written()
      await this.#judge?.()
    }
    await this.written()
    const records = await this.alerts()
    return records.map(({ rule, of, state, period }) => `${rule}${of === '' ? '' : ` ${of}`} ${state} ${period}`)
  }

  async alerts(): Promise<readonly AlertRecord[]> {
    const all = (await this.#log.read('alerts', 0, 1_000)).map(({ value }) => decodeRecord<AlertRecord>(value))
    return all.filter(({ organization }) => organization === this.organization.id)
  }

  async written(): Promise<void> {
    if (this.#writer === null) return
    await until(async () => {
      const { done, ends } = await this.#log.progress('alerts', 'facts-writer')
      return ends.every((end, partition) => end === done[partition])
    })
  }

  async append(record: LogRecord, topic: 'visits'): Promise<void> {
    await this.#log.append(topic, [{ key: 'key', value: JSON.stringify(record) }])
  }
}

let visits = 0

function visitIdAt(ms: number): string {
  visits += 1
  return `0a${ms.toString(16).padStart(12, '0')}${visits.toString(16).padStart(18, '0')}`
}
