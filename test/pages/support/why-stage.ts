/** The facts of the pages that answer why, in an engine of their own, counted by hour as the service does. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createHourMarks } from '../../../delivery/counting/hour-marks.ts'
import { createProgressStore } from '../../../delivery/streams/progress-store.ts'
import { rollUp } from '../../../delivery/rollup/rollup.ts'
import type { LogRecord } from '../../../domain/records.ts'
import { newProgress } from '../../../domain/streams/progress.ts'
import { clickhouseFacts } from '../../../ports/facts/clickhouse.ts'
import { openChdb } from '../../../ports/facts/engine/connect-chdb.ts'
import type { FactRow, Facts } from '../../../ports/facts/facts.ts'
import { migrate } from '../../../ports/facts/migrate.ts'
import { rowsOf, webhookAttemptRecord } from '../../contract/fact-samples.ts'
import { DAY_MS } from '../../../domain/durations.ts'
import { organizationOf, shareLinkOf, specTime } from '../../dashboard/support/stage.ts'
import { countStored } from '../../support/counted.ts'
import { HOSTILE, HOSTILE_NAME } from './why-facts.ts'

const website = (id: string, displayName: string): string => `---
apiVersion: whence.dev/v1alpha1
kind: Website
metadata: { name: ${id} }
spec: { organizationRef: { name: acme }, displayName: ${displayName}, primaryOrigin: 'https://${id}.example', providers: [ga4] }
`
const DESTINATION = `---
apiVersion: v1
kind: Secret
metadata: { name: acme-ga4 }
stringData: { api-secret: made-up }
---
apiVersion: whence.dev/v1alpha1
kind: Destination
metadata: { name: acme-ga4 }
spec: { websiteRef: { name: acme-docs }, displayName: ${JSON.stringify(`Analytics ${HOSTILE_NAME}`)}, provider: ga4, ga4: { measurementId: G-ABC1234567, apiSecretRef: { name: acme-ga4, key: api-secret } } }
`
const STREAM = `---
apiVersion: v1
kind: Secret
metadata: { name: archive }
stringData: { secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw }
---
apiVersion: whence.dev/v1alpha1
kind: LogStream
metadata: { name: archive }
spec: { organizationRef: { name: acme }, displayName: Archive, webhook: { url: 'https://archive.example/logs', secretRef: { name: archive, key: secret } } }
---
apiVersion: whence.dev/v1alpha1
kind: Webhook
metadata: { name: news }
spec: { organizationRef: { name: acme }, displayName: ${JSON.stringify(`News ${HOSTILE_NAME}`)}, url: 'https://news.example/hook', secretRef: { name: archive, key: secret }, events: [install.matched, delivery.failed] }
`
const MEMBERS = { 'owner@acme.dev': 'Owner', 'viewer@acme.dev': 'Viewer' }

/** The Overview of one of them, under a filter. */
export const WHY_LINK = shareLinkOf('board', {
  website: 'acme-docs',
  expiresAt: specTime(Date.now() + 30 * DAY_MS),
  more: `displayName: ${JSON.stringify(`For the board ${HOSTILE_NAME}`)}, period: Last28Days, filters: [{ field: source, isNot: [google], contains: ['<'] }]`,
})

/** Two websites of one organisation, one of them with a destination; a log stream and a webhook. */
export const WHY_MANIFESTS = [
  organizationOf('acme', { members: MEMBERS }).replace('acme Ltd', JSON.stringify(`Acme ${HOSTILE_NAME}`)),
  website('acme-docs', 'Documentation'),
  website('acme-blog', JSON.stringify(`Blog ${HOSTILE_NAME}`)),
  DESTINATION,
  STREAM,
  WHY_LINK.text,
].join('')

export interface WhyFacts {
  readonly facts: Facts
  readonly close: () => Promise<void>
}

const GAP = { reason: 'overflow', dropped: 7 } as const

/** A stream that is behind: what its receiver answers, and what was left out. */
async function keepProgress(facts: Facts, nowMs: number): Promise<void> {
  const sent = { id: 'batch-1', kind: 'batch', atMs: nowMs - 60_000, records: 3, bytes: 90, tookMs: 12 } as const
  const progress = {
    ...newProgress({}, nowMs),
    failures: 3,
    failingSinceMs: nowMs - 3_600_000,
    retryAtMs: nowMs + 60_000,
    lastError: 'http_503',
    delivered: 1_840,
    dropped: 7,
    told: [{ ...GAP, fromMs: nowMs - 9e6, toMs: nowMs - 8e6, atMs: nowMs - 7e6 }],
    sent: [{ ...sent, status: 503, error: 'http_503', answer: `Down for maintenance ${HOSTILE}` }],
  }
  const key = { organization: 'acme', stream: 'default/archive' }
  const store = createProgressStore({ facts, key, leasedAtMs: nowMs, nowMs: Date.now })
  await store.save(progress, { state: 'Failing', behind: 12, oldestMs: nowMs - 3_600_000 })
}

/** What a webhook's receiver took, and what was given up. */
function webhookAttempts(nowMs: number): readonly LogRecord[] {
  const of = { organization: 'acme', website: 'acme-docs', webhook: 'default/news', happenedAtMs: nowMs - 600_000 }
  const taken = { state: 'delivered', status: 204, error: '', answer: '' } as const
  return [
    webhookAttemptRecord({ ...of, ...taken, startedAtMs: nowMs - 300_000 }),
    webhookAttemptRecord({ ...of, startedAtMs: nowMs - 599_000, answer: `No room ${HOSTILE}` }),
  ]
}

export async function openWhyFacts(records: readonly LogRecord[], nowMs: number): Promise<WhyFacts> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-why-'))
  const connection = await openChdb(folder)
  await migrate(connection)
  const facts = clickhouseFacts(connection, { nowMs: Date.now })
  const marks = createHourMarks('test', Date.now)
  const hours = marks.collect()
  for (const [table, rows] of rowsOf([...records, ...webhookAttempts(nowMs)])) {
    await facts.insert(table, rows)
    for (const row of rows) if (isRecent(row, nowMs)) hours.note(table, row)
  }
  await facts.insert('hour_marks', hours.rows())
  await countStored(facts, records, marks)
  await keepProgress(facts, nowMs)
  await rollUp({ facts, nowMs: Date.now })
  return {
    facts,
    async close() {
      await facts.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Hours that a page can show; the rest need not be counted. */
function isRecent(row: FactRow, nowMs: number): boolean {
  const at = row['issued_at'] ?? row['received_at']
  return typeof at === 'number' && at > nowMs - 14 * 86_400_000 && at < nowMs - 7_200_000
}
