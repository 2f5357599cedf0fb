/** What the dashboard says of a set-up: what was refused, why the newest install has no visit, and what the source of a page lacks. */

import { expect } from 'chai'

import type { FetchPage } from '../../dashboard/set-up/page-check.ts'
import { fetchPublicPage } from '../../delivery/outbound/page.ts'
import { REPLAY_RULES } from '../../domain/limits.ts'
import { testCertificate } from '../../fixtures/engines/certificate.ts'
import { until } from '../../fixtures/until.ts'
import { installRecord, request, requestRecord, store, visitRecord } from '../contract/fact-samples.ts'
import { TlsServer } from '../delivery/support/tls-server.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { organizationOf, startStage, websiteOf, type Stage, type Told } from './support/stage.ts'

const MEMBERS = { 'anna@acme.dev': 'Member', 'vera@acme.dev': 'Viewer' } as const
const MANIFESTS = [
  organizationOf('acme', { members: MEMBERS }) + websiteOf('site', 'acme'),
  organizationOf('other', { members: { 'dora@other.dev': 'Owner' } }) + websiteOf('theirs', 'other'),
].join('---\n')

describe('what is wrong with a set-up', function () {
  this.timeout(60_000)
  let facts: TestFacts
  let stage: Stage
  before(async () => {
    facts = await openTestFacts()
    stage = await startStage({ manifests: MANIFESTS, facts })
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  const read = async (email: string, website = 'site'): Promise<Told> =>
    stage.ask('GET', `/api/organizations/acme/set-up?website=${website}`, { cookies: await stage.signIn(email) })
  const about = (more: Parameters<typeof request>[0]) =>
    request({ organization: 'acme', website: 'site', receivedAtMs: Date.now(), ...more })

  it('is named from requests that were refused and from the newest install, and the times of what came are told', async () => {
    const wrong = { path: '/v1/visits', status: 403, code: 'origin_not_allowed', origin: 'https://www.site.example' }
    const lost = {
      method: 'GET',
      path: '/v1/projects/site/paths/clii/report.sh',
      status: 404,
      code: 'install_path_not_found',
    }
    await store(facts, [
      requestRecord(about(wrong)),
      requestRecord(about({ ...lost, origin: '' })),
      requestRecord({ ...wrong, organization: 'other', website: 'theirs', receivedAtMs: Date.now() }),
      { ...visitRecord({ organization: 'acme', website: 'site', issuedAtMs: Date.now() }), request: about({}) },
    ])
    const install = {
      organization: 'acme',
      website: 'site',
      resolution: 'unmatched',
      receivedAtMs: Date.now(),
    } as const
    await storeCounted(
      facts,
      [installRecord({ ...install, verdicts: [{ visitId: null, issuedAtMs: null, verdict: 'expired' }] })],
      Date.now,
    )
    const { body, status } = await read('vera@acme.dev')
    expect(status).to.equal(200)
    expect(body['plan']).to.equal('Enterprise')
    expect(
      body['troubles'].map(({ step, trouble, origin }: Record<string, unknown>) => [step, trouble, origin]),
    ).to.have.deep.members([
      ['visit_seen', 'origin_not_registered', 'https://www.site.example'],
      ['hook_reached', 'path_unknown', null],
      ['install_matched', 'old_marker', null],
    ])
    expect(body['seen']['visit']).to.be.closeTo(Date.now(), 60_000)
    expect(body['seen']['handoff']).to.equal(null)
  })

  it('is not told of websites of others', async () => {
    expect((await read('vera@acme.dev', 'theirs')).status).to.equal(404)
  })
})

describe('the check of a page', function () {
  this.timeout(60_000)
  const SECRET_TEXT = 'only for eyes of visitors'
  const TAG = '<script async src="BASE/browser.js" data-project="site"></script>'
  let server: TlsServer
  let stage: Stage
  let answerWith: { readonly status?: number; readonly headers?: Record<string, string>; readonly html?: string }
  let fetchPage: FetchPage
  before(async () => {
    server = new TlsServer(testCertificate(['site.example'], []), (_request, _body, response) => {
      const { status = 200, headers = {}, html = '' } = answerWith
      response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(html)
    })
    await server.listen()
    fetchPage = (url, callMs) => fetchPublicPage(url, server.outbound({ callMs }))
    stage = await startStage({ manifests: MANIFESTS, fetchPage: (url, callMs) => fetchPage(url, callMs) })
  })
  after(async () => {
    await stage?.stop()
    await server?.close()
  })
  beforeEach(() => {
    answerWith = {}
    fetchPage = (url, callMs) => fetchPublicPage(url, server.outbound({ callMs }))
  })

  async function check(url: string, email = 'anna@acme.dev', website = 'site'): Promise<Told> {
    const cookies = await stage.signIn(email)
    return stage.ask('POST', `/api/organizations/acme/websites/${website}/page-checks`, { cookies, body: { url } })
  }
  const page = (body = '') => `<!doctype html><head>${TAG.replace('BASE', stage.url)}</head>${SECRET_TEXT}${body}`
  const MARKED = '<pre data-whence-command>curl</pre>'

  it('says what the source lacks, and passes nothing of the page on', async () => {
    answerWith = { html: page(MARKED) }
    expect((await check('https://site.example/install')).body).to.deep.equal({
      failure: null,
      status: 200,
      findings: ['fine'],
    })
    answerWith = { html: page(), headers: { 'content-security-policy': "default-src 'self'" } }
    const told = await check('https://site.example/install')
    expect(told.body['findings']).to.deep.equal(['policy_script', 'no_command'])
    expect(told.text).to.not.include(SECRET_TEXT)
  })

  it('reads a page that is too large as far as its head reaches', async () => {
    answerWith = { html: page(MARKED) + 'x'.repeat(300_000) }
    expect((await check('https://site.example/')).body['findings']).to.deep.equal(['fine'])
  })

  it('follows redirects within the website, and no others', async () => {
    answerWith = { status: 302, headers: { location: 'https://elsewhere.example/' } }
    const dialled = server.dialled
    expect((await check('https://site.example/')).body).to.deep.include({ failure: 'leads_away', status: 302 })
    expect(server.dialled).to.equal(dialled + 1)
    answerWith = { status: 302, headers: { location: '/again' } }
    expect((await check('https://site.example/')).body).to.deep.include({ failure: 'leads_away' })
  })

  it('names what keeps the page from being read', async () => {
    answerWith = { status: 404 }
    expect((await check('https://site.example/')).body).to.deep.include({ failure: 'not_found', status: 404 })
    answerWith = { status: 403 }
    expect((await check('https://site.example/')).body).to.deep.include({ failure: 'refused', status: 403 })
    answerWith = { headers: { 'content-type': 'application/pdf' } }
    expect((await check('https://site.example/')).body).to.deep.include({ failure: 'not_readable' })
    fetchPage = (url, callMs) => fetchPublicPage(url, server.outbound({ callMs, resolve: async () => ['10.0.0.7'] }))
    expect((await check('https://site.example/')).body).to.deep.include({ failure: 'not_public', status: null })
  })

  it('opens no address but those of the website', async () => {
    const { dialled } = server
    for (const url of [
      'https://elsewhere.example/',
      'http://site.example/',
      'https://site.example:8443/',
      'file:///etc/passwd',
      'x',
    ])
      expect((await check(url)).body, url).to.deep.include({ failure: 'not_registered' })
    expect(server.dialled).to.equal(dialled)
  })

  it('is refused to who only reads, and for websites of others', async () => {
    expect((await check('https://site.example/', 'vera@acme.dev')).status).to.equal(403)
    expect((await check('https://theirs.example/', 'anna@acme.dev', 'theirs')).status).to.equal(404)
  })

  it('waits for one page at a time for an organisation', async () => {
    let release = (): void => undefined
    let isAsked = false
    fetchPage = async () => {
      isAsked = true
      await new Promise<void>((resolve) => (release = resolve))
      return { status: 404, headers: {}, body: '', failure: '' }
    }
    const first = check('https://site.example/')
    const cookies = await stage.signIn('anna@acme.dev')
    await until(() => isAsked)
    const busy = await stage.ask('POST', '/api/organizations/acme/websites/site/page-checks', {
      cookies,
      body: { url: 'https://site.example/' },
    })
    expect(busy.status).to.equal(503)
    release()
    expect((await first).body['failure']).to.equal('not_found')
  })

  it(`is done ${REPLAY_RULES.page_checks.limit} times an hour for an organisation, and no more`, async () => {
    answerWith = { html: page() }
    const cookies = await stage.signIn('anna@acme.dev')
    const statuses: number[] = []
    for (let index = 0; index <= REPLAY_RULES.page_checks.limit; index += 1) {
      // Each address has a window of its own for what it writes.
      const { status } = await stage.ask('POST', '/api/organizations/acme/websites/site/page-checks', {
        cookies,
        body: { url: 'https://site.example/' },
        address: `198.51.100.${index}`,
      })
      statuses.push(status)
    }
    expect(statuses.at(-1)).to.equal(429)
  })
})
