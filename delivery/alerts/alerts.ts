/**
 * Judges the last closed day of each website, and the quota of each organisation, and records what is opened and closed. A record is on the log once: it
 * is written only when the facts hold all that were written before, and its ID says what it is about. So a kill between any two steps loses nothing, and
 * the next process opens nothing twice.
 */

import { Counter, type Registry } from 'prom-client'

import { sha256Hex } from '../../common/digest.ts'
import { ALERT_KINDS, ARRIVALS, knownAbout, type AlertRecord, type AlertSubject } from '../../domain/alerts/alert.ts'
import { alertChanges, type AlertJudgement, type KnownAlertOfPeriod } from '../../domain/alerts/changes.ts'
import { figuresOfDays, lastClosedDay, spanOfDays, type DayFigures, type JudgedDays } from '../../domain/alerts/days.ts'
import { judgeDay, judgeQuota, type AlertVerdict } from '../../domain/alerts/judge.ts'
import { thresholdFor, type AlertRule } from '../../domain/alerts/rules.ts'
import type { Catalog, Organization } from '../../domain/catalog.ts'
import { DAY_MS, MINUTE_MS } from '../../domain/durations.ts'
import { LIMITS, PLAN_LIMITS } from '../../domain/limits.ts'
import type { OwnedWebsite } from '../../domain/model.ts'
import { isCopyBehind, type CatalogInHand } from '../../domain/published/catalog-number.ts'
import { encodeRecord, ownerKey, recordKey } from '../../domain/records.ts'
import { timeZone } from '../../domain/time-zones.ts'
import type { LogProgress, LogWriter } from '../../ports/event-log/event-log.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { WholeAlertRow } from '../../ports/facts/pages/alerts.ts'
import type { Telemetry } from '../../runtime/metrics.ts'
import { repeat } from '../repeat.ts'
import { createFactsProof, type ProveFacts } from './proof.ts'
import { countedWebsites, readMoments } from './read-days.ts'

interface AlertStores {
  readonly facts: FactsReader
  readonly eventLog: LogWriter & LogProgress
  readonly catalog: CatalogInHand
}

interface AlertsDeps extends AlertStores {
  readonly telemetry: Telemetry
  readonly nowMs: () => number
}

const EVERY_MS = 30_000
/** A day is judged again this often, as late facts may change it. */
const AGAIN_MS = 10 * MINUTE_MS
/** Of one statement. */
const WEBSITES_AT_ONCE = 20
const ORGANIZATIONS_AT_ONCE = 200
/** Alerts that may have been opened for a day that is judged. */
const KNOWN_MS = 40 * DAY_MS
const APPEND_DEADLINE_MS = 5_000
const DAY_KINDS = ALERT_KINDS.filter((kind) => kind !== 'QuotaNear')

/** Starts at once. `close` resolves when the present round has ended, or was given up. */
export function startAlerts(deps: AlertsDeps): { readonly close: () => Promise<void> } {
  const { telemetry, ...stores } = deps
  const judge = createAlertJudge({ ...stores, onChange: changeCounter(telemetry.registry) })
  return repeat({
    act: (stopping) => stopping.unlessGivenUp(judge),
    everyMs: EVERY_MS,
    onFailure: (reason) => telemetry.logger.warn({ reason, task: 'alerts' }, 'alerts could not be judged; retrying'),
  })
}

interface JudgeParts extends AlertStores {
  readonly nowMs: () => number
  readonly onChange: (record: AlertRecord) => void
}

/** When a website was last judged, with what. */
interface Judged {
  readonly atMs: number
  readonly until: number
  readonly catalogNumber: number
}

/**
 * One round at each call. Rejects like log and facts; what was appended until then stays.
 * @internal
 */
export function createAlertJudge(parts: JudgeParts): () => Promise<void> {
  const prove: ProveFacts = createFactsProof(parts.eventLog, parts.nowMs)
  const judged = new Map<string, Judged>()
  return async () => {
    const provenMs = await prove()
    if (provenMs === null) return
    const catalog = parts.catalog.current()
    const round: JudgingRound = { ...parts, provenMs: provenMs - LIMITS.clockSkewMs }
    for (const [zone, websites] of Map.groupBy(dueWebsites(catalog, judged, round), ({ zone }) => zone)) {
      const days = lastClosedDay(timeZone(zone), round.provenMs)
      for (const part of alertBatches(websites, WEBSITES_AT_ONCE)) {
        const done = await judgeWebsites(round, part, days)
        const state = { atMs: parts.nowMs(), until: days.day.until, catalogNumber: catalog.number }
        for (const website of done) judged.set(ownerKey(website), state)
      }
    }
    for (const part of alertBatches([...catalog.organizations.values()], ORGANIZATIONS_AT_ONCE))
      await judgeOrganizations(round, part, catalog)
  }
}

interface JudgingRound extends JudgeParts {
  /** The facts hold what came in until then. */
  readonly provenMs: number
}

interface DueWebsite extends OwnedWebsite {
  readonly zone: string
  readonly rules: readonly AlertRule[]
}

/** Those whose day is over and was not judged lately with this catalog. */
function dueWebsites(
  catalog: Catalog,
  judged: Map<string, Judged>,
  { provenMs, nowMs }: JudgingRound,
): readonly DueWebsite[] {
  const untilOf = new Map<string, number>()
  const dayEnd = (zone: string): number => {
    const end = untilOf.get(zone) ?? timeZone(zone).dayOf(provenMs)
    untilOf.set(zone, end)
    return end
  }
  return [...catalog.websites.values()].flatMap(({ id, organization }) => {
    const { timeZone: zone, alertRules: rules } = organization
    const website = { organization: organization.id, website: id, zone, rules }
    const last = judged.get(ownerKey(website))
    const isFresh =
      last?.until === dayEnd(zone) && last.catalogNumber === catalog.number && last.atMs + AGAIN_MS > nowMs()
    return isFresh ? [] : [website]
  })
}

/** Resolves with those that were judged: of the others an hour is still to be counted. */
async function judgeWebsites(
  round: JudgingRound,
  websites: readonly DueWebsite[],
  days: JudgedDays,
): Promise<readonly DueWebsite[]> {
  const { facts } = round
  const day = { at: Math.min(days.day.at, days.day.until - DAY_MS), until: days.day.until }
  const counted = await countedWebsites(facts, websites, day)
  if (counted.length === 0) return []
  const moments = await readMoments(facts, counted, spanOfDays(days))
  const judgements = counted.flatMap((website) => {
    const figures = figuresOfDays(days, moments.get(ownerKey(website)) ?? [])
    const { organization } = website
    return judgementsOf(website, figures, days.date).map((judgement) => ({ organization, judgement }))
  })
  await recordChanges(round, judgements)
  return counted
}

function judgementsOf({ website, rules }: DueWebsite, figures: DayFigures, period: string): readonly AlertJudgement[] {
  return DAY_KINDS.flatMap((rule) => {
    const threshold = thresholdFor(rules, rule, website)
    const parts = rule === 'NothingArrives' ? ARRIVALS : ([''] as const)
    return parts.map((of): AlertJudgement => {
      const subject: AlertSubject = { rule, of, website }
      const verdict = threshold === null ? ({ kind: 'off' } as const) : judgeDay(subject, figures, threshold)
      return { subject, period, verdict }
    })
  })
}

interface OwnAlertJudgement {
  readonly organization: string
  readonly judgement: AlertJudgement
}

/** The quota of the month, and alerts about websites that are gone. */
async function judgeOrganizations(round: JudgingRound, part: readonly Organization[], catalog: Catalog): Promise<void> {
  const { facts, provenMs } = round
  const now = new Date(provenMs)
  const since = Date.UTC(now.getUTCFullYear(), now.getUTCMonth())
  const organizations = part.map(({ id }) => id)
  const used = await facts.run('countedUse', { organizations, since_ms: since, until_ms: provenMs })
  const events = new Map(used.map((row) => [row.organization, row.events]))
  const period = now.toISOString().slice(0, 'yyyy-mm'.length)
  const quotas = part.map((organization): OwnAlertJudgement => {
    const verdict = quotaVerdict(organization, events.get(organization.id) ?? 0)
    return { organization: organization.id, judgement: { subject: QUOTA, period, verdict } }
  })
  await recordChanges(
    round,
    quotas,
    (row) => !isOwnWebsite(row, catalog) && !isCopyBehind(round.catalog, row.catalog_number),
  )
}

const QUOTA: AlertSubject = { rule: 'QuotaNear', of: '', website: '' }

function quotaVerdict({ alertRules, plan }: Organization, used: number): AlertVerdict | { readonly kind: 'off' } {
  const threshold = thresholdFor(alertRules, 'QuotaNear', '')
  return threshold === null ? { kind: 'off' } : judgeQuota(used, PLAN_LIMITS[plan].trackedEventsPerMonth, threshold)
}

function isOwnWebsite({ website, organization }: OwnedWebsite, { websites }: Catalog): boolean {
  return website === '' || websites.get(website)?.organization.id === organization
}

/** Appends what these judgements change; alerts of which `isGone` is true are closed. */
async function recordChanges(
  { facts, eventLog, nowMs, provenMs, catalog, onChange }: JudgingRound,
  own: readonly OwnAlertJudgement[],
  isGone: (row: WholeAlertRow) => boolean = () => false,
): Promise<void> {
  const byOrganization = Map.groupBy(own, ({ organization }) => organization)
  const rows = await facts.run('alertsToJudge', {
    organizations: [...byOrganization.keys()],
    since_ms: provenMs - KNOWN_MS,
  })
  const by = { sha256Hex, nowMs: nowMs(), catalogNumber: catalog.current().number }
  const records = [...byOrganization].flatMap(([organization, each]) => {
    const ofOrganization = rows.filter((row) => row.organization === organization)
    const known = ofOrganization.flatMap(knownAlert)
    const gone = ofOrganization.filter((row) => !row.is_closed && isGone(row)).flatMap(knownAlert)
    const judgements = [...each.map(({ judgement }) => judgement), ...gone.map(goneJudgement)]
    return alertChanges(judgements, { organization, known }, by)
  })
  if (records.length === 0) return
  const entries = records.map((record) => ({ key: recordKey(record, record.id), value: encodeRecord(record) }))
  await eventLog.append('alerts', entries, { deadlineMs: APPEND_DEADLINE_MS })
  for (const record of records) onChange(record)
}

function goneJudgement(subject: KnownAlertOfPeriod): AlertJudgement {
  return { subject, period: subject.period, verdict: { kind: 'website_gone' } }
}

/** None for a rule that only a later release knows. */
function knownAlert(row: WholeAlertRow): readonly KnownAlertOfPeriod[] {
  const known = knownAbout(row.rule, row.arrival)
  if (known === null) return []
  const { id, website, period, is_closed: isClosed, value, expected, threshold } = row
  return [{ ...known, id, website, period, isOpen: !isClosed, value, expected, threshold }]
}

function alertBatches<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, place) => all.slice(place * size, (place + 1) * size))
}

function changeCounter(registry: Registry | undefined): (record: AlertRecord) => void {
  if (registry === undefined) return () => undefined
  const counter = new Counter({
    name: 'whence_alerts_total',
    help: 'Alerts of organisations that were opened and closed, by rule.',
    labelNames: ['rule', 'state'],
    registers: [registry],
  })
  return ({ rule, state }) => counter.inc({ rule, state })
}
