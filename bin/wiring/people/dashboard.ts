/** Opens the dashboard beside the api in one process: its sessions, mail, identity provider, and the folder it writes to. */

import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { Registry } from 'prom-client'

import { replayDeadLetters } from '../../../delivery/tools/replay.ts'
import { addressReader } from '../../../api/http/client-address.ts'
import type { ServerParts } from '../../../api/server.ts'
import { countingPayments } from '../../../dashboard/billing/count-payments.ts'
import { startReconciling } from '../../../dashboard/billing/reconcile.ts'
import { stripePayments } from '../../../dashboard/billing/stripe.ts'
import { createDashboard, createLetterPost, type DashboardBilling } from '../../../dashboard/dashboard.ts'
import { createEventStreams, type EventStreams } from '../../../dashboard/events/event-streams.ts'
import { refuseUnknownPath } from '../../../dashboard/http/limits.ts'
import type { Serve } from '../../../dashboard/http/serve.ts'
import { createOutbox, type Outbox } from '../../../dashboard/mail/outbox.ts'
import type { ReadingHandlers, ReadingParts } from '../../../dashboard/reading.ts'
import { createDashboardMetrics, type DashboardMetrics } from '../../../dashboard/http/metrics.ts'
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
import { folderDirectory } from '../../../dashboard/resources/folder-directory.ts'
import { folderInventory } from '../../../dashboard/resources/folder-inventory.ts'
import { startFolderAudit, type FolderAudit } from '../../../dashboard/resources/folder-audit.ts'
import { folderWriter } from '../../../dashboard/resources/folder-writer.ts'
import type { Inventory } from '../../../dashboard/resources/inventory.ts'
import type { ResourceWriter } from '../../../dashboard/resources/writer.ts'
import { startDiscovery, type Discovery } from '../../../dashboard/sign-in/discovery.ts'
import { hotStatePins, type Pins } from '../../../dashboard/sign-in/pins.ts'
import { makeSignInLink } from '../../../dashboard/sign-in/operator-link.ts'
import { readPagesBundle } from '../../../dashboard/pages/assets.ts'
import { overHttpsAlone } from '../../../dashboard/pages/answer.ts'
import { serveMissing } from '../../../dashboard/pages/problem-page.ts'
import { pagesServer } from '../../../dashboard/pages/serve-pages.ts'
import { signInPages } from '../../../dashboard/sign-in/page.ts'
import { startMailRole } from '../../../delivery/mail/mail-role.ts'
import { brandName } from '../../../domain/host.ts'
import type { EventLog } from '../../../ports/event-log/event-log.ts'
import type { FactsReader } from '../../../ports/facts/facts.ts'
import type { HotState } from '../../../ports/hot-state/hot-state.ts'
import type { FolderCatalog } from '../../../runtime/catalog/source.ts'
import type { Keyring } from '../../../runtime/keyring.ts'
import { createRandomness, type Randomness } from '../../../runtime/random.ts'
import type { Settings } from '../../../runtime/settings/settings.ts'
import { outboundProxyOf, useProxyForFetch } from '../outbound.ts'
import type { EngineParts } from '../engines.ts'
import { keepOpening } from '../process.ts'
import { readSecret, readSecrets } from './secret-file.ts'
import { serverParts } from '../serve-api.ts'
import { version } from '../version.ts'

interface DashboardWiring extends EngineParts {
  readonly keys: Keyring
  readonly eventLog: EventLog
  readonly registry: Registry
  /** One that rejects while its store is unavailable. */
  readonly hotState: HotState
  /** In a cluster a connection of its own, which reads only. */
  readonly facts: FactsReader
  readonly directory: Directory
  readonly inventory: Inventory
  readonly writer: ResourceWriter
  readonly pins: Pins
  /** Runs handlers that read facts in another thread; absent: in this one. */
  readonly readingHandlers?: (parts: ReadingParts) => ReadingHandlers
}

interface FolderParts extends EngineParts {
  readonly catalog: FolderCatalog
  readonly hotState: HotState
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Of the embedded program: members and organisations are in its folder of manifests. */
export function folderResources(
  parts: FolderParts,
): Pick<DashboardWiring, 'directory' | 'inventory' | 'writer' | 'pins'> {
  const { settings, catalog, hotState, env, nowMs } = parts
  const { manifests: folder, dashboardFolder: written } = settings
  const { content, repairs, refresh } = catalog
  return {
    directory: folderDirectory(catalog),
    inventory: folderInventory(catalog, nowMs),
    writer: folderWriter({ folder, written, env, content, repairs, refresh, nowMs }),
    pins: hotStatePins(hotState),
  }
}

/** Of the embedded program: records who changed what in its folder. */
export function auditFolder(
  parts: EngineParts & Pick<DashboardWiring, 'eventLog' | 'keys'> & FolderParts,
): FolderAudit {
  const { settings, keys, catalog, eventLog, nowMs, logger } = parts
  const file = join(settings.data, 'audit.json')
  const { changeHash } = keys
  return startFolderAudit({ catalog, file, eventLog, changeHash, randomness: createRandomness(), nowMs, logger })
}

interface SignInLinkRequest {
  readonly email: string
  /** ID of an organisation whose Owner the person becomes; null for none. */
  readonly ownerOf: string | null
}

const PAGES_FOLDER = fileURLToPath(new URL('../../../pages/dist', import.meta.url))

/** The API also works without the pages, as in a checkout in which they were not built. */
function openPages({ settings, logger }: EngineParts, randomness: Randomness): Serve {
  try {
    const bundle = readPagesBundle(PAGES_FOLDER)
    const nonce = (): string => Buffer.from(randomness.bytes(NONCE_BYTES)).toString('base64')
    const brand = brandName(settings.brand)
    return pagesServer({ bundle, brand, nonce })
  } catch (error) {
    logger.warn({ err: error }, 'the pages of the dashboard are not served')
    return () => false
  }
}

const NONCE_BYTES = 18

export interface OpenDashboard {
  readonly serve: Serve
  /** Close them before the server, which would otherwise wait for them. */
  readonly streams: EventStreams
  /** For a server of its own. */
  readonly server: ServerParts
  /** The address of a link. Throws an Error with the reason if the person cannot be made Owner. */
  readonly signInLink: (request: SignInLinkRequest) => Promise<string>
  readonly exportPerson: (email: string) => Promise<PersonExport>
  readonly erasePerson: (email: string) => Promise<PersonErased>
}

/** What a running dashboard offers to the tools. */
export function toolsOf(dashboard: OpenDashboard): Pick<OpenDashboard, 'signInLink' | 'exportPerson' | 'erasePerson'> {
  const { signInLink, exportPerson: show, erasePerson: erase } = dashboard
  return { signInLink, exportPerson: show, erasePerson: erase }
}

export async function openDashboard(parts: DashboardWiring): Promise<OpenDashboard> {
  const { settings, keys, eventLog, hotState, facts, directory, inventory, writer, pins } = parts
  const { lifecycle, logger, nowMs } = parts
  const randomness = createRandomness()
  const addressOf = addressReader(settings.trustProxy)
  const addressHashOf = (req: IncomingMessage): string => keys.addressHash(addressOf(req), nowMs())
  const missing: Serve = (req, res) => serveMissing(req, res, () => refuseUnknownPath(addressHashOf(req), hotState))
  const { baseUrl } = settings
  const streams = createEventStreams()
  const signIn = signInPages({ brand: brandName(settings.brand) })
  const pages = openPages(parts, randomness)
  const metrics = createDashboardMetrics(parts.registry, nowMs)
  const api = createDashboard({
    baseUrl,
    streams,
    eventLog,
    hotState,
    facts,
    directory,
    inventory,
    writer,
    pins,
    keys,
    randomness,
    nowMs,
    logger,
    metrics,
    clock: { elapsedMs: () => performance.now() },
    addressHashOf,
    replayDeliveries: ({ mayCountTwice, ...query }) =>
      replayDeadLetters({ eventLog, facts, nowMs, mayCountTwice, catalogNumber: directory.catalogNumber }, query),
    outbox: await openOutbox(parts, randomness),
    discovery: await openDiscovery(parts),
    signUp: signUpOf(settings),
    billing: await openBilling(parts, metrics),
    version: version(),
    hasSupport: settings.supportMail !== null,
    claimRules: { trustedDomains: settings.oidcTrustDomains, groupsClaim: settings.oidcGroupsClaim },
    ...(parts.readingHandlers === undefined ? {} : { readingHandlers: parts.readingHandlers }),
  })
  await lifecycle.start(
    'expired invitations',
    () => startDeletingExpired({ directory, inventory, writer, nowMs, logger }),
    (started) => started.close(),
  )
  const people = {
    directory,
    inventory,
    writer,
    hotState,
    facts,
    nowMs,
    personId: keys.personId,
    onRemoved: pins.forget,
  }
  const serve: Serve = (req, res) => signIn(req, res) || pages(req, res) || api(req, res) || missing(req, res)
  return {
    streams,
    server: serverParts(settings, { onBroken: metrics.broken, onEnded: metrics.connectionEnded }),
    serve: baseUrl.startsWith('https:') ? overHttpsAlone(serve) : serve,
    exportPerson: (email) => exportPerson(email, people),
    erasePerson: (email) => erasePerson(email, people),
    async signInLink({ email, ownerOf }) {
      if (ownerOf !== null) {
        const owners = { directory, inventory, writer, hash: keys.memberHash }
        const outcome = await ownerWish(owners, { email, organization: ownerOf })
        if (outcome !== null) throw new Error(outcome)
      }
      return makeSignInLink(hotState, randomness, { email, baseUrl })
    },
  }
}

/** Objects of people who signed up are in the first namespace that is watched. */
function signUpOf({ signUp, watchNamespaces, installation }: Settings) {
  if (signUp === 'Closed') return null
  return { namespace: watchNamespaces[0] ?? 'default', installation: installation === 'default' ? null : installation }
}

/** Letters go through the log, and any process of the dashboard sends them. */
async function openOutbox(parts: DashboardWiring, randomness: Randomness): Promise<Outbox | null> {
  const { settings, lifecycle } = parts
  const { smtpUrl: url, mailFrom: from, baseUrl, supportMail } = settings
  if (url === null || from === null) return null
  const mailer = await lifecycle.start(
    'mail server',
    () => smtpMailer({ url, from, proxy: outboundProxyOf(settings) }),
    (opened) => opened.close(),
  )
  const isOpen = settings.signUp === 'Open'
  const post = createLetterPost({ ...parts, baseUrl, mailer, supportMail, isOpen, brand: brandName(settings.brand) })
  await lifecycle.startBackground(
    'mail',
    // Mails wait while the log is unavailable; people need not.
    () => keepOpening(() => startMailRole({ ...parts, post, randomness }), { name: 'mail', logger: parts.logger }),
    (role) => role.close(),
  )
  return createOutbox({ ...parts, randomness })
}

/** Null without the settings. Rejects if the file of the secret cannot be read or is empty. */
async function openDiscovery({ settings, lifecycle, logger }: DashboardWiring): Promise<Discovery | null> {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecretFile: file, oidcScopes: scopes } = settings
  if (issuer === null || clientId === null || file === null) return null
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
async function openBilling(parts: DashboardWiring, metrics: DashboardMetrics): Promise<DashboardBilling | null> {
  const { settings, lifecycle } = parts
  const { stripeSecretFile, stripeWebhookSecretFile, stripePrices, stripeUrl: url } = settings
  if (stripeSecretFile === null || stripeWebhookSecretFile === null || stripePrices === null) return null
  const [secretKey = ''] = readSecrets(stripeSecretFile, "the file of the payment provider's key")
  const billing = {
    payments: countingPayments(
      await stripePayments({ secretKey, url, proxy: outboundProxyOf(settings) }),
      metrics.paymentsAsked,
    ),
    webhookSecrets: readSecrets(stripeWebhookSecretFile, "the file of the payment webhook's secrets"),
    plans: new Map(stripePrices.map(({ plan, price }) => [price, plan])),
    // If a plan has several prices, the first counts.
    offers: new Map(stripePrices.toReversed().map(({ plan, price }) => [plan, price])),
    pageHosts: [...PAGE_HOSTS, ...(url.startsWith('http:') ? [new URL(url).host] : [])],
  }
  await lifecycle.start(
    'reconciliation of plans',
    () => startReconciling({ ...parts, ...billing, random: Math.random }),
    (started) => started.close(),
  )
  return billing
}
