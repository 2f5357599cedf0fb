/** Start in order, stop in reverse, once, within a deadline, whatever goes wrong meanwhile. */

import { EventEmitter } from 'node:events'

import { expect } from 'chai'

import { createLifecycle } from '../../runtime/lifecycle.ts'
import { createLogger } from '../../runtime/logger.ts'

function setUp(stopDeadlineMs = 5_000) {
  const signals = new EventEmitter()
  const story: string[] = []
  const lines: string[] = []
  const lifecycle = createLifecycle({
    logger: createLogger({ program: 'test', level: 'info', write: (line) => lines.push(line) }),
    stopDeadlineMs,
    signals,
    exit: (code) => story.push(`exit ${code}`),
  })
  const part = (name: string) =>
    lifecycle.start(
      name,
      () => {
        story.push(`open ${name}`)
        return name
      },
      async (opened) => {
        await Promise.resolve()
        story.push(`close ${opened}`)
      },
    )
  return { lifecycle, signals, story, lines, part }
}

async function failureOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

describe('lifecycle', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`stops everything in reverse on ${signal} and ends with 0`, async () => {
      const { lifecycle, signals, story, part } = setUp()
      await part('log')
      await part('state')
      await part('server')
      signals.emit(signal)
      expect(await lifecycle.stopped).to.equal(0)
      expect(story).to.deep.equal(['open log', 'open state', 'open server', 'close server', 'close state', 'close log'])
      expect(signals.listenerCount(signal)).to.equal(0)
    })
  }

  it('drains at the signal that comes before the end, once, and goes on until that end comes', async () => {
    const { lifecycle, signals, story, part } = setUp()
    await part('server')
    lifecycle.onDrain(() => story.push('drain server'))
    expect(lifecycle.isDraining()).to.equal(false)
    signals.emit('SIGUSR2')
    signals.emit('SIGUSR2')
    expect([lifecycle.isDraining(), lifecycle.isStopping()]).to.deep.equal([true, false])
    // A part that opens late drains as well.
    lifecycle.onDrain(() => story.push('drain late'))
    expect(story).to.deep.equal(['open server', 'drain server', 'drain late'])
    signals.emit('SIGTERM')
    expect(await lifecycle.stopped).to.equal(0)
    expect(story.at(-1)).to.equal('close server')
    expect(signals.listenerCount('SIGUSR2')).to.equal(0)
  })

  it('counts as draining from a stop on that nobody announced', async () => {
    const { lifecycle, signals } = setUp()
    signals.emit('SIGTERM')
    expect(lifecycle.isDraining()).to.equal(true)
    await lifecycle.stopped
  })

  it('stops what was started when a later part does not start, and passes the reason on', async () => {
    const { lifecycle, story, part } = setUp()
    await part('log')
    const failed = lifecycle.start('server', () => Promise.reject(new Error('address taken')))
    expect(await failureOf(failed)).to.equal('address taken')
    expect(await lifecycle.stopped).to.equal(1)
    expect(story).to.deep.equal(['open log', 'close log'])
  })

  it('begins to stop what works in the background at once, all of it at the same time, and the others in order', async () => {
    const { lifecycle, story, part } = setUp()
    await part('log')
    const hangs = ['mail', 'worker'].map((name) => ({ name, end: Promise.withResolvers<void>() }))
    for (const { name, end } of hangs) {
      const close = (): Promise<void> => {
        story.push(`asked ${name}`)
        return end.promise.then(() => void story.push(`close ${name}`))
      }
      await lifecycle.startBackground(name, () => name, close)
    }
    await part('server')
    const stopped = lifecycle.stop('request')
    expect(story.slice(2)).to.deep.equal(['asked mail', 'asked worker'])
    for (const { end } of hangs) end.resolve()
    expect(await stopped).to.equal(0)
    expect(story.slice(4)).to.have.members(['close mail', 'close worker', 'close server', 'close log'])
    expect(story.at(-1)).to.equal('close log')
  })

  it('continues stopping when a part fails to, and exits with a failure', async () => {
    const { lifecycle, story, lines, part } = setUp()
    await part('log')
    await lifecycle.start('state', () => 0, () => Promise.reject(new Error('disk full'))) // prettier-ignore
    await part('server')
    expect(await lifecycle.stop('request')).to.equal(1)
    expect(story.slice(2)).to.deep.equal(['close server', 'close log'])
    expect(lines.join('')).to.contain('"part":"state"')
  })

  it('names a part that does not stop in time, and stops the others all the same', async () => {
    const { lifecycle, story, lines, part } = setUp(30)
    await part('log')
    await lifecycle.start('server', () => 0, () => new Promise(() => undefined)) // prettier-ignore
    expect(await lifecycle.stop('request')).to.equal(1)
    expect(story).to.include('close log')
    expect(lines.join('')).to.contain('part did not stop in time').and.to.contain('"part":"server"')
  })

  it('ends with a failure when a failure outside its parts is the reason', async () => {
    const { lifecycle, story, part } = setUp()
    await part('log')
    expect(await lifecycle.stop('failure')).to.equal(1)
    expect(story).to.include('close log')
  })

  it('stops once, however often it is asked', async () => {
    const { lifecycle, story, part } = setUp()
    await part('log')
    await Promise.all([lifecycle.stop('request'), lifecycle.stop('request'), lifecycle.stop('SIGTERM')])
    expect(story).to.deep.equal(['open log', 'close log'])
  })

  it('ends at once on a second signal', async () => {
    const { lifecycle, signals, story } = setUp()
    const { promise, resolve } = Promise.withResolvers<void>()
    await lifecycle.start('slow', () => 0, () => promise) // prettier-ignore
    signals.emit('SIGTERM')
    signals.emit('SIGINT')
    expect(story).to.deep.equal(['exit 130'])
    resolve()
    await lifecycle.stopped
  })

  it('closes a part that was still opening when the signal came, and starts no other', async () => {
    const { lifecycle, signals, story } = setUp()
    const { promise, resolve } = Promise.withResolvers<string>()
    const starting = lifecycle.start('slow', () => promise, () => void story.push('close slow')) // prettier-ignore
    signals.emit('SIGTERM')
    resolve('slow')
    expect(await failureOf(starting)).to.contain('the process is stopping')
    expect(story).to.deep.equal(['close slow'])
    expect(await failureOf(lifecycle.start('next', () => story.push('open next')))).to.contain(
      'the process is stopping',
    )
    expect(story).not.to.include('open next')
    expect(await lifecycle.stopped).to.equal(0)
  })

  it('stops and ends with a failure when a part reports that it cannot continue', async () => {
    const { lifecycle, story, part } = setUp()
    await part('log')
    lifecycle.fail('log', new Error('sync failed'))
    expect(await lifecycle.stopped).to.equal(1)
    expect(story).to.include('close log')
  })
})
