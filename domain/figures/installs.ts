/** What installs are counted by, and the counts of each value. An install counts in the hour in which it was received. */

/** Where the visit of an install came from: by these, installs without a visit are rows of their own. */
export const ORIGIN_DIMENSIONS = [
  'source',
  'medium',
  'channel',
  'campaign',
  'term',
  'content',
  'referrer',
  'landing_page',
  'page',
  'visitor_platform',
] as const
/** What the machine of an install said of itself. */
export const MACHINE_DIMENSIONS = ['path', 'platform', 'agent', 'version', 'country', 'place'] as const

/** What people read. */
export const ORIGIN_NAMES: Readonly<Record<OriginDimension, string>> = {
  source: 'Source',
  medium: 'Medium',
  channel: 'Channel',
  campaign: 'Campaign',
  term: 'Term',
  content: 'Content',
  referrer: 'Referrer',
  landing_page: 'Landing page',
  page: 'Page',
  visitor_platform: 'Platform of the visit',
}
export const MACHINE_NAMES: Readonly<Record<(typeof MACHINE_DIMENSIONS)[number], string>> = {
  path: 'Install method',
  platform: 'Platform',
  agent: 'Human or agent',
  version: 'Version',
  country: 'Country',
  place: 'Place',
}

export const INSTALLS_BY = [...ORIGIN_DIMENSIONS, ...MACHINE_DIMENSIONS] as const
export type OriginDimension = (typeof ORIGIN_DIMENSIONS)[number]
export type InstallDimension = (typeof INSTALLS_BY)[number]

export function isOriginDimension(dimension: string): dimension is OriginDimension {
  return ORIGIN_DIMENSIONS.some((each) => each === dimension)
}

/**
 * Of each value. The first counts installs; the next four say what became of them and add up to it; then those whose visit has a source, those by an
 * installer that came to its end, and of these those that ran within seven days; upgrades and reinstalls are no installs.
 */
export const INSTALL_COUNTS = [
  'installs',
  'matched',
  'unmatched',
  'pending',
  'counted',
  'known_source',
  'completed',
  'ran',
  'upgrades',
  'reinstalls',
] as const
export type InstallCount = (typeof INSTALL_COUNTS)[number]
export type InstallCounts = Readonly<Record<InstallCount, number>>

/**
 * What a row of figures stands for: a value, or installs and visits that have none. `other`: values beyond those that are listed, or beyond 2,000 of an
 * hour.
 */
export const ROW_KINDS = [
  'value',
  'direct',
  'none',
  'no_campaign',
  'not_known',
  'no_visit',
  'not_looked_up',
  'pending',
  'other',
] as const
export type RowKind = (typeof ROW_KINDS)[number]

export interface FigureRow {
  readonly row: RowKind
  /** Empty unless the row is one of a value. */
  readonly value: string
}

/** The key of a row among others of one dimension, and of the row of another period that it is compared with. */
export function rowKey({ row, value }: FigureRow): string {
  return `${row} ${value}`
}

/** What people read in the place of a value. */
export const ROW_LABELS: Readonly<Record<Exclude<RowKind, 'value'>, string>> = {
  direct: 'Direct',
  none: 'None',
  no_campaign: 'No campaign',
  not_known: 'Visit not known',
  no_visit: 'No visit found',
  not_looked_up: 'Not looked up',
  pending: 'Being decided',
  other: 'Other',
}

/** The row of installs, or visits, whose field is empty. */
export function emptyRow(dimension: string): RowKind {
  if (dimension === 'source') return 'direct'
  return dimension === 'campaign' ? 'no_campaign' : 'none'
}

/**
 * What becomes of installs from CI, containers and tests, which figures leave out: they are counted with the others, or alone.
 */
export const LEFT_OUT_CHOICES = ['include', 'only'] as const
export type LeftOutChoice = (typeof LEFT_OUT_CHOICES)[number]

/** More values of an hour and dimension are counted as `other`. */
export const MAX_HOUR_VALUES = 2_000
