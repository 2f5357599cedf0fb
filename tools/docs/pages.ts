/** Renders the pages of docs/ that come from tables, so that page and program agree. */

import { openApiDocument } from '../../api/openapi/document.ts'
import { apiPage } from './api.ts'
import { dashboardOpenApi } from './dashboard-openapi.ts'
import { version } from '../../bin/wiring/version.ts'
import { ERRORS } from '../../domain/errors.ts'
import { FIGURE_WORDS } from '../../domain/figures/figure-words.ts'
import {
  NOT_BUILT,
  PATH_RULES,
  PLAN_LIMITS,
  PUBLIC_LIMITS,
  RATE_RULES,
  READ_PLACES,
  REPLAY_RULES,
  SECRET_LIMITS,
  SIGN_IN_RULES,
  STREAM_PLACES,
} from '../../domain/limits.ts'
import { MEMBER_ROLES, PLANS } from '../../domain/model.ts'
import { connectPage } from './connect.ts'
import { mayDo, ROLE_ACTIONS } from '../../domain/people/roles.ts'
import { webhookSchemaDocument } from '../../domain/webhooks/payloads.ts'
import { COMMANDS } from '../../runtime/settings/commands.ts'
import type { CommandRow } from '../../runtime/settings/commands.ts'
import { SETTINGS } from '../../runtime/settings/table.ts'
import type { SettingName, SettingRow } from '../../runtime/settings/table.ts'
import { performanceFiles } from './performance.ts'
import { chartCrdFiles, chartValuesPage } from './charts.ts'
import { kafkaTopicsPage } from './kafka-topics.ts'
import { conditionsPage, crdFiles } from './kubernetes.ts'
import { providerFiles } from './providers.ts'
import { resourcesPage } from './resources.ts'
import { code, number, page, table, unitWords } from './markdown.ts'

export interface DocsPage {
  /** Below the project's root. */
  readonly path: string
  readonly text: string
}

/** Every generated page, as it must be in the repository. */
export function docsPages(): readonly DocsPage[] {
  return [
    ...crdFiles(),
    ...chartCrdFiles(),
    ...providerFiles(),
    ...performanceFiles(),
    { path: 'docs/api.md', text: apiPage() },
    { path: 'docs/chart-values.md', text: chartValuesPage() },
    { path: 'docs/conditions.md', text: conditionsPage() },
    { path: 'docs/connect.md', text: connectPage() },
    { path: 'docs/errors.md', text: errorsPage() },
    { path: 'docs/figures.md', text: figuresPage() },
    { path: 'docs/kafka-topics.md', text: kafkaTopicsPage() },
    { path: 'docs/limits.md', text: limitsPage() },
    { path: 'docs/openapi.json', text: openApiPage() },
    { path: 'docs/dashboard-openapi.json', text: `${JSON.stringify(dashboardOpenApi(), null, 2)}\n` },
    { path: 'docs/resources.md', text: resourcesPage() },
    { path: 'docs/roles.md', text: rolesPage() },
    { path: 'docs/settings.md', text: settingsPage() },
    { path: 'docs/webhook-events.schema.json', text: `${JSON.stringify(webhookSchemaDocument(), null, 2)}\n` },
  ]
}

/** As the service serves it, with an example address. */
function openApiPage(): string {
  const document = openApiDocument({ baseUrl: 'https://whence.example', version: version(), brand: 'whence' })
  return `${JSON.stringify(document, null, 2)}\n`
}

function figuresPage(): string {
  return page('What each number counts', 'domain/figures/figure-words.ts', [
    'The dashboard shows these words on the card of each number. More words are in the [glossary](glossary.md).',
    table(
      ['Number', 'What it counts'],
      Object.values(FIGURE_WORDS).map(({ title, means }) => [title, means]),
    ),
  ])
}

/** Lowest role first, as each may do what those before it may. */
function rolesPage(): string {
  const roles = MEMBER_ROLES.toReversed()
  const actions = Object.keys(ROLE_ACTIONS) as (keyof typeof ROLE_ACTIONS)[]
  const sorted = actions.toSorted((a, b) => roles.indexOf(ROLE_ACTIONS[a].least) - roles.indexOf(ROLE_ACTIONS[b].least))
  return page('Roles', 'domain/people/roles.ts', [
    'What a member of an organisation may do, by role. The API checks by this table, and the page Members shows it. An organisation keeps at least one Owner who is a person.',
    table(
      ['May', ...roles.map(code)],
      sorted.map((action) => [ROLE_ACTIONS[action].what, ...roles.map((role) => (mayDo(role, action) ? 'yes' : '–'))]),
    ),
  ])
}

type LimitName = keyof typeof PUBLIC_LIMITS

/** What each limit bounds. A limit without a line here does not compile. */
const LIMIT_WORDS: { readonly [N in LimitName]: string } = {
  bodyBytes: 'Body of a collection request; larger: `413` `body_too_large`',
  jsonDepth: 'Nesting of a body',
  jsonMembers: 'Members of all objects of a body together',
  receiptChars: 'A receipt',
  receiptsPerInstall: 'Receipts in an install report',
  receiptLifetimeMs: 'After its visit a receipt matches, and a handoff token works, for',
  idChars: '`event_id` and `installation_id`',
  websiteIdChars: 'IDs of websites, install paths and pages',
  nameChars: 'Names of websites, destinations, install paths and organisations',
  groupChars: 'Name of a group of the identity provider',
  pagesPerWebsite: 'Registered pages of a website',
  ignoredReferrers: 'Referrers of a website that are no source',
  pageListChars: 'Registered pages of a website together',
  credentialBytes: 'One credential of a destination',
  catalogBytes: 'All websites of a catalog in a cluster; above it, namespaces share the room equally',
  measurementIdsPerVisit: 'GA4 measurement IDs of a visit',
  customAdapters: 'Custom adapters of a visit',
  customFields: 'Fields of a custom adapter',
  customValueChars: 'A value of a custom adapter',
  utmChars: 'A UTM value, and `ref` of a source',
  clickNameChars: 'Name of the parameter of an advertising click',
  sittingChars: 'The name of a sitting',
  sittingPauseMs: 'A sitting ends without a page view for',
  carriedBytes: '`_whence` in the address of a link to another origin',
  carriedLifetimeMs: 'How long such a link may take to be followed',
  sessionAttributesChars: 'Google session attributes',
  identifierChars: "A provider's identifier",
  urlChars: 'An address, without query and fragment',
  clientHintChars: 'A client hint',
  machineFactChars: 'A fact about the machine in an install report',
  statedFactChars: 'Product version and place in an install report',
  timeZoneChars: 'The name of a time zone',
  browsersPerInstall: 'Browsers named in an install report',
  handoffCommandChars: 'An install command with its handoff token',
  markerBytes: 'The marker in the browser, padded',
  logsPerPage: 'Logs on a page',
  logExportRecords: 'Records of a log export',
  logExportBytes: 'Size of a log export',
  outboundBodyBytes: 'Each body of an exchange with a provider, as Logs keep it',
  outboundUrlChars: 'Length of an address that a tenant gives to be called',
  figuresPeriodDays: 'A period of figures, in days',
  figuresHourlyDays: 'A chart by hour, in days',
  spendFileBytes: 'A file of ad spend',
  spendFileNameChars: 'Name of such a file',
  spendAmountUnits: 'An amount in such a file, in the smallest unit of its currency',
  weeklyMailLateMs: 'How late a weekly mail may be made, after an outage; later: none for that week',
  logStreamBacklogRecords: 'Records that wait for a log stream',
  logStreamBacklogDays: 'Time that records wait for a log stream',
  webhooks: 'Webhooks of one organisation',
  webhookTryMs: 'Time for which an event is retried at a webhook',
  webhookVisitWaitMs: 'Time for which an event about an install waits for its visit to be stored',
  webhookSecretOverlapMs: 'Time for which the previous secret of a webhook also signs',
  slackBlocks: 'Blocks of a message to Slack',
  slackHeaderChars: 'Characters of the header of a message to Slack',
  slackTextChars: 'Characters of any other text of a message to Slack',
  slackMessageChars: 'Characters of all texts of a message to Slack, about',
  alertRules: 'Rules for alerts of one organisation',
  alertDays: 'Days that alerts are kept',
  apiKeys: 'API keys of one organisation; ended ones do not count',
  shareLinks: 'Share links of one website; ended ones do not count, and the plan Free has none',
  passDays: 'Days until an API key or a share link ends',
  shareCacheS: 'Time for which what a share link shows is kept',
  keyInstallsPerPage: 'Installs of a page of `/v1/installs`',
  keyBuckets: 'Hours, days or weeks in an answer of `/v1/figures`',
  keyBucketsByValue: 'The same with `by`',
  csvExportEvents: 'Install events of a CSV export, most recent first',
  activityEntries: 'Activity entries of a request',
  organizationsOwned: 'Organisations that a person owns',
  organizationsJoined: 'Organisations that a person belongs to',
  supportMessageChars: 'Message of a support request',
  supportDiagnosticsBytes: 'Diagnostics of a support request',
  hookScanMs: 'Scan of the hook',
  hookScanFiles: 'Files that the hook looks at',
  hookConnectMs: 'Connecting of the hook with curl',
  hookTotalMs: 'Request of the hook; one attempt',
  dashboardBodyBytes: 'Body of a request to the dashboard',
  knownBrowserMs: 'How long a browser in which an address signed in by mail has a place of its own for mails',
  signInMs: 'A sign-in link, and one attempt at the identity provider',
  signInCodeTries: 'Tries of the code in a mail',
  groupMembershipMs: 'If groups cannot be read again, membership by a group stays valid after the last reading for',
  groupsReadAgainMs: 'Groups of the identity provider are read again after',
  dashboardSessionMs: 'A dashboard session',
  invitationMs: 'An invitation link, for single use',
  expiredInvitationMs: 'An expired invitation is deleted after',
  paymentWebhookAgeMs: "Age of a payment provider's signature",
  webhookMs: 'An outbound webhook request',
  reconstructionHours: "Reconstruction window: the install counts toward the visit's own session",
  retentionDays: 'Visits and installs are kept',
  logRetentionDays: "Logs are kept, up to the plan's maximum; the default is that maximum if it is less",
  auditRetentionDays:
    'Activity about sign-ins and changes of objects is kept, in days, or as long as Logs if that is longer',
  limitsCacheS: '`/api/limits` may be cached for',
  preflightCacheS: 'A preflight answer may be cached for',
  answerMemoryDays: 'The answer to an `event_id` is remembered for',
  replayKeepMs: 'Result of a replay of decisions',
  replayPeriodMs: 'Period of a replay of decisions',
  replayInstallations: 'Installations of a replay of decisions within the lifetime of a receipt',
  eventLogKeepMs: 'Records stay on the event log for',
  deadLetterKeepMs: 'Dead letters stay ready for replay for',
  unavailableRetryS: '`Retry-After` of a `503`',
  visitMissingMs: 'An install waits for its visit to be stored for',
  clockSkewMs: 'A clock may be ahead by',
  refusedBodiesPerMinute:
    'Bodies of such refusals that one process keeps of an address, a minute; later ones: length and SHA-256',
  unregisteredOriginsPerHour:
    'Activity entries about unregistered origins, an hour and website (one an hour and origin)',
  installationsPerVisit:
    "Installations of one visit and UTC day before the website's members are notified (`warnings.installationsPerVisit`)",
}

/** A limit of a kind: at most, from-to, or exactly. */
function limitText(name: string, value: unknown): string {
  if (typeof value === 'number') return unitWords(name, value)
  const { min, max, fallback } = value as { min?: number; max?: number; fallback?: number }
  const unit = (amount: number) => unitWords(name, amount)
  const range =
    min !== undefined && max !== undefined
      ? `${number(min)} to ${unit(max)}`
      : min === undefined
        ? `at most ${unit(max ?? 0)}`
        : `at least ${unit(min)}`
  return fallback === undefined ? range : `${range}; default ${number(fallback)}`
}

/** A plan's limits, in the words of the table's first column. */
const PLAN_WORDS = {
  installPaths: 'Install paths',
  websites: 'Websites',
  domainsPerWebsite: 'Domains per website (the primary one included)',
  members: 'Members (pending invitations included)',
  destinationsPerWebsite: 'Destinations per website',
  logStreams: 'Log streams',
  logRetentionDays: 'Log retention, days at most',
  trackedEventsPerMonth: 'Tracked events per month (UTC)',
} as const

const WINDOW_WORDS: Readonly<Record<number, string>> = { 60: 'minute', 3_600: 'hour', 86_400: 'day' }

/** Marks limits that are not in force yet. */
function markOf(notBuilt: readonly string[], name: string): string {
  return notBuilt.includes(name) ? ' (not built yet)' : ''
}

function limitsPage(): string {
  const plans = (Object.keys(PLAN_WORDS) as (keyof typeof PLAN_WORDS)[]).map((name) => [
    PLAN_WORDS[name],
    ...PLANS.map((plan) => number(PLAN_LIMITS[plan][name])),
  ])
  const ratesOf = (
    rules: Readonly<Record<string, { readonly limit: number; readonly windowS: number; readonly per: string }>>,
  ) =>
    Object.entries(rules).map(([name, { limit, windowS, per }]) => [
      code(name) + markOf(NOT_BUILT.rates, name),
      `${number(limit)} per ${WINDOW_WORDS[windowS] ?? `${windowS} s`}`,
      per,
    ])
  const limits = (Object.keys(PUBLIC_LIMITS) as LimitName[]).map((name) => [
    LIMIT_WORDS[name] + markOf(NOT_BUILT.service, name),
    limitText(name, PUBLIC_LIMITS[name]),
  ])
  return page('Limits', 'domain/limits.ts', [
    '`GET /api/limits` answers the same as JSON; `notBuilt` there names what is marked here as not built yet.',
    '## Plans\n\nPer organisation. Above a count, creation answers `402` `plan_limit`, or `plan_required` if the plan allows none; a ' +
      'resource gets the reason `PlanLimit` or `PlanRequired` and is left out, and older ones keep their place. Above the monthly quota, ' +
      'Free is only counted; paid plans are never cut off.\n\n' +
      'Nobody sells plans unless you do ([people.md](people.md#plans-and-paying)): whoever runs the service sets `spec.plan` of an Organization, in its ' +
      'file or with `kubectl`. Organisations that people make by signing up get `--default-plan`, once.',
    table(['', ...PLANS], plans),
    `Of Secrets that its dashboard made, an organisation has at most ${SECRET_LIMITS.perObject} for each of its destinations, webhooks and log streams and ${SECRET_LIMITS.besides} besides ` +
      '(`402` `plan_limit` with the limit `secrets`). In a cluster those of a day (UTC) are counted.',
    '## Rates\n\nFixed windows aligned to the clock. Above a limit: `429` `rate_limited`, with `retryAfter` in seconds and `Retry-After`. Addresses are hashed with another key each day (UTC), so a process whose clock shows another day counts the requests of an address separately: keep clocks in step.',
    table(['Rule', 'Limit', 'Counted per'], ratesOf(RATE_RULES)),
    'In the dashboard alone, and not in `/api/limits`:',
    table(['Rule', 'Limit', 'Counted per'], ratesOf({ ...SIGN_IN_RULES, ...REPLAY_RULES })),
    `Within these numbers reads wait for each other. For a person ${READ_PLACES.page.person} run at once, for an organisation ${READ_PLACES.page.organization}, of downloads ${READ_PLACES.export.person} and ${READ_PLACES.export.organization}, with API keys ${READ_PLACES.key.person} for a key and ${READ_PLACES.key.organization} for an organisation; ` +
      `${READ_PLACES.waiting.person} and ${READ_PLACES.waiting.organization} wait, and more are answered \`503\` with \`Retry-After\`. Whoever used less of the engine's time lately goes first. Open at once: ` +
      `${STREAM_PLACES.session} streams of events for a session, ${STREAM_PLACES.person} for a person, ${STREAM_PLACES.organization} for an organisation, ${STREAM_PLACES.process} in a process.`,
    'Everywhere, and not in `/api/limits`; an address that does not exist is counted in no other window:',
    table(['Rule', 'Limit', 'Counted per'], ratesOf(PATH_RULES)),
    '## Sizes, counts and times',
    table(['What', 'Limit'], limits),
  ])
}

function errorsPage(): string {
  const rows = Object.entries(ERRORS)
    .sort(([, a], [, b]) => a.status - b.status)
    .map(([name, { status, when }]) => [String(status), code(name), when])
  return page('Errors', 'domain/errors.ts', [
    'Every refusal is `{ "error": "<code>" }` with its HTTP status; more members may follow `error`: `field` (a JSON pointer) and ' +
      '`message` with `invalid_field`, `retryAfter` with `rate_limited`. Nothing repeats values of the request.',
    table(['Status', 'Code', 'When'], rows),
  ])
}

function settingsPage(): string {
  const read = new Set(Object.values(COMMANDS).flatMap((row: CommandRow) => row.settings))
  const names = (Object.keys(SETTINGS) as SettingName[]).filter((name) => read.has(name))
  const settings = names.map((name): SettingRow<unknown> => SETTINGS[name])
  const rows = settings.map((row) => [
    row.option === null ? '' : code(row.option),
    code(row.env),
    row.fallbackDoc ?? (typeof row.fallback === 'string' ? code(row.fallback) : 'none'),
    row.doc,
  ])
  const commands = Object.entries(COMMANDS).map(([name, row]: [string, CommandRow]) => [
    code([name, ...row.positionals].join(' ')),
    row.summary,
    [...Object.keys(row.flags), ...row.settings.map((setting) => optionOrVariable(setting))].map(code).join(', '),
  ])
  return page('Settings', 'runtime/settings/table.ts and runtime/settings/commands.ts', [
    'Use: `npm run -s whencectl -- COMMAND [options]`; in the image the command is `whencectl`. An option wins over its environment variable, ' +
      'an empty variable counts as absent. Everything that is wrong or unknown, `WHENCE_` variables included, is reported at once, by ' +
      'name, before anything starts. `--check` prints the settings with secrets masked and ends; `--help` and `--version` work as usual.',
    table(['Option', 'Variable', 'Default', 'Meaning'], rows),
    '`WHENCE_HANDOFF` and `WHENCE_DISABLED` belong to the hook and are ignored here.',
    '## Commands',
    table(['Command', 'What it does', 'Options and variables it reads'], commands),
  ])
}

function optionOrVariable(name: keyof typeof SETTINGS): string {
  const row: SettingRow<unknown> = SETTINGS[name]
  return row.option ?? row.env
}
