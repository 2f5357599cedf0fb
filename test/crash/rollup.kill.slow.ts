/** Kills the role `rollup` between its steps, while facts go on coming late; the figures are then those of a count of our own. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'

import type { LogRecord } from '../../domain/records.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import { activationRecord, installRecord, unique, visitRecord } from '../contract/fact-samples.ts'
import type { RollupJob, RollupStep } from './rollup.child.ts'

const CHILD = new URL('rollup.child.ts', import.meta.url).pathname
const HOUR_MS = 3_600_000
const HOURS = 12
/** Long over. */
const FROM_MS = Math.floor(Date.now() / HOUR_MS - 60) * HOUR_MS
const WEBSITES = ['site-one', 'site-two']
const SOURCES = 3
/** In each cycle; so many that every step comes several times. */
const VISITS = 120
/** Each dies at a step of its own, at a turn that the seed chooses among the first so many. */
const DEATHS: readonly { readonly at: 'before' | 'after'; readonly step: RollupStep; readonly turns: number }[] = [
  { at: 'after', step: 'dirtyHours', turns: 1 },
  { at: 'after', step: 'hourFacts', turns: 1 },
  { at: 'before', step: 'hourFunnel', turns: 8 },
  { at: 'before', step: 'website_hours', turns: 2 },
  { at: 'after', step: 'website_hours', turns: 2 },
]
const SEED = 20_261_124

type VisitFact = ReturnType<typeof visitRecord>['visit'] & { readonly source: string }

describe('the role rollup and kill -9', function () {
  this.timeout(300_000)
  let folder: string
  let dice = SEED
  const roll = (below: number): number => {
    dice = (dice * 48_271) % 2_147_483_647
    return dice % below
  }
  const visits: VisitFact[] = []
  /** By website, hour and source: visits, activated ones, and those that led to a complete install. */
  const counted = new Map<string, [number, number, number]>()
  const activated = new Set<string>()
  const installed = new Set<string>()

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-rollup-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const count = ({ website, issuedAtMs, source }: VisitFact, place: 0 | 1 | 2): void => {
    const key = `${website} ${Math.floor((issuedAtMs - FROM_MS) / HOUR_MS)} ${source}`
    const counts = counted.get(key) ?? [0, 0, 0]
    counts[place] += 1
    counted.set(key, counts)
  }
  const visited = (): LogRecord => {
    const source = `source-${roll(SOURCES)}`
    const issuedAtMs = FROM_MS + roll(HOURS * HOUR_MS)
    const visitId = `0a${issuedAtMs.toString(16).padStart(12, '0')}${visits.length.toString(16).padStart(18, '0')}`
    const record = visitRecord({ website: WEBSITES[roll(2)] ?? '', visitId, issuedAtMs, utm: { source } })
    const visit = { ...record.visit, source }
    visits.push(visit)
    count(visit, 0)
    return record
  }
  /** Of any visit so far: the hours of most have been counted already. */
  const later = (): readonly LogRecord[] => {
    const visit = visits[roll(visits.length)]
    if (visit === undefined) return []
    const { website, visitId, issuedAtMs } = visit
    if (roll(2) === 0) {
      if (!activated.has(visitId)) count(visit, 1)
      activated.add(visitId)
      return [activationRecord({ website, visitId, issuedAtMs })]
    }
    if (!installed.has(visitId)) count(visit, 2)
    installed.add(visitId)
    const matched = { resolution: 'matched', selectionPolicy: 'latest_visit', visitIssuedAtMs: issuedAtMs } as const
    const install = { website, visitId, eventId: unique('event'), receivedAtMs: issuedAtMs + 1_000, ...matched }
    return [installRecord({ ...install, eventType: 'install_completed' })]
  }
  /** How the process ended. */
  const lived = async (cycle: number, death: RollupJob['death']): Promise<unknown> => {
    const records = [...Array.from({ length: VISITS }, visited), ...Array.from({ length: VISITS / 2 }, later).flat()]
    const recordsFile = join(folder, `records-${cycle}.json`)
    await writeFile(recordsFile, JSON.stringify(records))
    const job: RollupJob = { folder: join(folder, 'chdb'), recordsFile, cycle, death }
    const child = spawn(process.execPath, [CHILD, JSON.stringify(job)], { stdio: ['ignore', 'ignore', 'inherit'] })
    return once(child, 'exit')
  }

  it(`comes to the right figures after ${DEATHS.length} kills between its steps, with facts that come in between`, async () => {
    for (const [cycle, { at, step, turns }] of DEATHS.entries()) {
      const nth = 1 + roll(turns)
      expect(await lived(cycle, { at, step, nth }), `${at} ${step}, turn ${nth}`).to.deep.equal([null, 'SIGKILL'])
    }
    expect(await lived(DEATHS.length, null)).to.deep.equal([0, null])
    const connection = await openChdb(join(folder, 'chdb'))
    const facts = clickhouseFacts(connection, { nowMs: Date.now })
    try {
      const open = await facts.run('dirtyHours', { until_ms: Date.now() - HOUR_MS, limit: 100 })
      expect(open, 'nothing is left to count').to.deep.equal([])
      expect(counted.size).to.be.greaterThan(HOURS * SOURCES)
      expect(Object.fromEntries(await figuresIn(facts))).to.deep.equal(Object.fromEntries(counted))
    } finally {
      await facts.close()
    }
  })
})

/** What is stored, by website, hour and source, in the order in which it is counted above. */
async function figuresIn(facts: FactsReader): Promise<ReadonlyMap<string, readonly number[]>> {
  const found = new Map<string, readonly number[]>()
  const places = WEBSITES.flatMap((website) => Array.from({ length: HOURS }, (_, hour) => ({ website, hour })))
  for (const { website, hour } of places) {
    const since = FROM_MS + hour * HOUR_MS
    const period = {
      organizations: ['acme'],
      websites: [website],
      since_ms: since,
      until_ms: since + HOUR_MS,
      column: 'source' as const,
    }
    for (const { value, counts } of await facts.run('rolledCells', period))
      found.set(`${website} ${hour} ${value}`, [counts[0] ?? 0, counts[1] ?? 0, counts[4] ?? 0])
  }
  return found
}
