/** `whencectl send-test`: sends one destination a marked test event, and prints the provider's verdict. */

import { sendTest, type SendTestReport, type SendTestVerdict } from '../../delivery/tools/send-test.ts'
import { PROVIDER_IDS } from '../../domain/providers/index.ts'
import { PROVIDERS } from '../../delivery/providers/index.ts'
import { destinationKey, type Catalog, type Credentials, type Destination } from '../../domain/catalog.ts'
import { compileManifests, formatProblems } from '../../runtime/catalog/source.ts'
import { readManifests } from '../../runtime/catalog/manifests.ts'
import type { RunOutcome } from '../../runtime/settings/settings.ts'
import type { SettingsOf } from '../../runtime/settings/settings-of.ts'
import { readCluster, type ClusterPlace } from '../wiring/cluster.ts'
import { baseUrlOf, outboundProxyOf, tokenUrlOf, type SendingSettings } from '../wiring/outbound.ts'
import { connectTools } from './control.ts'
import { durationText } from '../terminal/table.ts'
import { printable } from '../../common/printable.ts'
import { complain, print, printJson } from '../terminal/output.ts'
import type { SendTestRequest, SendTestResult } from './live.ts'

export interface SendTestSource {
  readonly settings: SendingSettings
  readonly catalog: Catalog
  readonly credentials: Credentials
}

const EXIT_CODES: { readonly [V in SendTestVerdict]: number } = { passed: 0, refused: 1, unclear: 3 }
const EXIT_USAGE = 2
/** Of the provider's answer; `--json` shows all of what is kept. */
const SHOWN_CHARS = 2_000

export async function sendTestTool(run: RunOutcome<'send-test'>, env: NodeJS.ProcessEnv): Promise<number> {
  const destination = run.flags.get('--destination') ?? run.positionals[0]
  if (destination === undefined) return usage('name the destination: --destination ID')
  const request = { destination, website: run.flags.get('--website') ?? null, isLive: run.flags.has('--live') }
  // Prefers a running service: it has the resources, the environment, and the stand-ins it may have started.
  const live = await connectTools(run.settings.data)
  const answer = live === null ? await sendTestHere(run.settings, env, request) : await live.sendTest(request)
  if (answer.kind === 'unknown') return usage(answer.message)
  const { report } = answer
  if (run.flags.has('--json')) printJson([report])
  else print(reportText(report))
  return EXIT_CODES[report.verdict]
}

/** A running service's answer to the tool. */
export async function answerSendTest(source: SendTestSource, request: SendTestRequest): Promise<SendTestResult> {
  const found = [...source.catalog.websites.values()]
    .filter(({ id }) => request.website === null || id === request.website)
    .flatMap((website) => website.destinations.map((destination) => ({ destination, website })))
    .filter(({ destination }) => destination.id === request.destination)
  const [one, another] = found
  if (one === undefined) return { kind: 'unknown', message: unknownText(source.catalog, request) }
  if (another !== undefined) {
    const websites = found.map(({ website }) => website.id).join(', ')
    return { kind: 'unknown', message: `several websites have this destination, so use --website: ${websites}` }
  }
  return trialOf(source, one.destination, { isLive: request.isLive, origin: one.website.primaryOrigin })
}

async function trialOf(
  { settings, credentials }: SendTestSource,
  destination: Destination,
  way: { readonly isLive: boolean; readonly origin: string },
): Promise<SendTestResult> {
  if (!PROVIDER_IDS.includes(destination.provider))
    return { kind: 'unknown', message: `this version cannot deliver to ${destination.provider}` }
  const provider = PROVIDERS[destination.provider]
  const secrets = credentials.get(destinationKey(destination, destination.id)) ?? {}
  const access = {
    provider,
    baseUrl: baseUrlOf(provider.id, settings),
    tokenUrl: tokenUrlOf(provider.id, settings),
    proxy: outboundProxyOf(settings),
  }
  return { kind: 'report', report: await sendTest(access, { destination, secrets, ...way }, Date.now) }
}

/** Without a running service: from the cluster or the folder of resources, read like the delivery roles do. */
async function sendTestHere(
  settings: SettingsOf<'send-test'>,
  env: NodeJS.ProcessEnv,
  request: SendTestRequest,
): Promise<SendTestResult> {
  const { catalog: place } = settings
  if (place !== null) return sendTestInCluster({ ...settings, catalog: place }, env, request)
  const compiled = compileManifests(await readManifests(settings.manifests), { env })
  if (!compiled.isAccepted) {
    throw new Error(`the manifests in ${settings.manifests} do not compile:\n${formatProblems(compiled.problems)}`)
  }
  return answerSendTest({ settings, ...compiled }, request)
}

/** Reads what a worker of the destination's provider reads: the pod's rights decide whether it may. */
async function sendTestInCluster(
  settings: SendingSettings & ClusterPlace,
  env: NodeJS.ProcessEnv,
  request: SendTestRequest,
): Promise<SendTestResult> {
  const websites = (await readCluster(settings, env, null)).catalog.websites.values()
  const wanted = [...websites].flatMap((website) => website.destinations).find(({ id }) => id === request.destination)
  return answerSendTest({ settings, ...(await readCluster(settings, env, wanted?.provider ?? null)) }, request)
}

function unknownText(catalog: Catalog, { destination }: SendTestRequest): string {
  const ids = [...catalog.websites.values()].flatMap((website) => website.destinations.map(({ id }) => id))
  const known = ids.length === 0 ? 'there is none' : `there are ${[...new Set(ids)].slice(0, 20).join(', ')}`
  return `there is no destination ${destination}; ${known}`
}

const VERDICT_TEXTS: { readonly [V in SendTestVerdict]: string } = {
  passed: 'passed',
  refused: 'refused',
  unclear: 'no clear answer',
}

function reportText(report: SendTestReport): string {
  const { website, destination, provider, mode, outcome, code, responseStatus, durationMs } = report
  const answered =
    responseStatus === 0 ? '' : `HTTP ${responseStatus} after ${durationText(durationMs)}${words(report)}`
  const lines = [
    `${destination} of ${website} (${provider}, mode ${mode}): ${VERDICT_TEXTS[report.verdict]}`,
    labelledLine('outcome', code === '' || code === outcome ? outcome : `${outcome} (${code})`),
    labelledLine('how', report.facility),
    labelledLine('event', report.eventId),
    labelledLine('sent to', report.requestUrl),
    labelledLine('answer', answered),
    labelledLine('next', report.nextStep),
  ]
  return lines
    .filter((text) => text !== '')
    .map((text) => `${printable(text)}\n`)
    .join('')
}

function words({ responseBody }: SendTestReport): string {
  const text = responseBody.replace(/\s+/g, ' ').trim()
  return text === '' ? '' : `: ${text.slice(0, SHOWN_CHARS)}`
}

function labelledLine(label: string, text: string): string {
  return text === '' ? '' : `  ${label.padEnd(8)} ${text}`
}

function usage(message: string): number {
  complain(`whencectl send-test: ${message}\n`)
  return EXIT_USAGE
}
