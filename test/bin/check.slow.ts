/** `whencectl check` as people run it, against a running service and a page of a website. */

import { expect } from 'chai'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { MANIFESTS, startTestService, type TestService } from '../../fixtures/service/service.ts'
import { whencectl, type Ran } from './support/run-whencectl.ts'

const ACME = (MANIFESTS['acme.yaml'] ?? '').replace('plan: Standard', 'plan: Enterprise')

describe('whencectl check', function () {
  this.timeout(120_000)
  let service: TestService
  let site: Server
  let origin: string
  const pages = new Map<string, { readonly html: string; readonly policy?: string }>()
  /** Other origins of the website `many`. */
  const others: Server[] = []
  const originOf = (server: Server) => `http://localhost:${(server.address() as AddressInfo).port}`
  const manyTag = (attributes = '') =>
    `<script async src="${service.url}/browser.js" data-project="many" ${attributes}></script>`
  const HASH_ROUTER = `<script>if (!/^#\\//.test(location.hash)) history.replaceState(null, '', '#/' + location.hash.slice(1))</script>`
  const QUERY_SELECTOR = `<script>if (location.hash) document.querySelector(location.hash)</script>`

  async function startOthers(): Promise<void> {
    const answers: ((url: string) => readonly [number, Record<string, string>, string])[] = [
      () => [200, {}, manyTag()],
      (url) => [url.includes('_whence') ? 403 : 200, {}, manyTag()],
      (url) => (url.startsWith('/en/') ? [200, {}, manyTag()] : [302, { location: '/en/' }, '']),
      () => [200, {}, HASH_ROUTER + manyTag()],
      () => [200, {}, QUERY_SELECTOR + manyTag()],
      () => [200, {}, 'no script'],
      () => [302, { location: 'http://127.0.0.1:1/' }, ''],
    ]
    for (const answer of answers) {
      const server = createServer((request, response) => {
        const [status, headers, body] = answer(request.url ?? '')
        response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body)
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      others.push(server)
    }
  }
  const sites = () =>
    [
      { name: 'one', domains: [] },
      { name: 'many', domains: others.map(originOf) },
      { name: 'apart', domains: others.map(originOf), more: ', crossOrigin: Disabled' },
    ]
      .map(
        ({ name, domains, more = '' }) => `
apiVersion: whence.dev/v1alpha1
kind: Website
metadata: { name: ${name} }
spec: { organizationRef: { name: acme }, primaryOrigin: '${origin}', additionalDomains: ${JSON.stringify(domains)}${more} }
`,
      )
      .join('---')

  before(async () => {
    site = createServer((request, response) => {
      const page = pages.get(request.url ?? '')
      const policy = page?.policy === undefined ? {} : { 'content-security-policy': page.policy }
      response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html', ...policy }).end(page?.html)
    }).listen(0, '127.0.0.1')
    await once(site, 'listening')
    origin = `http://localhost:${(site.address() as AddressInfo).port}`
    await startOthers()
    service = await startTestService({
      manifests: { 'acme.yaml': ACME, 'sites.yaml': sites() },
    })
    const tag = (project: string) => `<script async src="${service.url}/browser.js" data-project="${project}"></script>`
    pages.set('/good', { html: `${tag('one')}<pre data-whence-command>curl x | sh</pre>` })
    const named = tag('one').replace('async', 'async data-commands="main pre, .install"')
    pages.set('/named', { html: `${named}<main><pre>curl x | sh</pre></main><p class="install">curl x | sh</p>` })
    pages.set('/unmarked', { html: `${tag('one')}<pre>curl x | sh</pre>` })
    pages.set('/typo', { html: tag('acme-de') })
    pages.set('/many', { html: `${manyTag()}<pre data-whence-command>curl x | sh</pre>` })
    pages.set('/query', { html: manyTag('data-carry="query"') })
    pages.set('/apart', { html: tag('apart') })
    pages.set('/nameless', { html: `<script src=${service.url}/browser.js></script>` })
    pages.set('/bare', { html: '<p>no script' })
    pages.set('/consent', { html: tag('one').replace('async', 'async data-consent="required"') })
    pages.set('/policy', { html: tag('one'), policy: `script-src ${service.url}; connect-src 'self'` })
  })
  after(async () => {
    await service?.stop()
    for (const server of [site, ...others]) {
      server?.closeAllConnections()
      server?.close()
    }
  })

  const check = (path: string, ...words: readonly string[]): Promise<Ran> =>
    whencectl(['check', origin + path, ...words])

  it('reports no problem for a page that is set up correctly', async () => {
    const { stdout, status } = await check('/good')
    for (const words of [
      'The script tag names the website "one"',
      'The service knows the website',
      `${origin} is registered for the website`,
      '/v1/projects/one/report.sh',
      'No Content Security Policy interferes',
      'A visit was recorded',
      'receipt is active',
      '1 install command is marked',
      'No problems found.',
    ])
      expect(stdout).to.include(words)
    expect(stdout).not.to.match(/PROBLEM|skipped/)
    expect(status).to.equal(0)
  })

  it('knows install commands that the script tag names, and says if there is none', async () => {
    expect((await check('/named')).stdout).to.include('2 install commands are marked')
    expect((await check('/unmarked')).stdout).to.match(/skipped .*data-whence-command or named by data-commands/)
  })

  it('skips what needs a browser if there is none, and lists it', async () => {
    const without = await whencectl(['check', `${origin}/good`], { CHROMIUM: '/nowhere/chromium' })
    expect(without.stdout).to.match(/skipped .*because there is no Chromium: whether a Content Security Policy/)
    expect(without.status).to.equal(0)
    const left = await check('/good', '--no-browser')
    expect(left.stdout).to.match(/skipped .*Not checked/)
  })

  const MISTAKES: [string, readonly string[], RegExp][] = [
    ['/typo', [], /PROBLEM .*no website "acme-de".*Website resource/],
    ['/nameless', [], /PROBLEM .*no data-project/],
    ['/bare', [], /PROBLEM .*no script tag of the SDK/],
    ['/missing', [], /PROBLEM .*status 404/],
    ['/good', ['--path', 'nowhere'], /PROBLEM .*paths\/nowhere\/report\.sh is not there/],
    ['/good', ['--service', 'http://127.0.0.1:1'], /PROBLEM .*cannot be reached from here/],
  ]
  for (const [path, words, said] of MISTAKES) {
    it(`names what is wrong with ${[path, ...words].join(' ')}`, async () => {
      const { stdout, status } = await check(path, '--no-browser', ...words)
      expect(stdout)
        .to.match(said)
        .and.to.match(/\d to fix/)
      expect(status).to.equal(1)
    })
  }

  it('names an origin that is not registered for the website', async () => {
    const { stdout } = await whencectl(['check', `http://127.0.0.1:${new URL(origin).port}/good`, '--no-browser'])
    expect(stdout).to.match(/PROBLEM .*http:\/\/127\.0\.0\.1:\d+ is not registered.*additionalDomains/)
  })

  it('notices a policy that blocks it', async () => {
    const policy = await check('/policy')
    expect(policy.stdout).to.match(/PROBLEM .*Content Security Policy blocks connect-src http/)
  })

  it('notices a page that waits for consent', async () => {
    const consent = await check('/consent')
    expect(consent.stdout).to.match(/skipped .*waits for consent/)
    expect(consent.status).to.equal(0)
  })

  it('opens each other origin as a link does, and names what drops, refuses or reads what it carries', async () => {
    const [good, refusing, dropping, routing, failing, bare, leaving] = others.map(originOf)
    const { stdout, status } = await check('/many')
    for (const said of [
      `ok       ${good}/ takes what links carry`,
      `PROBLEM  ${refusing}/?_whence=1check answers 403 to an address with _whence in its query, and 200 without`,
      `PROBLEM  ${dropping}/?_whence=1check redirects to ${dropping}/en/ without _whence`,
      `ok       ${dropping}/ takes what links carry`,
      `PROBLEM  ${routing}/ reads the fragment of its address as a route: put data-carry="query"`,
      `PROBLEM  ${failing}/ fails on what links carry (`,
      `PROBLEM  ${bare}/ does not load the SDK`,
      `PROBLEM  ${leaving}/?_whence=1check redirects to http://127.0.0.1:1/, which is no origin of the website`,
    ])
      expect(stdout).to.include(said)
    expect(status).to.equal(1)
  })

  it('takes a page that reads the fragment if what links carry goes into the query', async () => {
    const [, , , routing] = others.map(originOf)
    expect((await check('/query')).stdout).to.include(`ok       ${routing}/ takes what links carry`)
  })

  it('says if links carry nothing because the website does not want it', async () => {
    expect((await check('/apart', '--no-browser')).stdout).to.match(/skipped .*its crossOrigin is Disabled/)
  })

  it('prints JSON for programs', async () => {
    const { stdout } = await check('/typo', '--no-browser', '--json')
    const found = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(found.map(({ check: what, outcome }) => `${what} ${outcome}`)).to.deep.equal([
      'page ok',
      'script ok',
      'website problem',
      'browser skipped',
    ])
  })

  it('refuses a text that is not an address', async () => {
    const { stderr, status } = await whencectl(['check', 'acme.dev'])
    expect(stderr).to.include('https://acme.dev/install')
    expect(status).to.equal(2)
  })
})
