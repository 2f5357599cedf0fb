/** Webhooks of the format Slack over the real log, to a real receiver: one message an hour, each once, and what its answers lead to. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { expect } from 'chai'

import { startWebhooks } from '../../../delivery/webhooks/webhooks.ts'
import { SLACK_ORIGIN } from '../../../domain/webhooks/slack-address.ts'
import { webhookKey, type Webhook } from '../../../domain/catalog.ts'
import { HOUR_MS, hourOf, MINUTE_MS } from '../../../domain/durations.ts'
import { WEBHOOK_EVENT_TYPES } from '../../../domain/model.ts'
import {
  decodeRecord,
  encodeRecord,
  type ActivityRecord,
  type LogRecord,
  type Topic,
  type WebhookAttemptRecord,
} from '../../../domain/records.ts'
import { ACME, visitOf } from '../../../fixtures/delivery/builders.ts'
import { FactsDouble } from '../../../fixtures/delivery/facts-double.ts'
import { until } from '../../../fixtures/until.ts'
import { lmdbEventLog, type LmdbEventLog } from '../../../ports/event-log/lmdb/lmdb.ts'
import type { LmdbEnvironment } from '../../../ports/shared/lmdb/environment.ts'
import { SILENT_LOGGER } from '../../../runtime/logger.ts'
import { createRandomness } from '../../../runtime/random.ts'
import { alertRecord, installRecord } from '../../contract/fact-samples.ts'
import { deleteFolder, openTestEnvironment, temporaryFolder, testClock } from '../../contract/lmdb-harness.ts'
import { Receiver } from './receiver.ts'

const HOST = 'hooks.slack.com'
const SECRET_PATH = '/services/T0/B0/canary-of-the-address'
const CHANNEL: Webhook = {
  id: 'default/channel',
  namespace: 'default',
  objectName: 'channel',
  displayName: 'Our channel',
  format: 'Slack',
  url: '',
  events: WEBHOOK_EVENT_TYPES,
  isPaused: false,
  previousSecretUntilMs: null,
}

describe('a webhook of the format Slack', function () {
  this.timeout(60_000)
  let folder: string
  let environment: LmdbEnvironment
  let log: LmdbEventLog
  let clock: ReturnType<typeof testClock>
  let receiver: Receiver
  let facts: FactsDouble
  let address: string
  let slackUrl: string
  const roles: { close(): Promise<void> }[] = []
  let claims: Map<string, string>

  const start = async (): Promise<void> => {
    const organizations = new Map([['acme', { ...ACME, id: 'acme', webhooks: [CHANNEL] }]])
    const role = await startWebhooks(
      {
        eventLog: log,
        facts,
        randomness: { ...createRandomness(), fraction: () => 0 },
        nowMs: clock.nowMs,
        telemetry: { logger: SILENT_LOGGER },
        catalog: {
          current: () => ({ organizations, number: 1 }),
          credentials: () => new Map([[webhookKey(CHANNEL), { url: address }]]),
        },
        hotState: {
          claimJob: async (name, owner) => (claims.get(name) ?? owner) === owner && claims.set(name, owner).size > 0,
          releaseJob: async (name, owner) => void (claims.get(name) === owner && claims.delete(name)),
        },
        slackUrl,
      },
      receiver.outbound(),
    )
    roles.push(role)
  }
  const stop = async (): Promise<void> => {
    for (const role of roles.splice(0)) await role.close()
  }
  const append = (topic: Topic, ...records: readonly LogRecord[]) =>
    log.append(
      topic,
      records.map((record, place) => ({ key: `key-${place}`, value: encodeRecord(record) })),
    )
  const readAll = async <T extends { readonly v: 1 }>(topic: Topic): Promise<readonly T[]> =>
    (await log.read(topic, 0, 20_000)).map(({ value }) => decodeRecord<T>(value))
  const attempts = () => readAll<WebhookAttemptRecord>('webhook_attempts')
  const attempted = (count: number) => until(async () => (await attempts()).length >= count)
  const isNoticed = () =>
    until(async () =>
      (await log.lag()).every(
        ({ group, topic, entries }) => group !== 'webhooks' || topic !== 'installs' || entries === 0,
      ),
    )
  /** That wait in any tier. */
  const tierEntries = async (): Promise<number> => {
    const own = (await log.lag()).filter(({ group, topic }) => group === 'webhooks' && topic.startsWith('webhooks.'))
    return own.reduce((sum, { entries }) => sum + entries, 0)
  }
  const advance = async (ms: number): Promise<void> => {
    clock.set(clock.nowMs() + ms)
    await stop()
    await start()
  }
  const install = (changes = {}): LogRecord =>
    installRecord({ resolution: 'matched', visitId: 'ab'.repeat(16), receivedAtMs: clock.nowMs(), ...changes })

  beforeEach(async () => {
    folder = await temporaryFolder()
    clock = testClock(hourOf(Date.now()) + 20 * MINUTE_MS)
    environment = await openTestEnvironment(folder, clock.nowMs)
    log = await lmdbEventLog(environment, { pace: { inHandMs: 50, recheckMs: 20 } })
    receiver = await Receiver.open()
    facts = new FactsDouble()
    facts.anyVisit = visitOf({})
    claims = new Map()
    address = `https://${HOST}${SECRET_PATH}`
    slackUrl = SLACK_ORIGIN
  })
  afterEach(async () => {
    await stop()
    await log.close()
    await environment.close()
    await receiver.close()
    await deleteFolder(folder)
  })

  it('gets one message for 10,000 installs of an hour, when it is over', async () => {
    facts.hourSources.push({ website: 'acme', source: '<!channel>', matched: 6_000, unmatched: 4_000 })
    await start()
    for (let batch = 0; batch < 10; batch++) {
      await append(
        'installs',
        ...Array.from({ length: 1_000 }, (_, place) => install({ eventId: `e-${batch}-${place}` })),
      )
    }
    await isNoticed()
    await advance(0)
    await append('installs', install({ eventId: 'after-a-restart' }))
    await isNoticed()
    expect(receiver.received, 'the hour goes on').to.deep.equal([])
    for (let step = 0; step < 4; step++) await advance(20 * MINUTE_MS)
    await until(() => receiver.received.length > 0)
    await advance(HOUR_MS)
    await until(async () => (await tierEntries()) === 0)
    expect(receiver.received).to.have.length(1)
    const [message] = receiver.received
    expect(message?.body).to.include('6000 with a visit, 4000 without (<!channel> 6000)').and.not.to.include('mrkdwn')
    expect(message).to.include({ path: SECRET_PATH, id: '' })
  })

  it('gets alerts at once, and its address is in no record', async () => {
    await start()
    await append('alerts', alertRecord({ atMs: clock.nowMs() }))
    await attempted(1)
    expect(receiver.received[0]?.body).to.include('12 installs on 27 November 2026')
    receiver.moods.set(HOST, 500)
    receiver.answer = `no ${SECRET_PATH}`
    await append('alerts', alertRecord({ atMs: clock.nowMs() }))
    await attempted(2)
    const records = [...(await attempts()), ...(await readAll<ActivityRecord>('activity'))]
    expect(JSON.stringify(records)).not.to.include('canary-of-the-address')
    expect((await attempts()).map(({ state }) => state)).to.deep.equal(['delivered', 'retrying'])
  })

  for (const [status, answer] of [
    [400, 'invalid_payload'],
    [403, 'action_prohibited'],
    [404, 'no_service'],
    [410, 'channel_is_archived'],
  ] as const)
    it(`is not tried again after ${status} ${answer}, and its organisation is told`, async () => {
      receiver.moods.set(HOST, status)
      receiver.answer = answer
      await start()
      await append('alerts', alertRecord({ atMs: clock.nowMs() }))
      await attempted(1)
      expect((await attempts())[0]).to.include({ state: 'failed', status, answer })
      await until(async () => (await readAll('activity')).length > 0)
      const told = (await readAll<ActivityRecord>('activity')).map(({ type }) => type)
      expect(told).to.include(status === 400 ? 'webhook_failing' : 'webhook_paused')
    })

  it('waits as long as Slack asks for after 429', async () => {
    receiver.moods.set(HOST, 429)
    receiver.headers = { 'retry-after': '1800' }
    await start()
    await append('alerts', alertRecord({ atMs: clock.nowMs() }))
    await attempted(1)
    const [first] = await attempts()
    expect(first?.state).to.equal('retrying')
    expect((first?.nextAttemptAtMs ?? 0) - (first?.startedAtMs ?? 0)).to.be.within(1_800_000, 1_801_000)
  })

  it('calls no address but one of Slack', async () => {
    address = 'https://hooks.other.dev/services/x'
    await start()
    await append('alerts', alertRecord({ atMs: clock.nowMs() }))
    await attempted(1)
    expect((await attempts())[0]).to.include({ status: 0, error: 'address_refused' })
    expect(receiver.received).to.deep.equal([])
  })

  it('calls what stands in for Slack on this machine, without encryption, and no other address there', async () => {
    const asked: string[] = []
    const standIn = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.end('ok')
    })
    await once(standIn.listen(0, '127.0.0.1'), 'listening')
    slackUrl = `http://127.0.0.1:${(standIn.address() as AddressInfo).port}`
    await start()
    await append('alerts', alertRecord({ atMs: clock.nowMs() }))
    await attempted(1)
    expect((await attempts())[0]).to.include({ status: 200, error: '' })
    expect(asked).to.deep.equal([SECRET_PATH])
    address = 'http://127.0.0.1:1/services/x'
    await append('alerts', alertRecord({ atMs: clock.nowMs(), state: 'closed', end: 'usual' }))
    await attempted(2)
    expect((await attempts())[1]).to.include({ status: 0, error: 'address_refused' })
    standIn.close()
  })
})
