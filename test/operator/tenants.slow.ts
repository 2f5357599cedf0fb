/** Tenants and installations beside each other on a real API server: what happens to one does not stop another. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { expect } from 'chai'

import { LIMITS } from '../../domain/limits.ts'
import { reportCatalog } from '../../bin/wiring/catalog-report.ts'
import type { KubeServer } from '../../fixtures/engines/kube.ts'
import { kubeTools, startKube } from '../../fixtures/engines/kube.ts'
import { ga4Destination, organization, website, type Manifest } from '../../fixtures/service/manifests.ts'
import type { Stage } from './support/stage.ts'
import { openStage, PLACE, until } from './support/stage.ts'

const BUILD_AND_START_MS = 1_300_000
const QUIET_MS = 4_000

describe('tenants and installations', function () {
  this.timeout(180_000)
  let kube: KubeServer
  let stage: Stage

  before(async function () {
    this.timeout(BUILD_AND_START_MS)
    const tools = await kubeTools()
    if (tools === null) return this.skip()
    kube = await startKube(tools)
    await kube.installCrds()
    const names = ['whence', 'other', 'shop', 'team-a', 'team-b']
    await kube.apply(names.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })))
    return undefined
  })
  beforeEach(async () => {
    stage = await openStage(kube)
  })
  afterEach(async () => stage?.stop())
  after(async () => kube?.stop())

  const at = (namespace: string, objects: readonly Manifest[]) =>
    objects.map((object: any) => ({ ...object, metadata: { ...object.metadata, namespace } }))
  const sitePath = (namespace: string, name: string) =>
    `/apis/whence.dev/v1alpha1/namespaces/${namespace}/websites/${name}`
  const statusOf = async (namespace: string, name: string): Promise<any> =>
    (await kube.want(sitePath(namespace, name))).status
  const conditionOf = async (namespace: string, name: string, type: string) =>
    (await statusOf(namespace, name)).conditions?.find((each: any) => each.type === type)
  const isReady = (namespace: string, name: string) =>
    until(`${namespace}/${name} is ready`, async () => (await conditionOf(namespace, name, 'Ready'))?.status === 'True')
  const statusWrites = async () =>
    (await kube.audit()).filter(({ verb, objectRef }) => verb === 'patch' && objectRef?.subresource === 'status').length

  it("do not fight if two installations see one namespace: the second does not touch the first one's objects, and reports that once", async () => {
    stage.operator('operator-one', null, { installation: 'one' })
    await kube.apply(at('shop', [organization('acme'), website('site', { id: 'shop-site' })]))
    await isReady('shop', 'site')
    expect(await statusOf('shop', 'site')).to.include({ installation: 'one' })
    const place = { namespace: 'other', name: 'whence' }
    const second = stage.operator('operator-two', null, { installation: 'two', place })
    const foreign = async () => /whence_operator_foreign_objects 2$/m.test(await second.registry.metrics())
    await until('the second one has seen whose they are', foreign)
    const events = () =>
      kube
        .want('/apis/events.k8s.io/v1/namespaces/shop/events')
        .then(({ items }) =>
          items.filter(({ reason, regarding }: any) => reason === 'OtherInstallation' && regarding.kind === 'Website'),
        )
    await until('it says so', async () => (await events()).length > 0)
    const before = await statusWrites()
    await pause(QUIET_MS)
    expect(await statusWrites()).to.equal(before)
    expect(await events()).to.have.length(1)
    expect(await statusOf('shop', 'site')).to.include({ installation: 'one' })

    const marked = { installation: 'two' }
    await kube.apply(at('shop', [organization('acme', marked), website('site', { id: 'shop-site', ...marked })]))
    await until('the mark counts more', async () => (await statusOf('shop', 'site')).installation === 'two')
    await isReady('shop', 'site')
    const settled = await until('both have come to rest', async () => {
      const now = await statusWrites()
      await pause(QUIET_MS / 2)
      return now === (await statusWrites()) ? now : null
    })
    await pause(QUIET_MS)
    expect(await statusWrites()).to.equal(settled)
    await kube.want('/apis/whence.dev/v1alpha1/namespaces/shop/websites', { method: 'DELETE' })
    await kube.want('/apis/whence.dev/v1alpha1/namespaces/shop/organizations', { method: 'DELETE' })
  })

  it('each see in their own activity what their plan refused, in one entry, however many api pods there are and how often the operator starts', async () => {
    const log = new Map<string, Record<string, string>[]>()
    const first = stage.operator()
    const sites = (...names: string[]) => names.map((name) => website(name, { organizationRef: { name: 'plans' } }))
    const spec = { plan: 'Free' }
    await kube.apply(at('team-a', [organization('plans', spec), ...sites('one')]))
    await kube.apply(at('team-b', [organization('plans', spec), ...sites('two')]))
    await isReady('team-a', 'one')
    await isReady('team-b', 'two')
    const startApi = async () => {
      const catalog = await stage.catalog()
      const append = async (_topic: string, entries: readonly { readonly key: string; readonly value: string }[]) => {
        for (const { key, value } of entries) log.set(key, [...(log.get(key) ?? []), JSON.parse(value)])
      }
      reportCatalog({ catalog, eventLog: { append }, nowMs: Date.now })
    }
    await startApi()
    await startApi()
    await kube.apply(at('team-a', sites('one-more')))
    await kube.apply(at('team-b', sites('two-more')))
    const told = () => [...log.values()].map(([entry]) => [entry?.['organization'], entry?.['subject']].join(' '))
    const both = ['team-a/plans Website/team-a/one-more', 'team-b/plans Website/team-b/two-more']
    await until('both have been told', () => both.every((each) => told().includes(each)))
    await until('by both', () => [...log.values()].every((entries) => entries.length === 2))
    await first.close()
    stage.operator()
    await startApi()
    await kube.apply(at('team-a', sites('one-last')))
    await until('the next is told', () => told().some((each) => each.endsWith('one-last')))
    expect(told()).to.have.members([...both, 'team-a/plans Website/team-a/one-last'])
    for (const [key, entries] of log) for (const entry of entries) expect(entry, key).to.deep.equal(entries[0])
    const paths = ['websites', 'organizations'].flatMap((kind) =>
      ['team-a', 'team-b'].map((namespace) => `/apis/whence.dev/v1alpha1/namespaces/${namespace}/${kind}`),
    )
    for (const path of paths) await kube.want(path, { method: 'DELETE' })
    const problems = `/api/v1/namespaces/${PLACE.namespace}/configmaps/whence-catalog-problems`
    await until('nothing is left to tell', async () => (await kube.call(problems)).status === 404)
  })

  it('see by a metric how long a change has waited, and by a condition, while the API server accepts no catalog', async () => {
    const operator = stage.operator()
    const waitingS = async () => {
      const [, seconds] = /^whence_operator_unpublished_seconds (\S+)$/m.exec(await operator.registry.metrics()) ?? []
      return Number(seconds)
    }
    await kube.apply(at('team-a', [organization('acme'), website('early')]))
    await isReady('team-a', 'early')
    await until('nothing waits', async () => (await waitingS()) === 0)
    const policies = '/apis/admissionregistration.k8s.io/v1'
    const metadata = { name: 'no-catalog.whence.dev' }
    const group = 'admissionregistration.k8s.io'
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] }
    const validations = [{ expression: "!object.metadata.name.startsWith('whence-catalog')", message: 'no room' }]
    const binding = { policyName: metadata.name, validationActions: ['Deny'] }
    const policy = { failurePolicy: 'Fail', matchConstraints: { resourceRules: [rule] }, validations }
    const make = (plural: string, kind: string, spec: object) =>
      kube.want(`${policies}/${plural}`, {
        method: 'POST',
        body: { apiVersion: `${group}/v1`, kind, metadata, spec },
      })
    await make('validatingadmissionpolicies', 'ValidatingAdmissionPolicy', policy)
    await make('validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding', binding)
    const probe = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'whence-catalog-probe', namespace: 'other' },
    }
    await until('it is refused', () => kube.apply([probe]).then(() => false, () => true)) // prettier-ignore
    await kube.apply(at('team-a', [website('late')]))
    await until('the change has waited for seconds', async () => (await waitingS()) > 3)
    await until(
      'its condition says so',
      async () => (await conditionOf('team-a', 'late', 'Programmed'))?.reason === 'CatalogNotPublished',
    )
    await kube.want(`${policies}/validatingadmissionpolicybindings/${metadata.name}`, { method: 'DELETE' })
    await isReady('team-a', 'late')
    await until('nothing waits any more', async () => (await waitingS()) === 0)
    for (const kind of ['websites', 'organizations'])
      await kube.want(`/apis/whence.dev/v1alpha1/namespaces/team-a/${kind}`, { method: 'DELETE' })
  })

  const RBAC = 'rbac.authorization.k8s.io'
  const RESOURCES = [
    'organizations',
    'websites',
    'installpaths',
    'destinations',
    'logstreams',
    'webhooks',
    'members',
    'apikeys',
    'sharelinks',
  ]
  const subjects = [{ kind: 'ServiceAccount', name: 'operator', namespace: PLACE.namespace }]
  const role = (kind: string, metadata: object, rules: readonly object[]) => ({
    apiVersion: `${RBAC}/v1`,
    kind,
    metadata,
    rules,
  })
  const binding = (kind: string, metadata: { readonly name: string }) => ({
    apiVersion: `${RBAC}/v1`,
    kind: `${kind}Binding`,
    metadata,
    subjects,
    roleRef: { apiGroup: RBAC, kind, name: metadata.name },
  })
  const rightsIn = (namespace: string) => {
    const metadata = { name: 'resources', namespace }
    const rules = [
      { apiGroups: ['whence.dev'], resources: RESOURCES, verbs: ['list', 'watch'] },
      { apiGroups: ['whence.dev'], resources: RESOURCES.map((name) => `${name}/status`), verbs: ['patch'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'] },
    ]
    return [role('Role', metadata, rules), binding('Role', metadata)]
  }

  it('keep working in a namespace that is forbidden, while others change, after a restart of the operator too', async () => {
    const tokenFile = join(stage.folder, 'operator-token')
    await writeFile(tokenFile, await kube.serviceAccountToken(PLACE.namespace, 'operator'), { mode: 0o600 })
    const own = { name: 'own', namespace: PLACE.namespace }
    const namespaces = { name: 'whence-namespaces' }
    await kube.apply([
      role('Role', own, [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]),
      binding('Role', own),
      role('ClusterRole', namespaces, [{ apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] }]),
      binding('ClusterRole', namespaces),
      ...rightsIn('team-a'),
      ...rightsIn('team-b'),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'keys', namespace: 'team-a' },
        stringData: { ga4: 'of-team-a' },
      },
    ])
    await kube.apply(at('team-a', [organization('acme'), website('site', { id: 'a-site' }), ga4Destination('out')]))
    await kube.apply(at('team-b', [organization('acme'), website('b-site')]))
    const choice = { namespaces: ['team-a', 'team-b'], tokenFile }
    const first = stage.operator('operator-before', null, choice)
    const worker = await stage.catalog('ga4')
    const teams = () => [...worker.current().websites.keys()].filter((id) => /^[ab]-site$/.test(id)).length
    await until('both are in force', () => teams() === 2)
    await until(
      'with credentials',
      () => worker.credentials().get('team-a/acme/a-site/out')?.['apiSecret'] === 'of-team-a',
    )
    let least = 2
    worker.onChange(() => (least = Math.min(least, teams())))
    await first.close()
    const bindingPath = `/apis/${RBAC}/v1/namespaces/team-a/rolebindings/resources`
    await kube.want(bindingPath, { method: 'DELETE' })
    const second = stage.operator('operator-after', null, choice)
    await kube.apply(at('team-b', [website('b-new', { primaryOrigin: 'https://b-new.example' })]))
    await isReady('team-b', 'b-new')
    await until('the change of the other namespace is in force', () => worker.current().websites.has('b-new'))
    expect(worker.current().websites.get('a-site')?.destinations).to.have.length(1)
    expect(worker.credentials().get('team-a/acme/a-site/out')).to.deep.equal({ apiSecret: 'of-team-a' })
    expect(second.isReady()).to.equal(true)
    expect(await second.registry.metrics()).to.match(/whence_operator_namespace_unreadable\{watched="team-a"\} 1/)
    await kube.apply(at('team-b', [website('thief', { id: 'a-site', primaryOrigin: 'https://thief.example' })]))
    await until(
      'its ID is its own',
      async () => (await conditionOf('team-b', 'thief', 'Accepted'))?.reason === 'IdTaken',
    )
    await kube.apply(rightsIn('team-a'))
    await kube.apply(at('team-a', [website('site', { id: 'a-site', displayName: 'Back' })]))
    await until('all is well again', () => worker.current().websites.get('a-site')?.displayName === 'Back')
    expect(least).to.equal(2)
  })

  it('leave each other their share of memory: the youngest objects of the largest are TooLarge, until they fit', async () => {
    const LARGE = 60
    const each = LIMITS.pageListChars / LIMITS.pagesPerWebsite - 60
    const pages = Array.from({ length: LIMITS.pagesPerWebsite }, (_, page) => {
      return { id: `p${page}`, url: `https://long.example/${'x'.repeat(each)}` }
    })
    const names = Array.from({ length: LARGE }, (_, number) => `long-${String(number).padStart(2, '0')}`)
    const owned = (name: string, number: number) => {
      return website(name, { pages, organizationRef: { name: `long-${Math.floor(number / 20)}` } })
    }
    const organizations = ['long-0', 'long-1', 'long-2'].map((name) => organization(name))
    await kube.apply(at('team-a', [...organizations, ...names.map(owned)]))
    const small = stage.operator('operator-small', null, { namespaces: ['team-a', 'team-b'], roomBytes: 6_000_000 })
    await kube.apply(at('team-b', [organization('beside'), website('beside', { organizationRef: { name: 'beside' } })]))
    await isReady('team-b', 'beside')
    const reader = await stage.catalog()
    await until('it is in force', () => reader.current().websites.has('beside'))
    const last = names.at(-1) ?? ''
    const refused = await until('the youngest says why', async () => {
      const ready = await conditionOf('team-a', last, 'Ready')
      return ready?.reason === 'TooLarge' ? ready : null
    })
    expect(refused).to.include({ status: 'False' })
    expect(refused.message).to.match(/share of the operator's memory/)
    expect(await small.registry.metrics()).to.match(/whence_operator_cut_objects\{watched="team-a"\} [1-9]/)
    expect(await small.registry.metrics()).not.to.match(/cut_objects\{watched="team-b"\}/)
    const inForce = names.filter((name) => reader.current().websites.has(name))
    expect(inForce.length).to.be.within(15, LARGE - 10)
    // When idle, refused objects are not written again and again.
    const settled = await until('all has come to rest', async () => {
      const now = await statusWrites()
      await pause(QUIET_MS / 2)
      return now === (await statusWrites()) ? now : null
    })
    await pause(QUIET_MS / 2)
    expect(await statusWrites()).to.equal(settled)
    for (const name of names.slice(0, LARGE - 10)) await kube.want(sitePath('team-a', name), { method: 'DELETE' })
    await isReady('team-a', last)
    await until('it is in force as well', () => reader.current().websites.has(last))
    for (const namespace of ['team-a', 'team-b'])
      for (const plural of ['websites', 'organizations'])
        await kube.want(`/apis/whence.dev/v1alpha1/namespaces/${namespace}/${plural}`, { method: 'DELETE' })
  })
})
