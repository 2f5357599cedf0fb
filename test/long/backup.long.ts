/** A backup under 500 requests a second, restored into an empty folder. Prints the row of docs/evidence.md. */

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { startChild, type ServiceChild } from '../crash/service.child.ts'
import { LOAD_MANIFESTS, LOAD_ORIGIN, LOAD_WEBSITES } from '../crash/service.manifests.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { startProgram } from '../../fixtures/service/programs.ts'
import { visitBody } from '../../fixtures/service/requests.ts'
import { startTestService } from '../../fixtures/service/service.ts'

const PER_SECOND = 500
/** What counts as 500 a second: the first connections and the last answers take a moment of the time that is counted. */
const LEAST_PER_SECOND = 0.98 * PER_SECOND
const STEP_MS = 20
const BEFORE_MS = 30_000
const AFTER_MS = 5_000
const PAGE_ROWS = 10_000

interface Answered {
  readonly tag: string
  readonly atMs: number
}

describe('a backup under load', () => {
  let folder: string
  let child: ServiceChild | null = null
  const data = (name: string): string => join(folder, name, 'data')

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-backup-'))
    for (const name of ['old', 'new']) {
      await mkdir(join(folder, name, 'manifests'), { recursive: true })
      await writeFile(join(folder, name, 'manifests/load.yaml'), LOAD_MANIFESTS)
    }
  })
  after(async () => {
    child?.kill('SIGKILL')
    await child?.ended
    await rm(folder, { recursive: true, force: true })
  })

  const whence = async (...words: string[]): Promise<string> => {
    const program = startProgram(words, { env: {}, isHeard: true })
    const code = await program.ended
    if (code !== 0) throw new Error(program.stderr())
    return program.stdout()
  }

  it('holds every record answered before it began, once, and collection goes on', async () => {
    child = startChild({ folder: join(folder, 'old'), port: await freePort(), ga4Url: 'http://127.0.0.1:9' })
    await child.ready
    const load = startLoad(child.url)
    await wait(BEFORE_MS)
    const startedAtMs = Date.now()
    await whence('backup', join(folder, 'backup'), '--data', data('old'))
    const tookMs = Date.now() - startedAtMs
    await wait(AFTER_MS)
    await load.stop()
    child.kill('SIGTERM')
    expect(await child.ended).to.deep.equal({ status: 0, signal: null })
    const perSecond = {
      before: rateOf(load.answered, load.beganAtMs, startedAtMs),
      during: rateOf(load.answered, startedAtMs, startedAtMs + tookMs),
    }
    expect(load.refused()).to.equal(0)
    expect(perSecond.before).to.be.at.least(LEAST_PER_SECOND)
    expect(perSecond.during).to.be.at.least(LEAST_PER_SECOND)

    await whence('restore', join(folder, 'backup'), '--data', data('new'))
    const service = await startTestService({ folder: join(folder, 'new'), manifests: {} })
    try {
      await service.drain('facts-writer')
      const counts = new Map<string, number>()
      const ids = new Set<string>()
      let rows = 0
      for (let page = {}; ;) {
        const found = await service.facts.run('listLogs', {
          since_ms: 0,
          until_ms: Date.now() * 2,
          limit: PAGE_ROWS,
          ...page,
        })
        for (const { id, user_agent: tag } of found) {
          ids.add(id)
          counts.set(tag, (counts.get(tag) ?? 0) + 1)
        }
        rows += found.length
        const last = found.at(-1)
        if (last === undefined || found.length < PAGE_ROWS) break
        page = { before_ms: last.received_at_ms, before_id: last.id }
      }
      const manifest = await readFile(join(folder, 'backup/whence-backup.json'), 'utf8')
      const beganAtMs = Date.parse((JSON.parse(manifest) as { beganAt: string }).beganAt)
      const before = load.answered.filter(({ atMs }) => atMs < beganAtMs)
      expect(before.filter(({ tag }) => counts.get(tag) !== 1).map(({ tag }) => tag)).to.deep.equal([])
      expect(ids.size).to.equal(rows)
      expect(
        await visit(new Agent(), service.url, { tag: 'after', website: LOAD_WEBSITES[0] ?? '', number: 1 }),
      ).to.equal(200)
      console.log(
        `${perSecond.before.toFixed(0)}/s answered before the backup, ${perSecond.during.toFixed(0)}/s in its ${(tookMs / 1_000).toFixed(1)} s, none refused; ` +
          `${before.length} answered before it began, all restored, each once; ${rows} request logs in the restored folder`,
      )
    } finally {
      await service.stop()
    }
  })
})

/** Answers a second within a time. */
function rateOf(answered: readonly Answered[], fromMs: number, untilMs: number): number {
  const within = answered.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs)
  return (within.length * 1_000) / (untilMs - fromMs)
}

/** At a steady pace, however long answers take. */
function startLoad(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const answered: Answered[] = []
  const open = new Set<Promise<void>>()
  let number = 0
  let refused = 0
  const beganAtMs = Date.now()
  const one = async (): Promise<void> => {
    const tag = `load/${(number += 1)}`
    const website = LOAD_WEBSITES[number % LOAD_WEBSITES.length] ?? ''
    if ((await visit(agent, url, { tag, website, number })) === 200) answered.push({ tag, atMs: Date.now() })
    else refused += 1
  }
  const timer = setInterval(() => {
    const due = ((Date.now() - beganAtMs) / 1_000) * PER_SECOND
    while (number < due) {
      const sent = one().finally(() => open.delete(sent))
      open.add(sent)
    }
  }, STEP_MS)
  return {
    answered,
    beganAtMs,
    refused: () => refused,
    stop: async () => {
      clearInterval(timer)
      await Promise.all(open)
      agent.destroy()
    },
  }
}

interface Sent {
  readonly tag: string
  readonly website: string
  readonly number: number
}

function visit(agent: Agent, url: string, { tag, website, number }: Sent): Promise<number> {
  const body = JSON.stringify(visitBody({ project: website, page_url: `${LOAD_ORIGIN}/install` }))
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Origin: LOAD_ORIGIN,
    'User-Agent': tag,
    'X-Forwarded-For': `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`,
  }
  return new Promise((resolve) => {
    const req = request(`${url}/v1/visits`, { agent, method: 'POST', headers }, (res) => {
      res.resume().on('end', () => resolve(res.statusCode ?? 0))
    })
    req.on('error', () => resolve(0))
    req.end(body)
  })
}
