/** What each flag that tools take is called, takes and means. */

export const JSON_FLAG = { '--json': { placeholder: null, doc: 'One JSON object per line instead of a table.' } }
export const WEBSITE_FLAG = { '--website': { placeholder: 'ID', doc: 'Only of this website.' } }
export const ORGANIZATION_FLAG = { '--organization': { placeholder: 'ID', doc: 'Only of this organisation.' } }
export const LIMIT_FLAG = { '--limit': { placeholder: 'N', doc: 'Show at most N, the newest. (default: 50)' } }
export const LIST_FLAGS = { ...JSON_FLAG, ...WEBSITE_FLAG, ...LIMIT_FLAG }
export const FOLLOW_FLAG = { '--follow': { placeholder: null, doc: 'Keep running and show new ones as they arrive.' } }

/** Of `whence report`. */
export const REPORT_FLAGS = {
  '--by': { placeholder: 'WHAT', doc: 'source, campaign, page, path, agent, reason or day. (default: source)' },
  '--since': { placeholder: 'TIME', doc: 'From this time on: a date, or an age such as 7d. (default: 30 days)' },
  '--until': { placeholder: 'TIME', doc: 'Until this time. (default: now)' },
  '--csv': { placeholder: null, doc: 'Comma-separated values; what a spreadsheet would run is defused.' },
} as const

/** Of `whence replay-decisions`. */
export const REPLAY_FLAGS = {
  '--policy': { placeholder: 'WHICH', doc: 'latest_visit or first_visit. (default: latest_visit)' },
  '--window': { placeholder: 'DAYS', doc: 'Count only visits of this many days before the install. (default: 30)' },
  '--tokens-only': { placeholder: null, doc: 'Count only tokens of copied install commands.' },
  '--since': {
    placeholder: 'TIME',
    doc: 'Installs from this time on: a date, or an age such as 7d. (default: 30 days)',
  },
  '--until': { placeholder: 'TIME', doc: 'Until this time. (default: now)' },
} as const

/** Of `whence erase`. */
export const ERASE_FLAGS = {
  '--website': { placeholder: 'ID', doc: 'The website that it is about.' },
  '--installation': {
    placeholder: 'IDS',
    doc: 'All of this installation, and the visits that are its own; several with commas.',
  },
  '--visit': {
    placeholder: 'IDS',
    doc: 'This visit, those that it replaced or that replaced it, and what was matched to them.',
  },
  '--receipt': {
    placeholder: 'TEXTS',
    doc: 'The visit of this receipt or token, as a marker or a copied command holds it.',
  },
  '--dry-run': { placeholder: null, doc: 'Only show what would go.' },
  '--yes': { placeholder: null, doc: 'Do not ask.' },
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
