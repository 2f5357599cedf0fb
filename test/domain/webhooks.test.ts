/** What webhooks are sent is what is documented: every payload fits its schema, and the example of the docs verifies it. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { Webhook } from 'standardwebhooks'

import { webhookHeaders } from '../../delivery/streams/signature.ts'
import { WEBHOOK_EVENT_TYPES, type WebhookMessageType } from '../../domain/model.ts'
import { WEEKLY_EXAMPLE } from '../../domain/webhooks/weekly-payload.ts'
import { checkSchema } from '../../domain/schema/check-schema.ts'
import {
  eventOfActivity,
  eventOfAlert,
  eventOfDecision,
  eventOfDelivery,
  eventOfInstall,
  type NoticedEvent,
} from '../../domain/webhooks/events.ts'
import { webhookJobs, webhookTestJob } from '../../domain/webhooks/jobs.ts'
import { WEBHOOK_MESSAGES, webhookSchemaDocument, type WebhookPayload } from '../../domain/webhooks/payloads.ts'
import { toldText } from '../../domain/webhooks/told-text.ts'
import { visitToldBy, withVisit } from '../../domain/webhooks/visit-told.ts'
import {
  activityRecord,
  alertRecord,
  decisionRecord,
  deliveryRecord,
  installRecord,
  visit as plainVisitOf,
} from '../contract/fact-samples.ts'
import { ROOT } from '../tidy/source-files.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const CANARY = 'canary-of-a-person'
const HOOK = {
  id: 'default/events',
  namespace: 'default',
  objectName: 'events',
  displayName: 'Events',
  format: 'Standard' as const,
  url: 'https://a.dev/',
  events: WEBHOOK_EVENT_TYPES,
  isPaused: false,
  previousSecretUntilMs: null,
}
const ORGANIZATION = { id: 'acme', logRetentionDays: 30, webhooks: [HOOK] }
const PAGE = readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8')
const sha = (text: string): string =>
  [...text]
    .reduce((sum, each) => (sum * 31 + each.charCodeAt(0)) % 2 ** 31, 7)
    .toString(16)
    .padStart(64, '0')

/** What a visitor may write into an address. */
const HOSTILE = '<!channel> ${jndi:x} "}],\u202e\n__proto__'

function withHostileVisit(event: NoticedEvent | null): NoticedEvent | null {
  const page = `https://acme.dev/install/anna@acme.dev?email=${CANARY}`
  const traffic = {
    source: `https://www.news.example/item?id=${CANARY}`,
    medium: HOSTILE,
    campaign: `//x.example/${CANARY}`,
    channel: CANARY,
  }
  return event === null ? null : withVisit(event, { ...plainVisitOf({ landingPage: page }), traffic })
}

function everyEvent(): readonly (NoticedEvent | null)[] {
  const visit = { resolution: 'matched', visitId: 'ab'.repeat(16), visitIssuedAtMs: 1_795_000_000_000 } as const
  const machine = { installationId: CANARY, timezone: CANARY, language: CANARY, platform: CANARY }
  const catalog = { organizations: new Map() }
  const activity = (changes: Parameters<typeof activityRecord>[0]) => eventOfActivity(activityRecord(changes), catalog)
  const changed = { type: 'object_changed', website: '', actor: CANARY } as const
  return [
    eventOfInstall(installRecord({ ...visit, ...machine })),
    withHostileVisit(eventOfInstall(installRecord({ ...visit, ...machine, place: HOSTILE, productVersion: HOSTILE }))),
    eventOfInstall(installRecord({ ...machine, resolution: 'unmatched', visitId: null, installPath: null })),
    eventOfDecision(decisionRecord(installRecord({ ...machine, resolution: 'pending' }))),
    eventOfDelivery(deliveryRecord({ status: 'failed', reason: 'refused', detail: CANARY })),
    eventOfDelivery(deliveryRecord({ status: 'expired', reason: 'deadline_passed' })),
    activity({ type: 'destination_paused', message: CANARY }),
    activity({ type: 'quota_near', subject: '2026-11', website: 'acme' }),
    activity({ type: 'quota_reached', subject: '2026-11' }),
    activity({ type: 'rate_limit_reached', message: CANARY }),
    activity({ type: 'plan_limit_reached', website: '' }),
    activity({ ...changed, subject: 'Organization/acme', fields: ['/spec/plan'] }),
    activity({ ...changed, subject: 'Member/m-1', fields: ['/spec/invitation'], message: CANARY }),
    activity({ type: 'stream_failing', subject: 'LogStream/default/logs' }),
    activity({ type: 'catalog_problem', subject: 'Website/acme-dev' }),
    activity({ type: 'weekly_summary', subject: '2026-11-16', website: '', summary: WEEKLY_EXAMPLE }),
    activity({
      type: 'weekly_summary',
      subject: '2026-11-23',
      website: '',
      summary: { ...WEEKLY_EXAMPLE, before: null },
    }),
    eventOfAlert(alertRecord()),
    eventOfAlert(alertRecord({ rule: 'NothingArrives', of: 'copies', state: 'closed', end: 'usual' })),
    eventOfAlert(alertRecord({ rule: 'QuotaNear', website: '', period: '2026-11' })),
  ]
}

const posted = (): readonly WebhookPayload[] =>
  everyEvent().flatMap((event) =>
    event === null
      ? []
      : webhookJobs(event, ORGANIZATION, { sha256Hex: sha, catalogNumber: 1 }).map(
          ({ body }) => JSON.parse(body) as WebhookPayload,
        ),
  )

describe('payloads of webhooks', () => {
  it('fit the published schema, each type of them, with the examples and nothing undeclared', () => {
    const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(webhookSchemaDocument())
    const test = webhookTestJob(ORGANIZATION, HOOK.id, { nowMs: Date.now(), random: 'ab'.repeat(8), catalogNumber: 1 })
    const all = [...posted(), JSON.parse(test.body) as WebhookPayload]
    for (const payload of all) {
      expect(isValid(payload), `${payload.type}: ${JSON.stringify(isValid.errors)}`).to.equal(true)
      // Ours refuses members that it does not know.
      expect(checkSchema(WEBHOOK_MESSAGES[payload.type].data, payload.data), payload.type).to.deep.equal([])
    }
    const types = new Set<WebhookMessageType>(all.map(({ type }) => type))
    expect([...types].sort()).to.deep.equal([...WEBHOOK_EVENT_TYPES, 'test'].sort())
    for (const [type, { data, example }] of Object.entries(WEBHOOK_MESSAGES)) {
      expect(checkSchema(data, example), type).to.deep.equal([])
      expect(isValid({ type, timestamp: '2026-11-22T06:00:00.000Z', data: example }), type).to.equal(true)
      expect(isValid({ type, timestamp: '2026-11-22T06:00:00.000Z', data: {} }), type).to.equal(false)
    }
  })

  it('name nobody: neither machines nor persons nor what providers said', () => {
    expect(JSON.stringify(posted())).not.to.include(CANARY)
    expect(JSON.stringify(posted())).not.to.match(/https?:/)
  })

  it('say the name of a source and the path of a landing page, and no address, query or mail address', () => {
    const hostile = posted().find(({ data }) => data['source'] === 'news.example')
    expect(hostile?.data).to.include({
      medium: '<!channel> ${jndi:x} "}],\ufffd\ufffd__proto__',
      campaign: 'x.example',
      landingPath: '/install/…',
    })
    expect(toldText('Hacker News')).to.equal('Hacker News')
    expect(toldText('acme.dev/from?x=1')).to.equal('acme.dev')
    expect(toldText('a/b test')).to.equal('a/b test')
    expect(toldText('https://')).to.equal('')
  })

  it('say of a decided install what they say of one that was decided at once', () => {
    const pending = installRecord({ resolution: 'pending', place: 'readme', productVersion: '2.0.0' })
    const event = eventOfDecision(decisionRecord(pending))
    expect(event?.data).to.include({
      eventType: 'install_completed',
      installPath: 'cli',
      place: 'readme',
      version: '2.0.0',
    })
    expect(event === null ? null : visitToldBy(event)?.website).to.equal('acme')
  })

  it('are all in the table of the docs, and no others', () => {
    const told = [...PAGE.matchAll(/^\| `([a-z._]+)` \| /gm)].map(([, type]) => type ?? '')
    expect(told.filter((type) => type in WEBHOOK_MESSAGES).sort()).to.deep.equal(
      [...WEBHOOK_EVENT_TYPES, 'test'].sort(),
    )
  })
})

describe('an event about a plan', () => {
  const organizations = new Map([['acme', { plan: 'Free' }]]) as never
  const changed = activityRecord({ type: 'object_changed', subject: 'Organization/acme', fields: ['/spec/plan'] })

  it('names the plan that the change gave, even if the process that tells it has not seen the change yet', () => {
    const event = eventOfActivity({ ...changed, plan: 'Standard' }, { organizations })
    expect(event?.data).to.deep.equal({ plan: 'Standard' })
  })

  it('names the plan of now if the change gave one that is unknown here', () => {
    expect(eventOfActivity(changed, { organizations })?.data).to.deep.equal({ plan: 'Free' })
  })
})

describe('the verification of the docs', () => {
  type Verify = (body: string, headers: Readonly<Record<string, string>>, secrets: readonly string[]) => unknown
  let verify: Verify
  const body = '{"type":"test","timestamp":"2026-11-22T06:00:00.000Z","data":{"message":"grüße"}}'
  const headersOf = (atMs = Date.now(), ...secrets: readonly string[]) =>
    webhookHeaders({ id: 'ab'.repeat(14), body, atMs }, ...(secrets.length === 0 ? [SECRET] : secrets))
  before(async () => {
    const code = /```js\n([^]*?)```/.exec(PAGE)?.[1] ?? ''
    const module = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as { readonly verify: Verify }
    verify = module.verify
  })

  it('accepts what the service signs, as the package of the specification does, with either secret', () => {
    const other = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
    for (const headers of [headersOf(), headersOf(Date.now(), other, SECRET)]) {
      expect(verify(body, headers, [SECRET])).to.deep.equal(JSON.parse(body))
      expect(new Webhook(SECRET).verify(body, headers)).to.deep.equal(JSON.parse(body))
    }
  })

  it('refuses other bytes, IDs, times, secrets and ages', () => {
    const wrong = [
      () => verify(`${body} `, headersOf(), [SECRET]),
      () => verify(body, { ...headersOf(), 'webhook-id': 'x' }, [SECRET]),
      () => verify(body, { ...headersOf(), 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) - 1) }, [SECRET]),
      () => verify(body, headersOf(), ['whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA']),
      () => verify(body, headersOf(Date.now() - 302_000), [SECRET]),
      () => verify(body, headersOf(Date.now() + 302_000), [SECRET]),
      () => verify(body, {}, [SECRET]),
    ]
    for (const attempt of wrong) expect(attempt).to.throw()
  })
})
