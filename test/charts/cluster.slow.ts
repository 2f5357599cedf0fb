/** The chart on a real API server with real helm: everything it renders is taken, and an installation collects and delivers. */

import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

import { expect } from 'chai'

import { until } from '../../fixtures/until.ts'
import { startGa4StandIn, type Ga4StandIn } from '../../stand-ins/ga4.ts'
import { startEngines, type Engines } from '../../fixtures/engines/engines.ts'
import { kafkaJars } from '../../fixtures/engines/kafka.ts'
import type { AuditEvent, KubeServer, KubeTools } from '../../fixtures/engines/kube.ts'
import { kubeTools, startKube } from '../../fixtures/engines/kube.ts'
import { filesBelow } from '../api/support/canaries.ts'
import { activeReceipt, eventBody, post } from '../../fixtures/service/requests.ts'
import { MANIFESTS, TEST_SECRET } from '../../fixtures/service/service.ts'
import { ROOT } from '../tidy/source-files.ts'
import { startKubelet, type Kubelet } from './support/kubelet.ts'
import type { KubeManifest } from './support/render.ts'
import { CHART, CRD_CHART, podsOf, render, renderAll, runHelm, valueFile } from './support/render.ts'

const BUILD_AND_START_MS = 1_300_000
const WAIT_MS = 90_000
const LOOK_MS = 100
const RESTRICTED = { 'pod-security.kubernetes.io/enforce': 'restricted', 'pod-security.kubernetes.io/enforce-version': 'latest' }
/** Kinds of other projects, whose definitions this API server does not have. */
const FOREIGN = ['gateway.networking.k8s.io', 'monitoring.coreos.com', 'keda.sh']

const comesAbout = <T>(what: string, look: () => T | Promise<T>) => until(look, { what, withinMs: WAIT_MS, everyMs: LOOK_MS })

describe('the chart on a real API server', function () {
  this.timeout(180_000)
  let tools: KubeTools
  let kube: KubeServer
  let folder = ''

  before(async function () {
    this.timeout(BUILD_AND_START_MS)
    const found = await kubeTools()
    if (found === null) return this.skip()
    tools = found
    folder = await mkdtemp(join(tmpdir(), 'whence-helm-'))
    kube = await startKube(tools)
    return undefined
  })
  after(async () => {
    await kube?.stop()
    if (folder !== '') await rm(folder, { recursive: true, force: true })
  })

  const namespace = (name: string, labels = {}) =>
    kube.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }])

  const asAdministrator = (name: string) => ['--kubeconfig', kube.kubeconfig, '--namespace', name]

  describe('installed as one pod', () => {
    it('collects on its own volume, and passes its own test', async () => {
      await namespace('trial', RESTRICTED)
      const kubelet = startKubelet(kube, 'trial')
      const helm = (...words: string[]) => runHelm(tools.helm, [...words, ...asAdministrator('trial')])
      try {
        await kube.apply([{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'trial' } }])
        await helm('install', 'trial', CHART, '-f', valueFile('embedded'))
        await comesAbout('the pod is ready', async () => {
          const { body } = await kube.call('/apis/apps/v1/namespaces/trial/statefulsets/trial-whence')
          return body.status.readyReplicas === 1 ? true : null
        })
        expect((await helm('test', 'trial', '--timeout', '120s')).stdout).to.match(/Phase:\s+Succeeded/)
        await helm('uninstall', 'trial')
        await comesAbout('its process has ended', () => (kubelet.running().length === 0 ? true : null))
      } catch (error) {
        throw new Error(`${String(error)}\n${kubelet.output()}`, { cause: error })
      } finally {
        await kubelet.stop()
      }
    })
  })

  describe('rendered with every listed set of values', () => {
    before(async () => {
      for (const name of ['acme', 'team-a', 'team-b', 'one', 'two']) await namespace(name, RESTRICTED)
      await runHelm(tools.helm, ['install', 'definitions', CRD_CHART, ...asAdministrator('acme')])
      const wait = ['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all']
      await kube.kubectl(wait)
    })
    after(async () => {
      await runHelm(tools.helm, ['uninstall', 'definitions', ...asAdministrator('acme')])
      // They are kept; the installation below brings its own.
      expect(await kube.kubectl(['delete', 'crd', '--all', '--timeout=60s'])).to.contain('websites.whence.dev')
    })

    const tryOut = async (manifest: KubeManifest): Promise<string> => {
      const { apiVersion, kind, metadata } = manifest
      const base = String(apiVersion).includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
      const isClusterWide = /^(ValidatingAdmissionPolicy|ValidatingAdmissionPolicyBinding|ClusterRole|ClusterRoleBinding|CustomResourceDefinition)$/.test(kind)
      const place = isClusterWide ? '' : `/namespaces/${metadata.namespace ?? 'acme'}`
      const plural = `${kind.toLowerCase().replace(/s$/, 'se').replace(/y$/, 'ie')}s`
      const query = 'dryRun=All&fieldValidation=Strict&fieldManager=test&force=true'
      const { status, body } = await kube.call(`${base}${place}/${plural}/${metadata.name}?${query}`, {
        method: 'PATCH',
        contentType: 'application/apply-patch+yaml',
        body: manifest,
      })
      return status < 300 ? '' : `${kind} ${metadata.name}: ${status} ${String(body.message)}`
    }

    it('is taken whole, and all its pods in a namespace that enforces the restricted standard', async () => {
      /**
       * The object of each text, and the first set of values that contains it: most sets have most objects in common.
       */
      const objects = new Map<string, { readonly object: KubeManifest; readonly of: string }>()
      const accounts = new Map([['default', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }]])
      for (const [of, all] of await renderAll(tools.helm)) {
        const manifests = all.filter(({ apiVersion }) => !FOREIGN.some((group) => String(apiVersion).startsWith(group)))
        for (const account of manifests.filter(({ kind }) => kind === 'ServiceAccount'))
          accounts.set(account['metadata'].name, account as never)
        const pods = podsOf(manifests).map(({ of: owner, metadata, spec }) => ({
          apiVersion: 'v1', kind: 'Pod',
          metadata: { labels: metadata['labels'], name: owner.toLowerCase().replace(/\W/g, '-') },
          spec: withClaims(spec),
        }))
        for (const object of [...manifests, ...pods]) {
          const text = JSON.stringify(object)
          if (!objects.has(text)) objects.set(text, { object, of })
        }
      }
      for (const account of accounts.values())
        await kube.apply([{ ...account, metadata: { ...account.metadata, namespace: 'acme' } }])
      const refused: string[] = []
      const waiting = [...objects.values()]
      const lane = async (): Promise<void> => {
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
          const why = await tryOut(next.object)
          if (why !== '') refused.push(`${next.of}: ${why}`)
        }
      }
      await Promise.all(Array.from({ length: 8 }, lane))
      expect(refused).to.deep.equal([])
      expect(objects.size).to.be.greaterThan(200)
    })

    it('would be refused if a pod asked for more', async () => {
      const [pod] = podsOf(await render(tools.helm, 'cluster'))
      const spec = { ...pod?.spec, hostNetwork: true }
      const why = await tryOut({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'more' }, spec })
      expect(why).to.match(/violates PodSecurity "restricted/)
    })
  })

  describe('installed', () => {
    let engines: Engines
    let ga4: Ga4StandIn
    let kubelet: Kubelet
    let values = ''
    const ns = 'whence'

    const helm = async (...words: string[]): Promise<string> => {
      const { stdout } = await runHelm(tools.helm, [...words, ...asAdministrator(ns)]).catch(async (error: Error) => {
        throw new Error(`${error.message}\n${kubelet.output()}`, { cause: error })
      })
      return stdout
    }

    before(async function () {
      const jars = await kafkaJars()
      if (jars === null) return this.skip()
      engines = await startEngines({ jars })
      ga4 = await startGa4StandIn({ port: 0 })
      await namespace(ns, RESTRICTED)
      await kube.apply([
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: ns } },
        secretOf('whence-engines', { kafka: engines.env.WHENCE_EVENT_LOG, redis: engines.env.WHENCE_HOT_STATE, clickhouse: engines.env.WHENCE_FACTS }),
        secretOf('whence-secret', { secret: TEST_SECRET }),
      ])
      values = join(folder, 'values.json')
      const off = { enabled: false }
      await writeFile(
        values,
        JSON.stringify({ providerUrls: { ga4: ga4.url }, providers: { google_ads: off, meta: off, tiktok: off, x: off } }),
      )
      kubelet = startKubelet(kube, ns)
      return undefined
    })
    after(async () => {
      await kubelet?.stop()
      await ga4?.close()
      await engines?.stop()
    })

    const secretOf = (name: string, stringData: object) => ({
      apiVersion: 'v1', kind: 'Secret', stringData,
      metadata: { name, namespace: ns },
    })
    /** Every workload's own controller says so. */
    const allReady = (names: readonly string[]) =>
      comesAbout(`${names.join(', ')} are ready\n`, async () => {
        const { items } = await kube.want(`/apis/apps/v1/namespaces/${ns}/deployments`)
        const ready = items.filter(({ status, metadata }: KubeManifest) => status.readyReplicas > 0 && status.observedGeneration === metadata.generation)
        return ready.length === names.length ? ready : null
      })
    const WORKLOADS = ['api', 'dashboard', 'dispatch', 'facts-writer', 'ga4', 'operator', 'rollup', 'state', 'streams', 'webhooks'].map((name) => `whence-${name}`)
    const journey = async (): Promise<string> => {
      const url = kubelet.url('whence-api', 'http')
      const receipt = await activeReceipt(url, { identities: { ga4: { 'G-TEST000001': { client_id: '1.2', session_id: '3' } } } })
      const { body } = await post(`${url}/v1/events`, eventBody({ receipts: [receipt] }))
      return String(body['resolution'])
    }

    it('migrates before anything starts, and brings every role up as its own ServiceAccount', async () => {
      await helm('install', 'whence', CHART, '-f', valueFile('cluster'), '-f', values, '--timeout', '120s')
      await allReady(WORKLOADS)
      expect(kubelet.running()).to.deep.equal(WORKLOADS)
      expect(kubelet.starts('whence-migrate')).to.equal(1)
      expect(await helm('status', 'whence')).to.match(/STATUS: deployed[^]*helm test whence/)
    })

    it('takes up what kubectl applies, ties an install to its visit and reports it to GA4', async () => {
      await kube.kubectl(['apply', '-n', ns, '-f', '-'], [...Object.values(MANIFESTS), LOG_STREAM, WEBHOOK, MEMBER].join('\n---\n'))
      await kube.kubectl(['wait', '-n', ns, '--for=condition=Ready', 'website/acme-dev', 'destination/acme-ga4', '--timeout=60s'])
      // Each process takes up the catalog by itself: a first install may be matched where the destination is not known yet.
      await comesAbout('an install was matched and GA4 was told', async () => {
        const resolution = await journey().catch(() => '')
        await delay(500)
        return resolution === 'matched' && ga4.total() > 0 ? true : null
      })
      const shown = await kube.kubectl(['get', 'websites', '-n', ns])
      expect(shown).to.match(/^acme-dev\s+True\s+https:\/\/acme\.dev/m)
    })

    it('explains by the plugin what is in force and what is not', async () => {
      const own = { PATH: `${join(ROOT, 'bin')}:${dirname(tools.kubectl)}:${process.env['PATH']}`, KUBECONFIG: kube.kubeconfig }
      const plugin = (...words: string[]) =>
        promisify(execFile)('kubectl', ['whence', ...words], { env: { ...process.env, ...own } }).then(
          ({ stdout }) => stdout,
          ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => stdout + stderr,
        )
      const explained = await plugin('explain', 'website/acme-dev', '-n', ns)
      expect(explained).to.match(/^Website whence\/acme-dev: in force$/m)
      expect(explained).to.match(/refers to organization acme: there/)
      expect(explained).to.match(/compiled: website acme-dev of organisation whence\/acme \(Standard\)[^]*destination acme-ga4: ga4, Live/)
      const orphan = { apiVersion: 'whence.dev/v1alpha1', kind: 'Website', metadata: { name: 'orphan', namespace: ns } }
      const spec = { organizationRef: { name: 'nobody' }, primaryOrigin: 'https://orphan.dev' }
      await kube.apply([{ ...orphan, spec }])
      await kube.kubectl(['wait', '-n', ns, '--for=condition=Ready=false', 'website/orphan', '--timeout=60s'])
      const refused = await plugin('explain', 'website/orphan', '-n', ns)
      expect(refused).to.match(/not in force[^]*ResolvedRefs is False \(RefNotFound\)[^]*Correct the name[^]*nobody: missing/)
      await kube.kubectl(['delete', '-n', ns, 'website/orphan'])
    })

    it("tries a destination with the rights of its provider's pod", async () => {
      const { code, text } = await kubelet.exec('whence-ga4', ['send-test', '--destination', 'acme-ga4'])
      expect(text).to.match(/acme-ga4 of acme-dev \(ga4, mode Live\): passed/)
      expect(code).to.equal(0)
    })

    const FIRST = 'canary.first@acme.dev'
    const SECOND = 'canary.second@acme.dev'

    /** Signs somebody in by a link that a dashboard's pod prints, and gives their cookie with the address of the program. */
    const signIn = async (...words: string[]) => {
      const { code, text } = await kubelet.exec('whence-dashboard', ['sign-in-link', ...words])
      expect(code, text).to.equal(0)
      const url = kubelet.url('whence-dashboard', 'http')
      const headers = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' }
      const body = JSON.stringify({ token: /#link=([\w-]{43})/.exec(text)?.[1] })
      const signedIn = await fetch(`${url}/api/sign-in/link`, { method: 'POST', headers, body })
      const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
      return async (method: string, path: string, sent?: object, more = {}) => {
        const init = { method, headers: { ...headers, Cookie: cookie, ...more } }
        const told = await fetch(`${url}${path}`, sent === undefined ? init : { ...init, body: JSON.stringify(sent) })
        return { status: told.status, body: (told.status === 204 ? {} : await told.json()) as KubeManifest }
      }
    }

    it('lets the first owner in by a link, who invites somebody, changes the role and removes them', async () => {
      const acme = `${ns}/acme`
      const owner = await signIn('--email', FIRST, '--owner-of', acme)
      const members = `/api/organizations/${encodeURIComponent(acme)}/members`
      await comesAbout('the owner is one', async () => ((await owner('GET', members)).status === 200 ? true : null))
      const invited = await owner('POST', members, { email: SECOND, role: 'Viewer' })
      expect(invited.status).to.equal(201)
      const invitation = String(invited.body['link']).split('#invitation=')[1]
      const guest = await signIn('--email', SECOND)
      const accept = () => guest('POST', '/api/invitations/accept', { invitation })
      await comesAbout('the invitation is there', async () => ((await accept()).status === 200 ? true : null))
      await comesAbout('the guest is in', async () => ((await guest('GET', members)).status === 200 ? true : null))
      const member = `${members}/${invited.body['name']}`
      await comesAbout('the role is another', async () => ((await owner('PUT', member, { role: 'Member' })).status === 204 ? true : null))
      await comesAbout('the guest is out', async () => ((await owner('DELETE', member)).status === 204 ? true : null))
      await comesAbout('nothing more is seen', async () => ((await guest('GET', members)).status === 404 ? true : null))
    })

    it('changes objects of each kind of which the plan allows more, as the ServiceAccount of the dashboard', async () => {
      const owner = await signIn('--email', FIRST)
      const base = `/api/organizations/${encodeURIComponent(`${ns}/acme`)}`
      const secret = await owner('POST', `${base}/secrets`, { values: { 'api-secret': 'top secret value', secret: `whsec_${'A'.repeat(32)}` } })
      expect(secret.status).to.equal(201)
      const secretName = String(secret.body['name'])
      const ga4 = { measurementId: 'G-ABC1234567', apiSecretRef: { name: secretName, key: 'api-secret' } }
      const specs: Readonly<Record<string, object>> = {
        Website: { primaryOrigin: 'https://second.acme.dev' },
        Destination: { websiteRef: { name: 'acme-dev' }, provider: 'ga4', ga4 },
        Webhook: { url: 'https://hooks.acme.dev/in', secretRef: { name: secretName, key: 'secret' }, events: ['install.matched'] },
        ApiKey: { scopes: ['figures'], expiresAt: `${new Date(Date.now() + 86_400_000).toISOString().slice(0, 19)}Z`, keyHash: `sha256:${'0'.repeat(64)}` },
        ShareLink: { websiteRef: { name: 'acme-dev' }, period: 'Today', expiresAt: `${new Date(Date.now() + 86_400_000).toISOString().slice(0, 19)}Z`, tokenHash: `sha256:${'0'.repeat(64)}` },
      }
      for (const [kind, own] of Object.entries(specs)) {
        const at = `${base}/resources/${kind}`
        const spec = 'websiteRef' in own ? own : { organizationRef: { name: 'acme' }, ...own }
        const made = await owner('POST', at, { name: 'made', spec })
        expect([kind, made.status], JSON.stringify(made.body)).to.deep.equal([kind, 201])
        const read = await comesAbout(`${kind} is there, and the operator has judged it`, async () => {
          const answer = await owner('GET', `${at}/${ns}/made`)
          return answer.status === 200 && (answer.body['conditions'] as readonly object[]).length > 0 ? answer : null
        })
        const changed = await owner('PUT', `${at}/${ns}/made`, { spec: { ...spec, displayName: 'Changed' } }, { 'If-Match': `"${read.body['version']}"` })
        expect([kind, changed.status], JSON.stringify(changed.body)).to.deep.equal([kind, 200])
        await comesAbout(`${kind} is gone`, async () => {
          const { body } = await owner('GET', `${at}/${ns}/made`)
          const gone = await owner('DELETE', `${at}/${ns}/made`, undefined, { 'If-Match': `"${body['version']}"` })
          return gone.status < 300 ? true : null
        })
      }
    })

    it("shows nobody's address in logs, metrics, names, labels and annotations, and writes none to Kafka", async () => {
      const metrics = await Promise.all(
        WORKLOADS.map(async (name) => [`metrics of ${name}`, await (await fetch(`${kubelet.url(name, 'metrics')}/metrics`)).text()] as const),
      )
      const lists = [
        ...['configmaps', 'secrets', 'events', 'pods'].map((kind) => `/api/v1/namespaces/${ns}/${kind}`),
        ...['websites', 'members', 'organizations', 'destinations', 'webhooks'].map((kind) => `/apis/whence.dev/v1alpha1/namespaces/${ns}/${kind}`),
        `/apis/events.k8s.io/v1/namespaces/${ns}/events`,
      ]
      const objects = await Promise.all(
        lists.map(async (path) => {
          const { items } = await kube.want(path)
          return [path, JSON.stringify(items.map(({ metadata }: KubeManifest) => ({ ...metadata, managedFields: null })))] as const
        }),
      )
      const logs = [['logs', kubelet.output()]] as const
      const topics = [...(await filesBelow(engines.kafka.folder))].map(([name, text]) => [`Kafka ${name}`, text] as const)
      const texts: readonly (readonly [string, string])[] = [...metrics, ...objects, ...logs, ...topics]
      const holding = (what: string) => texts.filter(([, text]) => text.includes(what)).map(([name]) => name)
      // A search shows something only if it finds what is there.
      expect(holding('whence_sign_ins_total')).to.include('metrics of whence-dashboard')
      expect(holding('acme-dev').some((name) => name.startsWith('Kafka '))).to.equal(true)
      expect(holding('acme-dev')).to.include(`/apis/whence.dev/v1alpha1/namespaces/${ns}/websites`)
      for (const what of ['canary.first', 'canary.second', 'canary%2Efirst', 'top secret value']) expect(holding(what), what).to.deep.equal([])
    })

    it('shows and erases what is kept of a person', async () => {
      const shown = await kubelet.exec('whence-dashboard', ['person', 'export', FIRST])
      expect(shown.code, shown.text).to.equal(0)
      expect(shown.text).to.include('"Owner"').and.include(FIRST)
      const erased = await kubelet.exec('whence-dashboard', ['person', 'erase', FIRST])
      expect(erased.code, erased.text).to.equal(0)
      const { items } = await kube.want(`/apis/whence.dev/v1alpha1/namespaces/${ns}/members`)
      expect(JSON.stringify(items)).to.not.include(FIRST)
    })

    it("lets the dashboard make Secrets, and see none by any verb", async () => {
      const token = await kube.serviceAccountToken(ns, 'whence-dashboard')
      const secrets = `/api/v1/namespaces/${ns}/secrets`
      const type = 'whence.dev/dashboard'
      const as = (method: string, path: string, more: object = {}) => kube.call(path, { method, token, ...more })
      const made = await as('POST', secrets, {
        body: { apiVersion: 'v1', kind: 'Secret', type, metadata: { generateName: 'made-' }, stringData: { key: 'x' } },
      })
      expect(made.status).to.equal(201)
      const tokenOf = { annotations: { 'kubernetes.io/service-account.name': 'whence-operator' } }
      const others = ['Opaque', 'kubernetes.io/service-account-token'].map((other) =>
        as('POST', secrets, {
          body: { apiVersion: 'v1', kind: 'Secret', type: other, metadata: { name: 'other', ...tokenOf }, stringData: { key: 'x' } },
        }),
      )
      for (const { status, body } of await Promise.all(others)) {
        expect(status).to.equal(403)
        expect(body.message).to.include('may only make Secrets of the type whence.dev/dashboard')
      }
      const patches = ['application/merge-patch+json', 'application/apply-patch+yaml', 'application/strategic-merge-patch+json']
      const apply = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'whence-engines', namespace: ns } }
      const tries = [
        ...[`${secrets}/whence-engines`, secrets, `${secrets}?watch=true`, `/api/v1/secrets`, `${secrets}/${made.body.metadata.name}`].map((path) => as('GET', path)),
        ...patches.map((contentType) =>
          as('PATCH', `${secrets}/whence-engines?fieldManager=x`, { contentType, body: contentType.includes('apply') ? apply : {} }),
        ),
        as('PUT', `${secrets}/whence-engines`, { body: apply }),
        ...['', '?propagationPolicy=Foreground', '?dryRun=All'].map((query) => as('DELETE', `${secrets}/whence-engines${query}`)),
        as('DELETE', secrets),
        ...['configmaps', 'pods'].map((kind) => as('GET', `/api/v1/namespaces/${ns}/${kind}`)),
        as('POST', `/api/v1/namespaces/${ns}/serviceaccounts/whence-operator/token`, { body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} } }),
      ]
      const answers = await Promise.all(tries)
      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 403))
      expect(JSON.stringify(answers.map(({ body }) => body.data ?? null))).to.not.match(/[A-Za-z0-9+/]{8}/)
      // An object that exists is not told by making it again.
      const again = await as('POST', secrets, { body: { ...apply, type, stringData: { kafka: 'x' } } })
      expect([again.status, again.body.data]).to.deep.equal([409, undefined])
      await kube.want(`${secrets}/${made.body.metadata.name}`, { method: 'DELETE' })
    })

    it('lets the operator delete Secrets of the dashboard, and no others', async () => {
      const token = await kube.serviceAccountToken(ns, 'whence-operator')
      const remove = (name: string) =>
        kube.call(`/api/v1/namespaces/${ns}/secrets/${name}`, { method: 'DELETE', token })
      const refused = await remove('whence-engines')
      expect(refused.status).to.equal(403)
      expect(refused.body.message).to.include('may only delete its own Secrets')
      await kube.apply([{ ...secretOf('made', { key: 'x' }), type: 'whence.dev/dashboard' }])
      expect((await remove('made')).status).to.equal(200)
    })

    it('passes its own test, which leaves nothing behind', async () => {
      expect(await helm('test', 'whence', '--timeout', '120s')).to.match(/Phase:\s+Succeeded/)
      const { items } = await kube.want(`/apis/whence.dev/v1alpha1/namespaces/${ns}/websites`)
      expect(items.map(({ metadata }: KubeManifest) => metadata.name)).to.deep.equal(['acme-dev'])
    })

    it('keeps working through an upgrade and a rollback', async () => {
      const before = kubelet.starts('whence-api')
      await helm('upgrade', 'whence', CHART, '-f', valueFile('cluster'), '-f', values, '--set', 'brand=origin')
      await comesAbout('the api was replaced', () => (kubelet.starts('whence-api') === before + 1 ? true : null))
      await allReady(WORKLOADS)
      expect(await journey()).to.equal('matched')
      expect(kubelet.starts('whence-dispatch'), 'what has not changed stays').to.equal(1)
      await helm('rollback', 'whence', '1')
      await comesAbout('the api was replaced again', () => (kubelet.starts('whence-api') === before + 2 ? true : null))
      await allReady(WORKLOADS)
      expect(await journey()).to.equal('matched')
    })

    it('tells the organisation what its plan refused, once, although the api was started three times', async () => {
      const told = async () => {
        const { text } = await kubelet.exec('whence-api', ['activity', '--organization', `${ns}/acme`, '--json'])
        const rows = text.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, unknown>)
        return rows.filter(({ type }) => type === 'catalog_problem').map(({ subject }) => subject)
      }
      const second = { apiVersion: 'whence.dev/v1alpha1', kind: 'InstallPath', metadata: { name: 'second', namespace: ns } }
      await kube.apply([{ ...second, spec: { organizationRef: { name: 'acme' } } }])
      await comesAbout('the latest is told', async () => ((await told()).includes(`InstallPath/${ns}/second`) ? true : null))
      expect((await told()).sort()).to.deep.equal([`InstallPath/${ns}/second`, `LogStream/${ns}/acme-logs`])
    })

    it('shows in the list of websites what it has collected', async () => {
      const shown = () => kube.kubectl(['get', 'websites', '-n', ns])
      const line = /^acme-dev\s+True\s+\S+\s+[1-9]\d*\s+[1-9]\d*\s+\d+%\s+Ready/m
      await comesAbout('visits and installs are shown', async () => (line.test(await shown()) ? true : null))
    })

    it('is granted what it uses, and uses what it is granted', async () => {
      // The test itself, which names no program, tries with the dashboard's token what it must not do.
      const isOurs = ({ user, userAgent }: AuditEvent) =>
        user.username.startsWith(`system:serviceaccount:${ns}:whence-`) && userAgent !== undefined
      const events = (await kube.audit()).filter(isOurs)
      const refused = events.filter(({ responseStatus }) => responseStatus?.code === 403)
      expect([...new Set(refused.map(({ verb, requestURI, user }) => `${user.username} ${verb} ${requestURI}`))]).to.deep.equal([])
      const used = new Set(
        events.flatMap(({ user, verb, objectRef, responseStatus }) => {
          const resource = [objectRef?.resource, objectRef?.subresource].filter((it) => it !== undefined).join('/')
          // An apply that makes the object needs the right to create it as well.
          const verbs = verb === 'patch' && responseStatus?.code === 201 ? [verb, 'create'] : [verb]
          return verbs.map((each) => `${user.username.split(':')[3]} ${each} ${resource}`)
        }),
      )
      const granted = new Set(await grants())
      expect([...used].filter((right) => !granted.has(right))).to.deep.equal([])
      expect([...granted].filter((right) => !used.has(right)).sort()).to.deep.equal(UNUSED)
    })

    it('goes without the objects of the team, and without the definitions', async () => {
      const map = await kube.want(`/api/v1/namespaces/${ns}/configmaps/whence-owner`)
      const made = await madeByOperator()
      expect(made.map(({ kind }) => kind)).to.include.members(['ConfigMap', 'Secret', 'Lease'])
      for (const { name, owners } of made) expect(owners, name).to.deep.equal([map.metadata.uid])
      await helm('uninstall', 'whence')
      // No controller runs here that deletes what has lost its owner; on a cluster one does.
      expect((await kube.call(`/api/v1/namespaces/${ns}/configmaps/whence-owner`)).status).to.equal(404)
      await comesAbout('every process has ended', () => (kubelet.running().length === 0 ? true : null))
      const { items } = await kube.want(`/apis/whence.dev/v1alpha1/namespaces/${ns}/websites`)
      expect(items).to.have.length(1)
      const left = await kube.want(`/api/v1/namespaces/${ns}/secrets`)
      expect(left.items.map(({ metadata }: KubeManifest) => metadata.name)).to.include('whence-engines')
    })

    /** Everything in the namespace that one of its field managers is the operator of, but for statuses. */
    const madeByOperator = async () => {
      const lists = ['/api/v1/namespaces/whence/configmaps', '/api/v1/namespaces/whence/secrets', '/apis/coordination.k8s.io/v1/namespaces/whence/leases']
      const all = await Promise.all(lists.map((path) => kube.want(path)))
      return all.flatMap(({ kind, items }) =>
        items
          .filter(({ metadata }: KubeManifest) => /^whence(-catalog|-ga4|-google-ads|-meta|-tiktok|-x|$)/.test(metadata.name))
          .map(({ metadata }: KubeManifest) => ({
            kind: String(kind).replace(/List$/, ''),
            name: metadata.name as string,
            owners: (metadata.ownerReferences ?? []).map(({ uid }: KubeManifest) => uid),
          })),
      )
    }

    /** Rights that this run gives no reason to use, and why they are there. */
    const UNUSED: readonly string[] = [
      // Shards that are left over once the number of websites has grown or shrunk a lot, and problems once there are none.
      'whence-operator delete configmaps',
      // The plan of this organisation allows no more of them.
      ...['create', 'delete', 'get', 'patch'].flatMap((verb) =>
        ['installpaths', 'logstreams'].map((kind) => `whence-dashboard ${verb} ${kind}`),
      ),
      ...['create', 'delete', 'get', 'patch'].map((verb) => `whence-dashboard ${verb} organizations`),
      'whence-dashboard patch members/status',
      // The plan of this organisation has no log streams.
      'whence-streams get secrets',
      // Credentials that have been out of use for a minute.
      'whence-operator delete secrets',
    ].sort()

    /** `ServiceAccount verb resource` of every Role that is bound to one of ours. */
    const grants = async (): Promise<readonly string[]> => {
      const base = '/apis/rbac.authorization.k8s.io/v1'
      const inNamespace = await grantsOf(`${base}/namespaces/${ns}/roles`, `${base}/namespaces/${ns}/rolebindings`)
      return [...inNamespace, ...(await grantsOf(`${base}/clusterroles`, `${base}/clusterrolebindings`))]
    }
    const grantsOf = async (rolesPath: string, bindingsPath: string): Promise<readonly string[]> => {
      const roles = new Map<string, KubeManifest>(
        (await kube.want(rolesPath)).items.map((role: KubeManifest) => [role['metadata'].name, role]),
      )
      const bindings: readonly KubeManifest[] = (await kube.want(bindingsPath)).items
      return bindings.flatMap(({ roleRef, subjects = [] }) =>
        subjects.filter(({ namespace: of }: KubeManifest) => of === ns).flatMap(({ name }: KubeManifest) =>
          (roles.get(roleRef.name)?.['rules'] ?? []).flatMap(({ verbs, resources = [] }: KubeManifest) =>
            verbs.flatMap((verb: string) => resources.map((resource: string) => `${name} ${verb} ${resource}`)),
          ),
        ),
      )
    }
  })
})

const MEMBER = `
apiVersion: whence.dev/v1alpha1
kind: Member
metadata: { name: ann }
spec: { organizationRef: { name: acme }, email: ann@acme.dev, role: Owner }`

const LOG_STREAM = `
apiVersion: v1
kind: Secret
metadata: { name: acme-logs }
stringData: { key: made-up-for-the-test }
---
apiVersion: whence.dev/v1alpha1
kind: LogStream
metadata: { name: acme-logs }
spec:
  organizationRef: { name: acme }
  webhook: { url: 'https://logs.acme.dev/whence', secretRef: { name: acme-logs, key: key } }
`

/** Of what does not happen here: its address is nobody's. */
const WEBHOOK = `
apiVersion: v1
kind: Secret
metadata: { name: acme-events }
stringData: { secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw }
---
apiVersion: whence.dev/v1alpha1
kind: Webhook
metadata: { name: acme-events }
spec:
  organizationRef: { name: acme }
  url: https://acme.dev/hooks
  secretRef: { name: acme-events, key: secret }
  events: [quota.reached]
`

/** A pod of a StatefulSet gets a claim in the place of each template of one. */
function withClaims(spec: KubeManifest): KubeManifest {
  const named = new Set((spec['volumes'] ?? []).map(({ name }: KubeManifest) => name))
  const mounts = spec['containers'].flatMap(({ volumeMounts = [] }: KubeManifest) => volumeMounts)
  const claims = mounts.filter(({ name }: KubeManifest) => !named.has(name))
  const volumes = claims.map(({ name }: KubeManifest) => ({ name, persistentVolumeClaim: { claimName: name } }))
  return { ...spec, volumes: [...(spec['volumes'] ?? []), ...volumes] }
}
