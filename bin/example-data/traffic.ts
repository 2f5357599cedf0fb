/**
 * Makes up traffic for trials: the records of one day, always the same for the same seed, day and end. Every page is on `made-up.example`, and the ID
 * of every installation and event begins with `made-up`, so that nobody mistakes it for real traffic.
 *
 * Every state that a finished day can have is among some weeks of it, but for what these cannot have: an install that is still pending, which dispatch
 * would go on with; a receipt over the quota, which this plan does not have; and a delivery that goes on.
 */

import type { Visit } from '../../domain/collection/visit-fields.ts'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { EXAMPLE_DATA } from '../../domain/figures/example-data.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { ActivityRecord, LogRecord } from '../../domain/records.ts'
import { wholeBetween, momentOn, penOf, pickWeighted, type MadeUpDay, type Pen, type Weighted } from './day.ts'
import { madeUpDeliveries, isResumedOn } from './deliveries.ts'
import { installationStory, momentAfter, runAfter, type Brought } from './installs.ts'
import { machineOf, type Machine } from './machines.ts'
import { handoffOnlySitting, personSitting, programView, type Sitting } from './visits.ts'

/** On the last day; every day before has a little less. */
const SITTINGS_A_DAY = 40
const GROWTH = 0.004
const WEEKEND = 0.55
/** Of sittings. */
const PROGRAMS = 0.2
const WITHOUT_VISIT = 0.05
const IN_CI = 0.06

/** What is received on the day, and later of what began on it, in order of time. */
export function trafficOfDay(day: MadeUpDay): readonly LogRecord[] {
  const pen = penOf(day)
  const weekday = new Date(day.dayMs).getUTCDay()
  const daysBack = (day.untilMs - day.dayMs) / DAY_MS
  const most = SITTINGS_A_DAY * Math.exp(-GROWTH * daysBack) * (weekday === 0 || weekday === 6 ? WEEKEND : 1)
  const count = Math.max(4, Math.round(most * (0.85 + 0.3 * pen.random())))
  const records = [
    ...milestonesOf(day),
    ...Array.from({ length: count }, () => sittingStory(pen)).flat(),
    ...Array.from({ length: chanceOf(pen, count * PROGRAMS) }, () => programView(pen)).flat(),
    ...Array.from({ length: chanceOf(pen, count * WITHOUT_VISIT) }, () => placeStory(pen)).flat(),
    ...Array.from({ length: chanceOf(pen, count * IN_CI) }, () => ciStory(pen)).flat(),
  ]
  return records.filter((record) => happenedAt(record) < day.untilMs).toSorted((a, b) => happenedAt(a) - happenedAt(b))
}

/**
 * When it happened, Unix ms.
 *
 * @internal
 */
export function happenedAt(record: LogRecord): number {
  switch (record.kind) {
    case 'visit':
      return record.visit.issuedAtMs
    case 'activation':
      return record.activatedAtMs
    case 'handoff':
      return record.askedAtMs
    case 'install':
      return record.install.receivedAtMs
    default:
      return 'atMs' in record ? record.atMs : 0
  }
}

function chanceOf({ random }: Pen, expected: number): number {
  return Math.floor(expected + random())
}

/** A sitting, and perhaps an install on the same machine or on others. */
function sittingStory(pen: Pen): readonly LogRecord[] {
  const { random } = pen
  const isTest = random() < 0.004
  const sitting = random() < 0.03 ? handoffOnlySitting(pen) : personSitting(pen, isTest)
  const isInstalled = isTest || random() < (sitting.copied === null ? 0.12 : 0.5)
  if (!isInstalled) return sitting.records
  const brought = broughtFrom(pen, sitting)
  const atMs = brought.isLate
    ? momentAfter(pen, sitting.endMs, wholeBetween(32, 55, random))
    : runAfter(pen, sitting.endMs)
  const machine = machineOf(pen, 'page', isTest ? 'test' : 'person')
  const shared = sitting.copied !== null && random() < 0.04 ? sharedCommand(pen, sitting.copied, sitting.endMs) : []
  return [...sitting.records, ...installation(pen, machine, { brought: brought.from, atMs }), ...shared]
}

interface BroughtFrom {
  readonly from: Brought
  /** So late that it has expired. */
  readonly isLate: boolean
}

/** Mostly the token of the command; else what the browser keeps, which may be of no use. */
function broughtFrom({ random }: Pen, { views, copied }: Sitting): BroughtFrom {
  const isLate = random() < 0.04
  if (copied !== null && random() < 0.85) return { from: { kind: 'token', visit: copied }, isLate }
  const revoked = views.filter(({ state }) => state === 'revoked')
  // The copy of a profile still has the receipt that another one has replaced.
  if (revoked.length > 0 && random() < 0.5) return { from: { kind: 'receipts', views: revoked }, isLate }
  // What was replaced is no longer there, and a receipt that no marker holds is hardly ever found.
  const kept = views.filter(({ state }) => state === 'active' || (state === 'issued' && random() < 0.4))
  return { from: { kind: 'receipts', views: kept }, isLate }
}

/** One command that is run on several machines: it was copied into a chat or a page. */
function sharedCommand(pen: Pen, visit: Visit, endMs: number): readonly LogRecord[] {
  return Array.from({ length: wholeBetween(3, 9, pen.random) }, () => {
    const atMs = momentAfter(pen, endMs, wholeBetween(1, 20, pen.random))
    return installation(pen, machineOf(pen, 'page'), { brought: { kind: 'token', visit }, atMs })
  }).flat()
}

const STRANGERS: Weighted<Brought> = [
  [20, { kind: 'nothing' }],
  [1, { kind: 'stranger', verdict: 'forged' }],
  [2, { kind: 'stranger', verdict: 'other_website' }],
]

/** An install by a command that stands where no page tells of a visit. */
function placeStory(pen: Pen): readonly LogRecord[] {
  const brought = pickWeighted(STRANGERS, pen.random)
  return installation(pen, machineOf(pen, 'place'), { brought, atMs: momentOn(pen) })
}

function ciStory(pen: Pen): readonly LogRecord[] {
  const machine = machineOf(pen, 'place', pen.random() < 0.7 ? 'ci' : 'container')
  return installation(pen, machine, { brought: { kind: 'nothing' }, atMs: momentOn(pen) })
}

interface InstallationStart {
  readonly brought: Brought
  readonly atMs: number
}

function installation(pen: Pen, machine: Machine, start: InstallationStart): readonly LogRecord[] {
  const events = installationStory(pen, machine, start).filter(({ record }) => happenedAt(record) < pen.day.untilMs)
  return [...events.map(({ record }) => record), ...madeUpDeliveries(pen, events)]
}

const ORIGINS_CHANGE_EVERY_DAYS = 45

/** What charts mark by themselves, besides versions. */
function milestonesOf({ organization, website, seed, dayMs }: MadeUpDay): readonly ActivityRecord[] {
  const day = dayMs / DAY_MS
  const milestone = (type: 'destination_live' | 'origins_changed', subject: string): ActivityRecord => ({
    v: 1,
    kind: 'activity',
    id: `${EXAMPLE_DATA.idPrefix}${seed}-${day}-${type}`,
    atMs: dayMs + 9 * HOUR_MS,
    organization,
    website,
    type,
    subject,
    message: 'Made up.',
    logRetentionDays: LIMITS.logRetentionDays.fallback,
  })
  return [
    ...(isResumedOn(dayMs) ? [milestone('destination_live', 'Destination/acme-ga4')] : []),
    ...(day % ORIGINS_CHANGE_EVERY_DAYS === 0 ? [milestone('origins_changed', `Website/${website}`)] : []),
  ]
}
