/** `whencectl spend`: imports a file of what advertising cost, lists imports, and removes one. */

import { createReadStream } from 'node:fs'
import { basename } from 'node:path'

import { createActivity } from '../../../dashboard/events/activity.ts'
import {
  appendRemoval,
  dayText,
  importOfRow,
  shownImport,
  spendActivity,
  type SpendActivity,
} from '../../../dashboard/spend/imports.ts'
import { LIMITS } from '../../../domain/limits.ts'
import type { OwnedWebsite } from '../../../domain/model.ts'
import { decimalAmount } from '../../../domain/spend/currencies.ts'
import { SpendReader, type SpendProblem } from '../../../domain/spend/spend-file.ts'
import { spendForm, type SpendForm } from '../../../domain/spend/spend-form.ts'
import { SpendEntries } from '../../../domain/spend/spend-import.ts'
import type { SpendImportRecord } from '../../../domain/spend/spend-records.ts'
import { spendDays } from '../../../domain/spend/spend-row.ts'
import { presentOf } from '../../../domain/typed-keys.ts'
import { createRandomness, timeOrderedId } from '../../../runtime/random.ts'
import type { RunOutcome } from '../../../runtime/settings/settings.ts'
import { complain, print, printJson } from '../../terminal/output.ts'
import { createTable, terminalChars, timeText, type TextColumn } from '../../terminal/table.ts'
import { openBackend, type OpenBackend } from '../backend.ts'
import type { ToolStores } from '../live.ts'
import { ownedBy } from './report.ts'

type SpendRun = RunOutcome<'spend'>
const randomness = createRandomness()

/** A website that has visits or installs, and for how many days it keeps them. */
interface KnownWebsite extends OwnedWebsite {
  readonly days: number
}

/** What a run works on: the websites that its options name, and the file or the ID that it was given. */
interface SpendArguments {
  readonly known: readonly KnownWebsite[]
  readonly websites: readonly KnownWebsite[]
  readonly named: string
}

interface Action {
  /** What must follow the name of the action; null if nothing must. */
  readonly needs: string | null
  readonly act: (run: SpendRun, backend: OpenBackend, asked: SpendArguments) => Promise<number>
}

const ACTIONS: ReadonlyMap<string, Action> = new Map([
  ['import', { needs: 'the file', act: importNamed }],
  ['list', { needs: null, act: listImports }],
  ['remove', { needs: 'the ID of an import, which `whencectl spend list` shows', act: removeImport }],
])

export async function spendTool(run: SpendRun): Promise<number> {
  const [name = '', named = ''] = run.positionals
  const action = ACTIONS.get(name)
  if (action === undefined) throw new Error('say import and a file, list, or remove and the ID of an import')
  if (action.needs !== null && named === '') throw new Error(`name ${action.needs}`)
  // Whatever is wrong with the options is said before anything is opened.
  spendFormOf(run)
  const backend = await openBackend(run.settings)
  try {
    const known = await backend.run('longestRetentions', {})
    return await action.act(run, backend, { known, websites: ownedBy(known, run), named })
  } finally {
    await backend.close()
  }
}

async function importNamed(
  run: SpendRun,
  backend: OpenBackend,
  { known, websites, named }: SpendArguments,
): Promise<number> {
  const [website] = websites
  if (website === undefined || websites.length > 1) {
    complain(websitesToName(known, websites))
    return 2
  }
  const record = await importFile(run, backend, { website, form: spendFormOf(run), file: named })
  if (record !== null && !backend.isLive) complain('It counts when the service runs.\n')
  return record === null ? 1 : 0
}

/** @throws Error if an option is wrong */
function spendFormOf({ flags }: SpendRun): SpendForm {
  const fixed = presentOf({ source: flags.get('--source'), currency: flags.get('--currency') })
  const read = spendForm(flags.get('--columns') ?? '', fixed)
  if (!read.ok) throw new Error(`--${read.wrong} ${read.message}`)
  return read.form
}

interface WantedImport {
  readonly website: KnownWebsite
  readonly form: SpendForm
  readonly file: string
}

/** Null, after messages on standard error, if the file has problems. */
async function importFile(
  run: SpendRun,
  backend: ToolStores,
  { website: { organization, website, days }, form, file }: WantedImport,
): Promise<SpendImportRecord | null> {
  const nowMs = Date.now()
  const reader = new SpendReader(form, spendDays(nowMs, days))
  const entries = new SpendEntries({
    id: timeOrderedId(randomness, nowMs),
    organization,
    website,
    importedAtMs: nowMs,
    importedBy: '',
    fileName: basename(file).slice(0, LIMITS.spendFileNameChars),
    retentionDays: days,
  })
  await readSpendFile(file, reader, entries)
  if (reader.problems.length > 0) {
    complain(reader.problems.map((problem) => `${problemLine(file, problem)}\n`).join(''))
    complain('Nothing was imported.\n')
    return null
  }
  const { record, entries: all } = entries.finish()
  for (const entry of all) await backend.append('spend', [entry])
  await noteSpend(backend, record, 'spend_imported')
  if (run.flags.has('--json')) printJson([shownImport(record)])
  else print(`${record.id}: ${record.rows} rows of ${spendDaysText(record)} for ${website}, ${amountsText(record)}\n`)
  return record
}

/** @throws Error if it cannot be read or is too large */
async function readSpendFile(file: string, reader: SpendReader, entries: SpendEntries): Promise<void> {
  let size = 0
  const pieces: AsyncIterable<Buffer> = createReadStream(file)
  for await (const bytes of pieces) {
    size += bytes.length
    if (size > LIMITS.spendFileBytes) throw new Error(`${file} is larger than 5 MB: divide it by days`)
    for (const row of reader.read(bytes)) entries.add(row)
    if (reader.isGivenUp) return
  }
  for (const row of reader.end()) entries.add(row)
}

function problemLine(file: string, { line, column, message }: SpendProblem): string {
  return `${file}:${line}: ${column === '' ? message : `${column} ${message}`}`
}

/** In the activity, where members see it; nobody is named, as the command line knows no people. */
async function noteSpend(backend: ToolStores, record: SpendImportRecord, type: SpendActivity): Promise<void> {
  const noteActivity = createActivity({ eventLog: backend, randomness, nowMs: Date.now })
  const logRetentionDays = LIMITS.logRetentionDays.fallback
  await noteActivity({ ...spendActivity(record, type), logRetentionDays })
}

async function listImports(run: SpendRun, backend: ToolStores, { websites: asked }: SpendArguments): Promise<number> {
  const limit = LIMITS.spendImportsListed
  const found: SpendImportRecord[] = []
  for (const [organization, own] of Map.groupBy(asked, (each) => each.organization)) {
    const websites = own.map(({ website }) => website)
    found.push(...(await backend.run('spendImports', { organization, websites, limit })).map(importOfRow))
  }
  const newest = found.toSorted((a, b) => b.importedAtMs - a.importedAtMs).slice(0, limit)
  if (run.flags.has('--json')) printJson(newest.map(shownImport))
  else if (newest.length === 0) complain('There is no import of ad spend to show.\n')
  else
    print(
      createTable(COLUMNS, terminalChars())
        .lines(newest)
        .map((line) => `${line}\n`)
        .join(''),
    )
  return 0
}

const COLUMNS: readonly TextColumn<SpendImportRecord>[] = [
  { head: 'ID', cell: ({ id }) => id },
  { head: 'IMPORTED', cell: ({ importedAtMs }) => timeText(importedAtMs) },
  { head: 'WEBSITE', cell: ({ website }) => website },
  { head: 'ROWS', cell: ({ rows }) => String(rows) },
  { head: 'DAYS', cell: spendDaysText },
  { head: 'AMOUNT', cell: amountsText },
  { head: 'FILE', cell: ({ fileName }) => fileName },
]

async function removeImport(
  run: SpendRun,
  backend: ToolStores,
  { websites: asked, named: id }: SpendArguments,
): Promise<number> {
  for (const [organization, own] of Map.groupBy(asked, (each) => each.organization)) {
    const websites = own.map(({ website }) => website)
    const [row] = await backend.run('spendImportById', { organization, websites, id })
    if (row === undefined || row.is_removed) continue
    const record = importOfRow(row)
    await appendRemoval(backend, record)
    await noteSpend(backend, record, 'spend_removed')
    if (run.flags.has('--json')) printJson([shownImport(record)])
    else print(`${id} is removed: what it had replaced counts again\n`)
    return 0
  }
  complain(`whencectl spend: there is no import with the ID ${id}\n`)
  return 1
}

function websitesToName(known: readonly OwnedWebsite[], asked: readonly OwnedWebsite[]): string {
  if (known.length === 0) return 'No website has visits or installs yet that ad spend could be compared with.\n'
  const [one] = asked
  const isOneId = one !== undefined && asked.every(({ website }) => website === one.website)
  if (isOneId) return `--organization must name one of ${asked.map(({ organization }) => organization).join(', ')}\n`
  return `--website must name one of ${known.map(({ website }) => website).join(', ')}\n`
}

function spendDaysText({ firstDayMs, lastDayMs }: SpendImportRecord): string {
  return firstDayMs === lastDayMs ? dayText(firstDayMs) : `${dayText(firstDayMs)} to ${dayText(lastDayMs)}`
}

function amountsText({ totals }: SpendImportRecord): string {
  return totals.map(({ currency, amount }) => `${decimalAmount(amount, currency)} ${currency}`).join(', ')
}
