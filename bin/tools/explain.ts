/** `whence explain`: why an install was matched or not, and how each of its deliveries stands. */

import { DELIVERY_REASONS } from '../../domain/deliveries.ts'
import type { CandidateVerdict, DeliveryPlan, ReceiptVerdict } from '../../domain/model.ts'
import type { AttemptRow, DeliveryRow, InstallRow, VisitRow } from '../../ports/facts/query-rows.ts'
import type { RunOutcome } from '../../runtime/settings.ts'
import { openBackend, type ToolBackend } from './backend.ts'
import { printable, timeText } from './table.ts'

export interface Explanation {
  readonly install: InstallRow
  readonly verdicts: readonly CandidateVerdict[]
  readonly plans: readonly DeliveryPlan[]
  /** The visits that the receipts named, as far as they are known. */
  readonly visits: readonly VisitRow[]
  readonly deliveries: readonly DeliveryRow[]
  readonly attempts: readonly AttemptRow[]
}

const VERDICT_TEXTS: { readonly [V in ReceiptVerdict]: string } = {
  active: 'a candidate',
  revoked: 'a newer visit replaced it',
  expired: 'its visit was more than 30 days old',
  never_activated: 'the browser never confirmed its marker',
  forged: 'it was not issued by this service',
  other_website: 'it belongs to another website',
  handoff_only: 'its visit exists only for a handoff',
  unrecorded: 'its visit came over the quota and was not recorded',
  handoff: 'the token that the install command carried',
}

const POLICY_TEXTS: Readonly<Record<string, string>> = {
  latest_visit: 'the newest candidate was chosen',
  handoff: 'the install command carried a token of this visit',
  same_installation: 'this installation had been matched to this visit before',
  none: 'there was nothing to choose from',
}

export async function explainTool(run: RunOutcome): Promise<number> {
  const backend = await openBackend(run.settings)
  try {
    const installs = await findInstalls(backend, run.positionals[0], run.flags.get('--website'))
    if (installs.length === 0) {
      const what = run.positionals[0] === undefined ? 'no install has been recorded yet' : 'no install has this event ID'
      process.stderr.write(`whence explain: ${what}\n`)
      return 1
    }
    for (const install of installs) {
      const explanation = await gather(backend, install)
      const text = run.flags.has('--json') ? `${JSON.stringify(explanation)}\n` : tell(explanation)
      process.stdout.write(text)
    }
  } finally {
    await backend.close()
  }
  return 0
}

/** By event ID, or the newest one where none is named. */
async function findInstalls(
  backend: ToolBackend,
  eventId: string | undefined,
  website: string | undefined,
): Promise<readonly InstallRow[]> {
  if (eventId !== undefined) {
    const rows = await backend.run('installsByEventId', { event_id: eventId })
    return rows.filter((row) => website === undefined || row.website === website)
  }
  const filters = website === undefined ? {} : { website }
  return backend.run('listInstalls', { since_ms: 0, until_ms: Number.MAX_SAFE_INTEGER, limit: 1, ...filters })
}

async function gather(backend: ToolBackend, install: InstallRow): Promise<Explanation> {
  const verdicts = JSON.parse(install.verdicts) as CandidateVerdict[]
  const ids = new Set(verdicts.flatMap(({ visitId }) => (visitId === null ? [] : [visitId])))
  if (install.visit_id !== '') ids.add(install.visit_id)
  const key = { website: install.website, event_id: install.event_id }
  const visits =
    ids.size === 0
      ? []
      : await backend.run('visitsByIds', { websites: [...ids].map(() => install.website), visit_ids: [...ids] })
  return {
    install,
    verdicts,
    plans: JSON.parse(install.deliveries) as DeliveryPlan[],
    visits,
    deliveries: await backend.run('deliveriesOfInstall', key),
    attempts: await backend.run('attemptsOfInstall', key),
  }
}

function tell(explanation: Explanation): string {
  const lines = [...headLines(explanation), '', ...candidateLines(explanation), '', ...deliveryLines(explanation), '']
  return `${lines.map(printable).join('\n')}\n`
}

function headLines({ install, visits }: Explanation): string[] {
  const visit = visits.find(({ visit_id }) => visit_id === install.visit_id)
  const path = install.install_path === '' ? 'no install path' : `install path ${install.install_path}`
  const lines = [
    `Install ${install.event_id} of ${install.website}: ${install.event_type}, ${path}, ${timeText(install.received_at_ms)} UTC`,
    `  ${install.resolution}${install.resolution === 'counted' ? ': the plan or a paused install path, so nothing was read' : `: ${POLICY_TEXTS[install.selection_policy] ?? install.selection_policy}`}`,
  ]
  if (install.visit_id === '') return lines
  lines.push(`  visit ${install.visit_id} of ${timeText(install.visit_issued_at_ms)} UTC`)
  if (visit !== undefined) lines.push(...visitLines(visit))
  else lines.push('  (the visit itself is not in ClickHouse: not yet, or no longer)')
  return lines
}

function visitLines(visit: VisitRow): string[] {
  const utm = [visit.utm_source, visit.utm_medium, visit.utm_campaign].filter((part) => part !== '').join(' / ')
  const identities = Object.keys(JSON.parse(visit.identities) as object)
  return [
    `    page      ${visit.page_url}`,
    `    came from ${visit.source_referrer || visit.referrer || 'nowhere that the browser told'}${utm === '' ? '' : `, campaign ${utm}`}`,
    `    known to  ${identities.length === 0 ? 'no provider' : identities.join(', ')}${visit.gpc ? ' (under Global Privacy Control)' : ''}`,
  ]
}

function candidateLines({ install, verdicts }: Explanation): string[] {
  if (verdicts.length === 0) return ['No receipt and no token came with it.']
  return [
    `Looked at ${verdicts.length}, candidates ${install.candidate_count}:`,
    ...verdicts.map(({ visitId, issuedAtMs, verdict }) => {
      const mark = visitId !== null && visitId === install.visit_id ? '->' : '  '
      const what = visitId === null ? 'unreadable' : `visit ${visitId} of ${timeText(issuedAtMs)}`
      return `  ${mark} ${what}: ${verdict} (${VERDICT_TEXTS[verdict]})`
    }),
  ]
}

function deliveryLines(explanation: Explanation): string[] {
  const { plans } = explanation
  if (plans.length === 0) return ['No deliveries: the website had no destinations.']
  return ['Deliveries:', ...plans.flatMap((plan) => oneDelivery(plan, explanation))]
}

function oneDelivery(plan: DeliveryPlan, { deliveries, attempts }: Explanation): string[] {
  const now = deliveries.find(({ destination }) => destination === plan.destination)
  const status = now?.status ?? plan.status
  const reason = now === undefined ? plan.reason : now.reason
  const lines = [`  ${plan.destination} (${plan.provider}): ${status}${reason === '' ? '' : `, ${reasonText(reason)}`}`]
  if (now !== undefined && now.detail !== '') lines.push(`    used: ${now.detail}`)
  if (now?.next_attempt_at_ms != null) lines.push(`    next attempt ${timeText(now.next_attempt_at_ms)} UTC`)
  if (now?.deadline_at_ms != null && status !== 'delivered') lines.push(`    to be made before ${timeText(now.deadline_at_ms)} UTC`)
  return [...lines, ...attempts.filter(({ destination }) => destination === plan.destination).map(attemptLine)]
}

function attemptLine(attempt: AttemptRow): string {
  const answer = attempt.response_status === 0 ? 'no answer' : `answered ${attempt.response_status}`
  const next = attempt.next_step === '' ? '' : `, then: ${attempt.next_step}`
  return `    attempt ${attempt.number} at ${timeText(attempt.started_at_ms)}: ${attempt.request_url} ${answer} in ${Math.round(attempt.duration_ms)} ms, ${attempt.outcome}${attempt.code === '' ? '' : ` (${attempt.code})`}${next}`
}

function reasonText(reason: string): string {
  const row = (DELIVERY_REASONS as Readonly<Record<string, { readonly when: string }>>)[reason]
  return row === undefined ? reason : `${reason}: ${row.when}`
}
