/** Which pages have a contact sheet, and an organisation in which each of them has something to show. */

import { activityRecord, requestRecord, store } from '../../contract/fact-samples.ts'
import { billingOver, startStripe } from '../../dashboard/support/billing.ts'
import { startPages, type PagesStage } from './stage.ts'
import { HOSTILE, whyFacts } from './why-facts.ts'
import { openWhyFacts, WHY_MANIFESTS } from './why-stage.ts'

export interface SheetPage {
  /** Of the file. */
  readonly name: string
  readonly address: string
  /** Clicked once the page is there. */
  readonly click?: string
  /** What must be there before the picture is taken. */
  readonly ready?: string
}

const own = (name: string, address = name, more: Pick<SheetPage, 'click' | 'ready'> = {}): SheetPage => ({
  ...{ name, address: `/app/acme/${address}` },
  ...more,
})

/** The last one is shown to nobody who is signed in. */
export const SHEET_PAGES: readonly SheetPage[] = [
  own('live', 'live', { ready: 'table.lines' }),
  own('logs', 'logs', { ready: 'table.lines' }),
  own('line', 'logs', { click: 'table.lines button', ready: 'aside pre' }),
  own('deliveries'),
  own('what-if', 'what-if', { ready: 'table' }),
  own('what-if-outcome', 'what-if?replay=replay-one', { ready: '.tiles, table' }),
  own('checklist'),
  own('resources', 'resources', { ready: 'table.resources' }),
  own('website', 'resources/Website/default/acme-docs', { ready: '.editor pre' }),
  own('new-destination', 'new/Destination', { ready: '.editor pre' }),
  own('streams-and-webhooks', 'streams'),
  own('stream', 'streams/archive'),
  own('webhook', 'webhooks/default/news'),
  own('new-webhook', 'webhooks/new'),
  own('funnel'),
  own('match-rate', 'match'),
  own('sources'),
  own('agents', 'sources?by=agent'),
  own('shared-commands', 'sources?by=command'),
  own('installs'),
  own('installs-filtered', 'installs?resolution=unmatched&reason=expired'),
  own('install', 'installs/acme-docs/event-picture'),
  own('members'),
  own('activity'),
  own('usage'),
  { name: 'billing', address: '/app/paying/usage' },
  own('support'),
  own('account'),
  { name: 'sign-in', address: '/sign-in', ready: '#by-mail button' },
]

const DAY_MS = 86_400_000
const DAYS = 14

/** With 14 days of traffic, a result of another policy, activity, and an organisation that pays here. */
export async function startSheetStage(): Promise<Pick<PagesStage, 'url' | 'signIn' | 'open' | 'stop'>> {
  const nowMs = Date.now()
  const why = await openWhyFacts(whyFacts(nowMs, DAYS), nowMs)
  const stripe = await startStripe(Date.now)
  const stage = await startPages({
    ...{ manifests: WHY_MANIFESTS, facts: why.facts, supportMail: 'help@whence.test' },
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
  await store(why.facts, [...entries, ...recentLines(nowMs)])
  await storeReplay(why.facts, nowMs)
  const paying = { kind: 'Organization', namespace: 'default', name: 'paying' }
  await stage.writer.create({ ...paying, spec: { displayName: 'Paying', plan: 'Free' } })
  const member = { organizationRef: { name: 'paying' }, email: 'owner@acme.dev', role: 'Owner' }
  await stage.writer.create({ kind: 'Member', namespace: 'default', name: 'paying-owner', spec: member })
  return {
    ...stage,
    async stop() {
      await stage.stop()
      await stripe.stop()
      await why.close()
    },
  }
}

/** What the page of what is live shows: two lines a minute. */
function recentLines(nowMs: number) {
  const answers = [
    { path: '/v1/visits', status: 200, code: '' },
    { path: '/v1/visits/activate', status: 200, code: '' },
    { path: '/v1/handoffs', status: 200, code: '' },
    { path: '/v1/visits', status: 400, code: 'invalid_field' },
  ] as const
  return Array.from({ length: 40 }, (_, place) => {
    const receivedAtMs = nowMs - place * 30_000
    const id = receivedAtMs.toString(16).padStart(12, '0') + place.toString(16).padStart(16, '0')
    const body = JSON.stringify({ project: 'acme-docs', url: HOSTILE })
    const own = { website: 'acme-docs', organization: 'acme', origin: 'https://docs.acme.example' }
    return requestRecord({ ...own, ...answers[place % answers.length], id, receivedAtMs, body })
  })
}

async function storeReplay(facts: Awaited<ReturnType<typeof openWhyFacts>>['facts'], nowMs: number): Promise<void> {
  const key = { website: 'acme-docs', id: 'replay-one' }
  const period = { since: nowMs - 30 * DAY_MS, until: nowMs }
  const [lost, gained] = [['google', 3] as const, ['newsletter', 5] as const]
  await facts.insert('decision_replays', [
    {
      ...{ ...key, ...period, organization: 'acme', asked_at: nowMs - 600_000, policy: 'first_visit' },
      ...{ window_ms: 30 * DAY_MS, is_tokens_only: false, retention_days: 7, row_version: 1 },
      ...{ log_topic: 'replays', log_partition: 0, log_offset: 0 },
    },
  ])
  const change = (place: number) => ({
    ...{ eventId: `event-changed-${place}`, receivedAtMs: nowMs - place * 5_000_000, selectionPolicy: 'latest_visit' },
    ...{
      visitId: 'a',
      replayedVisitId: 'b',
      source: 'google',
      replayedPolicy: 'first_visit',
      replayedSource: 'newsletter',
    },
  })
  const result = {
    ...{ installs: 412, matched: 298, replayedMatched: 300, notDecided: 4, changed: 3 },
    sources: [
      { source: lost[0], lost: lost[1], gained: 0 },
      { source: gained[0], lost: 0, gained: gained[1] },
    ],
    changes: [change(1), change(2), change(3)],
  }
  await facts.insert('decision_replay_results', [
    {
      ...{ ...key, made_at: nowMs - 590_000, state: 'done', installs: 412, reached: period.until },
      ...{ result: JSON.stringify(result), retention_days: 7, row_version: 1 },
    },
  ])
}
