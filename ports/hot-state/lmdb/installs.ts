/**
 * Which caller handles which install event, the answers to settled events, and each installation's visit.
 *
 * Event IDs are random, so each stored answer dirties a page of its own. Settled events are therefore buffered in
 * memory and stored in groups by `save`. Those that a crash loses are restored from the log's newest records at the next
 * start.
 */

import { shapeOf, isNumber, isText, orAbsent, isFlag, listOf, type Guard, parsedAs } from '../../../domain/guards.ts'
import { LIMITS } from '../../../domain/limits.ts'
import type { OwnedWebsite } from '../../../domain/model.ts'
import type { Table } from '../../shared/lmdb/table.ts'

import type {
  Claim,
  ClaimOutcome,
  DecidedAnswer,
  Installation,
  InstallEventRef,
  MatchedVisit,
  Settlement,
} from '../hot-state.ts'
import type { Leases } from '../leases.ts'
import { DAY_MS } from '../../../domain/durations.ts'

const KEEP_MS = LIMITS.answerMemoryDays * DAY_MS
const DAY_DIGITS = 6
/** Keys listed by one entry of the index of days. */
const KEYS_PER_ENTRY = 100

interface StoredAnswer {
  readonly atMs: number
  readonly answer: string
  /** A decision will replace it. */
  readonly isPending?: boolean
}

interface StoredDecision {
  readonly atMs: number
  readonly decision: string
}

/** Most events are settled before their decision would be stored, so it is only encoded then. */
interface KeptDecision {
  readonly atMs: number
  readonly encode: () => string
}

/** An installation's visit, or the event that will decide it: a pending one, or one whose decision may have been stored. */
interface StoredInstallation {
  readonly atMs: number
  /** When the deciding event was received; 0 for one whose decision may have been stored. */
  readonly receivedAtMs: number
  readonly visit?: MatchedVisit
  readonly awaits?: string
}

const isTimed = shapeOf<{ readonly atMs: number }>({ atMs: isNumber })
const isStoredAnswer = shapeOf<StoredAnswer>({ atMs: isNumber, answer: isText, isPending: orAbsent(isFlag) })
const isStoredDecision = shapeOf<StoredDecision>({ atMs: isNumber, decision: isText })
const isKeptDecision = shapeOf<KeptDecision>({
  atMs: isNumber,
  encode: (value): value is KeptDecision['encode'] => typeof value === 'function',
})
const isDecision = (value: unknown): value is KeptDecision | StoredDecision =>
  isKeptDecision(value) || isStoredDecision(value)
const isStoredInstallation = shapeOf<StoredInstallation>({
  atMs: isNumber,
  receivedAtMs: isNumber,
  visit: orAbsent(
    shapeOf<MatchedVisit>({
      organization: isText,
      website: isText,
      visitId: isText,
      issuedAtMs: isNumber,
      gpc: isFlag,
    }),
  ),
  awaits: orAbsent(isText),
})
const areKeys = listOf(isText)

type InstallData = StoredAnswer | KeptDecision | StoredInstallation

interface Installs {
  claim(claim: Claim): ClaimOutcome
  /** Does nothing if another owner holds the claim. */
  keep(claim: Claim, decision: () => string): void
  /** Does nothing if another owner holds the claim. */
  settle(settlement: Settlement): void
  decide(decision: DecidedAnswer): void
  release(claim: Claim): void
  hasUnsaved(): boolean
  /** Writes what was settled to the table. */
  save(): void
  /** Deletes what has expired, at most about `limit` keys; returns `limit` or more if there may be more. */
  sweep(limit: number): number
}

/** Claims are held in memory only. There are none after a start, which is right, because a crash ended their owners. */
export function openInstalls(table: Table, leases: Leases, nowMs: () => number): Installs {
  const memory = openMemory(table, nowMs)
  const { read, write } = memory
  const { note, awaitNoMore } = installationNotes(memory)
  return {
    claim(claim): ClaimOutcome {
      const key = answerKey(claim)
      const settled = read(isStoredAnswer, key)
      if (settled !== null) return { kind: 'settled', answer: settled.answer }
      if (!leases.take(key, claim.owner, LIMITS.claimLeaseMs)) return { kind: 'busy' }
      const kept = keptText(read(isDecision, decisionKey(claim)))
      const known = read(isStoredInstallation, visitKey(claim))
      memory.noteAbsent(known === null ? [key, visitKey(claim)] : [key])
      return { kind: 'first', installation: readInstallation(known), kept, isNew: true }
    },
    keep(claim, decision) {
      if (leases.isHeldByOther(answerKey(claim), claim.owner)) return
      const atMs = nowMs()
      write(decisionKey(claim), { atMs, encode: decision })
      const installation = visitKey(claim)
      if (read(isStoredInstallation, installation) === null)
        write(installation, { atMs, receivedAtMs: 0, awaits: claim.eventId })
    },
    settle(settlement) {
      const key = answerKey(settlement)
      if (leases.isHeldByOther(key, settlement.owner)) return
      leases.release(key, settlement.owner)
      if (read(isStoredAnswer, key) !== null) return memory.forgetAbsent(settlement)
      const atMs = nowMs()
      const { answer, isPending = false, receivedAtMs, matched, eventId } = settlement
      write(key, { atMs, answer, ...(isPending ? { isPending } : {}) })
      memory.passOver(decisionKey(settlement))
      if (isPending) note(visitKey(settlement), { atMs, receivedAtMs, awaits: eventId })
      if (matched !== null) note(visitKey(settlement), { atMs, receivedAtMs, visit: matched })
      else if (!isPending) awaitNoMore(settlement)
      memory.forgetAbsent(settlement)
    },
    decide(decision) {
      const key = answerKey(decision)
      const known = read(isStoredAnswer, key)
      const isFinal = known !== null && known.isPending !== true
      if (isFinal && decision.isStored !== true) return
      const atMs = nowMs()
      const { answer, receivedAtMs, matched } = decision
      if (!isFinal) {
        write(key, { atMs, answer })
        memory.passOver(decisionKey(decision))
      }
      awaitNoMore(decision)
      if (matched !== null) note(visitKey(decision), { atMs, receivedAtMs, visit: matched })
    },
    release(claim) {
      leases.release(answerKey(claim), claim.owner)
      memory.forgetAbsent(claim)
    },
    hasUnsaved: memory.hasUnsaved,
    save: memory.save,
    sweep: (limit) => sweepDays(table, nowMs() - KEEP_MS, limit),
  }
}

/** What events contribute to their installation. */
function installationNotes({ read, write, forget }: InstallValues) {
  return {
    note: (installation: string, said: StoredInstallation): void => {
      const known = read(isStoredInstallation, installation)
      if ((known?.receivedAtMs ?? 0) <= said.receivedAtMs) write(installation, said)
    },
    awaitNoMore: (event: InstallEventRef): void => {
      const installation = visitKey(event)
      if (read(isStoredInstallation, installation)?.awaits === event.eventId) forget(installation)
    },
  }
}

interface InstallValues {
  readonly read: <T extends { readonly atMs: number }>(isRight: Guard<T>, key: string) => T | null
  /** Nobody may change the value any more. */
  readonly write: (key: string, value: InstallData) => void
  readonly forget: (key: string) => void
}

interface InstallMemory extends InstallValues {
  /** Removes a key that will not be read again; a stored key expires in time. */
  readonly passOver: (key: string) => void
  /** The table was just found not to hold these keys: until the next save it is not asked again. */
  readonly noteAbsent: (keys: readonly string[]) => void
  /** The event is settled or released, so its keys need not be known any longer. */
  readonly forgetAbsent: (event: InstallEventRef) => void
  readonly hasUnsaved: () => boolean
  readonly save: () => void
}

/** Recent writes are in memory only, until `save` stores them together. */
function openMemory(table: Table, nowMs: () => number): InstallMemory {
  const unsaved = new Map<string, InstallData>()
  /** Of events that are being handled: a first one asks two or three times about the same keys. */
  const absent = new Set<string>()
  const stored = (key: string): string | undefined => (absent.has(key) ? undefined : table.get(key))
  let saves = 0
  const index = (day: string, keys: readonly string[]): void => {
    for (let from = 0; from < keys.length; from += KEYS_PER_ENTRY) {
      // The time makes the name unique across starts, the number within one.
      table.put(`${day}/${nowMs()}/${saves++}`, JSON.stringify(keys.slice(from, from + KEYS_PER_ENTRY)))
    }
  }
  return {
    read(isRight, key) {
      const value = unsaved.get(key) ?? storedValue(stored(key))
      return isRight(value) && value.atMs + KEEP_MS > nowMs() ? value : null
    },
    write: (key, value) => void unsaved.set(key, value),
    passOver: (key) => void unsaved.delete(key),
    noteAbsent(keys) {
      for (const key of keys) absent.add(key)
    },
    forgetAbsent(event) {
      absent.delete(answerKey(event))
      absent.delete(visitKey(event))
    },
    forget(key) {
      unsaved.delete(key)
      if (stored(key) !== undefined) table.remove(key)
    },
    hasUnsaved: () => unsaved.size > 0,
    save() {
      const byDay = new Map<number, string[]>()
      for (const [key, value] of unsaved) {
        table.put(key, JSON.stringify('encode' in value ? storedDecision(value) : value))
        const day = Math.floor(value.atMs / DAY_MS)
        const written = byDay.get(day)
        if (written === undefined) byDay.set(day, [key])
        else written.push(key)
      }
      for (const [day, keys] of byDay) index(dayIndex(day * DAY_MS), keys)
      unsaved.clear()
      absent.clear()
    },
  }
}

function storedDecision({ atMs, encode }: KeptDecision): StoredDecision {
  return { atMs, decision: encode() }
}

function keptText(known: KeptDecision | StoredDecision | null): string | null {
  if (known === null) return null
  return 'encode' in known ? known.encode() : known.decision
}

function storedValue(stored: string | undefined): unknown {
  return stored === undefined ? null : JSON.parse(stored)
}

/** The index lists a key under each day on which it was written; only keys that were not written since are deleted. */
function sweepDays(table: Table, dueBeforeMs: number, limit: number): number {
  const entriesMax = Math.ceil(limit / KEYS_PER_ENTRY)
  const due = table.range({ start: 'day/', end: dayIndex(dueBeforeMs), limit: entriesMax })
  for (const { key, value } of due) {
    for (const target of parsedAs(areKeys, value) ?? []) {
      const stored = parsedAs(isTimed, table.get(target) ?? '')
      if (stored !== null && stored.atMs <= dueBeforeMs) table.remove(target)
    }
    table.remove(key)
  }
  return due.length < entriesMax ? due.length : limit
}

function dayIndex(atMs: number): string {
  return `day/${String(Math.floor(Math.max(0, atMs) / DAY_MS)).padStart(DAY_DIGITS, '0')}`
}

function readInstallation(stored: StoredInstallation | null): Installation {
  if (stored?.visit !== undefined) return { kind: 'matched', visit: stored.visit }
  return { kind: stored?.awaits === undefined ? 'none' : 'pending' }
}

type OwnedInstallation = OwnedWebsite & { readonly installationId: string }
type Event = OwnedWebsite & { readonly eventId: string }

function answerKey({ organization, website, eventId }: Event): string {
  return `answer/${organization}/${website}/${eventId}`
}

function decisionKey({ organization, website, eventId }: Event): string {
  return `decision/${organization}/${website}/${eventId}`
}

function visitKey({ organization, website, installationId }: OwnedInstallation): string {
  return `installation/${organization}/${website}/${installationId}`
}
