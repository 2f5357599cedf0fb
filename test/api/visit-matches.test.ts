/**
 * If unusually many installations are matched to a visit, that is reported to its website's organisation, whichever hot state
 * counts.
 */

import { expect } from 'chai'
import { until } from '../../fixtures/until.ts'
import { matchHits } from '../../domain/collection/rate.ts'
import { redisHotState } from '../../ports/hot-state/redis/redis.ts'
import { newId } from '../../fixtures/service/requests.ts'
import { hasRedisServer, startRedis, type RedisServer } from '../../fixtures/engines/redis.ts'
import { claimsOf } from './support/keys.ts'
import { eventBody, manifestsWith, startApi, type Api } from './support/api.ts'

const DAY_MS = 86_400_000
const THRESHOLD = 3
const MANIFESTS = manifestsWith([
  'displayName: acme.dev',
  `displayName: acme.dev\n  warnings: { installationsPerVisit: ${THRESHOLD} }`,
])

for (const store of ['LMDB', 'Redis'] as const) {
  describe(`a visit that many installations are matched to, with ${store}`, () => {
    let redis: RedisServer | null = null
    let api: Api
    before(async function () {
      if (store === 'Redis' && !hasRedisServer()) return this.skip()
      redis = store === 'Redis' ? await startRedis() : null
      const env = redis === null ? {} : { WHENCE_HOT_STATE: redis.url }
      api = await startApi({ manifests: MANIFESTS, env })
    })
    after(async () => {
      await api?.stop()
      await redis?.stop()
    })

    const install = async (receipt: string, more: Record<string, unknown> = {}) => {
      const { body } = await api.event({ receipts: [receipt], ...more })
      expect(body).to.include({ resolution: 'matched' })
    }
    const installs = async (receipt: string, count: number) => {
      for (let number = 0; number < count; number++) await install(receipt)
    }
    const entries = async (receipt: string, { service } = api) => {
      await service.drain('facts-writer')
      const nowMs = service.nowMs()
      const rows = await service.facts.run('listActivity', {
        since_ms: nowMs - 60 * DAY_MS,
        until_ms: nowMs + DAY_MS,
        limit: 1_000,
      })
      return rows.filter(({ type, subject }) => type === 'visit_matched_often' && subject === claimsOf(receipt).visitId)
    }
    const counted = async ({ service } = api): Promise<number> => {
      const metrics = await (await fetch(service.metricsUrl)).text()
      return Number(/^whence_matches_over_warning_total (\d+)$/m.exec(metrics)?.[1] ?? Number.NaN)
    }

    it('is recorded once, when there is one more than the website allows', async () => {
      const receipt = await api.activeReceipt()
      const before = await counted()
      await installs(receipt, THRESHOLD)
      expect(await entries(receipt)).to.deep.equal([])
      expect(await counted()).to.equal(before)
      await installs(receipt, 4)
      await until(async () => (await counted()) === before + 4)
      expect(await counted()).to.equal(before + 4)
      const told = await entries(receipt)
      expect(told).to.have.length(1)
      expect(told[0]).to.include({ organization: 'acme', website: 'acme-dev' })
      expect(told[0]?.message).to.include(`More than ${THRESHOLD} installations`)
    })

    it('counts an installation once, whatever it reports, repeats and tries again', async () => {
      const receipt = await api.activeReceipt()
      const before = await counted()
      for (let number = 0; number < THRESHOLD; number++) {
        const installation_id = newId()
        const first = eventBody({ receipts: [receipt], installation_id })
        await Promise.all([
          install(receipt, first),
          install(receipt, first),
          install(receipt, { installation_id, event_type: 'install_started' }),
          install(receipt, { installation_id, event_type: 'first_run' }),
        ])
        await install(receipt, { installation_id, event_type: 'first_run' })
        await api.event({ installation_id, event_type: 'first_run' })
      }
      expect(await entries(receipt)).to.deep.equal([])
      expect(await counted()).to.equal(before)
      await install(receipt)
      await until(async () => (await entries(receipt)).length > 0)
      expect(await entries(receipt)).to.have.length(1)
      expect(await counted()).to.equal(before + 1)
    })

    it('counts an install once if its record had to be made again', async () => {
      const receipt = await api.activeReceipt()
      await installs(receipt, THRESHOLD - 1)
      const { eventLog } = api.service
      const append = eventLog.append.bind(eventLog)
      let isRefusing = true
      eventLog.append = (topic, ...rest) =>
        topic === 'installs' && isRefusing ? Promise.reject(new Error('away')) : append(topic, ...rest)
      const event = eventBody({ receipts: [receipt] })
      for (let tries = 0; tries < 3; tries++) await api.post('/v1/events', event)
      isRefusing = false
      expect((await api.post('/v1/events', event)).body).to.include({ resolution: 'matched' })
      await api.post('/v1/events', event)
      eventLog.append = append
      expect(await entries(receipt)).to.deep.equal([])
      await install(receipt)
      await until(async () => (await entries(receipt)).length > 0)
      expect(await entries(receipt)).to.have.length(1)
    })

    // Processes share nothing but a Redis.
    if (store === 'Redis') {
      it('is recorded even if its installs reached several processes', async () => {
        const receipt = await api.activeReceipt()
        const { visitId } = claimsOf(receipt)
        const elsewhere = await redisHotState(redis?.url ?? '', { whenAway: 'reject', times: { deadlineMs: 5_000 } })
        try {
          for (let number = 0; number < THRESHOLD; number++) {
            const counted = await elsewhere.countHits(
              matchHits({ website: 'acme-dev', visitId, installationId: newId() }),
            )
            expect(counted).to.deep.equal({ kind: 'counted', counts: [1, number + 1] })
          }
          await install(receipt)
          await until(async () => (await entries(receipt)).length > 0)
          expect(await entries(receipt)).to.have.length(1)
        } finally {
          await elsewhere.close()
        }
      })
    }

    it('does not delay an answer, or make it fail', async () => {
      const receipt = await api.activeReceipt()
      const { hotState } = api.service
      const countHits = hotState.countHits.bind(hotState)
      let matches = 0
      hotState.countHits = (hits) => {
        if (!hits.some(({ key }) => key.startsWith('match'))) return countHits(hits)
        matches += 1
        return matches % 2 === 0 ? Promise.reject(new Error('away')) : new Promise<never>(() => undefined)
      }
      try {
        await installs(receipt, 20)
      } finally {
        hotState.countHits = countHits
      }
      expect(matches).to.equal(20)
    })
  })
}
