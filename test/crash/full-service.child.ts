/**
 * A process for the test of a full disk: a real service with its data on the small disk in FOLDER, which somebody else
 * fills and frees. Either an api whose Kafka is unavailable, with its spool there, or the embedded program.
 * Usage: node full-service.child.ts FOLDER api|embedded. Prints one line of JSON with what the service said.
 */

import { randomInt } from 'node:crypto'
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import type { Topic } from '../../domain/records.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { SPOOL_LOG_OPTIONS } from '../../ports/event-log/spool/spooled.ts'
import { openLmdb } from '../../ports/shared/lmdb/environment.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { startProgram } from '../../fixtures/service/programs.ts'
import { send, visitBody, type Reply } from '../../fixtures/service/requests.ts'
import { MANIFESTS, TEST_ORIGIN, TEST_SECRET } from '../../fixtures/service/service.ts'

const [folder = '', kind = ''] = process.argv.slice(2)
const MIB = 1024 * 1024
const MOST_STORED = 100_000
const FILLER = join(folder, 'somebody-else')
const manifests = join(folder, 'manifests')
mkdirSync(manifests)
for (const [name, text] of Object.entries(MANIFESTS)) writeFileSync(join(manifests, name), text)

const port = await freePort()
const metricsPort = await freePort()
const places = {
  WHENCE_MANIFESTS: manifests,
  WHENCE_METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
  WHENCE_SECRET: TEST_SECRET,
  WHENCE_TRUST_PROXY: '127.0.0.1',
}
const env: Record<string, string> =
  kind === 'embedded'
    ? { ...places, WHENCE_DATA: join(folder, 'data'), WHENCE_GA4_URL: 'http://127.0.0.1:1' }
    : {
        ...places,
        WHENCE_EVENT_LOG: `kafka://127.0.0.1:${await freePort()}?replication=1&min-in-sync=1&partitions=1`,
        WHENCE_HOT_STATE: `redis://127.0.0.1:${await freePort()}`,
        WHENCE_FACTS: `http://127.0.0.1:${await freePort()}/whence`,
        WHENCE_SPOOL: join(folder, 'spool'),
      }
const service = startProgram([kind, '--listen', `127.0.0.1:${port}`], { env })
await service.ready

/** Leaves not one byte to anybody. */
function fillUp(): void {
  for (const bytes of [MIB, 4_096, 1]) {
    try {
      for (;;) appendFileSync(FILLER, Buffer.alloc(bytes))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
}

/** The GA4 client of each visit that was answered 200. */
const taken: string[] = []
/** Those of visits that were refused: one whose time was over while it was being stored may be there nevertheless. */
const refused: string[] = []

/** Visits until one is answered so; resolves with that answer. */
async function visitUntil(wanted: number): Promise<Reply> {
  for (; ; await wait(50)) {
    const headers = {
      'Content-Type': 'application/json',
      'X-Forwarded-For': `10.${randomInt(256)}.${randomInt(256)}.1`,
    }
    const clientId = `${taken.length + refused.length}.${Math.floor(Date.now() / 1_000)}`
    const identities = { ga4: { 'G-TEST000001': { client_id: clientId } } }
    const init = { method: 'POST', headers, body: JSON.stringify(visitBody({ identities })), origin: TEST_ORIGIN }
    const last = await send(`http://127.0.0.1:${port}/v1/visits`, init)
    if (last.status === 200) taken.push(clientId)
    else refused.push(clientId)
    if (last.status === wanted) return last
  }
}

async function told() {
  const status = (await send(`http://127.0.0.1:${metricsPort}/status`)).body
  const ready = await send(`http://127.0.0.1:${metricsPort}/ready`)
  const health = (await send(`http://127.0.0.1:${port}/health`)).body
  return {
    log: status['event_log'],
    entries: status['spool']?.entries,
    ready: ready.status,
    health: health['event_log'],
  }
}

/** What people are shown, by the program's own tool. */
async function shownActivity(): Promise<readonly object[]> {
  const tool = startProgram(['activity', '--json'], { env: { WHENCE_DATA: join(folder, 'data') }, isHeard: true })
  tool.ready.catch(() => undefined)
  await tool.ended
  return linesOf(tool.stdout()).filter(isAboutDisk)
}

/** What lies in LMDB once the service has ended: everything of the embedded program, what an api kept for Kafka. */
async function storedIn(topic: Topic): Promise<readonly object[]> {
  const place = join(folder, kind === 'embedded' ? 'data/lmdb' : 'spool')
  const environment = await openLmdb(place, { nowMs: Date.now, onFatal: () => process.exit(1) })
  const log = await lmdbEventLog(environment, {
    ...SPOOL_LOG_OPTIONS,
    keeping: { ...SPOOL_LOG_OPTIONS.keeping, trimEveryMs: Infinity },
  })
  const entries = await log.read(topic, 0, MOST_STORED)
  await log.close()
  await environment.close()
  // The request's body follows its record on a line of its own.
  return entries.map(({ value }) => JSON.parse(value.split('\n')[0] ?? '') as object)
}

function clientOf(record: any): string {
  return record.visit.identities.ga4['G-TEST000001'].client_id
}

const isAboutDisk = (entry: object): boolean => 'type' in entry && entry.type === 'disk_full'

function linesOf(text: string): readonly object[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as object)
}

/** The embedded program shows what its facts-writer has written. */
async function noticed(): Promise<readonly object[]> {
  for (let tries = 0; tries < 200; tries++, await wait(50)) {
    const entries = await shownActivity()
    if (entries.length > 0) return entries
  }
  return []
}

await visitUntil(200)
fillUp()
await visitUntil(503)
// Free space is measured once a second at most.
while (!(await told()).log.isDiskFull) await visitUntil(503)
const { body: refusal, headers } = await visitUntil(503)
const refusedWhileFull = refused.at(-1)
const whileFull = { ...(await told()), taken: taken.length }
rmSync(FILLER)
await visitUntil(200)
const afterwards = { ...(await told()), taken: taken.length }
const shown = kind === 'embedded' ? await noticed() : []
const code = await service.end('SIGTERM')
const entries = kind === 'embedded' ? shown : (await storedIn('activity')).filter(isAboutDisk)
const stored = (await storedIn('visits')).map(clientOf)
const lines = service
  .stderr()
  .split('\n')
  .filter((line) => /MB free|room on the disk/.test(line))
process.stdout.write(
  JSON.stringify({
    whileFull,
    afterwards,
    refusal: { error: refusal['error'], retryAfter: headers.get('Retry-After') },
    lost: taken.filter((client) => !stored.includes(client)),
    storedTwice: stored.filter((client, index) => stored.indexOf(client) !== index),
    storedThoughFull: stored.filter((client) => client === refusedWhileFull),
    storedUnasked: stored.filter((client) => !taken.includes(client) && !refused.includes(client)),
    messages: lines.map((line) => (JSON.parse(line) as { readonly msg: string }).msg),
    entries,
    code,
  }),
)
