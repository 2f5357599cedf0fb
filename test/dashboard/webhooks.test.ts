/** Webhooks in the dashboard: made with a secret that is shown once, tested, and sent again what was given up. */

import { expect } from 'chai'

import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { LIMITS, REPLAY_RULES } from '../../domain/limits.ts'
import {
  decodeRecord,
  type ActivityRecord,
  type Topic,
  type WebhookAttemptRecord,
  type WebhookJob,
} from '../../domain/records.ts'
import { store, webhookAttemptRecord } from '../contract/fact-samples.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { organizationOf, startStage, type Stage, type Told } from './support/stage.ts'

const START_MS = 120_000
const PATH = '/api/organizations/acme/webhooks'
const EVENTS = { url: 'https://hooks.acme.dev/in', events: ['install.matched'] }

describe('webhooks in the dashboard', function () {
  this.timeout(START_MS)
  let facts: TestFacts
  let stage: Stage
  let admin: string
  let addresses = 0

  before(async () => {
    facts = await openTestFacts()
  })
  after(async () => {
    await facts?.close()
  })
  beforeEach(async () => {
    const manifests = [
      organizationOf('acme', { members: { 'admin@acme.dev': 'Admin', 'viewer@acme.dev': 'Viewer' } }),
      organizationOf('other', { members: { 'bert@other.dev': 'Owner' } }),
    ].join('---\n')
    stage = await startStage({ manifests, facts })
    admin = await stage.signIn('admin@acme.dev')
  })
  afterEach(() => stage?.stop())

  const ask = (method: string, path: string, body?: object, cookies = admin, headers = {}): Promise<Told> =>
    stage.ask(method, path, {
      cookies,
      headers,
      address: `10.0.${(addresses += 1) >> 8}.${addresses % 256}`,
      ...(body === undefined ? {} : { body }),
    })
  const make = async (body: object = EVENTS): Promise<Record<string, any>> => {
    const told = await ask('POST', PATH, body)
    expect(told.status, told.text).to.equal(201)
    return told.body
  }
  const one = ({ namespace, name }: Record<string, any>, rest: string): string => `${PATH}/${namespace}/${name}/${rest}`
  const readAll = async <T extends { readonly v: 1 }>(topic: Topic): Promise<readonly T[]> =>
    (await stage.eventLog.read(topic, 0, 1_000)).map(({ value }) => decodeRecord<T>(value))
  const attempt = (webhook: string, changes: Partial<WebhookAttemptRecord> = {}): WebhookAttemptRecord => {
    const happenedAtMs = changes.happenedAtMs ?? Date.now() - HOUR_MS
    const messageId = happenedAtMs.toString(16).padStart(12, '0') + 'ab'.repeat(8)
    const own = { organization: 'acme', webhook, happenedAtMs, messageId, startedAtMs: happenedAtMs + 1_000 }
    return webhookAttemptRecord({ ...own, ...changes })
  }

  it('are made with a secret that is shown once and appears in no other answer', async () => {
    const made = await make({ ...EVENTS, displayName: 'Our events' })
    expect(made['secret']).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(made['spec']).to.deep.include({ ...EVENTS, displayName: 'Our events' })
    const { body, text } = await ask('GET', PATH)
    expect(body['webhooks']).to.have.length(1)
    expect(body['webhooks'][0]).to.deep.include({
      ...EVENTS,
      state: 'Idle',
      lastDay: { delivered: 0, waiting: 0, lost: 0 },
    })
    const object = await ask('GET', `/api/organizations/acme/resources/Webhook/${made['namespace']}/${made['name']}`)
    expect(object.body['spec']['secretRef']['key']).to.equal('secret')
    for (const shown of [text, object.text, stage.logLines.join('\n')]) expect(shown).not.to.include(made['secret'])
    const told = await readAll<ActivityRecord>('activity')
    expect(JSON.stringify(told)).not.to.include(made['secret'])
  })

  it('are ten at most, to public addresses, for existing events; Viewers create none', async () => {
    for (let count = 0; count < LIMITS.webhooks; count += 1) await make()
    const more = await ask('POST', PATH, EVENTS)
    expect([more.status, more.body['reason']]).to.deep.equal([400, 'TooMany'])
    for (const bad of [{ url: 'https://10.0.0.1/' }, { url: 'http://a.dev/' }, { events: ['nothing'] }, { events: [] }])
      expect((await ask('POST', PATH, { ...EVENTS, ...bad })).status, JSON.stringify(bad)).to.equal(400)
    const [first] = (await ask('GET', PATH)).body['webhooks']
    const place = `/api/organizations/acme/resources/Webhook/${first.namespace}/${first.name}`
    await ask('DELETE', place, undefined, admin, { 'If-Match': `"${first.version}"` })
    await make({ ...EVENTS, name: 'taken' })
    const taken = await ask('POST', PATH, { ...EVENTS, name: 'taken' })
    expect([taken.status, taken.body['field']]).to.deep.equal([412, '/name'])
    const secrets = (await stage.writtenFiles()).filter((name) => name.includes('-secret-'))
    expect(secrets, 'no secret of what was refused').to.have.length(LIMITS.webhooks + 1)
    const viewer = await stage.signIn('viewer@acme.dev')
    expect((await ask('POST', PATH, EVENTS, viewer)).status).to.equal(403)
    expect((await ask('GET', PATH, undefined, viewer)).body['webhooks']).to.have.length(LIMITS.webhooks)
  })

  it('get another secret, and the one before signs for a day', async () => {
    const made = await make()
    const { status, body } = await ask('POST', one(made, 'secret'), {})
    expect(status).to.equal(200)
    expect(body['secret'])
      .to.match(/^whsec_/)
      .and.not.equal(made['secret'])
    const { secretRef, previousSecretRef, previousSecretUntil } = body['spec']
    expect(previousSecretRef).to.deep.equal(made['spec']['secretRef'])
    expect(secretRef['name']).not.to.equal(previousSecretRef['name'])
    expect(Date.parse(previousSecretUntil) - Date.now()).to.be.within(DAY_MS - 60_000, DAY_MS + 1_000)
    const again = await ask('POST', one(made, 'secret'), {})
    expect(again.body['spec']['previousSecretRef']).to.deep.equal(secretRef)
  })

  it('that Git manages get no secret here, and no patch that would name one', async () => {
    const spec = { organizationRef: { name: 'acme' }, ...EVENTS, secretRef: { name: 'signing', key: 'k' } }
    const manifest = (value: object) => `---\n${JSON.stringify(value)}\n`
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'signing' }, stringData: { k: 'whsec_AAAA' } }
    const webhook = { apiVersion: 'whence.dev/v1alpha1', kind: 'Webhook', metadata: { name: 'in-git' }, spec }
    await stage.apply('webhook.yaml', manifest(secret) + manifest(webhook))
    const told = await ask('POST', `${PATH}/default/in-git/secret`, {})
    expect([told.status, told.body]).to.deep.equal([
      409,
      { error: 'managed_elsewhere', manager: 'webhook.yaml', field: '/spec/secretRef' },
    ])
    expect(await stage.writtenFiles()).to.deep.equal([])
  })

  it('are tested by a job on the log, ten times an hour, and that is noted', async () => {
    const made = await make()
    const { status, body } = await ask('POST', one(made, 'test'), {})
    expect(status).to.equal(202)
    const jobs = await readAll<WebhookJob>('webhooks')
    const id = `${made['namespace']}/${made['name']}`
    expect(jobs[0]).to.deep.include({ messageId: body['message'], organization: 'acme', webhook: id, type: 'test' })
    const { limit } = REPLAY_RULES.webhook_tests
    for (let count = 1; count < limit; count += 1)
      expect((await ask('POST', one(made, 'test'), {})).status).to.equal(202)
    const refused = await ask('POST', one(made, 'test'), {})
    // A new hour may begin in between.
    if (refused.status === 429) expect(refused.body).to.include({ error: 'rate_limited' })
    expect(await readAll('webhooks')).to.have.length(refused.status === 429 ? limit : limit + 1)
    const noted = (await readAll<ActivityRecord>('activity')).filter(({ type }) => type === 'webhook_test')
    expect(noted[0]).to.include({ organization: 'acme', subject: `Webhook/${id}` })
    expect(noted[0]?.actor).to.match(/^p_/)
  })

  it('show their attempts, in pages, and their state', async () => {
    const made = await make()
    const id = `${made['namespace']}/${made['name']}`
    const now = Date.now()
    const rows = Array.from({ length: 205 }, (_, index) =>
      attempt(id, { happenedAtMs: now - HOUR_MS + index, state: 'delivered', status: 204, error: '' }),
    )
    const retried = attempt(id, { happenedAtMs: now - 1_000, state: 'retrying', nextAttemptAtMs: now + 5_000 })
    await store(facts, [...rows, retried, attempt('default/else'), attempt(id, { organization: 'other' })])
    const first = await ask('GET', one(made, 'attempts'))
    expect(first.body['attempts']).to.have.length(LIMITS.logsPerPage)
    expect(first.body['attempts'][0]).to.deep.include({
      message: retried.messageId,
      state: 'retrying',
      status: 500,
      error: 'http_500',
      answer: 'no',
      durationMs: 20,
      nextAttemptAt: now + 5_000,
    })
    const next = await ask('GET', `${one(made, 'attempts')}?cursor=${encodeURIComponent(first.body['next'])}`)
    expect([next.body['attempts'].length, next.body['next']]).to.deep.equal([6, null])
    const found = await ask('GET', `${one(made, 'attempts')}?message=${retried.messageId}`)
    expect(found.body['attempts']).to.have.length(1)
    expect((await ask('GET', `${one(made, 'attempts')}?cursor=x.y`)).status).to.equal(400)
    const [line] = (await ask('GET', PATH)).body['webhooks']
    expect(line).to.deep.include({
      state: 'Failing',
      lastDay: { delivered: 205, waiting: 1, lost: 0 },
      lastError: 'http_500',
      lastAttemptAt: retried.startedAtMs,
      lastDeliveredAt: rows.at(-1)?.startedAtMs,
    })
  })

  it('send again what was given up, once, under its old ID, and note it', async () => {
    const made = await make()
    const id = `${made['namespace']}/${made['name']}`
    const now = Date.now()
    const lost = attempt(id, { number: 9, state: 'expired' })
    const failed = attempt(id, { happenedAtMs: now - 2 * HOUR_MS })
    const old = attempt(id, { happenedAtMs: now - 8 * DAY_MS })
    const taken = attempt(id, { happenedAtMs: now - 3 * HOUR_MS })
    const settled = { ...taken, number: 2, state: 'delivered' } as const
    await store(facts, [lost, failed, old, taken, settled])
    const shown = await ask('GET', one(made, 'lost'))
    expect(shown.body['lost'].map(({ message }: { message: string }) => message)).to.deep.equal([
      lost.messageId,
      failed.messageId,
    ])
    const replayed = await ask('POST', one(made, 'replay'), { message: lost.messageId })
    expect([replayed.status, replayed.body]).to.deep.equal([200, { replayed: 1, mayHaveMore: false }])
    const [job] = await readAll<WebhookJob>('webhooks')
    expect(job).to.deep.include({ messageId: lost.messageId, body: lost.body, attempts: 10, webhook: id })
    expect((job?.deadlineAtMs ?? 0) - now).to.be.within(LIMITS.webhookTryMs, LIMITS.webhookTryMs + 60_000)
    // As the facts-writer does.
    await store(facts, await readAll<WebhookAttemptRecord>('webhook_attempts'))
    expect((await ask('POST', one(made, 'replay'), {})).body['replayed'], 'the other').to.equal(1)
    await store(facts, await readAll<WebhookAttemptRecord>('webhook_attempts'))
    expect((await ask('POST', one(made, 'replay'), {})).body['replayed'], 'none is left').to.equal(0)
    const noted = (await readAll<ActivityRecord>('activity')).filter(({ type }) => type === 'webhook_replayed')
    expect(noted).to.have.length(2)
  })

  it('of others are not found', async () => {
    const made = await make()
    const bert = await stage.signIn('bert@other.dev')
    for (const rest of ['attempts', 'lost']) {
      const foreign = `/api/organizations/other/webhooks/${made['namespace']}/${made['name']}/${rest}`
      expect((await ask('GET', foreign, undefined, bert)).status).to.equal(404)
    }
    for (const rest of ['test', 'replay', 'secret']) {
      const foreign = `/api/organizations/other/webhooks/${made['namespace']}/${made['name']}/${rest}`
      expect((await ask('POST', foreign, {}, bert)).status).to.equal(404)
    }
    expect(await readAll('webhooks')).to.deep.equal([])
  })
})
