/** Puts the dashboard's API together: each route of the table with its handler. */

import type { Plan } from '../domain/model.ts'
import type { PlanOfPrice } from '../domain/people/subscriptions.ts'
import { keysOf } from '../domain/typed-keys.ts'
import type { LogWriter } from '../ports/event-log/event-log.ts'
import type { HotState } from '../ports/hot-state/hot-state.ts'
import type { Logger } from '../runtime/logger.ts'
import type { SealedTexts } from '../runtime/keyring.ts'
import type { Stamps } from '../runtime/random.ts'
import type { FactsReader } from '../ports/facts/facts.ts'
import type { ClaimRules } from '../domain/people/oidc-claims.ts'
import { KEY_IDS } from '../domain/receipt.ts'
import type { BILLING_ROUTES } from './api/billing.ts'
import { ROUTES, type RouteName } from './api/routes.ts'
import { billingHandlers } from './billing/handlers.ts'
import type { Payments } from './billing/payments.ts'
import { createPresent } from './billing/present.ts'
import { configurationHandlers } from './configuration/handlers.ts'
import type { SignUpParts } from './configuration/sign-up.ts'
import { createActivity } from './events/activity.ts'
import { notingSignIns } from './events/notes.ts'
import { createTrail } from './events/trail.ts'
import { createStillAllowed, type EventStreams } from './events/event-streams.ts'
import { asCalled, type ScopedCall, type Handler } from './http/call.ts'
import { cookieRules } from './http/cookies.ts'
import { noteRefused } from './http/refused.ts'
import { createServe, type Serve, type Site } from './http/serve.ts'
import { redeliveryHandlers } from './installs/handlers.ts'
import type { ReplayDeliveries } from './installs/replay.ts'
import { createCursors } from './logs/cursor.ts'
import type { ReferenceKeys } from './logs/reference.ts'
import { logWatchHandlers } from './logs/handlers.ts'
import type { HtmlPage } from './pages/document.ts'
import { passAdminHandlers } from './passes/handlers.ts'
import { peopleHandlers } from './people/handlers.ts'
import type { Roster } from './people/out-of-force.ts'
import type { Mailer } from './mail/mailer.ts'
import type { Outbox } from './mail/outbox.ts'
import type { DashboardMetrics } from './http/metrics.ts'
import { createPost, type Post } from './mail/post.ts'
import { writeAlert } from './people/alert-letter.ts'
import { writeInvitation } from './people/invitation-letter.ts'
import { readingHandlers, type ReadingHandlers, type ReadingParts } from './reading.ts'
import { createReadScope } from './reads/scope.ts'
import type { PageClock } from './reads/walk-back.ts'
import { replayHandlers } from './replays/handlers.ts'
import { startReplayWatch } from './replays/watch.ts'
import { createSessions } from './sessions/sessions.ts'
import type { TryDestination } from './set-up/destination-trial.ts'
import { setUpCallHandlers } from './set-up/handlers.ts'
import type { FetchPage } from './set-up/page-check.ts'
import { sharedHandlers } from './shared/handlers.ts'
import { writeSignIn } from './sign-in/mail-link.ts'
import { createReadGroups } from './sign-in/read-groups.ts'
import { signInHandlers } from './sign-in/handlers.ts'
import type { Discovery } from './sign-in/discovery.ts'
import { createIdentityProvider } from './sign-in/identity-provider.ts'
import type { Pins } from './sign-in/pins.ts'
import { createAccounts } from './sign-in/same-account.ts'
import { writeSupport } from './support/letter.ts'
import { spendHandlers } from './spend/handlers.ts'
import { streamHandlers } from './streams/handlers.ts'
import { supportHandlers } from './support/handlers.ts'
import { webhookHandlers } from './webhooks/handlers.ts'
import type { MailChoices } from './weekly/choices.ts'
import { weeklyMailHandlers } from './weekly/handlers.ts'
import { writeWeekly } from './weekly/letter.ts'

/** What billing needs in addition to the services of all areas. */
export interface DashboardBilling {
  readonly payments: Payments
  readonly plans: PlanOfPrice
  /** The current price of each plan on sale. */
  readonly offers: ReadonlyMap<Plan, string>
  /** Hosts that an Owner may be sent to. */
  readonly pageHosts: readonly string[]
  /** Several during a rotation. */
  readonly webhookSecrets: readonly string[]
}

/** Absent in an installation without billing. */
type Handlers = Readonly<Record<Exclude<RouteName, keyof typeof BILLING_ROUTES>, Handler>> &
  Readonly<Partial<Record<keyof typeof BILLING_ROUTES, Handler>>>

interface DashboardParts {
  readonly site: DashboardSite
  readonly engines: DashboardEngines
  readonly roster: Roster
  readonly entrance: Entrance
  readonly keys: DashboardKeys
  readonly surroundings: Surroundings
}

interface DashboardSite {
  readonly baseUrl: string
  /** Keyed hash under the key of the day; nothing else sees the address itself. */
  readonly addressHashOf: Site['addressHashOf']
  /** Of this service. */
  readonly version: string
  /** Close them before the server. */
  readonly streams: EventStreams
}

interface DashboardEngines {
  readonly eventLog: LogWriter
  readonly hotState: HotState
  readonly facts: FactsReader
}

/** How people get in. */
interface Entrance {
  /** Null: there is no identity provider. */
  readonly discovery: Discovery | null
  readonly claimRules: ClaimRules
  readonly pins: Pins
  readonly signUp: SignUpParts['signUp']
}

/** What a process gives all of its parts; tests set it. */
interface Surroundings extends Stamps {
  readonly logger: Logger
  readonly metrics: DashboardMetrics
  /** How long a page of a list takes to read. */
  readonly clock: PageClock
  /** A clock that never goes back, for what is shared by people who ask at the same time. */
  readonly elapsedMs: () => number
}

/** Keyed hashes, one key for each use. */
interface DashboardKeys extends ReferenceKeys {
  readonly cursorMac: (text: string) => string
  /** `p_` and 16 hex digits. */
  readonly personId: (email: string) => string
  /** Whether a master secret of this key ID is in use. */
  readonly hasKey: (keyId: number) => boolean
  readonly memberHash: (text: string) => string
  readonly signInHash: (text: string) => string
  readonly changeHash: (text: string) => string
  readonly testHash: (text: string) => string
}

/** What an installation has beside its engines, or not. */
interface DashboardServices {
  /** Null: no mail is sent. */
  readonly outbox: Outbox | null
  readonly choices: MailChoices
  /** Whether this service offers support. */
  readonly hasSupport: boolean
  /** The document of a page that a link shows; null: the pages are not built. */
  readonly shareDocument: (() => HtmlPage) | null
  /** Null: this service has no billing. */
  readonly billing: DashboardBilling | null
  /** Of a website, for whoever sets it up. */
  readonly fetchPage: FetchPage
  readonly tryDestination: TryDestination
  readonly replayDeliveries: ReplayDeliveries
  /** Runs them in a thread of their own; absent: in this one. */
  readonly readingHandlers?: (parts: ReadingParts) => ReadingHandlers
}

interface LetterPostParts {
  readonly hotState: HotState
  readonly roster: Roster
  readonly site: LetterSite
  readonly mailer: Mailer
  readonly choices: MailChoices
  readonly surroundings: { readonly nowMs: () => number; readonly logger: Logger }
}

/** What letters say of the service, and to whom they go. */
interface LetterSite {
  readonly baseUrl: string
  /** The service's name as people read it. */
  readonly brand: string
  /** If sign-up is open, anyone may sign in first. */
  readonly isOpen: boolean
  /** Address for support requests; null if there is none. */
  readonly supportMail: string | null
  readonly keys: { readonly signInHash: (text: string) => string; readonly mailEnds: SealedTexts }
}

/** Writes and sends the letters on the log. */
export function createLetterPost({ hotState, roster, site, mailer, choices, surroundings }: LetterPostParts): Post {
  const { nowMs, logger } = surroundings
  const { directory, writer } = roster
  const { baseUrl, brand, isOpen, supportMail, keys } = site
  const { signInHash: hash, mailEnds } = keys
  const writers = {
    'sign-in': writeSignIn({ hotState, directory, baseUrl, hash, isOpen, brand }),
    invitation: writeInvitation({ directory, writer, baseUrl, brand, nowMs }),
    support: writeSupport({ supportMail, hotState }),
    weekly: writeWeekly({ directory, choices, baseUrl, brand, mailEnds }),
    alert: writeAlert({ directory, baseUrl }),
  }
  return createPost({ mailer, writers, hotState, logger })
}

export function createDashboard(parts: DashboardParts, services: DashboardServices): Serve {
  const { site, engines, roster, entrance, keys, surroundings } = parts
  const { eventLog, hotState, facts } = engines
  const { directory, inventory, writer } = roster
  const { discovery, claimRules: rules, pins } = entrance
  const { nowMs, randomness, logger, metrics, clock, elapsedMs } = surroundings
  const { billing, outbox, choices, shareDocument, fetchPage, tryDestination } = services
  const { baseUrl, streams } = site
  const { personId, signInHash } = keys
  const noteActivity = createActivity({ eventLog, randomness, nowMs })
  const readGroups = createReadGroups({ discovery, rules, nowMs })
  const known = createSessions({ hotState, randomness, personId, readGroups, nowMs })
  const sessions = notingSignIns(known, { directory, noteActivity, personId, logger })
  const websitesOf = (call: ScopedCall) => directory.websites(call.scope.organization.id)
  const scope = createReadScope({ facts, websitesOf, elapsedMs })
  const cursors = createCursors(keys.cursorMac)
  const stillAllowed = createStillAllowed({ sessions, directory })
  const control = { hotState, stillAllowed, noteActivity, logger }
  const keyIds = KEY_IDS.filter(keys.hasKey)
  const trail = createTrail(noteActivity, keys.changeHash)
  const writing = { inventory, writer, randomness, trail }
  const watched = { facts, hotState, rights: { sessions, directory }, noteActivity, logger, nowMs }
  const watch = startReplayWatch(watched, streams.closing).add
  const provider = createIdentityProvider({
    discovery,
    rules,
    nowMs,
    logger,
    countGroupsMissing: metrics.groupsMissing,
  })
  const accounts = createAccounts({ directory, pins, hotState, personId, noteActivity, logger })
  const reading = (services.readingHandlers ?? readingHandlers)({ scope, facts, cursors, clock, keyIds, control })
  const handlers: Handlers = {
    ...reading,
    ...asCalled({
      ...signInHandlers(
        { hotState, sessions, outbox, randomness, hash: signInHash },
        { provider, accounts, sessions, hotState, randomness, baseUrl },
        metrics.signIn,
      ),
      ...peopleHandlers({
        personId,
        members: { roster, trail, onRemoved: pins.forget },
        invitations: { roster, trail, hotState, letters: { outbox, baseUrl }, randomness, hash: keys.memberHash },
        service: { hasBilling: billing !== null, mayMakeOrganizations: entrance.signUp !== null },
      }),
      ...configurationHandlers(
        writing,
        { roster, signUp: entrance.signUp, memberHash: keys.memberHash, trail },
        { directory, keys },
      ),
      ...passAdminHandlers({ directory, writing }),
      ...setUpCallHandlers({ directory, hotState, fetchPage, tryDestination, site, elapsedMs }),
      ...sharedHandlers({ sharedFigures: reading.sharedFigures, shareDocument, elapsedMs }),
      ...weeklyMailHandlers({ roster, trail, choices, hasMail: outbox !== null }),
      ...logWatchHandlers({ scope, facts, streams, stillAllowed, nowMs, keys }),
      ...redeliveryHandlers({ scope, replayDeliveries: services.replayDeliveries, noteActivity }),
      ...replayHandlers({ scope, directory, hotState, eventLog, randomness, watch }, { scope, noteActivity }),
      ...spendHandlers({ scope, hotState, eventLog, randomness, noteActivity, stillAllowed }),
      ...streamHandlers({ scope, inventory }, { inventory, hotState, noteActivity }, writing),
      ...webhookHandlers(
        { scope, inventory, cursors },
        {
          scope,
          inventory,
          hotState,
          noteActivity,
          queue: { eventLog, randomness, catalogNumber: directory.catalogNumber },
        },
        writing,
      ),
      ...supportHandlers({
        diagnostics: { scope, inventory, version: site.version },
        hotState,
        outbox: services.hasSupport ? outbox : null,
        noteActivity,
        hash: signInHash,
      }),
    }),
    ...(billing === null ? {} : asCalled(billingRoutes(parts, billing))),
  }
  const onLimit = noteRefused({ eventLog, hotState, randomness, nowMs, logger, countShed: metrics.refusalShed })
  const { answered, limitReached, sessionSeen } = metrics
  const observer = { logger, answered, limitReached, sessionSeen, onLimit }
  const shown = { baseUrl, cookies: cookieRules(baseUrl), addressHashOf: site.addressHashOf }
  const routes = servedRoutes(handlers)
  return createServe(routes, { site: shown, sessions, directory, hotState, stamps: { nowMs, randomness }, observer })
}

function servedRoutes(handlers: Handlers) {
  return keysOf(handlers).flatMap((name) => {
    const handle = handlers[name]
    return handle === undefined ? [] : [{ row: ROUTES[name], handle }]
  })
}

function billingRoutes({ site, engines, roster, surroundings }: DashboardParts, billing: DashboardBilling) {
  const { directory, inventory, writer } = roster
  const { payments, plans, offers, pageHosts, webhookSecrets } = billing
  const { nowMs, logger } = surroundings
  const applyPresent = createPresent({ payments, plans, writer, nowMs, logger })
  const shop = { baseUrl: site.baseUrl, offers, pageHosts }
  return billingHandlers(
    { payments, applyPresent, writer, inventory, hotState: engines.hotState, shop },
    { payments, applyPresent, directory, inventory, webhookSecrets },
  )
}
