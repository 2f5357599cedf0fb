/** An hour without one provider, with all five on one log: what the others' deliveries wait, on a clock that only work moves. */

import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { PROVIDER_IDS, type ProviderId } from '../../domain/providers/index.ts'
import { decodeRecord, type DeliveryRecord, type InstallRecord } from '../../domain/records.ts'
import { startGa4StandIn } from '../../stand-ins/ga4.ts'
import { startGoogleAdsStandIn } from '../../stand-ins/google-ads.ts'
import { startGoogleOauthStandIn } from '../../stand-ins/google-oauth.ts'
import { startMetaStandIn } from '../../stand-ins/meta.ts'
import type { Fault } from '../../stand-ins/server.ts'
import { startTiktokStandIn } from '../../stand-ins/tiktok.ts'
import { startXStandIn } from '../../stand-ins/x.ts'
import { MINUTE_MS, NOON_MS } from '../../fixtures/delivery/builders.ts'
import { isAtProvider, startFive, type Five } from '../../fixtures/delivery/five-providers.ts'
import { openStore, until, type Store } from '../../fixtures/delivery/harness.ts'

/** The duration of one request on these tests' clock, to any provider: a busy machine, seen from its queue. */
const REQUEST_MS = 10
const INSTALLS_A_MINUTE = 8
/** Dispatch waits this long on the clock for more installs. */
const LINGER_MS = 25
/** Of this machine's time: a request to a silent provider is given up after it. */
const EXCHANGE_MS = 250

/** Advances only for requests and by what the test adds. */
class WorkClock {
  #nowMs = NOON_MS
  readonly nowMs = (): number => this.#nowMs
  advance(ms: number): void {
    this.#nowMs += ms
  }
}

interface Scene {
  readonly clock: WorkClock
  readonly store: Store
  readonly five: Five
  /** All providers but Google's token service. */
  readonly fail: (provider: 'meta', fault: Fault | null) => void
  readonly asked: (provider: 'meta') => number
  readonly strike: () => Promise<void>
}

/** `silentMs`: how long Meta may be silent, of this machine's time, before a request to it is given up. */
async function setScene(silentMs = EXCHANGE_MS): Promise<Scene> {
  const clock = new WorkClock()
  const options = {
    port: 0,
    nowMs: (): number => {
      clock.advance(REQUEST_MS)
      return clock.nowMs()
    },
  }
  const standIns = {
    ga4: await startGa4StandIn(options),
    google_ads: await startGoogleAdsStandIn(options),
    google_oauth: await startGoogleOauthStandIn({ port: 0, nowMs: clock.nowMs }),
    meta: await startMetaStandIn(options),
    tiktok: await startTiktokStandIn(options),
    x: await startXStandIn(options),
  }
  const { ga4, google_ads, google_oauth, meta, tiktok, x } = standIns
  const urls = {
    ga4: ga4.url,
    google_ads: google_ads.url,
    google_oauth: google_oauth.url,
    meta: meta.url,
    tiktok: tiktok.url,
    x: x.url,
  }
  const folder = await mkdtemp(join(tmpdir(), 'whence-outage-'))
  const store = await openStore(folder, clock.nowMs)
  const five = await startFive({ store, nowMs: clock.nowMs, urls, exchangeMs: { meta: silentMs } })
  return {
    clock,
    store,
    five,
    fail: (provider, fault) => standIns[provider].fail('*', fault),
    asked: (provider) => standIns[provider].total(),
    strike: async () => {
      // What hangs at one of them ends with it.
      await Promise.all(Object.values(standIns).map((standIn) => standIn.close()))
      await five.stop()
      await store.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Resolves when every delivery is with its provider, put aside for later, or on its way to the provider that is down. */
async function quiet({ store, five }: Scene): Promise<void> {
  let calm = 0
  await until(async () => {
    const busy = (await store.log.lag()).some(({ topic, entries }) => entries > 0 && !/\.\d+[smh]$/.test(topic))
    const sending = [...five.workers].some(([id, worker]) => id !== 'meta' && worker.health().inFlight > 0)
    calm = busy || sending ? 0 : calm + 1
    return calm === 3
  })
}

async function minutes(scene: Scene, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) {
    await scene.five.report(INSTALLS_A_MINUTE)
    scene.clock.advance(LINGER_MS)
    await quiet(scene)
    scene.clock.advance(MINUTE_MS)
  }
}

/** From an install's entry on the log to the record that its provider has it, in ms of the clock; by provider. */
async function latencies({ store }: Scene): Promise<ReadonlyMap<ProviderId, readonly number[]>> {
  const takenInAtMs = new Map<string, number>()
  for (const { value } of await store.log.read('installs', 0, 100_000)) {
    const { install } = decodeRecord<InstallRecord>(value)
    takenInAtMs.set(install.eventId, install.receivedAtMs)
  }
  const waits = new Map<ProviderId, Map<string, number>>(PROVIDER_IDS.map((id) => [id, new Map()]))
  for (const { value } of await store.log.read('deliveries', 0, 1_000_000)) {
    const record = decodeRecord<DeliveryRecord>(value)
    const ofProvider = waits.get(record.provider)
    if (ofProvider === undefined || ofProvider.has(record.eventId) || !isAtProvider(record)) continue
    ofProvider.set(record.eventId, record.atMs - (takenInAtMs.get(record.eventId) ?? 0))
  }
  return new Map([...waits].map(([id, byEvent]) => [id, [...byEvent.values()]]))
}

function p99(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length * 0.99)] ?? Number.NaN
}

/** Of all providers but the one that is down; every delivery must be among them. */
async function p99OfOthers(scene: Scene, installs: number): Promise<number> {
  const others = [...(await latencies(scene))].filter(([id]) => id !== 'meta')
  for (const [id, waits] of others) expect(waits, id).to.have.length(installs)
  return p99(others.flatMap(([, waits]) => waits))
}

describe('an hour without one provider of five', () => {
  const scenes: Scene[] = []
  afterEach(async () => {
    for (const scene of scenes.splice(0)) await scene.strike()
  })

  it('at most doubles the 99th percentile of what the others wait, and everything is delivered when it is back', async () => {
    const well = await setScene()
    scenes.push(well)
    await minutes(well, 20)
    const before = await p99OfOthers(well, 20 * INSTALLS_A_MINUTE)

    const ill = await setScene()
    scenes.push(ill)
    for (const fault of [{ kind: 'status', status: 503 }, { kind: 'hang' }, { kind: 'reset' }] as const) {
      ill.fail('meta', fault)
      await minutes(ill, 20)
    }
    const during = await p99OfOthers(ill, 60 * INSTALLS_A_MINUTE)
    expect(before).to.be.within(LINGER_MS, MINUTE_MS)
    expect(during).to.be.at.most(2 * before)
    // Ten failures open the breaker; from then on there is a probe in half a minute.
    expect(ill.asked('meta')).to.be.within(10, 10 + 8 + 120)
    expect((await latencies(ill)).get('meta')).to.deep.equal([])

    ill.fail('meta', null)
    await until(async () => {
      ill.clock.advance(5 * MINUTE_MS)
      await quiet(ill)
      return (await latencies(ill)).get('meta')?.length === 60 * INSTALLS_A_MINUTE
    })
  }).timeout(120_000)

  it('that hangs delays no other: their deliveries arrive while the first request to it has no answer yet', async () => {
    const scene = await setScene(10 * MINUTE_MS)
    scenes.push(scene)
    scene.fail('meta', { kind: 'hang' })
    await scene.five.report(INSTALLS_A_MINUTE)
    await until(() => {
      scene.clock.advance(LINGER_MS)
      return scene.asked('meta') > 0
    })
    await scene.five.report(INSTALLS_A_MINUTE)
    await until(async () => {
      scene.clock.advance(LINGER_MS)
      const others = [...(await latencies(scene))].filter(([id]) => id !== 'meta')
      return others.every(([, waits]) => waits.length === 2 * INSTALLS_A_MINUTE)
    })
    expect(scene.five.workers.get('meta')?.health().inFlight).to.be.greaterThan(0)
    expect((await latencies(scene)).get('meta')).to.deep.equal([])
  }).timeout(60_000)
})
