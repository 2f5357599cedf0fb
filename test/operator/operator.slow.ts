/** The operator on a real API server: what it publishes, what its statuses say, what it repairs, and when it is silent. */

import { expect } from 'chai'

import { LIMITS } from '../../domain/limits.ts'
import type { ActivityType } from '../../domain/reasons.ts'
import type { Condition } from '../../domain/resources/conditions.ts'
import { credentialsPartName, partName } from '../../domain/published/place.ts'
import { CONDITION_REASONS } from '../../domain/resources/conditions.ts'
import { RESOURCE_PLURALS } from '../../domain/resources/crd.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import type { CatalogSource } from '../../runtime/catalog/source.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openClickHouse } from '../../ports/facts/engine/connect-server.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { activityRecord, installRecord, store, visitRecord } from '../contract/fact-samples.ts'
import { storeCounted } from '../support/counted.ts'
import { startClickHouse, type ClickHouseServer } from '../../fixtures/engines/clickhouse-server.ts'
import type { AuditEvent, KubeServer } from '../../fixtures/engines/kube.ts'
import { kubeTools, startKube } from '../../fixtures/engines/kube.ts'
import {
  ga4Destination,
  installPath,
  logStream,
  organization,
  webhook,
  website,
} from '../../fixtures/service/manifests.ts'
import { factsReader } from '../../bin/wiring/facts-reader.ts'
import { sha256Hex } from '../../common/digest.ts'
import { clusterWriter } from '../../dashboard/resources/cluster-writer.ts'
import { changedByText } from '../../domain/people/changed-by.ts'
import type { ActivityRecord } from '../../domain/records.ts'
import { specDigest } from '../../domain/resources/spec-digest.ts'
import { eventOfActivity } from '../../domain/webhooks/events.ts'
import type { AuditTools } from '../../operator/apply/audit.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import type { TrafficFacts } from '../../operator/apply/traffic.ts'
import type { Stage, StartedOperator } from './support/stage.ts'
import { BASE_URL, openStage, PLACE, until } from './support/stage.ts'

const BUILD_AND_START_MS = 1_300_000
/** An operator without passes for this long has looked at everything: its last look of its own comes once its patience with namespaces ends. */
const RESTING_MS = LIMITS.namespacePatienceMs + 1_000

const NAMESPACES = [
  'whence',
  'shop',
  'plans',
  'broken',
  'twins',
  'keys',
  'guest',
  'pauses',
  'reserved',
  'audit',
  'streams',
  'cleanup',
  'invited',
]

describe('the operator', function () {
  this.timeout(120_000)
  let kube: KubeServer
  let stage: Stage
  let catalog: CatalogSource
  let first: StartedOperator
  let clickhouse: ClickHouseServer
  let facts: Facts
  let readings = 0
  const { changeHash, personId } = createKeyring(['only-for-tests-only-for-tests-only-for-tests'])
  let entries: ActivityRecord[] = []
  let isLogAway = false
  const audit: AuditTools = {
    changeHash,
    append: async (entry) => {
      if (isLogAway) throw new Error('away')
      entries.push(entry)
    },
  }
  const entriesOf = (subject: string) => entries.filter((entry) => entry.subject === subject)
  const readFacts: TrafficFacts = {
    traffic: async (period) => {
      const rows = await factsReader(facts).traffic(period)
      readings += 1
      return rows
    },
    destinationStates: () => factsReader(facts).destinationStates(),
    streamStates: () => factsReader(facts).streamStates(),
  }

  before(async function () {
    this.timeout(BUILD_AND_START_MS)
    const tools = await kubeTools()
    if (tools === null) return this.skip()
    kube = await startKube(tools)
    await kube.installCrds()
    await kube.apply(NAMESPACES.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })))
    clickhouse = await startClickHouse({ database: 'whence' })
    const connection = openClickHouse(clickhouse.url)
    facts = clickhouseFacts(connection, { nowMs: Date.now })
    await migrate(connection)
    stage = await openStage(kube)
    first = stage.operator(undefined, readFacts, { audit })
    catalog = await stage.catalog()
  })

  after(async () => {
    await stage?.stop()
    await facts?.close()
    await clickhouse?.stop()
    await kube?.stop()
  })

  const path = (kind: ResourceKind, namespace: string, name: string) =>
    `/apis/whence.dev/v1alpha1/namespaces/${namespace}/${RESOURCE_PLURALS[kind]}/${name}`
  const at = (namespace: string, objects: readonly object[]) =>
    objects.map((object: any) => ({ ...object, metadata: { ...object.metadata, namespace } }))
  const secret = (namespace: string, name: string, values: Readonly<Record<string, string>>) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    stringData: values,
  })
  const statusOf = async (kind: ResourceKind, namespace: string, name: string): Promise<any> =>
    (await kube.want(path(kind, namespace, name))).status ?? {}
  const conditionsOf = async (kind: ResourceKind, namespace: string, name: string): Promise<Map<string, Condition>> => {
    const { conditions = [] } = await statusOf(kind, namespace, name)
    return new Map(conditions.map((condition: Condition) => [condition.type, condition]))
  }
  const becomes = (kind: ResourceKind, namespace: string, name: string, type: string, status: string, reason: string) =>
    until(`${kind} ${namespace}/${name} ${type}=${status} ${reason}`, async () => {
      const condition = (await conditionsOf(kind, namespace, name)).get(type)
      return condition?.status === status && condition.reason === reason ? condition : null
    })
  const writesOf = (events: readonly AuditEvent[]) =>
    events.filter(
      ({ verb, userAgent = '', objectRef }) =>
        userAgent.startsWith('operator-') &&
        !['get', 'list', 'watch'].includes(verb) &&
        objectRef?.resource !== 'leases',
    )

  it('puts a website and its destination in force, says so in every condition, and keeps credentials out of ConfigMaps', async () => {
    await kube.apply([
      ...at('shop', [
        organization('acme'),
        installPath('cli'),
        website('site', { id: 'shop-site' }),
        ga4Destination('ga4'),
      ]),
      secret('shop', 'keys', { ga4: 'the-ga4-secret' }),
    ])
    const worker = await stage.catalog('ga4')
    await until('the destination is there', () => worker.current().websites.get('shop-site')?.destinations.length === 1)
    expect(worker.credentials().get('shop/acme/shop-site/ga4')).to.deep.equal({ apiSecret: 'the-ga4-secret' })
    await until(
      'api sees it',
      () => catalog.current().websites.get('shop-site')?.organization.firstInstallPath === 'cli',
    )
    expect(catalog.credentials().size).to.equal(0)

    await becomes('Website', 'shop', 'site', 'Ready', 'True', 'Ready')
    const status = await statusOf('Website', 'shop', 'site')
    expect(status).to.deep.include({
      id: 'shop-site',
      observedGeneration: 1,
      snippet: `<script async src="${BASE_URL}/browser.js" data-project="shop-site"></script>`,
    })
    expect(status.hookCommand).to.contain('/v1/projects/shop-site/paths/cli/report.sh')
    const conditions: readonly Condition[] = status.conditions
    expect(conditions.map(({ type, status: is }) => `${type} ${is}`)).to.have.members([
      'Accepted True',
      'ResolvedRefs True',
      'Programmed True',
      'Ready True',
    ])
    expect(conditions.every(({ observedGeneration }) => observedGeneration === 1)).to.equal(true)
    expect(conditions.filter(({ reason }) => CONDITION_REASONS[reason] === undefined)).to.deep.equal([])

    const maps = await kube.want(`/api/v1/namespaces/${PLACE.namespace}/configmaps`)
    const texts = maps.items.flatMap(({ data = {}, binaryData = {} }: any) => [
      ...Object.values(data),
      ...Object.values(binaryData),
    ])
    const { gunzipSync } = await import('node:zlib')
    const clear = texts.map((text: string) =>
      text.startsWith('{') ? text : gunzipSync(Buffer.from(text, 'base64')).toString(),
    )
    expect(clear.join('\n')).to.contain('shop-site').and.not.to.contain('the-ga4-secret')
  })

  it('shows a line that fits a terminal', async () => {
    const lines = (await kube.kubectl(['get', 'wsite', '-n', 'shop'])).trim().split('\n')
    expect(lines[0]?.trim().split(/\s+/)).to.deep.equal([
      'NAME',
      'READY',
      'ORIGIN',
      'VISITS',
      'INSTALLS',
      'MATCHED',
      'REASON',
    ])
    expect(lines[1]).to.match(/^site +True +https:\/\/site\.example/)
    expect(await kube.kubectl(['get', 'whence', '-n', 'shop'])).to.contain('organization.whence.dev/acme')
  })

  it('shows the last 24 hours, and writes no figure twice', async () => {
    const owned = { organization: 'shop/acme', website: 'shop-site' }
    const visits = (count: number) =>
      Array.from({ length: count }, () => visitRecord({ ...owned, issuedAtMs: Date.now() - 60_000 }))
    const installs = ['matched', 'matched', 'unmatched'].map((resolution) =>
      installRecord({ ...owned, receivedAtMs: Date.now() - 60_000, resolution: resolution as 'matched' }),
    )
    const former = Array.from({ length: 500 }, () =>
      visitRecord({ organization: 'former', website: 'shop-site', issuedAtMs: Date.now() - 60_000 }),
    )
    await store(facts, former)
    const old = visitRecord({ ...owned, issuedAtMs: Date.now() - 90_000_000 })
    await storeCounted(facts, [...visits(123), old, ...installs], Date.now)
    const shown = () => kube.kubectl(['get', 'wsite', '-n', 'shop'])
    await until('kubectl shows it', async () => /^site +True +\S+ +120 +3 +67% +Ready/m.test(await shown()))
    const writes = async () =>
      (await kube.audit()).filter(({ requestURI }) => requestURI.includes('whence-operator-traffic')).length
    // Visits and installs are inserted one after the other: a reading may come in between.
    const written = await writes()
    expect(written).to.be.within(1, 2)
    await store(facts, visits(3))
    const before = readings
    await until('the facts were read again', () => readings >= before + 2)
    expect(await writes()).to.equal(written)
    expect(await statusOf('Website', 'shop', 'site')).to.include.keys('snippet', 'conditions', 'traffic')
  })

  it('says on a destination that the provider refuses its credentials, and that it accepts them again', async () => {
    const told = (type: ActivityType, atMs: number) =>
      store(facts, [activityRecord({ organization: 'shop/acme', website: 'shop-site', subject: 'ga4', type, atMs })])
    await told('destination_paused', Date.now() - 90_000_000)
    await until('it is ready', async () => (await conditionsOf('Destination', 'shop', 'ga4')).has('Ready'))
    const before = readings
    await until('the facts were read', () => readings >= before + 2)
    const names = async () => [...(await conditionsOf('Destination', 'shop', 'ga4')).keys()]
    expect(await names(), 'that was another one of this name').not.to.include('Delivering')
    await told('destination_paused', Date.now() + 1_000)
    await becomes('Destination', 'shop', 'ga4', 'Delivering', 'False', 'CredentialsRefused')
    await told('destination_resumed', Date.now() + 2_000)
    await becomes('Destination', 'shop', 'ga4', 'Delivering', 'True', 'Delivering')
    expect(await names(), 'its own conditions stay').to.include.members(['Accepted', 'Ready'])
  })

  it('gives the credentials of log streams only to their role, and shows the progress of each', async () => {
    const sink = { url: 'https://logs.example/in', secretRef: { name: 'hooks', key: 'hook' } }
    await kube.apply([
      ...at('streams', [organization('acme'), logStream('logs', { webhook: sink })]),
      secret('streams', 'hooks', { hook: 'the-hook-secret' }),
    ])
    const role = await stage.catalog('streams')
    const key = 'LogStream/streams/logs'
    await until('the role has them', () => role.credentials().get(key)?.['secret'] === 'the-hook-secret')
    const streams = () => role.current().organizations.get('streams/acme')?.logStreams ?? []
    const { metadata } = await kube.want(path('LogStream', 'streams', 'logs'))
    expect(streams().map(({ id, uid }) => [id, uid])).to.deep.equal([['streams/logs', metadata.uid]])
    const worker = await stage.catalog('ga4')
    expect(worker.credentials().has(key)).to.equal(false)
    await becomes('LogStream', 'streams', 'logs', 'Ready', 'True', 'Ready')

    const now = Date.now()
    const progress = {
      organization: 'streams/acme',
      stream: 'streams/logs',
      seen_at: now,
      state: 'Failing',
      behind: 1_234,
      oldest_at: now,
      delivered_at: now - 3_600_000,
      failing_since: now,
      last_error: 'http_410',
      delivered: 9,
      dropped: 7,
      progress: '{}',
      row_version: 1,
    }
    await facts.insert('stream_progress', [progress])
    await becomes('LogStream', 'streams', 'logs', 'Delivering', 'False', 'Failing')
    const status = await statusOf('LogStream', 'streams', 'logs')
    expect(status).to.include({ state: 'Failing', behindRecords: 1_200, lastError: 'http_410', dropped: 7 })
    const [head = '', line = ''] = (await kube.kubectl(['get', 'wlog', '-n', 'streams'])).trim().split('\n')
    expect(head.trim().split(/\s+/)).to.deep.equal(['NAME', 'READY', 'REASON', 'STATE', 'BEHIND', 'LAST', 'DROPPED'])
    expect(line).to.match(/^logs +True +Ready +Failing +1200 +6\dm +7/)
    const before = readings
    const writes = async () =>
      (await kube.audit()).filter(({ requestURI }) => requestURI.includes('whence-operator-streams')).length
    const written = await writes()
    await until('the facts were read again', () => readings >= before + 2)
    expect(await writes()).to.equal(written)
    await facts.insert('stream_progress', [{ ...progress, state: 'Delivering', last_error: '', row_version: 2 }])
    await becomes('LogStream', 'streams', 'logs', 'Delivering', 'True', 'Delivering')
    await until('the error is gone', async () => !('lastError' in (await statusOf('LogStream', 'streams', 'logs'))))
    expect((await conditionsOf('LogStream', 'streams', 'logs')).has('Ready'), 'its own conditions stay').to.equal(true)
  })

  it('is silent while nothing changes, and handles an edit with one write to the status', async () => {
    const quietSince = await until('writes have come to rest', async () => {
      const before = writesOf(await kube.audit()).length
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      const after = writesOf(await kube.audit()).length
      return before === after ? after : null
    })
    await kube.apply(at('shop', [website('site', { id: 'shop-site', displayName: 'Renamed' })]))
    await until('the edit is live', () => catalog.current().websites.get('shop-site')?.displayName === 'Renamed')
    await until('the status follows', async () => (await statusOf('Website', 'shop', 'site')).observedGeneration === 2)
    const fresh = writesOf(await kube.audit()).slice(quietSince)
    const names = fresh.map(({ objectRef }) => `${objectRef?.resource ?? ''}/${objectRef?.subresource ?? ''}`)
    expect(names.filter((name) => name === 'websites/status')).to.have.length(1)
    expect(names.filter((name) => name === 'secrets/')).to.have.length(0)
    expect(names.filter((name) => name === 'configmaps/')).to.have.length(2)
  })

  it('notices a rotated Secret', async () => {
    const worker = await stage.catalog('ga4')
    await kube.apply([secret('shop', 'keys', { ga4: 'rotated' })])
    await until(
      'the worker has it',
      () => worker.credentials().get('shop/acme/shop-site/ga4')?.['apiSecret'] === 'rotated',
    )
    expect(worker.current().websites.get('shop-site')?.destinations).to.have.length(1)
  })

  it('puts a webhook in force, its secrets within reach of the role that needs them and of no other', async () => {
    const before = { previousSecretRef: { name: 'hook', key: 'before' } }
    await kube.apply([
      secret('shop', 'hook', { present: 'whsec_present', before: 'whsec_before' }),
      ...at('shop', [webhook('events', { secretRef: { name: 'hook', key: 'present' }, ...before })]),
    ])
    await becomes('Webhook', 'shop', 'events', 'Ready', 'True', 'Ready')
    const role = await stage.catalog('webhooks')
    await until('the role has it', () => role.credentials().size === 1)
    expect([...role.credentials()]).to.deep.equal([
      ['Webhook/shop/events', { secret: 'whsec_present', previous: 'whsec_before' }],
    ])
    expect(
      role
        .current()
        .organizations.get('shop/acme')
        ?.webhooks.map(({ id }) => id),
    ).to.deep.equal(['shop/events'])
    const worker = await stage.catalog('ga4')
    expect(JSON.stringify([...worker.credentials()])).not.to.include('whsec_')
    expect(catalog.credentials().size).to.equal(0)
    await kube.want(path('Webhook', 'shop', 'events'), { method: 'DELETE' })
    await until('it is gone', () => catalog.current().organizations.get('shop/acme')?.webhooks.length === 0)
  })

  it('repairs what others delete or edit of what it has written', async () => {
    const { namespace } = PLACE
    const maps = await kube.want(`/api/v1/namespaces/${namespace}/configmaps`)
    const index = maps.items.find(({ metadata }: any) => metadata.name === 'whence-catalog')
    const { key, slot } = JSON.parse(index.data['index.json']).parts[0]
    const shard = maps.items.find(({ metadata }: any) => metadata.name === partName(PLACE, key, slot))
    const name = shard.metadata.name as string
    const mapPath = `/api/v1/namespaces/${namespace}/configmaps/${name}`
    for (const time of ['first', 'second', 'third']) {
      await kube.want(mapPath, { method: 'DELETE' })
      await until(
        `it is back for the ${time} time`,
        async () => (await kube.call(mapPath)).body.binaryData?.['shard.json.gz'] === shard.binaryData['shard.json.gz'],
      )
    }
    const merge = { method: 'PATCH', contentType: 'application/merge-patch+json' }
    await kube.want(mapPath, { ...merge, body: { binaryData: { 'shard.json.gz': 'AAAA' } } })
    await until(
      'it is right again',
      async () => (await kube.want(mapPath)).binaryData['shard.json.gz'] === shard.binaryData['shard.json.gz'],
    )
    const inUse = async () => {
      const map = await kube.want(`/api/v1/namespaces/${namespace}/configmaps/whence-catalog`)
      const [entry] = JSON.parse(map.data['index.json']).credentials.ga4
      return `/api/v1/namespaces/${namespace}/secrets/${credentialsPartName(PLACE, 'ga4', 0, entry.slot)}`
    }
    const { data } = await kube.want(await inUse())
    for (const time of ['first', 'second']) {
      await kube.want(await inUse(), { method: 'DELETE' })
      await until(`the credentials are back for the ${time} time`, async () => {
        const { body } = await kube.call(await inUse())
        return body.data?.['credentials.json.gz'] === data['credentials.json.gz']
      })
    }
    const statusPath = `${path('Website', 'shop', 'site')}/status`
    await kube.want(statusPath, { ...merge, body: { status: { snippet: 'something else' } } })
    await until('the status is right again', async () =>
      (await statusOf('Website', 'shop', 'site')).snippet.startsWith('<script'),
    )
  })

  it('lets older objects keep their place in the plan, and puts the younger ones in force when there is room', async () => {
    await kube.apply(at('plans', [organization('acme', { plan: 'Free' }), installPath('cli')]))
    await kube.apply(at('plans', [website('older', { id: 'plans-older' })]))
    const { body: older } = await kube.call(path('Website', 'plans', 'older'))
    const olderAtMs = Date.parse(older.metadata.creationTimestamp)
    // Times of objects are whole seconds, and both processes share one clock.
    await until('the next second has begun', async () => Date.now() >= olderAtMs + 1_000)
    await kube.apply(at('plans', [website('a-younger', { id: 'plans-younger' }), logStream('logs')]))
    const refused = await becomes('Website', 'plans', 'a-younger', 'Accepted', 'False', 'PlanLimit')
    expect(refused.message).to.contain('the plan Free allows 1 website')
    await becomes('Website', 'plans', 'older', 'Ready', 'True', 'Ready')
    await becomes('LogStream', 'plans', 'logs', 'Accepted', 'False', 'PlanRequired')
    const stalled = (await conditionsOf('Website', 'plans', 'a-younger')).get('Stalled')
    expect(stalled?.status).to.equal('True')
    await kube.want(path('Website', 'plans', 'older'), { method: 'DELETE' })
    await becomes('Website', 'plans', 'a-younger', 'Ready', 'True', 'Ready')
    expect((await conditionsOf('Website', 'plans', 'a-younger')).has('Stalled')).to.equal(false)
    await until('the reader has it', () => catalog.current().websites.has('plans-younger'))
    expect(catalog.current().websites.has('plans-older')).to.equal(false)
  })

  it('lets the oldest keep an ID and an origin that another namespace wants as well', async () => {
    await kube.apply(
      at('twins', [
        organization('acme'),
        website('site', { id: 'shop-site' }),
        website('rival', { primaryOrigin: 'https://site.example' }),
      ]),
    )
    await becomes('Website', 'twins', 'site', 'Accepted', 'False', 'IdTaken')
    await becomes('Website', 'twins', 'rival', 'Accepted', 'False', 'OriginTaken')
    await becomes('Website', 'shop', 'site', 'Ready', 'True', 'Ready')
    expect(catalog.current().websites.get('shop-site')?.organization.id).to.equal('shop/acme')
  })

  it('admits another namespace if its labels match, and no longer if they do not', async () => {
    const selector = { matchLabels: { team: 'shop' } }
    const letIn = (allowedNamespaces: object) => kube.apply(at('shop', [organization('acme', { allowedNamespaces })]))
    const label = (team: string) =>
      kube.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'guest', labels: { team } } }], 'labels')
    const organizationRef = { name: 'acme', namespace: 'shop' }
    await kube.apply(
      at('guest', [website('site', { id: 'guest-site', organizationRef, primaryOrigin: 'https://guest.example' })]),
    )
    const refused = await becomes('Website', 'guest', 'site', 'ResolvedRefs', 'False', 'RefNotPermitted')
    expect(refused.message).to.contain('allows references from namespace guest').and.not.to.contain('Standard')
    await letIn({ from: 'Selector', selector })
    await label('shop')
    await becomes('Website', 'guest', 'site', 'Ready', 'True', 'Ready')
    await until(
      'the reader has it',
      () => catalog.current().websites.get('guest-site')?.organization.id === 'shop/acme',
    )
    await label('other')
    await becomes('Website', 'guest', 'site', 'ResolvedRefs', 'False', 'RefNotPermitted')
    await until('it is out of force', () => !catalog.current().websites.has('guest-site'))
    await kube.want(path('Website', 'guest', 'site'), { method: 'DELETE' })
  })

  it('says what is missing, never lets a broken object disturb another one, and reports the transition as an event', async () => {
    await kube.apply(at('broken', [website('orphan', { id: 'broken-orphan' })]))
    const missing = await becomes('Website', 'broken', 'orphan', 'ResolvedRefs', 'False', 'RefNotFound')
    expect(missing.message).to.contain('there is no Organization acme in namespace broken')
    await becomes('Website', 'broken', 'orphan', 'Programmed', 'False', 'NotAccepted')
    await becomes('Website', 'shop', 'site', 'Ready', 'True', 'Ready')
    await kube.apply(at('broken', [organization('acme')]))
    await becomes('Website', 'broken', 'orphan', 'Ready', 'True', 'Ready')
    const events = await until('both events', async () => {
      const { items } = await kube.want('/apis/events.k8s.io/v1/namespaces/broken/events')
      const own = items.filter(({ regarding }: any) => regarding.kind === 'Website')
      return own.length === 2 ? own : null
    })
    expect(events.map(({ reason, type }: any) => `${type} ${reason}`)).to.have.members([
      'Warning RefNotFound',
      'Normal Ready',
    ])
  })

  it('reads Secrets of the own namespace only', async () => {
    await kube.apply(
      at('keys', [
        organization('acme'),
        website('site', { id: 'keys-site', primaryOrigin: 'https://keys.example' }),
        ga4Destination('ga4'),
      ]),
    )
    await becomes('Destination', 'keys', 'ga4', 'ResolvedRefs', 'False', 'RefNotFound')
    await kube.apply([secret('keys', 'keys', { other: 'x' })])
    const condition = await until('the key is named', async () => {
      const found = (await conditionsOf('Destination', 'keys', 'ga4')).get('ResolvedRefs')
      return found?.message.includes('has no value for ga4') === true ? found : null
    })
    expect(condition.reason).to.equal('RefNotFound')
  })

  it('refuses Secrets that Kubernetes and its tools keep for themselves, by the type that the API server holds, and publishes nothing of them', async () => {
    const canary = 'of-another-program'
    const reserved = [
      ['helm.sh/release.v1', { ga4: canary }],
      ['kubernetes.io/tls', { 'tls.crt': 'x', 'tls.key': 'x', ga4: canary }],
      ['kubernetes.io/dockerconfigjson', { '.dockerconfigjson': '{"auths":{}}', ga4: canary }],
      ['kubernetes.io/dockercfg', { '.dockercfg': '{}', ga4: canary }],
      ['bootstrap.kubernetes.io/token', { ga4: canary }],
      ['kubernetes.io/service-account-token', { ga4: canary }],
    ] as const
    const account = { 'kubernetes.io/service-account.name': 'deployer' }
    await kube.apply([
      ...at('reserved', [
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'deployer' } },
        organization('reserved-org'),
        website('reserved-site', {
          organizationRef: { name: 'reserved-org' },
          primaryOrigin: 'https://reserved.example',
        }),
      ]),
      ...reserved.map(([type, values], number) => ({
        ...secret('reserved', `taken-${number}`, values),
        type,
        metadata: { name: `taken-${number}`, namespace: 'reserved', annotations: account },
      })),
      secret('reserved', 'own', { ga4: 'of-this-tenant' }),
    ])
    const destination = (name: string, ref: string) =>
      ga4Destination(name, {
        websiteRef: { name: 'reserved-site' },
        ga4: { measurementId: 'G-ABC1234567', apiSecretRef: { name: ref, key: 'ga4' } },
      })
    await kube.apply(
      at('reserved', [
        ...reserved.map((_, number) => destination(`to-${number}`, `taken-${number}`)),
        destination('own', 'own'),
      ]),
    )
    await becomes('Destination', 'reserved', 'own', 'Ready', 'True', 'Ready')
    for (const [number] of reserved.entries()) {
      const said = await becomes('Destination', 'reserved', `to-${number}`, 'Ready', 'False', 'SecretReserved')
      expect(said.message).to.include(`Secret taken-${number}`)
    }
    expect(
      catalog
        .current()
        .websites.get('reserved-site')
        ?.destinations.map(({ id }) => id),
    ).to.deep.equal(['own'])
    const worker = await stage.catalog('ga4')
    expect(JSON.stringify([...worker.credentials()]))
      .to.include('of-this-tenant')
      .and.not.include(canary)
  })

  it('looks at an object again when it is asked to, and leaves one as it was in force while a person pauses it', async () => {
    const own = (spec: object, annotations: object) =>
      kube.apply(at('pauses', [website('held', { organizationRef: { name: 'own' }, ...spec }, { annotations })]))
    await kube.apply(at('pauses', [organization('own')]))
    await own({}, { 'whence.dev/reconcile-now': 'at noon' })
    const status = () => statusOf('Website', 'pauses', 'held')
    await until('the status repeats it', async () => (await status()).lastHandledReconcileAt === 'at noon')
    await own({}, { 'whence.dev/reconcile-now': 'at one' })
    await until('and the next one', async () => (await status()).lastHandledReconcileAt === 'at one')
    const name = () => catalog.current().websites.get('held')?.displayName
    await until('it is in force', () => name() === 'held')
    await own({ displayName: 'Changed' }, { 'whence.dev/paused': 'true' })
    // A change that comes later is in force, so this one has been looked at.
    await kube.apply(at('pauses', [website('beside', { organizationRef: { name: 'own' } })]))
    await until('another one is in force', () => catalog.current().websites.has('beside'))
    expect(name()).to.equal('held')
    expect((await status()).observedGeneration).to.equal(1)
    await own({ displayName: 'Changed' }, {})
    await until('it goes on', () => name() === 'Changed')
    await until('and says so', async () => (await status()).observedGeneration === 2)
    for (const gone of ['held', 'beside']) await kube.want(path('Website', 'pauses', gone), { method: 'DELETE' })
    await until('both are gone', () => name() === undefined && !catalog.current().websites.has('beside'))
  })

  it('makes one entry of each generation: its fields and manager, and the person if the annotation proves it', async () => {
    const anna = personId('anna@acme.dev')
    const place = { kind: 'Website', namespace: 'audit', name: 'site' }
    const [mine] = at('audit', [website('site', { organizationRef: { name: 'org' }, id: 'audit-site' })])
    await kube.apply([...at('audit', [organization('org')]), mine as object], 'argocd-controller')
    const seen = (count: number) => until(`entry ${count}`, () => entriesOf('Website/audit/site').length >= count)
    await seen(1)
    // A person changes in the dashboard what Git does not set.
    const writer = clusterWriter(stage.client('dashboard'), Date.now)
    const sign = (subject: string, spec: object): string =>
      changedByText({ subject, specDigest: specDigest(spec, sha256Hex), person: anna, request: 'r1' }, changeHash)
    const stored = await writer.read(place)
    const object = { ...place, spec: { ...stored?.spec, retentionDays: 60 } }
    expect(await writer.replace(object, stored?.version ?? '', { sign })).to.deep.equal({ kind: 'written' })
    await seen(2)
    // The annotation stays, and is no proof of what kubectl does.
    await kube.kubectl([
      'patch',
      'website',
      'site',
      '-n',
      'audit',
      '--type=merge',
      '-p',
      '{"spec":{"retentionDays":90}}',
    ])
    await seen(3)
    await kube.want(path('Website', 'audit', 'site'), { method: 'DELETE' })
    await seen(4)
    const told = entriesOf('Website/audit/site').map(({ organization: of, type, actor, manager, fields }) => {
      return { of, type, actor, manager, fields }
    })
    const of = 'audit/org'
    const fields = ['/spec/retentionDays']
    expect(told).to.deep.equal([
      { of, type: 'object_created', actor: undefined, manager: 'argocd-controller', fields: undefined },
      { of, type: 'object_changed', actor: anna, manager: 'whence-dashboard', fields },
      { of, type: 'object_changed', actor: undefined, manager: 'kubectl-patch', fields },
      { of, type: 'object_removed', actor: undefined, manager: undefined, fields: undefined },
    ])
    expect(new Set(entries.map(({ id }) => id)).size).to.equal(entries.length)
  })

  it('makes entries that webhooks tell as who joined, and which plan it is now', async () => {
    const place = { kind: 'Member', namespace: 'audit', name: 'm-guest' }
    const member = { organizationRef: { name: 'org' }, email: 'guest@acme.dev', role: 'Viewer' }
    const invitation = { id: 'a'.repeat(32), expiresAt: '2099-11-29T06:00:00Z' }
    const writer = clusterWriter(stage.client('dashboard'), Date.now)
    const write = async (spec: object) => {
      const stored = await writer.read(place)
      expect(await writer.replace({ ...place, spec: { ...spec } }, stored?.version ?? '')).to.include({
        kind: 'written',
      })
    }
    const seen = (subject: string, count: number) =>
      until(`entry ${count} of ${subject}`, () => entriesOf(subject).length >= count)
    await kube.apply(at('audit', [organization('org')]))
    await seen('Organization/audit/org', 1)
    expect(await writer.create({ ...place, spec: { ...member, invitation } })).to.include({ kind: 'written' })
    await seen('Member/audit/m-guest', 1)
    await write({ ...member, invitation: { ...invitation, id: 'b'.repeat(32) } })
    await seen('Member/audit/m-guest', 2)
    await write(member)
    await seen('Member/audit/m-guest', 3)
    const plans = entriesOf('Organization/audit/org').length
    await kube.apply(at('audit', [organization('org', { plan: 'Standard' })]))
    await seen('Organization/audit/org', plans + 1)
    await until('the plan is in force', () => catalog.current().organizations.get('audit/org')?.plan === 'Standard')
    const told = [...entriesOf('Member/audit/m-guest'), ...entriesOf('Organization/audit/org').slice(plans)].map(
      (entry) => eventOfActivity(entry, catalog.current()),
    )
    expect(told.map((event) => (event === null ? null : [event.type, event.data]))).to.deep.equal([
      null,
      null,
      ['member.joined', { member: 'audit/m-guest' }],
      ['plan.changed', { plan: 'Standard' }],
    ])
    await kube.want(path('Member', 'audit', 'm-guest'), { method: 'DELETE' })
  })

  it('makes the entry later if the log is unreachable, and writes the status meanwhile', async () => {
    isLogAway = true
    await kube.apply(at('audit', [website('late', { organizationRef: { name: 'org' } })]))
    const status = () => statusOf('Website', 'audit', 'late')
    await until('the status is there', async () => (await status()).observedGeneration === 1)
    expect((await status()).recordedGeneration).to.equal(0)
    isLogAway = false
    await until('the entry is there', () => entriesOf('Website/audit/late').length === 1)
    await until('and nothing is due', async () => (await status()).recordedGeneration === undefined)
    await kube.want(path('Website', 'audit', 'late'), { method: 'DELETE' })
    await until('it is gone', () => entriesOf('Website/audit/late').length === 2)
  })

  it('deletes what the dashboard made and nothing refers to any more, and no other Secret', async () => {
    const made = (name: string, type: string, labels: object) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      type,
      stringData: { secret: 'x' },
      metadata: { name, namespace: 'cleanup', labels },
    })
    const label = { 'app.kubernetes.io/managed-by': 'whence-dashboard' }
    const hook = (name: string) =>
      kube.apply([
        {
          ...webhook('hook', { secretRef: { name, key: 'secret' } }),
          metadata: { name: 'hook', namespace: 'cleanup' },
        },
      ])
    await kube.apply([
      ...['used', 'replaced', 'never-used'].map((name) => made(name, 'whence.dev/dashboard', label)),
      made('look-alike', 'Opaque', label),
      made('of-a-person', 'whence.dev/dashboard', {}),
    ])
    await hook('replaced')
    let aheadMs = 0
    const own = { installation: 'cleanup', place: { namespace: 'cleanup', name: 'cleanup' }, namespaces: ['cleanup'] }
    const operator = stage.operator(undefined, null, { ...own, nowMs: () => Date.now() + aheadMs })
    await until('it leads', () => operator.isLeading())
    await hook('used')
    const left = async (): Promise<readonly string[]> => {
      const { items } = await kube.want('/api/v1/namespaces/cleanup/secrets')
      return items.map(({ metadata }: { readonly metadata: { readonly name: string } }) => metadata.name)
    }
    await until('what nothing refers to is gone', async () => {
      aheadMs += 3_600_000
      const names = await left()
      return !names.includes('replaced') && !names.includes('never-used')
    })
    expect(await left()).to.include.members(['look-alike', 'of-a-person', 'used'])
    await operator.close()
  })

  it('gives the place of an expired invitation to the next member, although nothing else changes', async () => {
    let aheadMs = 0
    const place = { namespace: 'invited', name: 'invited' }
    const own = { installation: 'invited', place, namespaces: ['invited'], nowMs: () => Date.now() + aheadMs }
    const expiresAt = `${new Date(Date.now() + 86_400_000).toISOString().slice(0, 19)}Z`
    const member = (name: string, more: object) => ({
      apiVersion: 'whence.dev/v1alpha1',
      kind: 'Member',
      metadata: { name, namespace: 'invited' },
      spec: {
        organizationRef: { name: 'own' },
        email: `${name}@acme.dev`,
        role: 'Owner',
        installation: 'invited',
        ...more,
      },
    })
    await kube.apply(at('invited', [organization('own', { plan: 'Free', installation: 'invited' })]))
    await kube.apply([member('anna', { invitation: { id: 'a'.repeat(32), expiresAt } })])
    const operator = stage.operator(undefined, null, own)
    await becomes('Member', 'invited', 'anna', 'Accepted', 'True', 'Accepted')
    // Not an Owner, who would have a place before an invitation.
    await kube.apply([member('bert', { role: 'Viewer' })])
    await becomes('Member', 'invited', 'bert', 'Accepted', 'False', 'PlanLimit')
    const passes = async () => /^whence_operator_pass_seconds_count (\d+)/m.exec(await operator.registry.metrics())?.[1]
    let last = { count: await passes(), sinceMs: Date.now() }
    await until('the operator rests', async () => {
      const count = await passes()
      if (count !== last.count) last = { count, sinceMs: Date.now() }
      return Date.now() - last.sinceMs > RESTING_MS
    })
    aheadMs = 2 * 86_400_000
    await becomes('Member', 'invited', 'bert', 'Accepted', 'True', 'Accepted')
    await operator.close()
    for (const kind of ['members', 'organizations'])
      await kube.want(`/apis/whence.dev/v1alpha1/namespaces/invited/${kind}`, { method: 'DELETE' })
  })

  it('takes objects out of force when they are deleted, whole namespaces without a finalizer in the way', async () => {
    await kube.want('/apis/whence.dev/v1alpha1/namespaces/twins/websites', { method: 'DELETE' })
    await kube.want('/apis/whence.dev/v1alpha1/namespaces/plans/websites', { method: 'DELETE' })
    const rest = ['shop-site', 'broken-orphan', 'keys-site', 'reserved-site']
    // Two namespaces are two watches, of which either may be the later one.
    await until('they are gone', () => catalog.current().websites.size <= rest.length)
    const left = await kube.want('/apis/whence.dev/v1alpha1/websites')
    expect(left.items.filter(({ metadata }: any) => metadata.finalizers !== undefined)).to.deep.equal([])
    expect([...catalog.current().websites.keys()]).to.have.members(rest)
  })

  it('hands over when it stops, and the next one writes nothing in an unchanged cluster', async () => {
    const before = writesOf(await kube.audit()).length
    entries = []
    const second = stage.operator(undefined, readFacts, { audit })
    expect(second.isLeading()).to.equal(false)
    await first.close()
    await until('the second one leads', () => second.isLeading())
    await until('it has looked at everything', async () => {
      const text = await second.registry.metrics()
      return /^whence_operator_pass_seconds_count [1-9]/m.test(text)
    })
    await kube.apply(at('shop', [website('site', { id: 'shop-site', displayName: 'Once more' })]))
    await until('it is in force', () => catalog.current().websites.get('shop-site')?.displayName === 'Once more')
    await until('the status follows', async () => (await statusOf('Website', 'shop', 'site')).observedGeneration === 3)
    const names = writesOf(await kube.audit())
      .slice(before)
      .map(({ objectRef }) => `${objectRef?.resource ?? ''}/${objectRef?.subresource ?? ''}`)
    expect(names).to.have.members(['configmaps/', 'configmaps/', 'websites/status'])
    expect(entries.map(({ subject, fields }) => [subject, fields])).to.deep.equal([
      ['Website/shop/site', ['/spec/displayName']],
    ])
  })
})
