/** Reads what was refused and what was taken in the last hour, and lets the domain name what is wrong with the set-up. */

import { HOUR_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import { troublesOf, type SeenRequest } from '../../domain/onboarding/troubles.ts'
import type { LogLineRow } from '../../ports/facts/pages/logs.ts'
import { answer, type CallTo } from '../http/call.ts'
import { readInstallPage } from '../installs/list.ts'
import { directedFilters } from '../logs/filters.ts'
import { readLogPage } from '../logs/pages.ts'
import type { OrganizationFacts, ReadScope } from '../reads/scope.ts'
import type { PageClock } from '../reads/walk-back.ts'

interface TroubleParts {
  readonly scope: ReadScope
  readonly clock: PageClock
}

export function readTroubles({ scope, clock }: TroubleParts) {
  return scope(async (reads, { nowMs }: CallTo<'setUp'>) => {
    const lines = await readLines(reads, nowMs, clock)
    const asked = { filters: {}, sinceMs: nowMs - HOUR_MS, from: newestFrom(nowMs), limit: 1 }
    const { rows } = await readInstallPage(reads, asked, clock)
    const [newest] = rows.map(({ install }) => ({ ...install, at: install.received_at_ms }))
    const { plan } = reads.organization
    const takenAt = (kind: string): number | null =>
      lines.find((line) => line.kind === kind && line.status < 400)?.at ?? null
    return answer({
      plan,
      seen: {
        visit: takenAt('visit'),
        activation: takenAt('activation'),
        handoff: takenAt('handoff'),
        install: newest?.at ?? null,
      },
      troubles: [...troublesOf(lines, newest ?? null, plan)],
    })
  })
}

/** Of each status, so that many that were taken do not hide those that were not. Newest first. */
const STATUSES = ['2xx', '4xx'] as const

async function readLines(reads: OrganizationFacts, nowMs: number, clock: PageClock): Promise<readonly SeenRequest[]> {
  const span = { sinceMs: nowMs - HOUR_MS, from: newestFrom(nowMs), limit: LIMITS.setUpLines, hasBodies: false }
  const pages = await Promise.all(
    STATUSES.map((status) =>
      readLogPage(reads, { ...span, filters: directedFilters({ direction: 'inbound', status }) }, clock),
    ),
  )
  return pages.flatMap(({ rows }) => rows.map(seenRequest)).sort((a, b) => b.at - a.at)
}

function newestFrom(nowMs: number) {
  return { beforeMs: nowMs + LIMITS.clockSkewMs, beforeId: '' }
}

function seenRequest({ kind, path, origin, status, code, at_ms: at }: LogLineRow): SeenRequest {
  return { kind, path, origin, status, code, at }
}
