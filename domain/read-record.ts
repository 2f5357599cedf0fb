/**
 * Reads entries of the event log, which may be truncated, foreign, or written by another release. Every reader uses
 * this file.
 *
 * A record contains the version of its form. Fields may be added within one version: a reader ignores unknown ones, and
 * keeps them if it passes the record on. Anything else, such as a new kind of record or a new value of a list, is a new
 * version; and a release must read a version before another one writes it.
 */

import type { AlertRecord } from './alerts/alert.ts'
import { isNumber, isText, isWhole } from './guards.ts'
import { PROVIDER_IDS } from './providers/index.ts'
import {
  parseRecord,
  type ActivationRecord,
  type ActivityRecord,
  type DeadLetter,
  type DecisionRecord,
  type DeliveryRecord,
  type InstallRecord,
  type Job,
  type LogRecord,
  type MailJob,
  type ParkedInstall,
  type VisitRecord,
  type WaitingActivation,
  type WebhookJob,
} from './records.ts'
import { isObject, memberOf } from './strict-json.ts'

/** The versions that this release reads; it writes the oldest that its neighbours read too. */
const READABLE_VERSIONS = { oldest: 1, newest: 1 } as const

/** The lists of this release say what it writes; an entry that it reads may come from a release that knows more. */
type WithAnyText<T, K extends keyof T> = Omit<T, K> & { readonly [N in K]: string }
export type ReadDeadLetter = WithAnyText<DeadLetter, 'reason'>

/** What readers request, by name. */
export interface ReadableRecords {
  /** Any record of the topics that become facts; its rows are checked when they are made. */
  readonly fact: LogRecord
  readonly visit: VisitRecord
  readonly activation: ActivationRecord
  readonly install: InstallRecord
  readonly decision: DecisionRecord
  readonly delivery: DeliveryRecord
  /** Its type may be one that only a later release knows. */
  readonly activity: WithAnyText<ActivityRecord, 'type'>
  readonly job: Job
  readonly parkedInstall: ParkedInstall
  readonly waitingActivation: WaitingActivation
  /** Its reason may be one that only a later release knows. */
  readonly deadLetter: ReadDeadLetter
  readonly mailJob: MailJob
  readonly webhookJob: WebhookJob
  /** Its rule and what it is of may be ones that only a later release knows. */
  readonly alert: WithAnyText<AlertRecord, 'rule' | 'of'>
}
export type ReadableKind = keyof ReadableRecords

/** `newer`: a later release wrote it and will read it. `unreadable`: no release will; `why` quotes nothing from it. */
type Reading<T> =
  | { readonly kind: 'record'; readonly record: T }
  | { readonly kind: 'newer'; readonly version: number }
  | { readonly kind: 'unreadable'; readonly why: string }

export function readRecord<K extends ReadableKind>(kind: K, value: string): Reading<ReadableRecords[K]> {
  let record: unknown
  try {
    record = parseRecord(value)
  } catch {
    return { kind: 'unreadable', why: 'no JSON' }
  }
  const version = memberOf(record, 'v')
  if (isNewerVersion(version)) return { kind: 'newer', version }
  if (!isWhole(version) || version < READABLE_VERSIONS.oldest) {
    return { kind: 'unreadable', why: 'no known version' }
  }
  const wrong = SHAPES[kind].find(({ path, isRight }) => !isRight(valueAt(record, path)))
  if (wrong !== undefined) return { kind: 'unreadable', why: `${wrong.path.join('.')} is missing or wrong` }
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- SHAPES has the members that readers use
  return { kind: 'record', record: record as ReadableRecords[K] }
}

/** How this service's records begin, in any version. */
const HEAD = /^\{"v":(\d{1,9})[,}]/

/** The version of an entry that a later release wrote; null for all others, readable or not. Costs next to nothing. */
export function newerVersionOf(value: string): number | null {
  const head = HEAD.exec(value)
  if (head !== null) return Number(head[1]) > READABLE_VERSIONS.newest ? Number(head[1]) : null
  const reading = readRecord('fact', value)
  return reading.kind === 'newer' ? reading.version : null
}

function isNewerVersion(version: unknown): version is number {
  return isWhole(version) && version > READABLE_VERSIONS.newest
}

type Check = (value: unknown) => boolean

const isVisitId: Check = (value) => typeof value === 'string' && /^[0-9a-f]{32}$/.test(value)
const isProvider: Check = (value) => PROVIDER_IDS.some((provider) => provider === value)
const nullOr =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)
const isPlan: Check = (value) => isProvider(memberOf(value, 'provider')) && isText(memberOf(value, 'destination'))
const isListOfCandidates: Check = (value) =>
  value === undefined || (Array.isArray(value) && value.every((each) => isText(memberOf(each, 'visitId'))))
const isListOfPlans: Check = (value) => Array.isArray(value) && value.every(isPlan)

interface KnownField {
  readonly path: readonly string[]
  readonly isRight: Check
}

function shape(members: Readonly<Record<string, Check>>, under: readonly string[] = []): readonly KnownField[] {
  return Object.entries(members).map(([path, isRight]) => ({ path: [...under, ...path.split('.')], isRight }))
}

const ACTIVATION = {
  organization: isText,
  website: isText,
  visitId: isVisitId,
  issuedAtMs: isNumber,
  activatedAtMs: isNumber,
  revokedVisitId: nullOr(isVisitId),
  revokedIssuedAtMs: nullOr(isNumber),
}
const INSTALL = {
  request: isObject,
  retentionDays: isNumber,
  'install.organization': isText,
  'install.website': isText,
  'install.eventId': isText,
  'install.installationId': isText,
  'install.eventType': isText,
  'install.receivedAtMs': isNumber,
  'install.visitId': nullOr(isText),
  'install.deliveries': isListOfPlans,
  'install.openCandidates': isListOfCandidates,
}
const JOB = {
  jobId: isText,
  website: isText,
  organization: isText,
  destination: isText,
  provider: isProvider,
  'install.eventId': isText,
  'install.eventType': isText,
  'install.receivedAtMs': isNumber,
  // The fields of a request are checked when it is built: if that fails, the job ends as a visible dead letter.
  visit: isObject,
  createdAtMs: isNumber,
  deadlineAtMs: isNumber,
  attempts: isNumber,
  dueAtMs: isNumber,
}

/** The fields that readers use without checking: a record that lacks one would fail a whole batch. */
const SHAPES: { readonly [K in ReadableKind]: readonly KnownField[] } = {
  fact: shape({ kind: isText }),
  visit: shape({
    'visit.organization': isText,
    'visit.website': isText,
    'visit.visitId': isVisitId,
    'visit.issuedAtMs': isNumber,
    'visit.previousVisitId': nullOr(isVisitId),
    'visit.traffic': isObject,
    'visit.visitor': isObject,
  }),
  activation: shape(ACTIVATION),
  install: shape(INSTALL),
  decision: shape({
    organization: isText,
    website: isText,
    eventId: isText,
    installationId: isText,
    receivedAtMs: isNumber,
    visitId: nullOr(isText),
    visitIssuedAtMs: nullOr(isNumber),
    answer: isObject,
  }),
  delivery: shape({ jobId: isText, provider: isText, attempts: isNumber }),
  activity: shape({ organization: isText, website: isText, subject: isText, type: isText, atMs: isNumber }),
  alert: shape({
    id: isText,
    organization: isText,
    website: isText,
    rule: isText,
    of: isText,
    period: isText,
    state: isText,
    atMs: isNumber,
    value: isNumber,
    expected: isNumber,
    threshold: isNumber,
  }),
  job: shape(JOB),
  parkedInstall: [...shape(INSTALL, ['record']), ...shape({ firstSeenAtMs: isNumber, dueAtMs: isNumber })],
  waitingActivation: [...shape(ACTIVATION, ['record']), ...shape({ dueAtMs: isNumber })],
  deadLetter: [...shape(JOB, ['job']), ...shape({ reason: isText, failedAtMs: isNumber })],
  mailJob: shape({
    mailId: isText,
    'letter.kind': isText,
    createdAtMs: isNumber,
    deadlineAtMs: isNumber,
    tries: isNumber,
    dueAtMs: isNumber,
  }),
  webhookJob: shape({
    messageId: isText,
    organization: isText,
    website: isText,
    webhook: isText,
    type: isText,
    body: isText,
    happenedAtMs: isNumber,
    deadlineAtMs: isNumber,
    attempts: isNumber,
    dueAtMs: isNumber,
    logRetentionDays: isNumber,
  }),
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce(memberOf, value)
}
