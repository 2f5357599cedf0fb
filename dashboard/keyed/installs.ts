/** Installs for programs, in pages. They have the columns of the export, but for what names an installation. */

import { SOURCE_COLUMN_NAMES, SOURCE_COLUMNS } from '../../domain/collection/visit-source.ts'
import { askedListFilters, askedPeriod, type KeyListFilters } from '../../domain/figures/key-figures.ts'
import { LIMITS } from '../../domain/limits.ts'
import { timeZone } from '../../domain/time-zones.ts'
import { KEY_INSTALL_COLUMNS, KEY_ROUTES } from '../api/keyed.ts'
import { isoTime, isoTimeOrNull } from '../exports/table.ts'
import { answer, type CallTo } from '../http/call.ts'
import { installFilters, installPeriod, readInstallPage, type SourcedInstall } from '../installs/list.ts'
import { refuseCursor, type Cursors } from '../logs/cursor.ts'
import type { ReadScope } from '../reads/scope.ts'
import type { PageClock } from '../reads/walk-back.ts'
import { csvAnswer } from './csv.ts'

interface KeyInstallParts {
  readonly scope: ReadScope
  readonly cursors: Cursors
  readonly clock: PageClock
}

export function keyInstalls({ scope, cursors, clock }: KeyInstallParts) {
  return scope(async (reads, call: CallTo<'keyInstalls'>) => {
    const list = `keyed installs\0${reads.organization.id}`
    const { query } = call
    const asked = askedPeriod(query, timeZone(reads.organization.timeZone))
    if ('code' in asked) return asked
    const filters = askedListFilters(query.filter)
    if ('code' in filters) return filters
    const { sinceMs, from: newest } = installPeriod({ query: { ...asked }, nowMs: call.nowMs })
    const from = query.cursor === undefined ? newest : cursors.read(list, query.cursor)
    if (from === null) return refuseCursor()
    const wanted = installFilters(listQuery(filters.own), filters.figures)
    const question = { filters: wanted, sinceMs, from, limit: LIMITS.keyInstallsPerPage }
    const page = await readInstallPage(reads, question, clock)
    const rows = page.rows.map(shownInstall)
    const next = page.next === null ? null : cursors.write(list, page.next)
    if (call.wantsCsv) return csvAnswer(KEY_INSTALL_COLUMNS, rows, next === null ? null : addressOfPage(query, next))
    return answer({ installs: rows, next })
  })
}

/** By the names that the list of the pages has. */
function listQuery({ event_type: eventType, ...filters }: KeyListFilters['own']) {
  return { ...filters, ...(eventType === undefined ? {} : { eventType }) }
}

function shownInstall({ install, visit }: SourcedInstall) {
  return {
    received_at: isoTime(install.received_at_ms),
    website: install.website,
    event_id: install.event_id,
    event_type: install.event_type,
    install_path: install.install_path,
    platform: install.platform,
    arch: install.arch,
    agent: install.agent,
    product_version: install.product_version,
    place: install.place,
    country: install.country,
    ci: install.is_ci,
    container: install.is_container,
    test: install.is_test,
    resolution: install.resolution,
    selection_policy: install.selection_policy,
    candidate_count: install.candidate_count,
    reason: install.reason,
    visit_id: install.visit_id,
    visit_at: isoTimeOrNull(install.visit_issued_at_ms),
    ...Object.fromEntries(SOURCE_COLUMN_NAMES.map((name) => [SOURCE_COLUMNS[name].csv, visit?.[name] ?? null])),
  }
}

/** The same request for the page that begins there. */
function addressOfPage({ filter = [], ...query }: CallTo<'keyInstalls'>['query'], cursor: string): string {
  const parameters = new URLSearchParams(Object.entries({ ...query, cursor }))
  for (const text of filter) parameters.append('filter', text)
  return `${KEY_ROUTES.keyInstalls.path}?${String(parameters)}`
}
