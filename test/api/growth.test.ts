/**
 * No request costs more than linear time: whatever fills a header or a field, twice as much of it costs about twice as much.
 *
 * The processor time of this process is counted, the least of several rounds: time of other processes is not included,
 * and a round that was disturbed (for example by a garbage collection) is not the least.
 */

import { expect } from 'chai'
import { visitBody } from '../../fixtures/service/requests.ts'
import { startBareApi, type BareApi } from './support/bare-api.ts'
import { posted, WORST_REQUESTS, type Case } from './support/worst-requests.ts'

const GROWTH_MAX = 2.5
const ROUNDS = 2
/** For inputs that looked expensive at first. */
const MORE_ROUNDS = 60
const REQUESTS_PER_ROUND = 2

describe('what a request costs', () => {
  let api: BareApi
  before(async () => {
    api = await startBareApi()
    const warm = posted('/v1/visits', JSON.stringify(visitBody()))
    for (let count = 0; count < 500; count++) await api.exchange(warm)
  })
  after(() => api.close())

  /** Processor time of a few requests, in microseconds. */
  const costOf = async (bytes: Buffer): Promise<number> => {
    const began = process.cpuUsage()
    for (let count = 0; count < REQUESTS_PER_ROUND; count++) {
      const status = await api.exchange(bytes)
      if (status < 200 || status >= 500) throw new Error(`answered ${status}: ${bytes.toString('latin1', 0, 200)}`)
    }
    const { user, system } = process.cpuUsage(began)
    return user + system
  }
  const growthOf = async ({ make }: Case): Promise<number> => {
    const [half, whole] = [make(0.5), make(1)]
    let [least, most] = [Infinity, Infinity]
    for (let round = 0; round < MORE_ROUNDS; round++) {
      least = Math.min(least, await costOf(half))
      most = Math.min(most, await costOf(whole))
      if (round + 1 >= ROUNDS && most / least <= GROWTH_MAX) break
    }
    return most / least
  }

  for (const [name, cases] of Object.entries(WORST_REQUESTS)) {
    it(`at most doubles, or nearly, with twice as much in ${name}`, async () => {
      const dear: string[] = []
      for (const each of cases()) {
        const growth = await growthOf(each)
        if (growth > GROWTH_MAX) dear.push(`${each.name}: ${growth.toFixed(2)}`)
      }
      expect(dear).to.deep.equal([])
    }).timeout(240_000)
  }
})
