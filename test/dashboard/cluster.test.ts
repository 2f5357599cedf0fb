/** The dashboard in a cluster, on a real kube-apiserver: what it watches, what it writes, and what it leaves alone. */

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

import { expect } from 'chai'
import { Registry } from 'prom-client'

import { watchDirectory, type ClusterDirectory } from '../../dashboard/resources/cluster-directory.ts'
import { clusterPins } from '../../dashboard/sign-in/cluster-pins.ts'
import { accountOf } from '../../dashboard/sign-in/pins.ts'
import { clusterWriter } from '../../dashboard/resources/cluster-writer.ts'
import type { ResourceWriter } from '../../dashboard/resources/writer.ts'
import { createKubeMetrics } from '../../runtime/kube/metrics.ts'
import { clientFor, type KubeClient } from '../../runtime/kube/client.ts'
import { readKubeconfig } from '../../runtime/kube/kubeconfig.ts'
import { createLogger } from '../../runtime/logger.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { kubeTools, startKube, type KubeServer } from '../../fixtures/engines/kube.ts'
import { ga4Destination, organization, resource, website } from '../../fixtures/service/manifests.ts'
import { hasRedisServer, startRedis } from '../../fixtures/engines/redis.ts'

const run = promisify(execFile)

const REF = { kind: 'Member', namespace: 'shop', name: 'm-0123456789ab' }
const INVITED = {
  organizationRef: { name: 'acme' },
  email: 'anna@acme.dev',
  role: 'Admin',
  invitation: { id: '0123456789abcdef0123456789abcdef', expiresAt: '2099-11-29T06:00:00Z' },
}
const { invitation: _invitation, ...ACTIVE } = INVITED
const BUILD_AND_START_MS = 1_300_000

describe('the dashboard in a cluster', function () {
  this.timeout(60_000)
  let kube: KubeServer
  let client: KubeClient
  let directory: ClusterDirectory
  let writer: ResourceWriter
  before(async function () {
    this.timeout(BUILD_AND_START_MS)
    const tools = await kubeTools()
    if (tools === null) return this.skip()
    kube = await startKube(tools)
    await kube.installCrds()
    for (const name of ['shop', 'other'])
      await kube.want('/api/v1/namespaces', { method: 'POST', body: { metadata: { name } } })
    await kube.apply([organization('acme', {}, { namespace: 'shop' })])
    client = clientFor(await readKubeconfig(kube.kubeconfig), 'whence-dashboard/test')
    writer = clusterWriter(client, Date.now)
    directory = watchDirectory({
      ...{ client, namespaces: ['shop'], installation: 'default', random: Math.random, nowMs: Date.now },
      logger: createLogger({ program: 'test', level: 'silent' }),
      metrics: createKubeMetrics(new Registry()),
    })
    await directory.synced
  })
  afterEach(() => kube?.call('/apis/whence.dev/v1alpha1/namespaces/shop/members', { method: 'DELETE' }))
  after(async () => {
    await directory?.close()
    client?.close()
    await kube?.stop()
  })

  const versionOf = async (): Promise<string> => (await writer.read(REF))?.version ?? ''
  const becomes = async (condition: () => boolean): Promise<void> => {
    for (let tries = 0; tries < 400 && !condition(); tries++) await pause(25)
    expect(condition()).to.equal(true)
  }

  it('sees members as they come, change and go', async () => {
    expect([...directory.organizations().keys()]).to.deep.equal(['shop/acme'])
    expect(await writer.create({ ...REF, spec: INVITED })).to.deep.equal({ kind: 'written' })
    await becomes(() => directory.members()[0]?.invitation?.id === INVITED.invitation.id)
    expect(await writer.replace({ ...REF, spec: ACTIVE }, await versionOf())).to.deep.equal({ kind: 'written' })
    await becomes(() => directory.members()[0]?.invitation === null)
    expect(await writer.remove(REF, await versionOf())).to.deep.equal({ kind: 'written' })
    await becomes(() => directory.members().length === 0)
  })

  it('makes one of 20 new objects at once, and writes one of 100 acceptances at once', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => writer.create({ ...REF, spec: INVITED })))
    expect(made.filter(({ kind }) => kind === 'written')).to.have.length(1)
    expect(made.filter(({ kind }) => kind === 'conflict')).to.have.length(19)
    const version = await versionOf()
    const accepted = await Promise.all(
      Array.from({ length: 100 }, () => writer.replace({ ...REF, spec: ACTIVE }, version)),
    )
    expect(accepted.filter(({ kind }) => kind === 'written')).to.have.length(1)
    expect(accepted.filter(({ kind }) => kind === 'conflict')).to.have.length(99)
    expect((await writer.read(REF))?.spec).to.deep.equal(ACTIVE)
    const latest = await versionOf()
    const removed = await Promise.all(Array.from({ length: 20 }, () => writer.remove(REF, latest)))
    expect(removed.filter(({ kind }) => kind === 'written')).to.have.length(1)
    expect(await writer.remove(REF, latest)).to.deep.equal({ kind: 'conflict' })
  })

  it('leaves what another manager would set again, and says whose it is', async () => {
    const theirs = resource('Member', REF.name, ACTIVE, { namespace: 'shop' })
    await kube.apply([theirs], 'argocd-controller')
    const stored = await writer.read(REF)
    expect(stored?.managedBy).to.equal('argocd-controller')
    const refused = { kind: 'managed_elsewhere', manager: 'argocd-controller', field: '' }
    expect(await writer.replace({ ...REF, spec: INVITED }, stored?.version ?? '')).to.deep.equal(refused)
    expect(await writer.remove(REF, stored?.version ?? '')).to.deep.equal(refused)
  })

  it('writes what is paid for as a manager of its own, and nothing that Git manages', async () => {
    const ref = { kind: 'Organization', namespace: 'shop', name: 'payer' }
    const billing = { customer: 'cus_1', subscription: 'sub_1', price: 'price_1' }
    const stored = async () => {
      const object = await writer.read(ref)
      if (object === null) throw new Error('it is gone')
      return object
    }
    expect(await writer.create({ ...ref, spec: { displayName: 'Payer', plan: 'Free' } })).to.deep.equal({
      kind: 'written',
    })
    const seen = await stored()
    expect(await writer.writeBilling(seen, { plan: 'Standard', billing })).to.deep.equal({ kind: 'written' })
    expect(await writer.writeBilling(seen, { plan: 'Free', billing }), 'not as it was read').to.deep.equal({
      kind: 'conflict',
    })
    expect((await stored()).spec).to.deep.equal({ displayName: 'Payer', plan: 'Standard', billing })
    const renamed = { ...(await stored()).spec, displayName: 'Other' }
    expect(await writer.replace({ ...ref, spec: renamed }, (await stored()).version)).to.deep.equal({ kind: 'written' })
    // What it no longer names goes, although the dashboard has applied the whole object meanwhile.
    await writer.writeBilling(await stored(), { plan: 'Free', billing: { customer: 'cus_1' } })
    expect((await stored()).spec).to.deep.equal({ displayName: 'Other', plan: 'Free', billing: { customer: 'cus_1' } })
    expect(await writer.remove(ref, (await stored()).version), 'goes with the object').to.deep.equal({
      kind: 'written',
    })
    await kube.apply([organization('fixed', { plan: 'Free' }, { namespace: 'shop' })], 'argocd-controller')
    const fixed = await writer.read({ ...ref, name: 'fixed' })
    if (fixed === null) throw new Error('it is gone')
    const refused = await writer.writeBilling(fixed, { plan: 'Standard', billing })
    expect(refused).to.deep.equal({ kind: 'managed_elsewhere', manager: 'argocd-controller', field: '/spec/plan' })
  })

  it('changes what a person applied by hand', async () => {
    await kube.kubectl(
      ['apply', '-f', '-'],
      JSON.stringify(resource('Member', REF.name, ACTIVE, { namespace: 'shop' })),
    )
    const next = { ...ACTIVE, role: 'Viewer' }
    expect(await writer.replace({ ...REF, spec: next }, await versionOf())).to.deep.equal({ kind: 'written' })
    expect((await writer.read(REF))?.spec).to.deep.equal(next)
  })

  it('is told in words what the definition refuses, and writes nothing of it', async () => {
    const outcome = await writer.create({ ...REF, spec: { ...ACTIVE, group: 'team' } })
    expect(outcome.kind).to.equal('refused')
    expect(JSON.stringify(outcome)).to.include('must have either email or group')
    expect(await writer.read(REF)).to.equal(null)
  })

  it("pins one account in a member's status, of several at once, and leaves the operator's part alone", async () => {
    await kube.apply([resource('Member', REF.name, ACTIVE, { namespace: 'shop' })])
    const pins = clusterPins(client)
    const issuer = 'https://id.acme.dev'
    expect(await pins.read(REF, issuer)).to.equal(null)
    const path = `/apis/whence.dev/v1alpha1/namespaces/shop/members/${REF.name}`
    const conditions = [
      { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '2026-11-22T00:00:00Z' },
    ]
    const operator = kube.want(`${path}/status?fieldManager=whence-operator&force=true`, {
      method: 'PATCH',
      contentType: 'application/apply-patch+yaml',
      body: { apiVersion: 'whence.dev/v1alpha1', kind: 'Member', metadata: { name: REF.name }, status: { conditions } },
    })
    const subjects = ['a', 'b', 'c', 'd'].map((sub) => accountOf(issuer, sub))
    const pinned = await Promise.all(subjects.map((account) => pins.pin(REF, account)))
    await operator
    expect(new Set(pinned).size).to.equal(1)
    expect(subjects.map(({ subject }) => subject)).to.include(pinned[0])
    expect(await pins.read(REF, issuer)).to.equal(pinned[0])
    await pins.pin(REF, accountOf('https://other.dev', 'a'))
    const { status } = await kube.want(path)
    expect([status.conditions.length, status.identities.length]).to.deep.equal([1, 2])
    await kube.want(path, { method: 'DELETE' })
    await kube.apply([resource('Member', REF.name, ACTIVE, { namespace: 'shop' })])
    expect(await pins.read(REF, issuer), 'of a member that was made anew').to.equal(null)
  })

  it('runs as a program of its own over Redis, signs in by a link while Kafka is away, and forgets everybody with an emptied Redis', async function () {
    if (!hasRedisServer()) return this.skip()
    const redis = await startRedis()
    const folder = await mkdtemp(join(tmpdir(), 'whence-dashboard-'))
    const [port, metricsPort] = [await freePort(), await freePort()]
    await kube.apply([resource('Member', 'known', { ...ACTIVE, role: 'Owner' }, { namespace: 'shop' })])
    const env = {
      PATH: process.env['PATH'] ?? '',
      WHENCE_SECRET: 'only-for-tests-only-for-tests-only-for-tests',
      WHENCE_HOT_STATE: redis.url,
      // Nobody listens there.
      WHENCE_EVENT_LOG: 'kafka://127.0.0.1:1',
      // Nobody answers there: people sign in all the same.
      WHENCE_FACTS: 'http://127.0.0.1:9/whence',
      WHENCE_WATCH_NAMESPACES: 'shop',
    }
    const places = ['--data', folder, '--kubeconfig', kube.kubeconfig]
    const at = ['--listen', `127.0.0.1:${port}`, '--metrics-listen', `127.0.0.1:${metricsPort}`]
    const child = spawn(process.execPath, ['bin/whence.ts', 'dashboard', ...places, ...at], { env, stdio: 'ignore' })
    try {
      const url = `http://127.0.0.1:${port}`
      const headers = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' }
      const isUp = () =>
        fetch(`${url}/api/sign-in`, { headers }).then(
          ({ ok }) => ok,
          () => false,
        )
      for (let tries = 0; tries < 400 && !(await isUp()); tries++) await pause(50)
      const link = await run(
        process.execPath,
        ['bin/whence.ts', 'sign-in-link', '--data', folder, '--email', ACTIVE.email],
        { env },
      )
      const token = /#link=([\w-]{43})/.exec(link.stdout)?.[1]
      const body = JSON.stringify({ token })
      const signedIn = await fetch(`${url}/api/sign-in/link`, { method: 'POST', headers, body })
      const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
      const me = async (): Promise<Response> => fetch(`${url}/api/me`, { headers: { ...headers, Cookie: cookie } })
      const told = (await (await me()).json()) as { organizations: readonly object[] }
      expect(told.organizations).to.deep.equal([{ id: 'shop/acme', displayName: 'acme', role: 'Owner' }])
      // Nobody tells the other process but the API server.
      await kube.want('/apis/whence.dev/v1alpha1/namespaces/shop/members/known', { method: 'DELETE' })
      const rolesThere = async () => ((await (await me()).json()) as { organizations: readonly object[] }).organizations
      let roles = await rolesThere()
      for (let tries = 0; tries < 200 && roles.length > 0; tries++) roles = await pause(20).then(rolesThere)
      expect(roles, 'after the removal').to.deep.equal([])
      redis.cli('flushall')
      expect((await me()).status).to.equal(401)
      redis.freeze()
      expect((await me()).status).to.equal(503)
      redis.thaw()
    } finally {
      child.kill('SIGTERM')
      await once(child, 'exit')
      await redis.stop()
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('sees the websites of an organisation with their destinations, whose Secrets it does not read', async () => {
    await kube.apply([
      website('shop-site', {}, { namespace: 'shop' }),
      website('other-site', {}, { namespace: 'other' }),
      ga4Destination('figures', { websiteRef: { name: 'shop-site' }, mode: 'Live' }, { namespace: 'shop' }),
    ])
    await becomes(() => directory.websites('shop/acme')[0]?.destinations.length === 1)
    const seen = directory
      .websites('shop/acme')
      .map(({ id, destinations }) => [id, destinations.map(({ mode }) => mode)])
    expect(seen).to.deep.equal([['shop-site', ['Live']]])
    expect(directory.websites('acme')).to.deep.equal([])
  })

  it('gives no rights by members of other namespaces, or of another installation', async () => {
    await kube.apply([
      resource('Member', 'abroad', ACTIVE, { namespace: 'other' }),
      resource('Member', 'foreign', { ...ACTIVE, installation: 'staging' }, { namespace: 'shop' }),
      resource('Member', 'known', { ...ACTIVE, email: 'bert@acme.dev' }, { namespace: 'shop' }),
    ])
    await becomes(() => directory.members().length > 0)
    expect(directory.members().map(({ name }) => name)).to.deep.equal(['known'])
  })
})
