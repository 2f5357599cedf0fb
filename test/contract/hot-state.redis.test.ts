/** The HotState contract on a real Redis: plain, as a user with the documented rights, and through TLS. */

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'

import type { HotState } from '../../ports/hot-state/hot-state.ts'
import { redisHotState } from '../../ports/hot-state/redis/redis.ts'
import { hasRedisServer, startRedis, type RedisServer } from '../../fixtures/engines/redis.ts'

import type { HotStateHarness } from './hot-state.contract.ts'
import { hotStateContract } from './hot-state.contract.ts'
import { testClock } from './lmdb-harness.ts'
import { sessionContract } from './session.contract.ts'

/** Thousands of calls at once are slow on a busy machine, and that is no failure here. */
const PATIENT = { times: { deadlineMs: 15_000, connectWaitMs: 10_000 } }

describe('HotState on Redis', () => {
  let server: RedisServer

  before(async function () {
    if (!hasRedisServer()) return this.skip()
    server = await startRedis({ settings: [documentedUser()] })
  })
  after(() => server?.stop())

  hotStateContract('Redis', () => openHarness(server, server.url))

  hotStateContract('Redis, as a user with the documented rights', () =>
    openHarness(server, `redis://whence:PASSWORD@127.0.0.1:${server.port}/1`),
  )

  sessionContract('Redis', () => openHarness(server, server.url))

  sessionContract('Redis, as a user with the documented rights', () =>
    openHarness(server, `redis://whence:PASSWORD@127.0.0.1:${server.port}/1`),
  )

  it('asks for what comes together in few calls, and each gets its own answer', async () => {
    const state = await redisHotState(`redis://127.0.0.1:${server.port}/2`, PATIENT)
    const calls = (): number =>
      [...server.cli('info', 'commandstats').matchAll(/^cmdstat_(?:eval|evalsha):calls=(\d+)/gm)].reduce(
        (sum, [, count]) => sum + Number(count),
        0,
      )
    const before = calls()
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, place) => {
        const outcome = await state.addUsage({ organization: `org-${place % 2}`, month: '2026-11', quota: null })
        return outcome.used
      }),
    )
    // 64 at a time, the script sent once more if it was not known, and a probe that may fall in between.
    expect(calls() - before).to.be.within(1, 8)
    const inOrder = Array.from({ length: 200 }, (_, place) => Math.floor(place / 2) + 1)
    expect(answers).to.deep.equal(inOrder)
    await state.close()
  })

  it('is unavailable with a wrong password, and does not show it', async () => {
    const reasons: string[] = []
    const url = `redis://whence:hunter2@127.0.0.1:${server.port}`
    const state = await redisHotState(url, {
      times: { connectWaitMs: 300 },
      news: { onUnreachable: (reason) => reasons.push(reason) },
    })
    expect(state.health()).to.deep.equal({ isReachable: false, isShared: false })
    expect(reasons.join()).to.include('WRONGPASS').and.to.not.include('hunter2')
    await state.close()
  })
})

describe('HotState on Redis through TLS', () => {
  let server: RedisServer
  let folder: string

  before(async function () {
    if (!hasRedisServer()) return this.skip()
    folder = await mkdtemp(join(tmpdir(), 'whence-tls-'))
    makeCertificate(folder)
    server = await startRedis({ isTls: true, settings: tlsSettings(folder), cliArguments: tlsArguments(folder) })
  })
  after(async () => {
    await server?.stop()
    if (folder !== undefined) await rm(folder, { recursive: true })
  })

  it('speaks to a server whose certificate it can check', async () => {
    const state = await redisHotState(
      `rediss://127.0.0.1:${server.port}?ca=${encodeURIComponent(`${folder}/cert.pem`)}`,
      { times: { connectWaitMs: 10_000, deadlineMs: 5_000 } },
    )
    expect(state.health()).to.deep.equal({ isReachable: true, isShared: true })
    await state.countHits([{ key: 'a', limit: 1, windowS: 86_400 }])
    await state.close()
    // Which data these are, when a process was heard, and the count.
    expect(server.cli('dbsize')).to.equal('3')
  })

  it('treats a server whose certificate it cannot check as unavailable', async () => {
    const state = await redisHotState(`rediss://127.0.0.1:${server.port}`, { times: { connectWaitMs: 300 } })
    expect(state.health().isReachable).to.equal(false)
    await state.close()
  })
})

/** The line of docs/redis.md, so that what is documented is what is tried. */
function documentedUser(): string {
  const page = readFileSync(new URL('../../docs/redis.md', import.meta.url), 'utf8')
  const line = /^user whence on .*$/m.exec(page)?.[0]
  if (line === undefined) throw new Error('docs/redis.md names no user')
  return line
}

function makeCertificate(folder: string): void {
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const files = ['-keyout', `${folder}/key.pem`, '-out', `${folder}/cert.pem`]
  const made = spawnSync('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    ...subject,
    ...files,
  ])
  if (made.status !== 0) throw new Error('openssl is missing or failed: sh test/install-tools.sh')
}

const tlsSettings = (folder: string): readonly string[] => [
  `tls-cert-file ${folder}/cert.pem`,
  `tls-key-file ${folder}/key.pem`,
  'tls-auth-clients no',
]

const tlsArguments = (folder: string): readonly string[] => ['--tls', '--cacert', `${folder}/cert.pem`]

async function openHarness(server: RedisServer, url: string): Promise<HotStateHarness> {
  const clock = testClock()
  let state: HotState
  const open = async (): Promise<void> => {
    state = await redisHotState(url, { ...PATIENT, clock: clock.nowMs })
  }
  await open()
  return {
    get state() {
      return state
    },
    nowMs: clock.nowMs,
    setNowMs: clock.set,
    async stored() {
      const database = new URL(url).pathname.slice(1) || '0'
      const keys = server
        .cli('-n', database, 'keys', '*')
        .split('\n')
        .filter((key) => key !== '')
      return keys.map((key) => `${key} ${server.cli('-n', database, 'get', key)}`).join('\n')
    },
    reopen: () => state.close().then(open),
    async close() {
      await state.close()
      server.cli('flushall')
    },
  }
}
