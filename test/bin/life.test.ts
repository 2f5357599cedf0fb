/** The life of the service as a process: it starts quickly, takes changes while it runs, and ends without losing anything. */

import { expect } from 'chai'
import { cp, mkdtemp, readFile, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../../fixtures/until.ts'
import { startGa4StandIn, type Ga4StandIn } from '../../stand-ins/ga4.ts'
import { startChild, type ServiceChild } from '../crash/service.child.ts'
import { brokenPromises } from '../crash/service.history.ts'
import { Clients } from '../crash/service.load.ts'
import { LOAD_MANIFESTS, LOAD_WEBSITES } from '../crash/service.manifests.ts'
import { readStored, settle } from '../crash/service.stored.ts'
import { eventBody, post, send } from '../../fixtures/service/requests.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { startTestService } from '../../fixtures/service/service.ts'

const QUICKSTART = new URL('../../examples/quickstart', import.meta.url).pathname

describe('the life of the service', function () {
  this.timeout(180_000)
  let folder: string
  let ga4: Ga4StandIn
  let child: ServiceChild | undefined

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-life-'))
    await cp(QUICKSTART, join(folder, 'manifests'), { recursive: true })
    ga4 = await startGa4StandIn({ port: 0, keep: 100_000 })
  })
  afterEach(async () => {
    child?.kill('SIGKILL')
    await child?.ended
    await ga4.close()
    await rm(folder, { recursive: true, force: true })
  })

  const begin = async (
    options: {
      readonly words?: readonly string[]
      readonly env?: Record<string, string>
      readonly metricsPort?: number
    } = {},
  ) => startChild({ folder, port: await freePort(), ga4Url: ga4.url, ...options })
  const beginReady = async (): Promise<ServiceChild> => {
    child = await begin()
    await child.ready
    return child
  }

  it('answers its first request soon after its start', async () => {
    const beganMs = performance.now()
    child = await begin()
    const health = await until(() => send(`${child?.url}/health`).catch(() => null))
    console.log(`        first answer after ${Math.round(performance.now() - beganMs)} ms`)
    expect(health.body).to.include({ ok: true, ga_mode: 'live', delivery: 'live' })
  })

  it("lets the threads that help V8 give way to the requests' thread", async function () {
    if (process.platform !== 'linux') this.skip()
    const { pid } = await beginReady()
    const names = new Set<string>()
    for (const thread of await readdir(`/proc/${pid}/task`)) {
      const name = (await readFile(`/proc/${pid}/task/${thread}/comm`, 'utf8')).trim()
      if (name.startsWith('V8Worker')) expect(getPriority(Number(thread)), name).to.equal(getPriority() + 10)
      if (thread === `${pid}`) expect(getPriority(pid), name).to.equal(getPriority())
      names.add(name)
    }
    expect([...names].filter((name) => name.startsWith('V8Worker'))).not.to.deep.equal([])
  })

  it('finishes on SIGTERM what it has accepted, and has it all after the next start', async () => {
    await writeFile(join(folder, 'manifests', 'load.yaml'), LOAD_MANIFESTS)
    const { url, kill, ended } = await beginReady()
    const clients = new Clients()
    const load = clients.start({ url, websites: LOAD_WEBSITES, clients: 16 })
    await until(() => clients.operations.length > 100)
    kill('SIGTERM')
    await load.stop()
    expect(await ended).to.deep.equal({ status: 0, signal: null })
    const cutOff = clients.operations.filter(({ outcome }) => outcome === 'unknown')
    expect(cutOff.map(({ kind, status }) => `${kind} ${status}`)).to.deep.equal([])

    const service = await startTestService({ folder, env: { WHENCE_GA4_URL: ga4.url }, manifests: {} })
    await settle(service)
    const stored = await readStored(service.facts, ga4, clients.operations)
    await service.stop()
    expect(brokenPromises(clients.operations, stored)).to.deep.equal([])
  })

  it('shows no client address in the debugging output of its libraries', async () => {
    const { url, stderr, ready } = (child = await begin({ env: { DEBUG: '*' } }))
    await ready
    await send(`${url}/v1/visits`, { method: 'POST', headers: { 'X-Forwarded-For': '203.0.113.77' } })
    await until(() => stderr().includes('express-rate-limit computed key'))
    expect(stderr()).to.contain('request from ip undefined').and.not.contain('203.0.113.77')
  })

  it('refuses a second process on the same data, and lets the first continue', async () => {
    const first = await beginReady()
    const second = await begin()
    const { status } = await second.ended
    expect(status).to.equal(1)
    expect(second.stderr()).to.match(new RegExp(`data/lmdb is in use by process ${first.pid}\\b`))
    expect((await send(`${first.url}/health`)).body).to.include({ ok: true })
  })

  it('refuses an address that is in use, and names it', async () => {
    const first = await beginReady()
    const second = startChild({
      folder: await otherFolder(folder),
      port: Number(new URL(first.url).port),
      ga4Url: ga4.url,
    })
    expect((await second.ended).status).to.equal(1)
    expect(second.stderr()).to.include(`${new URL(first.url).host} is taken by another program; --listen`)
  })

  it('reports all wrong settings at once, by name', async () => {
    const words = ['--brand', 'No Brand', '--lisen', '127.0.0.1:1']
    const env = { WHENCE_TRUST_PROXY: 'everybody', WHENCE_PRICES: '{', WHENCE_LOG_LEVL: 'info' }
    const refused = await begin({ words, env })
    expect((await refused.ended).status).to.equal(2)
    const text = refused.stderr()
    for (const name of ['--brand', '--lisen', 'WHENCE_TRUST_PROXY', 'WHENCE_PRICES', 'WHENCE_LOG_LEVL']) {
      expect(text).to.include(name)
    }
    expect(text).to.include('did you mean --listen?').and.to.include('did you mean WHENCE_LOG_LEVEL?')
    expect(text).to.not.include('everybody')
  })

  it('does not start with manifests that are wrong, and says where and why', async () => {
    await edit('1-organization.yaml', (text) => text.replace('plan: Enterprise', 'plan: Enterprize'))
    const refused = await begin()
    expect((await refused.ended).status).to.equal(1)
    expect(refused.stderr()).to.match(
      /1-organization\.yaml, document 1, line \d+: Organization\/acme: spec\.plan: .*Enterprise/,
    )
  })

  it('puts a saved manifest into force while it runs', async () => {
    const { url } = await beginReady()
    const configOf = () => send(`${url}/v1/projects/acme-dev/browser-config`)
    expect((await configOf()).body['measurementIds']).to.deep.equal(['G-EXAMPLE001'])
    await edit('3-ga4.yaml', (text) => text.replace('G-EXAMPLE001', 'G-CHANGED001'))
    await until(async () => (await configOf()).body['measurementIds'][0] === 'G-CHANGED001')
  })

  it('changes nothing for a broken manifest, says so on the terminal and in /status, and recovers', async () => {
    const metricsPort = await freePort()
    const { url, stderr, ready } = (child = await begin({ metricsPort }))
    await ready
    const problemsOf = async () => (await send(`http://127.0.0.1:${metricsPort}/status`)).body['catalog'].problems
    expect(await problemsOf()).to.deep.equal([])
    await edit('3-ga4.yaml', (text) => text.replace('provider: ga4', 'provider: ga5'))
    const [problem] = await until(async () => ((await problemsOf()).length > 0 ? problemsOf() : null))
    expect(problem).to.include({ object: 'Destination/acme-ga4', field: '/spec/provider' })
    expect(problem.source).to.match(/^3-ga4\.yaml, document 2, line \d+$/)
    expect(problem.message).to.include('ga5')
    for (const words of ['Destination/acme-ga4', '3-ga4.yaml', '/spec/provider', 'ga5'])
      expect(stderr()).to.include(words)
    expect((await send(`${url}/v1/projects/acme-dev/browser-config`)).body['measurementIds']).to.deep.equal([
      'G-EXAMPLE001',
    ])
    expect((await post(`${url}/v1/events`, eventBody())).status).to.equal(200)
    await edit('3-ga4.yaml', (text) => text.replace('provider: ga5', 'provider: ga4'))
    await until(async () => (await problemsOf()).length === 0)
  })

  it('ignores a file that is empty for a moment, but not one that stays empty', async () => {
    const { url } = await beginReady()
    const path = join(folder, 'manifests', '3-ga4.yaml')
    const text = await readFile(path, 'utf8')
    const idsOf = async () => (await send(`${url}/v1/projects/acme-dev/browser-config`)).body['measurementIds']
    await truncate(path)
    await wait(300)
    await writeFile(path, text.replace('G-EXAMPLE001', 'G-CHANGED001'))
    const seen = new Set<string>()
    await until(async () => {
      const ids = await idsOf()
      seen.add(ids.join())
      return ids[0] === 'G-CHANGED001'
    })
    expect([...seen]).to.not.include('')
    await truncate(path)
    await until(async () => (await idsOf()).length === 0)
  })

  async function edit(name: string, change: (text: string) => string): Promise<void> {
    const path = join(folder, 'manifests', name)
    await writeFile(path, change(await readFile(path, 'utf8')))
  }
})

async function otherFolder(folder: string): Promise<string> {
  const other = join(folder, 'other')
  await cp(join(folder, 'manifests'), join(other, 'manifests'), { recursive: true })
  return other
}
