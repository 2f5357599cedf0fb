/**
 * A process for the test of a full disk: a real api whose Kafka is away, with its spool on the small disk in FOLDER, which
 * somebody else fills and frees. Usage: node full-spool.child.ts FOLDER. Prints one line of JSON with what the api said.
 */

import { randomInt } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { freePort } from '../../fixtures/engines/free-port.ts'
import { startProgram } from '../../fixtures/service/programs.ts'
import { send, visitBody } from '../../fixtures/service/requests.ts'
import { MANIFESTS, TEST_ORIGIN, TEST_SECRET } from '../../fixtures/service/service.ts'

const [folder = ''] = process.argv.slice(2)
const MIB = 1024 * 1024
const FILLER = join(folder, 'somebody-else')
const manifests = join(folder, 'manifests')
mkdirSync(manifests)
for (const [name, text] of Object.entries(MANIFESTS)) writeFileSync(join(manifests, name), text)

const [port, metricsPort] = [await freePort(), await freePort()]
const api = startProgram(['api', '--listen', `127.0.0.1:${port}`], {
  env: {
    WHENCE_EVENT_LOG: `kafka://127.0.0.1:${await freePort()}?replication=1&min-in-sync=1&partitions=1`,
    WHENCE_HOT_STATE: `redis://127.0.0.1:${await freePort()}`,
    WHENCE_FACTS: `http://127.0.0.1:${await freePort()}/whence`,
    WHENCE_MANIFESTS: manifests,
    WHENCE_METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
    WHENCE_SECRET: TEST_SECRET,
    WHENCE_SPOOL: join(folder, 'spool'),
    WHENCE_TRUST_PROXY: '127.0.0.1',
  },
})
await api.ready

/** Visits until one is answered so; resolves with how many were answered 200 on the way. */
async function visitUntil(wanted: number): Promise<number> {
  for (let taken = 0; ; await wait(50)) {
    const headers = {
      'Content-Type': 'application/json',
      'X-Forwarded-For': `10.${randomInt(256)}.${randomInt(256)}.1`,
    }
    const init = { method: 'POST', headers, body: JSON.stringify(visitBody()), origin: TEST_ORIGIN }
    const { status } = await send(`http://127.0.0.1:${port}/v1/visits`, init)
    if (status === 200) taken += 1
    if (status === wanted) return taken
  }
}

async function told(): Promise<object> {
  const status = (await send(`http://127.0.0.1:${metricsPort}/status`)).body
  const ready = await send(`http://127.0.0.1:${metricsPort}/ready`)
  return { log: status['event_log'], entries: status['spool'].entries, ready: ready.status }
}

let taken = await visitUntil(200)
writeFileSync(FILLER, Buffer.alloc(160 * MIB))
taken += await visitUntil(503)
await visitUntil(503)
const whileFull = { ...(await told()), taken }
rmSync(FILLER)
taken += await visitUntil(200)
const afterwards = { ...(await told()), taken }
const code = await api.end('SIGTERM')
const lines = api
  .stderr()
  .split('\n')
  .filter((line) => /MB free|room on the disk/.test(line))
const messages = lines.map((line) => (JSON.parse(line) as { readonly msg: string }).msg)
process.stdout.write(JSON.stringify({ whileFull, afterwards, messages, code }))
