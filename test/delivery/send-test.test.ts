/** `sendTest`: what a person learns about a destination before anything counts, at each provider's stand-in. */

import { expect } from 'chai'

import type { Destination } from '../../domain/catalog.ts'
import { PROVIDERS } from '../../delivery/providers/index.ts'
import { sendTest, type SendTestReport } from '../../delivery/tools/send-test.ts'
import { startGa4StandIn } from '../../stand-ins/ga4.ts'
import { startGoogleAdsStandIn } from '../../stand-ins/google-ads.ts'
import { startGoogleOauthStandIn, type GoogleOauthStandIn } from '../../stand-ins/google-oauth.ts'
import { startMetaStandIn } from '../../stand-ins/meta.ts'
import type { Fault } from '../../stand-ins/server.ts'
import { startTiktokStandIn } from '../../stand-ins/tiktok.ts'
import { startXStandIn } from '../../stand-ins/x.ts'
import { AD_DESTINATIONS } from '../../fixtures/delivery/ad-install.ts'
import { destinationOf } from '../../fixtures/delivery/builders.ts'
import type { ContractProvider } from '../../fixtures/delivery/five-providers.ts'

const GOOD = 'canary-good-token'

interface StandIn {
  readonly url: string
  total(): number
  requests(): readonly { readonly body: unknown; readonly messages: readonly unknown[] }[]
  fail(key: string, fault: Fault | null): void
  close(): Promise<void>
}

interface Case {
  readonly destination: Destination
  readonly start: () => Promise<StandIn>
  readonly secrets: (token: string) => Readonly<Record<string, string>>
  /** Whether a real event must be sent, as the provider has no test facility. */
  readonly isLive: boolean
  /** The provider's code for a wrong token; null if no test at the provider shows it. */
  readonly wrongToken: string | null
  /** What the provider's own rules refuse, and with which code. */
  readonly bad: { readonly settings?: object; readonly fault?: Fault }
  readonly refusal: string
}

function withSettings(destination: Destination, settings: Readonly<Record<string, unknown>>): Destination {
  return { ...destination, mode: 'Validate', settings: { ...destination.settings, ...settings } }
}

describe('a test of a destination', () => {
  let oauth: GoogleOauthStandIn
  let standIn: StandIn

  const isToken = (token: string): boolean => token === GOOD
  const cases: { readonly [P in ContractProvider]: Case } = {
    ga4: {
      destination: withSettings(destinationOf(), {}),
      start: () => startGa4StandIn({ port: 0 }),
      secrets: (apiSecret) => ({ apiSecret }),
      isLive: false,
      wrongToken: null,
      bad: { settings: { measurementId: 'ABC' } },
      refusal: 'VALUE_INVALID measurement_id',
    },
    google_ads: {
      destination: withSettings(AD_DESTINATIONS.google_ads, {}),
      start: () => startGoogleAdsStandIn({ port: 0, guard: { isToken: (token) => oauth.isToken(token) } }),
      secrets: (refreshToken) => ({ clientId: 'client', clientSecret: 'canary-client-secret', refreshToken }),
      isLive: false,
      wrongToken: 'token: invalid_grant',
      bad: { settings: { conversionActionId: 'customers/1/conversionActions/2' } },
      refusal: 'INVALID_ARGUMENT INVALID_ARGUMENT',
    },
    meta: {
      destination: withSettings(AD_DESTINATIONS.meta, { testEventCode: 'TEST123' }),
      start: () => startMetaStandIn({ port: 0, guard: { isToken } }),
      secrets: (accessToken) => ({ accessToken }),
      isLive: false,
      wrongToken: '190',
      // No setting that compiles is refused by itself.
      bad: { fault: { kind: 'status', status: 400, body: '{"error":{"code":100,"error_subcode":2804019}}' } },
      refusal: '100/2804019',
    },
    tiktok: {
      destination: withSettings(AD_DESTINATIONS.tiktok, { testEventCode: 'TEST123' }),
      start: () => startTiktokStandIn({ port: 0, guard: { isToken } }),
      secrets: (accessToken) => ({ accessToken }),
      isLive: false,
      wrongToken: '40105',
      bad: { settings: { pixelCode: '' } },
      refusal: '40002',
    },
    x: {
      destination: withSettings(AD_DESTINATIONS.x, {}),
      start: () => startXStandIn({ port: 0, guard: { isToken } }),
      secrets: (pixelToken) => ({ pixelToken }),
      isLive: true,
      wrongToken: 'UNAUTHORIZED_ACCESS',
      bad: { settings: { eventId: 'Not An Event' } },
      refusal: 'INVALID_PARAMETER',
    },
  }

  before(async () => {
    oauth = await startGoogleOauthStandIn({ port: 0, isRefreshToken: isToken })
  })
  after(() => oauth.close())
  afterEach(() => standIn.close())

  async function tried(
    id: ContractProvider,
    change: { readonly token?: string; readonly settings?: object; readonly fault?: Fault; readonly isLive?: boolean },
  ): Promise<SendTestReport> {
    const { destination, secrets, start, isLive } = cases[id]
    const provider = PROVIDERS[id]
    standIn = await start()
    standIn.fail('*', change.fault ?? null)
    const access = { provider, baseUrl: standIn.url, tokenUrl: oauth.url }
    const report = await sendTest(
      { ...access, ...(change.fault?.kind === 'hang' ? { exchangeMs: 100 } : {}) },
      {
        destination: withSettings(destination, { ...change.settings }),
        secrets: secrets(change.token ?? GOOD),
        isLive: change.isLive ?? isLive,
        origin: 'https://acme.dev',
      },
      Date.now,
    )
    expect(JSON.stringify(report)).not.to.contain('canary')
    return report
  }

  for (const id of Object.keys(cases) as ContractProvider[]) {
    it(`passes at ${id} with what the provider's rules ask for, and bears its mark`, async () => {
      const report = await tried(id, {})
      expect(report).to.include({
        verdict: 'passed',
        outcome: 'delivered',
        provider: id,
        destination: report.destination,
      })
      expect(report.responseStatus).to.equal(200)
      const [request] = standIn.requests()
      expect(request?.messages).to.deep.equal([])
      expect(report.eventId).to.match(/^whence-test-[0-9a-f]{20}$/)
      expect(JSON.stringify(request?.body)).to.contain(report.eventId)
      expect(report.nextStep).to.contain('Set the mode to Live')
    })

    it(`reports at ${id} that the credentials are wrong, or were not checked`, async () => {
      const { wrongToken } = cases[id]
      const report = await tried(id, { token: 'canary-wrong' })
      if (wrongToken === null) {
        expect(report.verdict).to.equal('passed')
        expect(report.facility).to.contain('nor API secret is checked')
        return
      }
      expect(report).to.include({ verdict: 'refused', outcome: 'credentials' })
      expect(report.code).to.contain(wrongToken)
      expect(report.nextStep).to.contain('Correct the credentials')
    })

    it(`reports at ${id} that the provider accepts no more now`, async () => {
      const report = await tried(id, { fault: { kind: 'status', status: 429, headers: { 'retry-after': '77' } } })
      expect(report).to.include({ verdict: 'unclear', outcome: 'throttled', responseStatus: 429 })
      expect(report.nextStep).to.contain('77')
    })

    it(`gives the words in which ${id} refuses a field`, async () => {
      const { bad, refusal } = cases[id]
      const report = await tried(id, bad)
      expect(report.verdict).to.equal('refused')
      expect(report.code).to.contain(refusal)
    })
  }

  it('reports what is missing before anything is sent', async () => {
    expect(await tried('meta', { token: '' })).to.include({ outcome: 'credentials_missing', verdict: 'refused' })
    expect(standIn.total()).to.equal(0)
  })

  it('sends nothing if there is no test facility, and says how to send a real event', async () => {
    const report = await tried('x', { isLive: false })
    expect(report).to.include({ verdict: 'passed', code: 'checked_here', requestUrl: '', responseStatus: 0 })
    expect(report.nextStep).to.contain('--live')
    expect(standIn.total()).to.equal(0)
    await standIn.close()
    expect(await tried('x', { isLive: false, settings: { pixelId: 'Not A Pixel' } })).to.include({ verdict: 'refused' })
  })

  it('reports that the provider judges a real event later', async () => {
    expect(await tried('google_ads', { isLive: true })).to.include({ verdict: 'passed', outcome: 'accepted' })
  })

  it('reports a provider that cannot be reached', async () => {
    const report = await tried('meta', { fault: { kind: 'hang' } })
    expect(report).to.include({ verdict: 'unclear', outcome: 'retry', code: 'timeout' })
  })
})
