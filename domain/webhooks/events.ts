/** Finds events in the records of the log. */

import type { CatalogOrganizations } from '../catalog.ts'
import { unmatchedReason } from '../collection/unmatched-reason.ts'
import type { WebhookEventType } from '../model.ts'
import type { DecisionRecord, InstallRecord } from '../records.ts'
import type { ReadableRecords } from '../read-record.ts'
import { toldAlert } from './alert-told.ts'
import { toldText } from './told-text.ts'
import { weeklyData } from './weekly-payload.ts'

/** An event, and what it is about. */
export interface NoticedEvent {
  readonly organization: string
  /** Empty if it is about no website. */
  readonly website: string
  readonly type: WebhookEventType
  readonly happenedAtMs: number
  readonly data: Readonly<Record<string, unknown>>
  /** Two records with the same identity are one event. */
  readonly identity: string
}

/** Null for an install that is still pending, only counted, or marked as a test: receivers count them. */
export function eventOfInstall({ install }: InstallRecord): NoticedEvent | null {
  return outcomeEvent(install)
}

export function eventOfDecision(record: DecisionRecord): NoticedEvent | null {
  return outcomeEvent(record)
}

type DecidedOutcome = Omit<DecisionRecord, 'v' | 'kind' | 'decidedAtMs' | 'retentionDays'>

function outcomeEvent(install: DecidedOutcome): NoticedEvent | null {
  const { website, organization, eventId, receivedAtMs: happenedAtMs, visitId, visitIssuedAtMs } = install
  if (install.isTest) return null
  const of = { organization, website, happenedAtMs, identity: `install ${website} ${eventId}` }
  const shared = {
    website,
    eventId,
    eventType: install.eventType,
    ...(install.installPath === null ? {} : { installPath: install.installPath }),
    ci: install.isCi,
    container: install.isContainer,
    place: toldText(install.place),
    version: toldText(install.productVersion),
  }
  if (install.resolution === 'unmatched')
    return { ...of, type: 'install.unmatched', data: { ...shared, reason: unmatchedReason(install) ?? 'no_receipt' } }
  if (install.resolution !== 'matched' || visitId === null) return null
  const visitAt = visitIssuedAtMs === null ? {} : { visitAt: new Date(visitIssuedAtMs).toISOString() }
  return { ...of, type: 'install.matched', data: { ...shared, policy: install.selectionPolicy, visitId, ...visitAt } }
}

/** Null for a rule that only a later release knows. */
export function eventOfAlert(record: ReadableRecords['alert']): NoticedEvent | null {
  const alert = toldAlert(record)
  if (alert === null) return null
  const { id, organization, website, state, atMs: happenedAtMs } = record
  return { organization, website, type: `alert.${state}`, happenedAtMs, identity: `alert ${id} ${state}`, data: alert }
}

/** Only for endings that people can do something about. */
export function eventOfDelivery(record: ReadableRecords['delivery']): NoticedEvent | null {
  const { website, organization, eventId, destination, provider, reason, attempts, atMs, jobId, status } = record
  if (status !== 'failed' && status !== 'expired') return null
  return {
    organization,
    website,
    type: `delivery.${status}`,
    happenedAtMs: atMs,
    // It may fail again after a replay.
    identity: `delivery ${jobId} ${attempts}`,
    data: { website, eventId, destination, provider, reason, attempts },
  }
}

type ReadActivity = ReadableRecords['activity']
type ToldActivity = Pick<NoticedEvent, 'type' | 'data'> & { readonly identity?: string }

/** Leaves out entries about webhooks: an event about a webhook must not cause further events. */
export function eventOfActivity(entry: ReadActivity, { organizations }: CatalogOrganizations) {
  const told = toldBySummary(entry) ?? toldBy(entry, organizations.get(entry.organization)?.plan ?? '')
  if (told === null) return null
  const { organization, website, id, atMs: happenedAtMs } = entry
  return { organization, website, happenedAtMs, identity: `activity ${id}`, ...told } satisfies NoticedEvent
}

function toldBySummary({ type, organization, subject, summary }: ReadActivity): ToldActivity | null {
  if (type !== 'weekly_summary' || summary === undefined) return null
  return { type: 'summary.weekly', data: weeklyData(summary), identity: `summary ${organization} ${subject}` }
}

function toldBy(entry: ReadActivity, plan: string): ToldActivity | null {
  const { website, subject, type, organization } = entry
  const ofWebsite = website === '' ? {} : { website }
  switch (type) {
    case 'destination_paused':
      return { type: 'destination.paused', data: { website, destination: subject } }
    case 'quota_near':
    case 'quota_reached': {
      const percent = type === 'quota_near' ? 80 : 100
      const identity = `quota ${organization} ${subject} ${percent}`
      return { type: 'quota.reached', data: { month: subject, percent }, identity }
    }
    case 'rate_limit_reached':
      return { type: 'limit.reached', data: { of: 'rate', limit: subject, ...ofWebsite } }
    case 'plan_limit_reached':
      return { type: 'limit.reached', data: { of: 'plan', limit: subject, ...ofWebsite } }
    case 'stream_failing':
      return { type: 'stream.failing', data: { stream: objectNameIn(subject) } }
    case 'catalog_problem':
      if (!subject.startsWith('Website/')) return null
      return { type: 'website.not_accepted', data: { website: objectNameIn(subject), message: entry.message } }
    case 'object_changed':
      return toldByChange(entry, plan)
    default:
      return null
  }
}

/** `planNow` may still be the one of before the change, as the catalog and the log come by different ways. */
function toldByChange({ subject, fields = [], plan }: ReadActivity, planNow: string): ToldActivity | null {
  if (subject.startsWith('Organization/') && fields.includes('/spec/plan'))
    return { type: 'plan.changed', data: { plan: plan ?? planNow } }
  // An invitation that is sent again changes fields inside it; once it is accepted the whole field is gone.
  if (subject.startsWith('Member/') && fields.includes('/spec/invitation'))
    return { type: 'member.joined', data: { member: objectNameIn(subject) } }
  return null
}

/** `Website/acme` without its kind. */
function objectNameIn(subject: string): string {
  return subject.slice(subject.indexOf('/') + 1)
}
