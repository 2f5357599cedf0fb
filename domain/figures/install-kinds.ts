/**
 * Which events of an installation are its install, an upgrade or a reinstall. Judged by receive time, then event ID, over all
 * events that are known of the installation; what has expired is known by what was judged with it.
 */

import { DAY_MS } from '../durations.ts'
import type { EventType } from '../model.ts'

export const INSTALL_KINDS = ['install', 'upgrade', 'reinstall', 'none'] as const
export type InstallKind = (typeof INSTALL_KINDS)[number]

/** How long events after the install still belong to it: a completion after a first run, and a visit that the install lacks. */
export const BELONGS_MS = 7 * DAY_MS

/** What the kind of an event depends on. */
export interface JudgedEvent {
  readonly eventId: string
  readonly eventType: EventType
  readonly receivedAtMs: number
  /** Empty if the installer did not say. */
  readonly productVersion: string
}

/** What is known of an installation before one of its events. */
export interface InstallationHistory {
  /** When its install was received; null if there was none. */
  readonly installedAtMs: number | null
  /** A first run began it, so that the completion of the installer may still come. */
  readonly isBegunByRun: boolean
  /** The last version that was named, without a leading `v`; empty if none was. */
  readonly version: string
}

export const NO_HISTORY: InstallationHistory = { installedAtMs: null, isBegunByRun: false, version: '' }

/** What is known of an installation before the first of its events, by the first one that was judged and stored. */
export function knownHistory(
  firstAtMs: number,
  stored: { readonly receivedAtMs: number; readonly before: InstallationHistory } | undefined,
): InstallationHistory {
  if (stored === undefined) return NO_HISTORY
  const { before, receivedAtMs } = stored
  if (receivedAtMs <= firstAtMs) return before
  // An event that comes before it may itself be what it was judged by.
  return before.installedAtMs !== null && before.installedAtMs < firstAtMs ? before : NO_HISTORY
}

export interface InstallJudgement {
  readonly kind: InstallKind
  /** To be kept with the event, so that it is judged the same when earlier ones have expired. */
  readonly before: InstallationHistory
}

export function byReceipt(a: JudgedEvent, b: JudgedEvent): number {
  return a.receivedAtMs - b.receivedAtMs || (a.eventId < b.eventId ? -1 : 1)
}

/** Judges the events of one installation, which are in the order of `byReceipt`; answers at equal positions. */
export function judgeInstallation(
  events: readonly JudgedEvent[],
  before: InstallationHistory = NO_HISTORY,
): readonly InstallJudgement[] {
  let history = before
  return events.map((event) => {
    const judgement = { kind: judgedKind(event, history), before: history }
    history = historyAfter(event, judgement)
    return judgement
  })
}

/** The start of an installer is no kind: it only says that something was begun. */
function judgedKind(
  { eventType, receivedAtMs, productVersion }: JudgedEvent,
  history: InstallationHistory,
): InstallKind {
  if (eventType === 'install_started') return 'none'
  if (history.installedAtMs === null) return 'install'
  const version = bareVersion(productVersion)
  // The first version that is named differs from none.
  if (version !== '' && history.version !== '' && version !== history.version) return 'upgrade'
  if (eventType === 'first_run') return 'none'
  const isOfInstall = history.isBegunByRun && receivedAtMs - history.installedAtMs <= BELONGS_MS
  return isOfInstall ? 'none' : 'reinstall'
}

function historyAfter(event: JudgedEvent, { kind, before }: InstallJudgement): InstallationHistory {
  if (event.eventType === 'install_started') return before
  const version = bareVersion(event.productVersion) || before.version
  if (kind !== 'install') return { ...before, version }
  return { installedAtMs: event.receivedAtMs, isBegunByRun: event.eventType === 'first_run', version }
}

function bareVersion(version: string): string {
  return version.replace(/^v/, '')
}
