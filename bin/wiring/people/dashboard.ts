/** Opens the dashboard: its sessions, mail, identity provider and billing. */

import type { IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'

import { replayDeadLetters } from '../../../delivery/tools/replay.ts'
import { fetchPublicPage } from '../../../delivery/outbound/page.ts'
import { addressReader } from '../../../api/http/client-address.ts'
import type { ServerParts } from '../../../api/server.ts'
import { createTrials } from '../trials.ts'
import { countingPayments } from '../../../dashboard/billing/count-payments.ts'
import { createPresent } from '../../../dashboard/billing/present.ts'
import { startReconciling } from '../../../dashboard/billing/reconcile.ts'
import { stripePayments } from '../../../dashboard/billing/stripe.ts'
import { createDashboard, createLetterPost, type DashboardBilling } from '../../../dashboard/dashboard.ts'
import { createActivity } from '../../../dashboard/events/activity.ts'
import { createEventStreams, type EventStreams } from '../../../dashboard/events/event-streams.ts'
import { refuseUnknownPath } from '../../../dashboard/http/limits.ts'
import type { Serve } from '../../../dashboard/http/serve.ts'
import { createOutbox, type Outbox } from '../../../dashboard/mail/outbox.ts'
import type { ReadingHandlers, ReadingParts } from '../../../dashboard/reading.ts'
import { createDashboardMetrics, type DashboardMetrics } from '../../../dashboard/http/metrics.ts'
import { toldOfAlerts } from '../../../dashboard/people/alert-letter.ts'
import { smtpMailer } from '../../../dashboard/mail/smtp.ts'
import { startDeletingExpired } from '../../../dashboard/people/expired.ts'
import {
  erasePerson,
  exportPerson,
  type PersonErased,
  type PersonExport,
} from '../../../dashboard/people/personal-data.ts'
import { ownerWish } from '../../../dashboard/people/first-owner.ts'
import type { Directory } from '../../../dashboard/resources/directory.ts'
import type { Inventory } from '../../../dashboard/resources/inventory.ts'
import type { ResourceWriter } from '../../../dashboard/resources/writer.ts'
import { startDiscovery, type Discovery } from '../../../dashboard/sign-in/discovery.ts'
import type { Pins } from '../../../dashboard/sign-in/pins.ts'
import { makeSignInLink } from '../../../dashboard/sign-in/operator-link.ts'
import { readPagesBundle } from '../../../dashboard/pages/assets.ts'
import { overHttpsAlone } from '../../../dashboard/pages/answer.ts'
import { pageDocument, type HtmlPage } from '../../../dashboard/pages/document.ts'
import { serveMissing } from '../../../dashboard/pages/problem-page.ts'
import { pagesServer } from '../../../dashboard/pages/serve-pages.ts'
import { signInPages } from '../../../dashboard/sign-in/page.ts'
import { createMailChoices, type MailChoices } from '../../../dashboard/weekly/choices.ts'
import { endPages } from '../../../dashboard/weekly/end-page.ts'
import { startWeekly } from '../../../dashboard/weekly/make.ts'
import { startAlertLetters } from '../../../delivery/mail/alert-letters.ts'
import { startMailRole } from '../../../delivery/mail/mail-role.ts'
import { brandName } from '../../../domain/host.ts'
import type { Refusal } from '../../../domain/errors.ts'
import { KEY_IDS } from '../../../domain/receipt.ts'
import type { EventLog } from '../../../ports/event-log/event-log.ts'
import type { FactsReader } from '../../../ports/facts/facts.ts'
import type { HotState } from '../../../ports/hot-state/hot-state.ts'
import type { Keyring } from '../../../runtime/keyring.ts'
import { createRandomness, type Randomness } from '../../../runtime/random.ts'
import type { PEOPLE } from '../../../runtime/settings/setting-groups.ts'
import type { SettingsNamed, TogetherSettings } from '../../../runtime/settings/settings-of.ts'
import { outboundProxyOf, useProxyForFetch, type SendingSettings } from '../outbound.ts'
import { keepOpening, type Process } from '../process.ts'
import type { Logger } from '../../../runtime/logger.ts'
import { readSecret, readSecrets } from './secret-file.ts'
import { serverParts } from '../serve-api.ts'
import { version } from '../version.ts'

/** Where members, organisations and what people configure are kept: in a folder, or in a cluster. */
export interface DashboardResources {
  readonly directory: Directory
  readonly inventory: Inventory
  readonly writer: ResourceWriter
  readonly pins: Pins
}

/** Where the objects of people who sign up are written. */
interface SignUpPlace {
  readonly namespace: string
  /** Null: they belong to the first installation that sees them. */
  readonly installation: string | null
}

type DashboardSettings = SendingSettings &
  TogetherSettings<'signIn'> &
  TogetherSettings<'mail'> &
  TogetherSettings<'billing'> &
  SettingsNamed<(typeof PEOPLE)[number] | 'baseUrl' | 'brand' | 'connectionsPerAddress' | 'trustProxy'>

interface DashboardGround {
  readonly keys: Keyring
  /** The hot state is one that rejects while its store is unavailable; in a cluster the facts have a connection that reads only. */
  readonly stores: { readonly eventLog: EventLog; readonly hotState: HotState; readonly facts: FactsReader }
  readonly resources: DashboardResources
  readonly signUpPlace: SignUpPlace
  /** Runs handlers that read facts in another thread; absent: in this one. */
  readonly readingHandlers?: (parts: ReadingParts) => ReadingHandlers
}

interface SignInLinkRequest {
  readonly email: string
  /** ID of an organisation whose Owner the person becomes; null for none. */
  readonly ownerOf: string | null
}

const PAGES_FOLDER = fileURLToPath(new URL('../../../pages/dist', import.meta.url))

interface OpenPages {
  readonly serve: Serve
  /** Of what a link shows; null: there are no pages. */
  readonly shareDocument: (() => HtmlPage) | null
}

/** The API also works without the pages, as in a checkout in which they were not built. */
function openPages(brand: string, logger: Logger, randomness: Randomness): OpenPages {
  try {
    const bundle = readPagesBundle(PAGES_FOLDER)
    const nonce = (): string => Buffer.from(randomness.bytes(NONCE_BYTES)).toString('base64')
    const parts = { bundle, brand, nonce }
    return { serve: pagesServer(parts), shareDocument: () => pageDocument(parts, true) }
  } catch (error) {
    logger.warn({ err: error }, 'the pages of the dashboard are not served')
    return { serve: () => false, shareDocument: null }
  }
}

const NONCE_BYTES = 18

/** What a running dashboard offers to the tools. */
export interface PeopleTools {
  /** The address of a link. Throws an Error with the reason if the person cannot be made Owner. */
  readonly signInLink: (request: SignInLinkRequest) => Promise<string>
  readonly exportPerson: (email: string) => Promise<PersonExport>
  readonly erasePerson: (email: string) => Promise<PersonErased>
}

export interface OpenDashboard extends PeopleTools {
  readonly serve: Serve
  /** Close them before the server, which would otherwise wait for them. */
  readonly streams: EventStreams
  /** For a server of its own. */
  readonly server: ServerParts
}

export function toolsOf({ signInLink, exportPerson: show, erasePerson: erase }: PeopleTools): PeopleTools {
  return { signInLink, exportPerson: show, erasePerson: erase }
}

export async function openDashboard(
  own: Process,
  settings: DashboardSettings,
  ground: DashboardGround,
): Promise<OpenDashboard> {
  const { lifecycle, logger, registry, nowMs } = own
  const { keys, stores, resources } = ground
  const { eventLog, hotState, facts } = stores
  const { directory, inventory, writer, pins } = resources
  const randomness = createRandomness()
  const addressOf = addressReader(settings.trustProxy)
  const addressHashOf = (req: IncomingMessage): string => keys.addressHash(addressOf(req), nowMs())
  const refuseUnknown = (req: IncomingMessage): Promise<Refusal> => refuseUnknownPath(addressHashOf(req), hotState)
  const missing: Serve = (req, res) => serveMissing(req, res, () => refuseUnknown(req))
  const { baseUrl } = settings
  const streams = createEventStreams()
  const brand = brandName(settings.brand)
  const signIn = signInPages({ brand })
  const pages = openPages(brand, logger, randomness)
  const metrics = createDashboardMetrics(registry, nowMs)
  const roster = { directory, inventory, writer }
  const claimRules = { trustedDomains: settings.oidcTrustDomains, groupsClaim: settings.oidcGroupsClaim }
  const signUp = settings.signUp === 'Closed' ? null : { ...ground.signUpPlace, plan: settings.defaultPlan }
  const elapsedMs = (): number => performance.now()
  const choices = createMailChoices({ facts, hotState, noteActivity: createActivity({ eventLog, randomness, nowMs }) })
  const outbox = await openOutbox(own, settings, ground, { randomness, choices })
  const api = createDashboard(
    {
      site: { baseUrl, addressHashOf, version: version(), streams },
      engines: { eventLog, hotState, facts },
      roster,
      entrance: { discovery: await openDiscovery(own, settings), claimRules, pins, signUp },
      keys,
      surroundings: { nowMs, randomness, logger, metrics, clock: { elapsedMs }, elapsedMs },
    },
    {
      outbox,
      choices,
      hasSupport: settings.supportMail !== null,
      shareDocument: pages.shareDocument,
      fetchPage: (url, callMs) => fetchPublicPage(url, { callMs, proxy: outboundProxyOf(settings) }),
      tryDestination: createTrials(settings, nowMs),
      billing: await openBilling(own, settings, resources, metrics.paymentsAsked),
      replayDeliveries: ({ mayCountTwice, ...query }) =>
        replayDeadLetters({ eventLog, facts, nowMs, mayCountTwice, catalogNumber: directory.catalogNumber }, query),
      ...(ground.readingHandlers === undefined ? {} : { readingHandlers: ground.readingHandlers }),
    },
  )
  await lifecycle.start(
    'expired invitations',
    () => startDeletingExpired(roster, nowMs, logger),
    (started) => started.close(),
  )
  const keyIds = KEY_IDS.filter(keys.hasKey)
  await lifecycle.start(
    'weekly summaries',
    () => startWeekly({ roster, stores: { eventLog, hotState, facts }, outbox, keyIds, nowMs, logger }),
    (started) => started.close(),
  )
  const end = endPages({ open: keys.mailEnds.open, directory, choices, brand, refuseUnknown, logger })
  const people = { roster, hotState, facts, nowMs, personId: keys.personId, onRemoved: pins.forget }
  const serve: Serve = (req, res) =>
    signIn(req, res) || end(req, res) || pages.serve(req, res) || api(req, res) || missing(req, res)
  return {
    streams,
    server: serverParts(settings, { onBroken: metrics.broken, onEnded: metrics.connectionEnded }),
    serve: baseUrl.startsWith('https:') ? overHttpsAlone(serve) : serve,
    exportPerson: (email) => exportPerson(email, people),
    erasePerson: (email) => erasePerson(email, people),
    async signInLink({ email, ownerOf }) {
      if (ownerOf !== null) {
        const outcome = await ownerWish(roster, { email, organization: ownerOf, hash: keys.memberHash })
        if (outcome !== null) throw new Error(outcome)
      }
      return makeSignInLink(hotState, randomness, { email, baseUrl })
    },
  }
}

/** Letters go through the log, and any process of the dashboard sends them. */
async function openOutbox(
  own: Process,
  settings: DashboardSettings,
  { keys, stores, resources }: DashboardGround,
  { randomness, choices }: { readonly randomness: Randomness; readonly choices: MailChoices },
): Promise<Outbox | null> {
  const { lifecycle, logger, registry, nowMs } = own
  const { eventLog, hotState } = stores
  const { smtpUrl: url, mailFrom: from, baseUrl, supportMail } = settings
  if (url === null) return null
  const mailer = await lifecycle.start(
    'mail server',
    () => smtpMailer({ url, from, proxy: outboundProxyOf(settings) }),
    (opened) => opened.close(),
  )
  const isOpen = settings.signUp === 'Open'
  const site = { baseUrl, brand: brandName(settings.brand), isOpen, supportMail, keys }
  const surroundings = { nowMs, logger }
  const post = createLetterPost({ hotState, roster: resources, site, mailer, choices, surroundings })
  const role = { eventLog, post, telemetry: { logger, registry }, nowMs, randomness }
  await lifecycle.startBackground(
    'mail',
    // Mails wait while the log is unavailable; people need not.
    () => keepOpening(() => startMailRole(role), { name: 'mail', logger }),
    (opened) => opened.close(),
  )
  const outbox = createOutbox({ eventLog, nowMs, randomness })
  const { directory } = resources
  const letters = {
    eventLog,
    recipients: (organization: string) => toldOfAlerts(directory, organization),
    put: outbox.put,
    telemetry: { logger, registry },
    nowMs,
  }
  // Who is told is known once the members were read.
  const openLetters = () => directory.synced.then(() => startAlertLetters(letters))
  await lifecycle.startBackground(
    'letters about alerts',
    () => keepOpening(openLetters, { name: 'letters about alerts', logger }),
    (opened) => opened.close(),
  )
  return outbox
}

/** Null without the settings. Rejects if the file of the secret cannot be read or is empty. */
async function openDiscovery({ lifecycle, logger }: Process, settings: DashboardSettings): Promise<Discovery | null> {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecretFile: file, oidcScopes: scopes } = settings
  if (issuer === null) return null
  const clientSecret = readSecret(file, "the file of the identity provider's secret")
  useProxyForFetch(settings)
  return lifecycle.start(
    'identity provider',
    () => startDiscovery({ issuer, clientId, clientSecret, scopes, logger }),
    (discovery) => discovery.close(),
  )
}

/** Hosts of Stripe's own pages, on which people pay. */
const PAGE_HOSTS = ['checkout.stripe.com', 'billing.stripe.com']

/** Null without the settings. Rejects if a file of a secret cannot be read or is empty. */
async function openBilling(
  { lifecycle, logger, nowMs }: Process,
  settings: DashboardSettings,
  { directory, writer }: DashboardResources,
  countPayment: DashboardMetrics['paymentsAsked'],
): Promise<DashboardBilling | null> {
  const { stripeSecretFile, stripeWebhookSecretFile, stripePrices, stripeUrl: url } = settings
  if (stripeSecretFile === null) return null
  const [secretKey = ''] = readSecrets(stripeSecretFile, "the file of the payment provider's key")
  const billing = {
    payments: countingPayments(
      await stripePayments({ secretKey, url, proxy: outboundProxyOf(settings) }),
      countPayment,
    ),
    plans: new Map(stripePrices.map(({ plan, price }) => [price, plan])),
    webhookSecrets: readSecrets(stripeWebhookSecretFile, "the file of the payment webhook's secrets"),
    // If a plan has several prices, the first counts.
    offers: new Map(stripePrices.toReversed().map(({ plan, price }) => [plan, price])),
    pageHosts: [...PAGE_HOSTS, ...(url.startsWith('http:') ? [new URL(url).host] : [])],
  }
  const { payments, plans } = billing
  const applyPresent = createPresent({ payments, plans, writer, nowMs, logger })
  await lifecycle.start(
    'reconciliation of plans',
    () => startReconciling({ applyPresent, directory, logger, random: Math.random }),
    (started) => started.close(),
  )
  return billing
}
