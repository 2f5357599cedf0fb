/** What decisions and readers remember changes nothing but the time they take: checked over random sequences of edits. */

import { createHash } from 'node:crypto'

import { expect } from 'chai'
import fc from 'fast-check'

import { atOnce } from '../../domain/published/steps.ts'
import { emptyShardMemory, fromShards } from '../../domain/published/shards.ts'
import { UnreadableCatalog } from '../../domain/published/index.ts'
import { compileCatalog, emptyCompileMemory } from '../../domain/catalog/compile-catalog.ts'
import { judgeChange } from '../../domain/catalog/judge-change.ts'
import type { JsonObject } from '../../domain/strict-json.ts'
import { PLAN_LIMITS } from '../../domain/limits.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import { RESOURCE_KINDS } from '../../domain/resources/resources.ts'
import { pack, packedBase64 } from '../../operator/decide/pack.ts'
import type { Gathered } from '../../operator/decide/gathered.ts'
import { decide, emptyMemory } from '../../operator/decide/decide.ts'
import { unpacked } from '../../runtime/catalog/members.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'

const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex')
const TOOLS = { sha256Hex, pack }

type Objects = Map<string, KubeObject>

interface World {
  readonly kinds: { readonly [K in ResourceKind]: Objects }
  readonly secrets: Objects
  readonly namespaces: Objects
  /** Counts versions, IDs and seconds of creation. */
  count: number
}

type Edit = (world: World) => void

const namespace = fc.constantFrom('a', 'b')
const name = fc.constantFrom('x', 'y')
const ref = fc.record({ name, namespace }, { requiredKeys: ['name'] })
const idField = fc.constantFrom('one', 'two')

const SPECS: { readonly [K in ResourceKind]: fc.Arbitrary<object> } = {
  Organization: fc.record(
    {
      plan: fc.constantFrom('Free', 'Standard', 'Enterprise'),
      displayName: name,
      defaultInstallPath: name,
      allowedNamespaces: fc.constantFrom(
        { from: 'All' },
        { from: 'Selector', selector: { matchLabels: { team: 'x' } } },
        { from: 'Selector' },
      ),
    },
    { requiredKeys: ['plan'] },
  ),
  InstallPath: fc.record(
    { organizationRef: ref, id: idField, paused: fc.boolean() },
    { requiredKeys: ['organizationRef'] },
  ),
  Website: fc.record(
    {
      organizationRef: ref,
      primaryOrigin: fc.constantFrom('https://one.example', 'https://two.example', 'https://three.example', 'ftp://x'),
      additionalDomains: fc.constantFrom([], ['https://three.example']),
      displayName: name,
      id: idField,
      allowedNamespaces: fc.constant({ from: 'All' }),
    },
    { requiredKeys: ['organizationRef', 'primaryOrigin'] },
  ),
  Destination: fc.record({
    websiteRef: ref,
    provider: fc.constantFrom('ga4', 'meta'),
    ga4: fc.record({
      measurementId: fc.constantFrom('G-ABC1234567', 'G-DEF1234567'),
      apiSecretRef: fc.record({ name, key: name }),
    }),
  }),
  LogStream: fc.record({
    organizationRef: ref,
    webhook: fc.record({ url: fc.constant('https://x.example'), secretRef: fc.record({ name, key: name }) }),
  }),
  Webhook: fc.record({
    organizationRef: ref,
    url: fc.constantFrom('https://x.example', 'https://127.0.0.1'),
    secretRef: fc.record({ name, key: name }),
    events: fc.constantFrom(['install.matched'], ['plan.changed', 'quota.reached']),
  }),
  Member: fc.record({
    organizationRef: fc.record({ name }),
    email: fc.constantFrom('anna@acme.dev', 'bert@acme.dev'),
    role: fc.constantFrom('Owner', 'Viewer'),
  }),
  ApiKey: fc.record({
    organizationRef: fc.record({ name }),
    scopes: fc.constantFrom(['figures'], ['figures', 'installs']),
    expiresAt: fc.constantFrom('1970-06-30T00:00:00Z', '2027-06-30T00:00:00Z'),
    keyHash: fc.constantFrom(`sha256:${'0'.repeat(64)}`, `sha256:${'1'.repeat(64)}`),
  }),
  ShareLink: fc.record({
    websiteRef: fc.record({ name }),
    period: fc.constantFrom('Today', 'LastMonth'),
    filters: fc.constantFrom([], [{ field: 'campaign', is: ['show-hn'] }]),
    expiresAt: fc.constantFrom('1970-06-30T00:00:00Z', '2027-06-30T00:00:00Z'),
    tokenHash: fc.constantFrom(`sha256:${'0'.repeat(64)}`, `sha256:${'1'.repeat(64)}`),
  }),
}

/** As the API server counts: a new spec is a new generation, a new status only a new version. */
function put(objects: Objects, world: World, id: { namespace?: string; name: string }, body: object): void {
  const key = `${id.namespace ?? ''}/${id.name}`
  world.count += 1
  const { metadata } = objects.get(key) ?? {}
  const { uid = `uid-${world.count}`, creationTimestamp = `2026-01-01T00:00:${10 + (world.count % 7)}Z` } =
    metadata ?? {}
  const generation = (metadata?.generation ?? 0) + 1
  objects.set(key, {
    ...body,
    metadata: { ...id, uid, creationTimestamp, generation, resourceVersion: String(world.count) },
  })
}

const specEdit = fc.constantFrom(...RESOURCE_KINDS).chain((kind) =>
  fc.record({ namespace, name, spec: SPECS[kind] }).map(
    ({ spec, ...id }): Edit =>
      (world) =>
        put(world.kinds[kind], world, id, { spec }),
  ),
)
/** What people do most: one field of one website changes, and everything else stays. */
const websiteEdit = fc
  .record({
    website: name,
    change: fc.oneof(
      fc.record({ displayName: name }),
      fc.record({ retentionDays: fc.constantFrom(30, 60) }),
      fc.record({
        primaryOrigin: fc.constantFrom('https://one.example', 'https://two.example', 'https://four.example'),
      }),
      fc.record({ additionalDomains: fc.constantFrom([], ['https://five.example'], ['https://one.example']) }),
      fc.record({ pages: fc.constantFrom([], [{ id: 'p', url: 'https://six.example/p' }]) }),
      fc.record({ id: idField }),
      fc.record({ organizationRef: fc.constantFrom({ name: 'x' }, { name: 'y' }) }),
      fc.record({ allowedNamespaces: fc.constantFrom({ from: 'All' }, { from: 'Same' }, { from: 'Selector' }) }),
    ),
  })
  .map(({ website, change }): Edit => (world) => {
    const spec = world.kinds.Website.get(`a/${website}`)?.['spec'] ?? {}
    put(world.kinds.Website, world, { namespace: 'a', name: website }, { spec: { ...spec, ...change } })
  })
const existing = fc.record({ kind: fc.constantFrom(...RESOURCE_KINDS), namespace, name })
const statusEdit = existing.map(({ kind, ...id }): Edit => (world) => {
  const object = world.kinds[kind].get(`${id.namespace}/${id.name}`)
  world.count += 1
  const resourceVersion = String(world.count)
  if (object === undefined) return
  world.kinds[kind].set(`${id.namespace}/${id.name}`, {
    ...object,
    metadata: { ...object.metadata, resourceVersion },
    status: { observedGeneration: world.count },
  })
})
const removal = existing.map(({ kind, namespace: of, name: called }): Edit => (world) => {
  world.kinds[kind].delete(`${of}/${called}`)
})
/** Deleted and made again before anybody looked: the same name and spec, but younger. */
const recreation = existing.map(({ kind, ...id }): Edit => (world) => {
  const objects = world.kinds[kind]
  const before = objects.get(`${id.namespace}/${id.name}`)
  if (before === undefined) return
  objects.delete(`${id.namespace}/${id.name}`)
  put(objects, world, id, { spec: before['spec'] })
})
const secretEdit = fc.record({ namespace, name, key: name, value: fc.constantFrom('', 'MQ==', 'Mg==', '\u0000') }).map(
  ({ key, value, ...id }): Edit =>
    (world) =>
      put(world.secrets, world, id, { data: { [key]: value } }),
)
const secretRemoval = fc.record({ namespace, name }).map(({ namespace: of, name: called }): Edit => (world) => {
  world.secrets.delete(`${of}/${called}`)
})
const labelEdit = fc.record({ namespace, team: name }).map(({ namespace: of, team }): Edit => (world) => {
  world.namespaces.set(of, { metadata: { name: of, labels: { team } } })
})
/** A new list: other objects with the same content, in another order. */
const relist = fc.constant((world: World): void => {
  for (const kind of RESOURCE_KINDS) {
    const list = [...world.kinds[kind]].sort(([a], [b]) => (a < b ? -1 : 1))
    world.kinds[kind].clear()
    for (const [key, object] of list) world.kinds[kind].set(key, structuredClone(object))
  }
})

const edits = fc.array(
  fc.oneof(
    { weight: 10, arbitrary: specEdit },
    { weight: 14, arbitrary: websiteEdit },
    { weight: 3, arbitrary: statusEdit },
    { weight: 3, arbitrary: removal },
    { weight: 2, arbitrary: recreation },
    { weight: 3, arbitrary: secretEdit },
    { weight: 1, arbitrary: secretRemoval },
    { weight: 1, arbitrary: labelEdit },
    { weight: 1, arbitrary: relist },
  ),
  { maxLength: 30, size: 'max' },
)

function startOf(): World {
  const world: World = {
    kinds: {
      Organization: new Map(),
      Website: new Map(),
      InstallPath: new Map(),
      Destination: new Map(),
      LogStream: new Map(),
      Webhook: new Map(),
      Member: new Map(),
      ApiKey: new Map(),
      ShareLink: new Map(),
    },
    secrets: new Map(),
    namespaces: new Map(),
    count: 0,
  }
  // Something to be in force from the start, so that most edits meet a catalog.
  const id = { namespace: 'a', name: 'x' }
  put(world.kinds.Organization, world, id, { spec: { plan: 'Standard', allowedNamespaces: { from: 'All' } } })
  put(world.kinds.InstallPath, world, id, { spec: { organizationRef: { name: 'x' } } })
  put(world.kinds.Website, world, id, {
    spec: { organizationRef: { name: 'x' }, primaryOrigin: 'https://one.example' },
  })
  put(
    world.kinds.Website,
    world,
    { namespace: 'a', name: 'y' },
    {
      spec: { organizationRef: { name: 'x' }, primaryOrigin: 'https://two.example' },
    },
  )
  put(world.secrets, world, id, { data: { x: 'MQ==' } })
  const ga4 = { measurementId: 'G-ABC1234567', apiSecretRef: { name: 'x', key: 'x' } }
  put(world.kinds.Destination, world, id, { spec: { websiteRef: { name: 'x' }, provider: 'ga4', ga4 } })
  return world
}

function gatheredFrom({ kinds, secrets, namespaces }: World): Gathered {
  const list = (objects: Objects) => [...objects.values()]
  const { Organization, Website, InstallPath, Destination, LogStream, Webhook, Member, ApiKey, ShareLink } = kinds
  const resources = {
    Organization: list(Organization),
    Website: list(Website),
    InstallPath: list(InstallPath),
    Destination: list(Destination),
    LogStream: list(LogStream),
    Webhook: list(Webhook),
    Member: list(Member),
    ApiKey: list(ApiKey),
    ShareLink: list(ShareLink),
  }
  return {
    resources,
    secrets: list(secrets),
    namespaces: list(namespaces),
    partsInUse: [],
    credentialSlots: 4,
    ownSecrets: new Set<string>(),
    before: null,
    published: [],
    heldNamespaces: new Set<string>(),
    paused: new Set<string>(),
    warnings: () => [],
    nowMs: 0,
    baseUrl: 'https://whence.example',
  }
}

describe('a decision with a memory', () => {
  it('is that from scratch after every edit, status, deletion, rotation and relist', function () {
    this.timeout(60_000)
    let inForce = 0
    fc.assert(
      fc.property(edits, (sequence) => {
        const world = startOf()
        const memory = emptyMemory()
        for (const edit of [() => undefined, ...sequence]) {
          edit(world)
          const gathered = gatheredFrom(world)
          const warm = atOnce(decide(gathered, TOOLS, memory))
          expect(warm).to.deep.equal(atOnce(decide(gathered, TOOLS, emptyMemory())))
          inForce += warm.websites
        }
      }),
      { numRuns: 150 },
    )
    expect(inForce, 'edits must meet a catalog to be of use').to.be.above(1_000)
  })

  it('treats a website that was deleted and created again between two passes as the younger one', () => {
    const world = startOf()
    const memory = emptyMemory()
    const spec = { organizationRef: { name: 'x' }, primaryOrigin: 'https://one.example', id: 'one' }
    const site = (called: string, second: number) => ({
      spec,
      metadata: {
        namespace: 'a',
        name: called,
        uid: `${called} ${second}`,
        generation: 1,
        resourceVersion: String(second),
        creationTimestamp: `2026-01-01T00:00:${second}Z`,
      },
    })
    const refused = () => {
      const { objects } = atOnce(decide(gatheredFrom(world), TOOLS, memory))
      return ['x', 'y'].filter((called) => objects.get(`Website/a/${called}`)?.problems[0]?.reason === 'IdTaken')
    }
    world.kinds.Website.set('a/x', site('x', 20))
    world.kinds.Website.set('a/y', site('y', 30))
    expect(refused()).to.deep.equal(['y'])
    world.kinds.Website.set('a/x', site('x', 40))
    expect(refused()).to.deep.equal(['x'])
    // Gone for one pass and back as it was, after others in the order of reading.
    const older = world.kinds.Website.get('a/y') ?? site('y', 30)
    world.kinds.Website.delete('a/y')
    expect(refused()).to.deep.equal([])
    world.kinds.Website.set('a/y', older)
    expect(refused()).to.deep.equal(['x'])
  })

  it('gives unchanged objects their decision back, and keeps the fields of one if only its status is new', () => {
    const world = startOf()
    const memory = emptyMemory()
    const look = () => atOnce(decide(gatheredFrom(world), TOOLS, memory))
    const before = look()
    put(
      world.kinds.Website,
      world,
      { namespace: 'a', name: 'y' },
      {
        spec: { organizationRef: { name: 'x' }, primaryOrigin: 'https://two.example', displayName: 'New' },
      },
    )
    const object = world.kinds.Website.get('a/x')
    if (object !== undefined) world.kinds.Website.set('a/x', { ...object, status: {} })
    const after = look()
    expect(after.objects.get('Destination/a/x')).to.equal(before.objects.get('Destination/a/x'))
    expect(after.objects.get('Website/a/x')?.fields).to.equal(before.objects.get('Website/a/x')?.fields)
    expect(after.objects.get('Website/a/x')?.object).to.equal(world.kinds.Website.get('a/x'))
    expect(after.version).not.to.equal(before.version)
  })
})

describe('a compilation with a memory', () => {
  it('takes up the origin of a new page, and the claim of a page that becomes a domain', () => {
    const objects = (spec: object, rival: object) =>
      [
        {
          kind: 'Organization',
          metadata: { name: 'x' },
          spec: { plan: 'Enterprise', allowedNamespaces: { from: 'All' } },
        },
        ...[
          { name: 'x', namespace: 'default', own: spec, origin: 'https://one.example' },
          { name: 'y', namespace: 'b', own: rival, origin: 'https://two.example' },
        ].map(({ own, origin, ...metadata }) => {
          const common = { organizationRef: { name: 'x', namespace: 'default' }, primaryOrigin: origin }
          return { kind: 'Website', metadata, spec: { ...common, ...own } }
        }),
      ].map((value) => ({ value: { apiVersion: 'whence.dev/v1alpha1', ...value }, locate: () => '' }))
    const page = { pages: [{ id: 'p', url: 'https://six.example/p' }] }
    const domain = { additionalDomains: ['https://six.example'] }
    for (const rival of [domain, {}]) {
      const memory = emptyCompileMemory()
      const before = objects({}, rival)
      for (const spec of [{}, page, { ...page, ...domain }, domain, {}]) {
        // All but the first website are the objects that they were.
        const mixed = before.map((object, index) => (index === 1 ? (objects(spec, rival)[1] ?? object) : object))
        const fresh = mixed.map(({ value, locate }) => ({ value, locate }))
        const warm = compileCatalog({ objects: mixed, sha256Hex, memory })
        expect(warm).to.deep.equal(compileCatalog({ objects: fresh, sha256Hex }))
      }
    }
  })
})

describe('a judgement with a memory', () => {
  it('is that from scratch, whatever was judged before', () => {
    const source = (value: object) => ({ value: { apiVersion: 'whence.dev/v1alpha1', ...value }, locate: () => '' })
    const site = (own: object) => ({
      organizationRef: { name: 'x' },
      primaryOrigin: 'https://one.example',
      ...own,
    })
    const organization = { kind: 'Organization', metadata: { name: 'x' }, spec: { plan: 'Free' } }
    const objects = [organization, { kind: 'Website', metadata: { name: 'a' }, spec: site({}) }].map(source)
    const memory = emptyCompileMemory()
    const specs = [
      site({ displayName: 'New' }),
      site({ id: 'other' }),
      site({ unknown: true }),
      null,
      site({ id: '!' }),
    ]
    const changes = ['a', 'b', 'a'].flatMap((name) => specs.map((spec) => ({ name, spec })))
    const found = changes.map(({ name, spec }) => {
      const change = { kind: 'Website', namespace: 'default', name, spec: spec as JsonObject | null }
      const input = { isWithoutSecrets: false, sha256Hex, nowMs: 0 }
      const fresh = objects.map(({ value, locate }) => ({ value, locate }))
      const verdict = judgeChange(change, { ...input, objects, memory })
      expect(verdict).to.deep.equal(judgeChange(change, { ...input, objects: fresh }))
      return verdict.refusals.length
    })
    expect(new Set(found).size, 'some must be refused').to.equal(2)
  })
})

describe('an invitation, for a compilation with a memory', () => {
  it('takes up no place once it has expired, also if nothing but a website has changed since', () => {
    const site = (displayName: string) => ({
      kind: 'Website',
      metadata: { name: 'x' },
      spec: { organizationRef: { name: 'x' }, primaryOrigin: 'https://one.example', displayName },
    })
    const member = (name: string, more: object) => ({
      kind: 'Member',
      metadata: { name },
      spec: { organizationRef: { name: 'x' }, email: `${name}@x.example`, role: 'Owner', ...more },
    })
    const invitation = { id: 'a'.repeat(32), expiresAt: '2026-01-01T00:00:00Z' }
    const expiresAtMs = Date.parse(invitation.expiresAt)
    const places = PLAN_LIMITS.Free.members
    const others = Array.from({ length: places }, (_, index) => member(`m${index}`, {}))
    const source = (value: object) => ({ value: { apiVersion: 'whence.dev/v1alpha1', ...value }, locate: () => '' })
    const organization = { kind: 'Organization', metadata: { name: 'x' }, spec: { plan: 'Free' } }
    const kept = [organization, member('invited', { invitation }), ...others].map(source)
    const memory = emptyCompileMemory()
    const membersAt = (nowMs: number, displayName: string) =>
      compileCatalog({ objects: [...kept, source(site(displayName))], sha256Hex, memory, nowMs }).people.members.length
    expect(membersAt(expiresAtMs - 2, 'First')).to.equal(places)
    expect(membersAt(expiresAtMs - 1, 'Second')).to.equal(places)
    expect(membersAt(expiresAtMs, 'Third')).to.equal(places + 1)
  })

  it('is looked at again once it has expired, also if the plan had no room for it', () => {
    const source = (value: object) => ({ value: { apiVersion: 'whence.dev/v1alpha1', ...value }, locate: () => '' })
    const member = (name: string, more: object) => ({
      kind: 'Member',
      metadata: { name },
      spec: { organizationRef: { name: 'x' }, email: `${name}@x.example`, role: 'Owner', ...more },
    })
    const invitation = { id: 'a'.repeat(32), expiresAt: '2026-01-01T00:00:00Z' }
    const expiresAtMs = Date.parse(invitation.expiresAt)
    const organization = { kind: 'Organization', metadata: { name: 'x' }, spec: { plan: 'Free' } }
    const objects = [organization, member('anna', {}), member('invited', { invitation })].map(source)
    const memory = emptyCompileMemory()
    const at = (nowMs: number) => compileCatalog({ objects, sha256Hex, memory, nowMs })
    const problemsAt = (nowMs: number) => at(nowMs).problems.map(({ reason }) => reason)
    expect(problemsAt(expiresAtMs - 1)).to.deep.equal(['PlanLimit'])
    expect(at(expiresAtMs - 1).people.changesAtMs).to.equal(expiresAtMs)
    expect(problemsAt(expiresAtMs)).to.deep.equal([])
    expect(at(expiresAtMs).people.changesAtMs).to.equal(Infinity)
    expect(problemsAt(expiresAtMs - 1), 'a clock that was set back').to.deep.equal(['PlanLimit'])
  })
})

describe('a reader of shards with a memory', () => {
  it('reads the catalog that it would read without, and shares with the one before what did not change', () => {
    fc.assert(
      fc.property(edits, (sequence) => {
        const world = startOf()
        const memory = emptyShardMemory()
        for (const edit of sequence) {
          const before = memory.catalog
          edit(world)
          const { version, parts } = atOnce(decide(gatheredFrom(world), TOOLS, emptyMemory()))
          const texts = parts.map(({ packed }) => unpacked(packedBase64(packed)))
          const catalog = fromShards(version, texts, memory)
          expect(catalog).to.deep.equal(fromShards(version, texts))
          if (before?.version !== catalog.version) continue
          for (const [id, website] of catalog.websites) expect(website).to.equal(before.websites.get(id))
        }
      }),
      { numRuns: 50 },
    )
  })

  it('is not changed by shards that lack an organisation', () => {
    const world = startOf()
    const memory = emptyShardMemory()
    const shardsNow = () =>
      atOnce(decide(gatheredFrom(world), TOOLS, emptyMemory())).parts.map(({ packed }) =>
        unpacked(packedBase64(packed)),
      )
    const first = shardsNow()
    const known = fromShards('1', first, memory)
    put(world.kinds.Organization, world, { namespace: 'a', name: 'x' }, { spec: { plan: 'Enterprise' } })
    const second = shardsNow()
    const torn = second.map((text, number) =>
      text === first[number] ? text : text.replace(/"organizations":\[.*\],"w/, '"organizations":[],"w'),
    )
    expect(() => fromShards('2', torn, memory)).to.throw(UnreadableCatalog)
    expect(memory.catalog).to.equal(known)
    expect(fromShards('1', first, memory).websites.get('x')).to.equal(known.websites.get('x'))
    expect(fromShards('2', second, memory)).to.deep.equal(fromShards('2', second))
  })
})
