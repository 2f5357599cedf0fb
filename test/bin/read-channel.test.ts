/** Calls between two threads, over a real message channel. */

import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'

import { expect } from 'chai'

import { Outage } from '../../common/outage.ts'
import { Moved, openChannel, type Channel, type Offers } from '../../bin/reads/channel.ts'

class EngineAway extends Error {
  override readonly name = 'EngineAway'
  readonly code = '241'
}

class StoreAway extends Outage {
  override readonly name = 'StoreAway'
}

describe('a call between threads', () => {
  const { port1, port2 } = new MessageChannel()
  const bytes = { alone: new Uint8Array(3_000_000), shared: new Uint8Array(new ArrayBuffer(16), 4, 8) }
  const aborted: unknown[] = []
  const offers = {
    double: async (number: number) => number * 2,
    fail: async () => {
      throw new EngineAway('the engine is away')
    },
    failByOutage: () => Promise.reject(new StoreAway('the store is away')),
    failOddly: () => Promise.reject(Object.assign(new Error('x'), { code: Symbol('not to be copied') })),
    copyFunction: async () => () => 'a function',
    bytes: async (which: 'alone' | 'shared') => new Moved({ found: bytes[which] }, bytes[which]),
    wait: async (_: null, signal: AbortSignal) => {
      await once(signal, 'abort')
      aborted.push(signal.aborted)
    },
  } satisfies Offers
  openChannel(port1, offers)
  const { call, close }: Channel<typeof offers & { readonly unknown: () => Promise<void> }> = openChannel(port2, {})
  after(() => {
    port1.close()
    port2.close()
  })

  const failure = (result: Promise<unknown>): Promise<Record<string, unknown>> =>
    result.then(
      () => ({}),
      (error: unknown) => error as Record<string, unknown>,
    )

  it('resolves with the result, several of them at a time', async () => {
    expect(await Promise.all([1, 2, 3].map((number) => call('double', number)))).to.deep.equal([2, 4, 6])
  })

  it('rejects with the error of the other side: its name, message, code and stack', async () => {
    const error = await failure(call('fail', undefined as never))
    expect(error).to.be.instanceOf(Error)
    expect(error).to.include({ name: 'EngineAway', message: 'the engine is away', code: '241' })
    expect(error['stack']).to.include('read-channel.test.ts')
    expect(await failure(call('unknown', undefined as never))).to.include({
      message: 'the other thread offers no unknown',
    })
  })

  it('rejects with an outage if the other side meets one, and with no outage otherwise', async () => {
    const error = await failure(call('failByOutage', undefined as never))
    expect(error).to.be.instanceOf(Outage)
    expect(error).to.include({ name: 'StoreAway', message: 'the store is away' })
    expect(await failure(call('fail', undefined as never))).not.to.be.instanceOf(Outage)
  })

  it('rejects if the result or the error cannot be copied, and the channel goes on', async () => {
    expect(await failure(call('copyFunction', undefined as never))).to.include({ name: 'DataCloneError' })
    expect(await failure(call('failOddly', undefined as never))).to.include({ message: 'x' })
    expect(await call('double', 4)).to.equal(8)
  })

  it('hands bytes over that are alone in their memory, and copies others', async () => {
    expect((await call('bytes', 'alone')).found).to.have.lengthOf(3_000_000)
    expect(bytes.alone).to.have.lengthOf(0)
    expect((await call('bytes', 'shared')).found).to.have.lengthOf(8)
    expect(bytes.shared).to.have.lengthOf(8)
  })

  it('rejects at once with the reason of its signal, and aborts the signal of the other side', async () => {
    const gone = new AbortController()
    const waiting = call('wait', null, gone.signal)
    await call('double', 1)
    const reason = new Error('its client has left')
    gone.abort(reason)
    expect(await failure(waiting)).to.equal(reason)
    await call('double', 1)
    expect(aborted).to.deep.equal([true])
    expect(await failure(call('wait', null, gone.signal))).to.equal(reason)
    await call('double', 1)
    expect(aborted, 'a call that was never made').to.deep.equal([true])
  })

  it('is aborted if the side that made it ends', async () => {
    const { port1: asking, port2: answering } = new MessageChannel()
    const seen: unknown[] = []
    const wait = async (_: null, signal: AbortSignal) => {
      await once(signal, 'abort')
      seen.push(signal.reason)
    }
    const answerer = openChannel(answering, { wait, double: offers.double })
    const asker: Channel<typeof offers> = openChannel(asking, {})
    void failure(asker.call('wait', null))
    await asker.call('double', 1)
    answerer.close(new Error('the other thread has ended'))
    await asker.call('double', 1)
    expect(seen).to.have.lengthOf(1)
    expect(seen[0]).to.include({ message: 'the other thread has ended' })
    asking.close()
    answering.close()
  })

  it('rejects once the channel is closed, whether it waits or is made later', async () => {
    const waiting = failure(call('wait', null))
    const reason = new Error('the thread has ended')
    close(reason)
    expect(await waiting).to.equal(reason)
    expect(await failure(call('double', 1))).to.equal(reason)
  })
})
