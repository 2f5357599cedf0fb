/** The parts of dispatch on their own: which record of an event decides, what its deliveries become, what rows of the facts say. */

import { expect } from 'chai'
import { Registry } from 'prom-client'

import { sha256Hex } from '../../common/digest.ts'
import type { Arrival } from '../../delivery/dispatch/decide-pending.ts'
import { startDispatch } from '../../delivery/dispatch/dispatch.ts'
import { FirstRecords, type OwnArrival } from '../../delivery/dispatch/first-records.ts'
import { awaitsCatalog, deliveriesOf, visitNeededBy, type Superseded } from '../../delivery/dispatch/plan.ts'
import { readDecisions, readEarlierDeliveries } from '../../delivery/dispatch/reads.ts'
import { jobIdOf } from '../../domain/delivery/deliveries.ts'
import type { Install } from '../../domain/model.ts'
import { encodeRecord, recordKey, type InstallRecord } from '../../domain/records.ts'
import type { Batch, Entry, EventLog } from '../../ports/event-log/event-log.ts'
import type { DecisionRow, DispatchedJobRow, FirstInstallRow } from '../../ports/facts/query-rows.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import {
  catalogOf,
  destinationOf,
  HOUR_MS,
  installOf,
  NOON_MS,
  recordOf,
  visitOf,
  WEBSITE,
} from '../../fixtures/delivery/builders.ts'
import { FactsDouble } from '../../fixtures/delivery/facts-double.ts'
import { decisionRow, pendingInstall } from './support/pending.ts'

const EVENT = 'event-0001'

function arrivalOf(overrides: Partial<Install> = {}, requestId = '1'): OwnArrival {
  const record = recordOf(installOf({ overrides }))
  return {
    record: { ...record, request: { ...record.request, id: requestId } },
    firstSeenAtMs: NOON_MS,
    superseded: null,
  }
}

function firstRowOf({ record: { install, request } }: Arrival): FirstInstallRow {
  return {
    organization: 'acme',
    website: install.website,
    event_id: install.eventId,
    received_at_ms: install.receivedAtMs,
    request_id: request.id,
    installation_id: install.installationId,
    event_type: install.eventType,
    visit_id: install.visitId ?? '',
    answer: JSON.stringify(install.answer),
  }
}

function dispatchedRow(overrides: Partial<DispatchedJobRow> = {}): DispatchedJobRow {
  const skipped = { status: 'skipped', install_received_at_ms: NOON_MS }
  return { organization: 'acme', website: WEBSITE, event_id: EVENT, destination: 'acme-ga4', ...skipped, ...overrides }
}

describe('the record of an event that decides', () => {
  let facts: FactsDouble
  let firsts: FirstRecords
  beforeEach(() => {
    facts = new FactsDouble()
    firsts = new FirstRecords(facts)
  })
  const requestIds = (arrivals: readonly OwnArrival[]): string[] => arrivals.map(({ record }) => record.request.id)

  it('is the one that comes first if two of a batch were received in the same millisecond', async () => {
    expect(requestIds(await firsts.among([arrivalOf({}, '1'), arrivalOf({}, '2')]))).to.deep.equal(['1'])
  })

  it('is the earlier one of a batch, even if it comes after the later one', async () => {
    const batch = [arrivalOf({ receivedAtMs: NOON_MS + 5 }, '2'), arrivalOf({}, '1')]
    expect(requestIds(await firsts.among(batch))).to.deep.equal(['1'])
  })

  it('may be in another record with the same content, also of an install without a visit', async () => {
    for (const overrides of [{}, { resolution: 'unmatched', deliveries: [] }] as const) {
      facts.firsts.splice(0, facts.firsts.length, firstRowOf(arrivalOf(overrides, '9')))
      expect(requestIds(await firsts.among([arrivalOf(overrides, '1')]))).to.deep.equal(['1'])
    }
    facts.firsts.splice(0, facts.firsts.length, firstRowOf(arrivalOf({ eventType: 'first_run' }, '9')))
    expect(await firsts.among([arrivalOf({}, '1')])).to.deep.equal([])
  })

  it('is the earlier one, whatever the later one says', async () => {
    const among = async (arrival: OwnArrival, first: OwnArrival) => {
      facts.firsts.splice(0, facts.firsts.length, firstRowOf(first))
      return requestIds(await firsts.among([arrival]))
    }
    const later = { receivedAtMs: NOON_MS + 5 }
    expect(await among(arrivalOf({}, '1'), arrivalOf({ ...later, eventType: 'first_run' }, '9'))).to.deep.equal(['1'])
    expect(await among(arrivalOf(later, '1'), arrivalOf({}, '9'))).to.deep.equal([])
  })

  for (const [what, more] of Object.entries({
    installation: { installationId: 'another' },
    type: { eventType: 'first_run' },
    visit: { visitId: 'f'.repeat(32) },
    answer: { answer: { ...installOf().answer, candidate_count: 7 } },
  } as const)) {
    it(`is the one in ClickHouse if another of its millisecond differs in its ${what}`, async () => {
      facts.firsts.push(firstRowOf(arrivalOf(more, '9')))
      expect(await firsts.among([arrivalOf({}, '1')])).to.deep.equal([])
    })
  }

  it('takes the place of everything later that led to something, here or elsewhere', async () => {
    const later = arrivalOf({ receivedAtMs: NOON_MS + 5 }, '2')
    const superseded = async (): Promise<Superseded | null | undefined> =>
      (await firsts.among([arrivalOf({}, '1')]))[0]?.superseded
    expect(await superseded()).to.equal(null)
    facts.deliveries.push(dispatchedRow({ install_received_at_ms: NOON_MS + 9 }))
    expect(await superseded()).to.deep.equal({ receivedAtMs: NOON_MS + 9, skipped: new Set(['acme-ga4']) })
    firsts.remember(later, { isParked: false, skipped: new Set(['here']) })
    expect(await superseded()).to.deep.equal({ receivedAtMs: NOON_MS + 9, skipped: new Set(['here', 'acme-ga4']) })
    facts.deliveries.length = 0
    expect(await superseded()).to.deep.equal({ receivedAtMs: NOON_MS + 5, skipped: new Set(['here']) })
  })

  it('is dispatched again until each of its destinations has a row, and then corrects nothing', async () => {
    const destinations = [destinationOf({ id: 'one' }), destinationOf({ id: 'two' })]
    const record = recordOf(installOf({ destinations }))
    const arrival: OwnArrival = { record, firstSeenAtMs: NOON_MS, superseded: null }
    facts.deliveries.push(dispatchedRow({ destination: 'one' }))
    expect((await firsts.among([arrival])).map(({ superseded }) => superseded)).to.deep.equal([null])
    facts.deliveries.push(dispatchedRow({ destination: 'two', install_received_at_ms: NOON_MS + 1 }))
    const [again] = await firsts.among([arrival])
    expect(again?.superseded).to.deep.equal({ receivedAtMs: NOON_MS + 1, skipped: new Set(['two']) })
    facts.deliveries[1] = dispatchedRow({ destination: 'two', status: 'delivered' })
    expect(await firsts.among([arrival])).to.deep.equal([])
  })

  it('takes the place of a later one that was delivered, which is nothing to correct, with or without deliveries', async () => {
    facts.deliveries.push(dispatchedRow({ status: 'delivered', install_received_at_ms: NOON_MS + 9 }))
    for (const overrides of [{}, { deliveries: [] }]) {
      const among = await firsts.among([arrivalOf(overrides)])
      const expected = { receivedAtMs: NOON_MS + 9, skipped: new Set() }
      expect(among.map(({ superseded }) => superseded)).to.deep.equal([expected])
    }
  })

  it('is not a later one, whichever of its destinations the earlier one was dispatched to', async () => {
    facts.deliveries.push(dispatchedRow({ destination: 'another', install_received_at_ms: NOON_MS - 1 }))
    expect(await firsts.among([arrivalOf()])).to.deep.equal([])
  })

  it('is the very one that was parked, not another of its millisecond', async () => {
    firsts.remember(arrivalOf({}, '1'), { isParked: true, skipped: new Set() })
    expect(await firsts.among([arrivalOf({}, '2')])).to.deep.equal([])
    expect(requestIds(await firsts.among([arrivalOf({}, '1')]))).to.deep.equal(['1'])
  })

  it('is remembered for the last 100,000 events, and for none before them', async () => {
    const remembered = { isParked: false, skipped: new Set<string>() }
    const event = (number: number): OwnArrival => arrivalOf({ eventId: `event-${number}` })
    const { record } = event(0)
    const quick = (number: number): OwnArrival => ({
      ...event(0),
      record: { ...record, install: { ...record.install, eventId: `event-${number}` } },
    })
    for (let number = 0; number < 100_000; number++) firsts.remember(quick(number), remembered)
    const repeat = (number: number) => firsts.among([quick(number)])
    expect(await repeat(0)).to.deep.equal([])
    firsts.remember(quick(100_000), remembered)
    expect(await repeat(0)).to.have.length(1)
    expect(await repeat(1)).to.deep.equal([])
  })
})

describe('the deliveries of an install', () => {
  type DispatchInput = Parameters<typeof deliveriesOf>[0]
  const input = (more: Partial<DispatchInput> = {}): DispatchInput => ({
    record: recordOf(installOf()),
    visit: visitOf(),
    catalog: catalogOf([destinationOf()]),
    isBehind: false,
    nowMs: NOON_MS + 7,
    superseded: null,
    kind: 'install',
    withoutInstall: new Set(),
    withoutTopic: new Set(),
    ...more,
  })
  const told = (more: Partial<DispatchInput> = {}) => {
    const { records, jobs } = deliveriesOf(input(more))
    return { ...records[0], jobs: jobs.length }
  }

  it('go to the very destination that was planned: its owner, its name and its provider', () => {
    const gone = { status: 'skipped', reason: 'destination_removed', jobs: 0 }
    expect(told({ catalog: catalogOf([destinationOf({ provider: 'meta' })]) })).to.include(gone)
    expect(told({ catalog: catalogOf([destinationOf({ id: 'other' })]) })).to.include(gone)
    expect(told({ catalog: { ...catalogOf([]), websites: new Map() } })).to.include(gone)
    const taken = [...catalogOf([destinationOf()]).websites].map(([id, website]) => {
      return [id, { ...website, organization: { ...website.organization, id: 'team/acme' } }] as const
    })
    expect(told({ catalog: { ...catalogOf([]), websites: new Map(taken) } }), 'of another organisation').to.include(
      gone,
    )
    expect(told()).to.include({ status: 'pending', reason: '', jobs: 1 })
  })

  describe('if this catalog is older than the one that planned them', () => {
    const gone = { catalog: { ...catalogOf([]), websites: new Map() }, isBehind: true } as const
    const behind = (more: Partial<DispatchInput> = {}): DispatchInput => input({ ...gone, ...more })
    const DEADLINE_MS = NOON_MS + 71 * 3_600_000

    it('wait where a destination is missing, and no longer than until their deadline', () => {
      expect(awaitsCatalog(behind())).to.equal(true)
      expect(awaitsCatalog(behind({ nowMs: DEADLINE_MS - 1 }))).to.equal(true)
      expect(awaitsCatalog(behind({ nowMs: DEADLINE_MS }))).to.equal(false)
      expect(awaitsCatalog(behind({ isBehind: false }))).to.equal(false)
    })

    it('end as expired then, and never as removed', () => {
      const over = { ...gone, nowMs: DEADLINE_MS + 5 }
      const expired = { status: 'expired', reason: 'deadline_passed', jobs: 0, atMs: over.nowMs, deadlineAtMs: null }
      expect(told(over)).to.include(expired)
    })

    it('wait where settings that may be old would skip one, but never where privacy denies it', () => {
      const moved = { catalog: catalogOf([destinationOf({ settings: { measurementId: 'G-OLD' } })]) }
      expect(awaitsCatalog(behind(moved))).to.equal(true)
      const meta = destinationOf({ id: 'acme-meta', provider: 'meta' })
      const visit = visitOf({ gpc: true })
      const record = recordOf(installOf({ visit, destinations: [meta] }))
      const denied = { record, visit, catalog: catalogOf([meta]), isBehind: true }
      expect(awaitsCatalog(input(denied))).to.equal(false)
      expect(told(denied)).to.include({ status: 'skipped', reason: 'gpc' })
    })

    it('go on where nothing is missing, with the number of this catalog', () => {
      expect(awaitsCatalog(input({ isBehind: true }))).to.equal(false)
      const { jobs, records } = deliveriesOf(input({ catalog: { ...catalogOf([destinationOf()]), number: 77 } }))
      expect([jobs[0]?.catalogNumber, records[0]?.catalogNumber]).to.deep.equal([77, 77])
    })
  })

  it('have the ID of their website, event and destination, and nothing to add', () => {
    const id = { organization: 'acme', website: WEBSITE, eventId: EVENT, destination: 'acme-ga4' }
    expect(told()).to.include({ jobId: jobIdOf(id, sha256Hex), detail: '' })
  })

  it('go nowhere if this release does not know their provider', () => {
    const destination = destinationOf({ provider: 'sixth' as 'ga4' })
    const record = recordOf(installOf())
    const deliveries = record.install.deliveries.map((plan) => ({ ...plan, provider: 'sixth' as 'ga4' }))
    const planned = { ...record, install: { ...record.install, deliveries } }
    const expected = { status: 'skipped', reason: 'provider_unknown', jobs: 0 }
    expect(told({ record: planned, catalog: catalogOf([destination]) })).to.include(expected)
  })

  it('that wait for their visit in vain record when the wait ended, on no earlier clock than the install', () => {
    expect(told({ visit: null })).to.include({ reason: 'visit_missing', atMs: NOON_MS + 7, jobs: 0 })
    expect(told({ visit: null, nowMs: NOON_MS - HOUR_MS })).to.include({ reason: 'visit_missing', atMs: NOON_MS })
  })

  it('that correct a skip are recorded after it, however the clocks stand', () => {
    const superseded = { receivedAtMs: NOON_MS + 20, skipped: new Set(['acme-ga4']) }
    expect(told({ superseded })).to.include({ corrects: true, atMs: NOON_MS + 21 })
    expect(told({ superseded, nowMs: NOON_MS + 99 })).to.include({ corrects: true, atMs: NOON_MS + 99 })
    expect(told({ superseded: { ...superseded, skipped: new Set(['other']) } })).to.include({ atMs: NOON_MS })
  })

  it('need the visit only if one of them is to be made and there is one', () => {
    const paused = installOf({ destinations: [destinationOf({ mode: 'Paused' })] })
    const { visitId } = visitOf()
    expect(visitNeededBy(installOf())).to.deep.equal({ organization: 'acme', website: WEBSITE, visitId })
    expect(visitNeededBy(paused)).to.equal(null)
    expect(visitNeededBy(installOf({ overrides: { visitId: null } }))).to.equal(null)
  })
})

describe('what rows of the facts say to dispatch', () => {
  const event = { organization: 'acme', website: WEBSITE, eventId: EVENT, receivedAtMs: NOON_MS }
  const key = recordKey({ organization: 'acme', website: WEBSITE }, EVENT)

  it('is each delivery of an event, with the install that it comes from and whether it was skipped', async () => {
    const facts = new FactsDouble()
    facts.deliveries.push(
      dispatchedRow({ destination: 'one', install_received_at_ms: NOON_MS + 3 }),
      dispatchedRow({ destination: 'two', install_received_at_ms: NOON_MS + 1, status: 'delivered' }),
    )
    const expected = [
      { destination: 'one', receivedAtMs: NOON_MS + 3, isSkipped: true },
      { destination: 'two', receivedAtMs: NOON_MS + 1, isSkipped: false },
    ]
    expect([...(await readEarlierDeliveries(facts, [event]))]).to.deep.equal([[key, expected]])
  })

  it('is the whole decision of an install that was pending, with or without a visit', async () => {
    const facts = new FactsDouble()
    const install = pendingInstall()
    const visit = { visitId: visitOf().visitId, visitIssuedAtMs: visitOf().issuedAtMs }
    const row = decisionRow(install, visit)
    facts.decisions.push(row)
    const told = {
      resolution: 'matched',
      selectionPolicy: 'latest_visit',
      candidateCount: 1,
      gpc: false,
      ...visit,
      verdicts: [],
      deliveries: install.deliveries,
      answer: { ...install.answer, resolution: 'matched' },
    }
    expect([...(await readDecisions(facts, [event]))]).to.deep.equal([[key, told]])
    facts.decisions[0] = { ...row, visit_id: '', visit_issued_at_ms: null }
    const [[, without] = []] = await readDecisions(facts, [event])
    expect(without).to.include({ visitId: null, visitIssuedAtMs: null })
  })

  for (const column of ['verdicts', 'deliveries', 'answer'] as const) {
    it(`is no decision if its ${column} are damaged`, async () => {
      const facts = new FactsDouble()
      const visit = { visitId: visitOf().visitId, visitIssuedAtMs: visitOf().issuedAtMs }
      const row: DecisionRow = { ...decisionRow(pendingInstall(), visit), [column]: '{' }
      facts.decisions.push(row)
      expect([...(await readDecisions(facts, [event]))]).to.deep.equal([])
    })
  }
})

describe('dispatch, as a consumer of the log', () => {
  interface Started {
    readonly handlers: Map<string, (batch: Batch) => Promise<unknown>>
    readonly appended: [string, readonly { readonly value: string }[]][]
    readonly stopped: string[]
    readonly log: EventLog
  }
  type Progress = (topic: string) => { readonly done: readonly number[]; readonly ends: readonly number[] }
  /** A log that keeps handlers, so that a test hands them batches itself. */
  function doubleLog(refusedAt = Infinity, progress: Progress = () => ({ done: [9], ends: [9] })): Started {
    const handlers: Started['handlers'] = new Map()
    const appended: Started['appended'] = []
    const stopped: string[] = []
    const log = {
      consume: async (topic: string, group: string, handler: (batch: Batch) => Promise<unknown>) => {
        expect(group).to.equal('dispatch')
        if (handlers.size === refusedAt) throw new Error('no place in the group')
        handlers.set(topic, handler)
        return { close: async () => void stopped.push(topic) }
      },
      progress: async (topic: string) => progress(topic),
      append: async (topic: string, entries: readonly { readonly value: string }[], options: unknown) => {
        // Nobody waits for an answer, so a busy log gets longer than a request has.
        expect(options).to.deep.equal({ deadlineMs: 5_000 })
        appended.push([topic, entries])
      },
    } as unknown as EventLog
    return { handlers, appended, stopped, log }
  }
  const batchOf = (...records: readonly InstallRecord[]): Batch => ({
    topic: 'installs',
    partition: 0,
    entries: records.map((record, offset) => ({
      key: recordKey({ organization: 'acme', website: WEBSITE }, record.install.eventId),
      value: encodeRecord(record),
      offset,
      appendedAtMs: NOON_MS,
    })),
  })
  const late = (number: number): InstallRecord =>
    recordOf(installOf({ visit: visitOf({ visitId: 'f'.repeat(32) }), overrides: { eventId: `late-${number}` } }))

  type Deps = Parameters<typeof startDispatch>[0]
  const begun = async (facts: FactsDouble, more: Partial<Deps> = {}, progress?: Progress) => {
    const started = doubleLog(Infinity, progress)
    const clock = { nowMs: NOON_MS }
    const dispatch = await startDispatch({
      eventLog: started.log,
      facts,
      claims: { claimJob: async () => true, releaseJob: async () => undefined },
      catalog: { current: () => catalogOf([destinationOf()]) },
      nowMs: () => clock.nowMs,
      random: () => 0,
      telemetry: { logger: SILENT_LOGGER },
      ...more,
    })
    const hand = (...records: readonly InstallRecord[]) => started.handlers.get('installs')?.(batchOf(...records))
    const handText = (value: string, offset = 0) =>
      started.handlers.get('installs')?.({
        topic: 'installs',
        partition: 0,
        entries: [{ key: 'k', value, offset, appendedAtMs: NOON_MS }],
      })
    return { ...started, dispatch, hand, handText, clock }
  }

  it('leaves no consumer behind if one of its topics cannot be joined', async () => {
    const { log, handlers, stopped } = doubleLog(2)
    const catalog = { current: () => catalogOf([]) }
    const claims = { claimJob: async () => true, releaseJob: async () => undefined }
    const deps = { facts: new FactsDouble(), claims, catalog, nowMs: () => NOON_MS, random: () => 0 }
    const failure = await startDispatch({ ...deps, eventLog: log, telemetry: { logger: SILENT_LOGGER } }).catch(String)
    expect(failure).to.contain('no place in the group')
    expect(stopped).to.deep.equal([...handlers.keys()])
  })

  it('takes up installs, and those that it has parked for half an hour at most', async () => {
    const { handlers } = await begun(new FactsDouble())
    const tiers = ['5s', '30s', '5m', '30m'].map((tier) => `dispatch.${tier}`)
    expect([...handlers.keys()]).to.deep.equal(['installs', ...tiers])
  })

  it('spreads what it parks, never before its time', async () => {
    const dueAtMs = async (random: number): Promise<number> => {
      const { hand, appended } = await begun(new FactsDouble(), { random: () => random })
      await hand(late(1))
      return (JSON.parse(appended[0]?.[1][0]?.value ?? '') as { readonly dueAtMs: number }).dueAtMs
    }
    expect(await dueAtMs(0.9)).to.be.greaterThan(await dueAtMs(0))
  })

  it('still corrects a skip after it had to park the record that does', async () => {
    const facts = new FactsDouble()
    facts.deliveries.push(dispatchedRow({ event_id: 'late-1', install_received_at_ms: NOON_MS + 9 }))
    const { hand, appended, handlers, clock } = await begun(facts)
    await hand(late(1))
    const [[topic, [parked]] = ['', []]] = appended
    // Its rows may be merged or lag behind; the process itself remembers.
    facts.deliveries.length = 0
    facts.show(visitOf({ visitId: 'f'.repeat(32) }))
    clock.nowMs += HOUR_MS / 4
    const entry = { key: 'k', value: parked?.value ?? '', offset: 0, appendedAtMs: NOON_MS }
    await handlers.get(topic)?.({ topic: topic as Batch['topic'], partition: 0, entries: [entry] })
    const told = appended.filter(([name]) => name === 'deliveries').flatMap(([, entries]) => entries)
    expect(told.map(({ value }) => (JSON.parse(value) as { readonly corrects?: true }).corrects)).to.deep.equal([true])
  })

  it('runs no query for an install without deliveries', async () => {
    const facts = new FactsDouble()
    const { hand, appended } = await begun(facts)
    await hand(recordOf(installOf({ overrides: { resolution: 'unmatched', deliveries: [] } })))
    expect([facts.asked, appended]).to.deep.equal([[], []])
  })

  it('runs no query for one that another release wrote with its members in another order', async () => {
    const facts = new FactsDouble()
    const { handText, appended } = await begun(facts)
    const record = recordOf(installOf({ overrides: { resolution: 'unmatched', deliveries: [] } }))
    const { deliveries, ...install } = record.install
    await handText(encodeRecord({ ...record, install: { ...install, deliveries } }))
    expect([facts.asked, appended]).to.deep.equal([[], []])
  })

  it('does not even read an install without deliveries, whatever its body contains, unless it is pending', async () => {
    const errors: unknown[] = []
    const logger = { ...SILENT_LOGGER, error: (...words: unknown[]) => void errors.push(words) }
    const { handText } = await begun(new FactsDouble(), { telemetry: { logger } })
    const isRead = async (text: string): Promise<boolean> => {
      errors.length = 0
      // None of these texts can be read, which is said in the log.
      await handText(text)
      return errors.length > 0
    }
    const without = '{"v":1,"resolution":"unmatched","deliveries":[],"answer":{'
    expect(await isRead(without)).to.equal(false)
    expect(await isRead(`${without}\nbody`)).to.equal(false)
    expect(await isRead(without.replace('unmatched', 'pending'))).to.equal(true)
    expect(await isRead(`{"v":1,"deliveries":[{}],"answer":{\n${without}`)).to.equal(true)
    expect(await isRead('{"v":1')).to.equal(true)
  })

  it('lets a pending install wait for all that was on the log, not only for what came before it in its partition', async () => {
    const positions = [4, 6]
    const progress: Progress = (topic) =>
      topic === 'installs' ? { done: [positions.shift() ?? 6], ends: [9] } : { done: [9], ends: [9] }
    const { appended, handText } = await begun(new FactsDouble(), {}, progress)
    await handText(encodeRecord(recordOf(pendingInstall())), 5)
    expect(appended.map(([topic]) => topic)).to.deep.equal(['dispatch.5s'])
    const parked = JSON.parse(appended[0]?.[1][0]?.value ?? '') as { readonly ends: { readonly installs: unknown } }
    expect(parked.ends.installs).to.deep.equal([9])
  })

  it('decides a pending install soon after its facts are there, however long they were away', async () => {
    let done = 4
    const progress: Progress = () => ({ done: [done], ends: [9] })
    const { appended, handlers, handText, clock } = await begun(new FactsDouble(), { random: () => 0.99 }, progress)
    await handText(encodeRecord(recordOf(pendingInstall())), 5)
    let parkedAtMs = clock.nowMs
    /** What is parked, read again as soon as its tier lets it go. */
    const readAgain = async (): Promise<void> => {
      const [topic, [parked]] = appended.pop() as [string, readonly Entry[]]
      const { dueAtMs } = JSON.parse(parked?.value ?? '') as { readonly dueAtMs: number }
      expect(dueAtMs - parkedAtMs, topic).to.be.at.most(10_000)
      const entry = { key: 'k', value: parked?.value ?? '', offset: 0, appendedAtMs: clock.nowMs }
      clock.nowMs = Math.max(clock.nowMs, dueAtMs)
      await handlers.get(topic)?.({ topic: topic as Batch['topic'], partition: 0, entries: [entry] })
      parkedAtMs = clock.nowMs
    }
    for (const awayMs of [40_000, HOUR_MS / 10, HOUR_MS / 2]) {
      clock.nowMs += awayMs
      await readAgain()
    }
    expect(appended.map(([topic]) => topic)).to.deep.equal(['dispatch.5s'])
    done = 9
    await readAgain()
    expect(appended.map(([topic]) => topic)).to.include('install_decisions')
  })

  it('looks again for a visit soon, but not soon again after it has looked in vain', async () => {
    const facts = new FactsDouble()
    const { hand, appended, clock } = await begun(facts)
    const looks = (): number => facts.asked.filter((query) => query === 'visitsByIds').length
    await hand(late(1))
    expect(looks()).to.equal(7)
    // Whether it is the first record of its event does not change meanwhile.
    expect(facts.asked.filter((query) => query === 'firstInstalls')).to.have.length(1)
    clock.nowMs += 4_999
    await hand(late(2))
    expect(looks()).to.equal(8)
    clock.nowMs += 5_001
    await hand(late(3))
    expect(looks()).to.equal(15)
    expect(appended.map(([topic]) => topic)).to.deep.equal(Array(3).fill('dispatch.5s'))
  })

  it('looks again for a visit soon if those before were there', async () => {
    const facts = new FactsDouble()
    facts.show(visitOf())
    const { hand } = await begun(facts)
    await hand(recordOf(installOf()))
    await hand(late(1))
    // Once for the visit that was there.
    expect(facts.asked.filter((query) => query === 'visitsByIds')).to.have.length(1 + 7)
  })

  it('dispatches a record once if it comes again before its rows are there', async () => {
    const facts = new FactsDouble()
    facts.show(visitOf())
    const { hand, appended } = await begun(facts)
    expect(await hand(recordOf(installOf()))).to.deep.equal({ done: 1 })
    await hand(recordOf(installOf()))
    expect(appended.map(([topic]) => topic)).to.deep.equal(['deliver.ga4', 'deliveries'])
  })

  it('counts a visit whose row is damaged, and says which it is', async () => {
    const facts = new FactsDouble()
    const { visitId } = visitOf()
    facts.show(visitOf())
    facts.damaged.add(visitId)
    const registry = new Registry()
    const errors: unknown[] = []
    const logger = { ...SILENT_LOGGER, error: (...words: unknown[]) => void errors.push(words) }
    const { hand } = await begun(facts, { telemetry: { registry, logger } })
    await hand(recordOf(installOf()))
    expect(await registry.metrics()).to.match(/whence_unreadable_rows_total\{table="visits"\} 7\n/)
    expect(errors[0]).to.deep.equal([{ website: WEBSITE, visitId }, 'visit cannot be read'])
  })
})
