/** What a pasted ID names, as the service finds it. */

import { queryOptions } from '@tanstack/react-query'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ask, path, query } from './ask.ts'

export type FoundById = JsonFrom<'find'>['found'][number]

/** IDs are longer than what people type to find a page, and have no spaces. */
const ID = /^[\w.:-]{8,128}$/

export function mayBeId(text: string): boolean {
  return ID.test(text)
}

export function findQuery(organization: string, id: string) {
  return queryOptions({
    queryKey: ['find', organization, id],
    queryFn: ({ signal }) =>
      ask<JsonFrom<'find'>>(path('/api/organizations/:organization/find', { organization }) + query({ id }), {
        signal,
      }).then(({ found }) => found),
    enabled: mayBeId(id),
  })
}
