/** Signing in through a real identity provider, and every answer of one that must not sign anybody in. */

import { expect } from 'chai'

import { until } from '../../fixtures/until.ts'
import { LIMITS } from '../../domain/limits.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { CLIENT_SECRET, startIdentityProvider, type IdentityProvider } from './support/identity-provider.ts'
import { organizationOf, startStage, type Stage, type Told } from './support/stage.ts'

const GROUP = `---
apiVersion: whence.dev/v1alpha1
kind: Member
metadata: { name: team }
spec: { organizationRef: { name: acme }, group: platform, role: Admin }
`

describe('signing in through OpenID Connect', () => {
  let stage: Stage
  let provider: IdentityProvider
  before(async () => {
    const port = await freePort()
    const redirectUri = `http://127.0.0.1:${port}/api/sign-in/oidc/callback`
    provider = await startIdentityProvider({ redirectUri, ids: ['whence', 'other'] })
    stage = await startStage({
      manifests: organizationOf('acme', { members: { 'anna@acme.dev': 'Owner' } }) + GROUP,
      oidc: { issuer: provider.issuer, clientId: 'whence', clientSecret: CLIENT_SECRET },
      trustedDomains: ['trusted.dev'],
      port,
    })
    await until(async () => (await begin()).status === 200)
  })
  beforeEach(() => {
    provider.claims = { sub: 'anna', email: 'Anna@acme.dev', email_verified: true }
    provider.onlyInIdTokens = []
  })
  after(async () => {
    await stage?.stop()
    await provider?.stop()
  })

  let addresses = 0
  const freshAddress = (): string => `10.9.${addresses >> 8}.${addresses++ % 256}`
  const begin = (body: object = {}, cookies = ''): Promise<Told> =>
    stage.ask('POST', '/api/sign-in/oidc', { body, cookies, address: freshAddress() })
  const comeBack = (url: string, cookies: string): Promise<Told> =>
    stage.ask('GET', url.slice(stage.url.length), {
      cookies,
      address: freshAddress(),
      headers: { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' },
    })
  const whole = async (bend: (url: URL) => void = () => undefined): Promise<Told> => {
    const begun = await begin({ returnTo: '/logs?x=1' })
    const url = new URL(String(begun.body['url']))
    bend(url)
    return comeBack(await provider.authorize(url.href), begun.cookies)
  }
  const isRefused = (told: Told): void => {
    expect([told.status, told.headers.get('location'), told.cookies]).to.deep.equal([303, '/sign-in#failed', ''])
  }

  it('accepts a proven address, in lower case, and comes back to where it began', async () => {
    const told = await whole()
    expect([told.status, told.headers.get('location')]).to.deep.equal([303, '/logs?x=1'])
    const { body } = await stage.ask('GET', '/api/me', { cookies: told.cookies })
    expect(body).to.include({ email: 'anna@acme.dev', signedInBy: 'oidc' })
    expect(body['organizations']).to.deep.equal([{ id: 'acme', displayName: 'acme Ltd', role: 'Owner' }])
  })

  it('comes back only to paths of the service', async () => {
    for (const returnTo of [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      '/a\\b',
      'javascript:alert(1)',
      '/a b',
    ]) {
      const begun = await begin({ returnTo })
      const told = await comeBack(await provider.authorize(String(begun.body['url'])), begun.cookies)
      expect(told.headers.get('location'), returnTo).to.equal('/')
    }
  })

  const VERIFIED: readonly (readonly [unknown, string, boolean])[] = [
    [true, 'anna@acme.dev', true],
    ['true', 'anna@acme.dev', true],
    [false, 'anna@acme.dev', false],
    ['false', 'anna@acme.dev', false],
    [1, 'anna@acme.dev', false],
    [undefined, 'anna@acme.dev', false],
    [undefined, 'anna@trusted.dev', true],
    [undefined, 'anna@not-trusted.dev', false],
    [undefined, 'trusted.dev@acme.dev', false],
    [false, 'anna@trusted.dev', false],
    [true, 'no address', false],
  ]
  for (const [verified, email, isProven] of VERIFIED) {
    it(`${isProven ? 'takes' : 'refuses'} ${email} with email_verified ${JSON.stringify(verified)}`, async () => {
      provider.claims = { sub: 'anna', email, ...(verified === undefined ? {} : { email_verified: verified }) }
      const told = await whole()
      if (isProven) expect(told.cookies).to.match(/^session=/)
      else isRefused(told)
    })
  }

  it('refuses an answer without the browser that began, to another one, and a second time', async () => {
    const begun = await begin()
    const url = await provider.authorize(String(begun.body['url']))
    isRefused(await comeBack(url, ''))
    isRefused(await comeBack(url, (await begin()).cookies))
    expect((await comeBack(url, begun.cookies)).cookies).to.match(/^session=/)
    isRefused(await comeBack(url, begun.cookies))
  })

  /** As a browser keeps them. */
  const jarOf = (...told: readonly Told[]): string => {
    const jar = new Map<string, string>()
    for (const line of told.flatMap(({ headers }) => headers.getSetCookie())) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    return [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  it('lets attempts of several tabs end apart, whatever becomes of the others', async () => {
    const one = await begin({ returnTo: '/one' })
    const two = await begin({ returnTo: '/two' })
    const three = await begin()
    const cancelled = new URL(String(one.body['url']))
    const back = `${stage.url}/api/sign-in/oidc/callback?error=access_denied&state=${cancelled.searchParams.get('state')}`
    const ended = await comeBack(back, jarOf(one, two, three))
    isRefused(ended)
    const finished = await comeBack(await provider.authorize(String(two.body['url'])), jarOf(one, two, three, ended))
    expect(finished.headers.get('location')).to.equal('/two')
    const last = await comeBack(
      await provider.authorize(String(three.body['url'])),
      jarOf(one, two, three, ended, finished),
    )
    expect([last.headers.get('location'), jarOf(one, two, three, ended, finished, last)]).to.satisfy(
      ([location, jar]: readonly [string, string]) => location === '/' && /^session=[^;]+$/.test(jar),
    )
    const asked = await stage.ask('POST', '/api/sign-in/mail', {
      body: { email: 'anna@acme.dev' },
      address: freshAddress(),
    })
    const unknown = await comeBack(`${stage.url}/api/sign-in/oidc/callback?error=access_denied&state=x`, jarOf(asked))
    expect(jarOf(asked, unknown), 'a link by mail').to.equal(jarOf(asked))
  })

  it('leaves a browser with a few attempts, of which the oldest end', async () => {
    const all: Told[] = []
    for (let times = 0; times < 12; times += 1) all.push(await begin({}, jarOf(...all)))
    expect(jarOf(...all).split('; ')).to.have.length(8)
    const finished = await comeBack(await provider.authorize(String(all.at(-1)?.body['url'])), jarOf(...all))
    expect(finished.cookies).to.match(/^session=/)
    isRefused(await comeBack(await provider.authorize(String(all[0]?.body['url'])), jarOf(...all)))
  })

  it('refuses another state, nonce, verifier, issuer and client', async () => {
    isRefused(await whole((url) => url.searchParams.set('state', 'A'.repeat(43))))
    isRefused(await whole((url) => url.searchParams.set('nonce', 'another')))
    isRefused(await whole((url) => url.searchParams.set('code_challenge', 'B'.repeat(43))))
    isRefused(await whole((url) => url.searchParams.set('client_id', 'other')))
    const begun = await begin()
    const url = new URL(await provider.authorize(String(begun.body['url'])))
    url.searchParams.set('iss', 'https://evil.example')
    isRefused(await comeBack(url.href, begun.cookies))
  })

  it('refuses an attempt that is older than 15 minutes, and a code that was never given', async () => {
    const begun = await begin()
    const url = await provider.authorize(String(begun.body['url']))
    stage.advance(LIMITS.signInMs)
    isRefused(await comeBack(url, begun.cookies))
    const next = await begin()
    const made = new URL(await provider.authorize(String(next.body['url'])))
    made.searchParams.set('code', 'C'.repeat(43))
    isRefused(await comeBack(made.href, next.cookies))
  })

  it('refuses another account with the address of a member, tells the organisation, and accepts it once the member was created again', async () => {
    provider.claims = { sub: 'first', email: 'carl@acme.dev', email_verified: true }
    const owner = await stage.signIn('anna@acme.dev')
    const members = '/api/organizations/acme/members'
    const write = (method: string, path: string, body?: object, cookies = owner): Promise<Told> =>
      stage.ask(method, path, { cookies, body, address: freshAddress() })
    const join = async (): Promise<string> => {
      const { body } = await write('POST', members, { email: 'carl@acme.dev', role: 'Viewer' })
      await stage.mailSent()
      const invitation = /#invitation=([0-9a-f]{32})/.exec(stage.mails.at(-1) ?? '')?.[1]
      const { cookies } = await whole()
      expect((await write('POST', '/api/invitations/accept', { invitation }, cookies)).status).to.equal(200)
      return String(body['name'])
    }
    const name = await join()
    expect((await whole()).cookies, 'pinned now').to.match(/^session=/)
    provider.claims = { sub: 'second', email: 'carl@acme.dev', email_verified: true }
    for (let times = 0; times < 2; times++) {
      const told = await whole()
      expect([told.headers.get('location'), told.cookies]).to.deep.equal(['/sign-in#failed=account_replaced', ''])
    }
    const activity = (await stage.eventLog.read('activity', 0, 100)).map(({ value }) => value)
    const entries = activity.filter((text) => text.includes('account_replaced'))
    expect(entries).to.have.length(1)
    expect(JSON.parse(entries[0] ?? '')).to.include({ organization: 'acme' })
    expect(entries[0]).to.not.match(/carl|second/)
    provider.claims = { sub: 'first', email: 'carl@acme.dev', email_verified: true }
    expect((await whole()).cookies, 'the first account').to.match(/^session=/)
    provider.claims = { sub: 'second', email: 'carl@acme.dev', email_verified: true }
    expect((await write('DELETE', `${members}/${name}`)).status).to.equal(204)
    await join()
    expect((await whole()).cookies, 'the second account').to.match(/^session=/)
  })

  const BERT = { sub: 'bert', email: 'bert@acme.dev', email_verified: true, groups: ['platform', 7] }
  const rolesOf = async (cookies: string, of = stage): Promise<unknown> =>
    (await of.ask('GET', '/api/me', { cookies })).body['organizations']
  const ADMIN = [{ id: 'acme', displayName: 'acme Ltd', role: 'Admin' }]

  /** A service of its own on that port, with somebody whom the provider signed in. */
  const signedInBy = async (own: IdentityProvider, port: number, scopes = 'openid email profile groups') => {
    const oidc = { issuer: own.issuer, clientId: 'whence', clientSecret: CLIENT_SECRET, scopes }
    const lone = await startStage({ manifests: organizationOf('acme') + GROUP, oidc, port })
    const start = () => lone.ask('POST', '/api/sign-in/oidc', { body: {}, address: freshAddress() })
    await until(async () => (await start()).status === 200)
    const begun = await start()
    const back = await own.authorize(String(begun.body['url']))
    const headers = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' }
    const { cookies } = await lone.ask('GET', back.slice(lone.url.length), { cookies: begun.cookies, headers })
    return { lone, cookies }
  }

  it('takes a text in place of the list of groups for the only one', async () => {
    provider.claims = { ...BERT, groups: 'platform' }
    expect(await rolesOf((await whole()).cookies)).to.deep.equal(ADMIN)
    stage.logLines.splice(0)
    for (const groups of ['', 'cooks', [], ['cooks'], { platform: true }, 7]) {
      provider.claims = { ...BERT, groups }
      expect(await rolesOf((await whole()).cookies), JSON.stringify(groups)).to.deep.equal([])
    }
    expect(stage.logLines.join('')).to.not.include('names no groups')
  })

  it('warns if the provider names no groups, as without the scope that it wants for them', async () => {
    const port = await freePort()
    const ids = ['whence']
    const own = await startIdentityProvider({ redirectUri: `http://127.0.0.1:${port}/api/sign-in/oidc/callback`, ids })
    own.claims = BERT
    const { lone, cookies } = await signedInBy(own, port, 'openid email')
    expect(await rolesOf(cookies, lone)).to.deep.equal([])
    const lines = lone.logLines.filter((line) => line.includes('names no groups'))
    expect(lines).to.have.length(1)
    expect(JSON.parse(lines[0] ?? '')).to.include({ level: 'warn', claim: 'groups', scopes: 'openid email' })
    expect(lines[0]).to.not.include('bert')
    expect(await lone.metrics()).to.include('whence_sign_ins_without_groups_total 1')
    await lone.stop()
    await own.stop()
  })

  it('reads groups again after 15 minutes: whoever has left one loses its role, and has it again later', async () => {
    provider.claims = BERT
    const { cookies } = await whole()
    provider.claims = { ...BERT, groups: ['cooks'] }
    stage.advance(LIMITS.groupsReadAgainMs - 60_000)
    expect(await rolesOf(cookies), 'a minute before').to.deep.equal(ADMIN)
    stage.advance(60_000)
    const asked = await Promise.all(Array.from({ length: 20 }, () => rolesOf(cookies)))
    expect(asked, 'whoever waits for the answer').to.deep.include([])
    expect(await rolesOf(cookies)).to.deep.equal([])
    provider.claims = BERT
    stage.advance(LIMITS.groupsReadAgainMs)
    expect(await rolesOf(cookies)).to.deep.equal(ADMIN)
  })

  for (const ms of [LIMITS.groupsReadAgainMs, 2 * LIMITS.groupMembershipMs])
    it(`shows them to all of many requests at once, ${ms / 60_000} minutes later`, async () => {
      provider.claims = BERT
      const { cookies } = await whole()
      for (let times = 0; times < 3; times += 1) {
        stage.advance(ms)
        const asked = await Promise.all(Array.from({ length: 20 }, () => rolesOf(cookies)))
        expect(asked).to.deep.equal(Array.from({ length: 20 }, () => ADMIN))
      }
    })

  it('uses a refresh token once the access token has expired, and removes the groups of a person who is gone', async () => {
    provider.claims = BERT
    const { cookies } = await whole()
    stage.advance(2 * LIMITS.groupMembershipMs)
    expect(await rolesOf(cookies)).to.deep.equal(ADMIN)
    stage.advance(2 * LIMITS.groupMembershipMs)
    expect(await rolesOf(cookies), 'with the next one').to.deep.equal(ADMIN)
    provider.claims = { ...BERT, email_verified: false }
    stage.advance(LIMITS.groupsReadAgainMs)
    expect(await rolesOf(cookies)).to.deep.equal([])
    provider.claims = BERT
    stage.advance(LIMITS.groupsReadAgainMs)
    expect(await rolesOf(cookies), 'until the next sign-in').to.deep.equal([])
  })

  for (const names of [['groups'], ['email', 'email_verified'], ['groups', 'email', 'email_verified']])
    it(`reads them again in a new ID token if userinfo does not say ${names.join(', ')}`, async () => {
      provider.onlyInIdTokens = names
      provider.claims = BERT
      const { cookies } = await whole()
      for (let times = 0; times < 2; times += 1) {
        stage.advance(LIMITS.groupsReadAgainMs)
        expect(await rolesOf(cookies)).to.deep.equal(ADMIN)
      }
      provider.claims = { ...BERT, groups: ['cooks'] }
      stage.advance(LIMITS.groupsReadAgainMs)
      expect(await rolesOf(cookies), 'in another group').to.deep.equal([])
      provider.claims = BERT
      stage.advance(LIMITS.groupsReadAgainMs)
      expect(await rolesOf(cookies)).to.deep.equal(ADMIN)
      const { groups: _groups, ...without } = BERT
      provider.claims = without
      stage.advance(LIMITS.groupsReadAgainMs)
      expect(await rolesOf(cookies), 'in none').to.deep.equal([])
    })

  it('keeps them for an hour after the sign-in if only the ID token of the sign-in says them', async () => {
    const port = await freePort()
    const at = await freePort()
    const redirectUri = `http://127.0.0.1:${port}/api/sign-in/oidc/callback`
    const own = await startIdentityProvider({ redirectUri, ids: ['whence'], hasRefreshTokens: false }, at)
    own.claims = BERT
    own.onlyInIdTokens = ['groups']
    const { lone, cookies } = await signedInBy(own, port)
    for (let quarter = 1; quarter < 4; quarter += 1) {
      lone.advance(LIMITS.groupsReadAgainMs)
      expect(await rolesOf(cookies, lone), `quarter ${quarter}`).to.deep.equal(ADMIN)
    }
    lone.advance(LIMITS.groupMembershipMs - 3 * LIMITS.groupsReadAgainMs)
    expect(await rolesOf(cookies, lone)).to.deep.equal([])
    await lone.stop()
    await own.stop()
  })

  it('gives the roles of groups for an hour after they were read while the provider is unreachable', async () => {
    const port = await freePort()
    const at = await freePort()
    const redirectUri = `http://127.0.0.1:${port}/api/sign-in/oidc/callback`
    const own = await startIdentityProvider({ redirectUri, ids: ['whence'] }, at)
    own.claims = BERT
    const { lone, cookies } = await signedInBy(own, port)
    await own.stop()
    lone.advance(LIMITS.groupsReadAgainMs)
    expect(await rolesOf(cookies, lone)).to.deep.equal(ADMIN)
    lone.advance(LIMITS.groupMembershipMs - LIMITS.groupsReadAgainMs)
    expect(await rolesOf(cookies, lone)).to.deep.equal([])
    // What would open the provider is not in the store in the clear, nor in the log.
    expect(lone.logLines.join('\n')).to.not.match(/bert|access_token|refresh_token/)
    await lone.stop()
  })

  it('does not keep the program from starting while the provider is unreachable, and finds it later', async () => {
    const port = await freePort()
    const own = await freePort()
    const at = await freePort()
    const oidc = { issuer: `http://127.0.0.1:${at}`, clientId: 'whence', clientSecret: CLIENT_SECRET }
    const lone = await startStage({ manifests: organizationOf('acme'), oidc, port: own })
    expect((await lone.ask('POST', '/api/sign-in/oidc', { body: {} })).body).to.deep.equal({ error: 'unavailable' })
    const late = await startIdentityProvider({ redirectUri: `http://127.0.0.1:${port}/`, ids: ['whence'] }, at)
    await until(
      async () => (await lone.ask('POST', '/api/sign-in/oidc', { body: {}, address: freshAddress() })).status === 200,
    )
    await lone.stop()
    await late.stop()
  })

  it('is not offered if there is no provider', async () => {
    const without = await startStage({ manifests: organizationOf('acme') })
    expect((await without.ask('GET', '/api/sign-in')).body).to.deep.equal({ mail: true, oidc: false })
    expect((await without.ask('POST', '/api/sign-in/oidc', { body: {} })).body).to.deep.equal({
      error: 'oidc_not_configured',
    })
    await without.stop()
  })
})
