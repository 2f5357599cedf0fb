/** In both directions: every code that this version can answer is answered here, and the table contains no other. */

import { expect } from 'chai'
import { ERRORS, type ErrorCode } from '../../domain/errors.ts'
import { issueReceipt } from '../../domain/receipt.ts'
import { LogUnavailable } from '../../ports/event-log/event-log.ts'
import type { Reply } from '../../fixtures/service/requests.ts'
import { freshAddress, TEST_ORIGIN } from './support/api.ts'
import { startLoneApi, type LoneApi } from './support/lone-api.ts'
import { KEYS } from './support/keys.ts'
import { SEEN_CODES } from './support/openapi-check.ts'
import { exchangeRaw } from './support/raw.ts'

/** Codes that only the dashboard answers. */
const NOT_HERE = [
  'unauthenticated',
  'plan_limit',
  'plan_required',
  'forbidden',
  'cross_origin',
  'sign_in_refused',
  'code_required',
  'already_member',
  'last_owner',
  'person_limit',
  'managed_elsewhere',
  'conflict',
  'version_required',
  'invitation_over',
  'mail_not_configured',
  'oidc_not_configured',
  'already_subscribed',
  'not_subscribed',
  'foreign_customer',
  'invalid_signature',
  'invalid_csv',
  'import_running',
] as const

type Answer = { readonly status: number; readonly error: string }
type Provoke = (api: LoneApi) => Promise<Answer>

const told = async (reply: Promise<Reply>): Promise<Answer> => {
  const { status, body } = await reply
  return { status, error: body['error'] as string }
}
const raw = async (api: LoneApi, ...pieces: Parameters<typeof exchangeRaw>[1]): Promise<Answer> => {
  const { answers } = await exchangeRaw(api.service.port, pieces)
  const { error } = JSON.parse(answers[0]?.body ?? '{}') as { error: string }
  SEEN_CODES.add(error)
  return { status: answers[0]?.status ?? 0, error }
}
const whileBroken = async (api: LoneApi, error: Error): Promise<Answer> => {
  const { eventLog } = api.service
  const append = eventLog.append.bind(eventLog)
  eventLog.append = () => Promise.reject(error)
  try {
    return await told(api.visit())
  } finally {
    eventLog.append = append
  }
}
const issued = (api: LoneApi, more: { isHandoffOnly?: boolean; ageMs?: number; origin?: string } = {}): string =>
  issueReceipt(KEYS, {
    organization: 'acme',
    website: 'acme-dev',
    origin: more.origin ?? TEST_ORIGIN,
    issuedAtMs: api.service.nowMs() - (more.ageMs ?? 0),
    random: new Uint8Array(5),
    isHandoffOnly: more.isHandoffOnly ?? false,
    isUnrecorded: false,
    gpc: false,
  }).text

const PROVOKE: { readonly [C in Exclude<ErrorCode, (typeof NOT_HERE)[number]>]: Provoke } = {
  invalid_json: (api) => told(api.post('/v1/visits', '[]')),
  invalid_field: (api) => told(api.visit({ gpc: 1 })),
  invalid_request: (api) => raw(api, 'NONSENSE\r\n\r\n'),
  handoff_excludes_receipts: (api) => told(api.event({ handoff: 'x', receipts: ['A'.repeat(43)] })),
  origin_not_allowed: (api) => told(api.visit({}, { origin: 'https://evil.example' })),
  origin_mismatch: (api) => told(api.activate(issued(api, { origin: 'https://docs.acme.dev' }))),
  native_endpoint: (api) => told(api.event({}, { origin: TEST_ORIGIN })),
  website_not_found: (api) => told(api.get('/v1/projects/nobody/report.sh')),
  install_path_not_found: (api) => told(api.get('/v1/projects/acme-dev/paths/nothing/report.sh')),
  receipt_not_found: (api) => told(api.activate('forged')),
  not_found: (api) => told(api.get('/nothing')),
  method_not_allowed: (api) => told(api.get('/v1/visits')),
  request_timeout: (api) => raw(api, 'GET /health HTTP/1.1\r\nHost: x\r\n', { pauseMs: 7_000 }),
  receipt_not_activatable: (api) => told(api.activate(issued(api, { isHandoffOnly: true }))),
  receipt_revoked: async (api) => {
    const first = await api.activeReceipt()
    await api.activeReceipt({ previous_receipt: first })
    return told(api.activate(first))
  },
  receipt_expired: (api) => told(api.activate(issued(api, { ageMs: 31 * 86_400_000 }))),
  body_too_large: (api) => told(api.post('/v1/visits', 'x'.repeat(16_385))),
  unsupported_media_type: (api) => told(api.post('/v1/visits', '{}', { headers: { 'Content-Type': 'text/plain' } })),
  unsupported_encoding: (api) => told(api.post('/v1/visits', '{}', { headers: { 'Content-Encoding': 'gzip' } })),
  rate_limited: async (api) => {
    const address = freshAddress()
    await Promise.all(Array.from({ length: 30 }, () => api.event({}, { address })))
    return told(api.event({}, { address }))
  },
  headers_too_large: (api) => raw(api, `GET /health HTTP/1.1\r\nHost: x\r\nCookie: ${'x'.repeat(17_000)}\r\n\r\n`),
  internal: (api) => whileBroken(api, new TypeError('a fault')),
  unavailable: (api) => whileBroken(api, new LogUnavailable('full')),
}

describe('the table of error codes', () => {
  let api: LoneApi
  before(async () => {
    // A minute that does not end: some codes come after its limit.
    const startMs = Date.now() - (Date.now() % 60_000) + 1_000
    api = await startLoneApi({ nowMs: () => startMs })
  })
  after(() => api.stop())

  for (const [code, provoke] of Object.entries(PROVOKE) as [keyof typeof PROVOKE, Provoke][]) {
    it(`has ${code} with the status that it is answered with`, async () => {
      expect(await provoke(api)).to.deep.equal({ status: ERRORS[code].status, error: code })
    })
  }

  describe('afterwards', () => {
    it('has no code that no request can cause, except those of the dashboard', () => {
      const codes = Object.keys(ERRORS)
      expect(codes.filter((code) => !SEEN_CODES.has(code))).to.have.members([...NOT_HERE])
    })

    it('has every code that any answer of these tests contained', () => {
      expect([...SEEN_CODES].filter((code) => !(code in ERRORS))).to.deep.equal([])
    })
  })
})
