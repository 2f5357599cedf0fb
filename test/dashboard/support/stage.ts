/** The dashboard's API over real parts: LMDB, a watched folder, an SMTP server; a clock that tests can move. */

import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Registry } from 'prom-client'

import { sha256Hex } from '../../../common/digest.ts'
import {
  createReadThread,
  type ReadThread,
  type ReadThreadParts,
  type ReadThreadStart,
} from '../../../bin/reads/thread.ts'
import { createActivity } from '../../../dashboard/events/activity.ts'
import { createEventStreams } from '../../../dashboard/events/event-streams.ts'
import { createMailChoices } from '../../../dashboard/weekly/choices.ts'
import { endPages } from '../../../dashboard/weekly/end-page.ts'
import { replayDeadLetters } from '../../../delivery/tools/replay.ts'
import { createDashboard, createLetterPost, type DashboardBilling } from '../../../dashboard/dashboard.ts'
import type { Directory } from '../../../dashboard/resources/directory.ts'
import type { Inventory } from '../../../dashboard/resources/inventory.ts'
import type { ResourceWriter } from '../../../dashboard/resources/writer.ts'
import type { Serve } from '../../../dashboard/http/serve.ts'
import { createOutbox } from '../../../dashboard/mail/outbox.ts'
import { createDashboardMetrics } from '../../../dashboard/http/metrics.ts'
import { smtpMailer } from '../../../dashboard/mail/smtp.ts'
import { folderDirectory } from '../../../dashboard/resources/folder-directory.ts'
import { folderInventory } from '../../../dashboard/resources/folder-inventory.ts'
import { startFolderAudit } from '../../../dashboard/resources/folder-audit.ts'
import { folderWriter } from '../../../dashboard/resources/folder-writer.ts'
import type { HtmlPage } from '../../../dashboard/pages/document.ts'
import { serveMissing } from '../../../dashboard/pages/problem-page.ts'
import type { TryDestination } from '../../../dashboard/set-up/destination-trial.ts'
import type { FetchPage } from '../../../dashboard/set-up/page-check.ts'
import { startDiscovery } from '../../../dashboard/sign-in/discovery.ts'
import { hotStatePins } from '../../../dashboard/sign-in/pins.ts'
import { makeSignInLink } from '../../../dashboard/sign-in/operator-link.ts'
import { startMailRole } from '../../../delivery/mail/mail-role.ts'
import type { EventLog, LogWriter } from '../../../ports/event-log/event-log.ts'
import { lmdbEventLog } from '../../../ports/event-log/lmdb/lmdb.ts'
import type { FactsReader } from '../../../ports/facts/facts.ts'
import type { HotState } from '../../../ports/hot-state/hot-state.ts'
import { lmdbHotState } from '../../../ports/hot-state/lmdb/lmdb.ts'
import { openLmdb } from '../../../ports/shared/lmdb/environment.ts'
import { apiKeyText } from '../../../domain/people/api-key.ts'
import { hashOfPass } from '../../../domain/people/pass.ts'
import { shareToken } from '../../../domain/people/share-link.ts'
import { refuse } from '../../../domain/errors.ts'
import type { Plan } from '../../../domain/model.ts'
import type { Topic } from '../../../domain/records.ts'
import { openCatalogFolder, type FolderCatalog } from '../../../runtime/catalog/source.ts'
import { createKeyring } from '../../../runtime/keyring.ts'
import { createLogger } from '../../../runtime/logger.ts'
import { createRandomness } from '../../../runtime/random.ts'
import { freePort } from '../../../fixtures/engines/free-port.ts'
import { movableClock } from '../../../fixtures/clocks.ts'
import { until } from '../../../fixtures/until.ts'
import { undocumented } from './documented.ts'
import { startPostOffice } from './post-office.ts'

export interface Asked {
  readonly cookies?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Client address; each has windows of its own. */
  readonly address?: string
}

export interface Told {
  readonly status: number
  readonly body: Record<string, any>
  readonly text: string
  readonly headers: Headers
  /** What `Cookie` would say with the cookies that were set. */
  readonly cookies: string
}

export interface Stage {
  readonly url: string
  readonly hotState: HotState
  readonly eventLog: EventLog
  readonly directory: Directory
  readonly inventory: Inventory
  readonly catalog: FolderCatalog
  readonly writer: ResourceWriter
  readonly logLines: string[]
  /** As Prometheus reads them. */
  readonly metrics: () => Promise<string>
  /** Texts of the mails that arrived. */
  readonly mails: readonly string[]
  readonly ask: (method: string, path: string, asked?: Asked) => Promise<Told>
  /** Gives the cookie of a new session. */
  readonly signIn: (email: string) => Promise<string>
  readonly mailSent: () => Promise<unknown>
  readonly apply: (name: string, text: string) => Promise<void>
  readonly writtenFiles: () => Promise<readonly string[]>
  readonly manifests: string
  readonly written: string
  readonly advance: (ms: number) => void
  readonly nowMs: () => number
  /** As a process that was stopped, and is started again after something was done. */
  readonly restartAudit: (between: () => Promise<void>) => Promise<void>
  readonly endStreams: () => void
  readonly stop: () => Promise<void>
}

export interface StageOptions {
  readonly manifests: string
  readonly oidc?: {
    readonly issuer: string
    readonly clientId: string
    readonly clientSecret: string
    readonly scopes?: string
  }
  readonly trustedDomains?: readonly string[]
  readonly hotState?: (nowMs: () => number) => Promise<HotState>
  readonly port?: number
  /** None of its own: its queries find nothing. */
  readonly facts?: FactsReader
  /** Answers in place of websites; absent: none can be reached. */
  readonly fetchPage?: FetchPage
  /** Runs what reads facts in a thread of its own. */
  readonly readThread?: Pick<ReadThreadChoice, 'connection' | 'secrets' | 'onFailure'>
  /** What answers before the API, such as the pages. */
  readonly before?: Serve
  /** A page of no interest if absent. */
  readonly shareDocument?: () => HtmlPage
  /** Given the address of the dashboard. */
  readonly billing?: (baseUrl: string) => Promise<DashboardBilling>
  /** Where support requests go. */
  readonly supportMail?: string
  /** Strangers may sign up. */
  readonly isOpen?: boolean
  /** Of organisations that people make; Free if absent. */
  readonly defaultPlan?: Plan
  /** Called before and after whatever a request leaves in the folder and on the log; the request dies with what it throws. `note` is the activity. */
  readonly onStep?: (step: string) => void
  /** By default no provider answers. */
  readonly tryDestination?: TryDestination
  /** By default real time; `advance` moves either. */
  readonly clock?: () => number
  /** Of figures that are shared for a second. */
  readonly elapsedMs?: () => number
  /** Changes of objects leave entries in the activity. */
  readonly isAudited?: boolean
}

const NO_TRIAL = { verdict: 'unclear', code: 'timeout', facility: 'none', responseStatus: 0, responseBody: '' } as const
const NO_PAGE = { status: 0, headers: {}, body: '', failure: 'address_refused' }
export const SECRET = 'only-for-tests-only-for-tests-only-for-tests'
/** The provider of the tests names groups only for a scope of their own. */
const SCOPES = 'openid email profile groups'
const OWN_PAGE = { 'Sec-Fetch-Site': 'same-origin' }

/** Nothing answers by default. */
function callsOutside({
  fetchPage = async () => NO_PAGE,
  tryDestination = async () => NO_TRIAL,
}: StageOptions): Pick<Required<StageOptions>, 'fetchPage' | 'tryDestination'> {
  return { fetchPage, tryDestination }
}

export async function startStage(options: StageOptions): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-dashboard-'))
  const manifests = join(folder, 'manifests')
  const written = join(folder, 'written')
  await mkdir(manifests)
  await writeFile(join(manifests, 'all.yaml'), options.manifests)
  const { nowMs, advance } = movableClock(options.clock)
  const logLines: string[] = []
  const logger = createLogger({ program: 'test', level: 'debug', write: (line) => void logLines.push(line) })
  const catalog = await openCatalogFolder({ folder: manifests, written, env: {}, logger, nowMs })
  const environment = await openLmdb(join(folder, 'lmdb'), {
    onFatal: (error) => {
      throw error
    },
    nowMs,
  })
  const hotState = await (options.hotState?.(nowMs) ?? lmdbHotState(environment, { sweepEveryMs: Infinity }))
  const post = await startPostOffice()
  const eventLog = await lmdbEventLog(environment)
  const mailer = smtpMailer({ url: post.url, from: 'Whence <whence@acme.dev>' })
  const port = options.port ?? (await freePort())
  const baseUrl = `http://127.0.0.1:${port}`
  const discovery =
    options.oidc === undefined ? null : startDiscovery({ scopes: SCOPES, ...options.oidc, logger, retryMs: 100 })
  const keys = createKeyring([SECRET])
  const randomness = createRandomness()
  const directory = folderDirectory(catalog)
  const inventory = folderInventory(catalog, nowMs)
  const { refresh, repairs } = catalog
  const writer = folderWriter({ folder: manifests, written, env: {}, catalog: { refresh, repairs }, nowMs })
  const roster = { directory, inventory, writer }
  const ofFacts = options.facts ?? { run: async () => [] }
  const noteActivity = createActivity({ eventLog, randomness, nowMs })
  const choices = createMailChoices({ facts: ofFacts, hotState, noteActivity })
  const sendLetter = createLetterPost({
    hotState,
    roster,
    site: {
      baseUrl,
      brand: 'Whence',
      isOpen: options.isOpen === true,
      supportMail: options.supportMail ?? null,
      keys,
    },
    mailer,
    choices,
    surroundings: { nowMs, logger },
  })
  const registry = new Registry()
  const mailRole = await startMailRole({
    eventLog,
    post: sendLetter,
    telemetry: { logger, registry },
    nowMs,
    randomness,
  })
  const step = stepper(options.onStep)
  const ofRequests = {
    outbox: createOutbox({ eventLog: { append: step('append', eventLog.append.bind(eventLog)) }, randomness, nowMs }),
    writer: {
      ...writer,
      create: step('create', writer.create),
      replace: step('replace', writer.replace),
      remove: step('remove', writer.remove),
      writeBilling: step('writeBilling', writer.writeBilling),
    },
  }
  const noted: LogWriter = { append: step('note', eventLog.append.bind(eventLog)) }
  const auditParts = { catalog, file: join(folder, 'audit.json'), eventLog, changeHash: keys.changeHash, logger }
  const startAudit = () => startFolderAudit({ ...auditParts, stamps: { nowMs, randomness } }, 50)
  let audit = options.isAudited === true ? startAudit() : null
  const streams = createEventStreams()
  const reads = readThreadOf(options, { directory, nowMs })
  const serve = createDashboard(
    {
      site: {
        baseUrl,
        addressHashOf: (req) => keys.addressHash(String(req.headers['x-address'] ?? '192.0.2.1'), nowMs()),
        version: '1.2.3',
        streams,
      },
      engines: { eventLog: noted, hotState, facts: ofFacts },
      roster: { ...roster, writer: ofRequests.writer },
      entrance: {
        discovery,
        claimRules: { trustedDomains: options.trustedDomains ?? [], groupsClaim: 'groups' },
        pins: hotStatePins(hotState),
        signUp: signUpOf(options),
      },
      keys,
      surroundings: {
        nowMs,
        randomness,
        logger,
        metrics: createDashboardMetrics(registry, nowMs),
        // Pages are as long on a busy machine.
        clock: { elapsedMs: () => 0 },
        elapsedMs: options.elapsedMs ?? (() => performance.now()),
      },
    },
    {
      outbox: ofRequests.outbox,
      choices,
      hasSupport: options.supportMail !== undefined,
      shareDocument: documentOf(options),
      ...callsOutside(options),
      billing: (await options.billing?.(baseUrl)) ?? null,
      replayDeliveries: ({ mayCountTwice, ...query }) =>
        replayDeadLetters({ eventLog, facts: ofFacts, nowMs, mayCountTwice }, query),
      ...reads.parts,
    },
  )
  const end = endPages({
    open: keys.mailEnds.open,
    directory,
    choices,
    brand: 'Whence',
    refuseUnknown: async () => refuse('not_found'),
    logger,
  })
  const server = createServer((req, res) => {
    if (options.before?.(req, res) === true || end(req, res) || serve(req, res) || serveMissing(req, res)) return
    res.writeHead(404).end()
  })
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
  const ask = asker(baseUrl)
  let people = 0
  return {
    manifests,
    written,
    directory,
    inventory,
    catalog,
    writer,
    metrics: () => registry.metrics(),
    url: baseUrl,
    hotState,
    eventLog,
    logLines,
    mails: post.mails,
    ask,
    nowMs,
    async signIn(email) {
      const link = await makeSignInLink(hotState, randomness, { email, baseUrl })
      const token = link.slice(link.indexOf('#link=') + '#link='.length)
      const told = await ask('POST', '/api/sign-in/link', { body: { token }, address: `198.51.100.${people++ % 250}` })
      if (told.status !== 200) throw new Error(`not signed in: ${told.text}`)
      return told.cookies
    },
    mailSent: () => until(() => isDone(eventLog, 'mail')),
    async apply(name, text) {
      await writeFile(join(manifests, name), text)
      await catalog.refresh()
    },
    writtenFiles: () => readdir(written).catch(() => []),
    async restartAudit(between) {
      await audit?.close()
      await between()
      audit = startAudit()
    },
    advance,
    endStreams: streams.close,
    async stop() {
      streams.close()
      await new Promise<void>((done) => {
        server.close(() => done())
        server.closeAllConnections()
      })
      await reads.close()
      await discovery?.close()
      await mailRole.close()
      await audit?.close()
      mailer.close()
      await eventLog.close()
      await post.stop()
      await catalog.close()
      await hotState.close()
      await environment.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

interface ReadThreadChoice {
  readonly connection: ReadThreadStart['connection']
  readonly secrets?: readonly string[]
  readonly facts: ReadThreadParts['facts']
  readonly directory: { readonly websites: ReadThreadParts['websites'] }
  readonly nowMs: () => number
  readonly onFailure?: (error: Error) => void
}

/** With the secret of a stage, on an engine in this process, and without failures, unless told otherwise. */
export function openReadThread({
  connection,
  secrets = [SECRET],
  facts,
  directory,
  ...more
}: ReadThreadChoice): ReadThread {
  const onFailure = (error: Error): void => {
    throw error
  }
  const settings = { logLevel: 'silent', logFormat: 'json' } as const
  return createReadThread(
    { settings, secrets, connection },
    { facts, websites: directory.websites, onFailure, ...more },
  )
}

function signUpOf({ isOpen = false, defaultPlan = 'Free' }: StageOptions) {
  return isOpen ? { namespace: 'default', installation: null, plan: defaultPlan } : null
}

function readThreadOf(
  { readThread }: StageOptions,
  parts: Pick<ReadThreadChoice, 'directory' | 'nowMs'>,
): Pick<ReadThread, 'close'> & { readonly parts: { readonly readingHandlers?: ReadThread['handlers'] } } {
  if (readThread === undefined) return { parts: {}, close: async () => undefined }
  const { handlers, close } = openReadThread({ ...readThread, ...parts, facts: { insert: nothingToInsert } })
  return { parts: { readingHandlers: handlers }, close }
}

const nothingToInsert = (): Promise<never> => Promise.reject(new Error('handlers insert nothing'))

/** Makes the steps before and after a call known. */
export function stepper(onStep: (step: string) => void = () => undefined) {
  return <A extends unknown[], R>(name: string, call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      onStep(`before ${name}`)
      const result = await call(...args)
      onStep(`after ${name}`)
      return result
    }
}

function asker(baseUrl: string): Stage['ask'] {
  return async (method, path, { cookies = '', body, headers = {}, address = '192.0.2.1' } = {}) => {
    const json = body === undefined ? {} : { 'Content-Type': 'application/json' }
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...OWN_PAGE,
        ...json,
        'X-Address': address,
        ...(cookies === '' ? {} : { Cookie: cookies }),
        ...headers,
      },
      redirect: 'manual',
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const told = toldIn(response, await textOf(response))
    const finding = undocumented({ method, path, ...told })
    if (finding !== null) throw new Error(finding)
    return told
  }
}

function toldIn({ status, headers }: Response, text: string): Told {
  const set = headers.getSetCookie().map((line) => line.split(';')[0] ?? '')
  const isJson = headers.get('content-type')?.startsWith('application/json') === true
  const body = isJson && text !== '' ? (JSON.parse(text) as Record<string, any>) : {}
  return { status, text, headers, body, cookies: set.filter((line) => !line.endsWith('=')).join('; ') }
}

async function isDone(eventLog: EventLog, topic: Topic): Promise<boolean> {
  const { done, ends } = await eventLog.progress(topic, 'mail')
  return ends.every((end, partition) => end === done[partition])
}

/** Of a stream of events, which has no end of its own, only that it began. */
async function textOf(response: Response): Promise<string> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return response.text()
  await response.body?.cancel()
  return ''
}

/** Manifests of one organisation with a member of each role, `owner@acme.dev` and so on, as far as they are wanted. */
export function organizationOf(
  name: string,
  options: {
    readonly plan?: string
    readonly members?: Readonly<Record<string, string>>
    readonly logRetentionDays?: number
    readonly timeZone?: string
  } = {},
): string {
  const { plan = 'Enterprise', members = {}, logRetentionDays, timeZone = 'UTC' } = options
  const kept = logRetentionDays === undefined ? '' : `, logRetentionDays: ${logRetentionDays}`
  const head = `apiVersion: whence.dev/v1alpha1\nkind: Organization\nmetadata: { name: ${name} }\nspec: { displayName: ${name} Ltd, plan: ${plan}, timeZone: ${timeZone}${kept} }\n`
  const rows = Object.entries(members).map(
    ([email, role], place) =>
      `---\napiVersion: whence.dev/v1alpha1\nkind: Member\nmetadata: { name: ${name}-${place} }\nspec: { organizationRef: { name: ${name} }, email: ${email}, role: ${role} }\n`,
  )
  return head + rows.join('')
}

interface StagedKey {
  readonly organization: string
  readonly scopes?: readonly string[]
  /** Within a year of the clock of the stage. */
  readonly expiresAt: string
}

/** An ApiKey as one more document behind others, and its key, which is the same for the same name. */
export function apiKeyOf(name: string, { organization, scopes = ['figures', 'installs'], expiresAt }: StagedKey) {
  const key = apiKeyText(createHash('sha256').update(name).digest())
  const text =
    `---\napiVersion: whence.dev/v1alpha1\nkind: ApiKey\nmetadata: { name: ${name} }\n` +
    `spec: { organizationRef: { name: ${organization} }, scopes: [${scopes.join(', ')}], expiresAt: '${expiresAt}', keyHash: '${hashOfPass(key, sha256Hex)}' }\n`
  return { text, headers: { Authorization: `Bearer ${key}` } }
}

function documentOf({ shareDocument }: StageOptions): () => HtmlPage {
  return shareDocument ?? (() => ({ headers: {}, html: SHARE_PAGE }))
}

interface StagedLink {
  readonly website: string
  /** Within a year of the clock of the stage. */
  readonly expiresAt: string
  /** Further members of its spec, as YAML. */
  readonly more?: string
}

/** What is served as the page of a link. */
export const SHARE_PAGE = '<!doctype html><title>Shared</title>'

/** A ShareLink as one more document behind others, and its address, which is the same for the same name. */
export function shareLinkOf(name: string, { website, expiresAt, more = 'period: Last28Days' }: StagedLink) {
  const token = shareToken(createHash('sha256').update(name).digest())
  const text =
    `---\napiVersion: whence.dev/v1alpha1\nkind: ShareLink\nmetadata: { name: ${name} }\n` +
    `spec: { websiteRef: { name: ${website} }, expiresAt: '${expiresAt}', tokenHash: '${hashOfPass(token, sha256Hex)}', ${more} }\n`
  return { text, page: `/share/${token}`, figures: `/share/${token}/figures` }
}

/** A moment this long after another, as specs write it. */
export function specTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

/** As one more document behind others. */
export function websiteOf(id: string, organization: string): string {
  return (
    `---\napiVersion: whence.dev/v1alpha1\nkind: Website\nmetadata: { name: ${id} }\n` +
    `spec: { organizationRef: { name: ${organization} }, displayName: ${id}, primaryOrigin: 'https://${id}.example', providers: [ga4] }\n`
  )
}
