/** What holds a worker back: breaker and pause per destination, slots, and what is hidden of an exchange. */

import { Registry } from 'prom-client'
import { expect } from 'chai'
import fc from 'fast-check'

import { DestinationGate } from '../../delivery/destination-gate.ts'
import { hide, hideInBody } from '../../delivery/hide.ts'
import { Slots } from '../../delivery/slots.ts'
import { createWorkerMetrics } from '../../delivery/worker-metrics.ts'
import { LIMITS } from '../../domain/limits.ts'
import { MINUTE_MS, NOON_MS } from './support/builders.ts'

describe('the breaker of a destination', () => {
  const run = (gate: DestinationGate, outcomes: string, everyMs = 1_000): boolean[] =>
    [...outcomes].map((outcome, index) => {
      const atMs = NOON_MS + index * everyMs
      if (outcome === 'f') return gate.failed('a', atMs)
      gate.succeeded('a', atMs)
      return false
    })
  const isOpen = (gate: DestinationGate): boolean => gate.health().some((each) => each.breaker === 'open')

  it('opens at the tenth failure in a row', () => {
    const gate = new DestinationGate()
    expect(run(gate, 'f'.repeat(10))).to.deep.equal([...Array<boolean>(9).fill(false), true])
    expect(gate.admit('a', '', NOON_MS + 10_000)).to.deep.equal({ kind: 'hold', reason: 'breaker_open' })
    expect(gate.admit('b', '', NOON_MS + 10_000)).to.deep.equal({ kind: 'go', isTrusted: true })
  })

  it('opens at seven failures of ten, and not at six', () => {
    const at = (outcomes: string): boolean => {
      const gate = new DestinationGate()
      run(gate, outcomes)
      return isOpen(gate)
    }
    expect(at('sfffsfffsf')).to.equal(true)
    expect(at('sfffsffssf')).to.equal(false)
    expect(at('fffffff')).to.equal(false)
  })

  it('forgets what is more than five minutes past', () => {
    const gate = new DestinationGate()
    expect(run(gate, 'fffffffffsffffffff', MINUTE_MS).some(Boolean)).to.equal(false)
  })

  it('lets one probe through in half a minute, to the millisecond, and closes at the first success', () => {
    const gate = new DestinationGate()
    run(gate, 'f'.repeat(10))
    const openedAtMs = NOON_MS + 9_000
    const kindAt = (atMs: number): string => gate.admit('a', '', openedAtMs + atMs).kind
    expect([29_999, 30_000, 30_001, 59_999, 60_000].map(kindAt)).to.deep.equal(['hold', 'go', 'hold', 'hold', 'go'])
    gate.failed('a', openedAtMs + 60_500)
    expect(kindAt(61_000)).to.equal('hold')
    gate.succeeded('a', openedAtMs + 90_000)
    expect(gate.admit('a', '', openedAtMs + 90_001)).to.deep.equal({ kind: 'go', isTrusted: true })
  })

  it('does not trust a destination after a failure, or while an exchange with it takes long', () => {
    const gate = new DestinationGate()
    gate.failed('a', NOON_MS)
    gate.slow('b', 1, NOON_MS)
    expect(gate.admit('a', '', NOON_MS)).to.deep.equal({ kind: 'go', isTrusted: false })
    expect(gate.admit('b', '', NOON_MS)).to.deep.equal({ kind: 'go', isTrusted: false })
    gate.slow('b', -1, NOON_MS)
    expect(gate.admit('b', '', NOON_MS)).to.deep.equal({ kind: 'go', isTrusted: true })
  })

  it('remembers destinations in trouble and forgets idle ones, however many there are', () => {
    const gate = new DestinationGate()
    run(gate, 'f'.repeat(10))
    for (let number = 0; number < 10_000; number += 1) gate.succeeded(`other-${number}`, NOON_MS + number * 1_000)
    expect(isOpen(gate)).to.equal(true)
  })
})

describe('slots', () => {
  const never = new AbortController().signal

  it('are bounded per destination and in all', async () => {
    const slots = new Slots({ perKey: 2, total: 3 })
    expect([slots.tryTake('a'), slots.tryTake('a'), slots.tryTake('a')]).to.deep.equal([true, true, false])
    expect([slots.tryTake('b'), slots.tryTake('c')]).to.deep.equal([true, false])
    slots.give('a')
    expect(slots.tryTake('c')).to.equal(true)
    expect(slots.inFlight).to.equal(3)
  })

  it('go to whoever waited longest among those that can have one', async () => {
    const slots = new Slots({ perKey: 1, total: 2 })
    const order: string[] = []
    slots.tryTake('a')
    slots.tryTake('b')
    const waiting = ['a', 'b', 'a'].map((key, index) => slots.take(key, never).then(() => order.push(`${key}${index}`)))
    slots.give('b')
    await waiting[1]
    slots.give('a')
    await waiting[0]
    slots.give('a')
    await Promise.all(waiting)
    expect(order).to.deep.equal(['b1', 'a0', 'a2'])
  })

  it('are given up on when patience ends, and stay consistent whatever the order', async () => {
    const slots = new Slots({ perKey: 1, total: 1 })
    slots.tryTake('a')
    const patience = new AbortController()
    const waiting = slots.take('a', patience.signal)
    patience.abort()
    expect(await waiting).to.equal(false)
    expect(await slots.take('a', patience.signal)).to.equal(false)
    slots.give('a')
    expect(slots.inFlight).to.equal(0)
    expect(await slots.take('a', patience.signal)).to.equal(true)
  })
})

describe('what is kept of an exchange', () => {
  it('holds no secret in any form that a URL or JSON gives it', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 4, unit: 'binary' }), fc.string({ unit: 'binary' }), (text, around) => {
        const secret = `S${text}S`
        const forms = [
          secret,
          new URLSearchParams({ secret }).toString(),
          JSON.stringify({ secret, around }),
          new URL(`http://a/?${new URLSearchParams({ secret }).toString()}`).href,
        ]
        for (const form of forms) {
          const hidden = hide(`${form}|`, [secret])
          expect(hidden).not.to.contain(secret)
          expect(hidden).to.contain('[hidden]')
        }
      }),
    )
  })

  it('hides the longer of two secrets first, and nothing for an empty one', () => {
    expect(hide('abcd ab', ['ab', 'abcd', ''])).to.equal('[hidden] [hidden]')
  })

  it('is at most 64 KB, and loses the end of a cut body, which may hold half a secret', () => {
    const body = `${'x'.repeat(LIMITS.outboundBodyBytes - 3)}sec`
    expect(hideInBody(body, ['secret'], { isCut: true })).not.to.contain('sec')
    expect(hideInBody(body, ['secret'], { isCut: false })).to.have.length(LIMITS.outboundBodyBytes)
    const wide = hideInBody('\ufffd'.repeat(LIMITS.outboundBodyBytes), [], { isCut: false })
    expect(Buffer.byteLength(wide)).to.be.at.most(LIMITS.outboundBodyBytes + 2)
  })
})

describe('the metrics of workers', () => {
  it('are shared by the workers of a process, with the provider as a label', async () => {
    const registry = new Registry()
    const gauges = { inFlight: () => 3, troubled: () => 1 }
    const ga4 = createWorkerMetrics(registry, 'ga4', gauges)
    const meta = createWorkerMetrics(registry, 'meta', gauges)
    ga4.attempt('delivered', 20)
    ga4.told('delivered', '', 400)
    meta.told('retrying', 'throttled', 400)
    const text = await registry.metrics()
    expect(text).to.contain('whence_delivery_attempt_seconds_count{provider="ga4",outcome="delivered"} 1')
    expect(text).to.contain('whence_delivery_states_total{provider="meta",status="retrying",reason="throttled"} 1')
    expect(text).to.contain('whence_delivery_in_flight{provider="ga4"} 3')
    expect(text).to.contain('whence_delivery_troubled_destinations{provider="meta"} 1')
  })
})
