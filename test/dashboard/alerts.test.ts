/** Alerts as people get them: by the dashboard's API, and by mail if there is a mail server. */

import { expect } from 'chai'

import { startAlertLetters } from '../../delivery/mail/alert-letters.ts'
import { toldOfAlerts } from '../../dashboard/people/alert-letter.ts'
import { createOutbox } from '../../dashboard/mail/outbox.ts'
import type { AlertRecord } from '../../domain/alerts/alert.ts'
import { encodeRecord, recordKey } from '../../domain/records.ts'
import { until } from '../../fixtures/until.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { createRandomness } from '../../runtime/random.ts'
import { alertRecord, rowsOf } from '../contract/fact-samples.ts'
import { deleteFolder, temporaryFolder } from '../contract/lmdb-harness.ts'
import { organizationOf, startStage, type Stage } from './support/stage.ts'

const OWNER = 'owner@acme.dev'
const ADMIN = 'admin@acme.dev'
const VIEWER = 'viewer@acme.dev'
const GROUP = `apiVersion: whence.dev/v1alpha1
kind: Member
metadata: { name: by-group }
spec: { organizationRef: { name: acme }, group: acme-platform, role: Admin }
`

describe('alerts for people', () => {
  let stage: Stage
  let folder: string
  let facts: Facts
  let letters: { close(): Promise<void> }
  before(async () => {
    folder = await temporaryFolder()
    const connection = await openChdb(folder)
    await migrate(connection)
    facts = clickhouseFacts(connection, { nowMs: Date.now })
    const members = { [OWNER]: 'Owner', [ADMIN]: 'Admin', [VIEWER]: 'Viewer' } as const
    const other = organizationOf('other', { members: { [VIEWER]: 'Owner' } })
    const manifests = [organizationOf('acme', { plan: 'Standard', members }), GROUP, other].join('---\n')
    stage = await startStage({ manifests, facts })
    const { eventLog, nowMs, directory } = stage
    letters = await startAlertLetters({
      eventLog,
      recipients: (organization) => toldOfAlerts(directory, organization),
      put: createOutbox({ eventLog, nowMs, randomness: createRandomness() }).put,
      telemetry: { logger: SILENT_LOGGER },
      nowMs,
    })
  })
  after(async () => {
    await letters?.close()
    await stage?.stop()
    await facts?.close()
    await deleteFolder(folder)
  })

  const store = async (...records: readonly AlertRecord[]): Promise<void> => {
    for (const [table, rows] of rowsOf(records)) await facts.insert(table, rows)
  }
  const append = (...records: readonly AlertRecord[]) =>
    stage.eventLog.append(
      'alerts',
      records.map((record) => ({ key: recordKey(record, record.id), value: encodeRecord(record) })),
    )

  it('shows what is open and what was, of the organisation alone, each once', async () => {
    const atMs = stage.nowMs()
    const opened = alertRecord({ organization: 'acme', atMs: atMs - 60_000 })
    const past = alertRecord({ organization: 'acme', rule: 'NothingArrives', of: 'copies', atMs: atMs - 90_000 })
    await store(opened, opened, past, { ...past, state: 'closed', end: 'usual', atMs })
    await store(alertRecord({ organization: 'other' }))
    const cookies = await stage.signIn(VIEWER)
    const told = await stage.ask('GET', '/api/organizations/acme/alerts', { cookies })
    expect(told.status).to.equal(200)
    const { open, past: before } = told.body as { readonly open: readonly object[]; readonly past: readonly object[] }
    expect(open).to.have.length(1)
    expect(open[0]).to.include({
      id: opened.id,
      title: 'Fewer installs than usual',
      closedAt: null,
      openedAt: opened.atMs,
    })
    expect(before).to.have.length(1)
    expect(before[0]).to.include({ id: past.id, end: 'usual', of: 'copies', closedAt: atMs })
  })

  it('mails each Owner and Admin who is a person once, however often a record is on the log', async () => {
    const alert = alertRecord({ organization: 'acme', atMs: stage.nowMs() })
    await append(alert, alert)
    await until(() => stage.mails.length >= 2)
    await append({ ...alert, state: 'closed', end: 'usual' })
    await until(() => stage.mails.length >= 4)
    await stage.mailSent()
    const subjects = stage.mails.map((mail) => {
      return `${/^To: (.*)$/m.exec(mail)?.[1]?.trim() ?? ''} ${/^Subject: (.*)$/m.exec(mail)?.[1]?.trim() ?? ''}`
    })
    expect(subjects.toSorted()).to.deep.equal([
      `${ADMIN} Fewer installs than usual (acme Ltd)`,
      `${ADMIN} No longer: Fewer installs than usual (acme Ltd)`,
      `${OWNER} Fewer installs than usual (acme Ltd)`,
      `${OWNER} No longer: Fewer installs than usual (acme Ltd)`,
    ])
    expect(stage.mails[0]).to.include('/app/acme/alerts').and.to.include('12 installs on 27 November 2026')
  })
})
