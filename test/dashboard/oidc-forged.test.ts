/** ID tokens that must sign nobody in, each wrong in one place, and clocks that are ten minutes off. */

import { expect } from 'chai'

import { until } from '../../fixtures/until.ts'
import { MINUTE_MS } from '../../domain/durations.ts'
import { startForgingProvider, type Forgery, type ForgingProvider } from './support/forging-provider.ts'
import { organizationOf, startStage, type Stage, type Told } from './support/stage.ts'

const TEN_MINUTES_MS = 10 * MINUTE_MS

describe('ID tokens', () => {
  let stage: Stage
  let provider: ForgingProvider
  let addresses = 0
  before(async () => {
    provider = await startForgingProvider('whence')
    stage = await startStage({
      manifests: organizationOf('acme', { members: { 'anna@acme.dev': 'Owner' } }),
      oidc: { issuer: provider.issuer, clientId: 'whence', clientSecret: 'only for tests' },
    })
    await until(async () => (await begin()).status === 200, { what: 'the provider is found', everyMs: 50 })
  })
  after(async () => {
    await stage?.stop()
    await provider?.stop()
  })

  const address = (): string => `10.8.${addresses >> 8}.${addresses++ % 256}`
  const begin = (): Promise<Told> => stage.ask('POST', '/api/sign-in/oidc', { body: {}, address: address() })
  const signIn = async (forgery: Forgery): Promise<Told> => {
    provider.forgery = forgery
    const begun = await begin()
    const back = provider.authorize(String(begun.body['url']))
    return stage.ask('GET', back.slice(stage.url.length), {
      cookies: begun.cookies,
      address: address(),
      headers: { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' },
    })
  }
  const nowS = (): number => Math.floor(Date.now() / 1_000)

  it('sign somebody in if nothing is wrong with them', async () => {
    const told = await signIn({})
    expect([told.status, told.headers.get('location')]).to.deep.equal([303, '/'])
    expect((await stage.ask('GET', '/api/me', { cookies: told.cookies })).body['email']).to.equal('anna@acme.dev')
  })

  const WRONG: readonly (readonly [string, () => Forgery])[] = [
    ['for another client', () => ({ claims: { aud: 'other' } })],
    ['for several clients, of another one', () => ({ claims: { aud: ['whence', 'other'], azp: 'other' } })],
    ['of another issuer', () => ({ claims: { iss: 'https://evil.example' } })],
    ['with another nonce', () => ({ claims: { nonce: 'another' } })],
    ['without a nonce', () => ({ claims: { nonce: undefined } })],
    ['without a subject', () => ({ claims: { sub: undefined } })],
    ['without an end', () => ({ claims: { exp: undefined } })],
    ['that ended ten minutes ago', () => ({ claims: { exp: nowS() - 600 } })],
    ['that hold in ten minutes', () => ({ claims: { nbf: nowS() + 600 } })],
    ['without a signature', () => ({ signature: 'none' })],
    ['signed by another key', () => ({ signature: 'other' })],
  ]
  for (const [what, forgery] of WRONG)
    it(`${what} sign nobody in`, async () => {
      const told = await signIn(forgery())
      expect([told.status, told.headers.get('location'), told.cookies]).to.deep.equal([303, '/sign-in#failed', ''])
    })

  for (const [what, clockMs] of [
    ['ahead', TEN_MINUTES_MS],
    ['behind', -TEN_MINUTES_MS],
  ] as const)
    it(`of a provider whose clock is ten minutes ${what} sign in for 7 days of our own`, async () => {
      const told = await signIn({ clockMs })
      expect(told.headers.get('location')).to.equal('/')
      const { body } = await stage.ask('GET', '/api/me', { cookies: told.cookies })
      const leftMs = Number(body['sessionEndsAt']) - stage.nowMs()
      expect(leftMs / 86_400_000).to.be.within(6.99, 7)
    })

  it('of a provider whose clock is ten minutes behind sign nobody in if they hold for five', async () => {
    const told = await signIn({ clockMs: -TEN_MINUTES_MS, claims: { exp: nowS() - 300 } })
    expect(told.headers.get('location')).to.equal('/sign-in#failed')
    expect(stage.logLines.join('\n'), 'the process log says why').to.include('OAUTH_JWT_TIMESTAMP_CHECK_FAILED')
  })
})
