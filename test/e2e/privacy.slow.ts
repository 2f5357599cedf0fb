/**
 * What must not be kept is in no file of Kafka, of Redis or of the spool, byte by byte, in no table and in no process's own log,
 * while every role works.
 */

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { until } from '../../fixtures/until.ts'
import { callsTo, type Calls } from '../api/support/api.ts'
import { filesBelow, findCanaries, floodAndForward, runEverything, type Canaries } from '../api/support/canaries.ts'
import { ROLES, ROLES_BESIDE, startDistributed, type Distributed } from '../../fixtures/service/distributed.ts'
import { logStream, secret, webhook } from '../../fixtures/service/manifests.ts'
import type { Program } from '../../fixtures/service/programs.ts'
import { WEBHOOK_EVENT_TYPES } from '../../domain/model.ts'
import { DERIVED_TABLES, FACT_TABLES } from '../../ports/facts/columns.ts'
import { kafkaJars } from '../../fixtures/engines/kafka.ts'
import { MANIFESTS, TEST_SECRET } from '../../fixtures/service/service.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { placeInShared, sharesEngines } from './support/distributed-system.ts'

const FBP = `fb.1.1790000000000.${randomBytes(4).readUInt32BE()}7`
const GCLID = `Cj0KCQiA-${randomBytes(12).toString('hex')}`
const COOKIE = `session=${randomBytes(12).toString('hex')}`
const ADDRESS_ENV = { WHENCE_TRUST_PROXY: '127.0.0.1' }
/** The secret of a log stream and of a webhook, whose addresses are nobody's: what they would be sent is on the log and in a table. */
const SIGNING_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const SECRET_REF = { name: 'hooks', key: 'hook' }
const OUTWARDS = [
  logStream('logs', { webhook: { url: 'https://logs.example/in', secretRef: SECRET_REF } }),
  webhook('events', { url: 'https://hooks.example/in', secretRef: SECRET_REF, events: WEBHOOK_EVENT_TYPES }),
  secret('hooks', { hook: SIGNING_SECRET }),
]

describe('privacy of the distributed service', function () {
  this.timeout(180_000)
  let system: Distributed
  let beside: readonly Program[]
  let spool: string

  before(async function () {
    if ((await kafkaJars()) === null) this.skip()
    spool = await mkdtemp(join(tmpdir(), 'whence-spool-'))
    const engines = await placeInShared()
    // Written as it is, so that a search of its files finds what is in them.
    for (const [name, value] of [...Object.entries(REDIS_SETTINGS), ['appendonly', 'yes']] as const) {
      engines.redis.cli('config', 'set', name, value)
    }
    const acme = (MANIFESTS['acme.yaml'] ?? '').replace('plan: Standard', 'plan: Enterprise')
    const manifests = {
      'acme.yaml': acme,
      'outwards.yaml': OUTWARDS.map((each) => JSON.stringify(each)).join('\n---\n'),
    }
    system = await startDistributed({ engines, manifests, envOf: { api: ADDRESS_ENV } })
    beside = await Promise.all(ROLES_BESIDE.map((role) => system.add(role)))
    // Once a stream has a start, the facts-writer keeps for it what it reads.
    await until(async () => (await rowsOf('stream_progress')).length > 0)
  })
  after(async () => {
    system?.engines.redis.cli('config', 'set', 'appendonly', 'no')
    await system?.stop()
    if (spool !== undefined) await rm(spool, { recursive: true, force: true })
  })
  sharesEngines()

  const rowsOf = (table: string): Promise<readonly unknown[]> =>
    system.engines.connection.query(`SELECT * FROM ${table}`, {}, { turn: 'report' })

  it('holds in every file, table and log of all processes after a run of everything', async () => {
    const { engines } = system
    const providerSecret = /api-secret: (\S+) /.exec(MANIFESTS['acme.yaml'] ?? '')?.[1] ?? ''
    const others = new Set([FBP, GCLID, COOKIE, providerSecret, TEST_SECRET, SIGNING_SECRET])
    const canaries: Canaries = { secrets: new Set(), addresses: new Set(), others }
    const metricsAt = `127.0.0.1:${await freePort()}`
    const spooling = await system.add('api', { ...ADDRESS_ENV, WHENCE_SPOOL: spool, WHENCE_METRICS_LISTEN: metricsAt })
    await runEverything(callsTo(system.url), canaries, 0)
    await optOut(callsTo(system.url))
    engines.kafka.pause()
    try {
      await runEverything(callsTo(spooling.url), canaries, 1)
      await optOut(callsTo(spooling.url))
      expect(await spooledEntries(metricsAt)).to.be.greaterThan(50)
    } finally {
      engines.kafka.resume()
    }
    await floodAndForward(callsTo(spooling.url), canaries)
    await until(async () => (await spooledEntries(metricsAt)) === 0)
    await system.drain()
    await until(async () => {
      const lag = await system.eventLog.lag()
      return lag.every(({ group, topic, entries }) => group !== 'webhooks' || topic.includes('.') || entries === 0)
    })
    expect(system.ga4.requests().length).to.be.greaterThan(0)
    engines.redis.cli('save')

    const places = { Kafka: engines.kafka.folder, Redis: engines.redis.folder, spool }
    const files = new Map<string, string>()
    for (const [place, folder] of Object.entries(places)) {
      for (const [name, text] of await filesBelow(folder)) files.set(`${place} ${name}`, text)
    }
    for (const table of [...FACT_TABLES, ...DERIVED_TABLES]) {
      files.set(`table ${table}`, JSON.stringify(await rowsOf(table)))
    }
    const programs = [...[...ROLES, 'api' as const].map((role) => system.program(role)), ...beside, spooling]
    for (const [index, program] of programs.entries()) files.set(`log of process ${index}`, program.stderr())
    // A search proves something only if it can find something.
    const holding = (what: string): string[] =>
      [...files].filter(([, text]) => text.includes(what)).map(([name]) => name)
    for (const file of [
      /^Kafka .*visits-\d+.*\.log$/,
      /^Kafka .*deliveries-\d+.*\.log$/,
      /^Kafka .*webhook_attempts-\d+.*\.log$/,
      /^Kafka .*\bwebhooks-\d+.*\.log$/,
      /^table stream_pointers$/,
      /^Redis .*\.rdb$/,
      /^spool .*\.mdb$/,
    ]) {
      expect(holding('acme-dev').join('\n')).to.match(new RegExp(file.source, 'm'))
    }
    expect(holding('acme-dev').join('\n')).to.match(/^Redis .*appendonly.*aof$/m)
    expect(canaries.secrets.size).to.be.above(20)
    expect(canaries.addresses.size).to.be.above(300)
    expect([...files].flatMap(([name, text]) => findCanaries(name, text, canaries))).to.deep.equal([])
  })
})

const REDIS_SETTINGS = { rdbcompression: 'no', 'aof-use-rdb-preamble': 'no' }

/** A visitor under Global Privacy Control with advertising identities, who installs; and an unrelated cookie. */
async function optOut({ visit, activate, event }: Calls): Promise<void> {
  const identities = { meta: { fbp: FBP }, google_ads: { gclid: GCLID }, ga4: { 'G-TEST000001': GA4 } }
  const headers = { Cookie: COOKIE }
  const made = await visit({ gpc: true, identities }, { headers })
  expect(made.status, made.text).to.equal(200)
  const { receipt } = made.body['marker']
  await activate(receipt, {}, { headers })
  const { body } = await event({ receipts: [receipt] }, { headers })
  expect(body).to.deep.include({ resolution: 'matched' })
}

const GA4 = { client_id: '1234512345.1790000000', session_id: '1790000000' }

async function spooledEntries(metricsAt: string): Promise<number> {
  return ((await (await fetch(`http://${metricsAt}/status`)).json()) as { spool: { entries: number } }).spool.entries
}
