/** What stays in force: of a namespace that cannot be read, and of many websites that are refused at once. */

import { createHash } from 'node:crypto'

import { expect } from 'chai'

import { atOnce } from '../../domain/published/steps.ts'
import { LIMITS, PLAN_LIMITS } from '../../domain/limits.ts'
import { pack } from '../../operator/decide/pack.ts'
import type { Decision, DecisionMemory } from '../../operator/decide/decide.ts'
import type { Gathered, InForce } from '../../operator/decide/gathered.ts'
import { decide, emptyMemory } from '../../operator/decide/decide.ts'
import { createNamespaces } from '../../operator/gather/namespaces.ts'
import { withoutPaused } from '../../operator/gather/ownership.ts'
import { withoutUnread } from '../../operator/gather/secrets.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'

const TOOLS = {
  sha256Hex: (text: string): string => createHash('sha256').update(text).digest('hex'),
  pack,
}

type Change = Partial<Record<keyof Gathered['resources'] | 'secrets', readonly KubeObject[]>>

const object = (namespace: string, name: string, spec: object, metadata: object = {}): KubeObject => ({
  metadata: { namespace, name, creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
  spec,
})
const acme = (namespace: string, more: object = {}) => object(namespace, 'acme', { plan: 'Enterprise', ...more })
const site = (namespace: string, name: string, spec: object = {}, metadata: object = {}) => {
  const origin = `https://${name}.${namespace}.example`
  return object(namespace, name, { organizationRef: { name: 'acme' }, primaryOrigin: origin, ...spec }, metadata)
}
const keys = (namespace: string): KubeObject => ({ metadata: { namespace, name: 'keys' }, data: { ga4: 'dG9rZW4=' } })
const ga4 = { measurementId: 'G-ABC1234567', apiSecretRef: { name: 'keys', key: 'ga4' } }
const out = (namespace: string, name: string, spec: object = {}, metadata: object = {}) =>
  object(namespace, name, { websiteRef: { name: 'site' }, provider: 'ga4', ga4, ...spec }, metadata)

/** A namespace that holds nothing, to which a test adds what it asks about. */
const NOTHING = {
  Organization: [],
  Website: [],
  InstallPath: [],
  Destination: [],
  LogStream: [],
  Webhook: [],
  Member: [],
  ApiKey: [],
  ShareLink: [],
}

function look(change: Change, more: Partial<Gathered> = {}, memory: DecisionMemory = emptyMemory()): Decision {
  const { secrets = [], ...kinds } = change
  const gathered: Gathered = {
    resources: { ...NOTHING, ...kinds },
    secrets,
    namespaces: [],
    partsInUse: [],
    credentialSlots: 4,
    ownSecrets: new Set(),
    before: null,
    published: [],
    heldNamespaces: new Set(),
    paused: new Set(),
    warnings: () => [],
    nowMs: 0,
    baseUrl: 'https://whence.example',
    ...more,
  }
  return atOnce(decide(gathered, TOOLS, memory))
}
const idsOf = ({ inForce }: { readonly inForce: InForce }) => [...inForce.catalog.websites.keys()].sort()
const reasonsOf = ({ objects }: Decision, key: string) => (objects.get(key)?.problems ?? []).map(({ reason }) => reason)

describe('a namespace that cannot be read', () => {
  const allowed = { allowedNamespaces: { from: 'All' } }
  const both = {
    Organization: [acme('a', allowed), acme('b')],
    InstallPath: [object('a', 'cli', { organizationRef: { name: 'acme' } })],
    Website: [
      site('a', 'site', { id: 'a-site' }),
      site('b', 'guest', { organizationRef: { name: 'acme', namespace: 'a' } }),
    ],
    Destination: [out('a', 'out')],
    secrets: [keys('a')],
  }
  const before = look(both)
  const b = { Organization: [acme('b')], Website: both.Website.slice(1) }
  const held = { before: before.inForce, heldNamespaces: new Set(['a']) }

  it('keeps its websites with destinations and credentials, and what refers to it from elsewhere', () => {
    expect(idsOf(before)).to.deep.equal(['a-site', 'guest'])
    const after = look(b, held)
    expect(after.version).to.equal(before.version)
    expect(after.inForce.catalog).to.deep.equal(before.inForce.catalog)
    expect(after.inForce.credentials).to.deep.equal(before.inForce.credentials)
    expect(reasonsOf(after, 'Website/b/guest')).to.deep.equal([])
  })

  it('keeps its IDs and origins, while others go on changing', () => {
    const rivals = [
      site('b', 'thief', { id: 'a-site', primaryOrigin: 'https://thief.example' }),
      site('b', 'other', { primaryOrigin: 'https://site.a.example' }),
      site('b', 'new'),
    ]
    const after = look({ ...b, Website: [...b.Website, ...rivals] }, held)
    expect(idsOf(after)).to.deep.equal(['a-site', 'guest', 'new'])
    expect(reasonsOf(after, 'Website/b/thief')).to.deep.equal(['IdTaken'])
    expect(reasonsOf(after, 'Website/b/other')).to.deep.equal(['OriginTaken'])
    expect(look(b, { before: after.inForce }).inForce.catalog.websites.size, 'it is gone').to.equal(0)
  })

  it('is distinguished from one without an answer yet, and is gone ten minutes after it was seen to be', () => {
    let now = 0
    const watch = (isSynced: boolean, failure: number | null) => ({ isSynced: () => isSynced, failure: () => failure })
    const watches = new Map([
      ['seen', [watch(true, null), watch(true, null)]],
      ['late', [watch(true, null), watch(false, 503)]],
      ['shut', [watch(true, null), watch(false, 403)]],
      ['lost', [watch(true, 403), watch(true, null)]],
      ['gone', [watch(false, 403), watch(false, 403)]],
    ])
    const exists = (name: string) => name !== 'gone'
    const namespaces = createNamespaces({ watches, exists, nowMs: () => now })
    const told = () => Object.fromEntries(namespaces.states())
    const first = { seen: 'Seen', late: 'Pending', shut: 'Forbidden', lost: 'Seen', gone: 'Forbidden' }
    expect(told()).to.deep.equal(first)
    now = LIMITS.namespacePatienceMs - 1
    expect(told()).to.deep.equal(first)
    const later = { ...first, late: 'Late' }
    now = LIMITS.namespacePatienceMs
    expect(told()).to.deep.equal(later)
    now = 599_000
    expect(told()).to.deep.equal(later)
    now = 600_000
    expect(told()).to.deep.equal({ ...later, gone: 'Gone' })
    expect([...namespaces.outdated()]).to.deep.equal(['shut', 'lost', 'gone'])
  })
})

describe('a website that is paused', () => {
  it('stays as it was in force, keeps its ID and origin, and continues when the annotation is removed', () => {
    const before = look({
      Organization: [acme('a')],
      Website: [site('a', 'site')],
      Destination: [out('a', 'out')],
      secrets: [keys('a')],
    })
    const metadata = { annotations: { 'whence.dev/paused': 'true' } }
    const edited = site('a', 'site', { displayName: 'Edited', retentionDays: 1 }, metadata)
    const Website = [edited, site('a', 'rival', { id: 'site' })]
    const { resources, paused } = withoutPaused({
      ...NOTHING,
      Organization: [acme('a')],
      Website,
      Destination: [out('a', 'out')],
    })
    const after = look({ ...resources, secrets: [keys('a')] }, { before: before.inForce, paused })
    expect(after.inForce.catalog.websites).to.deep.equal(before.inForce.catalog.websites)
    expect(reasonsOf(after, 'Website/a/rival')).to.deep.equal(['IdTaken'])
    expect(after.objects.has('Website/a/site')).to.equal(false)
    const gone = look({ Organization: [acme('a')] }, { before: before.inForce })
    expect(idsOf(gone), 'its object was deleted').to.deep.equal([])
    const on = look(
      { Organization: [acme('a')], Website: [site('a', 'site', { displayName: 'Edited' })] },
      { before: after.inForce },
    )
    expect(on.inForce.catalog.websites.get('site')?.displayName).to.equal('Edited')
  })
})

describe('a destination that is paused', () => {
  const rest = { Organization: [acme('a')], Website: [site('a', 'site')] }
  const annotated = (annotations: object) =>
    withoutPaused({ ...NOTHING, ...rest, Destination: [out('a', 'out', { mode: 'Live' }, { annotations })] })

  it('stays as it was in force with its credentials, whatever its object and its Secret say, and goes on later', () => {
    const before = look({ ...rest, Destination: [out('a', 'out')], secrets: [keys('a')] })
    const { resources, paused } = annotated({ 'whence.dev/paused': 'true' })
    const after = look({ ...resources, secrets: [] }, { before: before.inForce, paused })
    expect(after.inForce).to.deep.equal(before.inForce)
    expect(after.objects.has('Destination/a/out'), 'nothing is written to it').to.equal(false)
    const on = annotated({})
    const later = look({ ...on.resources, secrets: [keys('a')] }, { before: after.inForce, paused: on.paused })
    expect(later.inForce.catalog.websites.get('site')?.destinations[0]?.mode).to.equal('Live')
  })

  it('does not come back into force once its object or its website is gone, and not at all if it never was', () => {
    const before = look({ ...rest, Destination: [out('a', 'out')], secrets: [keys('a')] })
    expect(look(rest, { before: before.inForce }).inForce.credentials.size).to.equal(0)
    const { resources, paused } = annotated({ 'whence.dev/paused': 'true' })
    const alone = look({ ...resources, Website: [] }, { before: before.inForce, paused })
    expect(alone.inForce.credentials.size).to.equal(0)
    const first = look({ ...resources, secrets: [keys('a')] }, { before: look(rest).inForce, paused })
    expect(first.inForce.catalog.websites.get('site')?.destinations).to.deep.equal([])
  })
})

describe('what waits for its Secret', () => {
  it('stays as it was in force: destinations, log streams and webhooks', () => {
    const organizationRef = { name: 'acme' }
    const secretRef = { name: 'keys', key: 'ga4' }
    const resources = {
      Organization: [acme('a')],
      Website: [site('a', 'site')],
      InstallPath: [],
      Destination: [out('a', 'out')],
      LogStream: [object('a', 'logs', { organizationRef, webhook: { url: 'https://logs.example/in', secretRef } })],
      Webhook: [
        object('a', 'hook', {
          organizationRef,
          url: 'https://hook.example/in',
          secretRef,
          events: ['install.matched'],
        }),
      ],
      Member: [],
      ApiKey: [],
      ShareLink: [],
    }
    const before = look({ ...resources, secrets: [keys('a')] })
    expect(before.inForce.credentials.size).to.equal(3)
    const { resources: running, waiting } = withoutUnread(resources, new Set(['a/keys']))
    expect([...waiting]).to.deep.equal(['Destination/a/out', 'LogStream/a/logs', 'Webhook/a/hook'])
    const after = look({ ...running, secrets: [] }, { before: before.inForce, paused: waiting })
    expect(after.inForce).to.deep.equal(before.inForce)
    expect(after.refused).to.equal(0)
    expect(look({ ...running, secrets: [] }, { before: before.inForce }).inForce.credentials.size).to.equal(0)
  })
})

describe('many websites that are refused at once', () => {
  const many = (count: number, spec: object = {}, metadata: object = {}, from = 0) =>
    Array.from({ length: count }, (_, n) => site('a', `s${from + n}`, spec, metadata))
  const WRONG = { retentionDays: 1 }
  const world = (Website: readonly KubeObject[], more: Change = {}): Change => ({
    Organization: [acme('a')],
    Website,
    ...more,
  })
  /** Decides again and again, each time knowing what was in force before. */
  const sequence = () => {
    const memory = emptyMemory()
    let before: InForce | null = null
    return (change: Change, nowMs: number): Decision => {
      const decision = look(change, { before, nowMs }, memory)
      before = decision.inForce
      return decision
    }
  }

  it('stay in force as they were, with a condition each, until they are corrected', () => {
    const next = sequence()
    next(world(many(20)), 0)
    const after = next(world([...many(15, WRONG), ...many(5, { displayName: 'New' }, {}, 15)]), 1)
    expect(after.inForce.catalog.websites.size).to.equal(20)
    expect(after.held).to.equal(15)
    expect(reasonsOf(after, 'Website/a/s0')).to.deep.equal(['InvalidField', 'LastAcceptedKept'])
    expect(after.inForce.catalog.websites.get('s19')?.displayName, 'all others change').to.equal('New')
    const later = next(world([...many(15, WRONG), ...many(5, {}, {}, 15)]), 3_600_000)
    expect(later.inForce.catalog.websites.size).to.equal(20)
    const mended = next(world(many(20, { displayName: 'Mended' })), 3_600_001)
    expect(mended.held).to.equal(0)
    expect(mended.inForce.catalog.websites.get('s0')?.displayName).to.equal('Mended')
  })

  it('are counted over ten minutes, and a restarted operator knows nothing about it', () => {
    const next = sequence()
    next(world(many(20)), 0)
    expect(next(world([...many(9, WRONG), ...many(11, {}, {}, 9)]), 1).inForce.catalog.websites.size).to.equal(11)
    expect(next(world([...many(12, WRONG), ...many(8, {}, {}, 12)]), 500_000).inForce.catalog.websites.size).to.equal(
      20,
    )
    const restarted = look(world(many(20, WRONG)), { before: look(world(many(20))).inForce, nowMs: 0 })
    expect(restarted.inForce.catalog.websites.size).to.equal(20)
    const slow = sequence()
    slow(world(many(20)), 0)
    slow(world([...many(9, WRONG), ...many(11, {}, {}, 9)]), 1)
    expect(slow(world([...many(12, WRONG), ...many(8, {}, {}, 12)]), 700_000).inForce.catalog.websites.size).to.equal(8)
  })

  it('go when they are deleted, when their organisation is, or when a plan has no room for them', () => {
    const next = sequence()
    next(world(many(20)), 0)
    expect(next(world(many(3)), 1).inForce.catalog.websites.size).to.equal(3)
    const orphans = sequence()
    orphans(world(many(20)), 0)
    expect(orphans({ Website: many(20) }, 1).inForce.catalog.websites.size).to.equal(0)
    const downgrade = sequence()
    downgrade(world(many(20)), 0)
    expect(
      downgrade({ Organization: [acme('a', { plan: 'Free' })], Website: many(20) }, 1).inForce.catalog.websites.size,
    ).to.equal(1)
  })

  it('are taken out of force one by one on request, and without asking in small numbers', () => {
    const next = sequence()
    next(world(many(12)), 0)
    const told = { annotations: { 'whence.dev/reconcile-now': 'now' } }
    expect(next(world(many(12, WRONG)), 1).held).to.equal(12)
    const one = next(world([...many(11, WRONG), ...many(1, WRONG, told, 11)]), 2)
    expect([one.held, one.inForce.catalog.websites.size]).to.deep.equal([11, 11])
    expect(reasonsOf(one, 'Website/a/s11')).to.deep.equal(['InvalidField'])
    const few = sequence()
    few(world(many(9)), 0)
    expect(few(world(many(9, WRONG)), 1).inForce.catalog.websites.size).to.equal(0)
  })

  it('give an expired invitation no place while they stay', () => {
    const expiresAt = '2026-01-08T00:00:00Z'
    const member = (name: string, spec: object = {}) =>
      object('a', name, { organizationRef: { name: 'acme' }, email: `${name}@acme.example`, role: 'Owner', ...spec })
    const others = Array.from({ length: PLAN_LIMITS.Enterprise.members }, (_, index) => member(`m${index}`))
    const Member = [member('invited', { invitation: { id: 'a'.repeat(32), expiresAt } }), ...others]
    const next = sequence()
    next(world(many(12), { Member }), Date.parse(expiresAt))
    const after = next(world(many(12, WRONG), { Member }), Date.parse(expiresAt) + 1)
    expect(after.held).to.equal(12)
    for (const { metadata } of Member) expect(reasonsOf(after, `Member/a/${metadata.name}`)).to.deep.equal([])
  })

  it('keep their organisation and destinations if these are refused with them', () => {
    const next = sequence()
    const sites = [...many(12), site('a', 'site')]
    const before = next(world(sites, { Destination: [out('a', 'out')], secrets: [keys('a')] }), 0)
    const broken = { Organization: [acme('a', { logRetentionDays: 1 })], Website: sites, secrets: [keys('a')] }
    const after = next({ ...broken, Destination: [out('a', 'out')] }, 1)
    expect(after.version).to.equal(before.version)
    expect(after.inForce.credentials.get('a/acme/site/out')).to.deep.equal({ apiSecret: 'token' })
    const withoutOne = next(broken, 2)
    expect(withoutOne.inForce.catalog.websites.get('site')?.destinations, 'a deletion counts').to.deep.equal([])
  })
})
