/** Unused Secrets in namespaces in which the operator may not read or delete them: these stay, and nothing else does. */

import { expect } from 'chai'

import { DAY_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import { DASHBOARD_SECRET_TYPE } from '../../domain/resources/envelope.ts'
import { createSecretCleanup } from '../../operator/apply/secret-cleanup.ts'
import { createWriter } from '../../operator/apply/writer.ts'
import { KubeError, type KubeClient } from '../../runtime/kube/client.ts'
import { kubeKey, type KubeObject } from '../../runtime/kube/objects.ts'

const START_MS = Date.parse('2026-11-23T00:00:00Z')

describe('the clean-up of unused Secrets', () => {
  let secrets: Map<string, KubeObject>
  /** `VERB namespace/name`, and the status that it is refused with. */
  let refused: Map<string, number>
  /** Destinations that the API server has and the operator does not see yet, by namespace. */
  let referring: Map<string, readonly KubeObject[]>
  let requests: string[]
  let warnings: string[]
  let run: () => Promise<void>

  beforeEach(() => {
    secrets = new Map()
    refused = new Map()
    referring = new Map()
    requests = []
    warnings = []
    let nowMs = START_MS
    const client = {
      request: async ({ method, path }: { readonly method: string; readonly path: string }) => {
        const listed = listOf(path)
        if (listed !== null) return listed
        const [, namespace = '', name = ''] = /namespaces\/([^/]+)\/secrets\/([^/]+)$/.exec(path) ?? []
        const key = `${namespace}/${name}`
        requests.push(`${method} ${key}`)
        const status = refused.get(`${method} ${key}`) ?? refused.get(`${method} ${namespace}/`)
        if (status !== undefined) throw new KubeError(status, 'Refused', `may not ${method} ${key}`)
        const found = secrets.get(key)
        if (found === undefined) throw new KubeError(404, 'NotFound', path)
        if (method === 'DELETE') secrets.delete(key)
        return structuredClone(found)
      },
    } as unknown as KubeClient
    const cleanup = createSecretCleanup({
      client,
      nowMs: () => nowMs,
      writer: createWriter({ client, mayWrite: () => true, onWrite: () => undefined }),
      world: { isAllKnown: () => true, resources: () => [], dashboardSecrets: () => [...secrets.values()] },
      logger: {
        info: () => undefined,
        warn: (fields: object) => void warnings.push(JSON.stringify(fields)),
      } as never,
    })
    run = async () => {
      nowMs += DAY_MS
      await cleanup.run()
    }
  })

  /** Null for a path that lists nothing. */
  const listOf = (path: string): { readonly items: readonly KubeObject[] } | null => {
    const [, namespace = '', plural] = /namespaces\/([^/]+)\/(destinations|logstreams|webhooks)$/.exec(path) ?? []
    if (plural === undefined) return null
    return { items: plural === 'destinations' ? (referring.get(namespace) ?? []) : [] }
  }
  const add = (...keys: readonly string[]): void => {
    for (const key of keys) {
      const [namespace = '', name = ''] = key.split('/')
      const creationTimestamp = new Date(START_MS - DAY_MS).toISOString()
      const metadata = { namespace, name, uid: `uid of ${key}`, creationTimestamp }
      const secret = { metadata, type: DASHBOARD_SECRET_TYPE }
      secrets.set(kubeKey(secret), secret)
    }
  }
  const left = (): readonly string[] => [...secrets.keys()]

  it('skips a Secret that may not be read, says so once, and deletes those of the same and of other namespaces', async () => {
    add('a/closed', 'a/open', 'b/open')
    refused.set('GET a/closed', 403)
    for (let times = 0; times < 4; times += 1) await run()
    expect(left()).to.deep.equal(['a/closed'])
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.include('a/closed')
  })

  it('skips a namespace in which it may not delete, and says so once', async () => {
    add('a/one', 'a/two', 'b/open', 'c/open')
    refused.set('DELETE a/', 403)
    for (let times = 0; times < 4; times += 1) await run()
    expect(left()).to.deep.equal(['a/one', 'a/two'])
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.include('may not DELETE a/')
    const [first, ...rest] = requests.filter((request) => request.startsWith('DELETE a/'))
    expect([first, rest.length], 'one try each time').to.deep.equal(['DELETE a/one', 2])
  })

  it('keeps one to which an object refers that the operator does not see yet, until nothing refers to it', async () => {
    add('a/used', 'a/unused')
    const spec = { provider: 'ga4', ga4: { measurementId: 'G-ABC1234567', apiSecretRef: { name: 'used', key: 'k' } } }
    referring.set('a', [{ metadata: { name: 'out', namespace: 'a' }, spec }])
    for (let times = 0; times < 3; times += 1) await run()
    expect(left()).to.deep.equal(['a/used'])
    referring.clear()
    await run()
    expect(left()).to.deep.equal([])
  })

  it('goes on by itself once the right is there', async () => {
    add('a/one', 'a/two')
    refused.set('DELETE a/', 403)
    await run()
    await run()
    expect(left()).to.deep.equal(['a/one', 'a/two'])
    refused.clear()
    await run()
    expect(left()).to.deep.equal([])
  })

  it('reaches the Secrets behind more than a pass reads that may not be read', async () => {
    const closed = Array.from({ length: 3 * LIMITS.secretReadsPerPass }, (_, place) => `a/closed-${place}`)
    add(...closed, 'b/open')
    refused.set('GET a/', 403)
    for (let times = 0; times < 6; times += 1) await run()
    expect(left()).to.deep.equal(closed)
    expect(warnings, 'one line for each namespace').to.have.length(1)
  })

  it('tries another one first after an error that is no refusal, such as that of an admission webhook', async () => {
    add('a/stuck', 'b/open')
    refused.set('DELETE a/stuck', 500)
    await run()
    const error = await run().catch((caught: unknown) => caught)
    expect(error).to.be.instanceOf(KubeError)
    await run().catch(() => undefined)
    expect(left()).to.deep.equal(['a/stuck'])
  })
})
