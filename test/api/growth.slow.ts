/**
 * No request costs more than linear time: whatever fills a header or a field, twice as much of it costs about twice as much.
 *
 * The processor time of this process is counted, the least of several rounds: time of other processes is not included,
 * and a round that was disturbed (for example by a garbage collection) is not the least. What seems dear is measured
 * again after all others, and then from a quarter to the whole. A step, or a processor that changed its pace, does not
 * show in all of these; a cost that grows with the square does (4, 4 and 16 times).
 */

import { expect } from 'chai'
import { visitBody } from '../../fixtures/service/requests.ts'
import { startBareApi, type BareApi } from './support/bare-api.ts'
import { posted, WORST_REQUESTS, type Case } from './support/worst-requests.ts'

/** From one half to the whole. */
const GROWTH_MAX = 2.5
/** From a quarter to the whole. */
const GROWTH_OF_QUARTER_MAX = 5
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
  /** How many times as much the whole costs as the given part of it. */
  const growthOf = async ({ make }: Case, part: number, growthMax: number): Promise<number> => {
    const small = make(part)
    const whole = make(1)
    let least = Infinity
    let most = Infinity
    for (let round = 0; round < MORE_ROUNDS; round++) {
      least = Math.min(least, await costOf(small))
      most = Math.min(most, await costOf(whole))
      if (round + 1 >= ROUNDS && most / least <= growthMax) break
    }
    return most / least
  }
  const dearOf = async (cases: readonly Case[]): Promise<Case[]> => {
    const dear: Case[] = []
    for (const each of cases) if ((await growthOf(each, 0.5, GROWTH_MAX)) > GROWTH_MAX) dear.push(each)
    return dear
  }

  for (const [name, cases] of Object.entries(WORST_REQUESTS)) {
    it(`at most doubles, or nearly, with twice as much in ${name}`, async () => {
      const found: string[] = []
      for (const each of await dearOf(await dearOf(cases()))) {
        const growth = await growthOf(each, 0.25, GROWTH_OF_QUARTER_MAX)
        if (growth > GROWTH_OF_QUARTER_MAX) found.push(`${each.name}: ${growth.toFixed(2)} times a quarter`)
      }
      expect(found.join('\n')).to.equal('')
    }).timeout(240_000)
  }
})
