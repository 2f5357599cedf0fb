/** Prints an explanation for people: what happened, which visit it came from and why, and the deliveries. */

import type { CandidateVerdict, ReceiptVerdict } from '../../../domain/model.ts'
import type { InstallRow, VisitRow } from '../../../ports/facts/query-rows.ts'
import { deliveryLines } from './deliveries.ts'
import type { Explanation } from './explanation.ts'
import { readJsonColumn } from '../../../common/json-column.ts'
import { setPlan } from '../../../domain/plan.ts'
import { printable } from '../../../common/printable.ts'
import { durationText, preciseTimeText, timeText } from '../../terminal/table.ts'

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
  undecided: 'whether the browser confirmed its marker is not known yet',
}

const POLICY_TEXTS: Readonly<Record<string, string>> = {
  latest_visit: 'the newest candidate was chosen',
  first_visit: 'the oldest candidate was chosen',
  handoff: 'the install command carried a token of this visit',
  same_installation: 'this installation had been matched to this visit before',
  none: 'there was nothing to choose from',
}

const PENDING_TEXT =
  'the data that decides it could not be read when it was reported; it will be decided within an hour'
const COUNTED_TEXT = `the plan is Free, or the install path is paused, so nothing was read; ${setPlan('Enterprise')}`

const RESOLUTION_TEXTS: Readonly<Record<string, string>> = { counted: COUNTED_TEXT, pending: PENDING_TEXT }

/** `nowMs` is for ages; all times are UTC. */
export function explainText(explanation: Explanation, nowMs: number): string {
  const parts = [installLines(explanation.install, nowMs), unreadLines(explanation), visitLines(explanation)]
  parts.push(candidateLines(explanation), deliveryLines(explanation))
  const lines = parts.filter((part) => part.length > 0).flatMap((part) => ['', ...part])
  return `${[...lines.slice(1), ''].map(printable).join('\n')}\n`
}

function unreadLines({ unread }: Explanation): string[] {
  return unread.map((column) => `What ClickHouse keeps as ${column} of this install is damaged and left out.`)
}

function installLines(install: InstallRow, nowMs: number): string[] {
  const { received_at_ms: atMs, resolution, install_path: path } = install
  const why = RESOLUTION_TEXTS[resolution] ?? POLICY_TEXTS[install.selection_policy] ?? install.selection_policy
  const machine = [install.platform, install.arch, install.timezone, install.country, install.language].filter(
    (part) => part !== '',
  )
  const browsers = install.browsers.length === 0 ? [] : [`browsers: ${install.browsers.join(', ')}`]
  return [
    `Install ${install.event_id}`,
    `  what       ${install.event_type} of ${install.website}, ${path === '' ? 'no install path' : `install path ${path}`}`,
    `  when       ${timeText(atMs)} UTC, ${durationText(nowMs - atMs)} ago`,
    ...labelled('machine', [...machine, ...browsers].join(', ')),
    ...labelled('run by', install.agent),
    ...labelled(
      'ran in',
      [...(install.is_ci ? ['CI'] : []), ...(install.is_container ? ['a container'] : [])].join(', '),
    ),
    ...labelled('test', install.is_test ? 'yes: in no figure, and nothing is delivered' : ''),
    ...labelled('version', install.product_version),
    ...labelled('place', install.place),
    `  result     ${resolution}: ${why}`,
  ]
}

function visitLines({ install, visits, installationsOfVisit }: Explanation): string[] {
  if (install.visit_id === '') return []
  const visit = visits.find(({ visit_id: visitId }) => visitId === install.visit_id)
  const issuedAtMs = install.visit_issued_at_ms ?? install.received_at_ms
  const before = durationText(install.received_at_ms - issuedAtMs)
  const head = [
    `Visit ${install.visit_id}`,
    `  when       ${timeText(issuedAtMs)} UTC, ${before} before the install`,
    ...labelled('shared by', installationsOfVisit > 1 ? `${installationsOfVisit} installations in all` : ''),
  ]
  if (visit === undefined) return [...head, '  (the visit itself is not in ClickHouse: not yet, or no longer)']
  return [...head, ...visitFacts(visit)]
}

function visitFacts(visit: VisitRow): string[] {
  const source = [visit.source, visit.medium, visit.channel].filter((part) => part !== '').join(' / ')
  const identities = readJsonColumn(visit.identities)
  const providers = Object.keys(identities ?? {})
  const gpc = visit.gpc ? ', under Global Privacy Control' : ''
  return [
    `  page       ${visit.page_url}`,
    `  came from  ${visit.source_referrer || 'no referrer'}`,
    ...labelled('source', source),
    ...labelled('campaign', visit.campaign),
    ...labelled('visitor', visit.visitor_kind),
    `  known to   ${identities === null ? 'damaged, cannot be read' : providers.length === 0 ? 'no provider' : providers.join(', ')}${gpc}`,
  ]
}

function labelled(label: string, text: string): string[] {
  return text === '' ? [] : [`  ${label.padEnd(9)}  ${text}`]
}

function candidateLines({ install, verdicts, unread }: Explanation): string[] {
  if (install.resolution === 'counted') return []
  if (verdicts.length === 0) return unread.includes('verdicts') ? [] : ['It carried no receipt and no token.']
  const count = install.selection_policy === 'handoff' ? '' : `, candidates among them: ${install.candidate_count}`
  return [
    `Receipts and tokens checked: ${verdicts.length}${count}`,
    ...verdicts.map((each) => verdictLine(each, install)),
  ]
}

function verdictLine({ visitId, issuedAtMs, verdict }: CandidateVerdict, install: InstallRow): string {
  const mark = visitId !== null && visitId === install.visit_id ? '->' : '  '
  const what =
    visitId === null ? 'unreadable' : `visit ${visitId} of ${issuedAtMs === null ? '?' : preciseTimeText(issuedAtMs)}`
  return `  ${mark} ${what}: ${verdict}, ${VERDICT_TEXTS[verdict]}`
}
