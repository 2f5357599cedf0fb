/** Which pages have a contact sheet, and an organisation in which each of them has something to show. */

import { until } from '../../../fixtures/until.ts'
import { activityRecord, store } from '../../contract/fact-samples.ts'
import { billingOver, startStripe } from '../../dashboard/support/billing.ts'
import type { Look } from './looks.ts'
import { startPages, type PagesStage } from './stage.ts'
import { HOSTILE, recentTraffic, whyFacts } from './why-facts.ts'
import { openWhyFacts, WHY_LINK, WHY_MANIFESTS } from './why-stage.ts'

/** Who looks: the owner of the organisation, somebody who is invited to it, or nobody who is signed in. */
export const VIEWERS = { owner: 'owner@acme.dev', guest: 'guest@acme.dev', nobody: null } as const
export const VIEWER_NAMES = Object.keys(VIEWERS) as readonly (keyof typeof VIEWERS)[]

export interface SheetPage {
  /** Of the file. */
  readonly name: string
  readonly address: string
  readonly viewer: keyof typeof VIEWERS
  /** Clicked once the page is there. */
  readonly click?: string
  /** What must be there before the picture is taken. */
  readonly ready?: string
  /** Something lies over the page: only what a window shows is in the picture. */
  readonly isWindow?: true
  /** The picture shows it with the example data. */
  readonly isOfFigures?: true
  /** It looks like this on a phone alone. */
  readonly isNarrow?: true
}

/** Whether it looks like anything at this width. */
export function isShown({ isNarrow }: SheetPage, { width }: Look): boolean {
  return isNarrow !== true || width === 390
}

type More = Partial<Omit<SheetPage, 'name' | 'address'>>

const own = (name: string, address = name, more: More = {}): SheetPage => ({
  name,
  address: `/app/acme/${address}`,
  viewer: 'owner',
  ...more,
})

/** Each page, and what lies over some. They are the matrix of `make pages`, too. */
export const SHEET_PAGES: readonly SheetPage[] = [
  own('overview', 'overview', { ready: '.plot', isOfFigures: true }),
  own('live', 'live', { ready: 'dl.tiles:has(a[href*="visits"]) ~ .split table.lines' }),
  own('logs', 'logs', { ready: 'table.lines' }),
  own('line', 'logs?status=4xx', { click: 'table.lines button', ready: 'aside pre', isWindow: true }),
  own('deliveries', 'deliveries', { ready: 'table.by-destination', isOfFigures: true }),
  own('deliveries-list', 'deliveries/list?status=failed', { ready: 'table.deliveries' }),
  own('what-if', 'what-if', { ready: 'table' }),
  own('what-if-outcome', 'what-if?replay=replay-one', { ready: '.tiles + *' }),
  own('checklist', 'checklist', { ready: '.steps' }),
  own('campaign-links', 'campaign-links', { ready: '.campaign-links' }),
  own('resources', 'resources', { ready: 'table.resources' }),
  own('website', 'resources/Website/default/acme-docs', { ready: '.editor pre' }),
  own('new-destination', 'new/Destination', { ready: '.editor pre' }),
  own('new-website', 'new/Website', { ready: '.editor pre' }),
  own('streams-and-webhooks', 'streams', { ready: '.card' }),
  own('stream', 'streams/archive', { ready: 'table' }),
  own('webhook', 'webhooks/default/news', { ready: 'table' }),
  own('new-webhook', 'webhooks/new', { ready: 'form' }),
  own('funnel', 'funnel', { ready: '.funnel', isOfFigures: true }),
  own('menu', 'funnel', { click: '.burger', ready: '.frame[data-open] nav a', isWindow: true, isNarrow: true }),
  own('match-rate', 'match', { ready: '.reasons', isOfFigures: true }),
  own('sources', 'sources', { ready: 'table.sources', isOfFigures: true }),
  own('campaigns', 'sources?by=campaign', { ready: 'table.sources' }),
  own('agents', 'sources?by=agent', { ready: '.breakdown', isOfFigures: true }),
  own('shared-commands', 'sources?by=command', { ready: 'table.sources', isOfFigures: true }),
  own('visits', 'visits?step=installed', { ready: 'table.visits', isOfFigures: true }),
  own('installs', 'installs', { ready: 'table.installs', isOfFigures: true }),
  own('installs-filtered', 'installs?resolution=unmatched&reason=expired', {
    ready: 'table.installs',
    isOfFigures: true,
  }),
  own('install', 'installs/acme-docs/event-picture', { ready: '.raw pre' }),
  own('members', 'members', { ready: 'table' }),
  own('keys', 'keys'),
  own('links', 'links', { ready: 'table' }),
  own('new-link', 'links?share=new&website=acme-docs&filter=source%3Ais_not%3Agoogle', {
    ready: '[role="dialog"] .chips',
    isWindow: true,
  }),
  { name: 'shared', address: WHY_LINK.page, viewer: 'nobody', ready: '.plot' },
  own('activity', 'activity', { ready: '.activity' }),
  own('usage', 'usage', { ready: '.tiles' }),
  { name: 'billing', address: '/app/paying/usage', viewer: 'owner', ready: '.billing' },
  own('support', 'support', { ready: 'form' }),
  own('account'),
  { name: 'welcome', address: '/', viewer: 'guest', ready: '.cards' },
  { name: 'invitation', address: '/sign-in#invitation=', viewer: 'nobody', ready: '#by-mail button' },
  { name: 'sign-in', address: '/sign-in', viewer: 'nobody', ready: '#by-mail button' },
]

/** Of these the matrix alone has pictures. */
const WITHOUT_SHEET = ['new-website', 'campaigns', 'keys', 'links', 'new-link', 'shared']
export const DRAWN_PAGES = SHEET_PAGES.filter(({ name }) => !WITHOUT_SHEET.includes(name))

const DAY_MS = 86_400_000
const DAYS = 14

export interface SheetStage extends Pick<PagesStage, 'url' | 'signIn' | 'open' | 'stop'> {
  /** Where a page is found: an invitation has its own address in each stage. */
  readonly addressOf: (page: SheetPage) => string
}

/** With 14 days of traffic, a result of another policy, activity, and an organisation that pays here. */
export async function startSheetStage(): Promise<SheetStage> {
  const nowMs = Date.now()
  const why = await openWhyFacts(whyFacts(nowMs, DAYS), nowMs)
  const stripe = await startStripe(Date.now)
  const stage = await startPages({
    manifests: WHY_MANIFESTS,
    facts: why.facts,
    supportMail: 'help@whence.test',
    billing: () => billingOver(stripe.url),
  })
  const about = { organization: 'acme', website: 'acme-docs' }
  const happened = [
    {
      type: 'origin_not_registered',
      subject: 'https://shop.acme.example',
      message: `Visits of it are refused. ${HOSTILE}`,
    },
    { type: 'export', subject: 'p-4b1d9c07', message: '1,204 records.' },
    { type: 'sign_in', subject: 'p-4b1d9c07', message: 'By a link from a mail.' },
    { type: 'rate_limit_reached', subject: 'visits', message: 'More than 6,000 visits a minute.' },
  ] as const
  const entries = happened.map((each, place) =>
    activityRecord({ ...about, ...each, id: `sheet-${place}`, atMs: nowMs - (place + 1) * 3_000_000 }),
  )
  await store(why.facts, [...entries, ...recentTraffic(nowMs)])
  await storeReplay(why.facts, nowMs)
  const paying = { kind: 'Organization', namespace: 'default', name: 'paying' }
  await stage.writer.create({ ...paying, spec: { displayName: 'Paying', plan: 'Free' } })
  const member = { organizationRef: { name: 'paying' }, email: 'owner@acme.dev', role: 'Owner' }
  await stage.writer.create({ kind: 'Member', namespace: 'default', name: 'paying-owner', spec: member })
  const invitation = await invite(stage)
  return {
    ...stage,
    addressOf: ({ address }) => stage.url + address + (address.endsWith('=') ? invitation : ''),
    async stop() {
      await stage.stop()
      await stripe.close()
      await why.close()
    },
  }
}

/** Invites the guest; what the link in the mail proves it by. */
async function invite({ ask, signIn, mails }: PagesStage): Promise<string> {
  const cookies = await signIn(VIEWERS.owner)
  await ask('POST', '/api/organizations/acme/members', { cookies, body: { email: VIEWERS.guest, role: 'Member' } })
  const secret = (): string | undefined => /#invitation=([0-9a-f]+)/.exec(mails.at(-1) ?? '')?.[1]
  await until(() => secret() !== undefined)
  return secret() ?? ''
}

async function storeReplay(facts: Awaited<ReturnType<typeof openWhyFacts>>['facts'], nowMs: number): Promise<void> {
  const key = { website: 'acme-docs', id: 'replay-one' }
  const period = { since: nowMs - 30 * DAY_MS, until: nowMs }
  await facts.insert('decision_replays', [
    {
      ...key,
      ...period,
      organization: 'acme',
      asked_at: nowMs - 600_000,
      policy: 'first_visit',
      window_ms: 30 * DAY_MS,
      is_tokens_only: false,
      session: '',
      retention_days: 7,
      row_version: 1,
      log_topic: 'replays',
      log_partition: 0,
      log_offset: 0,
    },
  ])
  const of = (place: number) => ({ eventId: `event-changed-${place}`, receivedAtMs: nowMs - place * 5_000_000 })
  const first = { visitId: 'a', replayedVisitId: 'b', replayedPolicy: 'first_visit', replayedSource: 'newsletter' }
  const changes = [
    { ...of(1), ...first, selectionPolicy: 'latest_visit', source: 'google' },
    { ...of(2), ...first, selectionPolicy: 'latest_visit', source: 'google' },
    { ...of(3), ...first, selectionPolicy: 'none', visitId: null, source: null },
  ]
  const result = {
    installs: 412,
    matched: 298,
    replayedMatched: 299,
    notDecided: 4,
    changed: changes.length,
    sources: [
      { source: 'google', lost: 2, gained: 0 },
      { source: 'newsletter', lost: 0, gained: 3 },
    ],
    changes,
  }
  await facts.insert('decision_replay_results', [
    {
      ...key,
      organization: 'acme',
      made_at: nowMs - 590_000,
      state: 'done',
      installs: 412,
      reached: period.until,
      result: JSON.stringify(result),
      retention_days: 7,
      row_version: 1,
    },
  ])
}
