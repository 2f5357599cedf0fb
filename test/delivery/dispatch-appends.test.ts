/** Dispatch and the event log: the order of what it appends, and what it does while something cannot be appended. */

import { expect } from 'chai'

import { startDispatch, type Dispatch } from '../../delivery/dispatch/dispatch.ts'
import { AWAITED_TOPICS, FACTS_WRITER_GROUP, INSTALLATION_TOPICS } from '../../domain/collection/facts-lag.ts'
import type { Install } from '../../domain/model.ts'
import {
  decodeRecord,
  encodeRecord,
  recordKey,
  type DecisionRecord,
  type InstallRecord,
  type Topic,
} from '../../domain/records.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import {
  catalogOf,
  destinationOf,
  installOf,
  NOON_MS,
  recordOf,
  visitOf,
  WEBSITE,
} from '../../fixtures/delivery/builders.ts'
import { FactsDouble } from '../../fixtures/delivery/facts-double.ts'
import { Stage, until } from '../../fixtures/delivery/harness.ts'
import { activeHistory, pendingInstall } from './support/pending.ts'

describe('what dispatch appends', () => {
  let stage: Stage
  let facts: FactsDouble
  let dispatch: Dispatch
  /** Appends in order, as `topic` or `topic refused`. */
  let appended: string[]
  /** How many appends to this topic still fail. */
  let failuresLeft: number
  let refusedTopic: Topic
  /** Called while an append is refused. */
  let onRefused: () => void

  beforeEach(async () => {
    appended = []
    failuresLeft = 0
    refusedTopic = 'deliver.ga4'
    onRefused = () => undefined
    stage = await Stage.set()
    facts = new FactsDouble()
    dispatch = await startDispatch({
      eventLog: refusing(stage.store.log),
      facts,
      claims: stage.store.hotState,
      catalog: { current: () => stage.catalog },
      nowMs: stage.clock.nowMs,
      random: () => 0,
      telemetry: { logger: SILENT_LOGGER },
    })
  })
  afterEach(async () => {
    await dispatch.close()
    await stage.strike()
  })

  const refusing = (log: EventLog): EventLog => ({
    ...log,
    consume: (...words) => log.consume(...words),
    progress: (...words) => log.progress(...words),
    append: async (topic, entries, options) => {
      // A broker refuses after the call has returned: code that does not wait for it continues meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 5))
      if (topic === refusedTopic && failuresLeft > 0) {
        failuresLeft -= 1
        appended.push(`${topic} refused`)
        onRefused()
        throw new Error('not enough replicas')
      }
      await log.append(topic, entries, options)
      appended.push(topic)
    },
  })
  const report = async (record: InstallRecord): Promise<void> => {
    const key = recordKey(record.install, record.install.eventId)
    await stage.store.log.append('installs', [{ key, value: encodeRecord(record) }])
  }
  const installNamed = (eventId: string, overrides: Partial<Install> = {}): InstallRecord =>
    recordOf(installOf({ overrides: { eventId, ...overrides } }))

  it('is a job before its record, so that what counts as dispatched has its job on the log', async () => {
    facts.show(visitOf())
    failuresLeft = 2
    await report(installNamed('event-0001'))
    await until(() => appended.includes('deliveries'))
    expect(appended).to.deep.equal(['deliver.ga4 refused', 'deliver.ga4 refused', 'deliver.ga4', 'deliveries'])
    expect((await stage.records()).map(({ eventId, status }) => [eventId, status])).to.deep.equal([
      ['event-0001', 'pending'],
    ])
  })

  it('is a job for each destination, even if another one was delivered while its append failed', async () => {
    const meta = destinationOf({ id: 'acme-meta', provider: 'meta', settings: {} })
    await Promise.all(
      INSTALLATION_TOPICS.map((topic) =>
        stage.store.log.consume(topic, FACTS_WRITER_GROUP, async () => undefined, { maxEntries: 100 }),
      ),
    )
    stage.catalog = catalogOf([destinationOf(), meta])
    facts.show(visitOf({ identities: { ...visitOf().identities, meta: { fbc: 'fb.1.1.abc', fbp: 'fb.1.1.1' } } }))
    failuresLeft = 1
    const row = { organization: 'acme', website: WEBSITE, event_id: 'event-0001', destination: 'acme-meta' }
    onRefused = () => facts.deliveries.push({ ...row, status: 'delivered', install_received_at_ms: NOON_MS })
    await report(recordOf(installOf({ destinations: [destinationOf(), meta] })))
    await until(() => appended.includes('deliveries'))
    expect(appended).to.include.members(['deliver.ga4 refused', 'deliver.ga4'])
    expect((await stage.records()).map(({ destination, status }) => [destination, status])).to.deep.equal([
      ['acme-ga4', 'pending'],
      ['acme-meta', 'pending'],
    ])
  })

  it('is a parked install once, which then waits in its tier', async () => {
    facts.show(visitOf())
    const late = visitOf({ visitId: 'f'.repeat(32) })
    await report(recordOf(installOf({ visit: late, overrides: { eventId: 'event-late' } })))
    await until(() => appended.includes('dispatch.5s'))
    for (const eventId of ['event-0001', 'event-0002', 'event-0003', 'event-0004']) {
      await report(installNamed(eventId))
      await until(async () => (await stage.records()).some((record) => record.eventId === eventId))
    }
    expect(appended.filter((topic) => topic.startsWith('dispatch.'))).to.deep.equal(['dispatch.5s'])
    expect((await stage.records()).map(({ eventId }) => eventId)).not.to.include('event-late')
  })

  for (const topic of ['install_decisions', 'deliver.ga4', 'deliveries'] as const) {
    it(`is one decision, though ${topic} cannot be appended at first and the facts change meanwhile`, async () => {
      for (const each of AWAITED_TOPICS) {
        await stage.store.log.consume(each, FACTS_WRITER_GROUP, async () => undefined, { maxEntries: 100 })
      }
      facts.show(visitOf())
      facts.histories.push(activeHistory())
      refusedTopic = topic
      failuresLeft = 1
      onRefused = () => facts.histories.splice(0, 1, activeHistory({ revoked_at_ms: NOON_MS - 1 }))
      await report(recordOf(pendingInstall()))
      await until(() => appended.includes('deliveries'))
      const made = (await stage.store.log.read('install_decisions', 0, 10)).map(({ value }) => value)
      expect([...new Set(made)]).to.have.length(1)
      expect(decodeRecord<DecisionRecord>(made[0] ?? '')).to.include({ resolution: 'matched' })
      expect((await stage.records()).map(({ status }) => status)).to.deep.equal(['pending'])
      expect(appended.filter((name) => name === `${topic} refused`)).to.have.length(1)
    })
  }
})
