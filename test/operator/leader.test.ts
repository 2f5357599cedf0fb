/** What holds the Lease may write, and nothing else that an operator has to do holds up its renewal. */

import { expect } from 'chai'

import { atOnce } from '../../domain/published/steps.ts'
import { sha256Hex } from '../../common/digest.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import { organization, website } from '../../fixtures/service/manifests.ts'
import { until } from '../../fixtures/until.ts'
import { pack } from '../../operator/decide/pack.ts'
import { decide, emptyMemory } from '../../operator/decide/decide.ts'
import { inSlices } from '../../operator/in-slices.ts'
import { startLeader } from '../../operator/leader.ts'
import { KubeError, type KubeClient, type KubeRequest } from '../../runtime/kube/client.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { gatheredFrom } from './support/made-up-api.ts'

interface MadeUpLease {
  metadata: { resourceVersion: string }
  spec: Readonly<Record<string, unknown>>
}

describe('the Lease of the operator', function () {
  this.timeout(20_000)
  let clockMs = 0
  let lease: MadeUpLease | null = null
  let asked: string[] = []
  let lost = 0

  beforeEach(() => {
    clockMs = 0
    lease = null
    asked = []
    lost = 0
  })

  const answer = async ({ method, body }: KubeRequest): Promise<MadeUpLease> => {
    asked.push(method)
    if (method === 'GET') {
      if (lease === null) throw new KubeError(404, 'NotFound', 'no lease')
      return structuredClone(lease)
    }
    const given = body as { metadata: { resourceVersion?: string }; spec: MadeUpLease['spec'] }
    const version = lease?.metadata.resourceVersion ?? '0'
    if (method === 'PUT' && given.metadata.resourceVersion !== version) throw new KubeError(409, 'Conflict', 'changed')
    lease = { metadata: { resourceVersion: String(Number(version) + 1) }, spec: given.spec }
    return structuredClone(lease)
  }
  const lead = () =>
    startLeader({
      client: { request: answer } as unknown as KubeClient,
      candidacy: { namespace: 'whence', name: 'whence', identity: 'one' },
      onElected: () => undefined,
      onLost: () => void (lost += 1),
      logger: SILENT_LOGGER,
      time: { random: () => 0, nowMs: () => clockMs, clockMs: () => clockMs },
    })

  it('is renewed by one request, and nothing is written while that has not come about for ten seconds', async () => {
    const leader = lead()
    await until(() => leader.isLeading())
    expect([asked, leader.mayWrite()]).to.deep.equal([['GET', 'POST'], true])
    // As after a pause of the whole process: others may have taken the Lease, and nothing has failed yet.
    clockMs += 10_000
    expect([leader.isLeading(), leader.mayWrite()]).to.deep.equal([true, false])
    await until(() => asked.length > 2)
    expect(asked[2]).to.equal('PUT')
    await until(() => leader.mayWrite())
    expect(lost).to.equal(0)
    await leader.close()
    expect(lease?.spec['holderIdentity']).to.equal('')
  })

  it('counts from the moment at which it was written, not from the answer', async () => {
    const leader = startLeader({
      client: { request: late } as unknown as KubeClient,
      candidacy: { namespace: 'whence', name: 'whence', identity: 'one' },
      onElected: () => undefined,
      onLost: () => void (lost += 1),
      logger: SILENT_LOGGER,
      time: { random: () => 0, nowMs: () => clockMs, clockMs: () => clockMs },
    })
    await until(() => leader.isLeading())
    expect(leader.mayWrite()).to.equal(true)
    clockMs += 9_000
    expect(leader.mayWrite()).to.equal(false)
    await leader.close()
  })

  async function late(request: KubeRequest): Promise<MadeUpLease> {
    const given = await answer(request)
    if (request.method === 'POST') clockMs += 1_000
    return given
  }

  it('is renewed two seconds after the last renewal was sent, however long the answer took', async () => {
    let slowRenewals = 0
    let slowMs = 0
    const slow = async ({ method }: KubeRequest): Promise<MadeUpLease> => {
      if (method === 'PUT') slowRenewals += 1
      slowMs += 1_900
      return { metadata: { resourceVersion: '1' }, spec: {} }
    }
    const parts = {
      candidacy: { namespace: 'whence', name: 'whence', identity: 'one' },
      onElected: () => undefined,
      onLost: () => void (lost += 1),
      logger: SILENT_LOGGER,
      time: { random: () => 0, nowMs: () => slowMs, clockMs: () => slowMs },
    }
    const client = { request: slow } as unknown as KubeClient
    const hindered = startLeader({ ...parts, client })
    const leader = lead()
    await until(() => asked.includes('PUT'))
    expect(slowRenewals).to.be.greaterThan(2)
    await Promise.all([leader.close(), hindered.close()])
    expect(lost).to.equal(0)
  })

  it('is given up once another one has taken it, however that was', async () => {
    const leader = lead()
    await until(() => leader.isLeading())
    const spec = { ...lease?.spec, holderIdentity: 'two' }
    lease = { metadata: { resourceVersion: '7' }, spec }
    await until(() => lost === 1)
    expect([leader.isLeading(), leader.mayWrite()]).to.deep.equal([false, false])
    await leader.close()
    expect(lease.spec).to.deep.equal(spec)
  })
})

describe('a pass over very much', function () {
  this.timeout(60_000)

  const WEBSITES = 100
  const PER_ORGANIZATION = 25
  const pages = (index: number) =>
    Array.from({ length: LIMITS.pagesPerWebsite }, (_, page) => {
      const each = LIMITS.pageListChars / LIMITS.pagesPerWebsite - 60
      return { id: `p${page}`, url: `https://site-${index}.example/${'x'.repeat(each)}` }
    })
  const kinds: Partial<Record<ResourceKind, readonly object[]>> = {
    Organization: Array.from({ length: WEBSITES / PER_ORGANIZATION }, (_, index) => organization(`org-${index}`)),
    Website: Array.from({ length: WEBSITES }, (_, index) =>
      website(`site-${index}`, {
        organizationRef: { name: `org-${Math.floor(index / PER_ORGANIZATION)}` },
        pages: pages(index),
      }),
    ),
  }
  /** `read` is called with the characters of every specification that is looked at. */
  const gathered = (read: (chars: number) => void) =>
    gatheredFrom((kind) =>
      (kinds[kind] ?? []).map((object) => {
        const { metadata, spec } = object as { metadata: { name: string }; spec: object }
        const own = { ...metadata, namespace: 'large', uid: metadata.name, generation: 1 }
        const chars = JSON.stringify(spec).length
        const watched = new Proxy(spec, {
          get: (target, member) => {
            if (member === 'pages') read(chars)
            return Reflect.get(target, member) as unknown
          },
        })
        return { metadata: own, spec: watched }
      }),
    )

  it('never handles more than a part of the catalog between two moments at which others have their turn', () => {
    let since = 0
    let most = 0
    let all = 0
    const count = (chars: number): void => {
      since += chars
      all += chars
      most = Math.max(most, since)
    }
    const tools = {
      sha256Hex: (text: string) => {
        count(text.length)
        return sha256Hex(text)
      },
      pack: (text: string) => {
        count(text.length)
        return pack(text)
      },
    }
    const steps = decide(gathered(count), tools, emptyMemory())
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) since = 0
    expect(step.value.websites).to.equal(WEBSITES)
    expect(all).to.be.greaterThan(WEBSITES * LIMITS.pageListChars * 3)
    // A part is compressed and hashed only if it has at most eight times the size that it may have once it is compressed.
    expect(most).to.be.lessThan(LIMITS.catalogPartBytes * 8 * 2.5)
  })

  it('comes to the same in slices, and lets others have their turn meanwhile', async () => {
    let turns = 0
    let isOver = false
    const turn = (): void => {
      turns += 1
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    const wanted = { sha256Hex, pack }
    let steps = 0
    const counted = function* <T>(all: Iterator<undefined, T>): Generator<undefined, T> {
      for (let step = all.next(); ; step = all.next()) {
        if (step.done === true) return step.value
        steps += 1
        yield undefined
      }
    }
    // A machine on which each step takes longer than a slice.
    const ownNow = performance.now.bind(performance)
    let atMs = ownNow()
    performance.now = () => (atMs += 1_000)
    let decided
    try {
      decided = await inSlices(
        counted(
          decide(
            gathered(() => undefined),
            wanted,
            emptyMemory(),
          ),
        ),
      )
    } finally {
      performance.now = ownNow
      isOver = true
    }
    expect(steps).to.be.greaterThan(5)
    expect(turns).to.be.at.least(steps)
    expect(decided).to.deep.equal(
      atOnce(
        decide(
          gathered(() => undefined),
          wanted,
          emptyMemory(),
        ),
      ),
    )
  })

  it('ends between two slices if it is given up', async () => {
    const stop = new AbortController()
    stop.abort(new Error('given up'))
    const outcome = await inSlices(
      decide(
        gathered(() => undefined),
        { sha256Hex, pack },
        emptyMemory(),
      ),
      stop.signal,
    ).catch(String)
    expect(outcome).to.equal('Error: given up')
  })
})
