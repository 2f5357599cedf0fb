/**
 * `make scale`: the read side at the size of a large customer. Fills an engine of 512 MiB with made-up facts, counts them by the role
 * `rollup`, asks every page of the dashboard, measures each statement that the pages ran, and compares what they show with a count over
 * all rows. Usage:
 *
 *     node test/scale/run.ts [--visits 20000000] [--folder FOLDER] [--report FILE]
 *
 * `WHENCE_SCALE` is another way to say how many visits. There are a tenth as many install events and half as many records of Logs. Exits
 * with 1 if a number is wrong, or if a statement takes more than 250 ms of processor time. With `--folder` the facts are kept there, and
 * used again by the next run of the same size.
 */

import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { hourOf } from '../../domain/durations.ts'
import { fillFolder, rollUpAll } from '../../fixtures/scale/fill.ts'
import { sinceOf, type ScaleShape } from '../../fixtures/scale/shape.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import type { FactsConnection } from '../../ports/facts/engine/connection.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { SECRET } from '../dashboard/support/stage.ts'
import { checkNumbers } from './checks.ts'
import { measureStatement, noting, unseenStatements, type MeasuredStatement } from './measure.ts'
import { askBesidePages, askEveryPage, openPages, storeRarities, unaskedRoutes } from './pages.ts'
import { MOST_CPU_MS, reportOf, type ScaleReport } from './report.ts'

const STATE = 'scale.json'
const startedMs = performance.now()
const sinceStartMin = (): number => (performance.now() - startedMs) / 60_000

function say(text: string): void {
  const minutes = sinceStartMin().toFixed(1)
  console.log(`${minutes.padStart(5)} min  load ${loadavg()[0]?.toFixed(1)}  ${text}`)
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      visits: { type: 'string', default: process.env['WHENCE_SCALE'] ?? '20000000' },
      folder: { type: 'string' },
      report: { type: 'string' },
    },
  })
  const visits = Number(values.visits)
  if (!Number.isInteger(visits) || visits < 1_000) throw new Error('at least 1,000 visits')
  return { ...values, visits }
}

async function main(): Promise<number> {
  const { visits, folder, report } = readOptions()
  // Known now, not after an hour.
  const missing = unaskedRoutes()
  if (missing.length > 0) throw new Error(`not asked: ${missing.join(', ')}`)
  const own = folder ?? (await mkdtemp(join(tmpdir(), 'whence-scale-')))
  try {
    const made = await filled(own, visits)
    const connection = await openChdb(join(own, 'chdb'))
    await migrate(connection)
    const facts = clickhouseFacts(connection, { nowMs: Date.now })
    try {
      const result = await measureAll(connection, facts, await counted(facts, made, own))
      const text = reportOf(result)
      console.log(`\n${text}`)
      if (report !== undefined) await writeFile(report, text)
      const isSlow = result.statements.some(({ cpuMs }) => cpuMs > MOST_CPU_MS)
      return isSlow || result.check.wrong.length > 0 ? 1 : 0
    } finally {
      await facts.close()
    }
  } finally {
    if (folder === undefined) await rm(own, { recursive: true, force: true })
  }
}

/** What a folder holds. */
interface Filled {
  readonly shape: ScaleShape
  readonly rows: readonly (readonly [table: string, rows: number])[]
  /** Hours of websites with figures; absent until they are counted. */
  readonly hours?: number
  readonly fillMin: number
}

/** Facts that end with the last full hour; those of an earlier run if the folder has some of this size. */
async function filled(folder: string, visits: number): Promise<Filled> {
  const file = join(folder, STATE)
  const kept = existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as Filled) : null
  if (kept?.shape.visits === visits) return kept
  if (kept !== null) throw new Error(`${folder} has facts of another size`)
  const { currentKeyId: keyId } = createKeyring([SECRET])
  const shape = { visits, untilMs: hourOf(Date.now()), keyId }
  const rows = [...(await fillFolder(join(folder, 'chdb'), shape))]
  const made = { shape, rows, fillMin: sinceStartMin() }
  await writeFile(file, JSON.stringify(made))
  return made
}

/** The role `rollup` counts what it has not counted yet. */
async function counted(facts: Facts, made: Filled, folder: string): Promise<Required<Filled>> {
  if (made.hours !== undefined) return { ...made, hours: made.hours }
  say('filled; the role rollup counts')
  const hours = await rollUpAll(facts, made.shape, say)
  const all = { ...made, hours, fillMin: sinceStartMin() }
  await writeFile(join(folder, STATE), JSON.stringify(all))
  return all
}

async function measureAll(
  connection: FactsConnection,
  facts: Facts,
  { shape, ...made }: Required<Filled>,
): Promise<ScaleReport> {
  const noted = noting(facts)
  const pages = await openPages(noted.facts, shape.untilMs - 1)
  try {
    await storeRarities(facts, shape)
    const asked = await askEveryPage(pages, say)
    await askBesidePages(noted.facts, shape)
    const statements = noted.statements()
    const unseen = unseenStatements(statements)
    if (unseen.length > 0) throw new Error(`no page ran ${unseen.join(', ')}`)
    say(`${asked} pages ran ${statements.length} different statements`)
    const check = await checkNumbers({ pages, connection, sinceMs: sinceOf(shape), say })
    say(`${check.compared} numbers compared, ${check.wrong.length} wrong`)
    await connection.command('SYSTEM STOP MERGES')
    const measured: MeasuredStatement[] = []
    for (const [index, statement] of statements.entries()) {
      measured.push(await measureStatement(facts, statement))
      if (index % 500 === 0) say(`${index} of ${statements.length} statements measured`)
    }
    const minutes = sinceStartMin()
    const machine = `${cpus().length} processors, load ${loadavg()[0]?.toFixed(1)}`
    return { shape, ...made, pages: asked, statements: measured, check, minutes, machine }
  } finally {
    await pages.stage.stop()
    await connection.command('SYSTEM START MERGES').catch(() => undefined)
  }
}

process.exitCode = await main()
