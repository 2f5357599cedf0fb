/** What can happen to a watch, on a real API server: afterwards every copy is what etcd holds, and nothing went out of force. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'
import { Registry } from 'prom-client'

import { endedWithin } from '../../common/deadline.ts'
import type { CatalogSource } from '../../runtime/catalog/source.ts'
import { clientFor, createKubeClient, type KubeClient, type KubeError } from '../../runtime/kube/client.ts'
import { readKubeconfig } from '../../runtime/kube/kubeconfig.ts'
import { createKubeMetrics } from '../../runtime/kube/metrics.ts'
import type { Reflector } from '../../runtime/kube/reflector.ts'
import { startReflector } from '../../runtime/kube/reflector.ts'
import type { KubeServer } from '../../fixtures/engines/kube.ts'
import { kubeTools, startKube } from '../../fixtures/engines/kube.ts'
import { organization, website } from '../../fixtures/service/manifests.ts'
import { type Link, openLink } from './support/link.ts'
import { openStage, PLACE, quiet, type Stage, type StartedOperator, until } from './support/stage.ts'
import { openThrottle, type Throttle } from './support/throttle.ts'

const BUILD_AND_START_MS = 1_300_000
const WEBSITES = '/apis/whence.dev/v1alpha1/namespaces/default/websites'
/** Below and above the time in which a leader must renew its Lease. */
const STOP_MS = process.env['WHENCE_CHAOS'] === undefined ? 8_000 : 120_000
/** Below the time that a process has for all its parts. */
const STOP_DEADLINE_MS = 20_000
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${PLACE.namespace}/leases/${PLACE.name}`

describe('watches', function () {
  this.timeout(Math.max(240_000, 4 * STOP_MS))
  let kube: KubeServer
  let link: Link
  let throttle: Throttle
  let certificates: string | undefined
  let caFile: string
  let tokenFile: string
  let client: KubeClient
  let stage: Stage
  const registry = new Registry()
  const reflectors: Reflector[] = []

  before(async function () {
    this.timeout(BUILD_AND_START_MS)
    const tools = await kubeTools()
    if (tools === null) return this.skip()
    kube = await startKube(tools)
    await kube.installCrds()
    await kube.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: PLACE.namespace } }])
    await kube.apply([organization('acme'), website('first')])
    certificates = await mkdtemp(join(tmpdir(), 'whence-throttle-'))
    caFile = join(certificates, 'ca.pem')
    throttle = await openThrottle(kube, caFile)
    link = await openLink(throttle.port)
    stage = await openStage(kube, `https://127.0.0.1:${link.port}`, caFile)
    tokenFile = join(stage.folder, 'own-token')
    await writeFile(tokenFile, kube.adminToken)
    const address = { url: `https://127.0.0.1:${link.port}`, tokenFile, caFile, userAgent: 'reflector' }
    client = createKubeClient(address, Date.now)
  })

  // One that lived on would count its lists among those of the next test.
  afterEach(() => Promise.all(reflectors.splice(0).map((reflector) => reflector.close())))

  after(async () => {
    client?.close()
    await stage?.stop()
    await link?.close()
    await throttle?.close()
    if (certificates !== undefined) await rm(certificates, { recursive: true, force: true })
    await kube?.stop()
  })

  const metrics = createKubeMetrics(registry)
  const watch = (silenceMs?: number): Reflector => {
    const watching = { client, logger: quiet, metrics, random: Math.random }
    const list = { name: 'websites', path: WEBSITES }
    const reflector = startReflector(watching, list, { onChange: () => undefined }, silenceMs)
    reflectors.push(reflector)
    return reflector
  }
  const names = ({ objects }: Reflector) => [...objects.values()].map(({ metadata }) => metadata.name).sort()
  /** The copy has the same objects in the same versions as the server. */
  const isCopy = async ({ objects }: Reflector): Promise<boolean> => {
    const { items } = await kube.want(WEBSITES)
    const versions = (list: Iterable<any>) =>
      [...list].map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).sort()
    return JSON.stringify(versions(items)) === JSON.stringify(versions(objects.values()))
  }
  const total = async (name: string): Promise<number> => {
    const metric = await registry.getSingleMetric(name)?.get()
    return metric?.values.reduce((sum, { value }) => sum + value, 0) ?? 0
  }

  it('continue where they were after the connection broke, without listing again', async () => {
    const reflector = watch()
    await reflector.synced
    const lists = await total('whence_kube_lists_total')
    link.cut()
    await kube.apply([website('during-cut')])
    link.mend()
    await until('it has what it missed', () => isCopy(reflector))
    expect(names(reflector)).to.include('during-cut')
    expect(await total('whence_kube_lists_total')).to.equal(lists)
  })

  it('notice a connection that has fallen silent', async () => {
    const reflector = watch(1_500)
    await reflector.synced
    link.silence()
    await kube.apply([website('during-silence')])
    await until('it has what it missed', () => isCopy(reflector))
    expect(names(reflector)).to.include('during-silence')
    // The silent connections would else be found out one by one, by requests that wait for their deadline.
    link.cut()
    link.mend()
  })

  it('list again when history is gone, and report what was deleted meanwhile', async () => {
    await kube.apply([website('doomed')])
    const reflector = watch()
    await until('it has all', () => isCopy(reflector))
    const lists = await total('whence_kube_lists_total')
    link.cut()
    await kube.want(`${WEBSITES}/doomed`, { method: 'DELETE' })
    await kube.apply([website('after-doom')])
    await kube.compact()
    await kube.kill()
    await kube.restart()
    link.mend()
    await until('it has what it missed', () => isCopy(reflector))
    expect(names(reflector)).to.include('after-doom').and.not.to.include('doomed')
    expect(await total('whence_kube_lists_total')).to.be.greaterThan(lists)
  })

  it('use a new token when the old one is no longer valid', async () => {
    const account = '/api/v1/namespaces/default/serviceaccounts/watcher'
    const rules = [{ apiGroups: ['whence.dev'], resources: ['websites'], verbs: ['list', 'watch'] }]
    const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'watcher' }
    const subjects = [{ kind: 'ServiceAccount', name: 'watcher', namespace: 'default' }]
    const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'watcher' } }
    await kube.apply([
      { ...rbac, kind: 'ClusterRole', rules },
      { ...rbac, kind: 'ClusterRoleBinding', roleRef: role, subjects },
    ])
    const file = join(stage.folder, 'account-token')
    await writeFile(file, await kube.serviceAccountToken('default', 'watcher'))
    const own = createKubeClient(
      { url: `https://127.0.0.1:${link.port}`, tokenFile: file, caFile, userAgent: 'watcher' },
      Date.now,
    )
    const watching = { client: own, logger: quiet, metrics, random: Math.random }
    const reflector = startReflector(watching, { name: 'expiring', path: WEBSITES }, { onChange: () => undefined })
    reflectors.push(reflector)
    await reflector.synced
    await kube.want(account, { method: 'DELETE' })
    const restarts = async () => {
      const metric = await registry.getSingleMetric('whence_kube_watch_restarts_total')?.get()
      return (metric?.values ?? []).filter(({ labels }) => labels['resource'] === 'expiring')
    }
    // The server accepts a token for some seconds after its account is deleted. It is asked directly, since a watch that
    // is cut again and again waits longer each time.
    const status = (): Promise<number> =>
      own.request({ method: 'GET', path: WEBSITES }).then(
        () => 200,
        (error: unknown) => (error as KubeError).status,
      )
    await until('the server refuses the token', async () => (await status()) === 401)
    link.cut()
    link.mend()
    await until('it is turned away', async () => (await restarts()).some(({ labels }) => labels['status'] === '401'))
    await writeFile(file, await kube.serviceAccountToken('default', 'watcher'))
    await kube.apply([website('after-expiry')])
    await until('it has what it missed', () => isCopy(reflector))
    expect(names(reflector)).to.include('after-expiry')
    await reflector.close()
    own.close()
  })

  it('are authenticated by a kubeconfig, with its token or one that a program fetches', async () => {
    const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' }
    const answer = join(stage.folder, 'credential.json')
    await writeFile(answer, JSON.stringify({ ...credential, status: { token: kube.adminToken } }))
    const byToken = await readFile(kube.kubeconfig, 'utf8')
    const program = { apiVersion: credential.apiVersion, command: 'cat', args: [answer], interactiveMode: 'Never' }
    const byProgram = byToken.replace(/"token":\s*"[^"]*"|token: .*/, (found) =>
      found.startsWith('"') ? `"exec":${JSON.stringify(program)}` : `exec: ${JSON.stringify(program)}`,
    )
    expect(byProgram).not.to.include(kube.adminToken)
    for (const text of [byToken, byProgram]) {
      const file = join(stage.folder, 'kubeconfig')
      await writeFile(file, text)
      const person = clientFor(await readKubeconfig(file), 'person')
      const list = (await person.request({ method: 'GET', path: WEBSITES })) as { kind: string }
      person.close()
      expect(list.kind).to.equal('WebsiteList')
    }
    const stranger = clientFor(await readKubeconfig(await kube.kubeconfigFor('no token')), 'stranger')
    const refused: unknown = await stranger.request({ method: 'GET', path: WEBSITES }).catch((error: unknown) => error)
    stranger.close()
    expect(refused).to.include({ name: 'KubeError', status: 401 })
    const missing: unknown = await readKubeconfig('/nowhere').catch((error: unknown) => error)
    expect(String(missing)).to.equal('Error: the kubeconfig /nowhere cannot be read')
  })

  describe('of operators and readers', () => {
    let catalog: CatalogSource
    let first: StartedOperator

    const isReady = async (name: string): Promise<boolean> => {
      const { status } = await kube.want(`${WEBSITES}/${name}`)
      return status?.conditions?.some((each: any) => each.type === 'Ready' && each.status === 'True') === true
    }
    /** As in a cluster, an operator that lost its Lease is started again. Ended by what it gives back. */
    const reviveOperator = (): (() => void) => {
      const timer = setInterval(() => {
        if (!first.isLost()) return
        void first.close()
        first = stage.operator('operator-a')
      }, 100)
      return () => clearInterval(timer)
    }

    before(async () => {
      first = stage.operator('operator-a')
      catalog = await stage.catalog(null, join(stage.folder, 'kept'))
      await until('it is in force', () => catalog.current().websites.has('first'))
    })

    it('survive that the API server is killed: nothing goes out of force, and a reader starts from the disk', async () => {
      const seen: number[] = []
      const looking = setInterval(() => seen.push(catalog.current().websites.size), 20)
      const { version } = catalog.current()
      await until('the copy on the disk is there', async () => {
        const kept = await readFile(join(stage.folder, 'kept', 'catalog-whence-whence.json'), 'utf8').catch(() => '')
        return kept.includes(version)
      })
      await kube.kill()
      const reader = await stage.catalog(null, join(stage.folder, 'kept'))
      expect(reader.current().version).to.equal(version)
      expect(reader.current().websites.get('first')?.origins.has('https://first.example')).to.equal(true)
      await kube.restart()
      await kube.apply([website('after-kill')])
      for (const each of [catalog, reader]) {
        await until('it follows again', () => each.current().websites.has('after-kill'))
        const { items } = await kube.want(WEBSITES)
        const wanted = items.map(({ metadata }: any) => metadata.name as string)
        expect([...each.current().websites.keys()]).to.have.members(wanted)
      }
      clearInterval(looking)
      expect(seen.every((size, index) => size >= (seen[index - 1] ?? 0))).to.equal(true)
    })

    it('wait as long as a throttling server asks them to, and continue where they were', async () => {
      const reflector = watch()
      await until('it has all', () => isCopy(reflector))
      const lists = await total('whence_kube_lists_total')
      const stopReviving = reviveOperator()
      throttle.storm(true)
      link.cut()
      link.mend()
      await kube.apply([website('during-storm')])
      const before = throttle.refused()
      await until('many were refused', () => throttle.refused() >= before + 20)
      expect(names(reflector)).not.to.include('during-storm')
      expect(catalog.current().websites.has('first')).to.equal(true)
      throttle.storm(false)
      await until('it has what it missed', () => isCopy(reflector))
      await until('it is in force', () => catalog.current().websites.has('during-storm'))
      await until('its status says so', () => isReady('during-storm'))
      stopReviving()
      expect(await total('whence_kube_lists_total')).to.equal(lists)
      const refusals = (await registry.getSingleMetric('whence_kube_watch_restarts_total')?.get())?.values ?? []
      expect(refusals.find(({ labels }) => labels['status'] === '429')?.value).to.be.greaterThan(0)
    })

    it(`survive that the API server hangs for ${STOP_MS / 1_000} s: pods keep working, even new ones, and nothing is missed`, async () => {
      const reflector = watch()
      await until('it has all', () => isCopy(reflector))
      const seen: boolean[] = []
      const looking = setInterval(() => seen.push(catalog.current().websites.has('first')), 20)
      const stopReviving = reviveOperator()
      await kube.apply([website('just-before')])
      kube.pause()
      const { version } = catalog.current()
      const newcomer = await stage.catalog(null, join(stage.folder, 'kept'))
      expect(newcomer.current().websites.has('first')).to.equal(true)
      await new Promise((resolve) => setTimeout(resolve, STOP_MS - 3_000))
      expect(catalog.current().version).to.equal(version)
      kube.resume()
      await until('the server answers', async () => (await kube.call('/readyz').catch(() => null))?.status === 200)
      await kube.apply([website('just-after')])
      for (const name of ['just-before', 'just-after']) {
        await until(`${name} is ready`, () => isReady(name))
        for (const each of [catalog, newcomer])
          await until(`pods have ${name}`, () => each.current().websites.has(name))
      }
      await until('the copy is what etcd holds', () => isCopy(reflector))
      clearInterval(looking)
      stopReviving()
      expect(seen.length).to.be.greaterThan(10)
      expect(seen).not.to.include(false)
    })

    it('have one leader: an operator that loses the lease stops writing, and another takes over', async () => {
      const holder = async (): Promise<string> => (await kube.want(LEASE)).spec.holderIdentity
      const second = stage.operator('operator-b')
      await until('the second one has looked', async () =>
        (await kube.audit()).some(
          ({ userAgent, objectRef }) => userAgent === 'operator-b' && objectRef?.resource === 'leases',
        ),
      )
      expect(second.isLeading()).to.equal(false)
      expect(await holder()).to.equal('operator-a')
      // A stolen lease: the leader stops by itself, and the other one waits for its end.
      const stolen = await kube.want(LEASE)
      await kube.want(LEASE, {
        method: 'PUT',
        body: { ...stolen, spec: { ...stolen.spec, holderIdentity: 'thief', leaseDurationSeconds: 1 } },
      })
      await until('the second one leads', () => second.isLeading())
      await kube.apply([website('under-b')])
      await until('it is in force', () => catalog.current().websites.has('under-b'))
      const writers = (await kube.audit())
        .filter(({ objectRef, verb }) => objectRef?.resource === 'configmaps' && verb === 'patch')
        .map(({ userAgent }) => userAgent)
      expect(writers.at(-1)).to.equal('operator-b')
      expect(first.isLost()).to.equal(true)
      expect(first.isLeading()).to.equal(false)
      await second.close()
    })

    it('stop in time while the API server and the facts hang, even as leader and in the middle of work', async () => {
      let asked = 0
      const hang = (): Promise<never> => {
        asked += 1
        return new Promise(() => undefined)
      }
      const last = stage.operator('operator-c', { traffic: hang, destinationStates: hang, streamStates: hang })
      await until('it leads and reads figures', () => last.isLeading() && asked > 0)
      kube.pause()
      try {
        // It tidies five times a second, and waits for that by now.
        await new Promise((resolve) => setTimeout(resolve, 500))
        expect(await endedWithin(last.close(), STOP_DEADLINE_MS)).to.equal(true)
      } finally {
        kube.resume()
      }
    })
  })
})
