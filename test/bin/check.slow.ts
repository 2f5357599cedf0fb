/** `whencectl check` as people run it, against a running service and a page of a website. */

import { expect } from 'chai'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { MANIFESTS, startTestService, type TestService } from '../../fixtures/service/service.ts'
import { whencectl, type Ran } from './support/run-whencectl.ts'

describe('whencectl check', function () {
  this.timeout(120_000)
  let service: TestService
  let site: Server
  let origin: string
  const pages = new Map<string, { readonly html: string; readonly policy?: string }>()

  before(async () => {
    site = createServer((request, response) => {
      const page = pages.get(request.url ?? '')
      const policy = page?.policy === undefined ? {} : { 'content-security-policy': page.policy }
      response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html', ...policy }).end(page?.html)
    }).listen(0, '127.0.0.1')
    await once(site, 'listening')
    origin = `http://localhost:${(site.address() as AddressInfo).port}`
    const manifests = { 'acme.yaml': (MANIFESTS['acme.yaml'] ?? '').replace('http://localhost:8081', origin) }
    service = await startTestService({ manifests })
    const tag = (project: string) => `<script async src="${service.url}/browser.js" data-project="${project}"></script>`
    pages.set('/good', { html: `${tag('acme-dev')}<pre data-whence-command>curl x | sh</pre>` })
    const named = tag('acme-dev').replace('async', 'async data-commands="main pre, .install"')
    pages.set('/named', { html: `${named}<main><pre>curl x | sh</pre></main><p class="install">curl x | sh</p>` })
    pages.set('/unmarked', { html: `${tag('acme-dev')}<pre>curl x | sh</pre>` })
    pages.set('/typo', { html: tag('acme-de') })
    pages.set('/nameless', { html: `<script src=${service.url}/browser.js></script>` })
    pages.set('/bare', { html: '<p>no script' })
    pages.set('/consent', { html: tag('acme-dev').replace('async', 'async data-consent="required"') })
    pages.set('/policy', { html: tag('acme-dev'), policy: `script-src ${service.url}; connect-src 'self'` })
  })
  after(async () => {
    await service?.stop()
    site?.closeAllConnections()
    site?.close()
  })

  const check = (path: string, ...words: readonly string[]): Promise<Ran> =>
    whencectl(['check', origin + path, ...words])

  it('reports no problem for a page that is set up correctly', async () => {
    const { stdout, status } = await check('/good')
    for (const words of [
      'The script tag names the website "acme-dev"',
      'The service knows the website',
      `${origin} is registered for the website`,
      '/v1/projects/acme-dev/report.sh',
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
