/**
 * Measures the hot state on a separate Redis: `node bench/redis.ts [--ten-million]`.
 *
 * Prints the bytes of Redis memory per receipt with a state at one million (or ten), over 30 days and all on one day: half
 * of them active with the receipt they replaced, half revoked, which is the most that a receipt can cost on average. Then
 * verbs a second of one process with 256 calls in flight.
 */

import { randomBytes } from 'node:crypto'

import type { HotState, ReceiptRef } from '../ports/hot-state/hot-state.ts'
import { redisHotState } from '../ports/hot-state/redis/redis.ts'
import { startRedis, type RedisServer } from '../fixtures/engines/redis.ts'
import { DAY_MS } from '../domain/durations.ts'
import { median } from './support/rounds.ts'

const LEARN_AT_ONCE = 1_000
const CALLS_AT_ONCE = 256
const CALLS_MS = 2_000
const RUNS = 3
const count = process.argv.includes('--ten-million') ? 10_000_000 : 1_000_000

for (const days of [30, 1]) await withRedis((state, server) => measureMemory(state, server, days))
await withRedis(measureVerbs)

async function withRedis(measure: (state: HotState, server: RedisServer) => Promise<void>): Promise<void> {
  const server = await startRedis()
  const state = await redisHotState(server.url, { times: { deadlineMs: 30_000 }, whenAway: 'reject' })
  try {
    await measure(state, server)
  } finally {
    await state.close()
    await server.stop()
  }
}

async function measureMemory(state: HotState, server: RedisServer, days: number): Promise<void> {
  const emptyBytes = usedMemory(server)
  for (let done = 0; done < count; done += 2 * LEARN_AT_ONCE) {
    const learnt = Array.from({ length: LEARN_AT_ONCE }, (_, index) => {
      const daysAgo = (done / 2 + index) % days
      return state.learn({ ...receipt(daysAgo), previous: receipt(daysAgo) }, 'active')
    })
    await Promise.all(learnt)
  }
  const bytes = (usedMemory(server) - emptyBytes) / count
  const perHash = count / Number(server.cli('dbsize'))
  const when = days === 1 ? 'of one day' : `of ${days} days`
  console.log(
    `${count.toLocaleString('en')} receipts ${when}: ${bytes.toFixed(1)} bytes each, ${perHash.toFixed(1)} in a hash`,
  )
}

async function measureVerbs(state: HotState): Promise<void> {
  const hit = (key: string) => ({ key, limit: 1e9, windowS: 60 })
  const hits = [hit('visits:acme-dev'), hit('events:acme-dev'), hit('address:acme-dev')]
  const claim = () => ({
    organization: 'acme',
    website: 'acme-dev',
    eventId: randomBytes(16).toString('hex'),
    installationId: randomBytes(16).toString('hex'),
    owner: randomBytes(8).toString('hex'),
  })
  const answer = JSON.stringify({
    resolution: 'matched',
    candidate_count: 3,
    selection_policy: 'latest',
    deliveries: 2,
  })
  const known = Array.from({ length: 3 }, () => receipt(0))
  const verbs: Readonly<Record<string, () => Promise<unknown>>> = {
    'putVisit and activate': async () => {
      const issued = { ...receipt(0), previous: receipt(1) }
      await state.putVisit(issued)
      await state.activate(issued)
    },
    'receiptStates of 3': () => state.receiptStates(known),
    'countHits of 3': () => state.countHits(hits),
    'claimInstall and settleInstall': async () => {
      const mine = claim()
      await state.claimInstall(mine)
      await state.settleInstall({ ...mine, answer, receivedAtMs: Date.now(), matched: { ...receipt(0), gpc: false } })
    },
  }
  for (const [name, call] of Object.entries(verbs)) {
    const rates: number[] = []
    for (let run = 0; run < RUNS; run++) rates.push(await perSecond(call))
    console.log(`${name}: ${Math.round(median(rates)).toLocaleString('en')}/s`)
  }
}

async function perSecond(call: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  let calls = 0
  const caller = async (): Promise<void> => {
    while (performance.now() - startMs < CALLS_MS) {
      await call()
      calls++
    }
  }
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, caller))
  return (calls / (performance.now() - startMs)) * 1000
}

/** Its visit ID carries its issue time, as real ones do. */
function receipt(daysAgo: number): ReceiptRef {
  const issuedAtMs = Date.now() - daysAgo * DAY_MS
  const visitId = `01${issuedAtMs.toString(16).padStart(12, '0')}${randomBytes(9).toString('hex')}`
  return { organization: 'acme', website: 'acme-dev', visitId, issuedAtMs }
}

function usedMemory(server: RedisServer): number {
  return Number(/^used_memory:(\d+)/m.exec(server.cli('info', 'memory'))?.[1])
}
