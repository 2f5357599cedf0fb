/** The numbers of a week, as they go to people and webhooks. */

/** By these a change tells what to do more of, or what ended. */
export const CHANGED_BY = ['campaign', 'source', 'landing_page'] as const

/** The installs of a value, in a period and in the one before. */
export interface ChangedInstalls {
  readonly by: (typeof CHANGED_BY)[number]
  readonly value: string
  readonly installs: number
  readonly before: number
}

export interface WeekFigures {
  readonly installs: number
  /** With a visit. */
  readonly matched: number
  /** Looked up and decided: the match rate is that of these. */
  readonly lookedUp: number
  /** Whose visit was not looked for, because the plan is Free or the install path is paused. */
  readonly counted: number
  readonly knownSource: number
  readonly visits: number
  /** Visits that led to an install within seven days, as far as these are over. */
  readonly converted: number
}

/** As the Overview counts all websites of the organisation. */
export interface WeeklySummary {
  /** The Monday and the Sunday of the week. */
  readonly from: string
  readonly to: string
  readonly timeZone: string
  readonly now: WeekFigures
  /** Of the week before; null if that cannot be compared. */
  readonly before: WeekFigures | null
  /** The values with the largest differences in installs; empty if nothing is compared. */
  readonly changes: readonly ChangedInstalls[]
}
