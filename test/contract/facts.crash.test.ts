/** What a killed process leaves in the fact tables: all that was acknowledged, and after a repeat everything once. */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { expect } from 'chai'

import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import { migrate } from '../../ports/facts/migrate.ts'

const CHILD = fileURLToPath(new URL('./facts-child.ts', import.meta.url))
const ROWS = 500

describe('facts after a crash', function () {
  this.timeout(120_000)
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-crash-'))
  })
  afterEach(async () => {
    await rm(folder, { recursive: true })
  })

  it('hold everything that was acknowledged when the process is killed', async () => {
    const child = await startChild(folder)
    expect(await child.insert(ROWS)).to.equal('inserted')
    expect(await child.insert(ROWS)).to.equal('inserted')
    const third = child.insert(ROWS)
    await child.kill()
    const isThirdThere = (await third) === 'inserted'
    const { visits, logs } = await countAfter(folder)
    expect(visits).to.be.at.least(isThirdThere ? 3 * ROWS : 2 * ROWS)
    expect(logs).to.be.at.least(isThirdThere ? 3 * ROWS : 2 * ROWS)
  })

  for (const table of ['visits', 'request_logs']) {
    it(`hold each row once after a repeat, when the first try was killed as it showed its ${table}`, async () => {
      const first = await startChild(folder)
      if (table === 'request_logs') expect(await first.insert(ROWS, 'visits')).to.equal('inserted')
      const tracer = await killAtRename(first.pid)
      expect(await first.insert(ROWS, table)).to.equal('killed')
      await first.kill()
      await tracer.ended
      const second = await startChild(folder)
      expect(await second.insert(ROWS)).to.equal('inserted')
      await second.kill()
      expect(await countAfter(folder)).to.deep.equal({ visits: ROWS, logs: ROWS })
    })
  }
})

interface Child {
  readonly pid: number
  /** `killed` if the process ended before it acknowledged. */
  insert(rows: number, table?: string): Promise<'inserted' | 'killed'>
  /** Resolves when the process is gone. */
  kill(): Promise<void>
}

async function startChild(folder: string): Promise<Child> {
  const child = spawn(process.execPath, [CHILD, folder], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  child.stdin.on('error', () => undefined)
  const ready = await lines.next()
  if (ready.value !== 'ready') throw new Error('the child did not start')
  return {
    pid: child.pid ?? 0,
    insert: async (rows, table = '') => {
      child.stdin.write(`${rows} ${table}\n`)
      const { done } = await lines.next()
      return done === true ? 'killed' : 'inserted'
    },
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Kills the process in place of its next rename, which is how a part becomes visible. */
async function killAtRename(pid: number): Promise<{ readonly ended: Promise<unknown> }> {
  const inject = 'inject=rename,renameat,renameat2:error=EIO:signal=SIGKILL'
  const tracer: ChildProcess = spawn(
    'strace',
    ['-f', '-p', String(pid), '-e', 'trace=rename,renameat,renameat2', '-e', inject],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const ended = once(tracer, 'exit')
  if (tracer.stderr === null) throw new Error('strace has no output')
  for await (const line of createInterface({ input: tracer.stderr })) {
    if (line.includes('attached')) break
    if (line.includes('Operation not permitted')) throw new Error('strace may not attach to processes here')
  }
  tracer.stderr.resume()
  return { ended }
}

async function countAfter(folder: string): Promise<{ readonly visits: number; readonly logs: number }> {
  const connection = await openChdb(folder)
  await migrate(connection)
  const facts = clickhouseFacts(connection, { nowMs: Date.now })
  const [counts] = await facts.run('counts', {})
  await facts.close()
  return { visits: counts?.visits ?? 0, logs: counts?.request_logs ?? 0 }
}
