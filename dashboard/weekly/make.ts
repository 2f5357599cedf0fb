/**
 * Makes the weekly mails and the event for webhooks: on Monday at 9 in the time zone of each organisation, once for each organisation and week. Every process of
 * the dashboard looks; the hot state lets one of them work, and the entry of the activity says for good that it is done. A process that is
 * killed in between leaves the rest to the next look, with the same IDs.
 */

import { sha256Hex } from '../../common/digest.ts'
import { every, type Repetition } from '../../common/every.ts'
import { DAY_MS, MINUTE_MS } from '../../domain/durations.ts'
import { dueWeek, type PastWeek } from '../../domain/figures/weekly.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { WebhookEventType } from '../../domain/model.ts'
import type { Member } from '../../domain/people/member.ts'
import type { WeeklySummary } from '../../domain/people/weekly-summary.ts'
import { encodeRecord, recordKey, type ActivityRecord } from '../../domain/records.ts'
import { timeZone } from '../../domain/time-zones.ts'
import type { LogWriter } from '../../ports/event-log/event-log.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { Logger } from '../../runtime/logger.ts'
import { sendOnce, type MailMemory } from '../mail/once.ts'
import type { Outbox } from '../mail/outbox.ts'
import { organizationFacts } from '../reads/scope.ts'
import { membersOf, type Directory, type DirectoryOrganization } from '../resources/directory.ts'
import type { Inventory } from '../resources/inventory.ts'
import { readWeek } from './summary.ts'

export interface WeeklyParts {
  readonly roster: { readonly directory: Directory; readonly inventory: Inventory }
  readonly stores: { readonly eventLog: LogWriter; readonly hotState: MailMemory; readonly facts: FactsReader }
  /** Null: no mail is sent. */
  readonly outbox: Outbox | null
  /** IDs of the master secrets in use. */
  readonly keyIds: readonly number[]
  readonly nowMs: () => number
  readonly logger: Logger
}

const EVERY_MS = MINUTE_MS
const WEEKLY: WebhookEventType = 'summary.weekly'
/** Clocks and zones may be changed after a week was summed up. */
const AROUND_DUE_MS = 2 * DAY_MS

/** Looks once a minute. */
export function startWeekly(parts: WeeklyParts): Repetition {
  const done = new Map<string, string>()
  const failed = (error: unknown): void =>
    parts.logger.warn({ err: error, task: 'weekly_summaries' }, 'weekly summaries were not made; retrying')
  return every(EVERY_MS, (signal) => makeDue(parts, { done, signal, failed }), { onFailure: failed })
}

interface WeeklyRound {
  /** The week that each organisation is done with, as far as this process knows. */
  readonly done: Map<string, string>
  readonly signal: AbortSignal
  /** One that cannot be made keeps none of the others from theirs. */
  readonly failed: (error: unknown) => void
}

/**
 * Makes what is due now.
 * @internal
 */
export async function makeDue(parts: WeeklyParts, { done, signal, failed }: WeeklyRound): Promise<void> {
  const { directory } = parts.roster
  // What this copy lacks may be there.
  if (directory.rightsAge() !== 'current') return
  for (const organization of directory.organizations().values()) {
    if (signal.aborted) return
    const members = wantingMembers(parts, organization)
    if (members.length === 0 && !hasWantingWebhook(parts, organization)) continue
    const week = dueWeek(parts.nowMs(), timeZone(organization.timeZone))
    if (week === null || done.get(organization.id) === week.from) continue
    const isMade = await makeOnce(parts, { organization, members, week }, signal).catch(failed)
    if (isMade === true) done.set(organization.id, week.from)
  }
}

/** Those who ended it are left out when it is sent. */
function wantingMembers({ roster, outbox }: WeeklyParts, { id }: DirectoryOrganization): readonly Member[] {
  if (outbox === null) return []
  return membersOf(roster.directory, id).filter(
    ({ identity, invitation, wantsWeeklyMail }) => identity.kind === 'person' && invitation === null && wantsWeeklyMail,
  )
}

function hasWantingWebhook({ roster }: WeeklyParts, { id }: DirectoryOrganization): boolean {
  return roster.inventory.list('Webhook', id).some(({ spec }) => {
    const { events } = spec
    return Array.isArray(events) && events.includes(WEEKLY)
  })
}

interface DueSummary {
  readonly organization: DirectoryOrganization
  readonly members: readonly Member[]
  readonly week: PastWeek
}

/** Whether this week is done, by this process or another. Rejects like the stores. */
async function makeOnce(parts: WeeklyParts, due: DueSummary, signal: AbortSignal): Promise<boolean> {
  const { organization, week } = due
  if (await isMade(parts, due)) return true
  const summary = await readSummary(parts, due, signal)
  if (summary === 'later') return false
  if (summary === 'empty') return true
  const outcome = await sendOnce(`weekly/${organization.id}/${week.from}`, parts.stores.hotState, () =>
    append(parts, due, summary),
  )
  return outcome !== 'later'
}

async function isMade({ stores, nowMs }: WeeklyParts, { organization, week }: DueSummary): Promise<boolean> {
  const period = { since_ms: week.dueAtMs - AROUND_DUE_MS, until_ms: nowMs() + LIMITS.clockSkewMs }
  const about = { organization: organization.id, type: 'weekly_summary', subject: week.from, limit: 1 }
  return (await stores.facts.run('activityPage', { ...about, ...period })).length > 0
}

function readSummary(
  { roster, stores, keyIds, nowMs }: WeeklyParts,
  { organization, week }: DueSummary,
  signal: AbortSignal,
) {
  const websites = roster.directory.websites(organization.id)
  // Nobody waits for it.
  const share = { rank: 'replay', organization: organization.id, person: '' } as const
  const now = nowMs()
  const reads = organizationFacts(
    (query, params, options) => stores.facts.run(query, params, options),
    { organization, websites, isOfAll: true },
    { share, nowMs: now, signal },
  )
  return readWeek({ reads, nowMs: now, keyIds, zone: timeZone(organization.timeZone) }, week)
}

/** The entry comes last: without it all of this is done again, and what has an ID already is the same mail. */
async function append({ stores, outbox, roster }: WeeklyParts, due: DueSummary, summary: WeeklySummary): Promise<void> {
  const { organization, members, week } = due
  for (const { namespace, name } of members) {
    const letter = { kind: 'weekly', organization: organization.id, namespace, name, summary } as const
    await outbox?.put(letter, weekDigest(due, `${namespace}/${name}`).slice(0, MAIL_ID_CHARS))
  }
  const id = week.dueAtMs.toString(16).padStart(12, '0') + weekDigest(due, '').slice(0, 16)
  const record: ActivityRecord = {
    v: 1,
    kind: 'activity',
    id,
    atMs: week.dueAtMs,
    organization: organization.id,
    website: '',
    type: 'weekly_summary',
    subject: week.from,
    message: `From ${week.from} to ${week.to}.`,
    summary,
    catalogNumber: roster.directory.catalogNumber(),
    logRetentionDays: organization.logRetentionDays,
  }
  await stores.eventLog.append('activity', [{ key: recordKey(record, id), value: encodeRecord(record) }])
}

const MAIL_ID_CHARS = 32

function weekDigest({ organization, week }: DueSummary, member: string): string {
  return sha256Hex(`weekly\n${organization.id}\n${week.from}\n${member}`)
}
