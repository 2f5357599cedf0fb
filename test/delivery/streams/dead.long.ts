/**
 * A stream whose receiver is dead for days, beside streams that are well, by a clock of the test: one day in `make test-long`;
 * in `make chaos`, which sets WHENCE_CHAOS, seven and a half days beside 50.
 */

import { expect } from 'chai'

import type { LogRecord } from '../../../domain/records.ts'
import { requestRecord, unique } from '../../contract/fact-samples.ts'
import { Receiver } from './receiver.ts'
import { Stage, type Actor } from './stage.ts'

const isLong = process.env['WHENCE_CHAOS'] !== undefined
const [HOURS, STREAMS] = isLong ? [180, 50] : [24, 2]
const HOUR_MS = 3_600_000
const KEPT_MS = 7 * 24 * HOUR_MS
const RECORDS = 4
/** A step of a stream moves the clock by this. */
const STEP_MS = 1_001
/** Tries before they come once an hour. */
const FIRST_TRIES = 6

describe('a log stream that is dead', function () {
  this.timeout(isLong ? 3_000_000 : 120_000)
  let stage: Stage
  let well: Receiver
  let dead: Receiver
  /** Times of the records of the stream that is dead. */
  const written: number[] = []

  before(async () => {
    stage = await Stage.open()
    well = await Receiver.open()
    dead = await Receiver.open()
  })
  after(async () => {
    await well?.close()
    await dead?.close()
    await stage?.close()
  })

  /** Hours of traffic; gives the lags of all records at the receiver that is well, in ms, the shortest first. */
  const live = async (hours: number, healthy: readonly Actor[], beside: Actor | null): Promise<readonly number[]> => {
    const lags: number[] = []
    const cameAt: Map<string, number> = new Map()
    let noted = well.records.length
    well.onBatch = () => {
      for (const { id } of well.records.slice(noted)) lags.push(stage.nowMs - (cameAt.get(id) ?? 0))
      noted = well.records.length
    }
    for (let hour = 0; hour < hours; hour += 1) {
      stage.nowMs += HOUR_MS
      const all = [...healthy, ...(beside === null ? [] : [beside])]
      const records = all.flatMap(({ inForce }) => recordsOf(inForce.organization.id))
      for (const record of records) if ('request' in record) cameAt.set(record.request.id, stage.nowMs)
      if (beside !== null) written.push(...Array.from({ length: RECORDS }, timeOfRecord))
      await stage.write('requests', records)
      if (beside !== null) await stage.settle(beside)
      for (const actor of healthy) await stage.settle(actor)
    }
    well.onBatch = () => undefined
    return lags.toSorted((a, b) => a - b)
  }
  const recordsOf = (organization: string): LogRecord[] =>
    Array.from({ length: RECORDS }, () =>
      requestRecord({ organization, website: 'acme', receivedAtMs: timeOfRecord() }),
    )
  const timeOfRecord = (): number => stage.nowMs - Math.floor(HOUR_MS / 2)
  const p99 = (lags: readonly number[]): number => lags[Math.ceil(lags.length * 0.99) - 1] ?? NaN

  it(`for ${HOURS} hours does not delay ${STREAMS} others, is called once an hour, and gets everything that was kept once it is back`, async () => {
    const healthy = Array.from({ length: STREAMS }, () => stage.actor({ organization: unique('well'), receiver: well }))
    for (const actor of healthy) await stage.settle(actor)
    const alone = await live(isLong ? 24 : 4, healthy, null)

    const organization = unique('dead')
    const actor = stage.actor({ organization, receiver: dead })
    await stage.settle(actor)
    dead.mood = 503
    const askedBefore = dead.asked
    const beside = await live(HOURS, healthy, actor)
    expect(beside).to.have.lengthOf(HOURS * STREAMS * RECORDS)
    expect(p99(beside) - p99(alone), 'its own step and no more').to.be.at.most(2 * STEP_MS)
    const asked = dead.asked - askedBefore
    expect(asked).to.be.at.most(HOURS + FIRST_TRIES)

    dead.mood = 'takes'
    stage.nowMs += 1.5 * HOUR_MS
    // Each step of each stream has moved the clock, so that an hour of traffic takes longer than an hour.
    const lost = written.filter((atMs) => atMs < stage.nowMs + STEP_MS - KEPT_MS).length
    await stage.settle(actor, 400)
    const row = (await stage.facts.run('streamStates', {})).find((each) => each.organization === organization)
    const { delivered = 0, dropped = 0, state = '' } = row ?? {}
    expect(state).to.equal('Delivering')
    expect(delivered + dropped).to.equal(HOURS * RECORDS)
    const gaps = dead.records.filter(({ type }) => type === 'gap')
    expect(gaps.reduce((sum, gap) => sum + Number(gap['dropped']), 0)).to.equal(dropped)
    expect(dropped, 'what is older than seven days').to.be.within(lost, lost === 0 ? 0 : lost + RECORDS)
    const held = dead.held().filter(({ type }) => type === undefined)
    expect(held).to.have.lengthOf(delivered)
    const lags = `p99 lag of ${STREAMS} others ${p99(alone)} ms alone, ${p99(beside)} ms beside it, of ${beside.length} records`
    const own = `${asked} calls while it was dead, ${delivered} records delivered and ${dropped} dropped of ${HOURS * RECORDS}`
    console.log(`        ${lags}; ${own}, ${gaps.length} gap records`)
  })
})
