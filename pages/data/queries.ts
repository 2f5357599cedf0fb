/** Queries of the server, cached by TanStack Query: fresh for ten seconds, and refetched when a tab regains focus. */

import { QueryClient, queryOptions } from '@tanstack/react-query'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ApiProblem, ask } from './ask.ts'

const FRESH_MS = 10_000
const TRIES = 2

export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        retry: (times, error) =>
          times < TRIES && error instanceof ApiProblem && (error.status === 0 || error.status >= 500),
      },
    },
  })
}

export type Me = JsonFrom<'me'>

export const meQuery = queryOptions({ queryKey: ['me'], queryFn: ({ signal }) => ask<Me>('/api/me', { signal }) })
