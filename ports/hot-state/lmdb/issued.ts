/**
 * The receipts issued within the last hour: most are activated within seconds, or never.
 *
 * They are buffered in memory and stored many to a value: one key each cost a visit more than the append of its record.
 * Those that a crash loses are restored from the log's newest records at the next start. A key begins with the tenth of a
 * second in which its receipts were issued, followed by the time when the last of them was put; its value has a line for
 * each.
 */

import { LIMITS } from '../../../domain/limits.ts'
import type { Table } from '../../shared/lmdb/table.ts'

import type { IssuedReceipt, Predecessor, ReceiptRef } from '../hot-state.ts'
import { timeKey } from './time-key.ts'

/** What is known of an issued receipt. */
export interface Issued {
  readonly putAtMs: number
  readonly previous: Predecessor
}

export interface IssuedReceipts {
  put(receipt: IssuedReceipt): void
  /** Null if it is unknown, or was put more than an hour ago. */
  find(receipt: ReceiptRef): Issued | null
  /** Its state is now stored elsewhere, so it need not be stored here. */
  forget(receipt: ReceiptRef): void
}

interface StoredIssuedReceipts extends IssuedReceipts {
  hasUnsaved(): boolean
  /** Writes what was put to the table. */
  save(): void
  /** Deletes up to `limit` expired values; returns how many. */
  sweep(limit: number): number
}

const TENTH_MS = 100
/** Marks an unknown predecessor. */
const UNKNOWN_VISIT = '0'.repeat(32)
const RECEIPTS_PER_VALUE = 250
/** Bounds the memory between two saves. */
const UNSAVED_MAX = 10_000
/** Receipts of one tenth of a second; far more than one machine issues. */
const VALUES_MAX = 1_000

/** `durable` resolves when everything written to the table so far is stored. */
export function openIssued(table: Table, nowMs: () => number, durable: () => Promise<void>): StoredIssuedReceipts {
  let unsaved = new Map<string, Issued & ReceiptRef>()
  /** Written to the table but perhaps not to disk yet: only stored values can be searched. */
  const onTheWay = new Set<ReadonlyMap<string, Issued>>()
  let saves = 0

  const save = (): void => {
    if (unsaved.size === 0) return
    const saved = unsaved
    unsaved = new Map()
    for (const [tenth, receipts] of Map.groupBy(saved.values(), tenthOf)) {
      for (let from = 0; from < receipts.length; from += RECEIPTS_PER_VALUE) {
        const some = receipts.slice(from, from + RECEIPTS_PER_VALUE)
        // The time makes the name unique across starts, the number within one.
        const key = `issued/${timeKey(tenth)}/${timeKey(some.at(-1)?.putAtMs ?? 0)}/${saves++}`
        table.put(key, chunkText(some))
      }
    }
    onTheWay.add(saved)
    // If the store has failed, its process ends.
    durable().then(
      () => onTheWay.delete(saved),
      () => undefined,
    )
  }
  const inMemory = (name: string): Issued | undefined => {
    const found = unsaved.get(name)
    if (found !== undefined || onTheWay.size === 0) return found
    return [...onTheWay]
      .reverse()
      .find((saved) => saved.has(name))
      ?.get(name)
  }
  return {
    put({ organization, website, visitId, issuedAtMs, previous }) {
      const receipt = { organization, website, visitId, issuedAtMs, previous, putAtMs: nowMs() }
      unsaved.set(receiptName(receipt), receipt)
      if (unsaved.size >= UNSAVED_MAX) save()
    },
    find: (receipt) => unlessOver(inMemory(receiptName(receipt)) ?? findStored(table, receipt), nowMs()),
    forget: (receipt) => void unsaved.delete(receiptName(receipt)),
    hasUnsaved: () => unsaved.size > 0,
    save,
    sweep: (limit) => sweep(table, nowMs() - LIMITS.issuedMemoryMs, limit),
  }
}

/** Null if it was put more than an hour ago. */
export function unlessOver(issued: Issued | null, nowMs: number): Issued | null {
  return issued !== null && issued.putAtMs + LIMITS.issuedMemoryMs > nowMs ? issued : null
}

/** A receipt that was learnt again is in several values: the latest counts. */
function findStored(table: Table, receipt: ReceiptRef): Issued | null {
  const tenth = `issued/${timeKey(tenthOf(receipt))}`
  const mark = `\n${receiptName(receipt)} `
  let latest: Issued | null = null
  for (const { value } of table.range({ start: `${tenth}/`, end: `${tenth}0`, limit: VALUES_MAX })) {
    const start = value.indexOf(mark)
    if (start === -1) continue
    const issued = readLine(value.slice(start + mark.length, value.indexOf('\n', start + mark.length)), receipt)
    if (latest === null || issued.putAtMs >= latest.putAtMs) latest = issued
  }
  return latest
}

/** Values that were learnt late lie before the bound but are not due yet: they are skipped. */
function sweep(table: Table, dueBeforeMs: number, limit: number): number {
  let removed = 0
  for (const { key } of table.range({ start: 'issued/', end: `issued/${timeKey(dueBeforeMs + 1)}`, limit })) {
    if (Number(key.split('/')[2]) > dueBeforeMs) continue
    table.remove(key)
    removed++
  }
  return removed
}

/** Unique among all receipts: none of these IDs contains blanks. */
export function receiptName({ visitId, organization, website, issuedAtMs }: ReceiptRef): string {
  return `${visitId} ${organization} ${website} ${issuedAtMs}`
}

function chunkText(receipts: readonly (Issued & ReceiptRef)[]): string {
  let text = '\n'
  for (const receipt of receipts) {
    const { previous } = receipt
    text += `${receiptName(receipt)} ${receipt.putAtMs}${previousText(previous)}\n`
  }
  return text
}

function previousText(previous: Predecessor): string {
  if (previous === null) return ''
  return previous === 'unknown' ? ` ${UNKNOWN_VISIT} 0` : ` ${previous.visitId} ${previous.issuedAtMs}`
}

/** A receipt only ever replaces one of its own website and organisation. */
function readLine(line: string, { organization, website }: ReceiptRef): Issued {
  const [putAtMs, visitId, issuedAtMs] = line.split(' ')
  if (visitId === UNKNOWN_VISIT) return { putAtMs: Number(putAtMs), previous: 'unknown' }
  const previous = visitId === undefined ? null : { organization, website, visitId, issuedAtMs: Number(issuedAtMs) }
  return { putAtMs: Number(putAtMs), previous }
}

function tenthOf({ issuedAtMs }: ReceiptRef): number {
  return Math.floor(issuedAtMs / TENTH_MS) * TENTH_MS
}
