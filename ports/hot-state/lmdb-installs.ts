/** Who is working on which install event, what settled ones were answered, and each installation's visit. */

import { LIMITS } from '../../domain/limits.ts'
import type { Table } from '../lmdb/table.ts'

import type { Claim, ClaimOutcome, MatchedVisit, Settlement } from './hot-state.ts'
import type { Leases } from './leases.ts'

const DAY_MS = 86_400_000
const KEEP_MS = LIMITS.answerMemoryDays * DAY_MS
const DAY_DIGITS = 6

interface Answer {
  readonly atMs: number
  readonly answer: string
}

interface InstallationVisit {
  readonly atMs: number
  readonly visit: MatchedVisit
}

export interface Installs {
  claim(claim: Claim): ClaimOutcome
  /** False where another owner holds the claim: then nothing was changed. */
  settle(settlement: Settlement): boolean
  release(claim: Claim): void
  sweep(limit: number): number
}

/** Claims live in memory only: after a start there are none, which is what a crash in between needs. */
export function openInstalls(table: Table, leases: Leases, nowMs: () => number): Installs {
  const read = <T extends { readonly atMs: number }>(key: string): T | null => {
    const stored = table.get(key)
    if (stored === undefined) return null
    const value = JSON.parse(stored) as T
    return value.atMs + KEEP_MS > nowMs() ? value : null
  }
  const write = (key: string, value: Answer | InstallationVisit): void => {
    table.put(key, JSON.stringify(value))
    table.put(`${dayIndex(value.atMs)}/${key}`, '')
  }
  return {
    claim(claim): ClaimOutcome {
      const settled = read<Answer>(answerKey(claim))
      if (settled !== null) return { kind: 'settled', answer: settled.answer }
      if (!leases.take(answerKey(claim), claim.owner, LIMITS.claimLeaseMs)) return { kind: 'busy' }
      return { kind: 'first', installationVisit: read<InstallationVisit>(visitKey(claim))?.visit ?? null }
    },
    settle(settlement) {
      const key = answerKey(settlement)
      if (leases.isHeldByOther(key, settlement.owner)) return false
      leases.release(key, settlement.owner)
      if (read<Answer>(key) !== null) return true
      const atMs = nowMs()
      write(key, { atMs, answer: settlement.answer })
      if (settlement.matched !== null) write(visitKey(settlement), { atMs, visit: settlement.matched })
      return true
    },
    release: (claim) => leases.release(answerKey(claim), claim.owner),
    sweep: (limit) => sweepDays(table, nowMs() - KEEP_MS, limit),
  }
}

/** The index names a key under each day it was written; only what was not written again since goes. */
function sweepDays(table: Table, dueBeforeMs: number, limit: number): number {
  const due = table.range({ start: 'day/', end: dayIndex(dueBeforeMs), limit })
  for (const { key } of due) {
    const target = key.slice('day/'.length + DAY_DIGITS + 1)
    const stored = table.get(target)
    if (stored !== undefined && (JSON.parse(stored) as { atMs: number }).atMs <= dueBeforeMs) table.remove(target)
    table.remove(key)
  }
  return due.length
}

function dayIndex(atMs: number): string {
  return `day/${String(Math.floor(Math.max(0, atMs) / DAY_MS)).padStart(DAY_DIGITS, '0')}`
}

function answerKey({ website, eventId }: Claim): string {
  return `answer/${website}/${eventId}`
}

function visitKey({ website, installationId }: Claim): string {
  return `installation/${website}/${installationId}`
}
