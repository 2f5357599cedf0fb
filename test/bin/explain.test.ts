/** `whencectl explain` on deliveries: what happened to one install at each of five providers, and to deliveries that were never sent. */

import { expect } from 'chai'

import { until } from '../../fixtures/until.ts'
import { deliveryLines } from '../../bin/tools/explain/deliveries.ts'
import { explainText } from '../../bin/tools/explain/explain-text.ts'
import type { Explanation } from '../../bin/tools/explain/explanation.ts'
import { startGoogleAdsStandIn } from '../../stand-ins/google-ads.ts'
import { startGoogleOauthStandIn } from '../../stand-ins/google-oauth.ts'
import { startMetaStandIn } from '../../stand-ins/meta.ts'
import type { StandInServer } from '../../stand-ins/server.ts'
import { startTiktokStandIn } from '../../stand-ins/tiktok.ts'
import { startXStandIn } from '../../stand-ins/x.ts'
import { DELIVERY_REASONS } from '../../domain/reasons.ts'
import type { AttemptRow, DeliveryRow } from '../../ports/facts/query-rows.ts'
import { activeReceipt, eventBody, newId, post } from '../../fixtures/service/requests.ts'
import { MANIFESTS, startTestService, type TestService } from '../../fixtures/service/service.ts'
import { whencectl } from './support/run-whencectl.ts'

const ATTEMPT: AttemptRow = {
  website: 'acme-dev',
  event_id: 'e',
  destination: 'out',
  attempt_id: 'a',
  job_id: 'f00d',
  organization: 'acme',
  provider: 'meta',
  number: 1,
  started_at_ms: Date.UTC(2026, 10, 21, 12),
  duration_ms: 12,
  request_url: 'https://provider.example/events',
  request_body: '{"a":1}',
  response_status: 500,
  response_body: 'later\n  please',
  outcome: 'retry',
  code: 'http_500',
  next_step: 'again at 2026-11-21T12:00:05.000Z',
}
const DELIVERY: DeliveryRow = {
  website: 'acme-dev',
  event_id: 'e',
  destination: 'out',
  status: 'retrying',
  job_id: 'f00d',
  organization: 'acme',
  provider: 'meta',
  reason: 'attempt_failed',
  session_mode: 'none',
  detail: 'fbp',
  attempts: 1,
  changed_at_ms: 0,
  next_attempt_at_ms: Date.UTC(2026, 10, 21, 12, 0, 5),
  deadline_at_ms: Date.UTC(2026, 10, 28, 11),
  install_received_at_ms: 0,
}

function told(delivery: Partial<DeliveryRow>, attempts: readonly Partial<AttemptRow>[] = []): string {
  const plan = { destination: 'out', provider: 'meta', status: 'pending', reason: '', sessionMode: 'none' } as const
  const rows = { deliveries: [{ ...DELIVERY, ...delivery }], attempts: attempts.map((row) => ({ ...ATTEMPT, ...row })) }
  return deliveryLines({ plans: [plan], unread: [], ...rows } as unknown as Explanation).join('\n')
}

describe('the explanation of a delivery', () => {
  it('shows for each try request, answer, duration and next step, and then the next steps', () => {
    expect(told({}, [{}, { number: 2, response_status: 0, response_body: '', code: 'timeout', duration_ms: 10_001 }]))
      .to.equal(`Deliveries
  out (meta): retrying, attempt_failed: ${DELIVERY_REASONS.attempt_failed.when}
    used     fbp
    sent to  https://provider.example/events
    known as f00d
    try 1    2026-11-21 12:00:00 UTC, answered 500 after 12 ms: retry (http_500)
      request  {"a":1}
      answer   later please
      next     again at 2026-11-21T12:00:05.000Z
    try 2    2026-11-21 12:00:00 UTC, no answer after 10 s: retry (timeout)
      request  {"a":1}
      next     again at 2026-11-21T12:00:05.000Z
    next try 2026-11-21 12:00:05 UTC
    until    2026-11-28 11:00:00 UTC`)
  })

  it('says why a delivery was skipped, held, expired or failed, in the words of the table', () => {
    const reasons = Object.keys(DELIVERY_REASONS) as (keyof typeof DELIVERY_REASONS)[]
    for (const reason of reasons)
      expect(told({ reason }), reason).to.contain(`${reason}: ${DELIVERY_REASONS[reason].when}`)
    expect(told({ status: 'expired', reason: 'deadline_passed' })).not.to.contain('next try')
    expect(told({ status: 'failed', reason: 'refused' })).to.contain('replay   before 2026-11-28 11:00:00 UTC')
  })

  it('shortens long bodies and long lists of attempts, and says where to find the rest', () => {
    const text = told(
      {},
      Array.from({ length: 40 }, (_, index) => ({ number: index + 1, request_body: 'x'.repeat(5_000) })),
    )
    expect(text)
      .to.contain(`${'x'.repeat(400)}…`)
      .and.to.contain('30 more; --json')
    expect(text.match(/ {4}try /g)).to.have.length(10)
  })
})

describe('the explanation of an install that is pending', () => {
  const AT_MS = Date.UTC(2026, 10, 21, 12)
  const VISIT = '0123456789abcdef0123456789abcdef'
  const explanation = {
    install: {
      website: 'acme-dev',
      event_id: 'event-1',
      event_type: 'install_completed',
      received_at_ms: AT_MS,
      resolution: 'pending',
      selection_policy: 'none',
      candidate_count: 0,
      install_path: 'cli',
      platform: 'linux',
      arch: 'x86_64',
      timezone: '',
      language: '',
      browsers: [],
      agent: '',
      country: '',
      product_version: '',
      place: '',
      is_ci: false,
      is_container: false,
      visit_id: '',
    },
    verdicts: [{ visitId: VISIT, issuedAtMs: AT_MS - 60_000, verdict: 'undecided' }],
    plans: [{ destination: 'out', provider: 'ga4', status: 'pending', reason: '', sessionMode: 'client_only' }],
    unread: [],
    visits: [],
    deliveries: [],
    attempts: [],
  } as unknown as Explanation

  it('says what is not known yet and when it is decided at the latest, and names no visit', () => {
    const text = explainText(explanation, AT_MS + 5_000)
    expect(text).to.match(/^  result     pending: .*could not be read.* within an hour$/m)
    expect(text).to.match(
      new RegExp(`^     visit ${VISIT} of 2026-11-21 11:59:00\\.000: undecided, .*is not known yet$`, 'm'),
    )
    expect(text).to.contain('candidates among them: 0').and.to.contain('out (ga4): pending')
    expect(text).not.to.match(/^Visit |->|undefined/m)
  })
})

const DESTINATIONS = `
apiVersion: v1
kind: Secret
metadata: { name: keys }
stringData: { client-id: c, client-secret: s, refresh-token: r, token: canary-token }
${[
  [
    'acme-google',
    'google_ads',
    "googleAds: { customerId: '1', conversionActionId: '2', credentialsRef: { name: keys } }",
  ],
  ['acme-meta', 'meta', "meta: { pixelId: '1', accessTokenRef: { name: keys, key: token } }"],
  ['acme-tiktok', 'tiktok', 'tiktok: { pixelCode: C4P, accessTokenRef: { name: keys, key: token } }'],
  ['acme-x', 'x', 'x: { pixelId: o8z6j, eventId: o87ne, pixelTokenRef: { name: keys, key: token } }'],
  ['acme-x-gone', 'x', 'x: { pixelId: o8z6j, eventId: o87ne, pixelTokenRef: { name: keys, key: token } }', 'Paused'],
]
  .map(
    ([name, provider, block, mode = 'Live']) => `---
apiVersion: whence.dev/v1alpha1
kind: Destination
metadata: { name: ${name} }
spec: { websiteRef: { name: acme-dev }, displayName: D, provider: ${provider}, mode: ${mode}, ${block} }
`,
  )
  .join('')}`

describe('whencectl explain, of one install at all providers', function () {
  this.timeout(90_000)
  const standIns: StandInServer[] = []
  let service: TestService
  let receipt = ''
  let text = ''

  before(async () => {
    const [google, meta, tiktok, x, oauth] = await Promise.all([
      startGoogleAdsStandIn({ port: 0 }),
      startMetaStandIn({ port: 0 }),
      startTiktokStandIn({ port: 0, guard: { isToken: () => false } }),
      startXStandIn({ port: 0, isEvent: () => true }),
      startGoogleOauthStandIn({ port: 0 }),
    ])
    standIns.push(google, meta, tiktok, x, oauth)
    meta.fail('*', { kind: 'status', status: 400, body: '{"error":{"code":80004,"message":"too many calls"}}' })
    x.fail('*', {
      kind: 'status',
      status: 400,
      body: '{"errors":[{"code":"INVALID_PARAMETER","message":"not a SET"}]}',
    })
    const acme = (MANIFESTS['acme.yaml'] ?? '').replace('[ga4, google_ads, meta]', '[ga4, google_ads, meta, tiktok, x]')
    service = await startTestService({
      manifests: { 'acme.yaml': acme, 'more.yaml': DESTINATIONS },
      env: {
        WHENCE_GOOGLE_ADS_URL: google.url,
        WHENCE_GOOGLE_OAUTH_URL: oauth.url,
        WHENCE_META_URL: meta.url,
        WHENCE_TIKTOK_URL: tiktok.url,
        WHENCE_X_URL: x.url,
      },
    })
    const now = Math.floor(Date.now() / 1_000)
    const identities = {
      ga4: { 'G-TEST000001': { client_id: `123456789.${now}`, session_id: String(now) } },
      google_ads: { gclid: 'canary-gclid' },
      meta: { fbclid: 'canary-fbclid' },
      tiktok: { ttclid: 'canary-ttclid' },
      x: { twclid: 'canary-twclid' },
    }
    receipt = await activeReceipt(service.url, { identities })
    const eventId = newId()
    await post(`${service.url}/v1/events`, eventBody({ event_id: eventId, receipts: [receipt] }))
    const isTold = (): boolean =>
      ['known as', 'INVALID_PARAMETER', '40105', '80004'].every((word) => text.includes(word))
    const isExplained = async (): Promise<boolean> => {
      await service.drain('facts-writer')
      text = (await whencectl(['explain', eventId, '--data', `${service.folder}/data`])).stdout
      return isTold() && text.includes('click_too_fresh')
    }
    await until(isExplained, { what: () => `everything is explained, not only ${text}` })
  })
  after(async () => {
    await service?.stop()
    await Promise.all(standIns.map((standIn) => standIn.close()))
  })

  it('shows the answer of each, and what follows', () => {
    for (const words of [
      /acme-ga4 \(ga4\): delivered\n(?: {4}.*\n)+? {4}try 1 .*answered 204 .*: delivered \(accepted\)\n {6}request {2}\{"client_id":"\[hidden\]"/,
      /acme-google \(google_ads\): retrying, click_too_fresh: .*\n {4}next try .*UTC\n {4}until/,
      /acme-meta \(meta\): retrying, throttled: [^]*?answered 400 .*throttled \(80004\)\n {6}request .*\n {6}answer {3}.*too many calls.*\n {6}next {5}again at/,
      /acme-tiktok \(tiktok\): retrying, credentials_refused: [^]*?answered 200 .*credentials \(40105\)/,
      /acme-x \(x\): failed, refused: [^]*?refused \(INVALID_PARAMETER\)[^]*?not a SET[^]*?replay {3}before/,
      /acme-x-gone \(x\): skipped, destination_paused: /,
    ]) {
      expect(text).to.match(words)
    }
  })

  it('shows how many installations its visit was matched to, if there are others', async () => {
    expect(text).not.to.contain('shared by')
    const other = newId()
    await post(`${service.url}/v1/events`, eventBody({ event_id: other, receipts: [receipt] }))
    await service.drain('facts-writer')
    const { stdout } = await whencectl(['explain', other, '--data', `${service.folder}/data`])
    expect(stdout).to.match(/^Visit [0-9a-f]{32}\n {2}when .*\n {2}shared by {2}2 installations in all$/m)
  })

  it('shows no secret and no identifier', () => {
    expect(text).not.to.contain('canary')
  })
})
