/** Alerts as people see them: what is open now, and what was before. */

import { alertWords, toldAlertOf } from '../../domain/alerts/alert-words.ts'
import type { WholeAlertRow } from '../../ports/facts/pages/alerts.ts'
import { MOST_ALERTS, type ALERT_ROUTES } from '../api/alerts.ts'
import { answer, type HandlersOf } from '../http/call.ts'
import type { ReadScope } from '../reads/scope.ts'

export function alertHandlers({ scope }: { readonly scope: ReadScope }): HandlersOf<typeof ALERT_ROUTES> {
  return {
    alerts: scope(async (reads) => {
      const open = await reads.run('openAlerts', { limit: MOST_ALERTS })
      const past = await reads.run('closedAlerts', { limit: MOST_ALERTS })
      return answer({ open: open.flatMap(shownAlert), past: past.flatMap(shownAlert) })
    }),
  }
}

/** None for a rule that only a later release knows. */
function shownAlert(row: WholeAlertRow) {
  const { id, website, period, value, expected, threshold, end } = row
  const read = {
    website,
    rule: row.rule,
    of: row.arrival,
    period,
    value,
    expected,
    threshold,
    state: 'opened',
  } as const
  const alert = toldAlertOf(read)
  if (alert === null) return []
  const { title, sentence: message, advice } = alertWords(alert)
  const { rule, of } = alert
  const measured = { value, expected, threshold, title, message, advice }
  const closedAt = row.is_closed ? row.closed_ms : null
  return [{ id, rule, of, website, period, openedAt: row.opened_ms, closedAt, end, ...measured }]
}
