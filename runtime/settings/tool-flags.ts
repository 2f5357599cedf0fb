/** What each flag that tools take is called, takes and means. */

import { COMMAND_PLACES, INSTALL_TOOLS } from '../../domain/onboarding/choices.ts'
export const JSON_FLAG = { '--json': { placeholder: null, doc: 'One JSON object per line instead of a table.' } }
export const WEBSITE_FLAG = { '--website': { placeholder: 'ID', doc: 'Only of this website.' } }
const ORGANIZATION_FLAG = { '--organization': { placeholder: 'ID', doc: 'Only of this organisation.' } }
export const LIMIT_FLAG = { '--limit': { placeholder: 'N', doc: 'Show at most N, the newest. (default: 50)' } }
const LIST_FLAGS = { ...JSON_FLAG, ...WEBSITE_FLAG, ...LIMIT_FLAG }
const FOLLOW_FLAG = {
  '--follow': {
    placeholder: null,
    doc: 'Keep running and show new ones as they arrive, if they are visible within 10 s.',
  },
}

/** Of `whencectl activity`. */
export const ACTIVITY_FLAGS = { ...JSON_FLAG, ...LIMIT_FLAG, ...FOLLOW_FLAG, ...ORGANIZATION_FLAG }

const PERIOD_FLAGS = {
  '--since': { placeholder: 'TIME', doc: 'From this time on: a date, a time (UTC), or an age such as 90m, 6h or 7d.' },
  '--until': { placeholder: 'TIME', doc: 'Until this time.' },
} as const

/** Of `whencectl logs`. */
export const LOG_FLAGS = {
  ...LIST_FLAGS,
  ...ORGANIZATION_FLAG,
  ...FOLLOW_FLAG,
  ...PERIOD_FLAGS,
  '--direction': {
    placeholder: 'WHICH',
    doc: 'inbound: requests; outbound: attempts at delivery. (default: inbound)',
  },
  '--status': { placeholder: 'CLASS', doc: '2xx, 3xx, 4xx, 5xx, or none if no answer came.' },
  '--code': { placeholder: 'CODE', doc: 'Only with this error code, for example plan_limit.' },
  '--path': { placeholder: 'PATH', doc: 'Only to this path, or to this address of a provider.' },
  '--kind': { placeholder: 'KIND', doc: 'visit, activation, handoff, install, request, dashboard or delivery.' },
  '--origin': { placeholder: 'ORIGIN', doc: 'Only requests of this Origin.' },
  '--reference': {
    placeholder: 'IDS',
    doc: 'Only lines that name this event, installation or visit, up to 5 with commas.',
  },
  '--text': { placeholder: 'TEXT', doc: 'Only with this text in a body.' },
} as const

/** Of `whencectl installs`; an empty text means that there is none. */
export const INSTALL_FLAGS = {
  ...LIST_FLAGS,
  ...ORGANIZATION_FLAG,
  ...FOLLOW_FLAG,
  ...PERIOD_FLAGS,
  '--resolution': { placeholder: 'WHICH', doc: 'matched, unmatched, counted or pending.' },
  '--reason': { placeholder: 'REASON', doc: 'Only unmatched ones with this reason.' },
  '--policy': { placeholder: 'POLICY', doc: 'Only those whose visit was chosen by this policy.' },
  '--visit': { placeholder: 'ID', doc: 'Only those that were matched to this visit.' },
  '--event-type': { placeholder: 'TYPE', doc: 'install_started, install_completed or first_run.' },
  '--path': { placeholder: 'PATH', doc: 'Only of this install path.' },
  '--platform': { placeholder: 'NAME', doc: 'Only of this platform.' },
  '--agent': { placeholder: 'NAME', doc: 'Only by this coding agent.' },
  '--source': { placeholder: 'TEXT', doc: 'Only from visits of this source.' },
  '--medium': { placeholder: 'TEXT', doc: 'Only from visits of this medium.' },
  '--campaign': { placeholder: 'TEXT', doc: 'Only from visits of this campaign.' },
  '--referrer': { placeholder: 'HOST', doc: 'Only from visits that this host referred.' },
  '--page': { placeholder: 'URL', doc: 'Only from visits of this page: its origin and path.' },
} as const

/** Of `whencectl report`. */
export const REPORT_FLAGS = {
  ...ORGANIZATION_FLAG,
  '--by': {
    placeholder: 'WHAT',
    doc: 'source, medium, channel, campaign, term, content, referrer, landing_page, page, visitor_platform, path, platform, agent, version, country, place, reason or day. (default: source)',
  },
  '--time-zone': { placeholder: 'ZONE', doc: 'Time zone of hours and days, such as Europe/Berlin. (default: UTC)' },
  '--since': { placeholder: 'TIME', doc: 'From this time on: a date, or an age such as 7d. (default: 30 days)' },
  '--until': { placeholder: 'TIME', doc: 'Until this time. (default: now)' },
  '--include-left-out': {
    placeholder: null,
    doc: 'Count installs from CI, containers and tests, too. Visits stay as they are.',
  },
  '--csv': { placeholder: null, doc: 'Comma-separated values; what a spreadsheet would run is defused.' },
} as const

/** Of `whencectl replay-decisions`. */
export const REPLAY_FLAGS = {
  ...ORGANIZATION_FLAG,
  '--policy': { placeholder: 'WHICH', doc: 'latest_visit or first_visit. (default: latest_visit)' },
  '--window': { placeholder: 'DAYS', doc: 'Count only visits of this many days before the install. (default: 30)' },
  '--tokens-only': { placeholder: null, doc: 'Count only tokens of copied install commands.' },
  '--since': {
    placeholder: 'TIME',
    doc: 'Installs from this time on: a date, or an age such as 7d. (default: 30 days)',
  },
  '--until': { placeholder: 'TIME', doc: 'Until this time. (default: now)' },
  '--cancel': { placeholder: 'ID', doc: 'Cancel a replay that was asked for in the dashboard, and nothing else.' },
} as const

/** Of `whencectl spend`. */
export const SPEND_FLAGS = {
  ...WEBSITE_FLAG,
  ...ORGANIZATION_FLAG,
  '--columns': {
    placeholder: 'NAMES',
    doc: 'Headers of columns that have other names than day, source, campaign, amount and currency: day=Date,amount=Cost',
  },
  '--source': { placeholder: 'TEXT', doc: 'The source of all rows, in place of a column.' },
  '--currency': { placeholder: 'CODE', doc: 'The currency of all rows, in place of a column.' },
  ...JSON_FLAG,
} as const

/** Of `whencectl key`. */
export const KEY_FLAGS = {
  '--organization': { placeholder: 'NAME', doc: 'Name of the Organization that it reads.' },
  '--scopes': { placeholder: 'LIST', doc: 'What it may read. (default: figures,installs)' },
  '--expires': { placeholder: 'DATE', doc: 'When it ends, within a year. (default: in 365 days)' },
} as const

/** Of `whencectl init`: an answer to each question. */
export const INIT_FLAGS = {
  '--organization': { placeholder: 'NAME', doc: 'What your organisation is called.' },
  '--time-zone': { placeholder: 'ZONE', doc: "Decides its days. (default: this machine's)" },
  '--origin': { placeholder: 'URL', doc: 'Where your website is.' },
  '--place': { placeholder: 'PLACE', doc: `Where the install command stands: ${COMMAND_PLACES.join(', ')}.` },
  '--tool': { placeholder: 'TOOL', doc: `How people install: ${INSTALL_TOOLS.join(', ')}.` },
  '--command': { placeholder: 'TEXT', doc: 'The install command, in one line. (default: an example)' },
  '--matching': {
    placeholder: 'HOW',
    doc: 'TokensOnly, or TokensAndMarkers, for which installers look for a file of browsers.',
  },
  '--yes': { placeholder: null, doc: 'Ask nothing, for scripts: what has no default must be said.' },
} as const

/** Of `whencectl erase`. */
export const ERASE_FLAGS = {
  '--website': { placeholder: 'ID', doc: 'ID of the website.' },
  '--organization': {
    placeholder: 'ID',
    doc: 'Whose data, if the website has had several owners. Without --website: everything about this organisation.',
  },
  '--installation': {
    placeholder: 'IDS',
    doc: 'Everything about this installation, with the visits that only it has; several IDs separated by commas.',
  },
  '--visit': {
    placeholder: 'IDS',
    doc: 'This visit, the visits that it replaced or that replaced it, and the installs matched to them.',
  },
  '--receipt': {
    placeholder: 'TEXTS',
    doc: 'The visit of this receipt or token, as a marker or a copied command holds it.',
  },
  '--dry-run': { placeholder: null, doc: 'Only show what would be erased.' },
  '--yes': { placeholder: null, doc: 'Do not ask.' },
} as const

/** Of `whencectl migrate`. */
export const MIGRATE_FLAGS = {
  '--all-topics': {
    placeholder: null,
    doc: 'Create the topics of every provider, of webhooks and of mail as well: for processes that may not create topics.',
  },
} as const

/** Of `whencectl restore`. */
export const RESTORE_FLAGS = {
  '--other-owners': {
    placeholder: null,
    doc: 'Also if a website belongs to another organisation here than in the backup: it then starts without data.',
  },
  '--erasures': {
    placeholder: 'PATH',
    doc: 'The previous data folder, or its file `erasures`: what was erased since the backup is not restored.',
  },
} as const

/** Which dead letters are meant. */
export const LETTER_FILTERS = {
  '--destination': { placeholder: 'ID', doc: 'Only to this destination.' },
  '--reason': { placeholder: 'TEXT', doc: 'Only those whose reason begins with this text, for example refused.' },
  '--since': {
    placeholder: 'TIME',
    doc: 'Only those that failed at or after this time: 2026-11-21, 2026-11-21T13:00 (UTC), or 6h ago.',
  },
  '--until': { placeholder: 'TIME', doc: 'Only those that failed before this time.' },
} as const

export const SIGN_IN_LINK_FLAGS = {
  '--email': {
    placeholder: 'ADDRESS',
    doc: 'Whom it signs in; the rights are those of the members of this address.',
  },
  '--owner-of': {
    placeholder: 'ORGANIZATION',
    doc: 'Make this person Owner of this organisation as well: NAMESPACE/NAME, or NAME if its namespace is default.',
  },
}
