/** `whence logs`, `whence installs` and `whence activity`: newest first, as a table or as JSON lines, with `--follow`. */

import { setTimeout as wait } from 'node:timers/promises'
import { LIMITS } from '../../domain/limits.ts'
import type { ActivityRow, InstallRow, RequestLogRow } from '../../ports/facts/query-rows.ts'
import type { RunOutcome } from '../../runtime/settings.ts'
import { openBackend, type ToolBackend } from './backend.ts'
import { tableLines, timeText, type Column } from './table.ts'

const FALLBACK_ROWS = 50
const FOLLOW_EVERY_MS = 500
/** Rows become visible a moment after their time; a follower looks back this far and shows each row once. */
const FOLLOW_OVERLAP_MS = 10_000
const REMEMBERED_ROWS = 10_000
/** Past what any clock can be ahead. */
const FAR_MS = 86_400_000

interface Listing<R> {
  readonly columns: readonly Column<R>[]
  readonly idOf: (row: R) => string
  readonly fetch: (backend: ToolBackend, period: { since_ms: number; until_ms: number; limit: number }) => Promise<readonly R[]>
}

export async function logsTool(run: RunOutcome): Promise<number> {
  const filters = { ...textFlag(run, '--website', 'website'), ...textFlag(run, '--organization', 'organization') }
  return list(run, {
    columns: LOG_COLUMNS,
    idOf: (row) => row.id,
    fetch: (backend, period) => backend.run('listLogs', { ...period, ...filters }),
  })
}

export async function installsTool(run: RunOutcome): Promise<number> {
  const filters = textFlag(run, '--website', 'website')
  return list(run, {
    columns: INSTALL_COLUMNS,
    idOf: (row) => `${row.website}/${row.event_id}`,
    fetch: (backend, period) => backend.run('listInstalls', { ...period, ...filters }),
  })
}

export async function activityTool(run: RunOutcome): Promise<number> {
  const organization = run.flags.get('--organization') ?? ''
  return list(run, {
    columns: ACTIVITY_COLUMNS,
    idOf: (row) => row.id,
    fetch: (backend, period) => backend.run('listActivity', { ...period, organization }),
  })
}

const LOG_COLUMNS: readonly Column<RequestLogRow>[] = [
  { head: 'TIME (UTC)', cell: (row) => timeText(row.received_at_ms) },
  { head: 'WEBSITE', cell: (row) => row.website || '-' },
  { head: 'REQUEST', cell: (row) => `${row.method} ${row.path}` },
  { head: 'STATUS', cell: (row) => String(row.status) },
  { head: 'CODE', cell: (row) => row.code || 'ok' },
  { head: 'MS', cell: (row) => String(row.duration_ms) },
  { head: 'BODY', cell: (row) => (row.body_form === 'withheld' ? '(not kept)' : row.body) },
]

const INSTALL_COLUMNS: readonly Column<InstallRow>[] = [
  { head: 'TIME (UTC)', cell: (row) => timeText(row.received_at_ms) },
  { head: 'WEBSITE', cell: (row) => row.website },
  { head: 'EVENT ID', cell: (row) => row.event_id },
  { head: 'TYPE', cell: (row) => row.event_type },
  { head: 'PATH', cell: (row) => row.install_path || '-' },
  { head: 'RESOLUTION', cell: (row) => row.resolution },
  { head: 'POLICY', cell: (row) => row.selection_policy },
  { head: 'VISIT', cell: (row) => row.visit_id || '-' },
]

const ACTIVITY_COLUMNS: readonly Column<ActivityRow>[] = [
  { head: 'TIME (UTC)', cell: (row) => timeText(row.noticed_at_ms) },
  { head: 'WEBSITE', cell: (row) => row.website || '-' },
  { head: 'WHAT', cell: (row) => row.type },
  { head: 'SUBJECT', cell: (row) => row.subject },
  { head: 'MESSAGE', cell: (row) => row.message },
]

async function list<R>(run: RunOutcome, listing: Listing<R>): Promise<number> {
  const limit = limitOf(run)
  if (limit === null) {
    process.stderr.write(`--limit must be a number from 1 to ${LIMITS.logsPerPage}\n`)
    return 2
  }
  const backend = await openBackend(run.settings)
  try {
    const isJson = run.flags.has('--json')
    const rows = await listing.fetch(backend, { since_ms: 0, until_ms: Date.now() + FAR_MS, limit })
    show([...rows].reverse(), listing, { isJson, hasHead: true })
    if (run.flags.has('--follow')) await follow(backend, listing, { isJson, shown: rows })
  } finally {
    await backend.close()
  }
  return 0
}

/** Goes on until the process is stopped. */
async function follow<R>(
  backend: ToolBackend,
  listing: Listing<R>,
  { isJson, shown }: { readonly isJson: boolean; readonly shown: readonly R[] },
): Promise<never> {
  const seen = new Set(shown.map(listing.idOf))
  for (;;) {
    const nowMs = Date.now()
    const period = { since_ms: nowMs - FOLLOW_OVERLAP_MS, until_ms: nowMs + FAR_MS, limit: REMEMBERED_ROWS }
    const rows = await listing.fetch(backend, period)
    const fresh = rows.filter((row) => !seen.has(listing.idOf(row)))
    for (const row of fresh) seen.add(listing.idOf(row))
    show([...fresh].reverse(), listing, { isJson, hasHead: false })
    for (const id of seen) if (seen.size > REMEMBERED_ROWS) seen.delete(id)
    await wait(FOLLOW_EVERY_MS)
  }
}

function show<R>(rows: readonly R[], listing: Listing<R>, form: { readonly isJson: boolean; readonly hasHead: boolean }): void {
  const lines = form.isJson ? rows.map((row) => JSON.stringify(row)) : tableLines(rows, listing.columns, form.hasHead)
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`)
}

function limitOf(run: RunOutcome): number | null {
  const text = run.flags.get('--limit')
  if (text === undefined) return FALLBACK_ROWS
  const limit = Number(text)
  return Number.isInteger(limit) && limit >= 1 && limit <= LIMITS.logsPerPage ? limit : null
}

function textFlag<N extends string>(run: RunOutcome, flag: string, name: N): { readonly [K in N]?: string } {
  const value = run.flags.get(flag)
  return value === undefined ? {} : ({ [name]: value } as { [K in N]: string })
}
