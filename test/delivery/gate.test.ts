/** What holds a worker back: breaker and pause per destination, slots, and what is hidden of an exchange. */

import { Registry } from 'prom-client'
import { expect } from 'chai'
import fc from 'fast-check'

import { DestinationGate } from '../../delivery/worker/destination-gate.ts'
import { hide, hideInBody } from '../../delivery/exchange/hide.ts'
import type { DestinationContext, ProviderQuota } from '../../delivery/providers/provider.ts'
import { QueuePace } from '../../delivery/queue-pace.ts'
import { Quotas } from '../../delivery/worker/quota.ts'
import { Slots, type SlotClaim } from '../../delivery/slots.ts'
import { createWorkerMetrics } from '../../delivery/worker/worker-metrics.ts'
import { LIMITS } from '../../domain/limits.ts'
import { HOUR_MS, MINUTE_MS, NOON_MS } from '../../fixtures/delivery/builders.ts'

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
    expect(gate.admit('b', '', NOON_MS + 10_000)).to.deep.equal({ kind: 'admit', isTrusted: true })
  })

  it('opens at the tenth failure in a row, however many successes were before it', () => {
    const gate = new DestinationGate()
    run(gate, 's'.repeat(100), 10)
    const opened = [...'f'.repeat(10)].map((_, index) => gate.failed('a', NOON_MS + 2_000 + index))
    expect(opened).to.deep.equal([...Array<boolean>(9).fill(false), true])
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
    expect([29_999, 30_000, 30_001, 59_999, 60_000].map(kindAt)).to.deep.equal([
      'hold',
      'admit',
      'hold',
      'hold',
      'admit',
    ])
    gate.failed('a', openedAtMs + 60_500)
    expect(kindAt(61_000)).to.equal('hold')
    gate.succeeded('a', openedAtMs + 90_000)
    expect(gate.admit('a', '', openedAtMs + 90_001)).to.deep.equal({ kind: 'admit', isTrusted: true })
  })

  it('does not trust a destination after a failure, or while an exchange with it takes long', () => {
    const gate = new DestinationGate()
    gate.failed('a', NOON_MS)
    gate.slow('b', 1, NOON_MS)
    expect(gate.admit('a', '', NOON_MS)).to.deep.equal({ kind: 'admit', isTrusted: false })
    expect(gate.admit('b', '', NOON_MS)).to.deep.equal({ kind: 'admit', isTrusted: false })
    gate.slow('b', -1, NOON_MS)
    expect(gate.admit('b', '', NOON_MS)).to.deep.equal({ kind: 'admit', isTrusted: true })
  })

  it('remembers destinations in trouble and forgets idle ones, however many there are', () => {
    const gate = new DestinationGate()
    run(gate, 'f'.repeat(10))
    for (let number = 0; number < 10_000; number += 1) gate.succeeded(`other-${number}`, NOON_MS + number * 1_000)
    expect(isOpen(gate)).to.equal(true)
  })
})

describe('the ramp after a recovery', () => {
  const inFlightAt = (gate: DestinationGate, ...seconds: number[]): number[] =>
    seconds.map((second) => gate.mostInFlight('a', 8, NOON_MS + second * 1_000))

  it('doubles every ten seconds, to the millisecond, from one to all', () => {
    const gate = new DestinationGate()
    expect(inFlightAt(gate, 0)).to.deep.equal([8])
    for (let failure = 0; failure < 10; failure += 1) gate.failed('a', NOON_MS - 30_000)
    gate.succeeded('a', NOON_MS)
    gate.succeeded('a', NOON_MS + 5_000)
    expect(inFlightAt(gate, 0, 9.999, 10, 19.999, 20, 29.999, 30)).to.deep.equal([1, 1, 2, 2, 4, 4, 8])
  })

  it('follows a pause too, and no ordinary failure', () => {
    const gate = new DestinationGate()
    gate.failed('a', NOON_MS)
    gate.succeeded('a', NOON_MS)
    expect(inFlightAt(gate, 0)).to.deep.equal([8])
    gate.pause('a', { reason: 'credentials_refused', setup: 'old' }, NOON_MS)
    gate.succeeded('a', NOON_MS)
    expect(inFlightAt(gate, 0, 10)).to.deep.equal([1, 2])
  })
})

describe('a pause recalled after a restart', () => {
  const recalled = (): DestinationGate => {
    const gate = new DestinationGate()
    gate.recallPause('a', { sinceMs: NOON_MS - MINUTE_MS, nowMs: NOON_MS })
    return gate
  }

  it('is tried once, and no more for a quarter of an hour, whatever the credentials are', () => {
    const gate = recalled()
    const kinds = [0, 1, 15 * MINUTE_MS - 1, 15 * MINUTE_MS].map((ms) => gate.admit('a', 'any', NOON_MS + ms).kind)
    expect(kinds).to.deep.equal(['admit', 'hold', 'hold', 'admit'])
  })

  it('is not recorded again if it continues, but is if it ends', () => {
    const gate = recalled()
    expect(gate.pause('a', { reason: 'credentials_refused', setup: 'now' }, NOON_MS)).to.equal(false)
    expect(gate.health()[0]?.sinceMs).to.equal(NOON_MS - MINUTE_MS)
    expect(gate.succeeded('a', NOON_MS)).to.equal(true)
  })
})

describe('slots', () => {
  const never = new AbortController().signal
  const at = (key: string, organization = 'acme', most?: number): SlotClaim =>
    most === undefined ? { key, organization } : { key, organization, most }

  it('are bounded per destination and in all', async () => {
    const slots = new Slots({ perKey: 2, total: 3 })
    expect(['a', 'a', 'a'].map((key) => slots.tryTake(at(key)))).to.deep.equal([true, true, false])
    expect(['b', 'c'].map((key) => slots.tryTake(at(key)))).to.deep.equal([true, false])
    slots.give(at('a'))
    expect(slots.tryTake(at('c'))).to.equal(true)
    expect(slots.inFlight).to.equal(3)
  })

  it('are fewer for a destination that is recovering', () => {
    const slots = new Slots({ perKey: 8, total: 8 })
    expect([1, 2, 3].map(() => slots.tryTake(at('a', 'acme', 2)))).to.deep.equal([true, true, false])
  })

  it('go to the claim that waited longest among those that can have one', async () => {
    const slots = new Slots({ perKey: 1, total: 2 })
    const order: string[] = []
    slots.tryTake(at('a'))
    slots.tryTake(at('b'))
    const keys = ['a', 'b', 'a']
    const waiting = keys.map((key, index) => slots.take(at(key), never).then(() => order.push(`${key}${index}`)))
    expect(slots.waiting('a')).to.equal(2)
    slots.give(at('b'))
    await waiting[1]
    slots.give(at('a'))
    await waiting[0]
    slots.give(at('a'))
    await Promise.all(waiting)
    expect(order).to.deep.equal(['b1', 'a0', 'a2'])
  })

  it('go to the organisation that holds the fewest, however long the queue of another', async () => {
    const slots = new Slots({ perKey: 8, total: 4 })
    const order: string[] = []
    for (let held = 0; held < 4; held += 1) slots.tryTake(at(`a${held}`, 'big'))
    const take = (key: string, organization: string): Promise<unknown> =>
      slots.take(at(key, organization), never).then(() => order.push(organization))
    const waiting = [...Array.from({ length: 6 }, (_, number) => take(`b${number}`, 'big')), take('s', 'small')]
    slots.give(at('a0', 'big'))
    await waiting[6]
    expect(order).to.deep.equal(['small'])
    slots.give(at('s', 'small'))
    await waiting[0]
    expect(order).to.deep.equal(['small', 'big'])
  })

  it('that leave room are never all held by one organisation, and are shared equally by those that take what they can', () => {
    const slots = new Slots({ perKey: 8, total: 12, leavesRoom: true })
    const takeAll = (organization: string): number => {
      let held = 0
      while (slots.tryTake(at(`${organization}-${held}`, organization))) held += 1
      return held
    }
    expect(takeAll('first')).to.equal(6)
    expect(takeAll('second')).to.equal(3)
    expect(takeAll('third')).to.be.at.least(1)
    expect(takeAll('fourth'), 'whoever holds none finds one').to.be.at.least(1)
    for (let turns = 0; turns < 3; turns += 1) slots.give(at(`first-${turns}`, 'first'))
    expect(takeAll('first'), 'no more than is free').to.be.at.most(1)
  })

  it('are given up when the time limit is reached, and stay consistent whatever the order', async () => {
    const slots = new Slots({ perKey: 1, total: 1 })
    slots.tryTake(at('a'))
    const patience = new AbortController()
    const waiting = slots.take(at('a'), patience.signal)
    patience.abort()
    expect(await waiting).to.equal(false)
    expect(await slots.take(at('a'), patience.signal)).to.equal(false)
    slots.give(at('a'))
    expect(slots.inFlight).to.equal(0)
    expect(await slots.take(at('a'), patience.signal)).to.equal(true)
  })
})

describe('the quota of a provider', () => {
  const context = (account: string): DestinationContext => ({
    settings: { account },
    secrets: {},
    isValidateOnly: false,
    reconstructionWindowHours: 72,
  })
  const perMinute = (units: number, counts: ProviderQuota['counts'] = 'requests'): ProviderQuota => ({
    counts,
    units,
    perMs: MINUTE_MS,
    bucketOf: ({ settings }) => String(settings['account']),
  })
  const ONE = { requests: 1, deliveries: 1 }

  it('is kept in every period, however the requests come', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 200, maxLength: 600 })
    fc.assert(
      fc.property(gaps, fc.integer({ min: 4, max: 300 }), (waits, units) => {
        const quotas = new Quotas([perMinute(units)])
        const sentAtMs: number[] = []
        let nowMs = NOON_MS
        for (const wait of waits) {
          nowMs += wait
          if (quotas.take(context('a'), ONE, nowMs) === null) sentAtMs.push(nowMs)
        }
        for (const [index, atMs] of sentAtMs.entries()) {
          const within = sentAtMs.slice(index).filter((other) => other < atMs + MINUTE_MS).length
          expect(within).to.be.at.most(units)
        }
      }),
      { numRuns: 50 },
    )
  })

  it('says when there is room again, and there is', () => {
    const quotas = new Quotas([perMinute(300)])
    let taken = 0
    while (quotas.take(context('a'), ONE, NOON_MS) === null) taken += 1
    expect(taken).to.equal(75)
    const roomAtMs = quotas.take(context('a'), ONE, NOON_MS) ?? 0
    expect(roomAtMs - NOON_MS).to.equal(267)
    expect(quotas.take(context('a'), ONE, roomAtMs - 2)).to.be.a('number')
    expect(quotas.take(context('a'), ONE, roomAtMs)).to.equal(null)
    expect(quotas.take(context('b'), ONE, NOON_MS)).to.equal(null)
  })

  it('gives nothing and takes nothing away when the clock is set back', () => {
    const quotas = new Quotas([perMinute(300)])
    for (let taken = 0; taken < 70; taken += 1) expect(quotas.take(context('a'), ONE, NOON_MS)).to.equal(null)
    const earlierMs = NOON_MS - 10 * MINUTE_MS
    let taken = 0
    while (quotas.take(context('a'), ONE, earlierMs) === null) taken += 1
    expect(taken).to.equal(5)
  })

  it('counts deliveries if the provider does, and lets even a large request through in the end', () => {
    const quotas = new Quotas([perMinute(100, 'deliveries')])
    expect(quotas.take(context('a'), { requests: 1, deliveries: 60 }, NOON_MS)).to.equal(null)
    const roomAtMs = quotas.take(context('a'), { requests: 1, deliveries: 60 }, NOON_MS) ?? 0
    expect(roomAtMs - NOON_MS).to.equal(48_000)
    expect(quotas.take(context('a'), { requests: 1, deliveries: 60 }, roomAtMs)).to.equal(null)
  })

  it('waits for all of several, and for what was sent in any case', () => {
    const quotas = new Quotas([perMinute(300), { ...perMinute(40), perMs: 60 * MINUTE_MS }])
    for (let taken = 0; taken < 10; taken += 1) expect(quotas.take(context('a'), ONE, NOON_MS)).to.equal(null)
    expect(quotas.take(context('a'), ONE, NOON_MS)).to.equal(NOON_MS + 2 * MINUTE_MS)
    quotas.spend(context('a'), { requests: 2, deliveries: 2 }, NOON_MS)
    expect(quotas.take(context('a'), ONE, NOON_MS)).to.equal(NOON_MS + 6 * MINUTE_MS)
  })
})

describe('the queue of a busy destination', () => {
  it('gives each job a later moment, at the pace that the destination goes', () => {
    const pace = new QueuePace(8)
    for (let exchange = 0; exchange < 100; exchange += 1) pace.took('a', 800, NOON_MS)
    const booked = [1, 2, 3].map(() => pace.book('a', 5_000, NOON_MS) - NOON_MS)
    expect(booked).to.deep.equal([5_000, 5_100, 5_200])
    expect(pace.isCrowded('a', NOON_MS + 5_299)).to.equal(true)
    expect(pace.isCrowded('a', NOON_MS + 5_400)).to.equal(false)
    expect(pace.isCrowded('b', NOON_MS)).to.equal(false)
    expect(pace.book('a', 5_000, NOON_MS + HOUR_MS) - NOON_MS - HOUR_MS).to.equal(5_000)
  })

  it('defers no job for more than half an hour at once', () => {
    const pace = new QueuePace(1)
    for (let exchange = 0; exchange < 100; exchange += 1) pace.took('a', 10_000, NOON_MS)
    const booked = Array.from({ length: 1_000 }, () => pace.book('a', 5_000, NOON_MS) - NOON_MS)
    expect(Math.max(...booked)).to.equal(30 * MINUTE_MS)
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
    const gauges = { inFlight: () => 3, troubled: () => 1, paused: () => 1 }
    const ga4 = createWorkerMetrics(registry, 'ga4', gauges)
    const meta = createWorkerMetrics(registry, 'meta', gauges)
    ga4.attempt('delivered', 20)
    ga4.recorded('delivered', '', 400)
    meta.recorded('retrying', 'throttled', 400)
    const text = await registry.metrics()
    expect(text).to.contain('whence_delivery_attempt_seconds_count{provider="ga4",outcome="delivered"} 1')
    expect(text).to.contain('whence_delivery_states_total{provider="meta",status="retrying",reason="throttled"} 1')
    expect(text).to.contain('whence_delivery_in_flight{provider="ga4"} 3')
    expect(text).to.contain('whence_delivery_troubled_destinations{provider="meta"} 1')
    expect(text).to.contain('whence_delivery_paused_destinations{provider="ga4"} 1')
  })
})
