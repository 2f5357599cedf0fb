/** Queries of the server, cached by TanStack Query: fresh for ten seconds, and refetched when a tab regains focus. */

import { QueryClient, queryOptions } from '@tanstack/react-query'

import type { MemberRole } from '../../domain/model.ts'
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

export interface Me {
  readonly person: string
  readonly email: string
  readonly signedInBy: 'mail' | 'oidc' | 'link'
  /** Whether this service has billing. */
  readonly hasBilling: boolean
  /** Unix ms, as the end. */
  readonly signedInAt: number
  readonly sessionEndsAt: number
  readonly organizations: readonly { readonly id: string; readonly displayName: string; readonly role: MemberRole }[]
  readonly invitations: readonly {
    readonly id: string
    readonly organization: string
    readonly role: MemberRole
    /** Unix ms. */
    readonly expiresAt: number
  }[]
}

export const meQuery = queryOptions({ queryKey: ['me'], queryFn: ({ signal }) => ask<Me>('/api/me', { signal }) })
