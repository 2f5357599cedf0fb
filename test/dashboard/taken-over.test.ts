/** A website's ID that is free again may be taken by another organisation: of the one that had it before it finds nothing on any page. */

import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { expect } from 'chai'

import { markHours } from '../../delivery/rollup/mark-hours.ts'
import { runReplays } from '../../delivery/rollup/replay-jobs.ts'
import { rollUp } from '../../delivery/rollup/rollup.ts'
import { DAY_MS, HOUR_MS, hourOf, MINUTE_MS } from '../../domain/durations.ts'
import type { LogRecord } from '../../domain/records.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import {
  activationRecord,
  deliveryRecord,
  handoffRecord,
  installRecord,
  rowsOf,
  visitRecord,
} from '../contract/fact-samples.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { organizationOf, SECRET, startStage, type Stage, websiteOf } from './support/stage.ts'

const NOW_MS = Date.now()
const KEY_ID = createKeyring([SECRET]).currentKeyId.toString(16).padStart(2, '0')
const WEBSITE = 'shop'
const REPLAY = NOW_MS.toString(16).padStart(12, '0') + '1'.repeat(16)
const TAKEN_MS = hourOf(NOW_MS) - 3 * HOUR_MS + 10 * MINUTE_MS
const FORMER = { name: 'former', digit: 'f' }
const PRESENT = { name: 'present', digit: '1' }
type Owner = typeof FORMER

const idOf = ({ digit }: Owner, ms: number): string =>
  `${KEY_ID}${ms.toString(16).padStart(12, '0')}${digit.repeat(18)}`

/** A visit that was activated and copied, and led to an install a minute later, which was delivered. */
function story(owner: Owner, atMs: number): readonly LogRecord[] {
  const visitId = idOf(owner, atMs)
  const of = { website: WEBSITE, organization: owner.name }
  const about = { ...of, visitId, issuedAtMs: atMs }
  const receivedAtMs = atMs + MINUTE_MS
  const eventId = `event-${visitId}`
  const outcome = { resolution: 'matched', selectionPolicy: 'latest_visit', visitId, visitIssuedAtMs: atMs } as const
  return [
    visitRecord({ ...about, utm: { source: `source-of-${owner.name}` }, identities: { meta: { fbp: owner.name } } }),
    activationRecord(about),
    handoffRecord(about),
    installRecord({ ...of, ...outcome, eventId, receivedAtMs, agent: 'claude-code' }),
    deliveryRecord({ ...of, eventId, destination: `ga4-of-${owner.name}`, status: 'delivered', atMs: receivedAtMs }),
  ]
}

describe("an organisation that took over a website's ID", function () {
  this.timeout(120_000)
  let facts: TestFacts
  let stage: Stage
  let cookies: string
  /** An install whose receipts were of the former one's visit, and of its own. */
  const mixed = (): LogRecord => {
    const verdicts = [FORMER, PRESENT].map((owner) => {
      const issuedAtMs = owner === FORMER ? TAKEN_MS - MINUTE_MS : TAKEN_MS + 2 * HOUR_MS
      return { visitId: idOf(owner, issuedAtMs), issuedAtMs, verdict: 'active' as const }
    })
    const [, own] = verdicts
    return installRecord({
      website: WEBSITE,
      organization: PRESENT.name,
      eventId: 'event-mixed',
      verdicts,
      receivedAtMs: TAKEN_MS + 2 * HOUR_MS + MINUTE_MS,
      visitId: own?.visitId ?? '',
      resolution: 'matched',
      visitIssuedAtMs: own?.issuedAtMs ?? 0,
      selectionPolicy: 'latest_visit',
    })
  }

  before(async () => {
    facts = await openTestFacts()
    const manifests = organizationOf('present', { members: { 'anna@present.dev': 'Owner' } })
    stage = await startStage({ manifests: manifests + websiteOf(WEBSITE, 'present'), facts })
    cookies = await stage.signIn('anna@present.dev')
    const replay: LogRecord = {
      v: 1,
      kind: 'replay',
      id: REPLAY,
      organization: 'present',
      website: WEBSITE,
      askedAtMs: NOW_MS,
      policy: { policy: 'first_visit', windowMs: 30 * DAY_MS, isTokensOnly: false },
      sinceMs: NOW_MS - 20 * DAY_MS,
      untilMs: NOW_MS,
      session: 'of nobody',
    }
    const records = [
      ...[10 * DAY_MS, 3 * DAY_MS, DAY_MS, MINUTE_MS].flatMap((ago) => story(FORMER, TAKEN_MS - ago)),
      ...[HOUR_MS, 2 * HOUR_MS].flatMap((after) => story(PRESENT, TAKEN_MS + after)),
      mixed(),
      replay,
    ]
    for (const [table, rows] of rowsOf(records)) await facts.insert(table, rows)
    await markHours(facts, { writer: 'test', sinceMs: 0, untilMs: NOW_MS, nowMs: NOW_MS })
    await rollUp({ facts, nowMs: Date.now })
    await runReplays({ facts, nowMs: Date.now, logger: SILENT_LOGGER })
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  /** The verdicts of an install may name receipts that the machine had of the former one: an ID, and nothing that is stored about it. */
  const read = async (page: string) => {
    const told = await stage.ask('GET', `/api/organizations/present/${page}`, { cookies })
    expect(told.status, told.text).to.equal(200)
    expect(told.text, page).to.not.match(/former/)
    return told.body
  }

  for (const page of ['sources', 'funnel', 'match', 'overview', 'usage', 'checklist', 'websites', 'shared-commands']) {
    it(`finds nothing of the former one in its ${page}`, async () => {
      await read(`${page}?since=${NOW_MS - 20 * DAY_MS}&until=${NOW_MS}`.replace(/^(usage|checklist|websites).*/, '$1'))
    })
  }

  it('counts its own visits and installs alone, rolled up and raw', async () => {
    const period = `since=${hourOf(NOW_MS) - 20 * DAY_MS}&until=${hourOf(NOW_MS)}`
    const { total } = await read(`sources?${period}&by=source`)
    expect(total.visits.visits).to.equal(2)
  })

  it('finds in an install no visit of the former one, whatever receipts the machine had', async () => {
    const { visits, receipts, handoffs } = await read(`installs/${WEBSITE}/event-mixed`)
    const own = idOf(PRESENT, TAKEN_MS + 2 * HOUR_MS)
    const idsOf = (rows: readonly { visit_id: string }[]) => rows.map(({ visit_id: id }) => id)
    expect([idsOf(visits), idsOf(handoffs)]).to.deep.equal([[own], [own]])
    expect([...new Set(idsOf(receipts))]).to.deep.equal([own])
  })

  it('replays its own installs alone', async () => {
    const { result } = await read(`replays/${REPLAY}`)
    expect(result).to.include({ installs: 3 })
  })
})
