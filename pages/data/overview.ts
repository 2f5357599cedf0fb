/** The websites of an organisation, and what happened on them in the last 24 hours. */

import { queryOptions } from '@tanstack/react-query'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ask, path } from './ask.ts'

export type Overview = JsonFrom<'overview'>

export function overviewQuery(organization: string) {
  return queryOptions({
    queryKey: ['overview', organization],
    queryFn: ({ signal }) =>
      ask<Overview>(path('/api/organizations/:organization/overview', { organization }), { signal }),
  })
}

/** Websites to choose from. No visit is counted for them, as in an overview. */
export function websitesQuery(organization: string) {
  return queryOptions({
    queryKey: ['websites', organization],
    queryFn: ({ signal }) =>
      ask<JsonFrom<'websites'>>(path('/api/organizations/:organization/websites', { organization }), { signal }).then(
        ({ websites }) => websites,
      ),
  })
}
