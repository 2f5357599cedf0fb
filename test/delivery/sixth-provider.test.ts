/** What another provider costs: its file, its line and its golden request. This one lives in this test alone. */

import { expect } from 'chai'
import { existsSync, readFileSync } from 'node:fs'

import { PROVIDER_DESCRIPTORS, PROVIDER_IDS } from '../../domain/providers/index.ts'
import { httpOutcome } from '../../delivery/providers/http-outcome.ts'
import type { Provider } from '../../delivery/providers/provider.ts'
import { listDeadLetters, replayDeadLetters } from '../../delivery/tools/replay.ts'
import { sendTest } from '../../delivery/tools/send-test.ts'
import { PROVIDERS } from '../../delivery/providers/index.ts'
import { startStandIn, type StandInServer } from '../../stand-ins/server.ts'
import { adJob } from '../../fixtures/delivery/ad-install.ts'
import { AdStage } from './support/ad-stage.ts'
import { PRODUCT_FOLDERS, sourceFiles } from '../tidy/source-files.ts'
import { built, contextOf } from './support/ad-provider.contract.ts'
import { destinationOf, NOON_MS } from '../../fixtures/delivery/builders.ts'
import { FactsDouble } from '../../fixtures/delivery/facts-double.ts'
import { TestClock, until } from '../../fixtures/delivery/harness.ts'

/** Comments name providers as examples. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*(?:\/\/|#).*$/gm, '')
}

/** Start of the file. It borrows the name of X, as names are in a table of the domain. */
const sixth: Provider = {
  id: 'x',
  request(job, { settings, secrets }) {
    const clickId = job.visit.identities.x?.twclid
    if (clickId === undefined) return { kind: 'skip', reason: 'no_identifier' }
    return {
      method: 'POST',
      path: '/installs',
      query: { board: String(settings['board']) },
      headers: { 'content-type': 'application/json', 'x-key': secrets['pixelToken'] ?? '' },
      body: JSON.stringify({ id: job.jobId, click: clickId, at: job.install.receivedAtMs }),
      sessionMode: job.sessionMode,
      detail: 'click ID',
      secrets: [secrets['pixelToken'] ?? '', clickId],
    }
  },
  testIdentities: () => ({ x: { twclid: 'send-test' } }),
  outcome: (reply) => (reply.status === 202 ? { kind: 'delivered', code: 'taken' } : httpOutcome(reply)),
}
/** End of the file. */

const destination = destinationOf({ id: 'acme-sixth', provider: 'x', settings: { board: 'b1' } })
const secrets = { pixelToken: 'canary-key' }

describe('a sixth provider', () => {
  let standIn: StandInServer
  let stage: AdStage
  let clock: TestClock

  beforeEach(async () => {
    clock = new TestClock()
    standIn = await startStandIn({ port: 0 }, ({ method, url }) =>
      method === 'POST' && url.pathname === '/installs' ? { key: 'b1', messages: [], status: 202, body: {} } : null,
    )
    stage = await AdStage.set({ provider: sixth, destination, secrets, baseUrl: standIn.url, clock })
  })
  afterEach(async () => {
    await stage.strike()
    await standIn.close()
  })

  it('has its golden request', () => {
    const { body, ...request } = built(sixth, adJob(destination), contextOf(destination, secrets))
    expect(JSON.parse(body)).to.deep.equal({ id: adJob(destination).jobId, click: 'canarytwclid', at: NOON_MS })
    expect(request).to.include({ path: '/installs', detail: 'click ID' })
  })

  it('gets claims, retries, pauses, records and redaction without another line', async () => {
    standIn.fail('b1', { kind: 'status', status: 500 })
    await stage.enqueue(adJob(destination))
    expect((await stage.recorded(1))[0]).to.include({ status: 'retrying', reason: 'attempt_failed' })
    standIn.fail('b1', { kind: 'status', status: 401 })
    clock.advance(5_001)
    expect((await stage.recorded(2))[1]).to.include({ reason: 'credentials_refused' })
    standIn.fail('b1', null)
    stage.setup.secrets = { pixelToken: 'canary-other' }
    clock.advance(30_001)
    await until(async () => (await stage.records()).at(-1)?.status === 'delivered')
    expect(JSON.stringify(await stage.records())).not.to.contain('canary')
    expect(await stage.activityTypes()).to.deep.equal(['destination_paused', 'destination_resumed'])
  })

  it('needs no change elsewhere in delivery: no file but the index and its own names a provider', () => {
    const files = sourceFiles(['delivery'], ['.ts']).filter(({ path }) => !path.startsWith('delivery/providers/'))
    const parts = ['worker/worker.ts', 'worker/job-runner.ts', 'exchange/exchange.ts', 'dispatch/dispatch.ts']
    expect(files.map(({ path }) => path)).to.include.members(parts.map((path) => `delivery/${path}`))
    const names = new RegExp(`['".\\[](?:${PROVIDER_IDS.join('|')})['"\\]]`)
    const naming = files.filter(({ text }) => names.test(text)).map(({ path }) => path)
    expect(naming).to.deep.equal([])
  })

  it('is tried by send-test, and its dead letters are listed and replayed, without another line', async () => {
    const goal = { destination, secrets, isLive: true, origin: 'https://acme.dev' }
    const access = { provider: sixth, baseUrl: standIn.url, tokenUrl: standIn.url }
    expect(await sendTest(access, goal, clock.nowMs)).to.include({
      verdict: 'passed',
      code: 'taken',
      responseStatus: 202,
    })
    standIn.fail('b1', { kind: 'status', status: 400 })
    const job = adJob(destination)
    await stage.enqueue(job)
    await until(async () => (await listDeadLetters(stage.eventLog)).letters.length === 1)
    standIn.fail('b1', null)
    const facts = new FactsDouble()
    const { website, install } = job
    facts.deliveries.push({
      install_received_at_ms: 0,
      organization: 'acme',
      website,
      event_id: install.eventId,
      destination: destination.id,
      status: 'failed',
    })
    const replay = { eventLog: stage.eventLog, facts, nowMs: clock.nowMs }
    expect(await replayDeadLetters(replay, { destination: destination.id })).to.include({ replayed: 1 })
    await until(async () => (await stage.records()).at(-1)?.status === 'delivered')
    const ids = standIn.requests().map(({ body }) => (body as { id: string }).id)
    expect(ids.slice(1)).to.deep.equal([job.jobId, job.jobId])
  })

  it('needs no line in a file that its page does not name, and the page names no file that is not there', () => {
    const page = readFileSync(new URL('../../docs/add-a-provider.md', import.meta.url), 'utf8')
    const naming = sourceFiles(PRODUCT_FOLDERS, ['.ts', '.sh']).filter(({ text }) =>
      /tiktok/i.test(withoutComments(text)),
    )
    expect(naming.map(({ path }) => path)).to.have.members([
      'domain/providers/tiktok.ts',
      'domain/providers/index.ts',
      'delivery/providers/tiktok.ts',
      'delivery/providers/index.ts',
      'stand-ins/tiktok.ts',
      'stand-ins/index.ts',
      'sdk/readers/tiktok.ts',
      'sdk/readers/index.ts',
    ])
    const named = naming.map(({ path }) => path.replace('tiktok', '<provider>'))
    expect(named.filter((path) => !page.includes(`\`${path}\``))).to.deep.equal([])
    for (const [, path = ''] of page.matchAll(
      /`((?:domain|delivery|bin|sdk|runtime|stand-ins|test)\/[a-z0-9/.-]+\.ts)`/g,
    )) {
      expect(existsSync(new URL(`../../${path}`, import.meta.url)), path).to.equal(true)
    }
  })

  it('is found by its ID, as each of the others is', () => {
    expect(Object.keys(PROVIDERS)).to.have.members([...PROVIDER_IDS])
    for (const id of PROVIDER_IDS) expect([PROVIDERS[id].id, PROVIDER_DESCRIPTORS[id].id]).to.deep.equal([id, id])
  })
})
