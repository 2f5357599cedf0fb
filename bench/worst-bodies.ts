/**
 * How long one request can block the event loop: the worst 16 KB of each kind that we could think of, one after
 * another, each sent many times to a whole service in this process. The target is 20 ms; `idle` is what the machine
 * itself adds.
 *
 * Use: node bench/worst-bodies.ts [repeats]
 */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { issueReceipt } from '../domain/receipt.ts'
import { createKeyring } from '../runtime/keyring.ts'
import { eventBody, send, visitBody } from '../fixtures/service/requests.ts'
import { startTestService, TEST_ORIGIN, TEST_SECRET } from '../fixtures/service/service.ts'

const REPEATS = Number(process.argv[2] ?? 30)
const TARGET_MS = 20
const BODY_BYTES = 16_384
const keys = createKeyring([TEST_SECRET])

/** Fills a body up to the limit: `make` gets the characters that are left. */
function filled(start: string, end: string, make: (left: number) => string): string {
  return start + make(BODY_BYTES - Buffer.byteLength(start) - Buffer.byteLength(end)) + end
}
const repeat = (piece: string) => (left: number) => piece.repeat(Math.floor(left / Buffer.byteLength(piece)))
const open = (body: object): string => JSON.stringify(body).slice(0, -1)

/** Genuine receipts, so that each costs its MAC and a look-up. */
function genuineReceipts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const random = Uint8Array.from([index, 1, 2, 3, 4])
    const receipt = {
      organization: 'acme',
      website: 'acme-dev',
      origin: TEST_ORIGIN,
      issuedAtMs: Date.now() - index,
      random,
    }
    return issueReceipt(keys, { ...receipt, isHandoffOnly: false, isUnrecorded: false, gpc: false }).text
  })
}

const clicks = (left: number): string =>
  Array.from({ length: Math.floor(left / 24) }, (_, index) => `gclid=${index.toString(36).padStart(17, 'c')}&`).join('')
const sameClicks = (left: number): string =>
  Array.from({ length: Math.floor(left / 9) }, (_, index) => `gclid=${(index % 36).toString(36)}&`).join('')

const BODIES: Readonly<Record<string, () => { readonly path: string; readonly body: string }>> = {
  'a sound visit': () => ({ path: '/v1/visits', body: JSON.stringify(visitBody()) }),
  'a sound event': () => ({ path: '/v1/events', body: JSON.stringify(eventBody()) }),
  '64 genuine receipts': () => ({
    path: '/v1/events',
    body: JSON.stringify(eventBody({ receipts: genuineReceipts(64) })),
  }),
  '64 forged receipts': () => ({
    path: '/v1/events',
    body: JSON.stringify(
      eventBody({ receipts: Array.from({ length: 64 }, (_, index) => `${index}`.padStart(43, 'B')) }),
    ),
  }),
  'nested arrays': () => ({
    path: '/v1/visits',
    body: filled('', '', (left) => '['.repeat(left / 2) + ']'.repeat(left / 2)),
  }),
  'unknown members': () => ({
    path: '/v1/visits',
    body: `${open(visitBody())},${Array.from({ length: 440 }, (_, index) => `"k${index}":{}`).join()}}`,
  }),
  'one run of letters': () => ({
    path: '/v1/visits',
    body: filled(`${open(visitBody())},"x":"`, '"}', repeat('BAGh_VmtMw')),
  }),
  escapes: () => ({ path: '/v1/visits', body: filled(`${open(visitBody())},"x":"`, '"}', repeat('\\u0041')) }),
  'escapes of escapes': () => ({
    path: '/v1/visits',
    body: filled(`${open(visitBody())},"x":"`, '"}', repeat('%2525252541')),
  }),
  'NUL bytes': () => ({ path: '/v1/visits', body: filled('', '', repeat('A\0')) }),
  surrogates: () => ({ path: '/v1/visits', body: filled(`${open(visitBody())},"x":"`, '"}', repeat('\\ud800')) }),
  'many click IDs under GPC': () => ({
    path: '/v1/visits',
    body: filled(
      `${open(visitBody({ gpc: true, referrer: `https://a.example/?${clicks(8_000)}` }))},"x":"`,
      '"}',
      clicks,
    ),
  }),
  'short click IDs under GPC': () => ({
    path: '/v1/visits',
    body: filled(
      `${open(visitBody({ gpc: true, referrer: `https://a.example/?${sameClicks(8_000)}` }))},"x":"`,
      '"}',
      sameClicks,
    ),
  }),
  'long identities under GPC': () => ({
    path: '/v1/visits',
    body: filled(
      `${open(visitBody({ gpc: true, identities: { google_ads: { gclid: `b${'a'.repeat(1_000)}`, wbraid: `a${'a'.repeat(900)}b` }, meta: { fbp: `c${'a'.repeat(1_000)}` } } }))},"x":"`,
      '"}',
      repeat('a'),
    ),
  }),
  'a broken body under GPC': () => ({
    path: '/v1/visits',
    body: filled('{"gpc":true,', '', repeat('"gclid" : "\\\\')),
  }),
}

const service = await startTestService({ env: { WHENCE_TRUST_PROXY: '127.0.0.1' } })
let clients = 0
async function ask(path: string, body: string): Promise<number> {
  const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': `10.0.${clients >> 8}.${clients++ & 255}` }
  const origin = path === '/v1/events' ? null : TEST_ORIGIN
  return (await send(service.url + path, { method: 'POST', headers, body, origin })).status
}

/**
 * The longest block in each of the repeats: their median comes from the request, their maximum also from the machine.
 */
async function holdMs(work: () => Promise<unknown>): Promise<readonly [number, number]> {
  const holds: number[] = []
  for (let count = 0; count < REPEATS; count++) {
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    await work()
    delay.disable()
    holds.push(delay.max / 1e6)
    // The other roles of this process read the log in batches: that is not caused by this request.
    await service.drain('facts-writer')
  }
  holds.sort((a, b) => a - b)
  return [holds[Math.floor(holds.length / 2)] ?? 0, holds.at(-1) ?? 0]
}

for (let count = 0; count < 50; count++) await ask('/v1/visits', JSON.stringify(visitBody()))
console.log('longest hold of one request   status  median ms  max ms')
const idle = await holdMs(() => wait(5))
console.log(`${'idle'.padEnd(30)}${''.padStart(6)}${idle[0].toFixed(1).padStart(11)}${idle[1].toFixed(1).padStart(8)}`)
for (const [name, make] of Object.entries(BODIES)) {
  let status = 0
  const [median, max] = await holdMs(async () => {
    const { path, body } = make()
    status = await ask(path, body)
  })
  const row = `${name.padEnd(30)}${String(status).padStart(6)}${median.toFixed(1).padStart(11)}${max.toFixed(1).padStart(8)}`
  console.log(median > TARGET_MS ? `${row}  above ${TARGET_MS} ms` : row)
}
await service.stop()
