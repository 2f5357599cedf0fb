/** Nothing is waited for longer than was said, and no timer or rejection is left behind. */

import { setTimeout as wait } from 'node:timers/promises'

import { expect } from 'chai'

import { endedWithin, within } from '../../common/deadline.ts'

const NEVER = new Promise<never>(() => undefined)

/** Runs the work and counts the timers of this length that it set and did not clear. */
async function timersLeft(ms: number, work: () => Promise<void>): Promise<number> {
  const { setTimeout: set, clearTimeout: clear } = globalThis
  const left = new Set<unknown>()
  globalThis.setTimeout = ((...args: Parameters<typeof set>) => {
    const timer = set(...args)
    if (args[1] === ms) left.add(timer)
    return timer
  }) as typeof set
  globalThis.clearTimeout = (timer) => {
    left.delete(timer)
    clear(timer)
  }
  try {
    await work()
    return left.size
  } finally {
    Object.assign(globalThis, { setTimeout: set, clearTimeout: clear })
  }
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  )
}

describe('a deadline', () => {
  it('gives what the work gives, its failure too, and leaves no timer', async () => {
    const failure = new Error('refused')
    const left = await timersLeft(61_234, async () => {
      expect(await within(Promise.resolve(7), 61_234)).to.equal(7)
      expect(await rejection(within(Promise.reject(failure), 61_234))).to.equal(failure)
      expect(await endedWithin(Promise.resolve(), 61_234)).to.equal(true)
      expect(await endedWithin(Promise.reject(failure), 61_234)).to.equal(true)
    })
    expect(left).to.equal(0)
  })

  it('ends the wait for work that does not end', async () => {
    expect(await rejection(within(NEVER, 5)))
      .to.be.an('error')
      .with.property('message', 'no answer within 5 ms')
    const own = new Error('too late')
    expect(await rejection(within(NEVER, 5, () => own))).to.equal(own)
    expect(await endedWithin(NEVER, 5)).to.equal(false)
  })

  it('hears nothing of work that fails afterwards', async () => {
    const unheard: unknown[] = []
    const note = (reason: unknown): void => void unheard.push(reason)
    process.on('unhandledRejection', note)
    try {
      const work = Promise.withResolvers<never>()
      await rejection(within(work.promise, 1))
      await endedWithin(work.promise, 1)
      work.reject(new Error('late'))
      await wait(5)
      expect(unheard).to.deep.equal([])
    } finally {
      process.off('unhandledRejection', note)
    }
  })
})
