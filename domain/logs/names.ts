/** Finds the IDs that a record names, so that erased ones are left out of everything that is written later. */

import type { OwnedWebsite } from '../model.ts'
import type { LogRecord } from '../records.ts'
import { idsInBody } from './references.ts'

const WORDS = /[A-Za-z0-9_.:-]{8,128}/g

/** Whose it is; empty texts if a request named no website that exists. */
export function ownerOfRecord(record: LogRecord): OwnedWebsite {
  switch (record.kind) {
    case 'visit':
      return record.visit
    case 'install':
      return record.install
    case 'request':
      return record.request
    default:
      return record
  }
}

/** When it happened, Unix ms: an organisation is erased with what happened until then. */
export function momentOfRecord(record: LogRecord): number {
  switch (record.kind) {
    case 'install_decision':
      return record.receivedAtMs
    case 'delivery':
      return record.installReceivedAtMs
    case 'activity':
    case 'alert':
      return record.atMs
    case 'webhook_attempt':
      return record.happenedAtMs
    case 'replay':
      return record.askedAtMs
    case 'spend':
      return record.importedAtMs
    default:
      return record.request.receivedAtMs
  }
}

/**
 * The record without everything that `isErased` knows: null if the record is about one of these, otherwise the record,
 * without the receipt that it replaced if that one was erased.
 */
export function withoutErased(record: LogRecord, isErased: (id: string) => boolean): LogRecord | null {
  if (subjectsOf(record).some((id) => id !== null && isErased(id))) return null
  if (record.kind === 'visit') {
    const { previousVisitId: previous } = record.visit
    return previous === null || !isErased(previous)
      ? record
      : { ...record, visit: { ...record.visit, previousVisitId: null } }
  }
  if (record.kind === 'activation' && record.revokedVisitId !== null && isErased(record.revokedVisitId))
    return { ...record, revokedVisitId: null, revokedIssuedAtMs: null }
  return record
}

function subjectsOf(record: LogRecord): readonly (string | null)[] {
  switch (record.kind) {
    case 'visit':
      return [record.visit.visitId]
    case 'activation':
    case 'handoff':
      return [record.visitId]
    case 'install': {
      const { eventId, installationId, visitId, verdicts } = record.install
      return [eventId, installationId, visitId, ...verdicts.map((each) => each.visitId)]
    }
    case 'install_decision':
      return [record.eventId, record.installationId, record.visitId, ...record.verdicts.map((each) => each.visitId)]
    case 'delivery':
      return [record.eventId]
    case 'request':
      return idsInBody(record.request)
    case 'activity':
      return wordsIn(`${record.subject} ${record.message}`)
    case 'webhook_attempt':
      return wordsIn(record.body)
    default:
      // Replays, spend and alerts.
      return []
  }
}

function wordsIn(text: string): readonly string[] {
  return text.match(WORDS) ?? []
}
