/** Receipts, tokens and client addresses are in no store, no diagnostic and no metric, however they were hidden. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { RECORD_TOPICS, TIER_NAMES } from '../../domain/records.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import { FACT_TABLES } from '../../ports/facts/columns.ts'
import { startApi, type Api } from './support/api.ts'
import {
  escapeAll,
  filesBelow,
  findCanaries,
  floodAndForward,
  percentAll,
  runEverything,
  type Canaries,
} from './support/canaries.ts'

describe('privacy', () => {
  let folder: string
  let api: Api | null = null
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-privacy-'))
  })
  after(async () => {
    await api?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it('is kept in every store after all kinds of requests', async () => {
    api = await startApi({ folder })
    const canaries: Canaries = { secrets: new Set(), addresses: new Set() }
    for (let round = 0; round < 3; round++) await runEverything(api, canaries, round)
    await floodAndForward(api, canaries)
    await api.service.drain()
    const stores = await liveStores(api)
    await api.stop()
    api = null
    for (const [name, text] of await storedTables(folder)) stores.set(name, text)
    for (const [name, text] of await filesBelow(folder)) stores.set(name, text)

    expect(JSON.parse(stores.get('topic requests')!).length).to.be.above(300)
    expect(JSON.parse(stores.get('table request_logs')!).length).to.be.above(300)
    expect([...stores.keys()].some((name) => name.includes('lmdb'))).to.equal(true)
    expect(canaries.secrets.size).to.be.above(20)
    expect(canaries.addresses.size).to.be.above(300)
    expect([...stores].flatMap(([name, text]) => findCanaries(name, text, canaries))).to.deep.equal([])
  }).timeout(120_000)

  it('is not shown merely by a search that finds nothing at all', () => {
    const secret = 'BAGh_VmtMwECAwQFj4j0QjjJ6sKaO8q8iMokrtNzkQ8'
    const canaries: Canaries = { secrets: new Set([secret]), addresses: new Set(['203.0.113.7']) }
    const hidden = [
      secret,
      escapeAll(secret),
      percentAll(secret),
      JSON.stringify(escapeAll(secret)),
      Buffer.from(`{"x":"${secret}"}`).toString('base64'),
      String(Buffer.from(secret, 'utf16le').toString('latin1')),
      'x 203.0.113.7,',
    ]
    for (const text of hidden) expect(findCanaries('', text, canaries), text).to.not.deep.equal([])
    expect(findCanaries('', '1203.0.113.7 203.0.113.77', canaries)).to.deep.equal([])
  })
})

async function liveStores({ service, get }: Api): Promise<Map<string, string>> {
  const stores = new Map([
    ['metrics', await (await fetch(service.metricsUrl)).text()],
    ['health', (await get('/health')).text],
    ['diagnostics', service.logLines.join('\n')],
    ['what GA4 was sent', JSON.stringify(service.ga4.requests())],
  ])
  const tiers = TIER_NAMES.map((tier) => `deliver.ga4.${tier}` as const)
  for (const topic of [...RECORD_TOPICS, 'deliver.ga4', 'dead-letters', ...tiers] as const) {
    stores.set(`topic ${topic}`, JSON.stringify(await service.eventLog.read(topic, 0, 100_000)))
  }
  return stores
}

/** Tables are compressed on disk, so they are also read, and not only searched as files. */
async function storedTables(folder: string): Promise<Map<string, string>> {
  const connection = await openChdb(join(folder, 'data', 'chdb'))
  try {
    const stores = new Map<string, string>()
    for (const table of FACT_TABLES) {
      const rows = await connection.query(`SELECT * FROM ${table}`, {}, { turn: 'report' })
      stores.set(`table ${table}`, JSON.stringify(rows))
    }
    return stores
  } finally {
    await connection.close()
  }
}
