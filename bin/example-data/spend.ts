/** Makes up ad spend: two campaigns that visits came from, and one that nothing joins, in two currencies. */

import { sha256Hex } from '../../common/digest.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { SpendEntries } from '../../domain/spend/spend-import.ts'
import { wholeBetween, MADE_UP, penOf, type MadeUpDay } from './day.ts'

interface MadeUpCampaign {
  readonly source: string
  readonly campaign: string
  readonly currency: string
  /** Of a day, in hundredths. */
  readonly least: number
}

const CAMPAIGNS: readonly MadeUpCampaign[] = [
  { source: 'google', campaign: 'brand-search', currency: 'EUR', least: 1_800 },
  { source: 'linkedin', campaign: 'platform-teams', currency: 'USD', least: 2_600 },
  { source: 'reddit', campaign: 'devtools-test', currency: 'USD', least: 400 },
]

/** The entries of one import for the days before `last.untilMs`, in their order; its ID is the same for the same end and seed. */
export function spendOf(last: MadeUpDay, days: number) {
  const { organization, website, seed, untilMs } = last
  const time = untilMs.toString(16).padStart(12, '0')
  const entries = new SpendEntries({
    id: time + sha256Hex(`made up ${seed}`).slice(0, 16),
    organization,
    website,
    importedAtMs: untilMs,
    importedBy: '',
    fileName: 'made-up-spend.csv',
    retentionDays: MADE_UP.retentionDays,
  })
  let line = 1
  for (let dayMs = untilMs - days * DAY_MS; dayMs < untilMs; dayMs += DAY_MS) {
    const { random } = penOf({ ...last, dayMs })
    for (const { source, campaign, currency, least } of CAMPAIGNS)
      entries.add({
        line: (line += 1),
        dayMs,
        source,
        campaign,
        currency,
        amount: wholeBetween(least, least * 2, random),
      })
  }
  return entries.finish().entries
}
