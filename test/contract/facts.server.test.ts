/** Facts over HTTP: the contract with the real client, against a stand-in that serves the protocol from chDB. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { expect } from 'chai'

import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openClickHouse } from '../../ports/facts/connect-server.ts'
import { FactsUnavailable } from '../../ports/facts/facts.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { requestRecord, rowsOf } from './fact-samples.ts'
import { factsContract } from './facts.contract.ts'

const FIXTURE = fileURLToPath(new URL('../support/clickhouse-http.ts', import.meta.url))

factsContract('a server over HTTP', async () => {
  const server = await startServer()
  const start = () => clickhouseFacts(openClickHouse(server.url), { nowMs: Date.now })
  const admin = openClickHouse(server.url)
  await migrate(admin)
  let facts = start()
  return {
    get facts() {
      return facts
    },
    reopen: async () => {
      await facts.close()
      facts = start()
    },
    merge: (table) => admin.command(`OPTIMIZE TABLE ${table} FINAL`),
    close: async () => {
      await facts.close()
      await admin.close()
      await server.stop()
    },
  }
})

describe('Facts over HTTP', () => {
  it('are unavailable, and not refused, while nobody answers', async () => {
    const server = await startServer()
    await server.stop()
    const facts = clickhouseFacts(openClickHouse(server.url), { nowMs: Date.now })
    const [table, rows] = [...rowsOf([requestRecord()])][0] ?? []
    if (table === undefined || rows === undefined) throw new Error('no rows')
    const inserted = await facts.insert(table, rows).catch((error: unknown) => error)
    const asked = await facts.run('counts', {}).catch((error: unknown) => error)
    expect([inserted, asked].every((error) => error instanceof FactsUnavailable)).to.equal(true)
    expect(facts.health().isReachable).to.equal(false)
    await facts.close()
  })
})

async function startServer(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-server-'))
  const child = spawn(process.execPath, [FIXTURE, '--data', join(folder, 'data')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const { value: url } = (await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next()) as {
    value: string
  }
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM')
      await exited
      await rm(folder, { recursive: true })
    },
  }
}
