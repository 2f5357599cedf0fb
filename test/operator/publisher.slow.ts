/** The catalog in parts: cut by size, written so that a reader sees either all of it or the previous one, and shared fairly. */

import { createHash, randomBytes } from 'node:crypto'

import { expect } from 'chai'
import fc from 'fast-check'

import { atOnce } from '../../domain/published/steps.ts'
import type { Catalog } from '../../domain/catalog.ts'
import type { CatalogPart, LayoutMemory } from '../../domain/published/layout.ts'
import { emptyLayoutMemory, layOut } from '../../domain/published/layout.ts'
import { CREDENTIALS_KEY, NONCE_KEY } from '../../domain/published/place.ts'
import { fromShards } from '../../domain/published/shards.ts'
import { withoutRoom } from '../../domain/published/fair-share.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { ProviderId } from '../../domain/providers/index.ts'
import { credentialsParts, indexText, readIndex } from '../../domain/published/index.ts'
import { pack, packedBase64 } from '../../operator/decide/pack.ts'
import { createCredentialStore } from '../../operator/apply/credential-store.ts'
import { decide, emptyMemory } from '../../operator/decide/decide.ts'
import { hasContent, inShort } from '../../operator/gather/map-copies.ts'
import { createPublisher } from '../../operator/apply/publisher.ts'
import { dataMember, unpacked } from '../../runtime/catalog/members.ts'
import { KubeError } from '../../runtime/kube/client.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { publishedProblems, wholeCatalog } from '../../runtime/catalog/whole-catalog.ts'
import { compile, ga4Destination, organization, secret, website } from '../../fixtures/service/manifests.ts'
import { PLACE } from './support/stage.ts'

const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex')
const TOOLS = { sha256Hex, pack }
const bytesOf = ({ packed }: CatalogPart) => packed.bytes.length

const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))
/** URLs that cannot be compressed. */
const largeSite = (name: string) =>
  website(name, {
    pages: many(7, (n) => ({ id: `p${n}`, url: `https://${name}.example/${randomBytes(4_000).toString('hex')}` })),
  })

describe('parts of a catalog', () => {
  const textsOf = (catalog: Catalog, memory?: LayoutMemory, inUse: readonly string[] = []) =>
    atOnce(layOut(catalog, inUse, TOOLS, memory))

  it('make the catalog again, and are cut by size, whatever is in them', () => {
    const organizations = many(3, (n) => organization(`o${n}`))
    const sites = many(60, (n) => {
      const name = `site-${n}`
      const own = { organizationRef: { name: `o${n % 3}` } }
      return n % 2 === 0
        ? website(name, own)
        : { ...largeSite(name), spec: { ...(largeSite(name)['spec'] as object), ...own } }
    })
    const { catalog, problems } = compile(...organizations, ...sites)
    expect(problems).to.deep.equal([])
    const parts = textsOf(catalog)
    expect(parts.length).to.be.greaterThan(10)
    for (const part of parts) {
      expect(bytesOf(part)).to.be.at.most(LIMITS.catalogPartBytes)
      expect(sha256Hex(packedBase64(part.packed))).to.equal(part.packed.digest)
      expect(sha256Hex(unpacked(packedBase64(part.packed)))).to.equal(part.digest)
    }
    const again = fromShards(
      catalog.version,
      parts.map(({ packed }) => unpacked(packedBase64(packed))),
    )
    expect([...again.websites.keys()]).to.have.members([...catalog.websites.keys()])
    for (const [id, site] of catalog.websites) expect(again.websites.get(id)).to.deep.equal(site)
    expect(again.origins).to.deep.equal(catalog.origins)
    // The parts that are in use already are good enough.
    const keys = parts.map(({ key }) => key)
    expect(textsOf(catalog, undefined, keys).map(({ key }) => key)).to.deep.equal(keys)
    expect(textsOf(catalog, undefined, ['', 'x', '01', '0', '01111']).length).to.be.at.least(parts.length)
  })

  it('change one by one, and become one again when there is little left', () => {
    const acme = organization('acme')
    const world = many(20, (n) => largeSite(`site-${n}`))
    const memory = emptyLayoutMemory()
    const before = textsOf(compile(acme, ...world).catalog, memory)
    const renamed = world.map((site, n) => (n === 7 ? website('site-7', { displayName: 'New' }) : site))
    const after = textsOf(compile(acme, ...renamed).catalog, memory)
    expect(after.filter(({ digest }) => !before.some((part) => part.digest === digest))).to.have.length(1)
    let left = before.length
    for (let time = 0; time < 10; time += 1) left = textsOf(compile(acme, website('one')).catalog, memory).length
    expect(before.length).to.be.greaterThan(5)
    expect(left).to.be.at.most(2)
  })

  it('are refused by a reader in a form that is newer than it', () => {
    expect(() => readIndex(JSON.stringify({ version: 'x', minReader: 99 }))).to.throw('newer form')
    expect(() =>
      readIndex(JSON.stringify({ version: 'x', minReader: 1, number: 1, rights: '', parts: [{}] })),
    ).to.throw('no index')
    expect(() => readIndex('{')).to.throw('not JSON')
  })
})

/** A cluster in memory, in which the write or removal with a certain number fails, before or after it has come to pass. */
function fakeCluster() {
  const objects = new Map<string, KubeObject>()
  const state = { writes: 0, failAt: Infinity, isDoneBeforeFailing: false }
  const watching = new Set<() => void>()
  const keyOf = ({ kind = '', metadata }: KubeObject) => `${kind}/${metadata.name}`
  const write = async (change: () => void): Promise<void> => {
    state.writes += 1
    const isFailing = state.writes === state.failAt
    if (!isFailing || state.isDoneBeforeFailing) change()
    for (const look of watching) look()
    if (isFailing) throw new Error('the API server is unavailable')
  }
  let versions = 0
  const put = (object: KubeObject): string => {
    const resourceVersion = String((versions += 1))
    objects.set(keyOf(object), { ...object, metadata: { ...object.metadata, resourceVersion } })
    return resourceVersion
  }
  const apply = (object: KubeObject) => write(() => put(object))
  const replace = async (object: KubeObject, over: string | null): Promise<string> => {
    if ((objects.get(keyOf(object))?.metadata.resourceVersion ?? null) !== over)
      throw new KubeError(409, 'Conflict', 'another one has written it')
    await write(() => put(object))
    return String(versions)
  }
  const configMap = (name: string) => objects.get(`ConfigMap/${name}`)
  const writer = {
    apply,
    replace,
    applyWhereNew: async (
      _there: unknown,
      { short, whole }: { readonly short: KubeObject; readonly whole: () => KubeObject },
      isHeld: (object: KubeObject) => boolean,
    ) => {
      const there = objects.get(keyOf(short))
      if (there === undefined || !isHeld(inShort(there))) await apply(whole())
    },
    remove: (kind: string, _namespace: string, name: string) => write(() => objects.delete(`${kind}/${name}`)),
  }
  const configMaps = () => [...objects.values()].filter(({ kind }) => kind === 'ConfigMap')
  const read = async (name: string) => objects.get(`Secret/${name}`) ?? null
  return { objects, state, watching, writer, configMap, configMaps, read }
}

type Cluster = ReturnType<typeof fakeCluster>

function publisherFor({ writer, configMap, configMaps, read }: Cluster, nowMs = () => 0, rights = () => '') {
  const nonce = () => randomBytes(8).toString('hex')
  const credentials = createCredentialStore({ writer, place: PLACE, slots: 2, read, nonce, nowMs })
  const readIndexMap = async () => configMap('whence-catalog') ?? null
  const parts = { writer, place: PLACE, copies: { configMap, configMaps }, readIndexMap, credentials }
  return {
    credentials,
    ...bound(createPublisher({ ...parts, marks: { nowMs, rights } })),
  }
}

function bound(publisher: ReturnType<typeof createPublisher>) {
  return { publish: publisher.publish.bind(publisher), open: publisher.open.bind(publisher) }
}

/** What a reader that begins at this moment gets: the version, and the credentials of GA4. */
function freshReader({ configMap, objects }: Cluster): { readonly version: string; readonly token: string } | null {
  const whole = wholeCatalog(PLACE, configMap)
  if (whole === null) return null
  const catalog = fromShards(whole.index.version, whole.texts)
  const found = credentialsParts(whole.index, PLACE, 'ga4').map(({ name, digest }) => {
    const held = objects.get(`Secret/${name}`)
    const text = unpacked(dataMember(held, 'data', CREDENTIALS_KEY) ?? '')
    const nonce = Buffer.from(dataMember(held, 'data', NONCE_KEY) ?? '', 'base64').toString()
    expect(sha256Hex(nonce + text), name).to.equal(digest)
    return text
  })
  const token = /token-\w+/.exec(found.join(''))?.[0] ?? 'none'
  expect(catalog.websites.get('site')?.displayName, 'they belong together').to.equal(token)
  return { version: catalog.version, token }
}

function publishedOf(token: string, more: readonly object[] = []) {
  const site = website('site', { displayName: token })
  const { catalog, credentials } = compile(
    organization('acme'),
    site,
    secret('keys', { ga4: token }),
    ga4Destination('out'),
    ...more,
  )
  const text = JSON.stringify({ credentials: Object.fromEntries(credentials) })
  const texts: ReadonlyMap<ProviderId, readonly string[]> = new Map([['ga4', [text]]])
  return { version: catalog.version, parts: atOnce(layOut(catalog, [], TOOLS)), credentials: texts, problems: [] }
}

describe('publishing', () => {
  const sequence = [
    publishedOf('token-1'),
    publishedOf(
      'token-2',
      many(6, (n) => largeSite(`l${n}`)),
    ),
    publishedOf(
      'token-3',
      many(2, (n) => largeSite(`m${n}`)),
    ),
    publishedOf('token-4'),
  ]

  it('shows every reader a whole catalog with its own credentials, whichever write fails and however', async () => {
    let failures = 0
    for (const isDoneBeforeFailing of [false, true]) {
      for (let failAt = 1; failAt < 40; failAt += 1) {
        const cluster = fakeCluster()
        Object.assign(cluster.state, { failAt, isDoneBeforeFailing })
        let publisher = publisherFor(cluster)
        const seen = new Set<string>()
        let isThere = false
        cluster.watching.add(() => {
          const read = freshReader(cluster)
          if (isThere) expect(read, `a reader after write ${cluster.state.writes}`).not.to.equal(null)
          isThere ||= read !== null
          if (read !== null) seen.add(read.token)
        })
        for (const [number, published] of sequence.entries()) {
          await publisher.publish(published).catch(async () => {
            failures += 1
            // It is tried again with something newer, by this operator or by the next one.
            if (failAt % 2 === 0) publisher = publisherFor(cluster)
            await publisher.publish(sequence[(number + 1) % sequence.length] ?? published)
          })
          await publisher.publish(published)
          expect(freshReader(cluster)?.token).to.equal(`token-${number + 1}`)
        }
        expect(seen.size).to.equal(4)
      }
    }
    expect(failures).to.be.greaterThan(40)
  })

  it('writes nothing if nothing is new, nor does the operator that comes next', async () => {
    const cluster = fakeCluster()
    const published = publishedOf('token-1')
    await publisherFor(cluster).publish(published)
    const { writes } = cluster.state
    const next = publisherFor(cluster)
    await next.publish(published)
    await next.publish(published)
    expect(cluster.state.writes).to.equal(writes)
    await next.publish(publishedOf('token-2'))
    expect(cluster.state.writes, 'one part, the credentials and the index').to.equal(writes + 3)
  })

  it('gives each catalog a number that only grows: about the time, and never one that was there before', async () => {
    const cluster = fakeCluster()
    let nowMs = 1_000
    const publisher = publisherFor(cluster, () => nowMs)
    const number = () => wholeCatalog(PLACE, cluster.configMap)?.index.number
    await publisher.publish(publishedOf('token-1'))
    expect(number()).to.equal(1_000)
    await publisher.publish(publishedOf('token-2'))
    expect(number(), 'within the same millisecond').to.equal(1_001)
    await publisher.publish(publishedOf('token-2'))
    expect(number(), 'nothing is new').to.equal(1_001)
    nowMs = 10
    const next = publisherFor(cluster, () => nowMs)
    await next.publish(publishedOf('token-3'))
    expect(number(), 'by an operator whose clock is behind').to.equal(1_002)
    cluster.objects.delete('ConfigMap/whence-catalog')
    // It is tried again after a refusal.
    await next.publish(publishedOf('token-3')).catch(() => next.publish(publishedOf('token-3')))
    expect(number(), 'the index was deleted').to.equal(1_003)
  })

  it('gives one to a change of who may do what, although no part of the catalog has changed', async () => {
    const cluster = fakeCluster()
    let rights = 'a'
    const publisher = publisherFor(
      cluster,
      () => 5,
      () => rights,
    )
    await publisher.publish(publishedOf('token-1'))
    rights = 'b'
    const { writes } = cluster.state
    await publisher.publish(publishedOf('token-1'))
    expect(wholeCatalog(PLACE, cluster.configMap)?.index).to.include({ number: 6, rights: 'b' })
    expect(cluster.state.writes).to.equal(writes + 1)
  })

  it('of two operators that think they lead lets one lose, who goes on from what the other has published', async () => {
    const cluster = fakeCluster()
    const first = publisherFor(cluster, () => 1)
    const second = publisherFor(cluster, () => 1)
    const number = () => wholeCatalog(PLACE, cluster.configMap)?.index.number
    await first.publish(publishedOf('token-1'))
    await second.open()
    let isRaced = false
    cluster.watching.add(() => {
      if (isRaced) return
      isRaced = true
      const there = cluster.configMap('whence-catalog')
      const index = readIndex(dataMember(there, 'data', 'index.json') ?? '')
      const text = indexText({ ...index, number: 7 })
      const metadata = { name: 'whence-catalog', resourceVersion: 'of another' }
      cluster.objects.set('ConfigMap/whence-catalog', { kind: 'ConfigMap', metadata, data: { 'index.json': text } })
    })
    const lost = await second.publish(publishedOf('token-2')).catch((error: unknown) => error)
    expect(lost).to.include({ status: 409 })
    expect(freshReader(cluster)?.token, 'what is in force stays whole').to.equal('token-1')
    await second.publish(publishedOf('token-2'))
    expect(freshReader(cluster)?.token).to.equal('token-2')
    expect(number()).to.equal(8)
    await first.publish(publishedOf('token-3'))
    expect(number()).to.equal(9)
    expect(freshReader(cluster)?.token).to.equal('token-3')
  })

  it('writes the problems for organisations beside the catalog, and deletes them with the last one', async () => {
    const cluster = fakeCluster()
    const publisher = publisherFor(cluster)
    const problem = {
      object: 'Website/x',
      source: '',
      field: '',
      reason: 'PlanLimit',
      message: 'no',
      organization: 'acme',
    }
    const problems = [{ ...problem, sinceMs: 1 }]
    const published = publishedOf('token-1')
    await publisher.publish(published)
    const { writes } = cluster.state
    await publisher.publish({ ...published, problems })
    expect(publishedProblems(PLACE, cluster.configMap)).to.deep.equal(problems)
    await publisherFor(cluster).publish({ ...published, problems })
    expect(cluster.state.writes, 'nothing of the catalog is written').to.equal(writes + 1)
    await publisher.publish(published)
    expect(cluster.objects.has('ConfigMap/whence-catalog-problems')).to.equal(false)
  })

  it('notices changed Secrets, removes unused ones, and keeps nothing of a withdrawn credential', async () => {
    const cluster = fakeCluster()
    let now = 0
    const publisher = publisherFor(cluster, () => now)
    await publisher.publish(publishedOf('token-1'))
    await publisher.publish(publishedOf('token-2'))
    now = 61_000
    expect(await publisher.credentials.tidy()).to.equal(false)
    const secrets = () => [...cluster.objects.values()].filter(({ kind }) => kind === 'Secret')
    expect(secrets()).to.have.length(1)
    const [only] = secrets()
    expect(unpacked(dataMember(only, 'data', CREDENTIALS_KEY) ?? ''))
      .to.include('token-2')
      .and.not.to.include('token-1')
    cluster.objects.delete(`Secret/${only?.metadata.name ?? ''}`)
    expect(await publisher.credentials.tidy()).to.equal(true)
    await publisher.publish(publishedOf('token-2'))
    expect(freshReader(cluster)?.token).to.equal('token-2')
    expect(hasContent({ metadata: { name: 'x' } }, { data: { a: 'b' } })).to.equal(false)
  })
})

describe('a copy of a ConfigMap', () => {
  it('has digests instead of the parts, which show what it holds', () => {
    const part = 'x'.repeat(1_000)
    const copy = inShort({ metadata: { name: 'x', managedFields: [] }, data: { a: 'b' }, binaryData: { p: part } })
    expect(JSON.stringify(copy)).to.have.length.below(200).and.not.include('xxx')
    expect(hasContent(copy, { data: { a: 'b' }, digests: { p: sha256Hex(part) } })).to.equal(true)
    expect(hasContent(copy, { digests: { p: sha256Hex(`${part}y`) } })).to.equal(false)
    expect(hasContent(copy, { data: { a: 'c' } })).to.equal(false)
  })
})

describe('room for many owners', () => {
  it('is given in equal shares, so that small requests are granted in full', () => {
    const claims = fc.array(
      fc.record({ owner: fc.constantFrom('a', 'b', 'c'), bytes: fc.integer({ min: 1, max: 10 }) }),
      { minLength: 20, maxLength: 60 },
    )
    fc.assert(
      fc.property(claims, fc.integer({ min: 1, max: 300 }), (list, capacity) => {
        const named = list.map((claim, n) => ({ ...claim, key: String(n) }))
        const out = withoutRoom(named, capacity)
        const kept = named.filter(({ key }) => !out.has(key))
        const sum = (some: readonly { readonly bytes: number }[]) => some.reduce((total, { bytes }) => total + bytes, 0)
        expect(sum(kept)).to.be.at.most(capacity)
        const owners = new Set(named.map(({ owner }) => owner))
        for (const owner of owners) {
          const own = named.filter((claim) => claim.owner === owner)
          const share = capacity / owners.size
          if (sum(own) <= share) expect(own.some(({ key }) => out.has(key))).to.equal(false)
          const left = own.filter(({ key }) => out.has(key))
          // Of two large requests, neither is refused completely: what is left out did not fit into the share beside the rest.
          const least = share - Math.max(0, ...left.map(({ bytes }) => bytes))
          if (left.length > 0) expect(sum(own) - sum(left)).to.be.greaterThan(least)
        }
        if (sum(named) <= capacity) expect(out.size).to.equal(0)
      }),
    )
  })

  it('leaves out destinations of the namespace that fills the Secrets, and of no other', () => {
    const at = (second: number) => ({ creationTimestamp: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z` })
    const object = (namespace: string, name: string, second: number, spec: object) => ({
      metadata: { namespace, name, ...at(second) },
      spec,
    })
    const big = 'x'.repeat(LIMITS.credentialBytes)
    const destination = (namespace: string, name: string, second: number) =>
      object(namespace, name, second, {
        websiteRef: { name: `site-${Number(name.slice(1)) % 5}` },
        provider: 'ga4',
        ga4: { measurementId: 'G-ABC1234567', apiSecretRef: { name: 'keys', key: 'ga4' } },
      })
    const inBoth = <T>(make: (namespace: string) => T[]) => ['a', 'b'].flatMap(make)
    const gathered = {
      resources: {
        Organization: inBoth((namespace) => [object(namespace, 'acme', 0, { plan: 'Enterprise' })]),
        Website: inBoth((namespace) =>
          many(5, (n) =>
            object(namespace, `site-${n}`, 1, {
              id: `${namespace}-${n}`,
              organizationRef: { name: 'acme' },
              primaryOrigin: `https://${namespace}${n}.example`,
            }),
          ),
        ),
        InstallPath: [],
        Destination: [...many(90, (n) => destination('a', `d${n}`, 2)), destination('b', 'd1', 59)],
        LogStream: [],
        Webhook: [],
        Member: [],
        ApiKey: [],
        ShareLink: [],
      },
      secrets: inBoth((namespace) => [
        { metadata: { namespace, name: 'keys' }, data: { ga4: Buffer.from(big).toString('base64') } },
      ]),
      namespaces: [],
      partsInUse: [],
      credentialSlots: 1,
      ownSecrets: new Set<string>(),
      baseUrl: 'https://whence.example',
      before: null,
      published: [],
      heldNamespaces: new Set<string>(),
      paused: new Set<string>(),
      warnings: () => [],
      nowMs: 0,
    }
    const decision = atOnce(decide(gathered, TOOLS, emptyMemory()))
    const reasons = [...decision.objects.values()].flatMap(({ object: { metadata }, problems }) =>
      problems.map(({ reason }) => `${metadata.namespace ?? ''} ${reason}`),
    )
    expect(new Set(reasons)).to.deep.equal(new Set(['a TooLarge']))
    expect(reasons.length).to.be.within(30, 60)
    expect(decision.objects.get('Destination/b/d1')?.isInForce).to.equal(true)
    expect(decision.credentials.get('ga4')).to.have.length(1)
    expect(Buffer.byteLength(decision.credentials.get('ga4')?.[0] ?? '')).to.be.at.most(
      LIMITS.credentialPartBytes + 100,
    )
  })
})
