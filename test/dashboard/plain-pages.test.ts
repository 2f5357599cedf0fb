/** What people see in plain HTML: where they sign in, and what is wrong. Programs get JSON at the same addresses. */

import { createServer, request, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

import { expect } from 'chai'

import { overHttpsAlone } from '../../dashboard/pages/answer.ts'
import { signInPages } from '../../dashboard/sign-in/page.ts'
import { brandName } from '../../domain/host.ts'
import { openChromium, type ChromiumInstance } from '../sdk/support/browsers.ts'
import { organizationOf, startStage, type Stage } from './support/stage.ts'

/** As a browser asks for what it shows. */
const PERSON = {
  Accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'Sec-Fetch-Mode': 'navigate',
  'Sec-Fetch-Site': 'none',
}
/** As a script on one of our pages asks. */
const SCRIPT = { Accept: '*/*', 'Sec-Fetch-Mode': 'cors', 'Sec-Fetch-Site': 'same-origin' }
const PROGRAM = { Accept: 'application/json', 'Sec-Fetch-Site': 'same-origin' }

interface Shown {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

describe('plain pages', () => {
  let stage: Stage
  before(async () => {
    stage = await startStage({
      manifests: organizationOf('acme', { members: { 'anna@acme.dev': 'Viewer' } }),
      before: signInPages({ brand: brandName('acme-counts') }),
    })
  })
  after(() => stage?.stop())

  /** Without `fetch`, which says by itself that it is a script. */
  function ask(path: string, headers: Readonly<Record<string, string>>, method = 'GET'): Promise<Shown> {
    return new Promise((done, fail) => {
      const asked = request(stage.url + path, { method, headers }, (answer) => {
        text(answer).then((body) => done({ status: answer.statusCode, headers: answer.headers, body }), fail)
      })
      asked.on('error', fail).end()
    })
  }

  for (const path of ['/nonsense', '/logs', '/app'])
    it(`say to a person that there is no page ${path}, and nothing of the kind to a program`, async () => {
      const { status, headers, body } = await ask(path, PERSON)
      expect([status, headers['content-type']]).to.deep.equal([404, 'text/html; charset=utf-8'])
      expect(body).to.include('There is no such page').and.include('href="/"')
      const head = await ask(path, PERSON, 'HEAD')
      expect([head.status, head.headers['content-length'], head.body]).to.deep.equal([
        404,
        headers['content-length'],
        '',
      ])
      for (const other of [await ask(path, PROGRAM), await ask(path, PERSON, 'POST')])
        expect([other.status, other.headers['content-type']]).to.deep.equal([404, undefined])
    })

  it('leave addresses of programs to programs', async () => {
    for (const path of ['/v1/nonsense', '/assets/nonsense.js', '/v1'])
      expect((await ask(path, PERSON)).headers['content-type'], path).to.equal(undefined)
  })

  it('say to a person what the API refused, with the request, and to scripts and programs the code', async () => {
    const path = '/api/organizations/acme/installs/export'
    const signedOut = await ask(path, PERSON)
    expect(signedOut.status).to.equal(401)
    expect(signedOut.body).to.include('You are signed out').and.include('href="/sign-in"')
    expect(signedOut.body).to.include(`unauthenticated, request ${signedOut.headers['x-request-id'] as string}`)
    const Cookie = await stage.signIn('anna@acme.dev')
    const viewer = await ask(path, { ...PERSON, Cookie })
    expect([viewer.status, viewer.body.includes('This is not for your role')]).to.deep.equal([403, true])
    for (const other of [SCRIPT, PROGRAM])
      expect((await ask(path, { ...other, Cookie })).body).to.equal('{"error":"forbidden"}')
    const unknown = await ask('/api/nonsense', PERSON)
    expect([unknown.status, unknown.body.includes('There is no such page')]).to.deep.equal([404, true])
  })

  it('run no script that turns text into markup, and are framed and cached by nobody', async () => {
    for (const path of ['/sign-in', '/nonsense', '/api/nonsense']) {
      const { headers } = await ask(path, PERSON)
      const policy = String(headers['content-security-policy']).split('; ')
      expect(policy, path).to.include.members(["default-src 'none'", "frame-ancestors 'none'"])
      expect(policy, path).to.include.members(["require-trusted-types-for 'script'", "trusted-types 'none'"])
      expect(headers['cache-control'], path).to.equal('no-store')
      expect(headers['x-content-type-options'], path).to.equal('nosniff')
    }
  })

  describe('of signing in, open in a tab', () => {
    let chromium: ChromiumInstance
    before(async () => {
      chromium = await openChromium()
    })
    after(() => chromium?.close())

    const opened = async () => {
      await chromium.context.clearCookies()
      const page = await chromium.context.newPage()
      await page.goto(`${stage.url}/sign-in`)
      await page.locator('#by-mail').waitFor()
      return page
    }
    const linkIn = async (pattern: RegExp): Promise<string> => {
      await stage.mailSent()
      return pattern.exec(stage.mails.at(-1) ?? '')?.[0] ?? ''
    }

    it('take a link that is pasted there, once it is clicked, and keep no token in the address', async () => {
      const page = await opened()
      await page.locator('#email').fill('anna@acme.dev')
      await page.locator('#by-mail button').click()
      await page.getByText('is on its way').waitFor()
      const link = await linkIn(/http\S+#mail=[\w-]{43}/)
      await page.evaluate(`location.assign(${JSON.stringify(link)})`)
      await page.locator('#by-link button').waitFor()
      expect(await page.evaluate('location.href')).to.equal(`${stage.url}/sign-in`)
      expect(await page.locator('#by-mail').isVisible()).to.equal(false)
      await page.locator('#by-link button').click()
      await page.waitForURL(`${stage.url}/`)
      expect(await (await page.request.get(`${stage.url}/api/me`)).json()).to.include({ email: 'anna@acme.dev' })
      await page.close()
    })

    it('take a second link in place of the first, and an invitation while signed out', async () => {
      const page = await opened()
      const paste = (fragment: string) => page.evaluate(`void (location.hash = ${JSON.stringify(fragment)})`)
      await paste(`mail=${'A'.repeat(43)}`)
      await page.locator('#by-link button').click()
      await page.getByText('not valid any more').waitFor()
      await paste(`invitation=${'0'.repeat(32)}`)
      await page.locator('#invited').waitFor()
      await page.locator('#by-mail').waitFor()
      expect(await page.locator('#by-link').isVisible()).to.equal(false)
      expect(await page.locator('#status').textContent()).to.equal('')
      expect(await page.evaluate('location.hash')).to.equal('')
      await page.close()
    })
  })

  it('and every other answer of the dashboard are to be asked for over https alone, if it is reached so', async () => {
    const ownPages = signInPages({ brand: 'Acme' })
    const secure = overHttpsAlone(ownPages)
    const server = createServer((req, res) => {
      if (!secure(req, res)) res.writeHead(204).end()
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    try {
      const strictAt = async (path: string, headers: Readonly<Record<string, string>>) =>
        (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).headers.get('strict-transport-security')
      for (const path of ['/sign-in', '/sign-in.js'])
        expect(await strictAt(path, { Accept: 'text/html' }), path).to.equal('max-age=31536000')
      for (const path of ['/v1/visits', '/browser.js', '/health'])
        expect(await strictAt(path, { Accept: '*/*' }), path).to.equal(null)
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })

  it('bear the name of the service', async () => {
    const { body } = await ask('/sign-in', PERSON)
    expect(body).to.include('<title>Sign in to Acme Counts</title>').and.not.include('Whence')
  })
})
