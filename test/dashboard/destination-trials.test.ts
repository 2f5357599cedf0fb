/** Trials of destinations over the API: what is checked before a provider is asked, what it gets, and what is shown of its answer. */

import { expect } from 'chai'

import type { DestinationTrial } from '../../dashboard/set-up/destination-trial.ts'
import { createTrials } from '../../bin/wiring/trials.ts'
import { LIMITS, REPLAY_RULES } from '../../domain/limits.ts'
import { PROVIDER_URL_SETTINGS } from '../../domain/providers/addresses.ts'
import { PROVIDER_IDS, type ProviderId } from '../../domain/providers/index.ts'
import { recordOf } from '../../domain/typed-keys.ts'
import { organizationOf, startStage, websiteOf, type Stage } from './support/stage.ts'

const PEOPLE = { 'admin@acme.dev': 'Owner', 'member@acme.dev': 'Member', 'viewer@acme.dev': 'Viewer' }
const PASSED = {
  verdict: 'passed',
  code: 'accepted',
  facility: 'asked',
  responseStatus: 204,
  responseBody: 'x'.repeat(5_000),
} as const
const TRIALS: {
  readonly [P in ProviderId]: { readonly settings: object; readonly values: object; readonly secrets: object }
} = {
  ga4: {
    settings: { measurementId: 'G-ABC1234567' },
    values: { 'api-secret': 'hidden-one' },
    secrets: { apiSecret: 'hidden-one' },
  },
  google_ads: {
    settings: { customerId: '1234567890', conversionActionId: '42' },
    values: { 'client-id': 'a', 'client-secret': 'b', 'refresh-token': 'c' },
    secrets: { clientId: 'a', clientSecret: 'b', refreshToken: 'c' },
  },
  meta: { settings: { pixelId: '123' }, values: { token: 'hidden-two' }, secrets: { accessToken: 'hidden-two' } },
  tiktok: {
    settings: { pixelCode: 'CABC' },
    values: { token: 'hidden-three' },
    secrets: { accessToken: 'hidden-three' },
  },
  x: {
    settings: { pixelId: 'o1abc', eventId: 'tw-o1abc-xyz' },
    values: { token: 'hidden-four' },
    secrets: { pixelToken: 'hidden-four' },
  },
}

describe('trials of destinations', () => {
  let stage: Stage
  let asked: DestinationTrial[] = []
  let answered: Promise<unknown> = Promise.resolve()
  before(async () => {
    stage = await startStage({
      manifests:
        organizationOf('acme', { members: PEOPLE }) +
        websiteOf('acme-site', 'acme') +
        '---\n' +
        organizationOf('small', { plan: 'Free', members: { 'admin@small.dev': 'Owner' } }) +
        websiteOf('small-site', 'small'),
      tryDestination: async (trial) => {
        asked.push(trial)
        await answered
        return PASSED
      },
    })
  })
  beforeEach(() => (asked = []))
  after(() => stage?.stop())

  const tried = async (body: object, { who = 'member@acme.dev', at = 'acme/websites/acme-site' } = {}) =>
    stage.ask('POST', `/api/organizations/${at}/destination-trials`, { cookies: await stage.signIn(who), body })

  for (const provider of PROVIDER_IDS)
    it(`ask ${provider} with what was typed, and show the beginning of its answer`, async () => {
      const { settings, values, secrets } = TRIALS[provider]
      const { status, body } = await tried({ provider, settings, values })
      expect({ status, body }).to.deep.equal({
        status: 200,
        body: {
          verdict: 'passed',
          code: 'accepted',
          facility: 'asked',
          status: 204,
          answer: 'x'.repeat(LIMITS.destinationTrialAnswerChars),
        },
      })
      expect(asked).to.have.length(1)
      expect(asked[0]).to.deep.include({ provider, owner: { organization: 'acme', website: 'acme-site' }, secrets })
      expect(asked[0]?.settings).to.deep.include(settings)
    })

  it('name the field that does not fit, and ask nobody', async () => {
    const cases: readonly (readonly [ProviderId, object, string])[] = [
      ['ga4', {}, '/settings/measurementId'],
      ['ga4', { measurementId: 'UA-123' }, '/settings/measurementId'],
      ['google_ads', { customerId: '123-456-7890', conversionActionId: '42' }, '/settings/customerId'],
      ['meta', { pixelId: 'abc' }, '/settings/pixelId'],
    ]
    for (const [provider, settings, field] of cases) {
      const { status, body } = await tried({ provider, settings, values: TRIALS[provider].values })
      expect([status, body['error'], body['field']], provider).to.deep.equal([400, 'invalid_field', field])
    }
    expect(asked).to.deep.equal([])
  })

  it('are for members, on websites of their own, and not on Free', async () => {
    const body = { provider: 'ga4', ...TRIALS.ga4 }
    const { secrets: _, ...wanted } = body
    expect((await tried(wanted, { who: 'viewer@acme.dev' })).status).to.equal(403)
    expect((await tried(wanted, { at: 'acme/websites/small-site' })).status).to.equal(404)
    const free = await tried(wanted, { who: 'admin@small.dev', at: 'small/websites/small-site' })
    expect([free.status, free.body['error']]).to.deep.equal([402, 'plan_required'])
    expect(asked).to.deep.equal([])
  })

  it('wait for one answer at a time, and end at the limit of the hour', async () => {
    const { settings, values } = TRIALS.ga4
    const body = { provider: 'ga4', settings, values }
    const held = Promise.withResolvers<null>()
    answered = held.promise
    const first = tried(body)
    while (asked.length === 0) await new Promise(setImmediate)
    expect((await tried(body)).status).to.equal(503)
    held.resolve(null)
    expect((await first).status).to.equal(200)
    const statuses: number[] = []
    for (let count = 0; count < REPLAY_RULES.destination_trials.limit; count += 1)
      statuses.push((await tried(body)).status)
    expect(new Set(statuses)).to.deep.equal(new Set([200, 429]))
  })

  it('never show a credential, even if nothing can be reached', async () => {
    // Port 9 of this machine answers nobody.
    const urls = recordOf(PROVIDER_URL_SETTINGS, () => 'http://127.0.0.1:9')
    const tryDestination = createTrials(
      { ...urls, httpsProxy: null, noProxy: [], proxyNames: 'Local' } as never,
      Date.now,
    )
    for (const provider of PROVIDER_IDS) {
      const { settings, secrets } = TRIALS[provider]
      const report = await tryDestination({
        owner: { organization: 'acme', website: 'acme-site' },
        origin: 'https://acme.dev',
        provider,
        settings: settings as Record<string, unknown>,
        secrets: secrets as Record<string, string>,
      })
      expect(['unclear', 'passed', 'refused'], provider).to.include(report.verdict)
      expect(JSON.stringify(report)).to.not.match(/hidden-(?:one|two|three|four)/)
    }
  })
})
