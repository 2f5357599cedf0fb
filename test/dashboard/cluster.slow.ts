/** The dashboard in a cluster, on a real kube-apiserver: what it watches, what it writes, and what it leaves alone. */

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

import { expect } from 'chai'
import { Registry } from 'prom-client'

import { watchDirectory, type ClusterDirectory } from '../../dashboard/resources/cluster-directory.ts'
import { clusterPins } from '../../dashboard/sign-in/cluster-pins.ts'
import { accountOf } from '../../dashboard/sign-in/pins.ts'
import { clusterWriter } from '../../dashboard/resources/cluster-writer.ts'
import type { ResourceWriter } from '../../dashboard/resources/writer.ts'
import { LIMITS } from '../../domain/limits.ts'
import { createKubeMetrics } from '../../runtime/kube/metrics.ts'
import { clientFor, type KubeClient } from '../../runtime/kube/client.ts'
import { readKubeconfig } from '../../runtime/kube/kubeconfig.ts'
import { createLogger } from '../../runtime/logger.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { kubeTools, startKube, type KubeServer } from '../../fixtures/engines/kube.ts'
import { ga4Destination, organization, resource, website } from '../../fixtures/service/manifests.ts'
import { hasRedisServer, startRedis } from '../../fixtures/engines/redis.ts'
import { filesBelow } from '../api/support/canaries.ts'
import { exchangeRaw } from '../api/support/raw.ts'
import { listenInSilence } from '../../fixtures/engines/silent.ts'
import { startProgram, type Program } from '../../fixtures/service/programs.ts'
import { until } from '../../fixtures/until.ts'
import { answersAfterAttacks, listeningPorts } from '../e2e/support/hostile-sockets.ts'
import { openChromium } from '../sdk/support/browsers.ts'

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
      watching: {
        client,
        random: Math.random,
        logger: createLogger({ program: 'test', level: 'silent' }),
        metrics: createKubeMetrics(new Registry()),
      },
      place: { namespace: 'shop', name: 'whence' },
      namespaces: ['shop'],
      installation: 'default',
      nowMs: Date.now,
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
    expect(await until(condition, { everyMs: 25 })).to.equal(true)
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

  it('sees API keys as they come and go, and none of another namespace or installation', async () => {
    const key = (number: number) => ({
      organizationRef: { name: 'acme' },
      scopes: ['figures'],
      expiresAt: '2027-06-30T00:00:00Z',
      keyHash: `sha256:${String(number).repeat(64)}`,
    })
    const ref = { kind: 'ApiKey', namespace: 'shop', name: 'grafana' }
    await kube.apply([
      resource('ApiKey', 'abroad', key(1), { namespace: 'other' }),
      resource('ApiKey', 'foreign', { ...key(2), installation: 'staging' }, { namespace: 'shop' }),
    ])
    expect(await writer.create({ ...ref, spec: key(3) })).to.deep.equal({ kind: 'written' })
    await becomes(() => directory.passes().apiKeys.size > 0)
    const inForce = [...directory.passes().apiKeys.values()].map(({ name, organization: of, hash }) => [name, of, hash])
    expect(inForce).to.deep.equal([['grafana', 'shop/acme', key(3).keyHash]])
    const version = (await writer.read(ref))?.version ?? ''
    expect(await writer.remove(ref, version)).to.deep.equal({ kind: 'written' })
    await becomes(() => directory.passes().apiKeys.size === 0)
  })

  it('sees share links as they come and go, and with their website, which is of their own namespace', async () => {
    const link = (number: number, name = 'shared') => ({
      websiteRef: { name },
      period: 'Last28Days',
      filters: [{ field: 'campaign', is: ['show-hn'] }],
      expiresAt: '2027-06-30T00:00:00Z',
      tokenHash: `sha256:${String(number).repeat(64)}`,
    })
    const ref = { kind: 'ShareLink', namespace: 'shop', name: 'board' }
    await kube.apply([
      website('shared', {}, { namespace: 'shop' }),
      resource('ShareLink', 'abroad', link(4), { namespace: 'other' }),
      resource('ShareLink', 'lost', link(5, 'nothing'), { namespace: 'shop' }),
    ])
    expect(await writer.create({ ...ref, spec: link(6) })).to.deep.equal({ kind: 'written' })
    const inForce = () => [...directory.passes().shareLinks.values()].map(({ name, hash }) => [name, hash])
    await becomes(() => inForce().length > 0)
    expect(inForce()).to.deep.equal([['board', link(6).tokenHash]])
    await kube.call('/apis/whence.dev/v1alpha1/namespaces/shop/websites/shared', { method: 'DELETE' })
    await becomes(() => inForce().length === 0)
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

  it('does not change what another manager would set again, and names the manager', async () => {
    const theirs = resource('Member', REF.name, ACTIVE, { namespace: 'shop' })
    await kube.apply([theirs], 'argocd-controller')
    const stored = await writer.read(REF)
    expect(stored?.managedBy).to.equal('argocd-controller')
    const refused = { kind: 'managed_elsewhere', manager: 'argocd-controller', field: '' }
    expect(await writer.replace({ ...REF, spec: INVITED }, stored?.version ?? '')).to.deep.equal(refused)
    expect(await writer.remove(REF, stored?.version ?? '')).to.deep.equal(refused)
  })

  it('writes what is paid for under a separate manager, and nothing that Git manages', async () => {
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
    expect((await stored()).spec).to.deep.equal({ displayName: 'Payer', plan: 'Standard', timeZone: 'UTC', billing })
    const renamed = { ...(await stored()).spec, displayName: 'Other' }
    expect(await writer.replace({ ...ref, spec: renamed }, (await stored()).version)).to.deep.equal({ kind: 'written' })
    const other = { displayName: 'Other', plan: 'Free', timeZone: 'UTC' }
    // A field that it no longer names is removed, although the dashboard has applied the whole object meanwhile.
    await writer.writeBilling(await stored(), { plan: 'Free', billing: { customer: 'cus_1' } })
    expect((await stored()).spec).to.deep.equal({ ...other, billing: { customer: 'cus_1' } })
    await writer.writeBilling(await stored(), { plan: 'Free', billing: undefined })
    expect((await stored()).spec).to.deep.equal(other)
    // Also if somebody has applied the same by hand, so that it is not only the dashboard's.
    await writer.writeBilling(await stored(), { plan: 'Standard', billing })
    const byHand = resource('Organization', 'payer', { plan: 'Standard', billing }, { namespace: 'shop' })
    await kube.kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(byHand))
    expect(await writer.writeBilling(await stored(), { plan: 'Free', billing: undefined })).to.deep.equal({
      kind: 'written',
    })
    expect((await stored()).spec).to.deep.equal(other)
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

  it('reports in words what the definition refuses, and writes nothing', async () => {
    const outcome = await writer.create({ ...REF, spec: { ...ACTIVE, group: 'team' } })
    expect(outcome.kind).to.equal('refused')
    expect(JSON.stringify(outcome)).to.include('must have either email or group')
    expect(await writer.read(REF)).to.equal(null)
  })

  it("pins one account in a member's status if several sign in at once, and leaves the operator's part alone", async () => {
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

  /** `whencectl dashboard` as a process, with mail; `more` says where its engines are. */
  const startDashboard = async (more: Readonly<Record<string, string>>): Promise<DashboardProcess> => {
    const folder = await mkdtemp(join(tmpdir(), 'whence-dashboard-'))
    const port = await freePort()
    const metricsPort = await freePort()
    const env = {
      WHENCE_SECRET: 'only-for-tests-only-for-tests-only-for-tests',
      WHENCE_CATALOG: 'kubernetes:shop/whence',
      WHENCE_WATCH_NAMESPACES: 'shop',
      WHENCE_MAIL_FROM: 'Whence <whence@acme.dev>',
      ...more,
    }
    const places = ['--data', folder, '--kubeconfig', kube.kubeconfig]
    const at = ['--listen', `127.0.0.1:${port}`, '--metrics-listen', `127.0.0.1:${metricsPort}`]
    const program = startProgram(['dashboard', ...places, ...at], { env })
    await program.ready
    const url = `http://127.0.0.1:${port}`
    const headers = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' }
    const link = await run(
      process.execPath,
      ['bin/whencectl.ts', 'sign-in-link', '--data', folder, '--email', ACTIVE.email],
      { env: { PATH: process.env['PATH'] ?? '', ...env } },
    )
    const token = /#link=([\w-]{43})/.exec(link.stdout)?.[1] ?? ''
    const body = JSON.stringify({ token })
    const signedIn = await fetch(`${url}/api/sign-in/link`, { method: 'POST', headers, body })
    const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    return {
      port,
      url,
      cookie,
      program,
      secrets: [token, cookie.split('=')[1] ?? ''],
      said: async () => program.stderr() + (await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()),
      ask: (path, options = {}) => fetch(`${url}${path}`, { headers: { ...headers, Cookie: cookie }, ...options }),
      async end() {
        const code = await program.end('SIGTERM')
        await rm(folder, { recursive: true, force: true })
        return code === 0 ? code : `${code}: ${program.stderr().slice(-2_000)}`
      },
    }
  }

  it('runs as a separate program with Redis, signs in by a link while Kafka is unreachable, and signs everybody out if Redis is emptied', async function () {
    if (!hasRedisServer()) return this.skip()
    const redis = await startRedis({ settings: ['rdbcompression no'] })
    await kube.apply([resource('Member', 'known', { ...ACTIVE, role: 'Owner' }, { namespace: 'shop' })])
    const dashboard = await startDashboard({
      WHENCE_HOT_STATE: redis.url,
      // Nobody listens there.
      WHENCE_EVENT_LOG: 'kafka://127.0.0.1:1',
      WHENCE_SMTP_URL: 'smtp://127.0.0.1:1',
      // Nobody answers there: people sign in all the same.
      WHENCE_FACTS: 'http://127.0.0.1:9/whence',
    })
    try {
      const me = (): Promise<Response> => dashboard.ask('/api/me')
      const told = (await (await me()).json()) as { organizations: readonly object[] }
      expect(told.organizations).to.deep.equal([{ id: 'shop/acme', displayName: 'acme', role: 'Owner' }])
      // Only the API server informs the other process.
      await kube.want('/apis/whence.dev/v1alpha1/namespaces/shop/members/known', { method: 'DELETE' })
      const rolesThere = async () => ((await (await me()).json()) as { organizations: readonly object[] }).organizations
      await until(async () => (await rolesThere()).length === 0, { what: 'the member is gone', everyMs: 20 })
      expect(dashboard.secrets.map(({ length }) => length)).to.deep.equal([43, 43])
      const broken = await exchangeRaw(dashboard.port, ['GET / HTTP/1.1\r\nno header\r\n\r\n'])
      expect(broken.answers.map(({ status }) => status)).to.deep.equal([400])
      expect(await dashboard.said()).to.include(
        'whence_dashboard_requests_total{route="",status="400",code="invalid_request"} 1',
      )
      redis.cli('save')
      const kept = await filesBelow(redis.folder)
      kept.set('log and metrics', await dashboard.said())
      expect([...kept.values()].join('\n'))
        .to.contain('whence')
        .and.to.contain('serving people')
      for (const [name, text] of kept) for (const secret of dashboard.secrets) expect(text, name).not.to.contain(secret)
      redis.cli('flushall')
      expect((await me()).status).to.equal(401)
      redis.freeze()
      expect((await me()).status).to.equal(503)
      redis.thaw()
    } finally {
      expect(await dashboard.end()).to.equal(0)
      await redis.stop()
    }
  })

  it('answers at each of its ports, and the operator at its own, after clients that break HTTP or their connection', async function () {
    if (!hasRedisServer()) return this.skip()
    const redis = await startRedis()
    await kube.apply([resource('Member', 'known', { ...ACTIVE, role: 'Owner' }, { namespace: 'shop' })])
    const dashboard = await startDashboard({
      WHENCE_HOT_STATE: redis.url,
      WHENCE_EVENT_LOG: 'kafka://127.0.0.1:1',
      WHENCE_SMTP_URL: 'smtp://127.0.0.1:1',
      WHENCE_FACTS: 'http://127.0.0.1:9/whence',
    })
    const operator = startProgram(['operator', '--kubeconfig', kube.kubeconfig], {
      env: {
        WHENCE_CATALOG: 'kubernetes:shop/whence',
        WHENCE_WATCH_NAMESPACES: 'shop',
        WHENCE_BASE_URL: 'https://whence.example',
        WHENCE_METRICS_LISTEN: '127.0.0.1:0',
      },
    })
    try {
      await until(() => operator.stderr().includes('"msg":"reconciling"'))
      for (const [program, count] of [[dashboard.program, 2] as const, [operator, 1] as const]) {
        const ports = await listeningPorts(program.pid)
        expect(ports, program.stderr()).to.have.length(count)
        for (const port of ports) expect(await answersAfterAttacks(port), program.stderr()).to.include(200)
        expect(program.stderr()).not.to.match(/uncaught exception|unhandled rejection/)
      }
    } finally {
      expect(await operator.end('SIGTERM')).to.equal(0)
      expect(await dashboard.end()).to.equal(0)
      await redis.stop()
    }
  })

  it('shows patches of an object in Git, which its manager or a person applies as they stand, and it says what was asked for', async function () {
    if (!hasRedisServer()) return this.skip()
    const redis = await startRedis()
    const committed = { displayName: 'Old', additionalDomains: ['https://docs.git.example'], retentionDays: 90 }
    await kube.apply([resource('Member', 'known', { ...ACTIVE, role: 'Owner' }, { namespace: 'shop' })])
    await kube.apply([website('git-site', committed, { namespace: 'shop' })], 'argocd-controller')
    const path = '/apis/whence.dev/v1alpha1/namespaces/shop/websites/git-site'
    // With the defaults of the definition, which nobody committed.
    const spec = async (): Promise<Record<string, unknown>> => (await kube.want(path)).spec
    const before = await spec()
    expect(before).to.deep.include(committed)
    const dashboard = await startDashboard({
      WHENCE_HOT_STATE: redis.url,
      WHENCE_EVENT_LOG: 'kafka://127.0.0.1:1',
      WHENCE_FACTS: 'http://127.0.0.1:9/whence',
      WHENCE_SMTP_URL: 'smtp://127.0.0.1:1',
    })
    const chromium = await openChromium()
    try {
      const [name = '', value = ''] = dashboard.cookie.split('=', 2)
      await chromium.context.addCookies([{ name, value, url: dashboard.url }])
      const page = await chromium.context.newPage()
      const address = `${dashboard.url}/app/shop%2Facme/resources/Website/shop/git-site`
      /** Fills in the form of what Git manages, and gives the text that is copied. */
      const copied = async (fill: () => Promise<void>, what: string): Promise<string> => {
        await page.goto(address)
        await page.getByText('Git, by argocd-controller').waitFor()
        await page.getByRole('button', { name: 'Change managed fields' }).click()
        await fill()
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Managed by argocd-controller: nothing was changed here').waitFor()
        await page.getByRole('button', { name: `Copy ${what}` }).click()
        await page.getByRole('button', { name: 'Copied' }).waitFor()
        return page.evaluate<string>('navigator.clipboard.readText()')
      }
      const forGit = await copied(async () => {
        await page.getByLabel('Name that people see').fill("Anna's shop: 50 % #1")
        await page.getByLabel('Additional domains').fill('')
      }, 'the YAML for Git')
      expect(await spec(), 'nothing was changed here').to.deep.equal(before)
      await kube.kubectl(['apply', '--server-side', '--field-manager=argocd-controller', '-f', '-'], forGit)
      const asked: Record<string, unknown> = { ...before, displayName: "Anna's shop: 50 % #1", additionalDomains: [] }
      expect({ additionalDomains: [], ...(await spec()) }).to.deep.equal(asked)

      const byHand = await copied(async () => {
        await page.getByLabel('Name that people see').fill("It's $HOME \\ `shop`")
        await page.getByLabel('Retention days').fill('')
      }, 'the kubectl line')
      const PATH = `${dirname(kube.tools.kubectl)}:${process.env['PATH'] ?? ''}`
      await run('sh', ['-c', byHand], { env: { PATH, KUBECONFIG: kube.kubeconfig, HOME: dirname(kube.kubeconfig) } })
      const { retentionDays: _, ...others } = asked
      expect({ additionalDomains: [], ...(await spec()) }).to.deep.equal({
        ...others,
        displayName: "It's $HOME \\ `shop`",
        retentionDays: LIMITS.retentionDays.fallback,
      })
    } finally {
      await chromium.close()
      expect(await dashboard.end()).to.equal(0)
      await redis.stop()
      await kube.want(path, { method: 'DELETE' })
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

  it('ends cleanly in time while everything that it calls hangs, and people wait for answers', async function () {
    if (!hasRedisServer()) return this.skip()
    const redis = await startRedis()
    const silent = await listenInSilence()
    await kube.apply([resource('Member', 'known', { ...ACTIVE, role: 'Owner' }, { namespace: 'shop' })])
    await becomes(() => directory.members().some(({ name }) => name === 'known'))
    const dashboard = await startDashboard({
      WHENCE_HOT_STATE: redis.url,
      WHENCE_EVENT_LOG: `kafka://${silent.address}`,
      WHENCE_FACTS: `http://${silent.address}/whence`,
      WHENCE_SMTP_URL: `smtp://${silent.address}`,
    })
    const waiting: Promise<unknown>[] = []
    let code: unknown
    try {
      const path = '/api/organizations/shop%2Facme'
      expect((await dashboard.ask(path)).status).to.equal(200)
      const answered = silent.connections()
      for (const page of ['overview', 'activity', 'live'])
        waiting.push(dashboard.ask(`${path}/${page}`).catch(() => null))
      const body = JSON.stringify({ email: ACTIVE.email })
      waiting.push(dashboard.ask('/api/sign-in/mail', { method: 'POST', body }).catch(() => null))
      await becomes(() => silent.connections() > answered)
      kube.pause()
      redis.freeze()
    } finally {
      code = await dashboard.end()
      kube.resume()
      redis.thaw()
      await Promise.all(waiting)
      await silent.close()
      await redis.stop()
    }
    expect(code).to.equal(0)
  })
})

interface DashboardProcess {
  readonly program: Program
  readonly port: number
  readonly url: string
  /** Of a person who is signed in. */
  readonly cookie: string
  /** The token of the link and that of the session, of which it may keep no more than digests. */
  readonly secrets: readonly string[]
  /** Its log and its metrics. */
  readonly said: () => Promise<string>
  /** As a person who is signed in. */
  readonly ask: (path: string, options?: RequestInit) => Promise<Response>
  /** By SIGTERM; gives the exit code, with what it said last if that is not 0. */
  readonly end: () => Promise<unknown>
}
