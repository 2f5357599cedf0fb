/**
 * Makes up traffic for trials: the records of one day, always the same for the same seed and day. Every page is on
 * `made-up.example`, and the ID of every installation and event begins with `made-up`, so that nobody mistakes it for real traffic.
 */

import type { OwnedWebsite } from '../../domain/model.ts'
import { plainVisit, type Visit } from '../../domain/collection/visit-fields.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../domain/durations.ts'
import { EXAMPLE_DATA } from '../../domain/figures/example-data.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { CodingAgent, Install, VisitId } from '../../domain/model.ts'
import type { LogRecord, RequestLog } from '../../domain/records.ts'

interface MadeUpDay {
  readonly website: string
  readonly organization: string
  readonly seed: number
  /** Unix ms at which the UTC day begins. */
  readonly dayMs: number
  /** Nothing is received from this moment on, Unix ms: an install may come a day after its visit. */
  readonly untilMs?: number
  /** Key ID in the IDs of visits, so that ranges of time find them. */
  readonly keyId: number
}

/** A choice of several, by weight. */
type Weighted<T> = readonly (readonly [weight: number, value: T])[]

interface TrafficChannel {
  readonly source: string
  readonly medium: string
  readonly campaign: string
  readonly referrer: string
}

const channel = (source: string, medium: string, campaign: string, referrer: string): TrafficChannel => {
  return { source, medium, campaign, referrer }
}

const CHANNELS: Weighted<TrafficChannel> = [
  [34, channel('', '', '', '')],
  [24, channel('', '', '', 'https://search.example/')],
  [14, channel('newsletter', 'email', 'launch', '')],
  [11, channel('github', 'referral', '', 'https://code.example/')],
  [9, channel('forum', 'social', 'show-and-tell', 'https://news.example/')],
  [8, channel('ads', 'cpc', 'autumn', 'https://search.example/')],
]
const PAGES: Weighted<string> = [
  [5, '/'],
  [3, '/install'],
  [2, '/docs/quickstart'],
]
const PLATFORMS: Weighted<readonly [platform: string, arch: string]> = [
  [5, ['linux', 'x86_64']],
  [3, ['darwin', 'arm64']],
  [1, ['linux', 'aarch64']],
]
const AGENTS: Weighted<CodingAgent | null> = [
  [7, null],
  [2, 'claude-code'],
  [1, 'codex'],
]
const VISITS_A_DAY = 110
const GROWTH = 0.004
const WEEKEND = 0.55

/** Visits of the day with what became of each, and installs without a visit, in order of time. */
export function trafficOfDay(options: MadeUpDay): readonly LogRecord[] {
  const random = seededNumbers(`${options.seed} ${options.dayMs}`)
  const day = new Date(options.dayMs).getUTCDay()
  // Grows a little each day; counting days from 1970 makes every period agree on a day.
  const trend = Math.exp(GROWTH * ((options.dayMs / DAY_MS) % 120))
  const count = Math.round(VISITS_A_DAY * trend * (day === 0 || day === 6 ? WEEKEND : 1) * (0.85 + 0.3 * random()))
  const records = Array.from({ length: count }, (_, index) => visitStory(options, index, random)).flat()
  const { untilMs = Infinity } = options
  return records.filter((record) => receivedAt(record) < untilMs).toSorted((a, b) => receivedAt(a) - receivedAt(b))
}

function receivedAt(record: LogRecord): number {
  return 'request' in record ? record.request.receivedAtMs : 0
}

/** A visit, its marker, perhaps a copied command, and perhaps an install on the same machine or another. */
function visitStory(options: MadeUpDay, index: number, random: () => number): LogRecord[] {
  const { website, organization, dayMs } = options
  const issuedAtMs = dayMs + Math.floor(DAY_MS * workingHour(random))
  const visitId = idOfVisit(options, index, issuedAtMs)
  const visit = madeUpVisit({ website, organization, visitId, issuedAtMs }, random)
  const logOf = (path: string, receivedAtMs: number): RequestLog =>
    madeUpRequest(options, { index, path, receivedAtMs })
  const base = { v: 1, retentionDays: LIMITS.retentionDays.fallback } as const
  const about = { website, organization, visitId, issuedAtMs }
  const story: LogRecord[] = [{ ...base, kind: 'visit', request: logOf('/v1/visits', issuedAtMs), visit }]
  if (random() < 0.92) {
    const activatedAtMs = issuedAtMs + 400
    const marks = { activatedAtMs, revokedVisitId: null, revokedIssuedAtMs: null, isPredecessorUnknown: false }
    story.push({
      ...base,
      ...about,
      ...marks,
      kind: 'activation',
      request: logOf('/v1/visits/activate', activatedAtMs),
    })
  }
  if (random() < 0.3) {
    const askedAtMs = issuedAtMs + 20 * SECOND_MS
    story.push({
      ...base,
      ...about,
      kind: 'handoff',
      request: logOf('/v1/handoffs', askedAtMs),
      askedAtMs,
      gpc: false,
      isCopied: true,
      isHandoffOnly: false,
      visit: null,
    })
  }
  if (random() < 0.16) {
    const receivedAtMs = issuedAtMs + MINUTE_MS + Math.floor(random() ** 4 * DAY_MS)
    const install = madeUpInstall(options, index, { receivedAtMs, visit: random() < 0.78 ? visit : null, random })
    story.push({ ...base, kind: 'install', request: logOf('/v1/events', receivedAtMs), install })
  }
  return story
}

/** More by day than by night. */
function workingHour(random: () => number): number {
  return (random() + random() + random()) / 3
}

/** The form of visit IDs in receipts: key ID, time, and a distinguishing part. */
function idOfVisit({ keyId, seed }: MadeUpDay, index: number, issuedAtMs: number): VisitId {
  const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')
  return hex(keyId, 2) + hex(issuedAtMs, 12) + hex(seed, 10) + hex(index, 8)
}

interface KnownVisit extends OwnedWebsite {
  readonly visitId: VisitId
  readonly issuedAtMs: number
}

function madeUpVisit(known: KnownVisit, random: () => number): Visit {
  const { source, medium, campaign, referrer } = pickWeighted(CHANNELS, random)
  const utm = Object.entries({ source, medium, campaign }).filter(([, value]) => value !== '')
  return plainVisit({
    ...known,
    origin: EXAMPLE_DATA.origin,
    pageUrl: EXAMPLE_DATA.origin + pickWeighted(PAGES, random),
    referrer,
    utm: Object.fromEntries(utm),
  })
}

interface MadeUpInstallOptions {
  readonly receivedAtMs: number
  /** Null: no receipt was found. */
  readonly visit: Visit | null
  readonly random: () => number
}

/** Without deliveries, so that nothing made up reaches a provider. */
function madeUpInstall(
  options: MadeUpDay,
  index: number,
  { receivedAtMs, visit, random }: MadeUpInstallOptions,
): Install {
  const { website, organization, dayMs, seed } = options
  const [platform, arch] = pickWeighted(PLATFORMS, random)
  const agent = pickWeighted(AGENTS, random)
  const eventId = `${EXAMPLE_DATA.idPrefix}${seed}-${dayMs / DAY_MS}-${index}`
  const isMatched = visit !== null
  const resolution = isMatched ? 'matched' : 'unmatched'
  const selectionPolicy = isMatched ? 'latest_visit' : 'none'
  const candidateCount = isMatched ? 1 : 0
  return {
    website,
    organization,
    eventId,
    installationId: `${eventId}-machine`,
    eventType: 'install_completed',
    receivedAtMs,
    installPath: null,
    platform,
    arch,
    browsers: ['chromium'],
    defaultBrowser: 'chromium',
    timezone: '',
    language: '',
    productVersion: '',
    place: '',
    isCi: false,
    isContainer: false,
    isTest: false,
    ...(agent === null ? {} : { agent }),
    resolution,
    selectionPolicy,
    candidateCount,
    gpc: false,
    deliveries: [],
    catalogNumber: 0,
    visitId: visit?.visitId ?? null,
    visitIssuedAtMs: visit?.issuedAtMs ?? null,
    verdicts: visit === null ? [] : [{ visitId: visit.visitId, issuedAtMs: visit.issuedAtMs, verdict: 'active' }],
    answer: {
      ok: true,
      event_id: eventId,
      duplicate: false,
      resolution,
      candidate_count: candidateCount,
      selection_policy: selectionPolicy,
      ga: { status: 'not_queued', deliveries: [] },
    },
  }
}

interface MadeUpCall {
  readonly index: number
  readonly path: string
  readonly receivedAtMs: number
}

function madeUpRequest(
  { website, organization, seed }: MadeUpDay,
  { index, path, receivedAtMs }: MadeUpCall,
): RequestLog {
  const body = JSON.stringify({ project: website, note: 'made up' })
  return {
    id: receivedAtMs.toString(16).padStart(12, '0') + (seed * 65_536 + index).toString(16).padStart(16, '0'),
    receivedAtMs,
    durationMs: 1,
    website,
    organization,
    method: 'POST',
    path,
    status: 200,
    code: '',
    origin: path === '/v1/events' ? '' : EXAMPLE_DATA.origin,
    userAgent: 'made up',
    addressHash: '',
    body,
    bodyForm: 'text',
    bodyBytes: body.length,
    isRedacted: false,
    logRetentionDays: LIMITS.logRetentionDays.fallback,
  }
}

function pickWeighted<T>(choices: Weighted<T>, random: () => number): T {
  let left = random() * choices.reduce((sum, [weight]) => sum + weight, 0)
  const found = choices.find(([weight]) => (left -= weight) < 0) ?? choices[0]
  if (found === undefined) throw new Error('there is nothing to choose from')
  return found[1]
}

/** Pseudo-random numbers from 0 to 1, seeded by a text (xorshift32); good enough for charts, and for nothing else. */
function seededNumbers(text: string): () => number {
  let state = [...text].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16_777_619), 2_166_136_261) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 4_294_967_296
  }
}
