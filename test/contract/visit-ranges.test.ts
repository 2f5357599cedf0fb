/** Ranges of visit IDs: they follow from the layout of receipts, and fail here if that changes. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'

import { issueReceipt, VISIT_ID_PREFIXES } from '../../domain/receipt.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import type { FactsConnection } from '../../ports/facts/engine/connection.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { activationRecord, store, visitRecord } from './fact-samples.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const FROM_MS = Math.floor(Date.now() / HOUR_MS - 30) * HOUR_MS
const SECRETS = ['first', 'second', 'third'].map((name) => `${name}-only-for-tests-only-for-tests-only-for-tests`)

let serial = 0

/** An ID as the service makes it. */
function issued(issuedAtMs: number, secret: number, marks: { isHandoffOnly: boolean; gpc: boolean }): string {
  const keys = createKeyring([SECRETS[secret % SECRETS.length] ?? ''])
  const random = new Uint8Array([0, 0, serial >> 16, serial >> 8, serial++])
  const visit = {
    organization: 'acme',
    website: 'acme',
    origin: 'https://acme.dev',
    issuedAtMs,
    random,
    isUnrecorded: false,
    ...marks,
  }
  const { claims } = issueReceipt(keys, visit)
  return claims.visitId
}

describe('a range of visit IDs', () => {
  let folder: string
  let connection: FactsConnection
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-ranges-'))
    connection = await openChdb(folder)
    await migrate(connection)
  })
  after(async () => {
    await connection?.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('holds every visit that was issued within it, whatever key and marks, and no other', async () => {
    const facts = clickhouseFacts(connection, { nowMs: Date.now })
    const times = [-1, 0, 1, HOUR_MS - 1, HOUR_MS, 2 * HOUR_MS - 1, 2 * HOUR_MS].map((after) => FROM_MS + after)
    const records = times.flatMap((issuedAtMs) =>
      [0, 1, 2, 3, 4, 5].flatMap((which) => {
        const marks = { isHandoffOnly: which % 2 === 1, gpc: which >= 3 }
        const visit = { website: 'acme', visitId: issued(issuedAtMs, which, marks), issuedAtMs }
        return [visitRecord(visit), activationRecord(visit)]
      }),
    )
    await store(facts, records)
    await store(facts, records)
    const period = { since_ms: FROM_MS, until_ms: FROM_MS + 2 * HOUR_MS }
    expect(await facts.run('visitSteps', { organizations: ['acme'], websites: ['none'], ...period })).to.deep.equal([])
    // Visits are found by their time, activations by ranges of IDs.
    expect(
      await facts.run('visitSteps', { organizations: ['acme', 'acme'], websites: ['acme', 'none'], ...period }),
    ).to.deep.equal([
      { at_ms: FROM_MS, counts: [12, 12, 0, 0, 0, 0, 0] },
      { at_ms: FROM_MS + 45 * MINUTE_MS, counts: [6, 6, 0, 0, 0, 0, 0] },
      { at_ms: FROM_MS + HOUR_MS, counts: [6, 6, 0, 0, 0, 0, 0] },
      { at_ms: FROM_MS + HOUR_MS + 45 * MINUTE_MS, counts: [6, 6, 0, 0, 0, 0, 0] },
    ])
  })

  it('begins with each mark that an ID can carry', () => {
    for (const secret of [0, 1, 2]) {
      for (const isHandoffOnly of [false, true]) {
        for (const gpc of [false, true]) {
          expect(VISIT_ID_PREFIXES).to.include(issued(FROM_MS, secret, { isHandoffOnly, gpc }).slice(0, 2))
        }
      }
    }
    expect(new Set(VISIT_ID_PREFIXES).size).to.equal(32)
  })
})
