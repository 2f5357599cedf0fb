/** Alerts of an organisation: what is open, and what was. */

import { queryOptions } from '@tanstack/react-query'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ask, path } from './ask.ts'

export type ShownAlert = JsonFrom<'alerts'>['open'][number]

export function alertsQuery(organization: string) {
  const address = path('/api/organizations/:organization/alerts', { organization })
  return queryOptions({
    queryKey: ['alerts', address],
    queryFn: ({ signal }) => ask<JsonFrom<'alerts'>>(address, { signal }),
  })
}
