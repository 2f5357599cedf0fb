/**
 * Figures of somebody alone and beside somebody else, in pairs of windows of the same length. A machine's speed changes from minute to
 * minute, so each pair is compared with itself, and which of its two windows comes first changes from pair to pair. A figure holds its bound
 * if it does in the middle pair; its spread over all pairs is shown with it.
 */

import { median } from '../support/rounds.ts'

/** Nine pairs: a single disturbed one cannot decide. */
export const PAIRS = 9

export type WindowKind = 'alone' | 'beside'

export interface PairedFigure {
  /** As printed, with its unit. */
  readonly name: string
  /** Beside somebody else it may be so many times the figure alone, or so much more, whichever is larger. Absent: shown only. */
  readonly mayBe?: { readonly times: number; readonly orMore: number }
}

export interface WindowPlan<Name extends string> {
  readonly pairs: number
  readonly figures: Readonly<Record<Name, PairedFigure>>
  /** One window; whatever it starts has ended when it resolves. */
  readonly measure: (kind: WindowKind, pair: number) => Promise<Readonly<Record<Name, number>>>
}

interface FigureSpread {
  readonly least: number
  readonly middle: number
  readonly most: number
}

export interface PairsResult {
  readonly alone: FigureSpread
  readonly beside: FigureSpread
  /** Beside divided by alone, of each pair. */
  readonly ratio: FigureSpread
  /** Whether the bound holds in the middle pair; true if there is none. */
  readonly isHeld: boolean
}

/**
 * Measures all pairs in turns and prints each, then a table of the figures.
 * @returns whether every bound holds
 * @throws whatever a window does; and if a figure is missing
 */
export async function measurePairs<Name extends string>({
  pairs,
  figures,
  measure,
}: WindowPlan<Name>): Promise<boolean> {
  const names = Object.keys(figures) as Name[]
  const measured: Record<WindowKind, Readonly<Record<Name, number>>[]> = { alone: [], beside: [] }
  for (let pair = 0; pair < pairs; pair += 1) {
    const kinds = pair % 2 === 0 ? (['alone', 'beside'] as const) : (['beside', 'alone'] as const)
    for (const kind of kinds) measured[kind].push(await measure(kind, pair))
    const shown = names.map((name) => {
      const [alone, beside] = [measured.alone, measured.beside].map((all) => inFigures(all[pair]?.[name] ?? Number.NaN))
      return `${figures[name].name} ${alone} alone, ${beside} beside`
    })
    console.log(`  pair ${pair + 1}: ${shown.join('; ')}`)
  }
  const results = names.map((name) => {
    const [alone, beside] = [measured.alone, measured.beside].map((all) => all.map((window) => window[name]))
    return [figures[name], comparePairs({ alone: alone ?? [], beside: beside ?? [] }, figures[name].mayBe)] as const
  })
  console.log(tableOf(results, pairs))
  return results.every(([, { isHeld }]) => isHeld)
}

/** @throws unless both have a figure for each pair */
export function comparePairs(
  { alone, beside }: Readonly<Record<WindowKind, readonly number[]>>,
  mayBe: PairedFigure['mayBe'],
): PairsResult {
  if (alone.length !== beside.length) throw new Error('a figure is missing')
  const pairs = alone.map((one, pair) => ({ one, other: beside[pair] ?? Number.NaN }))
  // Nothing beside nothing, such as failures, is no change.
  const ratios = pairs.map(({ one, other }) => (one === other ? 1 : other / one))
  const excess = pairs.map(({ one, other }) =>
    mayBe === undefined ? 0 : other - Math.max(one * mayBe.times, one + mayBe.orMore),
  )
  return {
    alone: spreadOf(alone),
    beside: spreadOf(beside),
    ratio: spreadOf(ratios),
    isHeld: median(excess) <= 0,
  }
}

function spreadOf(values: readonly number[]): FigureSpread {
  return { least: Math.min(...values), middle: median(values), most: Math.max(...values) }
}

function tableOf(results: readonly (readonly [PairedFigure, PairsResult])[], pairs: number): string {
  const rows = results.map(([{ name, mayBe }, { alone, beside, ratio, isHeld }]) => {
    const bound = mayBe === undefined ? '–' : `${mayBe.times} times, or ${inFigures(mayBe.orMore)} more`
    const verdict = mayBe === undefined ? '–' : isHeld ? 'held' : 'MISSED'
    return `| ${name} | ${inSpread(alone)} | ${inSpread(beside)} | ${inSpread(ratio)} | ${bound} | ${verdict} |`
  })
  return [
    `Medians of ${pairs} pairs, and (least to most):`,
    '| | Alone | Beside | Ratio | May be | |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n')
}

function inSpread({ least, middle, most }: FigureSpread): string {
  return `${inFigures(middle)} (${inFigures(least)} to ${inFigures(most)})`
}

function inFigures(value: number): string {
  return Math.abs(value) >= 100 || Number.isInteger(value)
    ? value.toFixed(0)
    : value.toFixed(Math.abs(value) < 10 ? 2 : 1)
}
