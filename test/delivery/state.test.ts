/** The role `state` and `rebuildState` on a real Redis: what it lost comes back from the log and from the facts. */

import { expect } from 'chai'

import { rebuildState } from '../../delivery/recovery/rebuild-state.ts'
import { startState } from '../../delivery/state/state.ts'
import { monthOf } from '../../domain/collection/rate.ts'
import { encodeRecord, type ActivationRecord } from '../../domain/records.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import type { HotState, ReceiptRef } from '../../ports/hot-state/hot-state.ts'
import { redisHotState } from '../../ports/hot-state/redis/redis.ts'
import { createLogger } from '../../runtime/logger.ts'
import { deleteFolder, openTestEnvironment, temporaryFolder } from '../contract/lmdb-harness.ts'
import { hasRedisServer, startRedis, type RedisServer } from '../../fixtures/engines/redis.ts'
import { until } from '../../fixtures/until.ts'

const logger = createLogger({ program: 'test', level: 'silent', format: 'json' })
const MINUTE_MS = 60_000

describe('a hot state that was lost', function () {
  this.timeout(60_000)
  let redis: RedisServer
  let hotState: HotState
  let onLost: () => void = () => undefined

  before(async function () {
    if (!hasRedisServer()) this.skip()
    redis = await startRedis()
  })
  after(() => redis?.stop())
  beforeEach(async () => {
    redis.cli('FLUSHALL')
    const onNewRun = (_: string, before: string | null): void => (before === null ? undefined : onLost())
    hotState = await redisHotState(redis.url, {
      whenAway: 'reject',
      times: { probeEveryMs: 50, deadlineMs: 5_000 },
      news: { onNewRun },
    })
  })
  afterEach(async () => {
    onLost = () => undefined
    await hotState.close()
  })

  it('learns from the log again what the last ten minutes activated, once it is seen to be empty', async () => {
    const folder = await temporaryFolder()
    let now = Date.now()
    const environment = await openTestEnvironment(folder, () => now)
    const eventLog = await lmdbEventLog(environment, { keeping: { trimEveryMs: Infinity } })
    const role = await startState({
      eventLog,
      hotState,
      facts: { run: async () => [] },
      telemetry: { logger },
      nowMs: () => now,
      random: () => 0,
      owner: 'test',
    })
    onLost = () => role.storeLost()
    const old = receipt('old', now)
    const recent = receipt('recent', now)
    await eventLog.append('activations', [activation(old)])
    now += 15 * MINUTE_MS
    await eventLog.append('activations', [activation(recent)])
    await until(async () => (await hotState.receiptStates([old, recent])).every((state) => state === 'active'))
    redis.cli('FLUSHALL')
    await until(async () => (await hotState.receiptStates([recent]))[0] === 'active')
    expect(await hotState.receiptStates([old])).to.deep.equal(['unknown'])
    await role.close()
    await eventLog.close()
    await environment.close()
    await deleteFolder(folder)
  })

  it('is filled from the facts page by page, without undoing what is newer', async () => {
    const now = Date.now()
    const active = receipt('active', now)
    const revoked = receipt('revoked', now)
    await hotState.learn({ ...active, previous: null }, 'revoked')
    const claim = { organization: 'acme', website: 'acme', installationId: 'installation', owner: 'somebody' }
    await hotState.claimInstall({ ...claim, eventId: 'event-known' })
    await hotState.settleInstall({
      ...claim,
      eventId: 'event-known',
      answer: '"first"',
      receivedAtMs: 0,
      matched: null,
    })
    const pages: Readonly<Record<string, readonly object[][]>> = {
      activationsAfter: [
        [{ organization: 'acme', website: 'acme', visit_id: active.visitId, effect: 1, issued_at_ms: now }],
        [{ organization: 'acme', website: 'acme', visit_id: revoked.visitId, effect: 2, issued_at_ms: now }],
      ],
      installsAfter: [['event-known', 'event-lost'].map((id) => installRow(id, revoked, now))],
      usageOfAll: [[{ organization: 'acme', events: 7 }]],
    }
    const asked: unknown[] = []
    const run = async (
      query: string,
      params: { after_organization: string; after_website: string },
    ): Promise<readonly object[]> => {
      if (query === 'usageOfAll') return pages[query]?.[0] ?? []
      if (query === 'previousVisits') return []
      asked.push(`${params.after_organization}/${params.after_website}`)
      return pages[query]?.[asked.length - 1 - (query === 'installsAfter' ? 3 : 0)] ?? []
    }
    const told: string[] = []
    const report = await rebuildState({
      facts: { run: run as unknown as Facts['run'] },
      hotState,
      nowMs: () => now,
      onProgress: (what, rows) => told.push(`${what} ${rows}`),
    })
    expect(report).to.deep.equal({ activations: 2, installs: 2, organizations: 1 })
    expect(await hotState.readUsage('acme', monthOf(now))).to.equal(7)
    expect(told).to.deep.equal(['activations 1', 'activations 2', 'installs 2', 'organizations 1'])
    expect(asked).to.deep.equal(['/', 'acme/acme', 'acme/acme', '/', 'acme/acme'])
    expect(await hotState.receiptStates([active, revoked])).to.deep.equal(['revoked', 'revoked'])
    const again = await Promise.all(
      ['event-known', 'event-lost'].map((eventId) => hotState.claimInstall({ ...claim, eventId })),
    )
    expect(again).to.deep.equal([
      { kind: 'settled', answer: '"first"' },
      { kind: 'settled', answer: '"rebuilt"' },
    ])
  })
})

function receipt(name: string, issuedAtMs: number): ReceiptRef {
  return {
    organization: 'acme',
    website: 'acme',
    visitId: `${issuedAtMs.toString(16).padStart(12, '0')}${Buffer.from(name).toString('hex')}`
      .padEnd(32, '0')
      .slice(0, 32),
    issuedAtMs,
  }
}

function activation({ organization, website, visitId, issuedAtMs }: ReceiptRef): { key: string; value: string } {
  const record = {
    v: 1,
    kind: 'activation',
    organization,
    website,
    visitId,
    issuedAtMs,
    activatedAtMs: issuedAtMs,
    revokedVisitId: null,
    revokedIssuedAtMs: null,
  }
  return { key: `${website}/${visitId}`, value: encodeRecord(record as unknown as ActivationRecord) }
}

function installRow(eventId: string, { visitId }: ReceiptRef, issuedAtMs: number): object {
  const visit = { visit_id: visitId, visit_issued_at_ms: issuedAtMs, gpc: false }
  return {
    organization: 'acme',
    website: 'acme',
    event_id: eventId,
    installation_id: 'installation',
    answer: '"rebuilt"',
    received_at_ms: issuedAtMs,
    ...visit,
  }
}
