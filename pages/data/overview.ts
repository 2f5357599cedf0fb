/** The websites of an organisation, and what happened on them in the last 24 hours. */

import { queryOptions } from '@tanstack/react-query'

import { ask, path } from './ask.ts'

interface WebsiteChoices {
  readonly websites: readonly { readonly id: string; readonly displayName: string }[]
}

export interface Overview extends WebsiteChoices {
  /** Unix ms, as `until`. */
  readonly since: number
  readonly until: number
  readonly exampleUntil: number | null
  readonly hours: readonly { readonly at: number; readonly visits: number }[]
}

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
      ask<WebsiteChoices>(path('/api/organizations/:organization/websites', { organization }), { signal }).then(
        ({ websites }) => websites,
      ),
  })
}
