/** What the worker appends of a job: tried several times, and never given up silently. */

import { expect } from 'chai'

import { appendWithRetries } from '../../delivery/sure-appends.ts'

const ENTRY = { key: 'k', value: 'v' }

/** Fails this many appends and takes the others. */
function logThatFails(failures: number) {
  const tried: unknown[] = []
  const append = async (topic: string, entries: readonly unknown[]): Promise<void> => {
    tried.push([topic, entries])
    if (tried.length <= failures) throw new Error('not enough replicas')
  }
  return { tried, eventLog: { append } as Parameters<typeof appendWithRetries>[0] }
}

describe('an append of the worker', () => {
  it('is tried again while the log refuses it', async () => {
    const { eventLog, tried } = logThatFails(3)
    await appendWithRetries(eventLog, 'deliveries', ENTRY)
    expect(tried).to.deep.equal(Array(4).fill(['deliveries', [ENTRY]]))
  })

  it('rejects in the end, so that the job stays on the log', async () => {
    const { eventLog, tried } = logThatFails(Number.POSITIVE_INFINITY)
    const failure = await appendWithRetries(eventLog, 'deliveries', ENTRY).then(
      () => null,
      (error: Error) => error.message,
    )
    expect(failure).to.equal('not enough replicas')
    expect(tried).to.have.length(4)
  })
})
