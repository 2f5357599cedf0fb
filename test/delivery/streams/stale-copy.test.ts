/** A log stream that was deleted and made again, seen by a process whose copy of the catalog still has the deleted one. */

import { expect } from 'chai'

import { createPackingRoom } from '../../../delivery/streams/packing-room.ts'
import { StreamRunner } from '../../../delivery/streams/runner.ts'
import { newProgress } from '../../../domain/streams/progress.ts'
import { KEYS } from './receiver.ts'
import { STREAM } from './stage.ts'

describe('the progress of a stream that was made again', () => {
  const waited: number[] = []
  let saved = 0
  /** That of the process, which has the deleted object; the progress belongs to one of catalog 7. */
  const runnerAt = (catalogNumber: number): StreamRunner =>
    new StreamRunner({
      backlog: {
        facts: { run: async () => Promise.reject(new Error('it begins anew')) },
        watermarks: async () => new Map(),
      },
      store: {
        load: async () => newProgress({ lane: 5 }, 0, 'made again', 7),
        save: async () => void (saved += 1),
      },
      configured: {
        current: () => ({
          stream: { ...STREAM, uid: 'deleted' },
          organization: { id: 'acme', logRetentionDays: 30 },
          target: { kind: 'webhook', url: 'https://logs.acme.dev/in', ...KEYS },
        }),
        catalogNumber: () => catalogNumber,
        waits: { isBehind: (number = 0) => number > catalogNumber, waitFor: (number) => waited.push(number) },
      },
      nowMs: Date.now,
      sending: {
        senderOf: () => expect.fail('nothing is sent'),
        packing: createPackingRoom(1),
        random: () => 0,
      },
      news: {
        tell: async () => undefined,
        sent: () => undefined,
        dropped: () => undefined,
        standings: () => undefined,
      },
    })
  beforeEach(() => {
    waited.length = 0
    saved = 0
  })

  it('is left alone while the copy is older than the catalog in which that was found', async () => {
    expect(await runnerAt(6).step()).to.be.greaterThan(0)
    expect(waited).to.deep.equal([7])
    expect(saved).to.equal(0)
  })

  it('is begun anew for another object of a catalog that is as new', async () => {
    const failure = await runnerAt(7)
      .step()
      .catch((error: unknown) => error)
    expect(failure).to.be.an('error').with.property('message', 'it begins anew')
  })
})
