/** Lets the week of the documentation happen, and writes its page: `npm run -s docs-week`. */

import { writeFile } from 'node:fs/promises'

import type { Overview } from './service/overview.ts'
import { START_MS, startLedger, wordsOf, type Ledger } from './service/stage.ts'
import { weekFrom, weekPage, type Week } from './week.ts'

export const PAGE = new URL('../../docs/one-week.md', import.meta.url)

export async function weekPageOf({ read }: Ledger, week: Week) {
  const overview = (await read('overview', { ...wordsOf(week.period), bucket: 'day' })) as Overview
  return { overview, page: weekPage(week, overview) }
}

if (import.meta.main) {
  const week = weekFrom(START_MS)
  const ledger = await startLedger({ world: week.world })
  await writeFile(PAGE, (await weekPageOf(ledger, week)).page)
  await ledger.stop()
}
