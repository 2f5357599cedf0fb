/** The weekly mail as the owner gets it. */

import { until } from '../../../fixtures/until.ts'
import type { PostOffice } from '../../dashboard/support/post-office.ts'

export type { PostOffice }

/** It is looked once a minute whether mails are due. */
const WITHIN_MS = 150_000

export async function weeklyLetter({ mails }: PostOffice): Promise<string> {
  return until(() => mails.find((mail) => mail.includes('every Monday')), {
    what: 'the weekly mail',
    withinMs: WITHIN_MS,
  })
}

interface WeeklyNumbers {
  readonly now: Readonly<Record<string, string>>
  /** Only of those that were others. */
  readonly before: Readonly<Record<string, string>>
}

const LINE = /^(Installs|Match rate|With a known source|Visits|Conversion): ([^(\r\n]*?)(?: \((.*)\))?\r?$/gm

export function readWeeklyMail(text: string): WeeklyNumbers {
  const now: Record<string, string> = {}
  const before: Record<string, string> = {}
  for (const [, title = '', number = '', more = ''] of text.matchAll(LINE)) {
    now[title] = number
    const earlier = /(?:^|, )([\d,]+(?: of [\d,]+)?) before/.exec(more)?.[1]
    if (earlier !== undefined) before[title] = earlier
  }
  return { now, before }
}
