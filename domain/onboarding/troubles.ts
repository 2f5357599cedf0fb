/** Names what keeps a step of the set-up from completing: from requests that were refused, and from the newest install. */

import type { Plan } from '../model.ts'

export const SET_UP_TROUBLES = [
  'origin_not_registered',
  'website_unknown',
  'script_refused',
  'path_unknown',
  'sent_by_browser',
  'report_refused',
  'too_many',
  'plan_only_counts',
  'path_paused',
  'over_quota',
  'old_marker',
  'replaced_marker',
  'unconfirmed_marker',
  'other_website',
  'made_up',
  'nothing_brought',
] as const
export type SetUpTrouble = (typeof SET_UP_TROUBLES)[number]

/** A line of Logs, as far as it matters here. */
export interface SeenRequest {
  readonly kind: string
  readonly path: string
  /** Of the page that sent it; empty if none did. */
  readonly origin: string
  readonly status: number
  readonly code: string
  readonly at: number
}

/** The newest install, as lists show it. */
export interface SeenInstall {
  readonly resolution: string
  readonly reason: string
  readonly at: number
}

export interface NamedTrouble {
  /** Of the checklist. */
  readonly step: 'visit_seen' | 'hook_reached' | 'install_matched'
  readonly trouble: SetUpTrouble
  /** The origin that is not registered; null where there is none to name. */
  readonly origin: string | null
  /** Unix ms, of the newest; null for what holds whatever comes. */
  readonly at: number | null
  readonly count: number
}

/** Refusals that are no longer true are left out: the same came later from the same origin, and was taken. Lines newest first. */
export function troublesOf(
  lines: readonly SeenRequest[],
  newest: SeenInstall | null,
  plan: Plan,
): readonly NamedTrouble[] {
  const open = lines.filter(
    (line, index) => line.status >= 400 && !lines.slice(0, index).some((later) => mends(later, line)),
  )
  return [...grouped(open.flatMap(ofRefusal)), ...ofMatching(newest, plan)]
}

function mends(later: SeenRequest, refused: SeenRequest): boolean {
  const side = sideOf(later.path)
  return later.status < 400 && side !== null && side === sideOf(refused.path) && later.origin === refused.origin
}

/** Who sends such a request: the script on a page, or the installer. The configuration is given to any page, so it proves nothing. */
function sideOf(path: string): 'page' | 'installer' | null {
  if (/^\/v1\/(?:visits|handoffs)/.test(path)) return 'page'
  return path === '/v1/events' || path.endsWith('/report.sh') ? 'installer' : null
}

function ofRefusal(line: SeenRequest): readonly NamedTrouble[] {
  const isOfInstaller = sideOf(line.path) === 'installer'
  const trouble = isOfInstaller ? INSTALLER_TROUBLES[line.code] : PAGE_TROUBLES[line.code]
  if (trouble === undefined) return []
  const origin = trouble === 'origin_not_registered' && line.origin !== '' ? line.origin : null
  return [{ step: isOfInstaller ? 'hook_reached' : 'visit_seen', trouble, origin, at: line.at, count: 1 }]
}

/** By code. Refusals about receipts are no fault of the set-up. */
const PAGE_TROUBLES: Readonly<Record<string, SetUpTrouble>> = {
  origin_not_allowed: 'origin_not_registered',
  website_not_found: 'website_unknown',
  rate_limited: 'too_many',
  invalid_field: 'script_refused',
  invalid_json: 'script_refused',
  unsupported_media_type: 'script_refused',
  body_too_large: 'script_refused',
}

const INSTALLER_TROUBLES: Readonly<Record<string, SetUpTrouble>> = {
  install_path_not_found: 'path_unknown',
  website_not_found: 'website_unknown',
  native_endpoint: 'sent_by_browser',
  rate_limited: 'too_many',
  invalid_field: 'report_refused',
  invalid_json: 'report_refused',
  unsupported_media_type: 'report_refused',
  handoff_excludes_receipts: 'report_refused',
}

/** Newest first, one for each step, trouble and origin. */
function grouped(troubles: readonly NamedTrouble[]): readonly NamedTrouble[] {
  const byKey = new Map<string, NamedTrouble>()
  for (const each of troubles) {
    const key = [each.step, each.trouble, each.origin].join('\0')
    const known = byKey.get(key)
    byKey.set(key, known === undefined ? each : { ...known, count: known.count + 1 })
  }
  return [...byKey.values()]
}

function ofMatching(newest: SeenInstall | null, plan: Plan): readonly NamedTrouble[] {
  const about = { step: 'install_matched', origin: null, count: 1 } as const
  if (plan === 'Free') return [{ ...about, trouble: 'plan_only_counts', at: null }]
  const trouble = newest === null ? undefined : troubleOfInstall(newest)
  return trouble === undefined || newest === null ? [] : [{ ...about, trouble, at: newest.at }]
}

function troubleOfInstall({ resolution, reason }: SeenInstall): SetUpTrouble | undefined {
  if (resolution === 'counted') return 'path_paused'
  return resolution === 'unmatched' ? REASONS[reason] : undefined
}

/** By the reason of an install that has no visit. */
const REASONS: Readonly<Record<string, SetUpTrouble>> = {
  no_receipt: 'nothing_brought',
  expired: 'old_marker',
  revoked: 'replaced_marker',
  never_activated: 'unconfirmed_marker',
  handoff_only: 'unconfirmed_marker',
  unrecorded: 'over_quota',
  other_website: 'other_website',
  forged: 'made_up',
}
