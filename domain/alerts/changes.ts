/** Which alerts are opened and which are closed by what was judged. The same judgement again changes nothing. */

import {
  alertId,
  subjectKey,
  type AlertEnd,
  type AlertMeasure,
  type AlertRecord,
  type AlertSubject,
  type KnownAlert,
} from './alert.ts'
import type { Sha256Hex } from '../origin.ts'
import type { AlertVerdict } from './judge.ts'

/** A verdict about a period; `off`: its rule is switched off. */
export interface AlertJudgement {
  readonly subject: AlertSubject
  readonly period: string
  readonly verdict: AlertVerdict | { readonly kind: 'off' } | { readonly kind: 'website_gone' }
}

/** What was recorded about one organisation before. */
export interface AlertsBefore {
  readonly organization: string
  /** Every alert that is open, and every one that was opened in the last weeks. */
  readonly known: readonly KnownAlertOfPeriod[]
}

export interface KnownAlertOfPeriod extends KnownAlert, AlertMeasure {
  readonly period: string
}

interface JudgedBy {
  readonly sha256Hex: Sha256Hex
  readonly nowMs: number
  readonly catalogNumber: number
}

/** An alert is opened once for a subject and a period, and only while none is open for the subject. */
export function alertChanges(
  judgements: readonly AlertJudgement[],
  { organization, known }: AlertsBefore,
  by: JudgedBy,
): readonly AlertRecord[] {
  const open = Map.groupBy(
    known.filter(({ isOpen }) => isOpen),
    subjectKey,
  )
  const ids = new Set(known.map(({ id }) => id))
  return judgements.flatMap<AlertRecord>(({ subject, period, verdict }) => {
    const own = open.get(subjectKey(subject)) ?? []
    if (verdict.kind === 'unusual') {
      const id = alertId({ ...subject, organization, period }, by.sha256Hex)
      return own.length > 0 || ids.has(id)
        ? []
        : [{ ...alertRecord(organization, { ...subject, ...verdict.measure, id, period }, by), state: 'opened' }]
    }
    const end = endBy(verdict.kind, subject)
    if (end === null) return []
    // With what was measured last, if anything was.
    const last = 'measure' in verdict ? verdict.measure : null
    return own.map((alert) => ({ ...alertRecord(organization, { ...alert, ...last }, by), state: 'closed', end }))
  })
}

/** Null: it stays as it is. Only what arrives ends that nothing did. */
function endBy(kind: Exclude<AlertJudgement['verdict']['kind'], 'unusual'>, { rule }: AlertSubject): AlertEnd | null {
  if (kind !== 'not_judged') return kind
  return rule === 'NothingArrives' ? null : 'not_compared'
}

type AlertOfPeriod = Omit<KnownAlertOfPeriod, 'isOpen'>
type StatelessAlert = Omit<AlertRecord, 'state' | 'end'>

function alertRecord(
  organization: string,
  { id, website, rule, of, period, value, expected, threshold }: AlertOfPeriod,
  { nowMs, catalogNumber }: JudgedBy,
): StatelessAlert {
  const own = { id, organization, website, rule, of, period, value, expected, threshold }
  return { v: 1, kind: 'alert', ...own, atMs: nowMs, catalogNumber }
}
