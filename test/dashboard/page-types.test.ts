/** What the pages expect of an answer is what its handler gives: the compiler holds the two types together, field by field. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'

import type { readBilling } from '../../dashboard/billing/checkout.ts'
import type { listResources, readResource } from '../../dashboard/configuration/read.ts'
import type { readSharedCommands } from '../../dashboard/figures/fan-out.ts'
import type { readChecklist } from '../../dashboard/figures/checklist.ts'
import type { readOverview } from '../../dashboard/figures/overview.ts'
import type { figurePage, funnelPage, matchPage, sourcesPage, usagePage } from '../../dashboard/figures/pages.ts'
import type { listWebsites } from '../../dashboard/figures/websites.ts'
import type { listDeliveries, readDeliveries } from '../../dashboard/installs/deliveries.ts'
import type { listInstalls, readInstall } from '../../dashboard/installs/list.ts'
import type { listActivity } from '../../dashboard/logs/activity.ts'
import type { listLogs, readLoggedRequest } from '../../dashboard/logs/list.ts'
import type { readMe } from '../../dashboard/people/me.ts'
import type { listReplays, showReplay } from '../../dashboard/replays/show.ts'
import type { listAttempts, listStreams } from '../../dashboard/streams/list.ts'
import type { previewSupport } from '../../dashboard/support/request.ts'
import type { countVisits } from '../../dashboard/visits/count.ts'
import type { listVisits } from '../../dashboard/visits/list.ts'
import type { listLost, listWebhookAttempts, listWebhooks } from '../../dashboard/webhooks/show.ts'
import type { activityQuery } from '../../pages/data/activity.ts'
import type { billingQuery } from '../../pages/data/billing.ts'
import type { checklistQuery } from '../../pages/data/checklist.ts'
import type { funnelQuery, matchQuery, sharedCommandsQuery, sourcesQuery } from '../../pages/data/figures.ts'
import type { installQuery, installsQuery } from '../../pages/data/installs.ts'
import type { lineQuery, logsQuery } from '../../pages/data/lines.ts'
import type { overviewQuery, websitesQuery } from '../../pages/data/overview.ts'
import type { meQuery } from '../../pages/data/queries.ts'
import type { resourceQuery, resourcesQuery } from '../../pages/data/resources.ts'
import type { supportQuery } from '../../pages/data/support.ts'
import type { usageQuery } from '../../pages/data/usage.ts'
import type { visitCountsQuery, visitsQuery } from '../../pages/data/visits.ts'
import type { deliveriesQuery, deliveryListQuery } from '../../pages/deliveries/deliveries-data.ts'
import type {
  lostEventsQuery,
  streamAttemptsQuery,
  streamsQuery,
  webhookAttemptsQuery,
  webhooksQuery,
} from '../../pages/streams/streams-data.ts'
import type { replayQuery, replaysQuery } from '../../pages/what-if/replays-data.ts'

type Call = (...values: never[]) => unknown
/** The body of the successful answer of a route whose handler this function makes. */
type Body<Make extends Call> = BodyIn<Awaited<ReturnType<Extract<ReturnType<Make>, Call>>>>
type BodyIn<Outcome> = Outcome extends { readonly kind: 'answer'; readonly body: infer Given } ? Written<Given> : never
/** As JSON has it: what is undefined is left out. */
type Written<Value> = Value extends readonly (infer Row)[]
  ? readonly Written<Row>[]
  : Value extends object
    ? { [Name in keyof Value as undefined extends Value[Name] ? never : Name]: Written<Value[Name]> } & {
        [Name in keyof Value as undefined extends Value[Name] ? Name : never]?: Written<Exclude<Value[Name], undefined>>
      }
    : Value
/** The same of a page of figures, which says its period too. */
type Figures<Page extends (...values: never[]) => Promise<object>> = Body<typeof figurePage<Awaited<ReturnType<Page>>>>
/** What a query of a page resolves with. */
type Asked<Query> = Query extends { readonly queryFn?: infer Fetch } ? Awaited<ReturnType<Extract<Fetch, Call>>> : never
type Shown<Make extends Call> = Asked<ReturnType<Make>>

/** Fields that pages expect and no answer has, by their place: a field may be absent there, but not unknown. */
type Unknown<Expected, Given> = Expected extends readonly (infer Row)[]
  ? Given extends readonly (infer Own)[]
    ? Unknown<Row, Own>
    : never
  : Expected extends object
    ? Given extends object
      ? string extends keyof Given | keyof Expected
        ? never
        : { [Name in keyof Expected]-?: Name extends KeyOf<Given> ? never : Name }[keyof Expected]
      : never
    : never
type KeyOf<Of> = Of extends object ? keyof Of : never

/** Takes no arguments if the answer fits what is expected; otherwise the compiler asks for one that names what does not. */
function fits<Given, Expected>(
  ..._missing: [Given] extends [Expected]
    ? [Unknown<Expected, Given>] extends [never]
      ? []
      : [{ readonly noAnswerHas: Unknown<Expected, Given> }]
    : [{ readonly given: Given; readonly expected: Expected }]
): true {
  return true
}

/** Every query of the pages by its name. */
const HELD = {
  activityQuery: fits<Body<typeof listActivity>, Shown<typeof activityQuery>>(),
  billingQuery: fits<Body<typeof readBilling>, Shown<typeof billingQuery>>(),
  checklistQuery: fits<Body<typeof readChecklist>, Shown<typeof checklistQuery>>(),
  deliveriesQuery: fits<Body<typeof readDeliveries>, Shown<typeof deliveriesQuery>>(),
  deliveryListQuery: fits<Body<typeof listDeliveries>, Shown<typeof deliveryListQuery>>(),
  funnelQuery: fits<Figures<typeof funnelPage>, Shown<typeof funnelQuery>>(),
  installQuery: fits<Body<typeof readInstall>, Shown<typeof installQuery>>(),
  installsQuery: fits<Body<typeof listInstalls>, Shown<typeof installsQuery>>(),
  lineQuery: fits<Body<typeof readLoggedRequest>, Shown<typeof lineQuery>>(),
  logsQuery: fits<Body<typeof listLogs>, Shown<typeof logsQuery>>(),
  lostEventsQuery: fits<Body<typeof listLost>, Shown<typeof lostEventsQuery>>(),
  matchQuery: fits<Figures<typeof matchPage>, Shown<typeof matchQuery>>(),
  meQuery: fits<Body<typeof readMe>, Asked<typeof meQuery>>(),
  overviewQuery: fits<Body<typeof readOverview>, Shown<typeof overviewQuery>>(),
  replayQuery: fits<Body<typeof showReplay>, Shown<typeof replayQuery>>(),
  replaysQuery: fits<Body<typeof listReplays>['replays'], Shown<typeof replaysQuery>>(),
  resourceQuery: fits<Body<typeof readResource>, Shown<typeof resourceQuery>>(),
  resourcesQuery: fits<Body<typeof listResources>['resources'], Shown<typeof resourcesQuery>>(),
  sharedCommandsQuery: fits<Body<typeof readSharedCommands>, Shown<typeof sharedCommandsQuery>>(),
  sourcesQuery: fits<Figures<typeof sourcesPage>, Shown<typeof sourcesQuery>>(),
  streamAttemptsQuery: fits<Body<typeof listAttempts>['attempts'], Shown<typeof streamAttemptsQuery>>(),
  streamsQuery: fits<Body<typeof listStreams>['streams'], Shown<typeof streamsQuery>>(),
  supportQuery: fits<Body<typeof previewSupport>, Shown<typeof supportQuery>>(),
  usageQuery: fits<Body<typeof usagePage>, Shown<typeof usageQuery>>(),
  visitCountsQuery: fits<Body<typeof countVisits>, Shown<typeof visitCountsQuery>>(),
  visitsQuery: fits<Body<typeof listVisits>, Shown<typeof visitsQuery>>(),
  webhookAttemptsQuery: fits<Body<typeof listWebhookAttempts>, Shown<typeof webhookAttemptsQuery>>(),
  webhooksQuery: fits<Body<typeof listWebhooks>['webhooks'], Shown<typeof webhooksQuery>>(),
  websitesQuery: fits<Body<typeof listWebsites>['websites'], Shown<typeof websitesQuery>>(),
}

/** Asks nobody: `useSave` puts its value there. */
const WITHOUT_ANSWER = ['lastSaveQuery']

describe('queries of the pages', () => {
  it('are all held to the types of the answers by the compiler', async () => {
    const pages = join(import.meta.dirname, '../../pages')
    const files = readdirSync(pages, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /^[\w-]+\/[\w-]+\.ts$/.test(file),
    )
    const modules = await Promise.all(
      files
        .filter((file) => file.startsWith('data/') || file.endsWith('-data.ts'))
        .map((file) => import(join(pages, file))),
    )
    const queries = modules.flatMap((module) => Object.keys(module as object).filter((name) => name.endsWith('Query')))
    expect(queries.filter((name) => !WITHOUT_ANSWER.includes(name)).toSorted()).to.deep.equal(Object.keys(HELD))
  })
})
