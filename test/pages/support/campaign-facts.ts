/** Visits of a campaign at noon of the day before, of which so many led to an install. */

import { DAY_MS, HOUR_MS } from '../../../domain/durations.ts'
import type { LogRecord } from '../../../domain/records.ts'
import { createKeyring } from '../../../runtime/keyring.ts'
import { installRecord, visitRecord } from '../../contract/fact-samples.ts'
import { SECRET } from '../../dashboard/support/stage.ts'

export interface CampaignTraffic {
  readonly organization: string
  readonly website: string
  readonly source: string
  readonly campaign: string
  readonly visits: number
  readonly installs: number
}

const NOON_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS / 2
/** Of all this traffic, as a file of ad spend names it. */
export const CAMPAIGN_DAY = new Date(NOON_MS).toISOString().slice(0, 10)
const KEY_ID = createKeyring([SECRET]).currentKeyId

let serial = 0

export function campaignTraffic({ source, campaign, visits, installs, ...of }: CampaignTraffic): readonly LogRecord[] {
  return Array.from({ length: visits }, (_, index) => {
    const atMs = NOON_MS + index
    const visitId = `${KEY_ID.toString(16).padStart(2, '0')}${atMs.toString(16).padStart(12, '0')}${(serial++).toString(16).padStart(18, '0')}`
    const visit = visitRecord({ ...of, visitId, issuedAtMs: atMs, utm: { source, campaign } })
    const matched = { resolution: 'matched', selectionPolicy: 'latest_visit', visitId, visitIssuedAtMs: atMs } as const
    return index < installs ? [visit, installRecord({ ...of, receivedAtMs: atMs + HOUR_MS, ...matched })] : [visit]
  }).flat()
}
