/** Every order in which news of a receipt may come, and what the domain's table says of it. */

import { RECEIPT_TRANSITIONS, type ReceiptNews, type ReceiptStanding } from '../../domain/receipt-states.ts'
import type { ReceiptRef, ReceiptVerbs } from '../../ports/hot-state/hot-state.ts'

const NEWS = Object.keys(RECEIPT_TRANSITIONS) as ReceiptNews[]
const SECOND = NEWS.flatMap((first) => NEWS.map((second) => [first, second]))

/** Three pieces of news: enough to reach each state and to leave it by each. */
export const NEWS_IN_ANY_ORDER: readonly (readonly ReceiptNews[])[] = SECOND.flatMap((two) =>
  NEWS.map((third) => [...two, third]),
)

export async function tellNews(state: ReceiptVerbs, receipt: ReceiptRef, news: ReceiptNews): Promise<void> {
  if (news === 'issued' || news === 'active' || news === 'revoked')
    return state.learn({ ...receipt, previous: null }, news)
  const previous = 'unknown'
  await state.learn({ ...receipt, previous }, news === 'replaced' ? 'revoked' : 'active')
}

export function standingAfter(told: readonly ReceiptNews[]): ReceiptStanding {
  return told.reduce<ReceiptStanding>((standing, news) => RECEIPT_TRANSITIONS[news][standing], 'unknown')
}
