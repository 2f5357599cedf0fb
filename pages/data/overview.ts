/** The websites of an organisation and what happened on them in the last 24 hours. */

import { queryOptions } from '@tanstack/react-query'

import { ask, path } from './ask.ts'

interface Overview {
  /** Unix ms. */
  readonly since: number
  readonly websites: readonly { readonly id: string; readonly displayName: string }[]
  readonly hours: readonly { readonly at: number; readonly visits: number }[]
}

export function overviewQuery(organization: string) {
  return queryOptions({
    queryKey: ['overview', organization],
    queryFn: ({ signal }) =>
      ask<Overview>(path('/api/organizations/:organization/overview', { organization }), { signal }),
  })
}
