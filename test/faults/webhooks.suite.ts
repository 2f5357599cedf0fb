/** Event webhooks on a real Kafka and a real Redis, while the role that sends them is killed: every event arrives under one ID, signed. */

import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'

import { expect } from 'chai'

import type { Webhook } from '../../domain/catalog.ts'
import { decodeRecord, encodeRecord, type ActivityRecord, type LogRecord } from '../../domain/records.ts'
import type { Engines } from '../../fixtures/engines/engines.ts'
import { until } from '../../fixtures/until.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import { kafkaEventLog } from '../../ports/event-log/kafka/kafka.ts'
import { diceOf } from '../chaos/dice.ts'
import { decisionRecord, installRecord } from '../contract/fact-samples.ts'
import { Receiver, SECRET } from '../delivery/webhooks/receiver.ts'
import type { FaultParts } from './breaking.suite.ts'

export const EVENTS_ORGANIZATION = 'events'
const HOST = 'hooks.acme.dev'
const GONE_HOST = 'hooks.other.dev'

function webhook(name: string, host: string): Webhook {
  return {
    id: `default/${name}`,
    namespace: 'default',
    objectName: name,
    displayName: name,
    format: 'Standard',
    url: `https://${host}/in`,
    events: ['install.matched'],
    isPaused: false,
    previousSecretUntilMs: null,
  }
}
/** The receiver of the second one answers that it is gone. */
export const WEBHOOKS: readonly Webhook[] = [webhook('open', HOST), webhook('gone', GONE_HOST)]

const POINTS = [
  'before jobs is kept',
  'after jobs is kept',
  'before an attempt is kept',
  'after an attempt is kept',
] as const
export type WebhookKillPoint = (typeof POINTS)[number]
type Kill = WebhookKillPoint | 'after an event arrived'

const CYCLES = Number(process.env['WHENCE_CRASH_CYCLES'] ?? 2)
const SEED = Number(process.env['WHENCE_CRASH_SEED'] ?? 23)
const EVENTS = 12
const CHILD = new URL('webhooks.child.ts', import.meta.url).pathname

export function webhooksThroughKills({ place }: FaultParts): void {
  describe('event webhooks whose sender is killed', function () {
    this.timeout(120_000 + CYCLES * 15_000)
    let engines: Engines
    let eventLog: EventLog
    let receiver: Receiver
    let child: ChildProcess
    /** IDs of the events that were appended. */
    const appended: string[] = []

    before(async () => {
      engines = await place()
      eventLog = await kafkaEventLog(engines.kafkaSettings)
      receiver = await Receiver.open()
      receiver.moods.set(GONE_HOST, 410)
      await start()
    })
    after(async () => {
      child?.kill('SIGKILL')
      await receiver?.close()
      await eventLog?.close()
      await engines?.stop()
    })

    const start = async (): Promise<void> => {
      const { WHENCE_EVENT_LOG, WHENCE_HOT_STATE } = engines.ownEnv
      child = fork(CHILD, [WHENCE_EVENT_LOG, WHENCE_HOT_STATE, String(receiver.port), Receiver.certPem])
      await once(child, 'message')
    }
    /** Half of the installs are decided later; a record may be on the log twice. */
    const append = async (): Promise<void> => {
      const own = { organization: EVENTS_ORGANIZATION, visitId: 'ab'.repeat(16) }
      const installs = Array.from({ length: EVENTS }, (_, index) => {
        const eventId = `event-${appended.length + index}`
        const resolution = index % 2 === 0 ? ('matched' as const) : ('pending' as const)
        return installRecord({ ...own, eventId, receivedAtMs: Date.now(), resolution })
      })
      const decided = installs
        .filter(({ install }) => install.resolution === 'pending')
        .map((each) => decisionRecord(each))
      appended.push(...installs.map(({ install }) => install.eventId))
      await put('installs', installs)
      await put('install_decisions', [...decided, ...decided.slice(0, 2)])
    }
    const put = async (topic: 'installs' | 'install_decisions', records: readonly LogRecord[]): Promise<void> => {
      const entries = records.map((record, index) => ({ key: `key-${index}`, value: encodeRecord(record) }))
      await eventLog.append(topic, entries, { deadlineMs: 30_000, patienceMs: 30_000 })
    }
    const kill = async (at: Kill): Promise<void> => {
      const died = once(child, 'exit')
      if (at === 'after an event arrived') receiver.onReceived = () => void child.kill('SIGKILL')
      else child.send(at)
      await append()
      expect(await died, at).to.deep.equal([null, 'SIGKILL'])
      receiver.onReceived = () => undefined
      await start()
    }
    const arrived = () => receiver.received.filter(({ host }) => host === HOST)
    const eventOf = ({ payload }: (typeof receiver.received)[number]): string => String(payload.data['eventId'])

    it(`get every event under one ID, signed, with the same bytes each time, after ${CYCLES} kills`, async () => {
      const dice = diceOf(SEED)
      const deck = (): readonly Kill[] => dice.shuffled<Kill>([...POINTS, 'after an event arrived'])
      const kills = Array.from({ length: Math.ceil(CYCLES / (POINTS.length + 1)) }, deck)
        .flat()
        .slice(0, CYCLES)
      for (const point of kills) await kill(point)
      await append()
      await until(() => new Set(arrived().map(eventOf)).size >= appended.length)
      const messages = arrived()
      expect([...new Set(messages.map(eventOf))].toSorted()).to.deep.equal(appended.toSorted())
      const byId = Map.groupBy(messages, ({ id }) => id)
      expect(byId.size, 'one ID for each event').to.equal(appended.length)
      for (const [id, same] of byId) expect(new Set(same.map(({ body }) => body)).size, id).to.equal(1)
      expect(messages.filter(({ verifiedBy }) => verifiedBy.join() !== SECRET)).to.deep.equal([])
      console.log(`        ${appended.length} events, ${messages.length - byId.size} of them again under their ID`)
    })

    it('tell once in an hour that a receiver is gone, whatever process noticed it', async () => {
      expect(receiver.received.some(({ host }) => host === GONE_HOST)).to.equal(true)
      const told = async (): Promise<readonly ActivityRecord[]> =>
        (await activityOf(eventLog)).filter(({ type }) => type === 'webhook_paused')
      await until(async () => (await told()).length > 0)
      expect((await told()).map(({ organization, subject }) => [organization, subject])).to.deep.equal([
        [EVENTS_ORGANIZATION, 'Webhook/default/gone'],
      ])
    })
  })
}

async function activityOf(eventLog: EventLog): Promise<readonly ActivityRecord[]> {
  const records: ActivityRecord[] = []
  for await (const entries of eventLog.readLast('activity', { entries: 1_000 }))
    records.push(...entries.map(({ value }) => decodeRecord<ActivityRecord>(value)))
  return records
}
