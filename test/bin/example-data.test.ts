/** Made-up traffic: always the same for one seed, marked as such, possible, and counted like real traffic. */

import { expect } from 'chai'
import { join } from 'node:path'

import { spendOf } from '../../bin/example-data/spend.ts'
import { happenedAt, trafficOfDay } from '../../bin/example-data/traffic.ts'
import { unmatchedReason } from '../../domain/collection/unmatched-reason.ts'
import type { Visit } from '../../domain/collection/visit-fields.ts'
import { byReceipt, judgeInstallation } from '../../domain/figures/install-kinds.ts'
import { encodeRecord, type DeliveryRecord, type InstallRecord, type LogRecord } from '../../domain/records.ts'
import { readRecord } from '../../domain/read-record.ts'
import { countryOfZone } from '../../domain/zone-countries.ts'
import { until } from '../../fixtures/until.ts'
import { startTestService, TEST_SECRET, type TestService } from '../../fixtures/service/service.ts'
import { startProgram } from './support/run-whencectl.ts'

const PROGRAM = new URL('../../bin/example-data.ts', import.meta.url).pathname

const DAY_MS = 86_400_000
const UNTIL_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS
const OPTIONS = { website: 'acme-dev', organization: 'acme', seed: 1, untilMs: UNTIL_MS, keyId: 3 }
const dayBefore = (days: number) => ({ ...OPTIONS, dayMs: UNTIL_MS - days * DAY_MS })
const daysBefore = (days: number): readonly LogRecord[] =>
  Array.from({ length: days }, (_, day) => trafficOfDay(dayBefore(days - day))).flat()

interface Traffic {
  readonly visits: readonly Visit[]
  readonly installs: readonly InstallRecord['install'][]
  readonly deliveries: readonly DeliveryRecord[]
  readonly records: readonly LogRecord[]
}

function trafficOf(records: readonly LogRecord[]): Traffic {
  return {
    records,
    visits: records.flatMap((record) => {
      if (record.kind === 'visit') return [record.visit]
      return record.kind === 'handoff' && record.visit !== null ? [record.visit] : []
    }),
    installs: records.flatMap((record) => (record.kind === 'install' ? [record.install] : [])),
    deliveries: records.flatMap((record) => (record.kind === 'delivery' ? [record] : [])),
  }
}

function kindsOf({ installs }: Traffic): ReadonlySet<string> {
  const found = new Set<string>()
  for (const events of Map.groupBy(installs, ({ installationId }) => installationId).values())
    for (const { kind } of judgeInstallation(events.toSorted(byReceipt))) found.add(kind)
  return found
}

/** By name: what is there of each, over the traffic as a whole. */
const STATES: Readonly<
  Record<string, { readonly of: (all: Traffic) => Iterable<unknown>; readonly has: readonly unknown[] }>
> = {
  'kinds of events': { of: kindsOf, has: ['install', 'upgrade', 'reinstall', 'none'] },
  'types of events': {
    of: ({ installs }) => installs.map(({ eventType }) => eventType),
    has: ['install_started', 'install_completed', 'first_run'],
  },
  resolutions: {
    of: ({ installs }) => installs.map(({ resolution }) => resolution),
    has: ['matched', 'unmatched', 'counted'],
  },
  policies: {
    of: ({ installs }) => installs.map(({ selectionPolicy }) => selectionPolicy),
    has: ['latest_visit', 'handoff', 'same_installation', 'none'],
  },
  'several candidates': {
    of: ({ installs }) => installs.map(({ candidateCount }) => Math.min(candidateCount, 2)),
    has: [0, 1, 2],
  },
  // A receipt is `unrecorded` only over the quota of a plan that this organisation does not have.
  'reasons without a visit': {
    of: ({ installs }) => installs.map(unmatchedReason),
    has: ['no_receipt', 'expired', 'revoked', 'never_activated', 'handoff_only', 'other_website', 'forged'],
  },
  products: { of: ({ installs }) => installs.map(({ installPath }) => installPath), has: ['cli', 'agent'] },
  'what ran it': {
    of: ({ installs }) =>
      installs.flatMap(({ isCi, isContainer, isTest }) => [isCi && 'ci', isContainer && 'container', isTest && 'test']),
    has: ['ci', 'container', 'test', false],
  },
  agents: {
    of: ({ installs }) => installs.map(({ agent }) => agent),
    has: [undefined, 'claude-code', 'codex', 'cursor', 'other'],
  },
  places: { of: ({ installs }) => installs.map(({ place }) => place), has: ['', 'readme', 'npm'] },
  countries: {
    of: ({ installs }) => installs.map(({ timezone }) => countryOfZone(timezone)),
    has: ['US', 'DE', 'IN', ''],
  },
  visitors: {
    of: ({ visits }) => visits.map(({ visitor }) => visitor.kind),
    has: ['', 'bot', 'automation', 'ChatGPT-User', 'Claude-User'],
  },
  'visits under GPC': { of: ({ visits }) => visits.map(({ gpc }) => gpc), has: [true, false] },
  'landings that were carried': { of: ({ visits }) => visits.map(({ isCarried }) => isCarried), has: [true, false] },
  'entries of sittings': { of: ({ visits }) => visits.map(({ isEntry }) => isEntry), has: [true, false, null] },
  'visits for a token alone': {
    of: ({ visits }) => visits.map(({ isHandoffOnly }) => isHandoffOnly),
    has: [true, false],
  },
  'visits with a predecessor': {
    of: ({ visits }) => visits.map(({ previousVisitId }) => previousVisitId !== null),
    has: [true, false],
  },
  channels: {
    of: ({ visits }) => visits.map(({ traffic }) => traffic.channel),
    has: [
      'Direct',
      'Organic Search',
      'Organic Social',
      'Organic Video',
      'Email',
      'Referral',
      'Paid Search',
      'Paid Social',
    ],
  },
  campaigns: {
    of: ({ visits }) => visits.map(({ traffic }) => traffic.campaign),
    has: ['', 'brand-search', '(Google Ads, auto-tagged)'],
  },
  'sources by ref': { of: ({ visits }) => visits.map(({ traffic }) => traffic.source), has: ['producthunt'] },
  'platforms of visits': {
    of: ({ visits }) => visits.map(({ visitor }) => visitor.platform),
    has: ['macos', 'linux', 'windows', 'ios', 'android'],
  },
  copies: {
    of: ({ records }) => records.map((record) => record.kind === 'handoff' && record.isCopied),
    has: [true, false],
  },
  'receipts that were replaced': {
    of: ({ records }) => records.map((record) => record.kind === 'activation' && record.revokedVisitId !== null),
    has: [true],
  },
  'ends of deliveries to analytics': {
    of: ({ deliveries }) =>
      deliveries.filter(({ provider }) => provider === 'ga4').map(({ status, reason }) => `${status} ${reason}`),
    has: [
      'delivered ',
      'retrying attempt_failed',
      'expired deadline_passed',
      'skipped unmatched',
      'skipped counted',
      'skipped test',
      'skipped no_client_id',
      'skipped destination_paused',
    ],
  },
  'ends of deliveries to an advertising provider': {
    of: ({ deliveries }) =>
      deliveries.filter(({ provider }) => provider === 'google_ads').map(({ status, reason }) => `${status} ${reason}`),
    has: [
      'delivered ',
      'failed refused',
      'skipped ci',
      'skipped not_an_install',
      'skipped gpc',
      'skipped no_identifier',
      'skipped event_type_not_selected',
    ],
  },
  sessions: {
    of: ({ deliveries }) => deliveries.map(({ sessionMode }) => sessionMode),
    has: ['original_session_window', 'client_only', 'none'],
  },
  milestones: {
    of: ({ records }) => records.map((record) => record.kind === 'activity' && record.type),
    has: ['destination_live', 'origins_changed'],
  },
  'machines of one token': {
    of: ({ installs }) =>
      [
        ...Map.groupBy(
          installs.filter(({ selectionPolicy }) => selectionPolicy === 'handoff'),
          ({ visitId }) => visitId,
        ).values(),
      ].map((events) => Math.min(new Set(events.map(({ installationId }) => installationId)).size, 3)),
    has: [1, 3],
  },
}

const DAYS = 300

describe('example data', function () {
  this.timeout(120_000)
  let all: Traffic
  before(() => void (all = trafficOf(daysBefore(DAYS))))

  it('are the same for one seed and day, and others for another', () => {
    const once = trafficOfDay(dayBefore(1))
    expect(once.length).to.be.greaterThan(100)
    expect(trafficOfDay(dayBefore(1))).to.deep.equal(once)
    expect(trafficOfDay({ ...dayBefore(1), seed: 2 })).to.not.deep.equal(once)
  })

  it('end with the day before, though upgrades come months after their installs', () => {
    const times = all.records.map(happenedAt)
    expect(Math.max(...times)).to.be.below(UNTIL_MS)
    expect(Math.min(...times)).to.be.at.least(UNTIL_MS - DAYS * DAY_MS)
    expect(new Set(times.map((ms) => Math.floor(ms / DAY_MS))).size).to.equal(DAYS)
  })

  for (const [name, { of, has }] of Object.entries(STATES))
    it(`have every state of ${name}`, () => expect([...new Set(of(all))]).to.include.members([...has]))

  it('name versions one after another, so that each is seen for the first time once', () => {
    for (const installs of Map.groupBy(all.installs, ({ installPath }) => installPath).values()) {
      const firsts = new Map<string, number>()
      for (const { productVersion, receivedAtMs } of installs.toSorted(byReceipt))
        if (productVersion !== '' && !firsts.has(productVersion)) firsts.set(productVersion, receivedAtMs)
      expect(firsts.size).to.be.greaterThan(4)
      expect([...firsts.keys()]).to.deep.equal(
        [...firsts.keys()].toSorted(new Intl.Collator('en', { numeric: true }).compare),
      )
    }
  })

  it('can be read as what the service writes', () => {
    const readAs = {
      visit: 'visit',
      activation: 'activation',
      install: 'install',
      delivery: 'delivery',
      activity: 'activity',
    } as const
    for (const record of all.records) {
      const kind = record.kind in readAs ? readAs[record.kind as keyof typeof readAs] : 'fact'
      const reading = readRecord(kind, encodeRecord(record))
      expect(reading.kind, 'why' in reading ? reading.why : '').to.equal('record')
    }
  })

  it('have no ID twice', () => {
    const ids = [
      ...all.visits.map(({ visitId }) => visitId),
      ...all.installs.map(({ eventId }) => eventId),
      ...all.records.flatMap((record) => ('request' in record ? [record.request.id] : [])),
      ...all.deliveries.map(({ jobId, attempts }) => `${jobId} ${attempts}`),
    ]
    expect(new Set(ids).size).to.equal(ids.length)
  })

  it('let nothing happen to a receipt before what it needs', () => {
    const issued = new Map(all.visits.map(({ visitId, issuedAtMs }) => [visitId, issuedAtMs]))
    const previous = new Map(all.visits.map(({ visitId, previousVisitId }) => [visitId, previousVisitId]))
    const activated = new Map<string | null, number>()
    for (const record of all.records) {
      if (record.kind === 'handoff') expect(record.askedAtMs).to.be.at.least(issued.get(record.visitId) ?? Infinity)
      if (record.kind !== 'activation') continue
      expect(record.activatedAtMs).to.be.above(issued.get(record.visitId) ?? Infinity)
      activated.set(record.visitId, record.activatedAtMs)
      expect(record.revokedVisitId).to.equal(previous.get(record.visitId))
      if (record.revokedVisitId !== null) expect(activated.get(record.revokedVisitId)).to.be.below(record.activatedAtMs)
    }
  })

  it('match installs to visits that came before them, and by marker to the newest active one', () => {
    const issued = new Map(all.visits.map(({ visitId, issuedAtMs }) => [visitId, issuedAtMs]))
    const activations = all.records.flatMap((record) => (record.kind === 'activation' ? [record] : []))
    const active = new Set(activations.map(({ visitId }) => visitId))
    for (const { revokedVisitId } of activations) if (revokedVisitId !== null) active.delete(revokedVisitId)
    for (const install of all.installs) expect(install.visitId !== null).to.equal(install.resolution === 'matched')
    for (const { visitId, visitIssuedAtMs, receivedAtMs } of all.installs) {
      if (visitId === null || visitIssuedAtMs === null) continue
      expect(issued.get(visitId)).to.equal(visitIssuedAtMs)
      expect(receivedAtMs - visitIssuedAtMs).to.be.within(1, 30 * DAY_MS)
    }
    const byMarker = all.installs.filter(({ selectionPolicy }) => selectionPolicy === 'latest_visit')
    for (const { visitIssuedAtMs, verdicts, candidateCount } of byMarker) {
      const candidates = verdicts.filter(({ verdict }) => verdict === 'active')
      expect(candidates.length).to.equal(candidateCount)
      for (const { visitId } of candidates) expect(active.has(visitId ?? '')).to.equal(true)
      expect(Math.max(...candidates.map(({ issuedAtMs }) => issuedAtMs ?? 0))).to.equal(visitIssuedAtMs)
    }
  })

  it('deliver after the install, and only what was matched', () => {
    const installs = new Map(all.installs.map((install) => [install.eventId, install]))
    for (const { eventId, atMs, installReceivedAtMs, status, attempt } of all.deliveries) {
      expect(installs.get(eventId)?.receivedAtMs).to.equal(installReceivedAtMs)
      expect(atMs).to.be.at.least(installReceivedAtMs)
      expect(attempt === null).to.equal(status === 'skipped')
      if (status !== 'skipped') expect(installs.get(eventId)?.resolution).to.equal('matched')
    }
  })

  it('have sittings of page views that are half an hour apart at most, and begin once', () => {
    const sittings = Map.groupBy(
      all.visits.filter(({ sitting }) => sitting !== ''),
      ({ sitting }) => sitting,
    )
    for (const views of sittings.values()) {
      expect(views.map(({ isEntry }) => isEntry)).to.deep.equal(views.map((_, place) => place === 0))
      for (const [place, { issuedAtMs, landedAtMs, isCarried }] of views.entries()) {
        if (place > 0) expect(issuedAtMs - (views[place - 1]?.issuedAtMs ?? 0)).to.be.within(1, 1_800_000)
        expect((landedAtMs ?? 0) < issuedAtMs).to.equal(isCarried)
      }
    }
  })

  it('keep nothing of an advertising provider under GPC', () => {
    for (const { gpc, identities } of all.visits) if (gpc) expect(identities.google_ads).to.equal(undefined)
    for (const { gpc, visitId } of all.installs)
      if (gpc) expect(all.visits.find((visit) => visit.visitId === visitId)?.gpc).to.equal(true)
  })

  it('have spend that joins campaigns of visits, and spend that joins none, in two currencies', () => {
    const rows = spendOf(dayBefore(0), 30).flatMap(({ value }) => {
      const record = JSON.parse(value) as { holds: string; rows: [number, number, string, string, string, number][] }
      return record.holds === 'rows' ? record.rows : []
    })
    expect(new Set(rows.map(([, dayMs]) => dayMs)).size).to.equal(30)
    const campaigns = new Set(all.visits.map(({ traffic }) => `${traffic.source} ${traffic.campaign}`))
    const joins = new Map(rows.map(([, , source, campaign]) => [campaign, campaigns.has(`${source} ${campaign}`)]))
    expect([...joins]).to.deep.equal([
      ['brand-search', true],
      ['platform-teams', true],
      ['devtools-test', false],
    ])
    expect([...new Set(rows.map(([, , , , currency]) => currency))]).to.deep.equal(['EUR', 'USD'])
  })

  it('are marked as made up, and plan nothing that could reach a provider', () => {
    for (const { pageUrl, landingPage } of all.visits)
      for (const address of [pageUrl, landingPage]) expect(address).to.match(/^https:\/\/made-up\.example\//)
    for (const { eventId, installationId, deliveries, resolution } of all.installs) {
      for (const id of [eventId, installationId]) expect(id).to.match(/^made-up-/)
      expect(deliveries).to.deep.equal([])
      expect(resolution).to.not.equal('pending')
    }
    const last = new Map(all.deliveries.map((each) => [each.jobId, each]))
    for (const { status } of last.values()) expect(status).to.be.oneOf(['delivered', 'skipped', 'failed', 'expired'])
    for (const { attempt } of all.deliveries)
      if (attempt !== null) expect(attempt.requestUrl).to.match(/^https:\/\/made-up\.example\//)
  })

  it('say what they take, and what is wrong with what they were given', async () => {
    const ran = async (...words: readonly string[]) => startProgram(process.execPath, [PROGRAM, ...words], {}).ended
    const help = await ran('--help')
    expect([help.status, help.stderr]).to.deep.equal([0, ''])
    for (const name of ['data', 'website', 'organization', 'days', 'seed']) expect(help.stdout).to.include(`--${name} `)
    const wrong = [
      ['--website'],
      ['--nothing'],
      ['more'],
      ['--days', 'x'],
      ['--days', '0'],
      ['--seed', '1.5'],
      ['--seed=-1'],
    ]
    for (const words of wrong) {
      const { status, stderr } = await ran(...words)
      expect(status, words.join(' ')).to.equal(2)
      expect(stderr).to.match(/^example-data: .*--help\n$/u)
    }
  })

  describe('in a running service', () => {
    let service: TestService
    before(async () => {
      service = await startTestService()
    })
    after(() => service?.stop())

    it('are counted when the command ends, only once, and reach nobody', async () => {
      const flags = ['--data', join(service.folder, 'data'), '--days', '2']
      const fill = async (): Promise<string> => {
        const { status, stdout, stderr } = await startProgram(process.execPath, [PROGRAM, ...flags], {
          WHENCE_SECRET: TEST_SECRET,
        }).ended
        expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' })
        return stdout
      }
      const period = { since_ms: UNTIL_MS - 2 * DAY_MS, until_ms: UNTIL_MS }
      const counted = async (): Promise<number> => {
        const about = { ...period, websites: ['acme-dev'], organization: 'acme', column: 'visits' } as const
        const steps = await service.facts.run('rolledSteps', about)
        return steps.reduce((sum, { counts: [begun = 0] }) => sum + begun, 0)
      }
      const { visits } = trafficOf(daysBefore(2))
      const people = visits.filter(({ visitor, isTest }) => visitor.kind === '' && !isTest)
      const begun = new Set(
        people
          .filter(({ sitting, isEntry }) => sitting !== '' || isEntry !== false)
          .map(({ sitting, visitId }) => sitting || visitId),
      )
      expect(await fill()).to.include('hours are counted')
      expect(await counted()).to.equal(begun.size)
      const dirty = await service.facts.run('dirtyHours', { until_ms: UNTIL_MS, limit: 10 })
      expect(dirty).to.deep.equal([])
      expect(await fill()).to.include('has made-up traffic already')
      await service.drain()
      await until(async () => (await counted()) === begun.size)
      expect(service.ga4.total()).to.equal(0)
      expect(await service.eventLog.read('dead-letters', 0, 1)).to.deep.equal([])
    })
  })
})
