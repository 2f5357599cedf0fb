/** Tracked events of this month by day, and what the plan allows. */

import { queryOptions } from '@tanstack/react-query'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ask, path } from './ask.ts'

export type UsageDay = MonthUsage['days'][number]

export type MonthUsage = JsonFrom<'usage'>

export function usageQuery(organization: string) {
  return queryOptions({
    queryKey: ['usage', organization],
    queryFn: ({ signal }) =>
      ask<MonthUsage>(path('/api/organizations/:organization/usage', { organization }), { signal }),
  })
}
