/** Tracked events of this month by day, and what the plan allows. */

import { queryOptions } from '@tanstack/react-query'

import type { Plan } from '../../domain/model.ts'
import { ask, path } from './ask.ts'

export interface UsageDay {
  /** Unix ms at which the UTC day begins. */
  readonly at: number
  readonly visits: number
  readonly installs: number
}

export interface MonthUsage {
  readonly plan: Plan
  /** Unix ms at which the UTC month begins. */
  readonly since: number
  readonly used: number
  readonly allowed: number
  /** Whether nothing more is stored above the quota. */
  readonly isCutOffOverQuota: boolean
  readonly days: readonly UsageDay[]
  /** The month before, until the same moment in it. */
  readonly before: { readonly since: number; readonly until: number; readonly used: number }
  readonly exampleUntil: number | null
}

export function usageQuery(organization: string) {
  return queryOptions({
    queryKey: ['usage', organization],
    queryFn: ({ signal }) =>
      ask<MonthUsage>(path('/api/organizations/:organization/usage', { organization }), { signal }),
  })
}
