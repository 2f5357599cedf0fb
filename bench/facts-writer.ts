/**
 * Measures the facts-writer: `node bench/facts-writer.ts [runs] [records]`.
 *
 * Each run is a process of its own on one core (taskset, Linux): it fills a real LMDB event log with visits, then times
 * how long the facts-writer takes until every one is committed, so from the disk of the log to the synced disk of chDB,
 * two rows per record. Prints medians: records a second, CPU time per record, the longest that the event loop was held,
 * and resident memory before and after.
 */

import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { FACTS_WRITER_GROUP, startFactsWriter } from '../delivery/facts-writer.ts'
import { encodeRecord, recordKey } from '../domain/records.ts'
import type { VisitRecord } from '../domain/records.ts'
import type { Entry, EventLog } from '../ports/event-log/event-log.ts'
import { lmdbEventLog } from '../ports/event-log/lmdb.ts'
import { clickhouseFacts } from '../ports/facts/clickhouse.ts'
import { openChdb } from '../ports/facts/connect-chdb.ts'
import { migrate } from '../ports/facts/migrate.ts'
import { openLmdb } from '../ports/lmdb/environment.ts'

const MUST_PER_S = 20_000
const APPEND_ENTRIES = 500
const KIB_PER_MIB = 1024

interface Run {
  readonly recordsPerS: number
  readonly cpuUs: number
  readonly heldMs: number
  readonly rest: Resident
  readonly end: Resident
}

/** Resident memory in MiB. LMDB maps its file, so what is read of the log counts as resident until it is needed. */
interface Resident {
  readonly all: number
  readonly anonymous: number
}

if (process.argv[2] === '--one') console.log(JSON.stringify(await measure(Number(process.argv[3]))))
else await main(Number(process.argv[2] ?? 3), Number(process.argv[3] ?? 200_000))

async function main(runs: number, records: number): Promise<void> {
  const self = fileURLToPath(import.meta.url)
  const results: Run[] = []
  for (let run = 0; run < runs; run++) {
    const { stdout } = await promisify(execFile)('taskset', [
      '-c',
      '0',
      process.execPath,
      self,
      '--one',
      String(records),
    ])
    results.push(JSON.parse(stdout) as Run)
  }
  const middle = (pick: (run: Run) => number): number => median(results.map(pick))
  const rate = middle((run) => run.recordsPerS)
  const shown = (pick: (run: Run) => number, digits = 0): string => middle(pick).toFixed(digits)
  console.log(
    `${Math.round(rate).toLocaleString('en')} records/s on one core (must: ${MUST_PER_S.toLocaleString('en')})`,
  )
  console.log(
    `${shown((run) => run.cpuUs, 1)} us CPU a record: ${Math.round(1e6 / middle((run) => run.cpuUs))}/s if nothing else ran`,
  )
  console.log(`event loop held for ${shown((run) => run.heldMs, 1)} ms at most`)
  console.log(
    `resident: ${shown((run) => run.rest.all)} MiB before, ${shown((run) => run.end.all)} MiB after; of that not files: ` +
      `${shown((run) => run.rest.anonymous)} MiB before, ${shown((run) => run.end.anonymous)} MiB after`,
  )
  if (rate < MUST_PER_S) process.exitCode = 1
}

async function measure(records: number): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-bench-'))
  const onFatal = (error: Error): void => {
    throw error
  }
  const environment = await openLmdb(join(folder, 'log'), { nowMs: Date.now, onFatal })
  const eventLog = await lmdbEventLog(environment)
  const connection = await openChdb(join(folder, 'facts'))
  await migrate(connection)
  const facts = clickhouseFacts(connection, { nowMs: Date.now })
  try {
    await fill(eventLog, records)
    const rest = await resident()
    const run = await drain(eventLog, facts, records)
    const [counts] = await facts.run('counts', {})
    if (counts?.visits !== records || counts.request_logs !== records)
      throw new Error(`stored ${JSON.stringify(counts)}`)
    return { ...run, rest, end: await resident() }
  } finally {
    await eventLog.close()
    await environment.close()
    await facts.close()
    await rm(folder, { recursive: true })
  }
}

async function drain(eventLog: EventLog, facts: Parameters<typeof startFactsWriter>[0]['facts'], records: number) {
  const quiet = { info: () => undefined, warn: console.warn, error: console.error }
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  const role = await startFactsWriter({ eventLog, facts, logger: quiet, nowMs: Date.now, options: { politeness: 0 } })
  while (await isBehind(eventLog)) await sleep(5)
  const tookMs = performance.now() - startedAt
  delay.disable()
  const used = process.cpuUsage(cpu)
  await role.stop()
  return {
    recordsPerS: (records / tookMs) * 1000,
    cpuUs: (used.user + used.system) / records,
    heldMs: delay.max / 1e6,
  }
}

async function isBehind(eventLog: EventLog): Promise<boolean> {
  const lags = (await eventLog.lag()).filter(({ group }) => group === FACTS_WRITER_GROUP)
  return lags.length === 0 || lags.some(({ entries }) => entries > 0)
}

async function fill(eventLog: EventLog, records: number): Promise<void> {
  const nowMs = Date.now()
  for (let start = 0; start < records; start += APPEND_ENTRIES) {
    const count = Math.min(APPEND_ENTRIES, records - start)
    await eventLog.append(
      'visits',
      Array.from({ length: count }, (_, index) => visitEntry(start + index, nowMs)),
      { deadlineMs: 30_000 },
    )
  }
}

/** A visit as the example page makes it, with its request log: about 2.2 KB, of which the body is 0.9 KB. */
function visitEntry(number: number, nowMs: number): Entry {
  const random = (chars: number): string => {
    let text = ''
    for (let seed = number + 1; text.length < chars; seed++)
      text += Math.imul(seed, 2_654_435_761).toString(16).replace('-', 'f')
    return text.slice(0, chars)
  }
  const time = (nowMs + Math.floor(number / 10)).toString(16).padStart(12, '0')
  const visitId = `01${time}${random(10)}${random(8)}`
  const identities = {
    ga4: { 'G-ABC1234567': { client_id: `${number}.1795254036`, session_id: `17952${number}` } },
    google_ads: { gclid: random(60), gcl_aw: random(80) },
    meta: { fbp: `fb.1.1795254036.${number}` },
  }
  const utm = { source: 'google', medium: 'cpc', campaign: 'spring', term: 'cli tool', content: 'headline' }
  const client = { architecture: 'x86', bitness: '64', touch: false, timezone: 'Europe/Berlin', language: 'de-DE' }
  const page = {
    url_id: 'url_0123456789abcdef',
    page_url: 'https://acme.dev/docs/install',
    referrer: 'https://www.google.com/',
  }
  const source = { referrer: 'https://www.google.com/', utm, landed_at: nowMs + number - 1_000 }
  const body = JSON.stringify({
    project: 'acme-dev',
    ...page,
    identities,
    previous_receipt: null,
    source,
    gpc: false,
    client,
  })
  const record: VisitRecord = {
    v: 1,
    kind: 'visit',
    request: {
      id: `${time}${random(16)}`,
      receivedAtMs: nowMs + Math.floor(number / 10),
      durationMs: 1.234,
      website: 'acme-dev',
      organization: 'acme',
      method: 'POST',
      path: '/v1/visits',
      status: 200,
      code: '',
      origin: 'https://acme.dev',
      userAgent:
        'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36',
      addressHash: random(32),
      body,
      bodyForm: 'text',
      bodyBytes: body.length,
      isRedacted: false,
      logRetentionDays: 30,
    },
    visit: {
      website: 'acme-dev',
      visitId,
      organization: 'acme',
      issuedAtMs: nowMs + Math.floor(number / 10),
      urlId: page.url_id,
      origin: 'https://acme.dev',
      pageUrl: page.page_url,
      referrer: page.referrer,
      sourceReferrer: source.referrer,
      landedAtMs: source.landed_at,
      utm,
      identities,
      client,
      gpc: false,
      isHandoffOnly: false,
      previousVisitId: null,
    },
    retentionDays: 395,
  }
  return { key: recordKey('acme-dev', visitId), value: encodeRecord(record) }
}

async function resident(): Promise<Resident> {
  const status = await readFile('/proc/self/status', 'utf8')
  const mib = (field: string): number => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / KIB_PER_MIB
  return { all: mib('VmRSS'), anonymous: mib('RssAnon') }
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? Number.NaN
}
