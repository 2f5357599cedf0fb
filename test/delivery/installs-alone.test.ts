/** Destinations that get installs alone: one delivery for an installation, whichever of its events comes when, and to whichever process. */

import { expect } from 'chai'

import { FACTS_WRITER_GROUP, INSTALLATION_TOPICS } from '../../domain/collection/facts-lag.ts'
import type { Destination } from '../../domain/catalog.ts'
import type { Install } from '../../domain/model.ts'
import { decodeRecord, encodeRecord, recordKey, type Job, type Topic } from '../../domain/records.ts'
import { startDispatch, type Dispatch } from '../../delivery/dispatch/dispatch.ts'
import { TopicUnavailable, type EventLog } from '../../ports/event-log/event-log.ts'
import type { StoredCountRow } from '../../ports/facts/counting.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { destinationOf, HOUR_MS, installOf, NOON_MS, recordOf, visitOf } from '../../fixtures/delivery/builders.ts'
import { FactsDouble } from '../../fixtures/delivery/facts-double.ts'
import { Stage, until } from '../../fixtures/delivery/harness.ts'

const META = destinationOf({ id: 'meta', provider: 'meta', settings: {} })
const GA4 = destinationOf()
const VISIT = visitOf({ identities: { ...visitOf().identities, meta: { fbp: 'fb.1.1.1' } } })

const installNamed = (eventId: string, destinations: readonly Destination[], more: Partial<Install> = {}): Install =>
  installOf({ visit: VISIT, destinations, overrides: { eventId, ...more } })

/** The row of an earlier event of the installation, as it is counted. */
function countedRow(eventId: string, more: Partial<StoredCountRow> = {}): StoredCountRow {
  return {
    organization: 'acme',
    website: 'acme-dev',
    received_at_ms: NOON_MS - HOUR_MS,
    event_id: eventId,
    installation_id: 'installation-0001',
    event_type: 'install_completed',
    kind: 'install',
    installed_before_ms: null,
    is_begun_by_run: false,
    version_before: '',
    is_completed: true,
    has_run: false,
    product_version: '',
    install_path: 'cli',
    platform: 'linux',
    agent: '',
    country: '',
    place: '',
    is_left_out: false,
    is_test: false,
    resolution: 'matched',
    selection_policy: 'latest_visit',
    reason: '',
    visit_id: VISIT.visitId,
    visit_issued_at_ms: VISIT.issuedAtMs,
    is_visit_of_later: false,
    is_visit_known: true,
    source: '',
    medium: '',
    channel: '',
    campaign: '',
    term: '',
    content: '',
    referrer: '',
    landing_page: '',
    page: '',
    visitor_platform: '',
    retention_days: 395,
    row_version: 1,
    ...more,
  }
}

describe('a destination that gets installs alone', () => {
  let stage: Stage
  let facts: FactsDouble
  const running: Dispatch[] = []
  /** Called before an append; what it throws is the append's failure. */
  let beforeAppend: (topic: Topic) => void
  let logged: unknown[][]
  beforeEach(() => {
    beforeAppend = () => undefined
    logged = []
  })
  const failing = (log: EventLog): EventLog => ({
    ...log,
    consume: (...words) => log.consume(...words),
    progress: (...words) => log.progress(...words),
    append: async (topic, entries, options) => {
      beforeAppend(topic)
      await log.append(topic, entries, options)
    },
  })

  async function start(destinations: readonly Destination[]): Promise<void> {
    stage = await Stage.set({ destinations })
    facts = new FactsDouble()
    facts.show(VISIT)
    await startAnother()
  }
  async function startAnother(): Promise<void> {
    const dispatch = await startDispatch({
      eventLog: failing(stage.store.log),
      facts,
      claims: stage.store.hotState,
      catalog: { current: () => stage.catalog },
      nowMs: stage.clock.nowMs,
      random: () => 0,
      telemetry: { logger: { ...SILENT_LOGGER, error: (...words: unknown[]) => void logged.push(words) } },
    })
    running.push(dispatch)
  }
  afterEach(async () => {
    await Promise.all(running.splice(0).map((dispatch) => dispatch.close()))
    await stage.strike()
  })

  /** As the facts-writer would: from here on it does whatever is on the log. */
  const factsWriter = (): Promise<unknown> =>
    Promise.all(
      INSTALLATION_TOPICS.map((topic) =>
        stage.store.log.consume(topic, FACTS_WRITER_GROUP, async () => undefined, { maxEntries: 100 }),
      ),
    )
  const report = (...installs: readonly Install[]): Promise<unknown> =>
    stage.store.log.append(
      'installs',
      installs.map((install) => ({
        key: recordKey(install, install.eventId),
        value: encodeRecord(recordOf(install)),
      })),
    )
  const jobsOf = async (provider: 'meta' | 'ga4'): Promise<readonly Job[]> =>
    (await stage.store.log.read(`deliver.${provider}`, 0, 100)).map((entry) => decodeRecord<Job>(entry.value))
  const parked = (): Promise<readonly unknown[]> => stage.store.log.read('dispatch.5s', 0, 10)
  const told = async (count: number): Promise<readonly unknown[]> => {
    await until(async () => (await stage.records()).length === count)
    return (await stage.records())
      .map(({ eventId, destination, status, reason }) => [eventId, destination, status, reason].join(' ').trim())
      .sort()
  }

  it('gets the install, and nothing of a later event, which GA4 gets with its kind', async () => {
    await start([GA4, META])
    await factsWriter()
    await report(installNamed('event-first', [GA4, META]))
    expect(await told(2)).to.deep.equal(['event-first acme-ga4 pending', 'event-first meta pending'])
    facts.counted.push(countedRow('event-first', { received_at_ms: NOON_MS }))
    await report(installNamed('event-second', [GA4, META], { receivedAtMs: NOON_MS + 1_000 }))
    expect((await told(4)).slice(2)).to.deep.equal([
      'event-second acme-ga4 pending',
      'event-second meta skipped not_an_install',
    ])
    expect((await jobsOf('meta')).map(({ install }) => install.eventId)).to.deep.equal(['event-first'])
    expect((await jobsOf('ga4')).map(({ install }) => install.kind)).to.deep.equal(['install', 'reinstall'])
  })

  it('waits for the facts of the installation, at most an hour', async () => {
    await start([META])
    await report(installNamed('event-first', [META]))
    await until(async () => (await parked()).length === 1)
    expect(await stage.records()).to.deep.equal([])
    stage.clock.advance(HOUR_MS)
    expect(await told(1)).to.deep.equal(['event-first meta pending'])
  })

  it('gets one of two events that are judged at the same time by what the facts held before both', async () => {
    await start([META])
    await startAnother()
    await factsWriter()
    await report(installNamed('event-a', [META]), installNamed('event-b', [META]))
    const [first] = await told(1)
    expect(first).to.match(/^event-[ab] meta pending$/)
    await until(async () => (await parked()).length === 1)
    stage.clock.advance(HOUR_MS)
    expect((await told(2)).filter((each) => each !== first).join()).to.match(/^event-[ab] meta skipped not_an_install$/)
    expect(await jobsOf('meta')).to.have.lengthOf(1)
  })

  it('keeps what was delivered when an earlier event arrives late', async () => {
    await start([META])
    await factsWriter()
    facts.counted.push(countedRow('event-known', { received_at_ms: NOON_MS + HOUR_MS }))
    const row = { organization: 'acme', website: 'acme-dev', event_id: 'event-known', destination: 'meta' }
    facts.deliveries.push({ ...row, status: 'delivered', install_received_at_ms: NOON_MS + HOUR_MS })
    await report(installNamed('event-late', [META]))
    expect(await told(1)).to.deep.equal(['event-late meta skipped not_an_install'])
  })

  it('gets a later event in place of an install that had no visit', async () => {
    await start([META])
    await factsWriter()
    const none = { resolution: 'unmatched', visit_id: '', visit_issued_at_ms: null } as const
    facts.counted.push(countedRow('event-install', none))
    await report(installNamed('event-run', [META], { eventType: 'first_run' }))
    expect(await told(1)).to.deep.equal(['event-run meta pending'])
  })

  it('gets the install of a machine on which the set-up was tested before', async () => {
    await start([META])
    await factsWriter()
    facts.counted.push(countedRow('event-test', { kind: 'none', is_test: true, is_left_out: true }))
    await report(installNamed('event-install', [META]))
    expect(await told(1)).to.deep.equal(['event-install meta pending'])
  })

  it('gets all events, without waiting, if repeats are included', async () => {
    const all = destinationOf({ ...META, repeats: 'Include' })
    await start([all])
    facts.counted.push(countedRow('event-install'))
    await report(installNamed('event-again', [all]))
    expect(await told(1)).to.deep.equal(['event-again meta pending'])
  })

  const EARLIER = { receivedAtMs: NOON_MS - HOUR_MS }
  const showEarlier = (): void =>
    void facts.counted.push(countedRow('event-earlier', { received_at_ms: NOON_MS - HOUR_MS }))
  const claimOf = (eventId: string): Promise<boolean> => {
    const key = recordKey({ organization: 'acme', website: 'acme-dev' }, 'installation-0001')
    return stage.store.hotState.claimJob(`install/${key}/meta`, eventId, HOUR_MS)
  }

  it('is told once, though an earlier event reaches the facts between two tries of an append', async () => {
    await start([META])
    await factsWriter()
    const failures: Topic[] = []
    beforeAppend = (topic) => {
      if (topic !== 'deliveries' || failures.length > 0) return
      failures.push(topic)
      showEarlier()
      throw new Error('not enough replicas')
    }
    await report(installNamed('event-one', [META]))
    expect(await told(1)).to.deep.equal(['event-one meta pending'])
    await report(installNamed('event-earlier', [META], EARLIER))
    await until(async () => (await parked()).length === 1)
    stage.clock.advance(HOUR_MS)
    expect((await told(2)).slice(0, 1)).to.deep.equal(['event-earlier meta skipped not_an_install'])
    expect(new Set((await jobsOf('meta')).map(({ install }) => install.eventId))).to.deep.equal(new Set(['event-one']))
  })

  it('is told of an earlier event, if a process died before it could tell the one that has the claim', async () => {
    await start([META])
    await factsWriter()
    expect(await claimOf('event-one')).to.equal(true)
    showEarlier()
    await report(installNamed('event-earlier', [META], EARLIER))
    await until(async () => (await parked()).length === 1)
    await report(installNamed('event-one', [META]))
    expect(await told(1)).to.deep.equal(['event-one meta skipped not_an_install'])
    stage.clock.advance(10_000)
    expect((await told(2)).slice(0, 1)).to.deep.equal(['event-earlier meta pending'])
  })

  it('is not closed to other events by one that has no identifier', async () => {
    await start([META])
    await factsWriter()
    const plain = visitOf({ visitId: 'f'.repeat(32) })
    facts.show(plain)
    await report(installOf({ visit: plain, destinations: [META], overrides: { eventId: 'event-one' } }))
    expect(await told(1)).to.deep.equal(['event-one meta skipped no_identifier'])
    expect(await claimOf('event-earlier')).to.equal(true)
  })

  it('waits alone while its topic cannot be made, until its deadline', async () => {
    await start([GA4, META])
    await factsWriter()
    beforeAppend = (topic) => {
      if (topic === 'deliver.meta') throw new TopicUnavailable('no right to create it')
    }
    await report(
      installNamed('event-one', [GA4, META]),
      installNamed('event-two', [GA4], { installationId: 'another' }),
    )
    expect(await told(2)).to.deep.equal(['event-one acme-ga4 pending', 'event-two acme-ga4 pending'])
    await until(async () => (await parked()).length === 1)
    expect(await claimOf('stranger'), 'its claim is free meanwhile').to.equal(true)
    await stage.store.hotState.releaseJob(
      `install/${recordKey({ organization: 'acme', website: 'acme-dev' }, 'installation-0001')}/meta`,
      'stranger',
    )
    stage.clock.advance(10_000)
    await until(async () => (await parked()).length === 2)
    expect(await jobsOf('ga4')).to.have.lengthOf(2)
    expect(logged.map(([fields]) => fields)).to.deep.equal([{ topic: 'deliver.meta', reason: 'no right to create it' }])
    expect(String(logged[0]?.[1])).to.include('whencectl migrate --all-topics')
    stage.clock.advance(8 * 24 * HOUR_MS)
    expect((await told(3)).slice(1, 2)).to.deep.equal(['event-one meta expired deadline_passed'])
  })

  it('leaves GA4 one install among events that the facts do not show yet, and without any wait', async () => {
    await start([GA4])
    const run = { eventType: 'first_run', receivedAtMs: NOON_MS + 500 } as const
    const begunMs = performance.now()
    await report(installNamed('event-install', [GA4]), installNamed('event-run', [GA4], run))
    await told(2)
    expect(performance.now() - begunMs).to.be.lessThan(2_000)
    expect(await parked()).to.deep.equal([])
    expect((await jobsOf('ga4')).map(({ install }) => install.kind).sort()).to.deep.equal(['install', 'none'])
  })

  it('gets its delivery once its topic is made', async () => {
    await start([META])
    await factsWriter()
    let isMade = false
    beforeAppend = (topic) => {
      if (topic === 'deliver.meta' && !isMade) throw new TopicUnavailable('no right to create it')
    }
    await report(installNamed('event-one', [META]))
    await until(async () => (await parked()).length === 1)
    isMade = true
    stage.clock.advance(10_000)
    expect(await told(1)).to.deep.equal(['event-one meta pending'])
    expect(await jobsOf('meta')).to.have.lengthOf(1)
  })
})
