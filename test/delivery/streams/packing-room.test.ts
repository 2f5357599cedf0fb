/** The memory in which batches of all streams are packed: never more than its bound, in turn, and not while a batch is sent. */

import { expect } from 'chai'
import * as fc from 'fast-check'

import { createPackingRoom } from '../../../delivery/streams/packing-room.ts'
import type { LogRecord } from '../../../domain/records.ts'
import { until } from '../../../fixtures/until.ts'
import { requestRecord, unique } from '../../contract/fact-samples.ts'
import { Receiver } from './receiver.ts'
import { Stage, type Actor } from './stage.ts'

const MOST = 100

describe('the room in which batches are packed', () => {
  it('is never exceeded, is given in turn, and is given back by what fails', async () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 130 }), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(sizes, fc.infiniteStream(fc.nat()), async (batches, dice) => {
        const room = createPackingRoom(MOST)
        const inside = new Map<number, () => void>()
        const begun: number[] = []
        const works = batches.map((bytes, batch) =>
          room.within(bytes, async () => {
            begun.push(batch)
            await new Promise<void>((end) => inside.set(batch, end))
            inside.delete(batch)
            if (bytes % 2 === 1) throw new Error('failed')
          }),
        )
        const ended = Promise.allSettled(works)
        while (begun.length < batches.length || inside.size > 0) {
          await new Promise(setImmediate)
          const held = [...inside.keys()].reduce((sum, batch) => sum + Math.min(batches[batch] ?? 0, MOST), 0)
          expect(held).to.be.at.most(MOST)
          const all = [...inside.values()]
          expect(all.length, 'somebody is always let in').to.be.greaterThan(0)
          all[(dice.next().value ?? 0) % all.length]?.()
          await new Promise(setImmediate)
        }
        expect(begun).to.deep.equal(batches.map((_, batch) => batch))
        const failed = (await ended).map(({ status }) => status === 'rejected')
        expect(failed).to.deep.equal(batches.map((bytes) => bytes % 2 === 1))
      }),
      { numRuns: 60 },
    )
  })
})

describe('two log streams in a room for one batch', function () {
  this.timeout(120_000)
  let stage: Stage
  let receivers: Receiver[] = []

  before(async () => {
    stage = await Stage.open()
  })
  after(() => stage.close())
  afterEach(async () => {
    await Promise.all(receivers.map((receiver) => receiver.close()))
    receivers = []
  })

  /** Streams whose batches each take the whole room, with records that wait; `pack` is called when a batch is packed. */
  const begun = async (count: number, pack: (index: number) => void): Promise<readonly Actor[]> => {
    const packing = createPackingRoom(1)
    const organizations = Array.from({ length: count }, () => unique('organization'))
    const actors: Actor[] = []
    for (const [index, organization] of organizations.entries()) {
      const receiver = await Receiver.open()
      receivers.push(receiver)
      const sender: NonNullable<Parameters<Stage['actor']>[0]['sender']> = (own) => ({
        ...own,
        pack(plan, records) {
          pack(index)
          return own.pack(plan, records)
        },
      })
      const actor = stage.actor({ organization, receiver, packing, sender })
      await stage.settle(actor)
      actors.push(actor)
    }
    const request = (organization: string): LogRecord =>
      requestRecord({ organization, website: 'acme', receivedAtMs: Date.now() })
    await stage.write('requests', organizations.map(request))
    stage.nowMs += 10_000
    return actors
  }

  it('pack one after the other, and the second does while the receiver of the first still hangs', async () => {
    const packed: number[] = []
    const [first, second] = await begun(2, (index) => void packed.push(index))
    const [hanging, healthy] = receivers
    if (hanging === undefined || healthy === undefined) throw new Error('no receivers')
    hanging.mood = 'hangs'
    const asked = hanging.asked
    let isOver = false
    const step = first?.runner.step().then(() => (isOver = true))
    await until(() => hanging.asked > asked)
    expect(packed).to.deep.equal([0])
    await second?.runner.step()
    expect([packed, isOver]).to.deep.equal([[0, 1], false])
    expect(healthy.records).to.have.lengthOf(1)
    expect(hanging.records, 'it has answered nothing').to.have.lengthOf(0)
    await hanging.close()
    receivers = [healthy]
    await step
  })
})
