/** An Overview as the service shows it, and as the book has it. */

import { rowsBy, totalOf, type Book, type Counts, type Period } from '../world/book.ts'
import { stepsIn, type StepName } from '../world/calendar.ts'
import { counts, INSTALLS, objectIn, VISITS, type Row } from './surfaces.ts'
import { DAY } from '../world/world.ts'

export const PANELS_OF_VISITS = ['campaign', 'source', 'landing_page']
export const PANELS = [...PANELS_OF_VISITS, 'path', 'place', 'platform', 'version', 'agent']
/** Visits have so long to lead to an install. */
const PATIENCE = 7 * DAY

export interface Side {
  readonly total: Row
  readonly steps: readonly Row[]
}

export interface Overview extends Side {
  readonly since: number
  readonly until: number
  readonly step: StepName
  readonly comparison: Row | null
  readonly before: Side | null
  readonly unfiltered: Row
  readonly visitsLeftOut: string | null
  readonly panels: readonly { readonly by: string; readonly rows: readonly Row[] }[]
  readonly reasons: readonly { readonly installs: number }[]
  readonly largestChange: Row | null
}

export function shown({ total, steps }: Side) {
  return {
    total: {
      installs: counts(objectIn(total['installs']) ?? {}, INSTALLS),
      visits: visitsIn(total['visits']),
      ripe: visitsIn(total['ripe']),
    },
    steps: steps.map(({ at, until, isPart, isRipe, installs, visits }) => ({
      step: { since: at, until, isPart },
      isRipe,
      installs: counts(objectIn(installs) ?? {}, INSTALLS),
      visits: visitsIn(visits),
    })),
  }
}

function visitsIn(value: unknown): Counts | null {
  const row = objectIn(value)
  return row === null ? null : counts(row, VISITS)
}

interface SideAsked {
  readonly book: Book
  readonly steps: StepName
  readonly now: number
  readonly hasVisits: boolean
}

/** What Overview must say of one of its two periods. */
export function sideOf({ book, steps: name, now, hasVisits }: SideAsked, period: Period) {
  const steps = stepsIn(name, period)
  const visits = ({ visits: all }: ReturnType<typeof totalOf>) => (hasVisits ? all : null)
  const ripe = steps.filter(({ until }) => until + PATIENCE <= now)
  const total = totalOf(book, period)
  const ofRipe = ripe.map((step) => totalOf(book, step).visits)
  const sumOfRipe = Object.fromEntries(
    VISITS.map((step) => [step, ofRipe.reduce((sum, each) => sum + (each[step] ?? 0), 0)]),
  )
  return {
    total: { installs: total.installs, visits: visits(total), ripe: hasVisits ? sumOfRipe : null },
    steps: steps.map((step) => ({
      step,
      isRipe: ripe.includes(step),
      installs: totalOf(book, step).installs,
      visits: visits(totalOf(book, step)),
    })),
  }
}

interface PanelRow {
  readonly installs: number
  readonly visits: number | null
  readonly before: number | null
}

export type Panel = Readonly<Record<string, PanelRow>>

export function panelShown(rows: readonly Row[]): Panel {
  return withNumbers(
    rows.map(({ row, value, installs, visits, before }) => [
      `${String(row)} ${String(value)}`,
      {
        installs: Number(installs),
        visits: visits === null ? null : Number(visits),
        before: before === null ? null : Number(before),
      },
    ]),
  )
}

export function panelOf(
  { book, by }: { readonly book: Book; readonly by: string },
  period: Period,
  before: Period | null,
): Panel {
  const now = rowsBy(book, by, period)
  const then = before === null ? null : rowsBy(book, by, before)
  const countsVisits = PANELS_OF_VISITS.includes(by)
  return withNumbers(
    [...new Set([...now.keys(), ...(then?.keys() ?? [])])].map((name) => [
      name,
      {
        installs: now.get(name)?.installs['installs'] ?? 0,
        visits: countsVisits ? (now.get(name)?.visits?.['visits'] ?? 0) : null,
        before: then === null ? null : (then.get(name)?.installs['installs'] ?? 0),
      },
    ]),
  )
}

/** A row without any number says nothing. */
function withNumbers(rows: readonly (readonly [string, PanelRow])[]): Panel {
  return Object.fromEntries(rows.filter(([, row]) => Object.values(row).some((number) => (number ?? 0) > 0)))
}
