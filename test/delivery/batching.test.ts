/** Deliveries of one destination share requests, and none of them fails because of another's faults. */

import { expect } from 'chai'

import type { Destination } from '../../domain/catalog.ts'
import type { Job } from '../../domain/records.ts'
import { requestBatches, BatchSizes, type ReadyJob, type RequestBatch } from '../../delivery/worker/request-batch.ts'
import type { Provider } from '../../delivery/providers/provider.ts'
import { googleAds } from '../../delivery/providers/google-ads.ts'
import { meta } from '../../delivery/providers/meta.ts'
import { tiktok } from '../../delivery/providers/tiktok.ts'
import { x } from '../../delivery/providers/x.ts'
import { AnswerCache } from '../../delivery/worker/answer-cache.ts'
import { startGoogleAdsStandIn, type GoogleVerdict } from '../../stand-ins/google-ads.ts'
import { startGoogleOauthStandIn } from '../../stand-ins/google-oauth.ts'
import { startMetaStandIn } from '../../stand-ins/meta.ts'
import type { RecordedRequest, StandInServer } from '../../stand-ins/server.ts'
import { startTiktokStandIn } from '../../stand-ins/tiktok.ts'
import { startXStandIn } from '../../stand-ins/x.ts'
import { AD_DESTINATIONS, adJob } from '../../fixtures/delivery/ad-install.ts'
import { AdStage, type AdStageOptions } from './support/ad-stage.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, NOON_MS } from '../../fixtures/delivery/builders.ts'
import { TestClock, until } from '../../fixtures/delivery/harness.ts'

const GOOGLE_SECRETS = { clientId: 'client', clientSecret: 'client-secret', refreshToken: 'refresh' }

/** Each with identifiers of its own. */
function jobs(count: number, destination: Destination, first = 1): Job[] {
  return Array.from({ length: count }, (_, index) => {
    const number = String(first + index).padStart(4, '0')
    const identities = {
      meta: { fbp: `fb.1.${NOON_MS - HOUR_MS}.99${number}` },
      tiktok: { ttp: `canary-ttp-${number}` },
      x: { twclid: `canarytwclid${number}` },
      google_ads: { gclid: `canary-gclid-${number}` },
    }
    const visit = { issuedAtMs: NOON_MS - 8 * HOUR_MS, landedAtMs: NOON_MS - 8 * HOUR_MS }
    return adJob(destination, { identities, visit, install: { eventId: `event-${number}` } })
  })
}

/** Meta refuses an event of more than seven days and everything that comes with it; no deadline says so here. */
function stale(job: Job): Job {
  return { ...job, install: { ...job.install, receivedAtMs: NOON_MS - 8 * DAY_MS } }
}

const sizesAt = (standIn: StandInServer, list: string): number[] =>
  standIn.requests().flatMap(({ body }: RecordedRequest) => {
    const rows = (body as Record<string, unknown> | null)?.[list]
    return Array.isArray(rows) ? [rows.length] : []
  })

describe('deliveries in one request', () => {
  let stage: AdStage
  let standIn: StandInServer
  let clock: TestClock

  const set = async (
    provider: Provider,
    destination: Destination,
    options: Partial<AdStageOptions> = {},
  ): Promise<void> => {
    const secrets = { accessToken: 'canary-token', pixelToken: 'canary-token' }
    stage = await AdStage.set({ provider, destination, secrets, baseUrl: standIn.url, clock, ...options })
  }
  beforeEach(() => {
    clock = new TestClock()
  })
  afterEach(async () => {
    await stage.strike()
    await standIn.close()
  })

  for (const [provider, destination, start, list] of [
    [meta, AD_DESTINATIONS.meta, startMetaStandIn, 'data'],
    [tiktok, AD_DESTINATIONS.tiktok, startTiktokStandIn, 'data'],
    [x, AD_DESTINATIONS.x, startXStandIn, 'conversions'],
  ] as const) {
    it(`are sent to ${provider.id} together, and each is recorded as if it had been sent alone`, async () => {
      standIn = await start({ port: 0, nowMs: clock.nowMs })
      await set(provider, destination)
      const sent = jobs(30, destination)
      await stage.enqueue(...sent)
      const records = await stage.recorded(30)
      expect(sizesAt(standIn, list)).to.deep.equal([30])
      for (const record of records) {
        expect(record).to.include({ status: 'delivered', attempts: 1 })
        expect(record.detail).to.contain('one of 30 in a request')
        const body = record.attempt?.requestBody ?? ''
        expect(sent.filter(({ jobId }) => body.includes(jobId)).map(({ jobId }) => jobId)).to.deep.equal([record.jobId])
        expect(JSON.stringify(record)).not.to.contain('canary')
      }
    })
  }

  it('are halved if one of them makes all fail, until only that one fails', async () => {
    standIn = await startMetaStandIn({ port: 0, nowMs: clock.nowMs })
    await set(meta, AD_DESTINATIONS.meta)
    const sent = jobs(64, AD_DESTINATIONS.meta).map((job, index) => (index === 20 ? stale(job) : job))
    await stage.enqueue(...sent)
    const records = await stage.recorded(64)
    const failed = records.filter(({ status }) => status !== 'delivered')
    expect(failed.map(({ eventId, status, reason }) => [eventId, status, reason])).to.deep.equal([
      ['event-0021', 'failed', 'refused'],
    ])
    expect(failed[0]?.attempt?.code).to.contain('2804003')
    expect(failed[0]?.detail).to.contain('refused before together with others')
    // All of them, and then two halves at each of six sizes.
    expect(standIn.total()).to.equal(13)
    expect(records.every(({ attempts }) => attempts === 1)).to.equal(true)
  })

  it('wait and come back together after an outage', async () => {
    standIn = await startMetaStandIn({ port: 0, nowMs: clock.nowMs })
    await set(meta, AD_DESTINATIONS.meta)
    standIn.fail('*', { kind: 'status', status: 503 })
    await stage.enqueue(...jobs(20, AD_DESTINATIONS.meta))
    await until(() => standIn.total() === 1)
    standIn.fail('*', null)
    const failed = (await stage.recorded(20)).slice(0, 20)
    expect(new Set(failed.map(({ nextAttemptAtMs }) => nextAttemptAtMs)).size).to.equal(1)
    clock.advance(6_000)
    const records = await stage.recorded(40)
    expect(records.slice(20).every(({ status, attempts }) => status === 'delivered' && attempts === 2)).to.equal(true)
    expect(sizesAt(standIn, 'data')).to.deep.equal([20, 20])
  })

  it('never mix destinations', async () => {
    standIn = await startMetaStandIn({ port: 0, nowMs: clock.nowMs })
    const other = { ...AD_DESTINATIONS.meta, id: 'other-meta', settings: { pixelId: '999' } }
    await set(meta, AD_DESTINATIONS.meta, { others: [other] })
    await stage.enqueue(...jobs(10, AD_DESTINATIONS.meta), ...jobs(5, other, 101))
    await stage.recorded(15)
    const perPixel = standIn.requests().map(({ key, body }: any) => [key, body.data.length])
    expect(perPixel).to.have.deep.members([
      ['123456789012345', 10],
      ['999', 5],
    ])
  })

  it('exclude deliveries with nothing to send, and those that might be too old when they are judged', async () => {
    standIn = await startMetaStandIn({ port: 0, nowMs: clock.nowMs })
    await set(meta, AD_DESTINATIONS.meta)
    const [first, second, ...rest] = jobs(10, AD_DESTINATIONS.meta)
    const nameless = { ...first!, visit: { ...first!.visit, identities: { meta: { fbp: 'malformed' } } } }
    const late = { ...second!, deadlineAtMs: NOON_MS + 30_000 }
    await stage.enqueue(nameless, late, ...rest)
    const records = await stage.recorded(10)
    expect(sizesAt(standIn, 'data')).to.have.members([8, 1])
    expect(records.find(({ jobId }) => jobId === nameless.jobId)).to.include({
      status: 'skipped',
      reason: 'no_identifier',
    })
    expect(records.filter(({ status }) => status === 'delivered')).to.have.length(9)
  })

  it('are validated one by one', async () => {
    const destination = {
      ...AD_DESTINATIONS.meta,
      mode: 'Validate' as const,
      settings: { ...AD_DESTINATIONS.meta.settings, testEventCode: 'TEST1' },
    }
    standIn = await startMetaStandIn({ port: 0, nowMs: clock.nowMs })
    await set(meta, destination)
    await stage.enqueue(...jobs(3, destination))
    await stage.recorded(3)
    expect(sizesAt(standIn, 'data')).to.deep.equal([1, 1, 1])
  })

  it('count as one failure for the destination when the credentials are refused, and all of them wait', async () => {
    standIn = await startMetaStandIn({ port: 0, nowMs: clock.nowMs, guard: { isToken: () => false } })
    await set(meta, AD_DESTINATIONS.meta)
    await stage.enqueue(...jobs(12, AD_DESTINATIONS.meta))
    const records = await stage.recorded(12)
    expect(records.every(({ reason }) => reason === 'credentials_refused')).to.equal(true)
    expect(standIn.total()).to.equal(1)
    expect(await stage.activityTypes()).to.deep.equal(['destination_paused'])
  })
})

describe("deliveries in one request to Google, and Google's verdict", () => {
  let stage: AdStage
  let ads: StandInServer
  let oauth: StandInServer
  let clock: TestClock
  let verdict: GoogleVerdict

  beforeEach(async () => {
    clock = new TestClock()
    verdict = { requestStatus: 'SUCCESS' }
    const { nowMs } = clock
    oauth = await startGoogleOauthStandIn({ port: 0, nowMs })
    ads = await startGoogleAdsStandIn({ port: 0, nowMs, judge: () => verdict })
    const destination = AD_DESTINATIONS.google_ads
    const urls = { baseUrl: ads.url, tokenUrl: oauth.url }
    stage = await AdStage.set({ provider: googleAds, destination, secrets: GOOGLE_SECRETS, ...urls, clock })
    await stage.enqueue(...jobs(25, destination))
    await stage.recorded(25)
  })
  afterEach(async () => {
    await stage.strike()
    await ads.close()
    await oauth.close()
  })
  const questions = (): number => ads.requests().filter(({ path }) => path === '/v1/requestStatus:retrieve').length

  it('is read once for all of them', async () => {
    expect(sizesAt(ads, 'events')).to.deep.equal([25])
    clock.advance(31 * MINUTE_MS)
    const records = await stage.recorded(50)
    expect(records.slice(25).every(({ status }) => status === 'delivered')).to.equal(true)
    expect(questions()).to.equal(1)
  })

  it('fails all of them if it fails the request, with the reason', async () => {
    verdict = { requestStatus: 'FAILED', reasons: ['INVALID_GCLID'] }
    clock.advance(31 * MINUTE_MS)
    const records = await stage.recorded(50)
    expect(new Set(records.slice(25).map(({ status }) => status))).to.deep.equal(new Set(['failed']))
    expect(records.at(-1)?.attempt?.code).to.contain('INVALID_GCLID')
  })

  it('stays one for the request if it is mixed', async () => {
    verdict = { requestStatus: 'PARTIAL_SUCCESS', reasons: ['INVALID_GCLID'] }
    clock.advance(31 * MINUTE_MS)
    const records = await stage.recorded(50)
    expect(new Set(records.slice(25).map(({ status, attempt }) => `${status} ${attempt?.code}`))).to.deep.equal(
      new Set(['delivered PARTIAL_SUCCESS INVALID_GCLID']),
    )
  })
})

describe('request batches', () => {
  const target = { destination: AD_DESTINATIONS.meta, secrets: {} }
  const readyJob = (number: number, organization: string, destination: string): ReadyJob => ({
    job: { ...jobs(1, AD_DESTINATIONS.meta, number)[0]!, organization, destination },
    action: { kind: 'send', target, isTrusted: true },
  })
  const named = (batches: readonly RequestBatch[]): string[] =>
    batches.map(({ key, jobs: inside }) => `${key.split('/')[2]}:${inside.length}`)

  it('let organisations take turns, each in the order of its own jobs', () => {
    const ready = [
      ...['a1', 'a2', 'a3', 'a4'].map((destination, index) => readyJob(index, 'a', destination)),
      readyJob(8, 'b', 'b1'),
      readyJob(9, 'c', 'c1'),
      readyJob(10, 'b', 'b2'),
    ]
    const batches = requestBatches(ready, { provider: meta, maxJobs: () => 512, nowMs: NOON_MS })
    expect(named(batches)).to.deep.equal(['a1:1', 'b1:1', 'c1:1', 'a2:1', 'b2:1', 'a3:1', 'a4:1'])
  })

  it('contain at most what the provider accepts, and what the destination has accepted so far', () => {
    const ready = Array.from({ length: 10 }, (_, index) => readyJob(index, 'a', 'a1'))
    const narrow = { ...meta, batch: { ...meta.batch!, maxJobs: 4 } }
    const rules = { provider: narrow, maxJobs: () => 512, nowMs: NOON_MS }
    expect(named(requestBatches(ready, rules))).to.deep.equal(['a1:4', 'a1:4', 'a1:2'])
    expect(named(requestBatches(ready, { ...rules, maxJobs: () => 3 }))).to.deep.equal(['a1:3', 'a1:3', 'a1:3', 'a1:1'])
  })

  it('shrink by half with each refusal, and grow again with each full one that is taken', () => {
    const sizes = new BatchSizes()
    sizes.refused('a', 100)
    expect(sizes.most('a')).to.equal(50)
    for (let jobsLeft = 50; jobsLeft > 1; jobsLeft = sizes.most('a')) sizes.refused('a', jobsLeft)
    sizes.refused('a', 1)
    expect(sizes.most('a')).to.equal(1)
    sizes.taken('a', 1)
    expect(sizes.most('a')).to.equal(2)
    sizes.taken('a', 1)
    expect(sizes.most('a')).to.equal(2)
    for (const size of [2, 4, 8, 16, 32, 64, 128, 256, 512]) sizes.taken('a', size)
    expect(sizes.most('a')).to.equal(Number.POSITIVE_INFINITY)
    expect(sizes.most('b')).to.equal(Number.POSITIVE_INFINITY)
  })
})

describe('a verdict', () => {
  it('keep a newer answer if an older request for the same fails late', async () => {
    const answers = new AnswerCache<number>()
    const older = Promise.withResolvers<number>()
    const late = answers.get('key', 0, () => older.promise).catch(() => 'failed')
    expect(await answers.get('key', 30_000, async () => 2)).to.deep.equal({ answer: 2, isFresh: true })
    older.reject(new Error('no answer'))
    expect(await late).to.equal('failed')
    expect(await answers.get('key', 30_001, async () => 3)).to.deep.equal({ answer: 2, isFresh: false })
  })

  it('is requested once for all who need it within half a minute, and again if that failed', async () => {
    const answers = new AnswerCache<number>()
    let asked = 0
    const ask = async (): Promise<number> => {
      asked += 1
      if (asked === 1) throw new Error('no answer')
      return asked
    }
    const failure = await answers.get('a', 0, ask).catch((error: Error) => error.message)
    expect(failure).to.equal('no answer')
    const both = await Promise.all([answers.get('a', 0, ask), answers.get('a', 29_999, ask)])
    expect(both.map(({ answer, isFresh }) => [answer, isFresh])).to.deep.equal([
      [2, true],
      [2, false],
    ])
    expect(await answers.get('a', 30_000, ask)).to.deep.equal({ answer: 3, isFresh: true })
    expect(await answers.get('b', 30_000, ask)).to.deep.equal({ answer: 4, isFresh: true })
  })
})
