/** Dispatch on the real log: one record per delivery, a job for each that is to be made, and nothing twice. */

import { expect } from 'chai'

import {
  type DecisionRecord,
  encodeRecord,
  recordKey,
  type InstallRecord,
  type ParkedInstall,
  type Topic,
  decodeRecord,
} from '../../domain/records.ts'
import { AWAITED_TOPICS, FACTS_WRITER_GROUP, INSTALLATION_TOPICS } from '../../domain/collection/facts-lag.ts'
import type { Visit } from '../../domain/collection/visit-fields.ts'
import type { Install } from '../../domain/model.ts'
import { startDispatch, type Dispatch } from '../../delivery/dispatch/dispatch.ts'
import type { FirstInstallRow } from '../../ports/facts/query-rows.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import {
  destinationOf,
  HOUR_MS,
  installOf,
  MEASUREMENT_ID,
  MINUTE_MS,
  NOON_MS,
  recordOf,
  visitOf,
  catalogOf,
} from '../../fixtures/delivery/builders.ts'
import { activeHistory, decisionRow, pendingInstall } from './support/pending.ts'
import { FactsDouble } from '../../fixtures/delivery/facts-double.ts'
import { Stage, until, type StageOptions } from '../../fixtures/delivery/harness.ts'
import { jobOf } from '../../fixtures/delivery/jobs.ts'

const DESTINATIONS = [
  destinationOf(),
  destinationOf({ id: 'paused', mode: 'Paused' }),
  destinationOf({ id: 'starts-only', eventTypes: ['install_started'] }),
]

const dispatchedRow = (eventId: string, receivedAtMs: number) => ({
  organization: 'acme',
  website: 'acme-dev',
  event_id: eventId,
  destination: 'acme-ga4',
  status: 'skipped',
  install_received_at_ms: receivedAtMs,
})

describe('dispatch', () => {
  let stage: Stage
  let facts: FactsDouble
  let dispatch: Dispatch | null

  async function start(options: StageOptions = {}): Promise<void> {
    stage = await Stage.set(options)
    facts = new FactsDouble()
    dispatch = await startDispatch(deps())
  }
  const deps = (): Parameters<typeof startDispatch>[0] => ({
    eventLog: stage.store.log,
    facts,
    claims: stage.store.hotState,
    catalog: { current: () => stage.catalog },
    nowMs: stage.clock.nowMs,
    random: () => 0,
    telemetry: { logger: SILENT_LOGGER },
  })
  afterEach(async () => {
    await dispatch?.close()
    await stage.strike()
  })

  async function report(...records: readonly InstallRecord[]): Promise<void> {
    const entries = records.map((record) => ({
      key: recordKey(record.install, record.install.eventId),
      value: encodeRecord(record),
    }))
    await stage.store.log.append('installs', entries)
  }
  const numbered = (number: number, overrides: Partial<Install> = {}): InstallRecord =>
    recordOf(installOf({ overrides: { eventId: `event-${number}`, ...overrides } }))
  const jobs = async (): Promise<string[]> =>
    (await stage.store.log.read('deliver.ga4', 0, 1_000)).map(
      (entry) => decodeRecord<ReturnType<typeof jobOf>>(entry.value).install.eventId,
    )
  const parked = async (tier: string): Promise<ParkedInstall[]> =>
    (await stage.store.log.read(`dispatch.${tier}` as Topic, 0, 1_000)).map((entry) =>
      decodeRecord<ParkedInstall>(entry.value),
    )

  const decisions = async (): Promise<DecisionRecord[]> =>
    (await stage.store.log.read('install_decisions', 0, 1_000)).map((entry) =>
      decodeRecord<DecisionRecord>(entry.value),
    )
  /** As the facts-writer would: from here on it does whatever is on the log. */
  const factsWriter = (topics: readonly Topic[] = AWAITED_TOPICS): Promise<unknown> =>
    Promise.all(
      topics.map((topic) =>
        stage.store.log.consume(topic, FACTS_WRITER_GROUP, async () => undefined, { maxEntries: 100 }),
      ),
    )
  const withRequest = (record: InstallRecord, id: string): InstallRecord => ({
    ...record,
    request: { ...record.request, id: id.repeat(28) },
  })
  const firstRow = ({ install, request }: InstallRecord): FirstInstallRow => ({
    organization: 'acme',
    website: install.website,
    event_id: install.eventId,
    received_at_ms: install.receivedAtMs,
    request_id: request.id,
    installation_id: install.installationId,
    event_type: install.eventType,
    visit_id: install.visitId ?? '',
    answer: JSON.stringify(install.answer),
  })
  /** How often a method of the log was called from now on. */
  const countCalls = (name: 'progress'): (() => number) => {
    const { log } = stage.store
    const method = log[name].bind(log)
    let calls = 0
    log[name] = (...words) => {
      calls += 1
      return method(...words)
    }
    return () => calls
  }
  const restart = async (): Promise<void> => {
    await dispatch?.close()
    dispatch = await startDispatch(deps())
  }

  it('writes a record for every delivery of the plan, and a job for the pending one', async () => {
    await start({ destinations: DESTINATIONS })
    facts.show(visitOf())
    await report(recordOf(installOf({ destinations: DESTINATIONS })))
    await until(async () => (await stage.records()).length === 3)
    const told = (await stage.records()).map((record) => [
      record.destination,
      record.status,
      record.reason,
      record.sessionMode,
    ])
    expect(told).to.deep.equal([
      ['acme-ga4', 'pending', '', 'original_session_window'],
      ['paused', 'skipped', 'destination_paused', 'none'],
      ['starts-only', 'skipped', 'event_type_not_selected', 'none'],
    ])
    const entries = await stage.store.log.read('deliver.ga4', 0, 10)
    expect(entries.map((entry) => decodeRecord(entry.value))).to.deep.equal([JSON.parse(JSON.stringify(jobOf()))])
  })

  it('dates the first record by the install, so that writing it again covers nothing', async () => {
    await start()
    facts.show(visitOf())
    await report(recordOf(installOf()))
    await until(async () => (await stage.records()).length === 1)
    expect((await stage.records())[0]).to.include({
      atMs: NOON_MS,
      deadlineAtMs: NOON_MS + 71 * HOUR_MS,
      nextAttemptAtMs: NOON_MS,
    })
  })

  it('reads the visits of a batch in one query', async () => {
    await start()
    await dispatch?.close()
    const visits = [1, 2, 3].map((number) => visitOf({ visitId: `${number}`.repeat(32) }))
    for (const visit of visits) facts.show(visit)
    await report(
      ...visits.map((visit, index) => recordOf(installOf({ visit, overrides: { eventId: `event-${index}` } }))),
    )
    dispatch = await startDispatch(deps())
    await until(async () => (await jobs()).length === 3)
    expect(facts.asked).to.deep.equal(['dispatchedJobs', 'firstInstalls', 'visitsByIds', 'countedEvents'])
  })

  it('delivers an install whatever its body and its texts look like', async () => {
    await start()
    facts.show(visitOf())
    const likeNoDelivery = '{"deliveries":[],"answer":{"resolution":"unmatched"}}'
    const { request, ...record } = recordOf(installOf({ overrides: { language: likeNoDelivery } }))
    await report({ ...record, request: { ...request, userAgent: likeNoDelivery, body: likeNoDelivery } })
    await until(async () => (await jobs()).length === 1)
  })

  it('passes over installs without a delivery', async () => {
    await start()
    facts.show(visitOf())
    const none = { deliveries: [], resolution: 'unmatched' } as const
    await report(numbered(1, none), recordOf(installOf()), numbered(2, none))
    // The record of a job comes after it.
    await until(async () => (await stage.records()).length > 0)
    expect(await jobs()).to.have.length(1)
    expect(await stage.records()).to.have.length(1)
  })

  it('reads no visit if nothing is pending', async () => {
    await start()
    await report(numbered(1, { resolution: 'unmatched' }), numbered(2, { resolution: 'counted' }))
    await until(async () => (await stage.records()).length === 2)
    expect((await stage.records()).map((record) => record.reason)).to.deep.equal(['unmatched', 'counted'])
    expect(facts.asked).not.to.include('visitsByIds')
  })

  it('skips with the visit at hand: no client ID, GPC, and no identifier of that provider', async () => {
    const meta = destinationOf({ id: 'meta', provider: 'meta' })
    await start({ destinations: [destinationOf(), meta] })
    await factsWriter(INSTALLATION_TOPICS)
    facts.show(visitOf({ identities: { x: { twclid: 'a' } } }))
    await report(recordOf(installOf({ destinations: [destinationOf(), meta] })))
    await until(async () => (await stage.records()).length === 2)
    expect((await stage.records()).map((record) => [record.destination, record.status, record.reason])).to.deep.equal([
      ['acme-ga4', 'skipped', 'no_client_id'],
      ['meta', 'skipped', 'no_identifier'],
    ])
    expect(await jobs()).to.deep.equal([])
  })

  it('skips what was planned for a destination that is gone since', async () => {
    await start()
    facts.show(visitOf())
    stage.catalog = catalogOf([])
    await report(recordOf(installOf()))
    await until(async () => (await stage.records()).length === 1)
    expect((await stage.records())[0]).to.include({ status: 'skipped', reason: 'destination_removed' })
  })

  it('skips nothing while its catalog is older than the one that planned the install, which goes out once it has come', async () => {
    await start()
    facts.show(visitOf())
    const made = destinationOf({ id: 'made-now' })
    const install = installOf({ destinations: [destinationOf(), made], overrides: { catalogNumber: 2 } })
    await report(recordOf(install))
    await until(async () => (await parked('5s')).length === 1)
    expect(await stage.records()).to.deep.equal([])
    stage.catalog = { ...catalogOf([destinationOf(), made]), number: 2 }
    stage.clock.advance(7_000)
    await until(async () => (await stage.records()).length === 2)
    expect((await stage.records()).map(({ destination, status }) => [destination, status])).to.deep.equal([
      ['acme-ga4', 'pending'],
      ['made-now', 'pending'],
    ])
    expect(await jobs()).to.deep.equal(['event-0001', 'event-0001'])
  })

  describe('with an event that is on the log twice', () => {
    const second = (): InstallRecord => numbered(1, { resolution: 'unmatched', receivedAtMs: NOON_MS + 1 })

    it('follows the first row, in one batch', async () => {
      await start()
      facts.show(visitOf())
      await report(numbered(1), second(), numbered(2))
      await until(async () => (await stage.records()).length === 2)
      expect(await jobs()).to.deep.equal(['event-1', 'event-2'])
      expect((await stage.records()).map((record) => record.status)).to.deep.equal(['pending', 'pending'])
    })

    it('follows the first row, in batches after each other', async () => {
      await start()
      facts.show(visitOf())
      await report(numbered(1))
      await until(async () => (await stage.records()).length === 1)
      await report(second(), numbered(2))
      await until(async () => (await stage.records()).length === 2)
      expect(await jobs()).to.deep.equal(['event-1', 'event-2'])
    })

    it('follows the record that was received first even if it is behind the other one', async () => {
      const { deliveries } = numbered(1).install
      const skipped = deliveries.map((plan) => ({
        ...plan,
        status: 'skipped' as const,
        reason: 'unmatched' as const,
      }))
      const hasty = (): InstallRecord => numbered(1, { receivedAtMs: NOON_MS + 1, deliveries: skipped })
      await start()
      facts.show(visitOf())
      await report(hasty())
      await until(async () => (await stage.records()).length === 1)
      await report(numbered(1), hasty(), numbered(2))
      await until(async () => (await stage.records()).length === 3)
      expect(await jobs()).to.deep.equal(['event-1', 'event-2'])
      expect((await stage.records()).map(({ status, corrects }) => [status, corrects])).to.deep.equal([
        ['skipped', undefined],
        ['pending', true],
        ['pending', undefined],
      ])
    })

    it('follows the first row over a restart, by what ClickHouse holds', async () => {
      await start()
      facts.show(visitOf())
      facts.deliveries.push({ ...dispatchedRow('event-1', NOON_MS), status: 'delivered' })
      await report(numbered(1), numbered(2))
      await until(async () => (await stage.records()).length === 1)
      expect(await jobs()).to.deep.equal(['event-2'])
    })

    describe('whose first record waits for its visit', () => {
      const late = visitOf({ visitId: 'f'.repeat(32) })
      const first = (): InstallRecord => recordOf(installOf({ visit: late, overrides: { eventId: 'event-1' } }))
      /** Received later, and unmatched: it needs no visit, so nothing holds it back. */
      const later = (): InstallRecord => {
        const { deliveries } = first().install
        const skipped = deliveries.map((plan) => ({
          ...plan,
          status: 'skipped' as const,
          reason: 'unmatched' as const,
        }))
        const changed = { resolution: 'unmatched', receivedAtMs: NOON_MS + 1, deliveries: skipped } as const
        return withRequest(
          numbered(1, { ...changed, eventType: 'first_run', visitId: null, visitIssuedAtMs: null }),
          '2',
        )
      }
      /** Everything that has been reported before is through once this one is. */
      const reportAnother = async (number: number): Promise<void> => {
        facts.show(visitOf())
        await report(numbered(number))
        await until(async () => (await jobs()).includes(`event-${number}`))
      }
      const told = async () =>
        (await stage.records())
          .filter(({ eventId }) => eventId === 'event-1')
          .map(({ status, reason, corrects, installReceivedAtMs }) => [status, reason, corrects, installReceivedAtMs])

      it('drops the later one', async () => {
        await start()
        await report(first())
        await until(async () => (await parked('5s')).length === 1)
        await report(later())
        await reportAnother(2)
        expect(await told()).to.deep.equal([])
        facts.show(late)
        stage.clock.advance(5_000)
        await until(async () => (await told()).length > 0)
        expect(await told()).to.deep.equal([['pending', '', undefined, NOON_MS]])
        expect(await jobs()).to.deep.equal(['event-2', 'event-1'])
      })

      it('drops the later one also in another process, once the facts know the first', async () => {
        await start()
        await report(first())
        await until(async () => (await parked('5s')).length === 1)
        facts.firsts.push(firstRow(first()))
        await factsWriter()
        await restart()
        await report(later())
        await reportAnother(2)
        expect(await told()).to.deep.equal([])
        facts.show(late)
        stage.clock.advance(5_000)
        await until(async () => (await jobs()).includes('event-1'))
      })

      it('does not send the later one before the facts know the first, which another process has', async () => {
        await start()
        await report(first())
        await until(async () => (await parked('5s')).length === 1)
        await restart()
        await report(numbered(1, { eventType: 'first_run', receivedAtMs: NOON_MS + 1 }))
        facts.show(visitOf())
        await until(async () => (await parked('5s')).length === 2)
        expect(await told()).to.deep.equal([])
        facts.firsts.push(firstRow(first()))
        await factsWriter()
        facts.show(late)
        stage.clock.advance(5_000)
        await until(async () => (await told()).length === 1)
        await reportAnother(2)
        const sent = (await stage.store.log.read('deliver.ga4', 0, 10)).map(
          ({ value }) => decodeRecord<ReturnType<typeof jobOf>>(value).install,
        )
        expect(sent.map(({ eventId, eventType }) => [eventId, eventType])).to.deep.equal([
          ['event-1', 'install_completed'],
          ['event-2', 'install_completed'],
        ])
      })

      it('asks how far the facts are only after it has taken over a partition', async () => {
        await start()
        const calls = countCalls('progress')
        facts.show(visitOf())
        await reportAnother(1)
        expect(calls()).to.equal(0)
        await factsWriter()
        await until(async () => (await stage.store.log.progress('installs', FACTS_WRITER_GROUP)).done[0] === 1)
        await restart()
        const before = calls()
        await reportAnother(2)
        await reportAnother(3)
        expect(calls() - before).to.equal(1)
      })

      it('undoes what the later one led to if that was on the log before it', async () => {
        await start()
        await report(later())
        await until(async () => (await told()).length === 1)
        await report(first())
        await until(async () => (await parked('5s')).length === 1)
        // Another process takes over the parked install: it remembers nothing, and ClickHouse has the row of the later record.
        await restart()
        facts.deliveries.push(dispatchedRow('event-1', NOON_MS + 1))
        facts.show(late)
        stage.clock.advance(5_000)
        await until(async () => (await jobs()).includes('event-1'))
        await factsWriter()
        await reportAnother(2)
        expect(await told()).to.deep.equal([
          ['skipped', 'unmatched', undefined, NOON_MS + 1],
          ['pending', '', true, NOON_MS],
        ])
        const [job] = await stage.store.log.read('deliver.ga4', 0, 10)
        const { install, corrects } = decodeRecord<ReturnType<typeof jobOf>>(job?.value ?? '')
        expect([install.eventType, corrects]).to.deep.equal(['install_completed', true])
      })

      it('does not deliver it again once its own deliveries are known', async () => {
        await start()
        facts.show(late)
        facts.deliveries.push(dispatchedRow('event-1', NOON_MS))
        await report(first(), later())
        await reportAnother(2)
        expect(await jobs()).to.deep.equal(['event-2'])
        expect(await told()).to.deep.equal([])
      })

      it('delivers an install that a retry has appended again, whichever record ClickHouse shows', async () => {
        const again = withRequest(first(), '3')
        await start()
        await report(first())
        await until(async () => (await parked('5s')).length === 1)
        await report(again)
        await reportAnother(2)
        facts.firsts.push(firstRow(again))
        facts.show(late)
        stage.clock.advance(5_000)
        await until(async () => (await jobs()).includes('event-1'))
        // The job is written before its record.
        await until(async () => (await told()).length > 0)
        expect(await told()).to.deep.equal([['pending', '', undefined, NOON_MS]])
      })

      it('follows the row that counts between records of the same millisecond', async () => {
        const other = withRequest(first(), '3')
        const twin = { ...other, install: { ...other.install, eventType: 'first_run' as const } }
        await start()
        facts.show(late)
        facts.firsts.push(firstRow(twin))
        await report(first(), numbered(2))
        facts.show(visitOf())
        await until(async () => (await jobs()).length === 1)
        await report(twin)
        await until(async () => (await jobs()).length === 2)
        expect(await jobs()).to.deep.equal(['event-2', 'event-1'])
      })
    })

    it('treats the same ID on another website as another event', async () => {
      await start()
      facts.show(visitOf())
      facts.deliveries.push({ ...dispatchedRow('event-1', NOON_MS), organization: 'acme', website: 'other' })
      await report(numbered(1))
      await until(async () => (await jobs()).length === 1)
    })
  })

  describe('with a visit that is not in ClickHouse yet', () => {
    const late = visitOf({ visitId: 'f'.repeat(32) })
    const lateInstall = recordOf(installOf({ visit: late, overrides: { eventId: 'event-late' } }))

    it('finds it within the second, without parking it', async () => {
      await start()
      await report(lateInstall)
      await until(() => facts.asked.filter((query) => query === 'visitsByIds').length === 2)
      facts.show(late)
      await until(async () => (await jobs()).length === 1)
      expect(await parked('5s')).to.deep.equal([])
    })

    it('sends the others of its batch first, parks it, and sends it when the visit is there', async () => {
      await start()
      facts.show(visitOf())
      await report(lateInstall, numbered(1))
      await until(async () => (await jobs()).length === 1)
      expect(await jobs()).to.deep.equal(['event-1'])
      await until(async () => (await parked('5s')).length === 1)
      facts.show(late)
      stage.clock.advance(5_000)
      await until(async () => (await jobs()).length === 2)
      expect(await jobs()).to.deep.equal(['event-1', 'event-late'])
    })

    it('gives it up after an hour, with the reason visit_missing', async () => {
      await start()
      await report(lateInstall)
      await until(async () => (await parked('5s')).length === 1)
      stage.clock.advance(59 * MINUTE_MS)
      await until(async () => (await parked('30m')).length === 1)
      expect(await stage.records()).to.deep.equal([])
      stage.clock.advance(30 * MINUTE_MS)
      await until(async () => (await stage.records()).length === 1)
      expect((await stage.records())[0]).to.include({ status: 'skipped', reason: 'visit_missing', sessionMode: 'none' })
      expect(await jobs()).to.deep.equal([])
    })
  })

  describe('with an install that is pending', () => {
    const open = (overrides: Partial<Install> = {}): InstallRecord => recordOf(pendingInstall(overrides))
    it('decides it once the facts have what lay on the log, and delivers it by that', async () => {
      await start()
      facts.show(visitOf())
      facts.histories.push(activeHistory())
      await report(open())
      await until(async () => (await parked('5s')).length === 1)
      expect(await stage.records()).to.deep.equal([])
      await factsWriter()
      stage.clock.advance(5_000)
      await until(async () => (await stage.records()).length === 1)
      const { visitId } = visitOf()
      const [decision, ...more] = await decisions()
      expect(more).to.deep.equal([])
      expect(decision).to.deep.include({ kind: 'install_decision', resolution: 'matched', visitId, candidateCount: 1 })
      expect(decision?.answer).to.deep.include({
        duplicate: false,
        resolution: 'matched',
        selection_policy: 'latest_visit',
      })
      expect(decision?.answer.ga.deliveries[0]?.session_mode).to.equal('original_session_window')
      expect(await jobs()).to.deep.equal(['event-0001'])
      expect((await stage.records())[0]).to.include({ status: 'pending', sessionMode: 'original_session_window' })
    })

    it('looks again within the second if the facts are nearly there', async () => {
      await start()
      facts.show(visitOf())
      facts.histories.push(activeHistory())
      await factsWriter()
      await report(open())
      await until(async () => (await stage.records()).length === 1)
      expect(await parked('5s')).to.deep.equal([])
    })

    it('continues from a decision that was made before a crash, and makes no other', async () => {
      await start()
      await factsWriter()
      facts.show(visitOf())
      const { install } = open()
      facts.decisions.push(decisionRow(install, { visitId: visitOf().visitId, visitIssuedAtMs: visitOf().issuedAtMs }))
      await report(open())
      await until(async () => (await stage.records()).length === 1)
      expect(await jobs()).to.deep.equal(['event-0001'])
      expect(await decisions()).to.deep.equal([])
    })

    describe('whose event is on the log twice', () => {
      const [a, b] = ['a', 'b'].map((letter) => visitOf({ visitId: letter.repeat(32) }))
      const withVisit = (visit: Visit | undefined, overrides: Partial<Install> = {}): InstallRecord => {
        const { visitId, issuedAtMs } = visit ?? visitOf()
        return open({ openCandidates: [{ visitId, issuedAtMs, gpc: false, isDecided: false }], ...overrides })
      }
      const first = (): InstallRecord => withRequest(withVisit(a), '1')
      const later = (): InstallRecord =>
        withRequest(withVisit(b, { eventType: 'first_run', receivedAtMs: NOON_MS + 1 }), '2')
      const sent = async (): Promise<unknown[]> =>
        (await stage.store.log.read('deliver.ga4', 0, 100))
          .map((entry) => decodeRecord<ReturnType<typeof jobOf>>(entry.value))
          .map(({ install, visit }) => [install.eventType, visit.visitId])

      beforeEach(async () => {
        await start()
        for (const visit of [a, b]) {
          if (visit === undefined) continue
          facts.show(visit)
          facts.histories.push(activeHistory({ visit_id: visit.visitId }))
        }
      })

      it('is decided by its first record, though another process has that and its row comes late', async () => {
        await report(first())
        await until(async () => (await parked('5s')).length === 1)
        await restart()
        const asked = countCalls('progress')
        await report(later())
        await until(() => asked() > 0)
        // The row is there before the facts-writer says so.
        facts.firsts.push(firstRow(first()))
        await factsWriter()
        await report(withVisit(b, { eventId: 'event-other' }))
        await until(async () => (await decisions()).length > 0)
        expect((await decisions()).map(({ eventId }) => eventId)).to.deep.equal(['event-other'])
        stage.clock.advance(5_000)
        await until(async () => (await sent()).length === 2)
        expect((await sent())[1]).to.deep.equal(['install_completed', a?.visitId])
      })

      it('is decided by its first record also if a later one was decided before that came', async () => {
        await factsWriter()
        await report(later())
        await until(async () => (await sent()).length === 1)
        const visit = { visitId: b?.visitId ?? '', visitIssuedAtMs: b?.issuedAtMs ?? 0 }
        facts.decisions.push(decisionRow(later().install, visit))
        await report(first())
        await until(async () => (await sent()).length === 2)
        const told = (await decisions()).map(({ receivedAtMs, visitId }) => [receivedAtMs, visitId])
        expect(told).to.deep.equal([
          [NOON_MS + 1, b?.visitId],
          [NOON_MS, a?.visitId],
        ])
        expect((await sent())[1]).to.deep.equal(['install_completed', a?.visitId])
      })
    })

    it('undoes what a later record led to, also after it had to wait', async () => {
      await start()
      facts.show(visitOf())
      facts.histories.push(activeHistory())
      const { deliveries } = open().install
      const skipped = deliveries.map((plan) => ({ ...plan, status: 'skipped' as const, reason: 'unmatched' as const }))
      await report(numbered(1, { resolution: 'unmatched', receivedAtMs: NOON_MS + 1, deliveries: skipped }))
      await until(async () => (await stage.records()).length === 1)
      await report(open({ eventId: 'event-1' }))
      await until(async () => (await parked('5s')).length === 1)
      // The row of the skip is not there yet: the process itself remembers.
      await factsWriter()
      stage.clock.advance(5_000)
      await until(async () => (await stage.records()).length === 2)
      expect((await stage.records()).map(({ status, corrects }) => [status, corrects])).to.deep.equal([
        ['skipped', undefined],
        ['pending', true],
      ])
    })

    it('waits for what was decided before, and then makes no other decision', async () => {
      await start()
      facts.show(visitOf())
      facts.histories.push(activeHistory())
      const { install } = open()
      // By a process that is gone: it had not seen the activation.
      const unmatched = { ...install, resolution: 'unmatched', visitId: null, visitIssuedAtMs: null } as const
      const before = { v: 1, kind: 'install_decision', ...unmatched, decidedAtMs: NOON_MS, retentionDays: 30 } as const
      await stage.store.log.append('install_decisions', [{ key: 'k', value: encodeRecord(before) }])
      await factsWriter(AWAITED_TOPICS.filter((topic) => topic !== 'install_decisions'))
      await report(open())
      await until(async () => (await parked('5s')).length === 1)
      expect(await decisions()).to.have.length(1)
      const { visitId, issuedAtMs: visitIssuedAtMs } = visitOf()
      const row = decisionRow(install, { visitId, visitIssuedAtMs })
      facts.decisions.push({ ...row, resolution: 'unmatched', visit_id: '', visit_issued_at_ms: null })
      await factsWriter(['install_decisions'])
      stage.clock.advance(5_000)
      await until(async () => (await stage.records()).length === 1)
      expect(await decisions()).to.have.length(1)
      expect(await jobs()).to.deep.equal([])
    })

    it('decides it even if there is no destination', async () => {
      await start()
      await factsWriter()
      await report(open({ deliveries: [] }))
      await until(async () => (await decisions()).length === 1)
      expect((await decisions())[0]).to.include({ resolution: 'unmatched', visitId: null })
      expect(await stage.records()).to.deep.equal([])
    })

    it('decides it after an hour with what is known', async () => {
      await start()
      await report(open())
      await until(async () => (await parked('5s')).length === 1)
      stage.clock.advance(59 * MINUTE_MS)
      await until(async () => (await parked('5s')).length === 2)
      expect(await decisions()).to.deep.equal([])
      stage.clock.advance(30 * MINUTE_MS)
      await until(async () => (await stage.records()).length === 1)
      expect((await decisions())[0]).to.include({ resolution: 'unmatched' })
      expect((await stage.records())[0]).to.include({ status: 'skipped', reason: 'unmatched' })
    })
  })

  it('waits for ClickHouse to come back, and then loses nothing', async () => {
    await start()
    facts.show(visitOf())
    facts.isAway = true
    await report(numbered(1))
    await until(() => facts.asked.length >= 2)
    facts.isAway = false
    await until(async () => (await jobs()).length === 1)
  })

  it('continues past an unreadable entry', async () => {
    await start()
    facts.show(visitOf())
    await stage.store.log.append('installs', [
      { key: 'x', value: 'no JSON' },
      { key: 'y', value: '{"v":0}' },
      { key: 'z', value: '{"v":1}' },
      { key: 'x', value: JSON.stringify({ ...recordOf(installOf()), request: null }) },
      { key: 'x', value: JSON.stringify(recordOf(installOf({ overrides: { deliveries: [null as never] } }))) },
    ])
    await report(numbered(1))
    await until(async () => (await jobs()).length === 1)
  })

  it('keeps fields that a later release added to an install, or to a parked one, while it waits', async () => {
    await start()
    const install = { ...installOf({ visit: visitOf({ visitId: 'f'.repeat(32) }) }), laterField: 'install' }
    await report({ ...recordOf(install), laterField: 'record' } as InstallRecord)
    await until(async () => (await parked('5s')).length === 1)
    const [first] = await parked('5s')
    expect(first?.record).to.deep.include({ laterField: 'record' })
    expect(first?.record.install).to.deep.include({ laterField: 'install' })
    const other = { ...first?.record, install: { ...install, eventId: 'event-other' } }
    const waiting = { ...first, record: other, laterField: 'parked' } as unknown as ParkedInstall
    await stage.store.log.append('dispatch.5s', [{ key: 'k', value: encodeRecord(waiting) }])
    stage.clock.advance(7_000)
    await until(async () => (await parked('5s')).length === 4)
    const added = (await parked('5s')).slice(2).map((each) => 'laterField' in each)
    expect(added.toSorted()).to.deep.equal([false, true])
  })

  it('counts a visit that is damaged in ClickHouse as missing, and delays no other', async () => {
    await start()
    const damaged = visitOf({ visitId: 'd'.repeat(32) })
    facts.show(visitOf())
    facts.show(damaged)
    facts.damaged.add(damaged.visitId)
    await report(recordOf(installOf({ visit: damaged, overrides: { eventId: 'event-damaged' } })), numbered(1))
    await until(async () => (await jobs()).length === 1)
    await until(async () => (await parked('5s')).length === 1)
    expect(await jobs()).to.deep.equal(['event-1'])
  })

  it('and the worker take an install from its record to GA4', async () => {
    await start()
    await stage.startWorker()
    facts.show(visitOf())
    await report(recordOf(installOf()))
    await until(async () => (await stage.statuses()).get('event-0001') === 'delivered')
    const [hit] = stage.standIn.requests()
    expect(hit).to.deep.include({ measurementId: MEASUREMENT_ID, messages: [] })
  })
})
