/** The promises that every advertising provider makes, as tests; and how its builder and classifier are called in them. */

import { expect } from 'chai'
import fc from 'fast-check'

import type { Destination } from '../../../domain/catalog.ts'
import { PROVIDER_DESCRIPTORS } from '../../../domain/providers/index.ts'
import type { Identities } from '../../../domain/model.ts'
import type { Job } from '../../../domain/records.ts'
import type {
  DestinationContext,
  Outcome,
  Provider,
  ProviderReply,
  ProviderRequest,
} from '../../../delivery/providers/provider.ts'
import { IDENTITIES, adJob, leakyJob } from '../../../fixtures/delivery/ad-install.ts'
import { DAY_MS, HOUR_MS, NOON_MS } from '../../../fixtures/delivery/builders.ts'

export const SOON_MS = NOON_MS + 250

export function contextOf(destination: Destination, secrets: Record<string, string>): DestinationContext {
  const { settings, reconstructionWindowHours } = destination
  return { settings, secrets, isValidateOnly: false, reconstructionWindowHours }
}

export function built(provider: Provider, job: Job, context: DestinationContext, nowMs = SOON_MS): ProviderRequest {
  const request = provider.request(job, context, nowMs)
  if ('kind' in request) throw new Error(`skipped: ${request.reason}`)
  return request
}

export function bodyOf(request: ProviderRequest): any {
  return JSON.parse(request.body)
}

export function replyOf(overrides: Partial<ProviderReply> & { readonly json?: unknown }): ProviderReply {
  const { json, ...rest } = overrides
  const body = json === undefined ? '' : JSON.stringify(json)
  return { status: 200, headers: {}, body, failure: '', isUnclear: false, ...rest }
}

export interface Case {
  readonly provider: Provider
  readonly destination: Destination
  readonly context: DestinationContext
  /** What the provider's documented rules refuse in a body. */
  readonly check: (body: string, nowMs: number) => readonly string[]
  /** The place of each delivery's ID in the body. */
  readonly idsIn: (body: any) => readonly string[]
}

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom('', ' ', '\ud800', 'x'.repeat(1_024), 'fb.1.1.', 'fb.1.1795000000000.a b', 'null', 'GCL.x.y', '%00'),
)
const perhaps = <T>(value: T, strange: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: fc.constant(undefined) }, strange)

/** Every field the proper one, none, or anything at all. */
const anyIdentities: fc.Arbitrary<Identities> = fc
  .tuple(
    fc.record(mapped(IDENTITIES.google_ads, (value) => perhaps<string>(value, anyText))),
    fc.record(mapped(IDENTITIES.meta, (value) => perhaps<string>(value, anyText))),
    fc.record({ ttp: perhaps<string>('canary-ttp', anyText), ttclid: perhaps<string>('E.C.P.canary-ttclid', anyText) }),
    fc.record({ twclid: perhaps<string>('canarytwclid', anyText) }),
  )
  .map(([google_ads, meta, tiktok, x]) => ({ ...IDENTITIES, google_ads, meta, tiktok, x }) as Identities)

function mapped<T extends object, A>(fields: T, arbitrary: (value: string) => A): Record<keyof T, A> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, arbitrary(String(value))])) as never
}

/** Identifiers of all the other providers. */
function foreignTo(provider: string): string[] {
  const { ga4: _ga4, custom: _custom, ...ads } = IDENTITIES
  const foreign = Object.entries(ads).filter(([id]) => id !== provider)
  const values = foreign.flatMap(([, fields]) => Object.values(fields).filter((value) => typeof value === 'string'))
  return [...values, '31337.31337', 'canary-custom', CLIENT]
}
const CLIENT = Object.values(IDENTITIES.ga4)[0]?.client_id ?? ''

export function describeAdProvider({ provider, destination, context, check, idsIn }: Case): void {
  const validate = { ...context, isValidateOnly: true }

  it('holds no identifier of another provider, even if the job does', () => {
    const request = JSON.stringify(built(provider, leakyJob(destination), context))
    for (const value of foreignTo(provider.id)) expect(request).not.to.contain(value)
    expect(request).not.to.contain('news.example').and.not.to.contain('newsletter')
  })

  it('is not made under GPC, of the visit or of the token, whatever identifiers there are', () => {
    const gpc = { kind: 'skip', reason: 'gpc' }
    fc.assert(
      fc.property(anyIdentities, fc.boolean(), (identities, isOfVisit) => {
        const optOut = isOfVisit ? { visit: { gpc: true } } : { install: { gpc: true } }
        const job = leakyJob(destination, { identities, ...optOut })
        expect(provider.request(job, context, SOON_MS)).to.deep.equal(gpc)
        expect(provider.request(job, validate, SOON_MS)).to.deep.equal(gpc)
      }),
    )
  })

  it("keeps every rule the provider documents and holds no other provider's identifiers, whatever the visit holds", () => {
    let sent = 0
    fc.assert(
      fc.property(
        anyIdentities,
        fc.integer({ min: 0, max: 30 * DAY_MS }),
        fc.integer({ min: 0, max: PROVIDER_DESCRIPTORS[provider.id].maxAgeMs - 1 }),
        (identities, agoMs, lateMs) => {
          const issuedAtMs = NOON_MS - agoMs
          const visit = { issuedAtMs, landedAtMs: issuedAtMs - HOUR_MS / 60 }
          const job = leakyJob(destination, { identities, visit })
          const nowMs = NOON_MS + lateMs
          const request = provider.request(job, context, nowMs)
          if ('kind' in request) return
          sent += 1
          expect(check(request.body, nowMs)).to.deep.equal([])
          for (const value of foreignTo(provider.id)) expect(request.body).not.to.contain(value)
          expect(idsIn(bodyOf(request))).to.deep.equal([job.jobId])
        },
      ),
      { numRuns: 500 },
    )
    expect(sent).to.be.greaterThan(50)
  })

  it('is the same for the same input', () => {
    const job = adJob(destination)
    expect(provider.request(job, context, SOON_MS)).to.deep.equal(provider.request(job, context, SOON_MS))
  })

  it('hides the credentials and every identifier that it uses', () => {
    const request = built(provider, adJob(destination), context)
    const hidden = (text: string) => request.secrets.reduce((clean, secret) => clean.replaceAll(secret, '*'), text)
    const shown = hidden(JSON.stringify([request.path, request.query, request.headers, request.body]))
    const own = Object.values(IDENTITIES[provider.id as 'x']).filter((value) => typeof value === 'string')
    for (const value of [...own, ...Object.values(context.secrets)]) expect(shown).not.to.contain(value)
  })

  it('of several deliveries holds each one once, in their order, and keeps the rules', () => {
    const jobs = [1, 2, 3].map((number) => adJob(destination, { install: { eventId: `event-000${number}` } }))
    const request = provider.batch?.request(jobs, context, SOON_MS)
    expect(idsIn(JSON.parse(request?.body ?? 'null'))).to.deep.equal(jobs.map(({ jobId }) => jobId))
    expect(check(request?.body ?? '', SOON_MS)).to.deep.equal([])
  })

  it('of the most deliveries that fit keeps the rules', () => {
    const most = provider.batch?.maxJobs ?? 0
    const jobs = Array.from({ length: most }, () => adJob(destination))
    expect(check(provider.batch?.request(jobs, context, SOON_MS).body ?? '', SOON_MS)).to.deep.equal([])
    const more = provider.batch?.request([...jobs, adJob(destination)], context, SOON_MS).body ?? ''
    expect(check(more, SOON_MS)).not.to.deep.equal([])
  })

  it('any answer is one of the known outcomes, with a code that shows nothing of the request', () => {
    const kinds = ['delivered', 'retry', 'throttled', 'credentials', 'refused', 'accepted']
    const anyBody = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record({ code: fc.anything(), error: fc.anything(), errors: fc.anything() })
        .map((value) => JSON.stringify(value)),
    )
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999 }), anyBody, fc.boolean(), (status, body, isValidateOnly) => {
        const outcome: Outcome = provider.outcome(replyOf({ status, body }), { ...context, isValidateOnly })
        expect(kinds).to.include(outcome.kind)
        expect(outcome.code.length).to.be.lessThan(250)
      }),
      { numRuns: 500 },
    )
  })
}

export type OutcomeRow = readonly [
  name: string,
  reply: Partial<ProviderReply> & { readonly json?: unknown },
  kind: Outcome['kind'],
  code: string,
]

export function describeOutcomes(provider: Provider, context: DestinationContext, rows: readonly OutcomeRow[]): void {
  for (const [name, reply, kind, code] of rows) {
    it(`${name} is ${kind}`, () => {
      const outcome = provider.outcome(replyOf(reply), context)
      expect({ kind: outcome.kind, code: outcome.code }).to.deep.equal({ kind, code })
    })
  }
}

/** What HTTP alone shows, the same for every provider. */
export const PLAIN_ROWS: readonly OutcomeRow[] = [
  ['no answer', { status: 0, failure: 'timeout', isUnclear: true }, 'retry', 'timeout'],
  ['no connection', { status: 0, failure: 'connection' }, 'retry', 'connection'],
  ['what cannot be sent', { status: 0, failure: 'unsendable' }, 'credentials', 'unsendable'],
  ['500', { status: 500 }, 'retry', 'http_500'],
  ['502 with a page of HTML', { status: 502, body: '<html>' }, 'retry', 'http_502'],
  ['503', { status: 503 }, 'retry', 'http_503'],
  ['408', { status: 408 }, 'retry', 'http_408'],
  ['429', { status: 429 }, 'throttled', 'http_429'],
  ['a redirect', { status: 302 }, 'refused', 'http_302'],
  ['200 that says nothing', {}, 'retry', 'unreadable_answer'],
  ['200 that breaks off', { body: '{"co', failure: 'timeout', isUnclear: true }, 'retry', 'unreadable_answer'],
]
