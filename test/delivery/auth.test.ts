/** Access tokens: what is requested, what is cached, and what an answer without a token means. */

import { generateKeyPairSync } from 'node:crypto'

import { expect } from 'chai'

import { createTokens, type Tokens } from '../../delivery/exchange/auth.ts'
import { googleAds } from '../../delivery/providers/google-ads.ts'
import type { OauthGrant } from '../../delivery/providers/provider.ts'
import { startGoogleOauthStandIn, type GoogleOauthStandIn } from '../../stand-ins/google-oauth.ts'
import { MINUTE_MS } from '../../fixtures/delivery/builders.ts'
import { TestClock } from '../../fixtures/delivery/harness.ts'

const REFRESH: OauthGrant = { kind: 'refresh_token', clientId: 'id', clientSecret: 's+ /&', refreshToken: '1//a+b&c' }
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' })
const EMAIL = 'robot@acme.iam.gserviceaccount.com'
const KEY_FILE = {
  client_email: EMAIL,
  private_key: PEM,
  private_key_id: 'k1',
  token_uri: 'https://attacker.example/token',
}
const grantOf = (serviceAccountJson: string) => googleAds.auth?.grant({ serviceAccountJson }) ?? null

describe('access tokens', () => {
  let clock: TestClock
  let oauth: GoogleOauthStandIn
  let tokens: Tokens

  beforeEach(async () => {
    clock = new TestClock()
    const account = { email: EMAIL, publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString() }
    const isRefreshToken = (token: string): boolean => token === '1//a+b&c'
    oauth = await startGoogleOauthStandIn({ port: 0, nowMs: clock.nowMs, account, isRefreshToken })
    tokens = createTokens({ baseUrl: oauth.url, nowMs: clock.nowMs, exchangeMs: 5_000 })
  })
  afterEach(async () => {
    tokens.close()
    await oauth.close()
  })

  it('are asked for once by many at a time, and kept', async () => {
    const results = await Promise.all(Array.from({ length: 50 }, () => tokens.get(REFRESH)))
    expect(new Set(results.map((result) => JSON.stringify(result)))).to.have.lengthOf(1)
    await tokens.get(REFRESH)
    expect(oauth.total()).to.equal(1)
  })

  it('are renewed five minutes before they end', async () => {
    await tokens.get(REFRESH)
    clock.advance(54 * MINUTE_MS)
    await tokens.get(REFRESH)
    expect(oauth.total()).to.equal(1)
    clock.advance(MINUTE_MS)
    await tokens.get(REFRESH)
    expect(oauth.total()).to.equal(2)
  })

  it('are kept apart by their credentials', async () => {
    await tokens.get(REFRESH)
    await tokens.get({ ...REFRESH, clientId: 'other' })
    expect(oauth.total()).to.equal(2)
  })

  it('are forgotten when refused, but not if a newer one came since', async () => {
    const first = await tokens.get(REFRESH)
    const token = first.kind === 'token' ? first.token : ''
    tokens.drop(REFRESH, token)
    await tokens.get(REFRESH)
    expect(oauth.total()).to.equal(2)
    tokens.drop(REFRESH, token)
    await tokens.get(REFRESH)
    expect(oauth.total()).to.equal(2)
  })

  it('are issued for an assertion that a service account signed, which goes to Google whatever its key file says', async () => {
    const grant = grantOf(JSON.stringify(KEY_FILE))
    expect(grant).to.include({ issuer: EMAIL, audience: 'https://oauth2.googleapis.com/token' })
    expect(await tokens.get(grant!)).to.have.property('kind', 'token')
    expect(oauth.requests()[0]).to.deep.include({ key: EMAIL, messages: [] })
  })

  it('are not issued for a key that cannot sign, and no request is sent', async () => {
    const grant = grantOf(JSON.stringify({ ...KEY_FILE, private_key: 'garbage' }))
    const outcome = { kind: 'credentials', code: 'token: unusable_key' }
    expect(await tokens.get(grant!)).to.deep.equal({ kind: 'none', outcome })
    expect(oauth.total()).to.equal(0)
  })

  for (const text of ['', '{', '[]', '{"client_email":"a"}', '{"client_email":1,"private_key":"b"}']) {
    it(`cannot be asked for with the key file ${JSON.stringify(text)}`, () => {
      expect(grantOf(text)).to.equal(null)
    })
  }

  const ROWS: readonly [string, Parameters<GoogleOauthStandIn['fail']>[1], object][] = [
    [
      'a refusal',
      { kind: 'status', status: 400, body: '{"error":"invalid_grant"}' },
      { kind: 'credentials', code: 'token: invalid_grant' },
    ],
    [
      'a wrong client',
      { kind: 'status', status: 401, body: '{"error":"invalid_client"}' },
      { kind: 'credentials', code: 'token: invalid_client' },
    ],
    [
      'words',
      { kind: 'status', status: 400, body: '{"error":"1//a+b&c is bad"}' },
      { kind: 'credentials', code: 'token: http_400' },
    ],
    ['an outage', { kind: 'status', status: 503 }, { kind: 'retry', code: 'token: http_503' }],
    [
      'a limit',
      { kind: 'status', status: 429, headers: { 'retry-after': '9' } },
      { kind: 'throttled', code: 'token: http_429', retryAfter: '9' },
    ],
    ['200 without a token', { kind: 'status', status: 200, body: '{}' }, { kind: 'retry', code: 'token: http_200' }],
    ['a cut connection', { kind: 'reset' }, { kind: 'retry', code: 'token: connection' }],
  ]
  for (const [name, fault, outcome] of ROWS) {
    it(`are not issued with ${name}, which is not cached`, async () => {
      oauth.fail('*', fault)
      expect(await tokens.get(REFRESH)).to.deep.equal({ kind: 'none', outcome })
      oauth.fail('*', null)
      expect(await tokens.get(REFRESH)).to.have.property('kind', 'token')
    })
  }
})
