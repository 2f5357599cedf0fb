/** Asks every page of the dashboard that reads facts, with each of its filters, as a person would. */

import type { ReplayResult, UnfinishedReplay } from '../../domain/collection/replay-decision.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { EXAMPLE_DATA } from '../../domain/figures/example-data.ts'
import {
  OTHER_ORGANIZATION,
  OTHER_WEBSITE,
  SCALE_ORGANIZATION,
  SCALE_WEBSITES,
  sinceOf,
  type ScaleShape,
} from '../../fixtures/scale/shape.ts'
import type { LogRecord } from '../../domain/records.ts'
import { ROUTES } from '../../dashboard/api/routes.ts'
import type { RowOf } from '../../ports/facts/columns.ts'
import type { Facts, FactsReader } from '../../ports/facts/facts.ts'
import { URL_OF_RECEIVER } from '../delivery/streams/receiver.ts'
import { activityRecord, installRecord, store } from '../contract/fact-samples.ts'
import { spendRecords, type SampleSpend } from '../contract/spend-samples.ts'
import { storeCounted } from '../support/counted.ts'
import { organizationOf, startStage, websiteOf, type Stage, type Told } from '../dashboard/support/stage.ts'

const MAIN = SCALE_WEBSITES[0]
const ROOT = '/api/organizations'
/** Of a page whose statements other programs keep from the processor: they are cut off by the clock, but measured by their processor time. */
const MOST_TRIES = 5
/** ID of the first of the made-up replays. */
const FIRST_REPLAY = '0'.repeat(28)
const DONE_REPLAY = `${'0'.repeat(27)}1`

export interface AskedPages {
  readonly stage: Stage
  readonly get: (path: string) => Promise<Told>
}

const HOOKS = `---
apiVersion: v1
kind: Secret
metadata: { name: scale-secret }
stringData: { secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw }
---
apiVersion: whence.dev/v1alpha1
kind: LogStream
metadata: { name: scale-logs }
spec:
  organizationRef: { name: ${SCALE_ORGANIZATION} }
  webhook: { url: '${URL_OF_RECEIVER}', secretRef: { name: scale-secret, key: secret } }
---
apiVersion: whence.dev/v1alpha1
kind: Webhook
metadata: { name: scale-hook }
spec:
  organizationRef: { name: ${SCALE_ORGANIZATION} }
  url: '${URL_OF_RECEIVER}'
  events: [install.matched]
  secretRef: { name: scale-secret, key: secret }
`

/** A dashboard over these facts whose clock begins at `untilMs`. */
export async function openPages(facts: FactsReader, untilMs: number): Promise<AskedPages> {
  const members = { 'anna@scale.dev': 'Admin' }
  const manifests = [
    organizationOf(SCALE_ORGANIZATION, { members }),
    ...SCALE_WEBSITES.map((id) => websiteOf(id, SCALE_ORGANIZATION)),
    `---\n${organizationOf(OTHER_ORGANIZATION)}`,
    websiteOf(OTHER_WEBSITE, OTHER_ORGANIZATION),
    HOOKS,
  ].join('')
  const stage = await startStage({ manifests, facts })
  stage.advance(untilMs - stage.nowMs())
  const cookies = await stage.signIn('anna@scale.dev')
  const get = async (path: string, tries = MOST_TRIES): Promise<Told> => {
    const told = await stage.ask('GET', `${ROOT}/${SCALE_ORGANIZATION}/${path}`, { cookies })
    if (told.status === 503 && tries > 1) return get(path, tries - 1)
    if (told.status !== 200) throw new Error(`${path} was answered ${told.status}: ${told.text.slice(0, 300)}`)
    return told
  }
  return { stage, get }
}

type Row = Readonly<Record<string, any>>

/** What addresses of single things are made of: one of each, as lists show them. */
async function known({ get }: AskedPages): Promise<readonly string[]> {
  const [install] = (await get('installs?resolution=matched&eventType=install_completed')).body['installs'] as Row[]
  const lines = (await get('logs?direction=inbound')).body['records'] as Row[]
  const attempts = (await get('logs?direction=outbound')).body['records'] as Row[]
  const { website, event_id: event, visit_id: visit } = install?.['install'] as Row
  const line = lines[0] as Row
  const attempt = attempts[0] as Row
  return [
    `installs/${website}/${event}`,
    `installs?visit=${visit}`,
    `find?id=${event}`,
    `find?id=${line['id']}`,
    `logs?reference=${event},${visit}`,
    `logs/requests/${line['website']}/${line['id']}`,
    `logs?cursor=${(await get('logs')).body['next']}`,
    `logs/attempts/${attempt['website']}/${attempt['event']}/${attempt['id']}`,
  ]
}

function figurePaths(nowMs: number): readonly string[] {
  const since = (days: number): string => `since=${nowMs - days * DAY_MS}`
  const periods = [1, 7, 30, 90, 399].map(since)
  const by = ['source', 'medium', 'campaign', 'referrer', 'page'].flatMap((each) =>
    [since(7), since(90)].map((period) => `sources?by=${each}&${period}`),
  )
  const spend = periods.flatMap((period) => [`spend?${period}`, `spend?by=source&${period}`])
  // Even a few days of facts have an hour that can be compared with the one before.
  const compared = `overview?since=${nowMs - 3 * HOUR_MS}&until=${nowMs - 2 * HOUR_MS}&compare=before`
  const pages = ['overview', 'funnel', 'sources', 'match'].flatMap((page) =>
    periods.map((period) => `${page}?${period}`),
  )
  const ofOne = ['funnel', 'sources', 'match', 'overview', 'checklist', 'set-up', 'shared-commands'].map(
    (page) => `${page}?website=${MAIN}`,
  )
  const whole = ['overview', 'checklist', 'usage', 'spend/imports', 'shared-commands', `shared-commands?${since(30)}`]
  const filtered = [
    'filter=source:is:newsletter',
    'filter=version:is:1.4.0',
    'filter=source:is:newsletter&filter=campaign:is:launch',
    'filter=referrer:contains:example',
  ].flatMap((filter) => [7, 90].map((days) => `overview?${since(days)}&${filter}`))
  // Visits of one value are counted otherwise than those under several filters.
  const ofValue = `overview?${since(7)}&bucket=day&filter=source:is:newsletter`
  return [compared, ofValue, ...pages, ...filtered, ...by, ...spend, ...ofOne, ...whole]
}

function installPaths(nowMs: number): readonly string[] {
  const filters = [
    '',
    'resolution=matched',
    'resolution=unmatched',
    'resolution=counted',
    'resolution=pending',
    'eventType=first_run',
    'filter=path:is:brew',
    'filter=platform:is:windows',
    'filter=platform:is:plan9',
    'filter=agent:is:cursor',
    'filter=agent:is:',
    'reason=expired',
    'reason=nothing',
    'policy=handoff',
    'policy=latest_visit',
    'visit=nothing-like-this',
    'filter=source:is:newsletter',
    'filter=source:is:nothing',
    'filter=medium:is:cpc',
    'filter=campaign:is:campaign-7',
    'filter=referrer:is:r1.example',
    `filter=page:is:https://${MAIN}.example/docs/page-3`,
    `visitSince=${nowMs - 8 * DAY_MS}&visitUntil=${nowMs - 7 * DAY_MS}`,
    'ranBy=agent',
    'filter=platform:is:',
    'resolution=matched&eventType=install_completed&leastVisitAge=3600&visitAgeBelow=5400',
  ]
  const bounds = ['', `website=${MAIN}&`, `since=${nowMs - 30 * DAY_MS}&`]
  return [...filters.flatMap((filter) => bounds.map((bound) => `installs?${bound}${filter}`)), 'installs/export']
}

function visitPaths(nowMs: number): readonly string[] {
  const filters = [
    '',
    'step=activated',
    'step=copied',
    'step=installed',
    'step=first_run',
    'filter=source:is:newsletter',
    'filter=source:is:nothing',
    'filter=medium:is:cpc&step=copied',
    'filter=campaign:is:campaign-7&step=installed',
    'filter=referrer:is:r1.example',
    `filter=page:is:https://${MAIN}.example/docs/page-3`,
    `agent=cursor&step=installed`,
  ]
  const bounds = ['', `website=${MAIN}&`, `until=${nowMs - 5 * DAY_MS}&`]
  const several = [
    'filter=source:is:newsletter&filter=medium:is:email',
    'filter=medium:is_not:cpc&step=copied&filter=campaign:is:campaign-7,campaign-8',
    'step=installed&agent=cursor',
  ]
  return [
    ...filters.flatMap((filter) => bounds.map((bound) => `visits?${bound}${filter}`)),
    ...[...filters, ...several].flatMap((filter) => bounds.map((bound) => `visits/counts?${bound}${filter}`)),
    'visits/export',
  ]
}

function deliveryPaths(nowMs: number): readonly string[] {
  const lists = [
    '',
    'status=failed',
    'status=retrying',
    'reason=rejected',
    `destination=${MAIN}-ga4`,
    'answered=400&code=rejected',
  ]
  const periods = ['', `since=${nowMs - DAY_MS}&`, `since=${nowMs - 90 * DAY_MS}&`]
  const exports = ['deliveries/export', 'deliveries/export?status=failed']
  const pages = periods.flatMap((period) => [
    `deliveries?${period}`,
    `deliveries?${period}website=${MAIN}`,
    `deliveries/installs?${period}`,
    `deliveries/installs?${period}filter=source:is:newsletter`,
    ...lists.map((list) => `deliveries/list?${period}${list}`),
  ])
  return [...pages, ...exports]
}

function logPaths(nowMs: number): readonly string[] {
  const filters = [
    '',
    'direction=inbound',
    'direction=outbound',
    'status=4xx',
    'status=5xx',
    'status=none',
    'code=rate_limited',
    'path=/v1/events',
    'kind=install',
    'kind=delivery',
    `origin=https://${MAIN}.example`,
    'reference=event-that-is-not-there',
    'text=campaign-7',
    'text=nothing-like-this',
  ]
  const bounds = ['', `website=${MAIN}&`, `until=${nowMs - 5 * DAY_MS}&`]
  const lists = filters.flatMap((filter) => bounds.map((bound) => `logs?${bound}${filter}`))
  return [
    ...lists,
    'logs/export?format=text',
    'logs/export',
    'logs/tail',
    'live',
    'alerts',
    'activity',
    'activity?type=export',
  ]
}

const OTHERS = [
  'replays',
  `replays/${FIRST_REPLAY}`,
  `replays/${DONE_REPLAY}`,
  'streams',
  'streams/scale-logs/attempts',
  'webhooks',
  'webhooks/default/scale-hook/attempts',
  'webhooks/default/scale-hook/lost',
]

/** An install without a visit, of which a later event of its machine tells. */
function laterOutcomes(untilMs: number): readonly LogRecord[] {
  const own = { organization: SCALE_ORGANIZATION, website: MAIN, installationId: 'scale-told-later' }
  const receivedAtMs = untilMs - 30 * MINUTE_MS
  const matched = {
    resolution: 'matched',
    selectionPolicy: 'handoff',
    visitId: 'scale-visit',
    visitIssuedAtMs: receivedAtMs,
  } as const
  return [
    installRecord({ ...own, eventId: 'scale-told-1', receivedAtMs }),
    installRecord({
      ...own,
      ...matched,
      eventId: 'scale-told-2',
      eventType: 'first_run',
      receivedAtMs: receivedAtMs + MINUTE_MS,
    }),
  ]
}

/** What pages ask more about if they find it: example data in the checklist, and replays that failed or are done. */
export async function storeRarities(facts: Facts, { untilMs }: ScaleShape): Promise<void> {
  const filledIn = { organization: SCALE_ORGANIZATION, subject: MAIN, type: EXAMPLE_DATA.activityType }
  await store(facts, [activityRecord({ ...filledIn, id: 'scale-example', atMs: untilMs - 1 })])
  await storeCounted(facts, laterOutcomes(untilMs), () => untilMs)
  const result: UnfinishedReplay = { starts: 1, failure: 'too_many_installations' }
  const failed: RowOf<'decision_replay_results'> = {
    organization: SCALE_ORGANIZATION,
    website: MAIN,
    id: FIRST_REPLAY,
    state: 'failed',
    installs: 0,
    reached: untilMs - 1,
    result: JSON.stringify(result),
    made_at: untilMs - 1,
    retention_days: 7,
    row_version: untilMs,
  }
  const counts = { installs: 0, matched: 0, replayedMatched: 0, notDecided: 0, changed: 0 }
  const nothing: ReplayResult = { ...counts, sources: [], changes: [] }
  const done = { ...failed, id: DONE_REPLAY, state: 'done', result: JSON.stringify(nothing) }
  await facts.insert('decision_replay_results', [failed, done])
  await store(facts, spendOf(untilMs))
}

/** A year of ten campaigns. */
function spendOf(untilMs: number): readonly LogRecord[] {
  const days = Array.from({ length: 365 }, (_, ago) => new Date(untilMs - ago * DAY_MS).toISOString().slice(0, 10))
  const rows = days.flatMap((day) =>
    Array.from({ length: 10 }, (_, place): SampleSpend => [day, `source-${place}`, `campaign-${place}`, 100]),
  )
  return spendRecords({ website: MAIN, organization: SCALE_ORGANIZATION, atMs: untilMs - 1, rows })
}

/** What no page asks: a command shows what is stored about a person, a mail looks whether it was ended, an import is looked for before it is removed, and a tail of Logs counts, after a while, what became visible too late. */
export async function askBesidePages(facts: FactsReader, shape: ScaleShape): Promise<void> {
  const person = { subject: '0'.repeat(32), type: 'support_requested', since_ms: sinceOf(shape) }
  await facts.run('activityAbout', person)
  await facts.run('mailChoices', { organization: SCALE_ORGANIZATION, digests: ['0'.repeat(64)] })
  await facts.run('spendImportById', { organization: SCALE_ORGANIZATION, websites: SCALE_WEBSITES, id: 'i' })
  const minute = { since_ms: shape.untilMs - MINUTE_MS, until_ms: shape.untilMs }
  await facts.run('lineSeconds', { organization: SCALE_ORGANIZATION, websites: SCALE_WEBSITES, ...minute })
}

/** Every path that is asked, without those of single things. */
export function pagePaths(nowMs: number): readonly string[] {
  const lists = [...installPaths(nowMs), ...visitPaths(nowMs), ...deliveryPaths(nowMs), ...logPaths(nowMs)]
  return [...figurePaths(nowMs), ...lists, ...OTHERS]
}

/** Those of single things, too. */
async function allPaths(pages: AskedPages): Promise<readonly string[]> {
  return [...pagePaths(pages.stage.nowMs()), ...(await known(pages))]
}

/** Resolves with the number of pages asked. */
export async function askEveryPage(pages: AskedPages, say: (text: string) => void): Promise<number> {
  return ask(pages, await allPaths(pages), say)
}

/** Asks each page with each set of filters once, whatever their values and bounds. Resolves with the number of pages asked. */
export async function askEachKindOfPage(pages: AskedPages, say: (text: string) => void): Promise<number> {
  const kindOf = (path: string): string => path.replace(/(website|since|until)?=[^&]*&?/g, '')
  const kinds = new Map((await allPaths(pages)).map((path) => [kindOf(path), path]))
  return ask(pages, [...kinds.values()], say)
}

async function ask(pages: AskedPages, paths: readonly string[], say: (text: string) => void): Promise<number> {
  for (const [index, path] of paths.entries()) {
    // Reads are limited by the minute.
    if (index > 0 && index % 400 === 0) pages.stage.advance(60_000)
    await pages.get(path)
    if (index % 25 === 0) say(`${index} of ${paths.length} pages`)
  }
  return paths.length
}

/** Routes of an organisation that are read and no page here asks for; a few read no facts. */
export function unaskedRoutes(): readonly string[] {
  const asked = [...pagePaths(0), ...SINGLE_THINGS].map((path) => path.split('?')[0] ?? '')
  return Object.values(ROUTES)
    .filter(({ method, path }) => method === 'GET' && path.startsWith(`${ROOT}/:organization/`))
    .map(({ path }) => path.slice(`${ROOT}/:organization/`.length))
    .filter((path) => !WITHOUT_FACTS.test(path))
    .filter((path) => !asked.some((each) => new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`).test(each)))
}

/** What `known` asks for. */
const SINGLE_THINGS = ['find', 'installs/website/event', 'logs/requests/website/id', 'logs/attempts/website/event/id']
const WITHOUT_FACTS = /^(members|weekly-mail|websites|resources|keys|links|invitations|billing|support|personal-data)/
