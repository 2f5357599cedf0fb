/** The operator's memory for large objects: about their own length, once. */

import { PassThrough, Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { expect } from 'chai'
import { Registry } from 'prom-client'

import { LIMITS } from '../../domain/limits.ts'
import { atOnce } from '../../domain/published/steps.ts'
import { sha256Hex } from '../../common/digest.ts'
import { organization, website } from '../../fixtures/service/manifests.ts'
import { pack } from '../../operator/decide/pack.ts'
import { decide, emptyMemory } from '../../operator/decide/decide.ts'
import { createRoom } from '../../operator/gather/room.ts'
import { watchWorld } from '../../operator/gather/world.ts'
import type { KubeClient, KubeRequest } from '../../runtime/kube/client.ts'
import { createKubeMetrics } from '../../runtime/kube/metrics.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { until } from '../../fixtures/until.ts'
import { gatheredFrom } from './support/made-up-api.ts'

const COUNT = 100
const ANNOTATION_CHARS = 50_000
const PLACE = { namespace: 'whence', name: 'whence' }
/** Hexadecimal digits in any order, which compress to a half at best. */
const digits = (seed: string, chars: number): string => {
  let text = ''
  while (text.length < chars) text += sha256Hex(seed + text.length)
  return text.slice(0, chars)
}

describe('memory for large objects', () => {
  it('is about their own length, also after their statuses were written', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const api = fakeApi()
    collect()
    const before = process.memoryUsage().heapUsed
    const world = watchWorld({
      watching: {
        client: api.client,
        logger: SILENT_LOGGER,
        metrics: createKubeMetrics(new Registry()),
        random: Math.random,
      },
      territory: { place: PLACE, namespaces: [], installation: 'whence' },
      room: createRoom({ bytes: Number.MAX_SAFE_INTEGER, onCut: () => undefined }),
      news: { onChange: () => undefined, onStatus: () => undefined, onGone: () => undefined },
      nowMs: Date.now,
    })
    try {
      await until(() => world.isReady())
      const memory = emptyMemory()
      const pass = () => atOnce(decide(gatheredFrom(world.resources), { sha256Hex, pack }, memory))
      expect(pass().websites).to.equal(COUNT)
      for (let number = 0; number < COUNT; number += 1) api.writeStatus(number)
      const last = `large-${COUNT - 1}`
      await until(() => world.resource('Website', 'tenant', last)?.['status'] !== undefined)
      const decision = pass()
      expect(decision.refused).to.equal(0)
      collect()
      const kept = process.memoryUsage().heapUsed - before
      expect(kept / (COUNT * LIMITS.pageListChars)).to.be.lessThan(1.5)
      // Still there, so that all of it was measured.
      expect([decision.parts.length > 1, memory.guard.size]).to.deep.equal([true, 0])
    } finally {
      api.end()
      await world.close()
    }
  })
})

/** Lists an organisation and websites with the longest lists of pages; makes every object anew, as a real answer does. */
function fakeApi() {
  const versioned = (object: object, number: number, more: object = {}) => {
    const { metadata, ...rest } = object as { readonly metadata: object }
    const notes = digits(`notes ${number}`, ANNOTATION_CHARS)
    const annotations = { 'example.com/notes': notes, 'whence.dev/reconcile-now': notes }
    const counters = { annotations, namespace: 'tenant', uid: `uid-${number}`, generation: 1, resourceVersion: '1' }
    return { ...rest, metadata: { ...metadata, ...counters }, ...more }
  }
  const large = (number: number, more: object = {}) => {
    const each = LIMITS.pageListChars / LIMITS.pagesPerWebsite - 60
    const pages = Array.from({ length: LIMITS.pagesPerWebsite }, (_, page) => {
      return { id: `p${page}`, url: `https://large-${number}.example/${digits(`${number} ${page} `, each)}` }
    })
    return versioned(website(`large-${number}`, { pages, organizationRef: { name: `o${number % 10}` } }), number, more)
  }
  const watches: PassThrough[] = []
  const itemsOf = (path: string): readonly object[] => {
    if (path.includes('/organizations'))
      return Array.from({ length: 10 }, (_, n) => versioned(organization(`o${n}`), n))
    return path.includes('/websites') ? Array.from({ length: COUNT }, (_, number) => large(number)) : []
  }
  const stream = async ({ path }: KubeRequest) => {
    if (!path.includes('watch=true'))
      return Readable.from([Buffer.from(JSON.stringify({ metadata: { resourceVersion: '1' }, items: itemsOf(path) }))])
    const watch = new PassThrough()
    watches.push(watch)
    if (path.includes('/websites')) websites.resolve(watch)
    return watch
  }
  const websites = Promise.withResolvers<PassThrough>()
  return {
    client: { stream } as unknown as KubeClient,
    writeStatus: (number: number): void => {
      const object = large(number, { status: { observedGeneration: 1 } })
      void websites.promise.then((watch) => watch.write(`${JSON.stringify({ type: 'MODIFIED', object })}\n`))
    },
    end: (): void => {
      for (const watch of watches) watch.end()
    },
  }
}
