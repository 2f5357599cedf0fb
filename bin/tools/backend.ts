/**
 * The tools' access to facts and event log: servers if the settings name them; on one machine a running process,
 * through its socket, or its folders if none runs.
 */

import { existsSync } from 'node:fs'
import { markHours } from '../../delivery/rollup/mark-hours.ts'
import { erase } from '../../delivery/tools/erase.ts'
import { eraseOrganization, planOrganizationErasure } from '../../delivery/tools/erase-organization.ts'
import { planErasure } from '../../delivery/tools/plan-erasure.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openClickHouse } from '../../ports/facts/engine/connect-server.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import type { EngineUrl } from '../../runtime/settings/parse.ts'
import type { CommandArguments } from '../../runtime/settings/settings.ts'
import type { StoreSettings } from '../../runtime/settings/settings-of.ts'
import { connectTools } from './control.ts'
import { openFolders } from './folders.ts'
import type { ToolBackend } from './live.ts'

export interface OpenBackend extends ToolBackend {
  /** Whether a running process answers; changes made here then take effect at once. */
  readonly isLive: boolean
  readonly close: () => Promise<void>
}

/** A run of a tool that works on the stores. */
export interface ToolRun extends CommandArguments {
  readonly settings: StoreSettings
}

interface LocalStores {
  readonly facts: Facts
  readonly eventLog: EventLog
  readonly isWriterRunning: boolean
}

/** A busy machine or a long period may take longer than a page waits, and nothing else waits for a tool. */
const PATIENT = { isPatient: true } as const

export function localBackend(stores: LocalStores): ToolBackend {
  const { facts, eventLog } = stores
  return {
    run: (query, params) => facts.run(query, params, PATIENT),
    read: (topic, fromOffset, maxEntries) => eventLog.read(topic, fromOffset, maxEntries),
    append: (topic, entries, options) => eventLog.append(topic, entries, options),
    markHours: (request) => markHours(facts, request),
    planErasure: (subject) => planErasure(facts, subject),
    erase: (subject) => erase({ ...stores, nowMs: Date.now }, subject),
    planOrganizationErasure: (organization) => planOrganizationErasure(facts, organization),
    eraseOrganization: (organization) => eraseOrganization({ ...stores, nowMs: Date.now }, organization),
  }
}

/** @throws DataFolderInUse if a process holds the folder but does not answer; an Error if there is no data. */
export async function openBackend(settings: StoreSettings): Promise<OpenBackend> {
  const { eventLog: logEngine, facts: factsEngine } = settings
  if (isServer(logEngine) || isServer(factsEngine)) return openServers(logEngine, factsEngine)
  const live = await connectTools(settings.data)
  if (live !== null) return { ...live, isLive: true, close: () => Promise.resolve() }
  for (const { location } of [logEngine, factsEngine]) {
    // Opening would make an empty folder, and then report that it is empty.
    if (!existsSync(location)) throw new Error(`there is no data in ${location}; --data names the service's folder`)
  }
  const folders = await openFolders(logEngine.location, factsEngine.location)
  return { ...localBackend({ ...folders, isWriterRunning: false }), isLive: false, close: folders.close }
}

/** Each is connected on first use: most tools need only one of the two, and only that one must be set. */
function openServers(logEngine: EngineUrl, factsEngine: EngineUrl): OpenBackend {
  const facts = openOnce(() => connectFacts(factsEngine))
  const eventLog = openOnce(() => connectLog(logEngine))
  const erasing = async () => {
    return { facts: await facts.value(), eventLog: await eventLog.value(), nowMs: Date.now, isWriterRunning: true }
  }
  return {
    run: async (query, params) => (await facts.value()).run(query, params, PATIENT),
    read: async (topic, fromOffset, maxEntries) => (await eventLog.value()).read(topic, fromOffset, maxEntries),
    append: async (topic, entries, options) => (await eventLog.value()).append(topic, entries, options),
    markHours: async (request) => markHours(await facts.value(), request),
    planErasure: async (subject) => planErasure(await facts.value(), subject),
    erase: async (subject) => erase(await erasing(), subject),
    planOrganizationErasure: async (organization) => planOrganizationErasure(await facts.value(), organization),
    eraseOrganization: async (organization) => eraseOrganization(await erasing(), organization),
    isLive: true,
    close: async () => {
      await (await eventLog.valueIfAsked())?.close()
      await (await facts.valueIfAsked())?.close()
    },
  }
}

function connectFacts(engine: EngineUrl): Facts {
  if (!isServer(engine)) throw new Error('--facts must name a ClickHouse server if --event-log names Kafka')
  return clickhouseFacts(openClickHouse(engine.url), { nowMs: Date.now })
}

async function connectLog(engine: EngineUrl): Promise<EventLog> {
  if (!isServer(engine)) throw new Error('--event-log must name Kafka if --facts names a ClickHouse server')
  const { kafkaEventLog } = await import('../../ports/event-log/kafka/kafka.ts')
  const { parseKafkaUrl } = await import('../../ports/event-log/kafka/url.ts')
  const parsed = parseKafkaUrl(engine.url)
  if (!parsed.ok) throw new Error(`the event log's address ${parsed.why}`)
  return kafkaEventLog(parsed.value)
}

function isServer({ scheme }: EngineUrl): boolean {
  return scheme !== 'lmdb' && scheme !== 'chdb'
}

interface Once<T> {
  readonly value: () => Promise<T>
  /** Null if it was never used, or if connecting failed. */
  readonly valueIfAsked: () => Promise<T | null>
}

function openOnce<T>(open: () => Promise<T> | T): Once<T> {
  let opened: Promise<T> | null = null
  return {
    value: () => (opened ??= Promise.resolve().then(open)),
    valueIfAsked: async () => (opened === null ? null : opened.catch(() => null)),
  }
}
