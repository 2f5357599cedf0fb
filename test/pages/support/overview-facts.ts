/** Two weeks of visits and installs of a product, as the overview shows them. */

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../domain/durations.ts'
import type { LogRecord } from '../../../domain/records.ts'
import { createKeyring } from '../../../runtime/keyring.ts'
import { installRecord, visitRecord } from '../../contract/fact-samples.ts'
import { SECRET } from '../../dashboard/support/stage.ts'

const KEY_ID = createKeyring([SECRET]).currentKeyId
const CAMPAIGNS = [
  { source: 'google', campaign: 'brand-search', visits: 9 },
  { source: 'newsletter', campaign: 'november-release', visits: 7 },
  { source: 'hacker-news', campaign: 'show-hn', visits: 6 },
  { source: 'github.com', campaign: '', visits: 4 },
  { source: '', campaign: '', visits: 8 },
] as const
const LANDINGS = ['', 'install', 'docs/getting-started/with-containers', 'blog/what-is-new-in-2-4']
const VERSIONS = ['2.4.1', '2.4.0', '2.3.7']
const METHODS = ['script', 'homebrew', 'npm']
const AGENTS = [null, null, null, 'claude-code', 'cursor'] as const
const PLACES = ['', '', '', 'readme']
/** Every so many visits lead to an install, and every so many installs of these bring nothing along. */
const VISITS_OF_INSTALL = 3
const UNMATCHED_EVERY = 4
/** The week before had fewer. */
const EARLIER_SHARE = 0.7

interface Traffic {
  readonly organization: string
  readonly website: string
  readonly nowMs: number
  readonly days: number
  /** Installs are counted and not looked up. */
  readonly isFree?: true
}

let serial = 0

export function overviewTraffic(traffic: Traffic): readonly LogRecord[] {
  const days = Array.from({ length: traffic.days }, (_, day) => day)
  return days.flatMap((day) =>
    CAMPAIGNS.flatMap((campaign) =>
      Array.from({ length: visitsOf(campaign, day) }, (_, place) => {
        const atMs = traffic.nowMs - day * DAY_MS - 3 * HOUR_MS - place * 7 * MINUTE_MS
        return visitWithInstall(traffic, campaign, atMs)
      }).flat(),
    ),
  )
}

type Campaign = (typeof CAMPAIGNS)[number]

/** On the day before today one was on the first page of a forum. */
function visitsOf({ source, visits }: Campaign, day: number): number {
  const burst = source === 'hacker-news' && day === 1 ? 4 : 1
  return Math.round(visits * burst * (day < 7 ? 1 + (day % 3) / 4 : EARLIER_SHARE))
}

function visitWithInstall(traffic: Traffic, { source, campaign }: Campaign, atMs: number): readonly LogRecord[] {
  const { organization, website } = traffic
  const of = { organization, website }
  const visitId = `${KEY_ID.toString(16).padStart(2, '0')}${atMs.toString(16).padStart(12, '0')}${(serial++).toString(16).padStart(18, '0')}`
  const landingPage = `https://${website}.example/${LANDINGS[serial % LANDINGS.length] ?? ''}`
  const visit = visitRecord({ ...of, visitId, issuedAtMs: atMs, landingPage, utm: { source, campaign } })
  if (serial % VISITS_OF_INSTALL !== 0) return [visit]
  const machine = serial / VISITS_OF_INSTALL
  const agent = AGENTS[machine % AGENTS.length] ?? null
  const said = {
    ...of,
    receivedAtMs: atMs + 20 * MINUTE_MS,
    installationId: `${organization}-machine-${machine}`,
    installPath: nthOf(METHODS, machine),
    productVersion: nthOf(VERSIONS, machine),
    platform: nthOf(['linux', 'darwin', 'linux'], machine),
    place: nthOf(PLACES, machine),
    ...(agent === null ? {} : { agent }),
  }
  if (traffic.isFree) return [visit, installRecord({ ...said, resolution: 'counted' })]
  const matched = { resolution: 'matched', selectionPolicy: 'handoff', visitId, visitIssuedAtMs: atMs } as const
  return [visit, installRecord(machine % UNMATCHED_EVERY === 0 ? said : { ...said, ...matched })]
}

function nthOf(texts: readonly string[], place: number): string {
  return texts[place % texts.length] ?? ''
}
