/** Turns an install event into its fact and its answer; `resolve.ts` has chosen its visit. */

import { listIn } from '../guards.ts'
import type { Organization, Website } from '../catalog.ts'
import {
  type CodingAgent,
  type DeliveryPlan,
  type EventType,
  type Install,
  type InstallAnswer,
  type InstallOutcome,
  type OpenCandidate,
  type OwnedWebsite,
  type VisitPolicy,
  EVENT_TYPES,
} from '../model.ts'
import { COUNTED, type ChosenVisit, type ResolutionResult } from './resolve.ts'
import { textOf, type JsonObject } from '../strict-json.ts'

/** An event whose body has passed its schema, as a typed value. */
export interface InstallEvent {
  readonly eventId: string
  readonly installationId: string
  readonly eventType: EventType
  readonly receipts: readonly string[]
  readonly handoff: string | null
  readonly platform: string
  readonly sentInstallPath: string | null
  readonly arch: string
  readonly browsers: readonly string[]
  readonly defaultBrowser: string
  readonly timezone: string
  readonly language: string
  readonly productVersion: string
  readonly place: string
  readonly isCi: boolean
  readonly isContainer: boolean
}

/** @throws Error for a body that has not passed its schema */
function eventTypeOf(sent: unknown): EventType {
  const type = EVENT_TYPES.find((each) => each === sent)
  if (type === undefined) throw new Error('an event has no type')
  return type
}

/** `clean` prepares a text to become a fact; identifiers stay as they are, unless they contain a receipt. */
export function readInstallEvent(body: JsonObject, clean: (text: string) => string): InstallEvent {
  return {
    eventId: cleanId(body['event_id'], clean),
    installationId: cleanId(body['installation_id'], clean),
    eventType: eventTypeOf(body['event_type']),
    receipts: [...new Set(listIn(body, 'receipts').map(textOf))],
    handoff: sentHandoff(body),
    platform: textOf(body['platform']),
    sentInstallPath: typeof body['install_path'] === 'string' ? body['install_path'] : null,
    arch: factOf(body['arch'], clean),
    browsers: machineList(body['browsers']).map(clean),
    defaultBrowser: factOf(body['default_browser'], clean),
    timezone: factOf(body['timezone'], clean),
    language: factOf(body['language'], clean),
    productVersion: clean(textOf(body['product_version'])),
    place: clean(textOf(body['place'])),
    isCi: body['ci'] === true,
    isContainer: body['container'] === true,
  }
}

/** The token of a body that has passed its schema. An installer may pass a variable that is empty: that is none. */
export function sentHandoff(body: JsonObject): string | null {
  const token = textOf(body['handoff'])
  return token === '' ? null : token
}

/** Replaces receipts by hashes in the alphabet of IDs. */
function cleanId(sent: unknown, clean: (text: string) => string): string {
  const id = textOf(sent)
  const cleaned = clean(id)
  return cleaned.includes('hmac:') ? cleaned.replaceAll(/[:.]/g, '_') : id
}

/** A machine fact as one text: a list with several items as JSON, so that none is lost. */
function factOf(sent: unknown, clean: (text: string) => string): string {
  const facts = machineList(sent).map(clean)
  return facts.length > 1 ? JSON.stringify(facts) : (facts[0] ?? '')
}

export interface PathChoice {
  /** Null if the organisation has no install path. */
  readonly installPath: string | null
  readonly isPaused: boolean
}

/** A missing or unknown install path means the organisation's first one. */
export function chooseInstallPath(organization: Organization, sent: string | null): PathChoice {
  const byId = (id: string | null) => organization.installPaths.find((path) => path.id === id)
  const path = byId(sent) ?? byId(organization.firstInstallPath)
  return { installPath: path?.id ?? null, isPaused: path?.isPaused ?? false }
}

/** On Free and for a paused install path receipts are not read: the install is only counted. */
export function isOnlyCounted(organization: Organization, path: PathChoice): boolean {
  return organization.plan === 'Free' || path.isPaused
}

interface ReportedInstall {
  readonly event: InstallEvent
  readonly isTest: boolean
  readonly installPath: string | null
  readonly agent: CodingAgent | null
}

interface InstallDecision {
  readonly website: Website
  readonly reported: ReportedInstall
  readonly result: ResolutionResult
  readonly deliveries: readonly DeliveryPlan[]
  /** Of the catalog that the deliveries were planned with. */
  readonly catalogNumber: number
  readonly nowMs: number
}

export function recordInstall(decision: InstallDecision): Install {
  const { website, reported, result } = decision
  const { event, installPath, agent, isTest } = reported
  return {
    website: website.id,
    organization: website.organization.id,
    eventId: event.eventId,
    installationId: event.installationId,
    eventType: event.eventType,
    receivedAtMs: decision.nowMs,
    installPath,
    platform: event.platform,
    arch: event.arch,
    browsers: event.browsers,
    defaultBrowser: event.defaultBrowser,
    timezone: event.timezone,
    language: event.language,
    productVersion: event.productVersion,
    place: event.place,
    isCi: event.isCi,
    isContainer: event.isContainer,
    isTest,
    ...(agent === null ? {} : { agent }),
    ...installOutcome(event.eventId, result, decision.deliveries),
    catalogNumber: decision.catalogNumber,
    ...(result.openCandidates === null ? {} : pendingParts(result.openCandidates, website)),
  }
}

interface PendingParts {
  readonly openCandidates: readonly OpenCandidate[]
  readonly visitPolicy: VisitPolicy
}

function pendingParts(openCandidates: readonly OpenCandidate[], { selectionPolicy }: Website): PendingParts {
  return { openCandidates, visitPolicy: selectionPolicy }
}

/** A pending install with its decision applied; what was reported stays as it was. */
export function decideInstall(
  { openCandidates: _open, visitPolicy: _policy, ...reported }: Install,
  result: ResolutionResult,
  deliveries: readonly DeliveryPlan[],
): Install {
  return { ...reported, ...installOutcome(reported.eventId, result, deliveries) }
}

function installOutcome(
  eventId: string,
  result: ResolutionResult,
  deliveries: readonly DeliveryPlan[],
): InstallOutcome {
  return {
    resolution: result.resolution,
    selectionPolicy: result.selectionPolicy,
    candidateCount: result.candidateCount,
    visitId: result.visit?.visitId ?? null,
    visitIssuedAtMs: result.visit?.issuedAtMs ?? null,
    gpc: result.visit?.gpc ?? false,
    verdicts: result.verdicts,
    deliveries,
    answer: installAnswer(eventId, result, deliveries),
  }
}

/** The visit that later events of the same installation may follow; null if the install was not matched. */
export function matchedVisit({
  organization,
  website,
  visitId,
  visitIssuedAtMs: issuedAtMs,
  gpc,
}: OwnedWebsite & Pick<Install, 'visitId' | 'visitIssuedAtMs' | 'gpc'>): (ChosenVisit & OwnedWebsite) | null {
  return visitId === null || issuedAtMs === null ? null : { organization, website, visitId, issuedAtMs, gpc }
}

/** The answer for an organisation over its quota: the same shape, but nothing is stored. */
export function unrecordedAnswer(eventId: string): InstallAnswer {
  return { ...installAnswer(eventId, COUNTED, []), recorded: false }
}

/** The first answer again, for a repeat. */
export function duplicateAnswer(first: InstallAnswer): InstallAnswer {
  return { ...first, duplicate: true }
}

function installAnswer(eventId: string, result: ResolutionResult, deliveries: readonly DeliveryPlan[]): InstallAnswer {
  return {
    ok: true,
    event_id: eventId,
    duplicate: false,
    resolution: result.resolution,
    candidate_count: result.candidateCount,
    selection_policy: result.selectionPolicy,
    ga: gaOf(deliveries),
  }
}

/**
 * The `ga` object of the answer, kept for older clients: the first delivery's status represents all.
 * @internal
 */
export function gaOf(plans: readonly DeliveryPlan[]): InstallAnswer['ga'] {
  return {
    status: plans[0]?.status ?? 'not_queued',
    deliveries: plans.map((plan) => ({
      destination: plan.destination,
      status: plan.status,
      session_mode: plan.sessionMode,
    })),
  }
}

function machineList(value: unknown): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  return Array.isArray(value) ? value.map(String) : []
}
