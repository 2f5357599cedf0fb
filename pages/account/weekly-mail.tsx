/** The weekly mail of each organisation, which everybody turns on and off for themselves. */

import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ask, path } from '../data/ask.ts'
import type { Me } from '../data/queries.ts'
import { Loading, Problem } from '../parts/states.tsx'

type WeeklyState = JsonFrom<'weeklyMail'>['state']
type MailedOrganization = Me['organizations'][number]

const PATH = '/api/organizations/:organization/weekly-mail'

const stateQuery = (organization: string) =>
  queryOptions({
    queryKey: ['weekly mail', organization],
    queryFn: ({ signal }) => ask<JsonFrom<'weeklyMail'>>(path(PATH, { organization }), { signal }),
  })

export function WeeklyMails({ organizations }: { readonly organizations: readonly MailedOrganization[] }): ReactNode {
  return (
    <section className="card" aria-labelledby="weekly-mail">
      <h2 id="weekly-mail">Weekly mail</h2>
      <p>
        On Monday at nine: installs, match rate, known sources, visits and conversion of the last week beside the week
        before, and what changed most.
      </p>
      <ul className="choices">
        {organizations.map((organization) => (
          <li key={organization.id}>
            <WeeklyMail organization={organization} />
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Why there is nothing to choose, or what the choice means. */
const WORDS: Readonly<Record<WeeklyState, string>> = {
  on: '',
  off: '',
  ended: 'You ended it. It stays so, whatever others write about you, until you turn it on again.',
  group: 'You belong to this organisation by a group of the identity provider, and groups get no mails.',
  no_mail: 'This service sends no mail.',
}

function WeeklyMail({ organization }: { readonly organization: MailedOrganization }): ReactNode {
  const { id, displayName } = organization
  const queries = useQueryClient()
  const { data, error } = useQuery(stateQuery(id))
  const choose = useMutation({
    mutationFn: (isOn: boolean) => ask(path(PATH, { organization: id }), { method: 'PUT', body: { isOn } }),
    onSettled: () => queries.invalidateQueries(stateQuery(id)),
  })
  if (data === undefined) return error === null ? <Loading what={displayName} /> : <Problem error={error} />
  const { state } = data
  const words = WORDS[state]
  const wordsId = `weekly-mail-${id}`
  return (
    <>
      <label className="check">
        <input
          type="checkbox"
          checked={choose.isPending ? choose.variables : state === 'on'}
          disabled={state === 'group' || state === 'no_mail' || choose.isPending}
          aria-describedby={words === '' ? undefined : wordsId}
          onChange={({ currentTarget }) => choose.mutate(currentTarget.checked)}
        />{' '}
        <bdi>{displayName}</bdi>
      </label>
      {words !== '' && (
        <p id={wordsId} className="hint">
          {words}
        </p>
      )}
      <Problem error={choose.error} />
    </>
  )
}
