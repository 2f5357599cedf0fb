/** Builds visits, installs, destinations and catalogs for the delivery tests; every part can be overridden. */

import type { Catalog, Destination, Organization, Website } from '../../../domain/catalog.ts'
import { gaOf } from '../../../domain/collection/install.ts'
import { planDeliveries } from '../../../domain/delivery/deliveries.ts'
import { plainVisit, type Visit } from '../../../domain/collection/visit-fields.ts'
import type { DeliveryPlan, Install } from '../../../domain/model.ts'
import type { InstallRecord, RequestLog } from '../../../domain/records.ts'

/** A fixed moment: 2026-11-20T12:00:00Z. */
export const NOON_MS = Date.UTC(2026, 10, 20, 12)
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

export const WEBSITE = 'acme-dev'
export const MEASUREMENT_ID = 'G-ABC1234567'
export const CLIENT_ID = '1234567890.1790000000'
export const API_SECRET = 'canary+secret/of=acme'

/** The visit of the golden tests: two hours before noon, its session begun five minutes earlier. */
export function visitOf(overrides: Partial<Visit> = {}): Visit {
  const issuedAtMs = overrides.issuedAtMs ?? NOON_MS - 2 * HOUR_MS
  return plainVisit({
    website: WEBSITE,
    visitId: '0123456789abcdef0123456789abcdef',
    organization: 'acme',
    issuedAtMs,
    urlId: 'url_0123456789abcdef',
    origin: 'https://acme.dev',
    pageUrl: 'https://acme.dev/install',
    referrer: 'https://news.example/',
    sourceReferrer: 'https://news.example/',
    landedAtMs: issuedAtMs - MINUTE_MS,
    utm: { source: 'newsletter', campaign: 'autumn' },
    identities: {
      ga4: { [MEASUREMENT_ID]: { client_id: CLIENT_ID, session_id: String((issuedAtMs - 5 * MINUTE_MS) / 1_000) } },
    },
    ...overrides,
  })
}

export function destinationOf(overrides: Partial<Destination> = {}): Destination {
  return {
    id: 'acme-ga4',
    website: WEBSITE,
    organization: 'acme',
    namespace: 'default',
    displayName: 'GA4 web stream',
    provider: 'ga4',
    mode: 'Live',
    eventTypes: ['install_started', 'install_completed', 'first_run'],
    reconstructionWindowHours: 72,
    settings: { measurementId: MEASUREMENT_ID },
    ...overrides,
  }
}

export function catalogOf(destinations: readonly Destination[]): Catalog {
  const organization: Organization = {
    id: 'acme',
    ...{ namespace: 'default', objectName: 'acme' },
    displayName: 'Acme',
    plan: 'Standard',
    logRetentionDays: 30,
    installPaths: [{ id: 'cli', displayName: 'CLI', isPaused: false }],
    firstInstallPath: 'cli',
  }
  const website: Website = {
    id: WEBSITE,
    ...{ namespace: 'default', objectName: WEBSITE },
    organization,
    displayName: 'acme.dev',
    primaryOrigin: 'https://acme.dev',
    origins: new Set(['https://acme.dev']),
    pages: [],
    providers: new Set(['ga4']),
    retentionDays: 395,
    hookScan: 'Notice',
    installationsPerVisitWarning: 10,
    destinations,
    measurementIds: [],
  }
  return {
    version: '1',
    organizations: new Map([[organization.id, organization]]),
    websites: new Map([[website.id, website]]),
    origins: website.origins,
  }
}

export interface InstallInput {
  readonly visit?: Visit
  readonly destinations?: readonly Destination[]
  readonly overrides?: Partial<Install>
}

/** An `install_completed` at noon, matched to the visit, with the plan that the answer would state. */
export function installOf({
  visit = visitOf(),
  destinations = [destinationOf()],
  overrides = {},
}: InstallInput = {}): Install {
  const facts: Omit<Install, 'deliveries' | 'answer'> = {
    website: WEBSITE,
    organization: 'acme',
    eventId: 'event-0001',
    installationId: 'installation-0001',
    eventType: 'install_completed',
    receivedAtMs: NOON_MS,
    installPath: 'cli',
    platform: 'linux',
    arch: 'x86_64',
    browsers: ['firefox'],
    defaultBrowser: '',
    timezone: 'Europe/Oslo',
    language: 'nb',
    resolution: 'matched',
    gpc: false,
    verdicts: [],
    ...matchOf(overrides.resolution === undefined || overrides.resolution === 'matched' ? visit : null),
    ...overrides,
  }
  const deliveries = planDeliveries({ ...facts, destinations, nowMs: facts.receivedAtMs })
  return { ...facts, deliveries, answer: answerOf(facts, deliveries), ...overrides }
}

type Match = Pick<Install, 'selectionPolicy' | 'candidateCount' | 'visitId' | 'visitIssuedAtMs'>

function matchOf(visit: Visit | null): Match {
  if (visit === null) return { selectionPolicy: 'none', candidateCount: 0, visitId: null, visitIssuedAtMs: null }
  const { visitId, issuedAtMs } = visit
  return { selectionPolicy: 'latest_visit', candidateCount: 1, visitId, visitIssuedAtMs: issuedAtMs }
}

function answerOf(
  facts: Omit<Install, 'deliveries' | 'answer'>,
  deliveries: readonly DeliveryPlan[],
): Install['answer'] {
  return {
    ok: true,
    event_id: facts.eventId,
    duplicate: false,
    resolution: facts.resolution,
    candidate_count: facts.candidateCount,
    selection_policy: facts.selectionPolicy,
    ga: gaOf(deliveries),
  }
}

export function recordOf(install: Install): InstallRecord {
  return { v: 1, kind: 'install', install, retentionDays: 395, request: requestLogOf(install) }
}

function requestLogOf(install: Install): RequestLog {
  return {
    id: '0'.repeat(28),
    receivedAtMs: install.receivedAtMs,
    durationMs: 1,
    website: install.website,
    organization: install.organization,
    method: 'POST',
    path: '/v1/events',
    status: 200,
    code: '',
    origin: '',
    userAgent: 'whence-hook',
    addressHash: '',
    body: '',
    bodyForm: 'none',
    bodyBytes: 0,
    isRedacted: false,
    logRetentionDays: 30,
  }
}
