/** Addresses of the pages: `/app/{organisation}/{page}`. Filters are only in the query. */

import type { FetchQueryOptions, QueryClient, QueryKey } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'

import { ApiProblem } from './data/ask.ts'
import { activityFiltersOf } from './data/activity.ts'
import { installFiltersOf } from './data/installs.ts'
import { filtersOf } from './data/lines.ts'
import { linkFormIn, sharedQuery } from './data/links.ts'
import { funnelQuery, liveFunnelQuery, matchQuery } from './data/figures.ts'
import { alertsQuery } from './data/alerts.ts'
import { overviewFilters, overviewQuery } from './data/overview.ts'
import { countingFilters, filteredFigures } from './data/period.ts'
import { parseSearch, stringifySearch } from './data/search-text.ts'
import { meQuery, type Me } from './data/queries.ts'
import { replayChoiceOf } from './what-if/replays-data.ts'
import { setUpAnswersOf } from './data/set-up.ts'
import { visitFiltersOf } from './data/visits.ts'
import { deliveryFiltersOf } from './deliveries/deliveries-data.ts'
import { sourceFilters } from './figures/source-filters.ts'
import { Failed, NotFound } from './parts/states.tsx'
import { Surroundings } from './shell/frame.tsx'
import { spendFilters, spendQuery } from './spend/spend-data.ts'
import { Welcome } from './shell/welcome.tsx'

interface Context {
  readonly queries: QueryClient
}

const root = createRootRouteWithContext<Context>()({ component: Surroundings, notFoundComponent: NotFound })

interface OpeningPage {
  readonly context: Context
  /** Whether somebody only points at a link to the page. */
  readonly preload: boolean
}

/** Asks for the figures of a page that opens while its code still loads. The page itself waits for them, and shows what fails. */
function askAhead<T, K extends QueryKey>(
  { context, preload }: OpeningPage,
  query: FetchQueryOptions<T, Error, T, K>,
): void {
  if (!preload) void context.queries.prefetchQuery(query)
}

/** Redirects to the overview of the first organisation. A person without one sees their invitations. */
const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: async ({ context }) => {
    const { organizations } = await signedIn(context.queries)
    const [first] = organizations
    if (first === undefined) return
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- how the router redirects
    throw redirect({ to: '/app/$organization/overview', params: { organization: first.id } })
  },
  component: Welcome,
})

const organization = createRoute({
  getParentRoute: () => root,
  path: '/app/$organization',
  beforeLoad: ({ context }) => signedIn(context.queries),
})

const overview = createRoute({
  getParentRoute: () => organization,
  path: 'overview',
  validateSearch: overviewFilters,
  loaderDeps: ({ search }) => search,
  loader: (page) => askAhead(page, overviewQuery(page.params.organization, page.deps)),
  component: lazyRouteComponent(() => import('./overview/overview.tsx'), 'OverviewPage'),
})

const live = createRoute({
  getParentRoute: () => organization,
  path: 'live',
  loader: (page) => askAhead(page, liveFunnelQuery(page.params.organization)),
  component: lazyRouteComponent(() => import('./live/live.tsx'), 'LivePage'),
})

const logs = createRoute({
  getParentRoute: () => organization,
  path: 'logs',
  validateSearch: filtersOf,
  component: lazyRouteComponent(() => import('./logs/logs.tsx'), 'LogsPage'),
})

const checklist = createRoute({
  getParentRoute: () => organization,
  path: 'checklist',
  validateSearch: setUpAnswersOf,
  component: lazyRouteComponent(() => import('./checklist/checklist.tsx'), 'ChecklistPage'),
})

const campaignLinks = createRoute({
  getParentRoute: () => organization,
  path: 'campaign-links',
  component: lazyRouteComponent(() => import('./campaign-links/campaign-links.tsx'), 'CampaignLinksPage'),
})

const resources = createRoute({
  getParentRoute: () => organization,
  path: 'resources',
  component: lazyRouteComponent(() => import('./resources/resources.tsx'), 'ResourcesPage'),
})

const resource = createRoute({
  getParentRoute: () => organization,
  path: 'resources/$kind/$namespace/$name',
  component: lazyRouteComponent(() => import('./resources/resource.tsx'), 'ResourcePage'),
})

const connectDestination = createRoute({
  getParentRoute: () => organization,
  path: 'connect/$provider',
  component: lazyRouteComponent(() => import('./connect/connect.tsx'), 'ConnectPage'),
})

const newResource = createRoute({
  getParentRoute: () => organization,
  path: 'new/$kind',
  component: lazyRouteComponent(() => import('./resources/resource.tsx'), 'NewResourcePage'),
})

const activity = createRoute({
  getParentRoute: () => organization,
  path: 'activity',
  validateSearch: activityFiltersOf,
  component: lazyRouteComponent(() => import('./activity/activity.tsx'), 'ActivityPage'),
})

const usage = createRoute({
  getParentRoute: () => organization,
  path: 'usage',
  component: lazyRouteComponent(() => import('./usage/usage.tsx'), 'UsagePage'),
})

const whatIf = createRoute({
  getParentRoute: () => organization,
  path: 'what-if',
  validateSearch: replayChoiceOf,
  component: lazyRouteComponent(() => import('./what-if/what-if.tsx'), 'WhatIfPage'),
})

const support = createRoute({
  getParentRoute: () => organization,
  path: 'support',
  component: lazyRouteComponent(() => import('./support/support.tsx'), 'SupportPage'),
})

const funnel = createRoute({
  getParentRoute: () => organization,
  path: 'funnel',
  validateSearch: filteredFigures,
  loaderDeps: ({ search }) => search,
  loader: (page) => askAhead(page, funnelQuery(page.params.organization, page.deps)),
  component: lazyRouteComponent(() => import('./figures/funnel.tsx'), 'FunnelPage'),
})

const match = createRoute({
  getParentRoute: () => organization,
  path: 'match',
  validateSearch: countingFilters,
  loaderDeps: ({ search }) => search,
  loader: (page) => askAhead(page, matchQuery(page.params.organization, page.deps)),
  component: lazyRouteComponent(() => import('./figures/match.tsx'), 'MatchPage'),
})

const sources = createRoute({
  getParentRoute: () => organization,
  path: 'sources',
  validateSearch: sourceFilters,
  component: lazyRouteComponent(() => import('./figures/sources.tsx'), 'SourcesPage'),
})

const alerts = createRoute({
  getParentRoute: () => organization,
  path: 'alerts',
  loader: (page) => askAhead(page, alertsQuery(page.params.organization)),
  component: lazyRouteComponent(() => import('./alerts/alerts.tsx'), 'AlertsPage'),
})

const spend = createRoute({
  getParentRoute: () => organization,
  path: 'spend',
  validateSearch: spendFilters,
  loaderDeps: ({ search }) => search,
  loader: (page) => askAhead(page, spendQuery(page.params.organization, page.deps)),
  component: lazyRouteComponent(() => import('./spend/spend.tsx'), 'SpendPage'),
})

const visits = createRoute({
  getParentRoute: () => organization,
  path: 'visits',
  validateSearch: visitFiltersOf,
  component: lazyRouteComponent(() => import('./visits/visits.tsx'), 'VisitsPage'),
})

const installs = createRoute({
  getParentRoute: () => organization,
  path: 'installs',
  validateSearch: installFiltersOf,
  component: lazyRouteComponent(() => import('./installs/installs.tsx'), 'InstallsPage'),
})

const install = createRoute({
  getParentRoute: () => organization,
  path: 'installs/$website/$event',
  component: lazyRouteComponent(() => import('./installs/install.tsx'), 'InstallPage'),
})

const deliveries = createRoute({
  getParentRoute: () => organization,
  path: 'deliveries',
  validateSearch: filteredFigures,
  component: lazyRouteComponent(() => import('./deliveries/deliveries.tsx'), 'DeliveriesPage'),
})

const deliveryList = createRoute({
  getParentRoute: () => organization,
  path: 'deliveries/list',
  validateSearch: deliveryFiltersOf,
  component: lazyRouteComponent(() => import('./deliveries/list.tsx'), 'DeliveryListPage'),
})

const streams = createRoute({
  getParentRoute: () => organization,
  path: 'streams',
  component: lazyRouteComponent(() => import('./streams/streams.tsx'), 'StreamsPage'),
})

const stream = createRoute({
  getParentRoute: () => organization,
  path: 'streams/$stream',
  component: lazyRouteComponent(() => import('./streams/stream.tsx'), 'StreamPage'),
})

const newWebhook = createRoute({
  getParentRoute: () => organization,
  path: 'webhooks/new',
  component: lazyRouteComponent(() => import('./streams/new-webhook.tsx'), 'NewWebhookPage'),
})

const webhook = createRoute({
  getParentRoute: () => organization,
  path: 'webhooks/$namespace/$name',
  component: lazyRouteComponent(() => import('./streams/webhook.tsx'), 'WebhookPage'),
})

const members = createRoute({
  getParentRoute: () => organization,
  path: 'members',
  component: lazyRouteComponent(() => import('./people/members.tsx'), 'MembersPage'),
})

const keys = createRoute({
  getParentRoute: () => organization,
  path: 'keys',
  component: lazyRouteComponent(() => import('./people/keys.tsx'), 'KeysPage'),
})

const links = createRoute({
  getParentRoute: () => organization,
  path: 'links',
  validateSearch: linkFormIn,
  component: lazyRouteComponent(() => import('./people/links.tsx'), 'LinksPage'),
})

const account = createRoute({
  getParentRoute: () => organization,
  path: 'account',
  component: lazyRouteComponent(() => import('./account/account.tsx'), 'AccountPage'),
})

/** For whoever has its address. */
const shared = createRoute({
  getParentRoute: () => root,
  path: '/share/$token',
  validateSearch: ({ metric }: Readonly<Record<string, unknown>>) => (typeof metric === 'string' ? { metric } : {}),
  loader: ({ context, params }) => {
    void context.queries.prefetchQuery(sharedQuery(params.token))
  },
  component: lazyRouteComponent(() => import('./shared/report-page.tsx'), 'SharedPage'),
})

const tree = root.addChildren([
  home,
  organization.addChildren([
    overview,
    alerts,
    live,
    logs,
    checklist,
    campaignLinks,
    resources,
    resource,
    newResource,
    connectDestination,
    activity,
    usage,
    whatIf,
    support,
    funnel,
    match,
    sources,
    spend,
    visits,
    installs,
    install,
    deliveries,
    deliveryList,
    streams,
    stream,
    newWebhook,
    webhook,
    members,
    keys,
    links,
    account,
  ]),
  shared,
])
export function createPagesRouter(queries: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { queries },
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    defaultErrorComponent: ({ error }) => <Failed error={error} />,
    defaultNotFoundComponent: NotFound,
    scrollRestoration: true,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createPagesRouter>
  }
}

/** Who is signed in. If nobody is, the browser goes to the sign-in page and comes back. */
async function signedIn(queries: QueryClient): Promise<Me> {
  try {
    return await queries.ensureQueryData(meQuery)
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 401) {
      location.assign(`/sign-in?return=${encodeURIComponent(location.pathname + location.search)}`)
      // The browser navigates away; nothing may be rendered meanwhile.
      await new Promise(() => undefined)
    }
    throw error
  }
}
