/** Log streams in the dashboard: progress, commands of people, and that the role carries these out; each organisation sees only its own. */

import { expect } from 'chai'

import { createErasures } from '../../delivery/facts-writer/erasures.ts'
import { writeBatch } from '../../delivery/facts-writer/fact-batch.ts'
import { createHourMarks } from '../../delivery/counting/hour-marks.ts'
import { createPackingRoom } from '../../delivery/streams/packing-room.ts'
import { createProgressStore } from '../../delivery/streams/progress-store.ts'
import { StreamRunner } from '../../delivery/streams/runner.ts'
import { senderFor } from '../../delivery/streams/sender-for.ts'
import { LIMITS, RATE_RULES } from '../../domain/limits.ts'
import { newProgress, type StreamProgress } from '../../domain/streams/progress.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { unique } from '../contract/fact-samples.ts'
import { NO_BACKLOG } from '../delivery/support/memory-facts.ts'
import { KEYS, Receiver, SECRET, URL_OF_RECEIVER } from '../delivery/streams/receiver.ts'
import { STREAM } from '../delivery/streams/stage.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { organizationOf, startStage, type Stage, type Told } from './support/stage.ts'

const HOUR_MS = 3_600_000
const ORDERS = ['test', 'skip', 'resend', 'pause', 'resume'] as const

const streamIn = (organization: string, name: string): string => `---
apiVersion: v1
kind: Secret
metadata: { name: ${name} }
stringData: { secret: ${SECRET} }
---
apiVersion: whence.dev/v1alpha1
kind: LogStream
metadata: { name: ${name} }
spec:
  organizationRef: { name: ${organization} }
  displayName: Our logs
  webhook: { url: '${URL_OF_RECEIVER}', secretRef: { name: ${name}, key: secret } }
`

const secretOf = (key: string): string =>
  `apiVersion: v1\nkind: Secret\nmetadata: { name: acme-logs }\nstringData: { ${key}: ${SECRET} }\n`

describe('log streams in the dashboard', function () {
  this.timeout(120_000)
  let facts: TestFacts
  let stage: Stage
  let admin = ''
  let member = ''
  /** Another one in each test: the facts stay. */
  let organization: string
  let own: string
  let offset = 0

  before(async () => {
    facts = await openTestFacts()
  })
  after(async () => {
    await facts?.close()
  })
  beforeEach(async () => {
    organization = unique('acme')
    own = `/api/organizations/${organization}`
    const members = { 'admin@acme.dev': 'Admin', 'member@acme.dev': 'Member', 'viewer@acme.dev': 'Viewer' } as const
    const manifests = [
      organizationOf(organization, { members }),
      organizationOf('other', { members: { 'bert@other.dev': 'Owner' } }) + streamIn('other', 'other-logs'),
      organizationOf('small', { plan: 'Standard', members: { 'carl@small.dev': 'Owner' } }) +
        streamIn('small', 'small-logs'),
    ].join('---\n')
    stage = await startStage({ manifests, facts })
    ;[admin, member] = [await stage.signIn('admin@acme.dev'), await stage.signIn('member@acme.dev')]
    offset = 0
  })
  afterEach(() => stage?.stop())

  const ask = (method: string, path: string, cookies = admin, body?: object): Promise<Told> =>
    stage.ask(method, path, { cookies, ...(body === undefined ? {} : { body }) })
  const order = (name: (typeof ORDERS)[number], cookies = admin): Promise<Told> =>
    ask(
      'POST',
      `${own}/streams/acme-logs/${name}`,
      cookies,
      name === 'resend' ? { since: stage.nowMs() - HOUR_MS } : undefined,
    )
  /** Makes it in the dashboard, so that the dashboard may change it. */
  const madeHere = async (): Promise<void> => {
    await stage.apply('secret.yaml', secretOf('secret'))
    const spec = {
      displayName: 'Our logs',
      webhook: { url: URL_OF_RECEIVER, secretRef: { name: 'acme-logs', key: 'secret' } },
    }
    const told = await ask('POST', `${own}/resources/LogStream`, admin, { name: 'acme-logs', spec })
    expect(told.status, told.text).to.equal(201)
  }
  const listed = async (): Promise<Record<string, unknown>> => (await ask('GET', `${own}/streams`)).body['streams'][0]
  /** As the facts-writer does with commands. */
  const written = async (): Promise<void> => {
    const entries = await stage.eventLog.read('activity', offset, 100)
    offset += entries.length
    const parts = {
      nowMs: Date.now,
      marks: createHourMarks('test', Date.now),
      erasures: createErasures(facts),
      backlog: NO_BACKLOG,
    }
    await writeBatch(facts, { topic: 'activity', partition: 0, entries } as never, parts)
  }
  const store = () =>
    createProgressStore({
      facts,
      key: { organization, stream: STREAM.id },
      leasedAtMs: stage.nowMs(),
      nowMs: stage.nowMs,
    })

  it('begin without a state, and show what the role reports: lag, backlog, errors, gaps and attempts', async () => {
    await madeHere()
    expect(await listed()).to.deep.include({
      name: 'acme-logs',
      to: 'webhook',
      url: URL_OF_RECEIVER,
      state: null,
      lagMs: null,
    })
    const gap = { reason: 'overflow', dropped: 7, fromMs: 1_000, toMs: 2_000 } as const
    const sent = {
      id: 'f00d',
      kind: 'batch',
      atMs: 5,
      records: 3,
      bytes: 90,
      tookMs: 2,
      status: 503,
      error: 'http_503',
      answer: 'no',
    } as const
    const progress: StreamProgress = {
      ...newProgress({}, 0),
      failures: 1,
      failingSinceMs: 3_000,
      retryAtMs: 9_000,
      lastError: 'http_503',
      dropped: 7,
      delivered: 40,
      gaps: [{ ...gap, reason: 'skipped' }],
      told: [{ ...gap, atMs: 4_000 }],
      sent: [sent],
    }
    await store().save(progress, { state: 'Failing', behind: 12, oldestMs: stage.nowMs() - HOUR_MS })
    const shown = await listed()
    expect(shown).to.deep.include({
      state: 'Failing',
      behind: 12,
      lastError: 'http_503',
      failingSince: 3_000,
      retryAt: 9_000,
    })
    expect(shown).to.deep.include({ delivered: 40, dropped: 7, paused: false })
    expect(shown['lagMs']).to.be.within(HOUR_MS, HOUR_MS + 60_000)
    expect(shown['gaps']).to.deep.equal([
      { reason: 'skipped', dropped: 7, from: 1_000, to: 2_000, toldAt: null },
      { reason: 'overflow', dropped: 7, from: 1_000, to: 2_000, toldAt: 4_000 },
    ])
    const { attempts } = (await ask('GET', `${own}/streams/acme-logs/attempts`)).body
    expect(attempts).to.deep.equal([
      {
        id: 'f00d',
        kind: 'batch',
        at: 5,
        records: 3,
        bytes: 90,
        tookMs: 2,
        status: 503,
        error: 'http_503',
        answer: 'no',
      },
    ])
    expect(JSON.stringify([shown, attempts])).to.not.include(SECRET)
  })

  it('are new ones after they were deleted and made again, and stay what they are through changes', async () => {
    const object = `${own}/resources/LogStream/default/acme-logs`
    const uid = (): string | undefined => stage.catalog.current().organizations.get(organization)?.logStreams[0]?.uid
    await madeHere()
    const first = uid()
    expect((await order('pause')).status).to.equal(200)
    expect(uid())
      .to.equal(first)
      .and.to.match(/^\d{13}-/)
    const headers = { 'If-Match': `"${(await ask('GET', object)).body['version']}"` }
    const gone = await stage.ask('DELETE', object, { cookies: admin, headers })
    expect(gone.status, gone.text).to.equal(204)
    expect(uid()).to.equal(undefined)
    await madeHere()
    expect(uid())
      .to.match(/^\d{13}-/)
      .and.not.to.equal(first)
  })

  it('carry out a test, whose answer is found by the ID that was returned', async () => {
    await madeHere()
    const receiver = await Receiver.open()
    try {
      const runner = runnerOf({ stage, facts, receiver, organization })
      await runner.step()
      const { status, body } = await order('test')
      expect(status).to.equal(202)
      await written()
      stage.advance(10_000)
      await runner.step()
      const { attempts } = (await ask('GET', `${own}/streams/acme-logs/attempts`)).body
      expect(attempts[0]).to.include({ id: body['attempt'], kind: 'test', status: 204, error: null })
      expect(receiver.records.map(({ type }) => type)).to.deep.equal(['test'])
    } finally {
      await receiver.close()
    }
  })

  it('record each command with the person who gave it', async () => {
    await madeHere()
    for (const name of ['skip', 'resend'] as const) expect((await order(name)).status, name).to.equal(202)
    await written()
    const told = await ask('GET', `${own}/activity?object=LogStream/default/acme-logs`)
    const entries = told.body['entries'] as readonly Record<string, string>[]
    expect(entries.map(({ type }) => type)).to.deep.equal(['stream_resend', 'stream_skip'])
    for (const { actor } of entries) expect(actor).to.match(/^p_[0-9a-f]{16}$/)
    const late = await ask('POST', `${own}/streams/acme-logs/resend`, admin, { since: stage.nowMs() + HOUR_MS })
    expect(late.body).to.include({ error: 'invalid_field', field: '/since' })
  })

  it('are paused and resumed, which changes nothing else of the object', async () => {
    await madeHere()
    const before = (await ask('GET', `${own}/resources/LogStream/default/acme-logs`)).body['spec']
    expect((await order('pause')).body['spec']).to.deep.equal({ ...before, paused: true })
    expect(await listed()).to.include({ paused: true })
    expect((await order('resume')).body['spec']).to.deep.equal({ ...before, paused: false })
  })

  it('get another secret, and the one before signs for a day', async () => {
    await madeHere()
    const before = (await ask('GET', `${own}/resources/LogStream/default/acme-logs`)).body['spec']
    const { status, body } = await ask('POST', `${own}/streams/acme-logs/secret`, admin, {})
    expect(status).to.equal(200)
    expect(body['secret']).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const { webhook, ...rest } = body['spec']
    const { webhook: old, ...unchanged } = before
    expect(rest).to.deep.equal(unchanged)
    expect([webhook.url, webhook.previousSecretRef]).to.deep.equal([old.url, old.secretRef])
    expect(webhook.secretRef.name).not.to.equal(old.secretRef.name)
    expect(Date.parse(webhook.previousSecretUntil) - stage.nowMs()).to.be.within(23 * HOUR_MS, 24 * HOUR_MS)
    expect((await ask('POST', `${own}/streams/acme-logs/secret`, member, {})).status).to.equal(403)
    expect((await ask('POST', `${own}/streams/other-logs/secret`, admin, {})).status).to.equal(404)
    const shown = [await listed(), await ask('GET', `${own}/resources/LogStream/default/acme-logs`)]
    expect(JSON.stringify(shown)).to.not.include(body['secret'])
  })

  it('are read-only if Git manages them, with the change to copy', async () => {
    await stage.apply('stream.yaml', streamIn(organization, 'acme-logs').replace(/^---\n/, ''))
    const told = await order('pause')
    expect([told.status, told.body['error']]).to.deep.equal([409, 'managed_elsewhere'])
    expect(told.body['patch'].kubectl).to.include('"paused":true')
  })

  it('accept commands only from Admins, and only if the stream is theirs and in force', async () => {
    await madeHere()
    const viewer = await stage.signIn('viewer@acme.dev')
    for (const name of ORDERS) expect((await order(name, member)).status, name).to.equal(403)
    expect((await ask('GET', `${own}/streams`, viewer)).status).to.equal(200)
    for (const name of ORDERS) {
      const body = name === 'resend' ? { since: 0 } : undefined
      expect((await ask('POST', `${own}/streams/other-logs/${name}`, admin, body)).status, name).to.equal(404)
    }
    expect((await ask('GET', `${own}/streams/other-logs/attempts`)).status).to.equal(404)
    const carl = await stage.signIn('carl@small.dev')
    const refused = await ask('POST', '/api/organizations/small/streams/small-logs/test', carl)
    expect([refused.status, refused.body['error']]).to.deep.equal([402, 'plan_required'])
    await stage.apply('secret.yaml', secretOf('another'))
    const broken = await order('test')
    expect(broken.body).to.include({ error: 'invalid_field', field: '/stream' })
  })

  it(`are tested ${RATE_RULES.log_stream_tests.limit} times an hour by an organisation`, async () => {
    await madeHere()
    const answers: number[] = []
    for (let turn = 0; turn <= RATE_RULES.log_stream_tests.limit; turn++) answers.push((await order('test')).status)
    expect(answers.filter((status) => status === 202)).to.have.lengthOf(RATE_RULES.log_stream_tests.limit)
    expect(answers.at(-1)).to.equal(429)
  })
})

interface RunnerStage {
  readonly stage: Stage
  readonly facts: Facts
  readonly receiver: Receiver
  readonly organization: string
}

/** The role's part of one stream, over the log and the facts of the dashboard. */
function runnerOf({ stage, facts, receiver, organization }: RunnerStage): StreamRunner {
  const { nowMs } = stage
  const key = { organization, stream: STREAM.id }
  const inForce = {
    stream: STREAM,
    organization: { id: organization, logRetentionDays: 90 },
    target: { kind: 'webhook', url: URL_OF_RECEIVER, ...KEYS } as const,
  }
  return new StreamRunner({
    configured: {
      current: () => inForce,
      catalogNumber: () => 1,
      waits: { isBehind: () => false, waitFor: () => 0 },
    },
    backlog: { facts, watermarks: async () => new Map() },
    nowMs,
    news: { tell: async () => undefined, sent: () => undefined, dropped: () => undefined, standings: () => undefined },
    store: createProgressStore({ facts, key, leasedAtMs: nowMs(), nowMs }),
    sending: {
      senderOf: (current) => senderFor(current, { webhook: receiver.outbound(), bucket: {} }, nowMs),
      packing: createPackingRoom(LIMITS.streamPackingBytes),
      random: () => 0.5,
    },
  })
}
