/** Members of an organisation, and what to call a person whom entries name by a pseudonym. */

import { queryOptions, useQuery } from '@tanstack/react-query'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ask, path } from './ask.ts'
import { meQuery } from './queries.ts'

export type MemberRow = JsonFrom<'members'>['members'][number]

export function membersPath(organization: string, member?: string): string {
  const base = path('/api/organizations/:organization/members', { organization })
  return member === undefined ? base : `${base}/${encodeURIComponent(member)}`
}

export function membersQuery(organization: string) {
  return queryOptions({
    queryKey: ['members', organization],
    queryFn: ({ signal }) =>
      ask<JsonFrom<'members'>>(membersPath(organization), { signal }).then(({ members }) => members),
  })
}

/** As entries of the activity name people. */
const PSEUDONYM = /^p_[0-9a-f]+$/

/** The name of a person, of whom not everybody may see the address; any other text as it is. */
export function usePersonNames(organization: string): (text: string) => string {
  const { data: members = [] } = useQuery(membersQuery(organization))
  const { data: me } = useQuery(meQuery)
  return (text) => {
    if (!PSEUDONYM.test(text)) return text
    if (text === me?.person) return 'you'
    return members.find(({ person }) => person === text)?.email ?? 'somebody else'
  }
}
