/** Thousands of made-up bodies: each is answered as documented, none causes a fault, and every one is recorded. */

import { expect } from 'chai'
import fc from 'fast-check'
import { compileValidator } from '../../api/http/validate.ts'
import type { Refusal } from '../../domain/errors.ts'
import {
  ACTIVATION_SCHEMA,
  EVENT_SCHEMA,
  HANDOFF_RECEIPT_SCHEMA,
  HANDOFF_VISIT_SCHEMA,
  KNOWN_MEMBERS,
  VISIT_SCHEMA,
} from '../../domain/collection/schemas.ts'
import { parseStrictJson } from '../../domain/strict-json.ts'
import { checkVisitFields } from '../../domain/collection/visit.ts'
import { newId } from '../../fixtures/service/requests.ts'
import { eventBody, startApi, visitBody, type Api } from './support/api.ts'

type Body = Record<string, unknown>
type Validator = (body: Body) => Refusal | null

/** Everything that JSON can contain, and a few values that often cause trouble. */
const oddText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    '\u0000',
    '\ud800',
    '\udfff\ud800',
    '\ufeff',
    '__proto__',
    'null',
    'é'.normalize('NFD'),
    '🚀'.repeat(200),
    "'; DROP TABLE visits; --",
    '=1+1',
    '\\N',
    '\t',
    '\\',
    '%00',
    '${x}',
    'x'.repeat(9_000),
  ),
)
const oddNumber = fc.oneof(fc.double(), fc.constantFrom(-0, 1e308, -1e308, 5e-324, 2 ** 53, 2 ** 63, 8.64e15, -1, 0.1))
const oddValue = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    oddText,
    oddNumber,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(oddText, tie('value'), { maxKeys: 5, noNullPrototype: true }),
  ),
})).value

/** Places of a body's fields, so that injected values are read. */
const PLACES: readonly (readonly string[])[] = [
  ...[
    'project',
    'url_id',
    'page_url',
    'referrer',
    'identities',
    'source',
    'gpc',
    'client',
    'previous_receipt',
    'receipt',
  ].map((name) => [name]),
  ...[
    'event_id',
    'installation_id',
    'event_type',
    'receipts',
    'handoff',
    'platform',
    'install_path',
    'arch',
    'browsers',
    'default_browser',
    'timezone',
    'language',
    'product_version',
    'place',
    'ci',
    'container',
  ].map((name) => [name]),
  ...['ga4', 'google_ads', 'meta', 'tiktok', 'x', 'custom', 'other'].map((name) => ['identities', name]),
  ['identities', 'ga4', 'G-TEST000001'],
  ['identities', 'ga4', 'G-TEST000001', 'client_id'],
  ['identities', 'ga4', 'G-TEST000001', 'session_id'],
  ['identities', 'google_ads', 'gclid'],
  ['identities', 'meta', 'fbp'],
  ['identities', 'x', 'twclid_at'],
  ['identities', 'custom', 'crm'],
  ['identities', 'custom', 'crm', 'field'],
  ['source', 'utm'],
  ['source', 'utm', 'source'],
  ['source', 'landed_at'],
  ['source', 'referrer'],
  ['client', 'brands'],
  ['client', 'language'],
  ['client', 'bitness'],
]

function put(body: Body, [name = '', ...rest]: readonly string[], value: unknown): Body {
  if (rest.length === 0) return { ...body, [name]: value }
  const inner = body[name]
  return {
    ...body,
    [name]: put(
      typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? (inner as Body) : {},
      rest,
      value,
    ),
  }
}

const change = fc.tuple(fc.constantFrom(...PLACES), oddValue)
const changes = fc.array(change, { minLength: 1, maxLength: 3 })

/** Bodies that are not JSON any more, or only just. */
const breakage = fc.oneof(
  fc.nat(2_000).map((cut) => (text: string) => text.slice(0, cut % (text.length + 1))),
  fc.tuple(fc.nat(2_000), fc.string({ unit: 'binary', maxLength: 3 })).map(
    ([at, piece]) =>
      (text: string) =>
        text.slice(0, at % text.length) + piece + text.slice((at % text.length) + 1),
  ),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => () => bytes),
  oddText.map((odd) => () => odd),
)

/** Runs at once; the service takes thousands a second, one after the other would wait for the disk each time. */
const AT_ONCE = 20

describe('made-up bodies', () => {
  let api: Api
  let asked = 0
  const accepted = { '/v1/visits': 0, '/v1/events': 0, '/v1/handoffs': 0, '/v1/visits/activate': 0 }
  let receipt = ''
  before(async () => {
    api = await startApi()
    receipt = (await api.visit()).body['marker'].receipt
    asked++
    accepted['/v1/visits']++
  })
  after(() => api.stop())

  const SOUND: Record<keyof typeof accepted, () => Body> = {
    '/v1/visits': visitBody,
    '/v1/events': eventBody,
    '/v1/handoffs': visitBody,
    '/v1/visits/activate': () => ({ project: 'acme-dev', receipt }),
  }
  const send = async (path: keyof typeof accepted, body: unknown): Promise<void> => {
    asked++
    const { status, body: answer } = await api.post(path, body)
    expect(status).to.be.below(500)
    // An odd value may be a valid event ID, and come twice.
    if (status === 200 && answer['duplicate'] !== true) accepted[path]++
  }

  for (const path of Object.keys(accepted) as (keyof typeof accepted)[]) {
    it(`are answered as documented by ${path}: fields of every kind`, async () => {
      const runs = fc.array(changes, { minLength: AT_ONCE, maxLength: AT_ONCE })
      await fc.assert(
        fc.asyncProperty(runs, async (batch) => {
          api.service.advance(2_000)
          await Promise.all(
            batch.map((list) =>
              send(
                path,
                list.reduce((body, [place, value]) => put(body, place, value), SOUND[path]()),
              ),
            ),
          )
        }),
        { numRuns: 40, endOnFailure: true },
      )
    }).timeout(60_000)

    it(`are answered as documented by ${path}: text that is cut, altered or random`, async () => {
      const runs = fc.array(breakage, { minLength: AT_ONCE, maxLength: AT_ONCE })
      await fc.assert(
        fc.asyncProperty(runs, async (batch) => {
          api.service.advance(2_000)
          await Promise.all(batch.map((breakIt) => send(path, breakIt(JSON.stringify(SOUND[path]())))))
        }),
        { numRuns: 20, endOnFailure: true },
      )
    }).timeout(60_000)
  }

  describe('afterwards', () => {
    it('every accepted one is a fact, every one is in Logs, and none became a poison record', async () => {
      await api.service.drain('facts-writer')
      const [counts] = await api.service.facts.run('counts', {})
      expect(counts!.visits).to.equal(accepted['/v1/visits'] + accepted['/v1/handoffs'])
      expect(counts!.handoffs).to.equal(accepted['/v1/handoffs'])
      expect(counts!.installs).to.equal(accepted['/v1/events'])
      expect(counts!.activations).to.equal(accepted['/v1/visits/activate'] === 0 ? 0 : 1)
      expect(counts!.request_logs).to.equal(asked)
      expect(counts!.poison_records).to.equal(0)
      expect(asked).to.be.above(3_000)
      expect(Math.min(...Object.values(accepted))).to.be.above(20)
    })

    it('there was no fault', () => {
      expect(api.service.logLines.filter((line) => /request failed|"level":"(error|fatal)"/.test(line))).to.deep.equal(
        [],
      )
    })
  })
})

describe('the validators', () => {
  // What passed the schema of a visit goes on to `checkVisitFields`, and nothing else does.
  const ofVisits = (bySchema: Validator): Validator => {
    return (body) => bySchema(body) ?? checkVisitFields(body)
  }
  const validators: readonly (readonly [string, Validator, () => Body])[] = [
    ['visits', ofVisits(compileValidator(VISIT_SCHEMA)), visitBody],
    ['visits for a handoff', ofVisits(compileValidator(HANDOFF_VISIT_SCHEMA)), visitBody],
    ['handoffs of a receipt', compileValidator(HANDOFF_RECEIPT_SCHEMA), () => ({ project: 'acme-dev', receipt: 'x' })],
    ['activations', compileValidator(ACTIVATION_SCHEMA), () => ({ project: 'acme-dev', receipt: 'x' })],
    ['events', compileValidator(EVENT_SCHEMA), eventBody],
  ]
  for (const [name, validate, sound] of validators) {
    it(`of ${name} name a field of the contract and repeat no value`, () => {
      fc.assert(
        fc.property(changes, (list) => {
          const mark = newId()
          const marked = list.map(
            ([place, value]) => [place, typeof value === 'string' ? mark + value : value] as const,
          )
          const text = JSON.stringify(marked.reduce((body, [place, value]) => put(body, place, value), sound()))
          const body = parseStrictJson(text)
          if (body === null) return
          const refusal = validate(body)
          if (refusal === null) return
          expect(refusal.code).to.equal('invalid_field')
          const pointer = refusal.extra?.['field'] as string
          const steps = pointer.split('/').slice(1)
          expect(steps.filter((step) => step !== '*' && !/^\d+$/.test(step) && !KNOWN_MEMBERS.has(step))).to.deep.equal(
            [],
          )
          expect(JSON.stringify(refusal)).to.not.include(mark)
        }),
        { numRuns: 4_000, examples: [[[[['page_url'], { toString: 0 }]]]] },
      )
    })
  }
})
