/** Event webhooks over the real log and to a real receiver: what is sent, how it is retried, and what never happens. */

import { expect } from 'chai'

import { startWebhooks } from '../../../delivery/webhooks/webhooks.ts'
import { webhookKey, type Webhook } from '../../../domain/catalog.ts'
import { DAY_MS, HOUR_MS } from '../../../domain/durations.ts'
import { LIMITS } from '../../../domain/limits.ts'
import { WEBHOOK_EVENT_TYPES } from '../../../domain/model.ts'
import {
  decodeRecord,
  encodeRecord,
  TIER_NAMES,
  type ActivityRecord,
  type LogRecord,
  type Topic,
  type WebhookAttemptRecord,
  type WebhookJob,
} from '../../../domain/records.ts'
import { webhookTestJob } from '../../../domain/webhooks/jobs.ts'
import { ACME, visitOf } from '../../../fixtures/delivery/builders.ts'
import { FactsDouble } from '../../../fixtures/delivery/facts-double.ts'
import { until } from '../../../fixtures/until.ts'
import { lmdbEventLog, type LmdbEventLog } from '../../../ports/event-log/lmdb/lmdb.ts'
import type { LmdbEnvironment } from '../../../ports/shared/lmdb/environment.ts'
import { SILENT_LOGGER } from '../../../runtime/logger.ts'
import { createRandomness } from '../../../runtime/random.ts'
import { activityRecord, decisionRecord, deliveryRecord, installRecord } from '../../contract/fact-samples.ts'
import { deleteFolder, openTestEnvironment, temporaryFolder, testClock } from '../../contract/lmdb-harness.ts'
import { OTHER_SECRET, Receiver, SECRET, type Received } from './receiver.ts'

const HOST = 'hooks.acme.dev'
const ID = 'default/acme-events'

describe('an event webhook', function () {
  this.timeout(60_000)
  let folder: string
  let environment: LmdbEnvironment
  let log: LmdbEventLog
  let clock: ReturnType<typeof testClock>
  let receiver: Receiver
  let role: { close(): Promise<void> } | null
  let webhooks: Webhook[]
  /** Of another organisation. */
  let otherWebhooks: Webhook[]
  let secrets: Map<string, Readonly<Record<string, string>>>
  let news: Set<string>
  let catalogNumber: number
  let facts: FactsDouble
  const randomness = { ...createRandomness(), fraction: () => 0 }

  const webhook = (changes: Partial<Webhook> = {}): Webhook => ({
    id: ID,
    namespace: 'default',
    objectName: 'acme-events',
    displayName: 'Our events',
    format: 'Standard',
    url: `https://${HOST}/in`,
    events: WEBHOOK_EVENT_TYPES,
    isPaused: false,
    previousSecretUntilMs: null,
    ...changes,
  })
  const use = (...own: readonly Webhook[]): void => {
    webhooks = [...own]
    secrets = new Map(own.map((each) => [webhookKey(each), { secret: SECRET }]))
  }
  const start = async (callMs = 2_000, more = {}): Promise<void> => {
    const organization = { ...ACME, id: 'acme', plan: 'Standard' as const }
    const other = { ...organization, id: 'other-org', webhooks: otherWebhooks }
    const organizations = () =>
      new Map([
        ['acme', { ...organization, webhooks }],
        ['other-org', other],
      ])
    role = await startWebhooks(
      {
        eventLog: log,
        facts,
        randomness,
        nowMs: clock.nowMs,
        telemetry: { logger: SILENT_LOGGER },
        catalog: {
          current: () => ({ organizations: organizations(), number: catalogNumber }),
          credentials: () => secrets,
        },
        hotState: {
          claimJob: async (name) => news.size < news.add(name).size,
          releaseJob: async () => undefined,
        },
      },
      receiver.outbound({ callMs, ...more }),
    )
  }
  const append = async (topic: Topic, ...records: readonly LogRecord[]): Promise<void> => {
    const entries = records.map((record, index) => ({ key: `key-${index}`, value: encodeRecord(record) }))
    await log.append(topic, entries)
  }
  const matched = (changes = {}): LogRecord =>
    installRecord({ resolution: 'matched', visitId: 'ab'.repeat(16), receivedAtMs: clock.nowMs(), ...changes })
  const readAll = async <T extends { readonly v: 1 }>(topic: Topic): Promise<readonly T[]> =>
    (await log.read(topic, 0, 1_000)).map(({ value }) => decodeRecord<T>(value))
  const attempts = () => readAll<WebhookAttemptRecord>('webhook_attempts')
  const states = async () => (await attempts()).map(({ state }) => state)
  const attempted = (count: number) => until(async () => (await attempts()).length >= count)
  /** Of everything that is on the log now. */
  const isIdle = () =>
    until(async () =>
      (await log.lag()).every(({ group, topic, entries }) => group !== 'webhooks' || isTier(topic) || entries === 0),
    )
  const isTier = (topic: Topic): boolean => TIER_NAMES.some((tier) => topic === `webhooks.${tier}`)
  /** A tier looks at the clock again when its consumer starts. */
  const advance = async (ms: number, callMs?: number): Promise<void> => {
    clock.set(clock.nowMs() + ms)
    await role?.close()
    await start(callMs)
  }
  const told = (): readonly Received[] => receiver.received

  beforeEach(async () => {
    folder = await temporaryFolder()
    clock = testClock(Date.now())
    environment = await openTestEnvironment(folder, clock.nowMs)
    log = await lmdbEventLog(environment, { pace: { inHandMs: 50, recheckMs: 20 } })
    receiver = await Receiver.open()
    role = null
    news = new Set()
    catalogNumber = 1
    facts = new FactsDouble()
    facts.anyVisit = visitOf({})
    otherWebhooks = []
    use(webhook())
  })
  afterEach(async () => {
    await role?.close()
    await log.close()
    await environment.close()
    await receiver.close()
    await deleteFolder(folder)
  })

  it('gets the events that it asked for, signed so that the package of the specification verifies it', async () => {
    use(webhook({ events: ['install.matched'] }))
    await start()
    const install = matched({ eventId: 'event-1' })
    await append('installs', install, installRecord({ resolution: 'unmatched' }), matched({ organization: 'other' }))
    await attempted(1)
    await isIdle()
    expect(told()).to.have.length(1)
    const [message] = told()
    expect(message).to.include({ host: HOST, path: '/in', signatures: 1 })
    expect(message?.verifiedBy).to.deep.equal([SECRET])
    expect(message?.payload).to.deep.include({
      type: 'install.matched',
      timestamp: new Date(clock.nowMs()).toISOString(),
    })
    expect(message?.payload.data).to.include({ website: 'acme', eventId: 'event-1', visitId: 'ab'.repeat(16) })
    const [attempt] = await attempts()
    expect(attempt).to.include({ messageId: message?.id, number: 1, state: 'delivered', status: 204, error: '' })
    expect(attempt?.durationMs).to.be.at.least(0)
  })

  it('says where an install came from once its visit is stored, and after a minute without it what is known', async () => {
    facts.anyVisit = null
    await start()
    const known = 'cd'.repeat(16)
    const asked = (times: number) =>
      until(() => {
        clock.set(clock.nowMs() + 100)
        return facts.asked.length >= times
      })
    await append('installs', matched({ eventId: 'waits', visitId: known }), matched({ eventId: 'never' }))
    await asked(2)
    expect(told(), 'nothing is told too early').to.deep.equal([])
    facts.isAway = true
    await asked(4)
    facts.isAway = false
    facts.show(visitOf({ website: 'acme', organization: 'acme', visitId: known, landingPage: 'https://acme.dev/cli' }))
    await asked(6)
    await attempted(1)
    clock.set(clock.nowMs() + LIMITS.webhookVisitWaitMs)
    await attempted(2)
    const data = told().map(({ payload }) => [payload.data['eventId'], payload.data['landingPath']])
    expect(data).to.deep.equal([
      ['waits', '/cli'],
      ['never', undefined],
    ])
  })

  it('has one ID for one event, however often it is on the log', async () => {
    await start()
    const install = installRecord({ resolution: 'pending', receivedAtMs: clock.nowMs() })
    const decision = decisionRecord(install)
    await append('installs', install)
    await append('install_decisions', decision, decision)
    await attempted(2)
    expect(told().map(({ payload }) => payload.type)).to.deep.equal(['install.matched', 'install.matched'])
    expect(new Set(told().map(({ id }) => id)).size).to.equal(1)
    expect(told()[0]?.id).to.match(/^[0-9a-f]{28}$/)
  })

  it('gets events about ends, pauses, limits, plans, members and streams, and its payloads hold no more than IDs and reasons', async () => {
    await start()
    const atMs = clock.nowMs()
    const changed = { type: 'object_changed', website: '', atMs } as const
    await append(
      'deliveries',
      ...(['failed', 'expired', 'delivered'] as const).map((status) => deliveryRecord({ status, atMs })),
    )
    await append(
      'activity',
      ...(
        ['destination_paused', 'quota_near', 'quota_reached', 'rate_limit_reached', 'plan_limit_reached'] as const
      ).map((type) => activityRecord({ type, atMs })),
      activityRecord({ ...changed, subject: 'Organization/acme-org', fields: ['/spec/plan'] }),
      activityRecord({ ...changed, subject: 'Member/m-1', fields: ['/spec/invitation'] }),
      activityRecord({ ...changed, subject: 'Member/m-2', fields: ['/spec/invitation/expiresAt'] }),
      activityRecord({ type: 'stream_failing', subject: 'LogStream/default/logs', website: '', atMs }),
      activityRecord({ type: 'catalog_problem', subject: 'Website/acme-dev', message: 'is refused', atMs }),
      activityRecord({ type: 'catalog_problem', subject: 'Webhook/acme-events', message: 'is refused', atMs }),
      activityRecord({ type: 'sign_in', subject: 'p_1', atMs }),
    )
    await attempted(11)
    await isIdle()
    expect(
      told()
        .map(({ payload }) => payload.type)
        .sort(),
    ).to.deep.equal([
      'delivery.expired',
      'delivery.failed',
      'destination.paused',
      'limit.reached',
      'limit.reached',
      'member.joined',
      'plan.changed',
      'quota.reached',
      'quota.reached',
      'stream.failing',
      'website.not_accepted',
    ])
    const plan = told().find(({ payload }) => payload.type === 'plan.changed')
    expect(plan?.payload.data).to.deep.equal({ plan: 'Standard' })
  })

  it('that fails is tried in the tiers with the same ID and bytes, a new time, and the words of its receiver kept', async () => {
    receiver.moods.set(HOST, 500)
    receiver.answer = 'x'.repeat(5_000)
    await start()
    await append('installs', matched())
    await attempted(1)
    for (const [index, waitMs] of [6_000, 36_000, 361_000].entries()) {
      await advance(waitMs)
      await attempted(index + 2)
    }
    receiver.moods.delete(HOST)
    await advance(DAY_MS / 4)
    await until(async () => (await states()).includes('delivered'))
    const all = await attempts()
    expect(all.map(({ number }) => number)).to.deep.equal(all.map((_, index) => index + 1))
    expect(all[0]).to.include({ state: 'retrying', status: 500, error: 'http_500', answer: 'x'.repeat(1_024) })
    expect(all[0]?.nextAttemptAtMs).to.be.greaterThan(all[0]?.startedAtMs ?? 0)
    expect(new Set(told().map(({ id, body }) => id + body)).size).to.equal(1)
    expect(told().every(({ verifiedBy }) => verifiedBy.includes(SECRET))).to.equal(true)
  })

  it('waits as long as its receiver asks for', async () => {
    receiver.moods.set(HOST, 503)
    receiver.headers = { 'retry-after': '1800' }
    await start()
    await append('installs', matched())
    await attempted(1)
    const [first] = await attempts()
    expect((first?.nextAttemptAtMs ?? 0) - (first?.startedAtMs ?? 0)).to.be.within(1_800_000, 1_801_000)
  })

  it('is followed to no other address, and given up on after its time', async () => {
    receiver.moods.set(HOST, 'redirects')
    await start()
    await append('installs', matched())
    await attempted(1)
    receiver.moods.set(HOST, 'hangs')
    await advance(6_000, 300)
    await attempted(2)
    expect((await attempts()).map(({ error, status }) => [error, status])).to.deep.equal([
      ['http_307', 307],
      ['timeout', 0],
    ])
    expect(told().map(({ path }) => path)).to.deep.equal(['/in', '/in'])
  })

  it('that answers 410 is paused and its organisation notified; another address or secret ends that', async () => {
    receiver.moods.set(HOST, 410)
    await start()
    await append('installs', matched())
    await attempted(1)
    await append('installs', matched(), matched())
    await isIdle()
    expect(told(), 'no others are sent').to.have.length(1)
    const activity = await readAll<ActivityRecord>('activity')
    expect(activity.map(({ type, subject }) => [type, subject])).to.deep.equal([['webhook_paused', `Webhook/${ID}`]])
    receiver.moods.delete(HOST)
    use(webhook({ url: `https://${HOST}/new` }))
    await append('installs', matched())
    await until(() => told().some(({ path }) => path === '/new'))
  })

  it('whose receiver never accepts it is given up after three days, and its organisation is notified once', async () => {
    receiver.moods.set(HOST, 500)
    await start()
    await append('installs', matched(), matched())
    await attempted(2)
    await advance(LIMITS.webhookTryMs + HOUR_MS)
    await until(async () => (await states()).filter((state) => state === 'expired').length === 2)
    await until(async () => (await readAll('activity')).length > 0)
    await advance(30 * DAY_MS)
    await isIdle()
    const activity = await readAll<ActivityRecord>('activity')
    expect(activity.map(({ type }) => type)).to.deep.equal(['webhook_failing'])
    expect(told(), 'an expired one is not sent').to.have.length(2)
  })

  it('raises no event by what it does itself, even if it wants all events', async () => {
    receiver.moods.set(HOST, 410)
    await start()
    await append('installs', matched())
    await attempted(1)
    await advance(LIMITS.webhookTryMs + HOUR_MS)
    await until(async () => (await states()).includes('expired'))
    const isTold = ({ type }: ActivityRecord): boolean => type === 'webhook_failing'
    await until(async () => (await readAll<ActivityRecord>('activity')).some(isTold))
    await isIdle()
    expect(await log.read('webhooks', 0, 100), 'jobs').to.have.length(1)
  })

  it('is signed with both secrets while they change over, and with one when the time is over', async () => {
    use(webhook({ previousSecretUntilMs: clock.nowMs() + DAY_MS }))
    secrets.set(`Webhook/${ID}`, { secret: OTHER_SECRET, previous: SECRET })
    await start()
    await append('installs', matched())
    await attempted(1)
    clock.set(clock.nowMs() + DAY_MS)
    await append('installs', matched())
    await attempted(2)
    expect(told().map(({ verifiedBy, signatures }) => [signatures, verifiedBy])).to.deep.equal([
      [2, [SECRET, OTHER_SECRET]],
      [1, [OTHER_SECRET]],
    ])
  })

  it('that keeps failing is called ever less, and another one is not delayed', async () => {
    const other = webhook({ id: 'default/other', url: 'https://hooks.other.dev/in', events: ['install.matched'] })
    use(webhook(), other)
    receiver.moods.set(HOST, 'hangs')
    await start(1_500)
    await append('installs', ...Array.from({ length: 40 }, () => matched()))
    await until(() => told().filter(({ host }) => host === 'hooks.other.dev').length === 40)
    const failing = () => told().filter(({ host }) => host === HOST).length
    expect(failing(), 'as many as it has places').to.equal(5)
    const count = async (wanted: string): Promise<number> => (await states()).filter((state) => state === wanted).length
    await until(async () => (await count('delivered')) >= 40)
    expect(await count('delivered')).to.equal(40)
    // The others find a place later, until it has failed ten times in a row.
    while ((await count('retrying')) < 10) {
      clock.set(clock.nowMs() + 1_000)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await isIdle()
    expect(failing()).to.be.within(10, 15)
  })

  it('that answers late delays no webhook of another organisation, nor one of its own', async () => {
    const other = webhook({ id: 'default/other', url: 'https://hooks.other.dev/in', events: ['install.matched'] })
    const theirs = webhook({ id: 'other/theirs', url: 'https://hooks.other.dev/theirs' })
    use(webhook({ events: ['install.unmatched'] }), other)
    otherWebhooks = [theirs]
    secrets.set(webhookKey(theirs), { secret: SECRET })
    receiver.moods.set(HOST, 'hangs')
    await start(60_000)
    const unmatched = (): LogRecord => installRecord({ resolution: 'unmatched', receivedAtMs: clock.nowMs() })
    // More than a batch, and far more than it has places.
    await append('installs', ...Array.from({ length: 200 }, unmatched))
    await until(() => told().length === 5)
    await append(
      'installs',
      matched({ eventId: 'event-1' }),
      matched({ organization: 'other-org', eventId: 'event-2' }),
    )
    await until(() => told().length === 7)
    expect(
      told()
        .slice(5)
        .map(({ path }) => path),
    ).to.have.members(['/in', '/theirs'])
    await until(async () => (await states()).length === 2)
    // All that wait for a place are durable in a tier: only the calls under way hold back the position.
    await until(async () => (await readAll<WebhookJob>('webhooks.5s')).length >= 195)
    const lag = (await log.lag()).find(({ topic, group }) => topic === 'webhooks' && group === 'webhooks')
    expect(lag?.entries).to.be.at.most(202)
    expect(await states()).to.deep.equal(['delivered', 'delivered'])
  })

  it('that answers late in a tier delays nobody who is tried again from there', async () => {
    const other = webhook({ id: 'default/other', url: 'https://hooks.other.dev/in', events: ['install.matched'] })
    use(webhook({ events: ['install.unmatched'] }), other)
    receiver.moods.set(HOST, 500)
    receiver.moods.set('hooks.other.dev', 500)
    await start(60_000)
    const unmatched = (): LogRecord => installRecord({ resolution: 'unmatched', receivedAtMs: clock.nowMs() })
    await append('installs', ...Array.from({ length: 5 }, unmatched), matched())
    await attempted(6)
    receiver.moods.set(HOST, 'hangs')
    receiver.moods.delete('hooks.other.dev')
    clock.set(clock.nowMs() + 7_000)
    await until(async () => (await states()).includes('delivered'))
    await until(() => told().filter(({ host }) => host === HOST).length === 10)
    expect((await states()).filter((state) => state === 'delivered')).to.have.length(1)
  })

  it('that was called is not called again by the next process, though a slower one before it was not done', async () => {
    const other = webhook({ id: 'default/other', url: 'https://hooks.other.dev/in', events: ['install.matched'] })
    use(webhook({ events: ['install.unmatched'] }), other)
    receiver.moods.set(HOST, 'hangs')
    await start(60_000)
    await append('installs', installRecord({ resolution: 'unmatched', receivedAtMs: clock.nowMs() }), matched())
    await until(async () => (await states()).includes('delivered'))
    await until(() => told().length === 2)
    await role?.close()
    await start(60_000)
    await until(() => told().length === 3)
    await append('installs', matched())
    await until(() => told().length === 4)
    const hosts = told().map(({ host }) => host)
    expect(
      hosts.filter((host) => host === HOST),
      'the one that was not done comes again',
    ).to.have.length(2)
    expect(hosts.filter((host) => host === 'hooks.other.dev')).to.have.length(2)
  })

  it('gets nothing while it is paused, and events already waiting continue to wait', async () => {
    receiver.moods.set(HOST, 500)
    await start()
    await append('installs', matched())
    await attempted(1)
    use(webhook({ isPaused: true }))
    receiver.moods.delete(HOST)
    await append('installs', matched())
    await advance(7_000)
    await isIdle()
    expect(told()).to.have.length(1)
    use(webhook())
    await advance(HOUR_MS)
    await until(async () => (await states()).includes('delivered'))
    expect(told()).to.have.length(2)
  })

  describe('while the catalog here is older than the one with which something was made', () => {
    const behind = (): void => {
      catalogNumber = 1
      use()
    }
    const caughtUp = (...own: readonly Webhook[]): void => {
      use(...own)
      catalogNumber = 2
    }

    it('is noticed for once the catalog has come, and the events before are not held up', async () => {
      behind()
      await start()
      await append('installs', matched({ eventId: 'event-before' }), matched({ eventId: 'event-1', catalogNumber: 2 }))
      const left = async () => (await log.lag()).find(({ topic }) => topic === 'installs')?.entries
      await until(async () => (await left()) === 1)
      expect(await log.read('webhooks', 0, 10)).to.deep.equal([])
      caughtUp(webhook({ events: ['install.matched'] }))
      clock.set(clock.nowMs() + 1_000)
      await attempted(1)
      expect(told()[0]?.payload.data).to.include({ eventId: 'event-1' })
    })

    it('gets its job, which is not dropped', async () => {
      await start()
      receiver.moods.set(HOST, 500)
      await append('installs', matched({ eventId: 'event-1', catalogNumber: 1 }))
      await attempted(1)
      behind()
      receiver.moods.delete(HOST)
      const [job] = await readAll<WebhookJob>('webhooks.5s')
      await log.append('webhooks', [{ key: 'again', value: encodeRecord({ ...job!, catalogNumber: 2 }) }])
      await until(async () => (await log.read('webhooks.5s', 0, 10)).length === 2)
      expect(await states()).to.deep.equal(['retrying'])
      caughtUp(webhook())
      await advance(7_000)
      await until(async () => (await states()).includes('delivered'))
    })

    it('ends as expired at the deadline of the job, and never as deleted', async () => {
      behind()
      await start()
      const atMs = clock.nowMs()
      const made = { nowMs: atMs, random: 'ab'.repeat(8), catalogNumber: 2 }
      const job = webhookTestJob({ id: 'acme-org', logRetentionDays: 30 }, ID, made)
      await log.append('webhooks', [{ key: 'held', value: encodeRecord({ ...job, type: 'install.matched' }) }])
      await until(async () => (await log.read('webhooks.5s', 0, 10)).length === 1)
      await advance(6 * 60_000)
      await attempted(1)
      expect((await attempts())[0]).to.include({ state: 'expired', error: 'deadline_passed', number: 1 })
      expect(told()).to.deep.equal([])
    })
  })

  it('gets a test at once, even while it is paused, and once only', async () => {
    use(webhook({ isPaused: true }))
    receiver.moods.set(HOST, 500)
    await start()
    const organization = { id: 'acme', logRetentionDays: 30 }
    const job = webhookTestJob(organization, ID, { nowMs: clock.nowMs(), random: 'ab'.repeat(8), catalogNumber: 1 })
    await log.append('webhooks', [{ key: 'test', value: encodeRecord(job) }])
    await attempted(1)
    await advance(DAY_MS)
    await isIdle()
    expect(told().map(({ payload }) => payload.type)).to.deep.equal(['test'])
    expect(await attempts()).to.have.length(1)
    expect((await attempts())[0]).to.include({ state: 'failed', status: 500, type: 'test' })
    expect(await readAll('activity')).to.deep.equal([])
  })

  it('whose name leads to a private address is not connected to', async () => {
    for (const address of ['10.0.0.1', '127.0.0.1', '169.254.169.254', '::1', 'fd00::1']) {
      await role?.close()
      await start(2_000, { resolve: async () => [address] })
      const before = (await attempts()).length
      await append('installs', matched())
      await attempted(before + 1)
      expect((await attempts()).at(-1), address).to.include({ error: 'address_refused', status: 0 })
    }
    expect(receiver.dialled).to.equal(0)
  })

  it('is called again under the same ID by the next process, if one ends during a call', async () => {
    receiver.moods.set(HOST, 'hangs')
    await start(30_000)
    await append('installs', matched())
    await until(() => told().length === 1)
    await role?.close()
    receiver.moods.delete(HOST)
    await start()
    await until(async () => (await states()).includes('delivered'))
    expect(new Set(told().map(({ id }) => id)).size).to.equal(1)
  })

  it('without a secret waits for one, and a deleted one gets nothing more', async () => {
    secrets.clear()
    await start()
    await append('installs', matched())
    await isIdle()
    expect(told()).to.have.length(0)
    use(webhook())
    await advance(7_000)
    await attempted(1)
    receiver.moods.set(HOST, 500)
    await append('installs', matched())
    await attempted(2)
    use()
    await advance(DAY_MS)
    await isIdle()
    expect(told()).to.have.length(2)
  })
})
