/** Puts ad spend beside the visits and installs that it brought: a row joins those of exactly its source and campaign. */

import type { SpendTotal } from './spend-records.ts'

interface SpendOf extends SpendTotal {
  readonly source: string
  /** Empty: of none; or all of the source are one. */
  readonly campaign: string
}

/** Visits and installs by `joinKey`. */
export interface Joinable {
  readonly visits: ReadonlyMap<string, number>
  readonly installs: ReadonlyMap<string, number>
}

interface JoinedSpend extends SpendOf {
  readonly visits: number
  readonly installs: number
  /** Of the smallest unit, not rounded; null if there is none. */
  readonly perVisit: number | null
  readonly perInstall: number | null
}

/** How much of the spend in one currency joined something. */
interface CurrencySpend extends SpendTotal {
  readonly joined: number
  readonly notJoined: number
  /** Of sources and campaigns that are not listed, since there are too many: whether they joined something is not known. */
  readonly other: number
}

interface ComparedSpend {
  readonly currencies: readonly CurrencySpend[]
  /** The greatest amounts first. */
  readonly rows: readonly JoinedSpend[]
  /** What no visit and no install has the source and campaign of. */
  readonly notJoined: readonly SpendOf[]
}

/** As figures by the hour hold both in one value (`SOURCE_CAMPAIGN`). Neither text of a file has a tab. */
export function joinKey({ source, campaign }: { readonly source: string; readonly campaign: string }): string {
  return `${source}\t${campaign}`
}

/** `totals` may hold more than `spend` does, of which only so many rows are listed. */
export function joinSpend(
  spend: readonly SpendOf[],
  totals: readonly SpendTotal[],
  { visits, installs }: Joinable,
): ComparedSpend {
  const rows: JoinedSpend[] = []
  const notJoined: SpendOf[] = []
  for (const own of spend) {
    const key = joinKey(own)
    const counts = { visits: visits.get(key) ?? 0, installs: installs.get(key) ?? 0 }
    if (counts.visits === 0 && counts.installs === 0) notJoined.push(own)
    else {
      const { amount } = own
      rows.push({
        ...own,
        ...counts,
        perVisit: costPer(amount, counts.visits),
        perInstall: costPer(amount, counts.installs),
      })
    }
  }
  const currencies = totals.map(({ currency, amount }) => {
    const joined = sumIn(rows, currency)
    const unjoined = sumIn(notJoined, currency)
    return { currency, amount, joined, notJoined: unjoined, other: Math.max(0, amount - joined - unjoined) }
  })
  return { currencies, rows, notJoined }
}

function costPer(amount: number, count: number): number | null {
  return count === 0 ? null : amount / count
}

function sumIn(spend: readonly SpendOf[], currency: string): number {
  return spend.reduce((sum, own) => (own.currency === currency ? sum + own.amount : sum), 0)
}
