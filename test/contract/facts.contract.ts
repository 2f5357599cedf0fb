/** What every Facts adapter promises, as tests that any adapter joins with an `open` of its own. */

import { expect } from 'chai'
import * as fc from 'fast-check'

import { newestInstalls } from '../../bin/tools/lists/newest-installs.ts'
import type { ActivityType } from '../../domain/reasons.ts'
import type { DeliveryStatus } from '../../domain/model.ts'
import { erasedName } from '../../delivery/facts-writer/erasures.ts'
import { poisonRow } from '../../delivery/facts-writer/fact-rows.ts'
import type { InstallRecord, LogRecord } from '../../domain/records.ts'
import type { FactTable } from '../../ports/facts/columns.ts'
import { visitOfRow } from '../../ports/facts/visits.ts'
import type { FactRow, Facts } from '../../ports/facts/facts.ts'
import { FACT_TABLES } from '../../ports/facts/columns.ts'
import { RowsRefused } from '../../ports/facts/facts.ts'
import {
  activationRecord,
  activityRecord,
  AROUND,
  attempt,
  decisionRecord,
  deliveryRecord,
  handoffRecord,
  installRecord,
  requestRecord,
  rowsOf,
  SAMPLE_MS,
  store,
  unique,
  visitId,
  visitRecord,
  webhookAttemptRecord,
} from './fact-samples.ts'
import { storeCounted } from '../support/counted.ts'

export interface FactsHarness {
  /** The facts under test, with empty or used tables; another object after `reopen`. */
  readonly facts: Facts
  /** Closes and opens again on the same data. */
  reopen(): Promise<void>
  /** Merges all parts of a table, as the engine does by itself sooner or later. */
  merge(table: FactTable): Promise<void>
  /** Closes and deletes everything. */
  close(): Promise<void>
}

const HOSTILE = [
  "'; DROP TABLE visits; --",
  "\\'",
  '{website:String}',
  '%27 OR 1=1',
  '\\N',
  '`',
  '--',
  '\t\n\r\0\b\f\\',
]
const UNICODE = ['😀 ganz normal', 'e\u0301', '\u0000', '\u2028', '日本語', '\uFEFFbom']

export function factsContract(name: string, open: () => Promise<FactsHarness>): void {
  describe(`Facts contract: ${name}`, () => {
    let harness: FactsHarness
    const facts = (): Facts => harness.facts

    before(async () => {
      harness = await open()
    })
    after(async () => {
      await harness.close()
    })

    describe('insert', () => {
      it('shows every row once when everything was inserted twice', async () => {
        const website = unique('site')
        const records = [
          visitRecord({ website }),
          activationRecord({ website, revokedVisitId: visitId(), revokedIssuedAtMs: SAMPLE_MS - 1_000 }),
          handoffRecord({ website }),
          installRecord({ website }),
          decisionRecord(installRecord({ website })),
          deliveryRecord({ website, attempt: attempt() }),
          activityRecord({ website }),
          requestRecord({ website }),
        ]
        const before = await counts(facts())
        await store(facts(), records)
        await store(facts(), records)
        const after = await counts(facts())
        expect(difference(after, before)).to.deep.equal({
          visits: 1,
          activations: 2,
          handoffs: 1,
          installs: 1,
          install_decisions: 1,
          deliveries: 1,
          attempts: 1,
          request_logs: 5,
          activity: 1,
          poison_records: 0,
        })
      })

      it('keeps what it resolved for across a close', async () => {
        const record = visitRecord({ website: unique('site') })
        await store(facts(), [record])
        await harness.reopen()
        const rows = await facts().run('visitsByIds', keysOf([record.visit]))
        expect(rows).to.have.lengthOf(1)
      })

      it('lets the install that came first win, in whatever order rows arrive', async () => {
        for (const order of [
          ['first', 'later'],
          ['later', 'first'],
        ]) {
          const shared = { website: unique('site'), eventId: unique('event') }
          const versions = {
            first: installRecord({ ...shared, receivedAtMs: SAMPLE_MS, language: 'first' }),
            later: installRecord({ ...shared, receivedAtMs: SAMPLE_MS + 1, language: 'later' }),
          }
          for (const which of order) await store(facts(), [versions[which as 'first' | 'later']])
          const key = { organization: 'acme', website: shared.website, event_id: shared.eventId }
          const before = await facts().run('installByEvent', key)
          await harness.merge('installs')
          const after = await facts().run('installByEvent', key)
          expect([before, after].map((rows) => rows.map((row) => row.language))).to.deep.equal([['first'], ['first']])
        }
      })

      it('keeps which coding agent ran an install', async () => {
        const website = unique('site')
        const records = [installRecord({ website, agent: 'codex' }), installRecord({ website })]
        await store(facts(), records)
        const rows = await newestInstalls(facts(), { ...AROUND, website })
        const agents = new Map(rows.map(({ event_id, agent }) => [event_id, agent]))
        expect(records.map(({ install }) => agents.get(install.eventId))).to.deep.equal(['codex', ''])
      })

      it('decides by the place on the log between installs of the same millisecond', async () => {
        const shared = { website: unique('site'), eventId: unique('event') }
        await store(facts(), [installRecord({ ...shared, language: 'second' })], 8)
        await store(facts(), [installRecord({ ...shared, language: 'first' })], 7)
        const [row] = await facts().run('installByEvent', {
          organization: 'acme',
          website: shared.website,
          event_id: shared.eventId,
        })
        expect(row?.language).to.equal('first')
      })

      it('shows the same final state of a delivery for every order of its states', async () => {
        const story: readonly { readonly status: DeliveryStatus; readonly atMs: number }[] = [
          { status: 'pending', atMs: SAMPLE_MS },
          { status: 'retrying', atMs: SAMPLE_MS + 10_000 },
          // Written by a machine whose clock is three seconds behind.
          { status: 'delivered', atMs: SAMPLE_MS + 7_000 },
        ]
        for (const order of permutations(story)) {
          const shared = { website: unique('site'), eventId: unique('event'), jobId: unique('job') }
          for (const state of order) await store(facts(), [deliveryRecord({ ...shared, ...state })])
          const [row] = await facts().run('deliveriesOfInstall', {
            organization: 'acme',
            website: shared.website,
            event_id: shared.eventId,
          })
          expect(row?.status).to.equal('delivered')
        }
      })

      it('shows a failed delivery as pending again once it is replayed', async () => {
        const shared = { website: unique('site'), eventId: unique('event') }
        await store(facts(), [deliveryRecord({ ...shared, status: 'failed', atMs: SAMPLE_MS })])
        await store(facts(), [deliveryRecord({ ...shared, status: 'pending', atMs: SAMPLE_MS + 60_000 })])
        const [row] = await facts().run('deliveriesOfInstall', {
          organization: 'acme',
          website: shared.website,
          event_id: shared.eventId,
        })
        expect(row?.status).to.equal('pending')
      })

      it('takes rows of several months and days in one call', async () => {
        const website = unique('site')
        const days = [0, 1, 2, 40, 80]
        const visits = days.map((day) => visitRecord({ website, issuedAtMs: SAMPLE_MS - day * 86_400_000 }))
        await store(facts(), visits)
        const rows = await facts().run('visitsByIds', keysOf(visits.map((record) => record.visit)))
        expect(rows).to.have.lengthOf(days.length)
      })

      it('does nothing for no rows', async () => {
        const before = await counts(facts())
        for (const table of FACT_TABLES) await facts().insert(table, [])
        expect(await counts(facts())).to.deep.equal(before)
      })

      it('collects rows of several tables and inserts them together', async () => {
        const website = unique('site')
        const record = installRecord({ website })
        const batch = facts().startBatch()
        for (const [table, rows] of rowsOf([record])) for (const row of rows) batch.add(table, row)
        expect(batch.chars).to.be.greaterThan(0)
        await batch.insert()
        await batch.insert()
        const installs = await newestInstalls(facts(), { ...AROUND, website })
        const logs = await facts().run('listLogs', { ...AROUND, website })
        expect([installs.length, logs.length]).to.deep.equal([1, 1])
      })
    })

    describe('erase', () => {
      it('deletes every row that names an ID, in every table, and none of another website or ID', async () => {
        const website = unique('site')
        const other = unique('site')
        const gone = { visitId: visitId(), installationId: unique('installation-gone'), eventId: unique('event-gone') }
        const of = (site: string, ids: typeof gone): readonly LogRecord[] => [
          visitRecord({ website: site, visitId: ids.visitId }),
          activationRecord({ website: site, visitId: ids.visitId }),
          handoffRecord({ website: site, visitId: ids.visitId }),
          installRecord({ website: site, ...ids }),
          decisionRecord(installRecord({ website: site, ...ids })),
          deliveryRecord({ website: site, eventId: ids.eventId, attempt: attempt() }),
          activityRecord({ website: site, message: `visit ${ids.visitId} was matched often` }),
          requestRecord({ website: site, body: `{"event_id":"${ids.eventId}"}` }),
          webhookAttemptRecord({ website: site, body: `{"data":{"eventId":"${ids.eventId}"}}` }),
        ]
        const kept = { visitId: visitId(), installationId: unique('installation-kept'), eventId: unique('event-kept') }
        await storeCounted(facts(), [...of(website, gone), ...of(website, kept), ...of(other, gone)], Date.now)
        const poison = { table: '', reason: 'UNDECODABLE' } as const
        const place = { topic: 'visits', partition: 0, offset: parseInt(gone.visitId.slice(-6), 16) }
        const value = `{"visitId":"${gone.visitId}"`
        await facts().insert('poison_records', [poisonRow(place, { ...poison, value }, SAMPLE_MS)])

        for (const { eventId } of [gone, kept]) {
          const record = JSON.stringify({ event: eventId })
          const replay = { organization: 'acme', website, id: eventId, made_at: SAMPLE_MS, state: 'done', installs: 1 }
          await facts().insert('decision_replay_results', [
            { ...replay, reached: SAMPLE_MS, result: record, retention_days: 7, row_version: 1 },
          ])
        }

        const names = Object.values(gone).map((id) => erasedName({ organization: 'acme', website }, id))
        const rows = { visits: 1, activations: 1, handoffs: 1, installs: 1, install_decisions: 1, deliveries: 1 }
        const facted = { ...rows, attempts: 1, activity: 1, request_logs: 5, poison_records: 1 }
        const all = { ...facted, counted_installs: 1, decision_replay_results: 1, webhook_attempts: 1 }
        expect(await facts().countNamed(names)).to.deep.equal(all)
        const before = await counts(facts())
        await facts().erase(names)
        expect(difference(before, await counts(facts()))).to.deep.equal(facted)
        const none = Object.fromEntries(Object.keys(all).map((table) => [table, 0]))
        expect(await facts().countNamed(names)).to.deep.equal(none)
        const left = [
          erasedName({ organization: 'acme', website }, kept.visitId),
          erasedName({ organization: 'acme', website: other }, gone.visitId),
        ]
        expect(await facts().countNamed(left)).to.deep.include({ visits: 2, installs: 2, activity: 2 })
        const others = await facts().countNamed([erasedName({ organization: 'acme', website }, kept.eventId)])
        expect(others).to.deep.include({ decision_replay_results: 1, webhook_attempts: 1 })
        await facts().erase(names)
        await facts().erase([])
      })

      it('deletes everything of an organisation, and nothing of another', async () => {
        const website = unique('site')
        const gone = unique("it's gone")
        const kept = unique('kept')
        const of = (organization: string): readonly LogRecord[] => [
          visitRecord({ website, organization }),
          activationRecord({ website, organization }),
          installRecord({ website, organization }),
          deliveryRecord({ website, organization, eventId: unique('event'), attempt: attempt() }),
          activityRecord({ website, organization }),
          requestRecord({ website, organization }),
          webhookAttemptRecord({ website, organization }),
        ]
        await store(facts(), [...of(gone), ...of(kept)])
        await facts().insert('hour_marks', [
          { organization: gone, website, hour: SAMPLE_MS, writer: 'test', made_at: SAMPLE_MS, row_version: 1 },
        ])
        const found = await facts().countOrganization(gone)
        expect(found).to.include({ visits: 1, activations: 1, installs: 1, deliveries: 1, attempts: 1, activity: 1 })
        expect(found).to.include({ webhook_attempts: 1, hour_marks: 1 })
        expect(found.request_logs).to.be.greaterThan(0)
        const before = await facts().countOrganization(kept)
        await facts().eraseOrganization(gone)
        const left = await facts().countOrganization(gone)
        expect(Object.values(left).filter((rows) => rows > 0)).to.deep.equal([])
        expect(await facts().countOrganization(kept)).to.deep.equal(before)
        await facts().eraseOrganization(gone)
      })

      it('takes hostile names of websites as they are, and no digest that is none', async () => {
        const website = `it's \\' a trap') OR 1=1 --`
        await store(facts(), [visitRecord({ website }), visitRecord({ website: unique('site') })])
        const before = await counts(facts())
        await facts().erase([erasedName({ organization: 'acme', website }, unique('nobody'))])
        expect(await counts(facts())).to.deep.equal(before)
        const refused = await facts()
          .erase([{ organization: 'acme', website, digest: "') OR 1=1 --", reference: 1 }])
          .catch((error: unknown) => error)
        expect(refused).to.be.instanceOf(RangeError)
        expect(await counts(facts())).to.deep.equal(before)
      })
    })

    describe('text', () => {
      it('comes back as it went in, however hostile', async () => {
        const values = [...HOSTILE, ...UNICODE]
        const website = unique('site')
        const records = values.map((text) =>
          activityRecord({ website, organization: website, subject: text, message: `${text}${text}` }),
        )
        await store(facts(), records)
        const rows = await facts().run('listActivity', { ...AROUND, organization: website })
        expect(rows.map((row) => row.subject)).to.have.members(values)
        expect(rows.map((row) => row.message)).to.have.members(values.map((text) => `${text}${text}`))
      })

      it('comes back as it went in for any well-formed text, also inside lists', async () => {
        const text = fc.string({ unit: 'binary', maxLength: 40 })
        const texts = fc.tuple(fc.array(text, { maxLength: 4 }), text)
        await fc.assert(
          fc.asyncProperty(fc.array(texts, { minLength: 20, maxLength: 60 }), async (samples) => {
            const website = unique('site')
            const records = samples.map(([browsers, language]) => installRecord({ website, browsers, language }))
            await store(facts(), records)
            const rows = await newestInstalls(facts(), { ...AROUND, website })
            const stored = new Map(rows.map(({ event_id, browsers, language }) => [event_id, { browsers, language }]))
            const sent = records.map(({ install }) => ({
              browsers: install.browsers.map((browser) => browser.toWellFormed()),
              language: install.language.toWellFormed(),
            }))
            expect(records.map(({ install }) => stored.get(install.eventId))).to.deep.equal(sent)
          }),
          { numRuns: 10 },
        )
      })

      it('is made well-formed if it holds lone surrogates', async () => {
        const website = unique('site')
        await store(facts(), [requestRecord({ website, userAgent: 'a\ud800b', body: '\udfff' })])
        const [row] = await facts().run('listLogs', { ...AROUND, website })
        expect(row).to.include({ user_agent: 'a\ufffdb', body: '\ufffd' })
      })

      it('is bound as a parameter and never read as SQL', async () => {
        await store(facts(), [visitRecord({ website: unique('site') })])
        for (const text of [...HOSTILE, ...UNICODE]) {
          const visits = await facts().run('visitsByIds', {
            organizations: ['acme'],
            websites: [text],
            visit_ids: [text],
          })
          const logs = await facts().run('listLogs', { ...AROUND, website: text, code: text, path: text })
          const events = await facts().run('installsByEventId', { event_id: text })
          expect([visits.length, logs.length, events.length]).to.deep.equal([0, 0, 0])
        }
      })
    })

    describe('rows taken one by one', () => {
      it('are those of the same query, however hostile, also while other statements run', async () => {
        const website = unique('site')
        const texts = [...HOSTILE, ...UNICODE, 'x'.repeat(100_000)]
        await store(
          facts(),
          texts.map((subject) => activityRecord({ website, organization: website, subject })),
        )
        const params = { ...AROUND, organization: website }
        const all = await facts().run('listActivity', params)
        const rows = await facts().each('listActivity', params)
        const few = await facts().each('listActivity', params)
        const none = await facts().each('listActivity', { ...AROUND, organization: unique('none') })
        const taken: unknown[] = []
        for (const row of rows) taken.push(row, ...(await facts().run('listActivity', { ...params, limit: 1 })))
        expect(taken.filter((_, index) => index % 2 === 0)).to.deep.equal(all)
        for (const row of few) {
          expect(row).to.deep.equal(all[0])
          break
        }
        expect([...none].length).to.equal(0)
        expect(all.map(({ subject }) => subject)).to.have.members(texts)
      })

      it('are not there for a caller who has gone', async () => {
        const why = new Error('gone')
        const asked = facts().each('listActivity', AROUND, { signal: AbortSignal.abort(why) })
        expect(await asked.catch((error: unknown) => error)).to.equal(why)
      })
    })

    describe('refusal', () => {
      const canary = 'canary-secret-of-a-row'
      const bad: readonly (readonly [string, FactTable, FactRow])[] = [
        ['a number above its column', 'request_logs', { status: 65_536 }],
        ['a negative number', 'request_logs', { body_bytes: -1 }],
        ['a fraction for a whole number', 'request_logs', { status: 200.5 }],
        ['a number that is none', 'request_logs', { duration_ms: Number.NaN }],
        ['a whole number past 2^53', 'request_logs', { log_offset: 2 ** 53 }],
        ['a time past 2099', 'request_logs', { received_at: 4_102_444_800_000 }],
        ['a time before 1970', 'request_logs', { received_at: -1 }],
        ['a time that is none', 'visits', { issued_at: Number.NaN }],
        ['text for a number', 'request_logs', { status: '200' }],
        ['a number for text', 'request_logs', { body: 7 }],
        ['a missing value', 'request_logs', { body: undefined }],
        ['null in a column that takes none', 'request_logs', { received_at: null }],
        ['an object for a list', 'installs', { browsers: {} }],
        ['an unknown effect', 'activations', { effect: 'forgotten' }],
      ]
      for (const [what, table, changes] of bad) {
        it(`names ${what} without repeating the row`, async () => {
          const website = unique('site')
          const records = [
            visitRecord({ website, pageUrl: canary }),
            installRecord({ website, language: canary }),
            activationRecord({ website, visitId: canary }),
          ]
          const row = rowsOf(records).get(table)?.[0] ?? {}
          const before = await counts(facts())
          const error = await facts()
            .insert(table, [row, { ...row, ...changes }])
            .catch((caught: unknown) => caught)
          expect(error).to.be.instanceOf(RowsRefused)
          expect(textOf(error)).not.to.contain(canary)
          expect(await counts(facts())).to.deep.equal(before)
        })
      }

      it('leaves the other rows of a batch as they were', async () => {
        const website = unique('site')
        const [row] = rowsOf([visitRecord({ website })]).get('visits') ?? []
        const batch = facts().startBatch()
        batch.add('visits', row ?? {})
        expect(() => batch.add('visits', { ...row, retention_days: -1 })).to.throw(RowsRefused)
        await batch.insert()
        const visits = await facts().run('visitsByIds', {
          organizations: ['acme'],
          websites: [website],
          visit_ids: [String(row?.['visit_id'])],
        })
        expect(visits).to.have.lengthOf(1)
      })
    })

    describe('queries', () => {
      it('find visits of the website they belong to, whole', async () => {
        const id = visitId()
        const landing = {
          landingPage: 'https://acme.dev/blog/post',
          ref: 'producthunt',
          click: 'gclid',
          isCarried: true,
          sitting: 'aB3-_'.padEnd(22, 'x'),
          isEntry: false,
        }
        const own = { website: unique('site'), visitId: id, gpc: true, previousVisitId: visitId() }
        const mine = visitRecord({ ...own, ...landing })
        const other = visitRecord({ website: unique('site'), visitId: id })
        await store(facts(), [mine, other])
        const rows = await facts().run('visitsByIds', keysOf([mine.visit]))
        expect(rows.map(visitOfRow)).to.deep.equal([mine.visit])
        expect(rows[0]).to.include({
          website: mine.visit.website,
          visit_id: id,
          organization: 'acme',
          issued_at_ms: SAMPLE_MS,
          url_id: 'url_0123456789abcdef',
          origin: 'https://acme.dev',
          page_url: 'https://acme.dev/install',
          referrer: 'https://search.example/',
          source_referrer: '',
          landed_at_ms: SAMPLE_MS - 5_000,
          utm_source: 'search',
          utm_medium: '',
          utm_campaign: 'spring',
          utm_term: '',
          utm_content: '',
          utm_id: '',
          landing_page: landing.landingPage,
          ref: 'producthunt',
          click: 'gclid',
          is_carried: true,
          sitting: landing.sitting,
          is_entry: false,
          identities: '{"ga4":{"G-ABC":{"client_id":"1.2","session_id":"3"}}}',
          client: '{"language":"de"}',
          gpc: true,
          is_handoff_only: false,
          previous_visit_id: mine.visit.previousVisitId,
        })
      })

      it('tell a page view that begins no sitting from one that does not say', async () => {
        const visits = [true, false, null].map((isEntry) => visitRecord({ website: unique('site'), isEntry }))
        await store(facts(), visits)
        const rows = await facts().run('visitsByIds', keysOf(visits.map((record) => record.visit)))
        const told = new Map(rows.map((row) => [row.visit_id, row.is_entry]))
        expect(visits.map(({ visit }) => told.get(visit.visitId))).to.deep.equal([true, false, null])
      })

      it('return moments of any year as they were stored', async () => {
        const website = unique('site')
        const moments = Array.from({ length: 13 }, (_, digits) => 10 ** digits - 1)
        const visits = [...moments, Date.UTC(2099, 11, 31)].map((landedAtMs) => visitRecord({ website, landedAtMs }))
        await store(facts(), visits)
        const rows = await facts().run('visitsByIds', keysOf(visits.map((record) => record.visit)))
        const told = new Map(rows.map((row) => [row.visit_id, row.landed_at_ms]))
        expect(visits.map(({ visit }) => told.get(visit.visitId))).to.deep.equal(
          visits.map(({ visit }) => visit.landedAtMs),
        )
      })

      it('find thousands of visits at once', async () => {
        const website = unique('site')
        const visits = Array.from({ length: 3_000 }, () => visitRecord({ website }))
        await store(facts(), visits)
        const rows = await facts().run('visitsByIds', keysOf(visits.map((record) => record.visit)))
        const ids = new Set(rows.map((row) => row.visit_id))
        expect(visits.every((record) => ids.has(record.visit.visitId))).to.equal(true)
        expect(rows).to.have.lengthOf(visits.length)
      })

      it('return the state of receipts, even of one whose visit is not there yet', async () => {
        const website = unique('site')
        const issued = visitId()
        const active = visitId()
        const revoked = visitId()
        const unseen = visitId()
        const unknown = visitId()
        await store(facts(), [
          visitRecord({ website, visitId: issued }),
          visitRecord({ website, visitId: active, previousVisitId: revoked }),
          visitRecord({ website, visitId: revoked }),
          activationRecord({ website, visitId: revoked }),
          activationRecord({ website, visitId: active, revokedVisitId: revoked, revokedIssuedAtMs: SAMPLE_MS }),
          activationRecord({ website, visitId: unseen }),
        ])
        const rows = await facts().run('receiptFacts', {
          organization: 'acme',
          website,
          visit_ids: [issued, active, revoked, unseen, unknown],
        })
        const states = new Map(rows.map((row) => [row.visit_id, row]))
        expect(states.get(issued)).to.include({ is_recorded: true, is_active: false, is_revoked: false })
        expect(states.get(active)).to.include({ is_active: true, is_revoked: false, previous_visit_id: revoked })
        expect(states.get(revoked)).to.include({ is_recorded: true, is_active: true, is_revoked: true })
        expect(states.get(unseen)).to.include({ is_recorded: false, is_active: true })
        expect(states.has(unknown)).to.equal(false)
      })

      it('return when receipts became active and were revoked, and which one each replaced', async () => {
        const website = unique('site')
        const older = visitId()
        const newer = visitId()
        const never = visitId()
        const activation = { website, visitId: newer, revokedVisitId: older, revokedIssuedAtMs: SAMPLE_MS - 9_000 }
        const records = [
          visitRecord({ website, visitId: never }),
          visitRecord({ website, visitId: newer, previousVisitId: older }),
          activationRecord({ website, visitId: older, activatedAtMs: SAMPLE_MS + 1 }),
          activationRecord({ ...activation, activatedAtMs: SAMPLE_MS + 3 }),
          // The same again, as a browser may repeat it: the first time counts.
          activationRecord({ ...activation, activatedAtMs: SAMPLE_MS + 4 }),
        ]
        await store(facts(), records)
        const asked = [older, newer, never, visitId()]
        const rows = await facts().run('receiptHistory', {
          organizations: asked.map(() => website).map(() => 'acme'),
          websites: asked.map(() => website),
          visit_ids: asked,
        })
        expect(rows).to.have.deep.members([
          row(older, SAMPLE_MS + 1, SAMPLE_MS + 3, ''),
          row(newer, SAMPLE_MS + 3, null, older),
          row(never, null, null, ''),
        ])
        function row(id: string, activatedAtMs: number | null, revokedAtMs: number | null, previous: string) {
          const times = { activated_at_ms: activatedAtMs, revoked_at_ms: revokedAtMs }
          return { organization: 'acme', website, visit_id: id, ...times, previous_visit_id: previous }
        }
      })

      it('page through activations and the first install of each event, once each', async () => {
        const website = unique('site')
        const activations = Array.from({ length: 5 }, () =>
          activationRecord({ website, revokedVisitId: visitId(), revokedIssuedAtMs: SAMPLE_MS }),
        )
        await store(facts(), activations)
        const events = Array.from({ length: 5 }, () => unique('event')).toSorted()
        const versions = ['first', 'later'].map((installationId, index) =>
          events.map((eventId) => installRecord({ website, eventId, installationId, receivedAtMs: SAMPLE_MS + index })),
        )
        for (const installs of versions.toReversed()) await store(facts(), installs)
        const from = {
          since_ms: SAMPLE_MS - 86_400_000 * 2,
          limit: 3,
          after_organization: 'acme',
          after_website: website,
        }
        const effects: string[] = []
        for (let after = { after_visit_id: '', after_effect: 0 }; ;) {
          const page = await facts().run('activationsAfter', { ...from, ...after })
          const rows = page.filter((row) => row.website === website)
          effects.push(...rows.map(({ visit_id: id, effect }) => `${id} ${effect}`))
          const last = rows.at(-1)
          if (last === undefined) break
          after = { after_visit_id: last.visit_id, after_effect: last.effect }
        }
        const expected = activations.flatMap((one) => [`${one.visitId} 1`, `${one.revokedVisitId} 2`])
        expect(effects).to.deep.equal(expected.toSorted())
        const found: string[] = []
        for (let after = { after_event_id: '' }; ;) {
          const page = await facts().run('installsAfter', { ...from, ...after })
          const rows = page.filter((row) => row.website === website)
          found.push(...rows.map(({ event_id: id, installation_id: installation }) => `${id} ${installation}`))
          const last = rows.at(-1)
          if (last === undefined) break
          after = { after_event_id: last.event_id }
        }
        expect(found).to.deep.equal(events.map((eventId) => `${eventId} first`))
      })

      it('give the whole install of an event back', async () => {
        const matched = visitId()
        const { install, request } = installRecord({
          website: unique('site'),
          resolution: 'matched',
          selectionPolicy: 'latest_visit',
          candidateCount: 2,
          visitId: matched,
          visitIssuedAtMs: SAMPLE_MS - 1,
          installPath: null,
        })
        await store(facts(), [{ v: 1, kind: 'install', request, install, retentionDays: 395 }])
        const [row] = await facts().run('installByEvent', {
          organization: 'acme',
          website: install.website,
          event_id: install.eventId,
        })
        expect(row).to.include({
          visit_id: matched,
          visit_issued_at_ms: SAMPLE_MS - 1,
          install_path: '',
          candidate_count: 2,
        })
        expect(JSON.parse(row?.answer ?? '')).to.deep.equal(install.answer)
        expect(JSON.parse(row?.verdicts ?? '')).to.deep.equal(install.verdicts)
      })

      it('find what an installation was matched to, newest first and not too old, and what is still pending', async () => {
        const shared = { website: unique('site'), installationId: unique('installation') }
        const matched = { ...shared, resolution: 'matched' as const }
        const old = visitId()
        const newer = visitId()
        const oldMs = SAMPLE_MS - 20_000
        const open = installRecord({ ...shared, resolution: 'pending', receivedAtMs: SAMPLE_MS + 2 })
        const records = [
          installRecord({ ...matched, visitId: old, visitIssuedAtMs: oldMs, receivedAtMs: SAMPLE_MS - 10_000 }),
          installRecord({
            ...matched,
            visitId: newer,
            visitIssuedAtMs: SAMPLE_MS - 5_000,
            receivedAtMs: SAMPLE_MS,
            gpc: true,
          }),
          installRecord({ ...shared, resolution: 'unmatched', receivedAtMs: SAMPLE_MS + 1 }),
          open,
        ]
        await store(facts(), records)
        const found = async (since_ms: number) => {
          const asked = {
            organizations: ['acme'],
            websites: [shared.website],
            installation_ids: [shared.installationId],
            since_ms,
          }
          const rows = await facts().run('installationVisits', asked)
          return rows.map(({ resolution, visit_id, gpc }) => [resolution, visit_id, gpc])
        }
        const before = [
          ['pending', '', false],
          ['matched', newer, true],
          ['matched', old, false],
        ]
        expect(await found(oldMs)).to.deep.equal(before)
        expect(await found(oldMs + 1)).to.deep.equal(before.slice(0, 2))
        const decision = decisionRecord(open)
        await store(facts(), [decision])
        expect((await found(oldMs))[0]).to.deep.equal(['matched', decision.visitId, false])
        expect(
          await facts().run('installationVisits', {
            organizations: [],
            websites: [],
            installation_ids: [],
            since_ms: 0,
          }),
        ).to.deep.equal([])
      })

      it('return what installations were matched to around a moment: before it first, then a little after it', async () => {
        const shared = { website: unique('site'), installationId: unique('installation') }
        const issuedAtMs = SAMPLE_MS - 50_000
        const eventAt = (ms: number, changes: Partial<InstallRecord['install']> = {}) =>
          installRecord({
            ...shared,
            resolution: 'matched',
            visitId: visitId(),
            visitIssuedAtMs: issuedAtMs,
            receivedAtMs: SAMPLE_MS + ms,
            eventId: unique(`event${ms}`),
            ...changes,
          })
        const verdicts = (verdict: 'active' | 'undecided' | 'forged') => [{ visitId: null, issuedAtMs: null, verdict }]
        const pending = { resolution: 'pending', visitId: null, visitIssuedAtMs: null } as const
        const decided = eventAt(-5, { ...pending, verdicts: [] })
        await store(facts(), [
          ...[-30, -10, 0, 10, 20, 31].map((ms) => eventAt(ms)),
          eventAt(-8, { ...pending, verdicts: verdicts('undecided') }),
          eventAt(-7, { ...pending, verdicts: verdicts('active') }),
          eventAt(-6, { ...pending, verdicts: verdicts('forged') }),
          eventAt(-4, { resolution: 'unmatched', visitId: null, visitIssuedAtMs: null }),
          eventAt(-3, { visitIssuedAtMs: issuedAtMs - 1 }),
          decided,
          decisionRecord(decided),
          ...Array.from({ length: 25 }, (_, number) => eventAt(40 + number)),
          eventAt(1, { website: unique('site') }),
        ])
        const around = async (atMs: number) => {
          const rows = await facts().run('installationMatches', {
            organizations: ['acme', 'acme'],
            websites: [shared.website, 'other'],
            installation_ids: [shared.installationId, 'other'],
            at_ms: [SAMPLE_MS + atMs, SAMPLE_MS],
            margin_ms: 30,
            since_ms: issuedAtMs,
          })
          return rows.map((row) => row.received_at_ms - SAMPLE_MS)
        }
        expect(await around(0)).to.deep.equal([0, -5, -7, -8, -10, -30, 10, 20])
        expect((await around(-9)).slice(0, 3)).to.deep.equal([-10, -30, -8])
        expect((await around(70)).slice(0, 2)).to.deep.equal([64, 63])
        expect(await around(70)).to.have.length(20)
        const none = { organizations: [], websites: [], installation_ids: [], at_ms: [], margin_ms: 30, since_ms: 0 }
        expect(await facts().run('installationMatches', none)).to.deep.equal([])
      })

      it('count the installations of a visit, each once, those of decided installs among them', async () => {
        const website = unique('site')
        const shared = {
          website,
          visitId: visitId(),
          visitIssuedAtMs: SAMPLE_MS - 1_000,
          resolution: 'matched',
        } as const
        const pending = installRecord({ website, resolution: 'pending', visitId: null, visitIssuedAtMs: null })
        const twice = unique('installation')
        await store(facts(), [
          installRecord({ ...shared, installationId: twice }),
          installRecord({ ...shared, installationId: twice }),
          installRecord({ ...shared, installationId: unique('installation') }),
          installRecord({ ...shared, visitId: visitId() }),
          installRecord({ ...shared, website: unique('site') }),
          pending,
        ])
        const count = async (since_ms: number) =>
          (
            await facts().run('installationsOfVisit', {
              organization: 'acme',
              website,
              visit_id: shared.visitId,
              since_ms,
            })
          )[0]?.installations
        expect(await count(shared.visitIssuedAtMs)).to.equal(2)
        await store(facts(), [decisionRecord(pending, { resolution: 'matched', visitId: shared.visitId })])
        expect(await count(shared.visitIssuedAtMs)).to.equal(3)
        expect(await count(SAMPLE_MS + 60_000)).to.equal(0)
      })

      it('show a pending install as it was decided, wherever installs are read', async () => {
        const website = unique('site')
        const [open, matched, not] = [1, 2, 3].map((number) =>
          installRecord({
            website,
            resolution: 'pending',
            receivedAtMs: SAMPLE_MS + number,
            eventId: unique(`event-${number}`),
          }),
        ) as [InstallRecord, InstallRecord, InstallRecord]
        const final = installRecord({ website, resolution: 'unmatched', receivedAtMs: SAMPLE_MS + 4 })
        await store(facts(), [open, matched, not, final])
        const decision = decisionRecord(matched)
        const again = decisionRecord(matched, { decidedAtMs: decision.decidedAtMs + 1 })
        const unmatched = { resolution: 'unmatched', visitId: null, visitIssuedAtMs: null, candidateCount: 0 } as const
        // What was never pending is not decided again.
        const decisions = [decision, again, decisionRecord(not, unmatched), decisionRecord(final)]
        await store(facts(), decisions)
        const idOf = (record: InstallRecord): string => record.install.eventId
        const expected = {
          [idOf(open)]: 'pending',
          [idOf(matched)]: 'matched',
          [idOf(not)]: 'unmatched',
          [idOf(final)]: 'unmatched',
        }
        const key = { organization: 'acme', website, event_id: idOf(matched) }
        const [row] = await facts().run('installByEvent', key)
        expect(row).to.include({ resolution: 'matched', visit_id: decision.visitId, candidate_count: 1 })
        expect(JSON.parse(row?.answer ?? '')).to.deep.equal(decision.answer)
        const [other] = await facts().run('installByEvent', { organization: 'acme', website, event_id: idOf(not) })
        expect([row?.reason, other?.reason]).to.deep.equal(['', 'no_receipt'])
        const [byId] = await facts().run('installsByEventId', { event_id: idOf(matched) })
        expect(byId).to.deep.equal(row)
        const from = {
          since_ms: SAMPLE_MS - 1,
          limit: 100,
          after_organization: 'acme',
          after_website: website,
          after_event_id: '',
        }
        const paged = (await facts().run('installsAfter', from)).filter((each) => each.website === website)
        const listed = await newestInstalls(facts(), { ...AROUND, website })
        for (const rows of [paged, listed]) {
          expect(Object.fromEntries(rows.map((each) => [each.event_id, each.resolution]))).to.deep.equal(expected)
        }
        for (const resolution of ['pending', 'matched', 'unmatched', 'counted']) {
          const rows = await newestInstalls(facts(), { ...AROUND, website, resolution })
          const ids = Object.keys(expected).filter((id) => expected[id] === resolution)
          expect(rows.map((each) => each.event_id)).to.have.members(ids)
        }
        const asked = {
          organizations: ['acme', 'acme'],
          websites: [website, website],
          event_ids: [idOf(open), idOf(matched)],
        }
        const told = await facts().run('decisionsByEvents', asked)
        expect(told.map((each) => [each.event_id, each.visit_id])).to.deep.equal([[idOf(matched), decision.visitId]])
      })

      it('show a pending install by the decision about its first record, whatever was decided before', async () => {
        const shared = { website: unique('site'), eventId: unique('event'), resolution: 'pending' } as const
        const first = installRecord({ ...shared, receivedAtMs: SAMPLE_MS })
        const later = installRecord({ ...shared, receivedAtMs: SAMPLE_MS + 1 })
        const shown = async () => {
          const [row] = await facts().run('installByEvent', {
            organization: 'acme',
            website: shared.website,
            event_id: shared.eventId,
          })
          const lists = await Promise.all(
            ['pending', 'matched'].map((resolution) =>
              newestInstalls(facts(), { ...AROUND, website: shared.website, resolution }),
            ),
          )
          return [row?.resolution, row?.visit_id, lists.map((rows) => rows.length)]
        }
        const decision = decisionRecord(first, { decidedAtMs: SAMPLE_MS + 9_000 })
        const hasty = decisionRecord(later)
        await store(facts(), [later, hasty], 1)
        expect(await shown()).to.deep.equal(['matched', hasty.visitId, [0, 1]])
        await store(facts(), [first], 2)
        expect(await shown()).to.deep.equal(['pending', '', [1, 0]])
        await store(facts(), [decision], 9_000)
        expect(await shown()).to.deep.equal(['matched', decision.visitId, [0, 1]])
        await store(facts(), [hasty], 1)
        expect(await shown()).to.deep.equal(['matched', decision.visitId, [0, 1]])
      })

      it('keep the organisations apart that had a website, whatever IDs their facts share', async () => {
        const website = unique('site')
        const ids = { visitId: visitId(), eventId: unique('event'), installationId: unique('installation') }
        const visitIssuedAtMs = SAMPLE_MS
        const of = (organization: string, page: string): readonly LogRecord[] => {
          const owned = { organization, website }
          const matched = { resolution: 'matched', visitId: ids.visitId, visitIssuedAtMs } as const
          const install = installRecord({ ...owned, ...ids, ...matched, arch: page })
          return [
            visitRecord({ ...owned, visitId: ids.visitId, urlId: page }),
            activationRecord({ ...owned, visitId: ids.visitId }),
            handoffRecord({ ...owned, visitId: ids.visitId }),
            install,
            deliveryRecord({ ...owned, eventId: ids.eventId, destination: page, attempt: attempt() }),
          ]
        }
        await storeCounted(facts(), [...of('acme', 'former'), ...of('team/acme@t', 'present')], Date.now)
        for (const [organization, page] of [
          ['acme', 'former'],
          ['team/acme@t', 'present'],
          ['nobody', undefined],
        ] as const) {
          const owned = { organization, website }
          const several = { organizations: [organization], websites: [website] }
          const event = { ...owned, event_id: ids.eventId }
          const visits = { ...several, visit_ids: [ids.visitId] }
          const events = { ...several, event_ids: [ids.eventId] }
          const installations = { ...several, installation_ids: [ids.installationId], since_ms: 0 }
          const one = page === undefined ? [] : [page]
          expect((await facts().run('visitsByIds', visits)).map((row) => row.url_id)).to.deep.equal(one)
          expect((await facts().run('installByEvent', event)).map((row) => row.arch)).to.deep.equal(one)
          expect((await facts().run('deliveriesOfInstall', event)).map((row) => row.destination)).to.deep.equal(one)
          expect((await facts().run('dispatchedJobs', events)).map((row) => row.destination)).to.deep.equal(one)
          const counted = await Promise.all([
            facts().run('previousVisits', visits),
            facts().run('receiptFacts', { ...owned, visit_ids: [ids.visitId] }),
            facts().run('receiptHistory', visits),
            facts().run('handoffsOfVisits', visits),
            facts().run('settledInstall', event),
            facts().run('firstInstalls', events),
            facts().run('attemptsOfInstall', event),
            facts().run('installationVisits', installations),
            facts().run('installationMatches', { ...installations, at_ms: [SAMPLE_MS + 1], margin_ms: 10_000 }),
          ])
          expect(counted.map((rows) => rows.length)).to.deep.equal(counted.map(() => one.length))
          const [{ installations: machines = 0 } = {}] = await facts().run('installationsOfVisit', {
            ...owned,
            visit_id: ids.visitId,
            since_ms: 0,
          })
          expect(machines).to.equal(one.length)
          const named = await facts().countNamed([erasedName(owned, ids.visitId)])
          expect([named.visits, named.installs]).to.deep.equal([one.length, one.length])
        }
        const owners = await facts().run('ownersOfWebsite', { website })
        expect(owners.map(({ organization }) => organization)).to.deep.equal(['acme', 'team/acme@t'])
        const traffic = await facts().run('traffic', { since_ms: SAMPLE_MS, until_ms: SAMPLE_MS + 10_000 })
        const own = traffic.filter((row) => row.website === website)
        expect(own.map(({ visits, installs }) => [visits, installs])).to.deep.equal([
          [1, 1],
          [1, 1],
        ])
        await facts().erase([erasedName({ organization: 'acme', website }, ids.visitId)])
        const left = { organizations: ['acme', 'team/acme@t'], websites: [website, website] }
        const rows = await facts().run('visitsByIds', { ...left, visit_ids: [ids.visitId, ids.visitId] })
        expect(rows.map((row) => row.organization)).to.deep.equal(['team/acme@t'])
      })

      it('say which record of an event came first', async () => {
        const shared = { website: unique('site'), eventId: unique('event') }
        const first = installRecord({ ...shared, receivedAtMs: SAMPLE_MS })
        await store(facts(), [installRecord({ ...shared, receivedAtMs: SAMPLE_MS + 1 })], 1)
        await store(facts(), [first], 2)
        await store(facts(), [installRecord({ ...shared, receivedAtMs: SAMPLE_MS })], 3)
        const asked = {
          organizations: ['acme', 'acme'],
          websites: [shared.website, shared.website],
          event_ids: [shared.eventId, unique('event')],
        }
        expect(await facts().run('firstInstalls', asked)).to.deep.equal([
          {
            organization: 'acme',
            website: shared.website,
            event_id: shared.eventId,
            received_at_ms: SAMPLE_MS,
            request_id: first.request.id,
            installation_id: first.install.installationId,
            event_type: first.install.eventType,
            visit_id: first.install.visitId ?? '',
            answer: JSON.stringify(first.install.answer),
          },
        ])
      })

      it('say which events have been dispatched', async () => {
        const website = unique('site')
        const done = unique('event')
        const open = unique('event')
        await store(facts(), [
          deliveryRecord({ website, eventId: done, destination: 'a', installReceivedAtMs: SAMPLE_MS - 1 }),
          deliveryRecord({ website, eventId: done, destination: 'b', status: 'skipped' }),
        ])
        const rows = await facts().run('dispatchedJobs', {
          organizations: ['acme', 'acme'],
          websites: [website, website],
          event_ids: [done, open],
        })
        const told = rows.map((row) => [row.event_id, row.destination, row.status, row.install_received_at_ms])
        expect(told).to.have.deep.members([
          [done, 'a', 'pending', SAMPLE_MS - 1],
          [done, 'b', 'skipped', SAMPLE_MS],
        ])
      })

      it('return the attempts of an install in their order', async () => {
        const shared = { website: unique('site'), eventId: unique('event') }
        await store(facts(), [
          deliveryRecord({
            ...shared,
            status: 'delivered',
            attempt: attempt({ number: 2, startedAtMs: SAMPLE_MS + 9_000 }),
          }),
          deliveryRecord({ ...shared, status: 'retrying', attempt: attempt({ number: 1, outcome: 'retry' }) }),
        ])
        const rows = await facts().run('attemptsOfInstall', {
          organization: 'acme',
          website: shared.website,
          event_id: shared.eventId,
        })
        expect(rows.map((row) => [row.number, row.outcome])).to.deep.equal([
          [1, 'retry'],
          [2, 'delivered'],
        ])
      })

      it('list logs newest first, by any filter, page by page', async () => {
        const website = unique('site')
        const organization = unique('organization')
        const logs = Array.from({ length: 7 }, (_, index) =>
          requestRecord({
            website,
            organization,
            receivedAtMs: SAMPLE_MS + Math.floor(index / 2),
            status: index % 2 === 0 ? 200 : 429,
            code: index % 2 === 0 ? '' : 'rate_limited',
          }),
        )
        await store(facts(), logs)
        const newest = logs.map((record) => record.request.id).reverse()
        const seen: string[] = []
        let cursor: { before_ms: number; before_id: string } | undefined
        for (let page = 0; page < 4; page++) {
          const rows = await facts().run('listLogs', { ...AROUND, organization, limit: 3, ...cursor })
          seen.push(...rows.map((row) => row.id))
          const last = rows.at(-1)
          if (last !== undefined) cursor = { before_ms: last.received_at_ms, before_id: last.id }
        }
        expect(seen).to.deep.equal(newest)
        const limited = await facts().run('listLogs', { ...AROUND, website, status: 429, code: 'rate_limited' })
        expect(limited).to.have.lengthOf(3)
        const none = await facts().run('listLogs', { ...AROUND, website, until_ms: SAMPLE_MS })
        expect(none).to.have.lengthOf(0)
      })

      it('list full pages of logs whose rows were all inserted twice, for any bounds of time', async () => {
        const website = unique('site')
        const logs = Array.from({ length: 5 }, (_, index) =>
          requestRecord({ website, receivedAtMs: SAMPLE_MS + index }),
        )
        await store(facts(), logs)
        await store(facts(), logs)
        const bounds = { since_ms: 0, until_ms: Number.MAX_SAFE_INTEGER }
        const rows = await facts().run('listLogs', { ...bounds, website, limit: 3 })
        expect(rows.map((row) => row.received_at_ms)).to.deep.equal([4, 3, 2].map((ms) => SAMPLE_MS + ms))
        expect(await newestInstalls(facts(), { ...bounds, website, limit: 3 })).to.have.lengthOf(0)
      })

      it('list deliveries by status and destination', async () => {
        const website = unique('site')
        await store(facts(), [
          deliveryRecord({ website, destination: 'a', status: 'failed' }),
          deliveryRecord({ website, destination: 'b', status: 'failed' }),
          deliveryRecord({ website, destination: 'a', status: 'delivered' }),
        ])
        const rows = await facts().run('listDeliveries', { ...AROUND, website, destination: 'a', status: 'failed' })
        expect(rows.map((row) => [row.destination, row.status])).to.deep.equal([['a', 'failed']])
      })

      it('count tracked events of a period anew, each once', async () => {
        const shared = { website: unique('site'), organization: unique('organization') }
        const bot = visitRecord({ ...shared, visitor: { platform: '', kind: 'bot' } })
        const automation = visitRecord({ ...shared, visitor: { platform: '', kind: 'automation' } })
        const records = [visitRecord(shared), automation, bot, installRecord(shared)]
        await store(facts(), records)
        await store(facts(), records)
        const period = { organization: shared.organization, since_ms: SAMPLE_MS, until_ms: SAMPLE_MS + 1 }
        const [inside] = await facts().run('usage', period)
        const [outside] = await facts().run('usage', { ...period, since_ms: SAMPLE_MS + 1, until_ms: SAMPLE_MS + 2 })
        expect(inside).to.deep.equal({ visits: 2, installs: 1 })
        expect(outside).to.deep.equal({ visits: 0, installs: 0 })
        const all = await facts().run('usageOfAll', { since_ms: SAMPLE_MS })
        const ours = all.filter(({ organization }) => organization === shared.organization)
        expect(ours).to.deep.equal([{ organization: shared.organization, events: 3 }])
      })

      it('give the figures of every website at once, each event counted once', async () => {
        const busy = unique('site')
        const quiet = unique('site')
        const records = [
          visitRecord({ website: busy }),
          visitRecord({ website: busy }),
          installRecord({ website: busy, resolution: 'matched' }),
          installRecord({ website: busy, resolution: 'unmatched' }),
          visitRecord({ website: quiet }),
          visitRecord({ website: quiet, visitor: { platform: '', kind: 'bot' } }),
          visitRecord({ website: quiet, visitor: { platform: '', kind: 'ChatGPT-User' } }),
        ]
        await storeCounted(facts(), records, Date.now)
        await storeCounted(facts(), records, Date.now)
        const rows = await facts().run('traffic', { since_ms: SAMPLE_MS, until_ms: SAMPLE_MS + 1 })
        const of = (website: string) => rows.find((row) => row.website === website)
        expect(of(busy)).to.deep.equal({
          organization: 'acme',
          website: busy,
          visits: 2,
          installs: 2,
          matched: 1,
          unmatched: 1,
        })
        expect(of(quiet)).to.deep.equal({
          organization: 'acme',
          website: quiet,
          visits: 1,
          installs: 0,
          matched: 0,
          unmatched: 0,
        })
        const later = await facts().run('traffic', { since_ms: SAMPLE_MS + 1, until_ms: SAMPLE_MS + 2 })
        expect(later.filter(({ website }) => [busy, quiet].includes(website))).to.deep.equal([])
      })

      it('give the latest state of every destination that was ever paused', async () => {
        const website = unique('site')
        const organization = unique('organization')
        const told = (subject: string, type: ActivityType, atMs: number) =>
          activityRecord({ website, organization, subject, type, atMs })
        await store(facts(), [
          told('a', 'destination_paused', SAMPLE_MS),
          told('b', 'destination_paused', SAMPLE_MS),
          told('b', 'destination_resumed', SAMPLE_MS + 5),
          told('visits', 'rate_limit_reached', SAMPLE_MS),
        ])
        const rows = (await facts().run('destinationStates', {})).filter((row) => row.website === website)
        expect(rows).to.have.deep.members([
          { organization, website, destination: 'a', latest_type: 'destination_paused', since_ms: SAMPLE_MS },
          { organization, website, destination: 'b', latest_type: 'destination_resumed', since_ms: SAMPLE_MS + 5 },
        ])
      })

      it('give what happened about one subject in every organisation, newest first and each entry once', async () => {
        const subject = unique('person')
        const type = 'support_requested'
        const first = unique('organization')
        const second = unique('organization')
        const told = (organization: string, atMs: number, changes = {}) =>
          activityRecord({ organization, subject, type, atMs, ...changes })
        const entries = [told(first, SAMPLE_MS), told(second, SAMPLE_MS + 5), told(first, SAMPLE_MS - 1)]
        const others = [told(first, SAMPLE_MS, { subject: 'else' }), told(first, SAMPLE_MS, { type: 'quota_reached' })]
        await store(facts(), [...entries, ...others])
        await store(facts(), entries)
        const rows = await facts().run('activityAbout', { subject, type, since_ms: SAMPLE_MS })
        expect(rows.map(({ organization, noticed_at_ms: at }) => [organization, at])).to.deep.equal([
          [second, SAMPLE_MS + 5],
          [first, SAMPLE_MS],
        ])
      })

      it('keep the parameters of queries apart that run at the same moment, and beside inserts', async () => {
        const website = unique('site')
        const visits = Array.from({ length: 20 }, () => visitRecord({ website }))
        await store(facts(), visits)
        const answers = await Promise.all([
          ...visits.map(async ({ visit }) => {
            const rows = await facts().run('visitsByIds', keysOf([visit]))
            return rows.map((row) => row.visit_id).join() === visit.visitId
          }),
          store(
            facts(),
            Array.from({ length: 50 }, () => requestRecord({ website })),
          ).then(() => true),
        ])
        expect(answers).to.deep.equal(answers.map(() => true))
      })
    })

    it('says that it is reachable and when it last inserted', async () => {
      await store(facts(), [activityRecord()])
      const health = facts().health()
      expect(health.isReachable).to.equal(true)
      expect(health.lastInsertAtMs).to.be.a('number')
    })
  })
}

function keysOf(visits: readonly { readonly website: string; readonly visitId: string }[]) {
  return {
    organizations: visits.map((visit) => visit.website).map(() => 'acme'),
    websites: visits.map((visit) => visit.website),
    visit_ids: visits.map((visit) => visit.visitId),
  }
}

async function counts(facts: Facts): Promise<Readonly<Record<string, number>>> {
  const [row] = await facts.run('counts', {})
  return { ...row }
}

function difference(after: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>) {
  return Object.fromEntries(Object.entries(after).map(([table, count]) => [table, count - (before[table] ?? 0)]))
}

function permutations<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length <= 1) return [items]
  return items.flatMap((item, index) =>
    permutations(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]),
  )
}

/** Everything an error could show in a log line. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return [error.name, error.message, error.stack, JSON.stringify(error), textOf(error.cause ?? '')].join('\n')
}
