/** What if: which installs another policy would have matched differently, and what each source would lose or gain. */

import { Button, Select } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState, type FormEvent, type ReactNode } from 'react'

import { DAY_MS } from '../../domain/durations.ts'
import { websitesQuery } from '../data/overview.ts'
import { sendReplayWish, replayChoiceOf, replaysQuery, type ReplayLine, type ReplayWish } from './replays-data.ts'
import { Empty, Loading, Page, Problem } from '../parts/states.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Moment } from '../parts/time.tsx'
import { useOrganization, type OwnOrganization } from '../shell/organization.tsx'
import { Outcome } from './outcome.tsx'
import { POLICY_CHOICES, policyWords } from './words.ts'

export function WhatIfPage(): ReactNode {
  const organization = useOrganization()
  const { replay } = replayChoiceOf(useSearch({ strict: false }))
  if (organization === null) return null
  return (
    <Page title="What if" question="What would another policy have made of the installs that came?">
      {organization.role !== 'Viewer' && <ReplayForm organization={organization.id} />}
      {replay !== undefined && <Outcome organization={organization} id={replay} />}
      <Replays organization={organization} />
    </Page>
  )
}

const MOST_WINDOW_DAYS = 30
const WINDOWS = [1, 3, 7, 14, MOST_WINDOW_DAYS].map((days) => ({
  value: String(days),
  label: days === 1 ? 'at most a day' : `at most ${days} days`,
}))
const PROOFS = [
  { value: 'all', label: 'all that was found' },
  { value: 'tokens', label: 'commands only' },
]
const PERIODS = ['7', '30', '90'].map((value) => ({ value, label: `the last ${value} days` }))

interface Wish extends Omit<ReplayWish, 'website' | 'since'> {
  /** Null: the first one. */
  readonly website: string | null
  readonly days: number
}

const FIRST_WISH: Wish = {
  website: null,
  policy: 'first_visit',
  windowDays: MOST_WINDOW_DAYS,
  tokensOnly: false,
  days: 30,
}

function ReplayForm({ organization }: { readonly organization: string }): ReactNode {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { data: websites = [] } = useQuery(websitesQuery(organization))
  const [wish, setWish] = useState(FIRST_WISH)
  const website = wish.website ?? websites[0]?.id ?? null
  const start = useMutation({
    mutationFn: (of: string) => {
      const { policy, windowDays, tokensOnly, days } = wish
      return sendReplayWish(organization, {
        website: of,
        policy,
        windowDays,
        tokensOnly,
        since: Date.now() - days * DAY_MS,
      })
    },
    async onSuccess({ id }) {
      await queries.invalidateQueries({ queryKey: ['replays', organization] })
      await navigate({ to: '.', search: { replay: id } })
    },
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (website !== null) start.mutate(website)
  }
  return (
    <form onSubmit={submit} className="what-if">
      <Select
        label="Installs of"
        allowDeselect={false}
        data={websites.map(({ id, displayName }) => ({ value: id, label: displayName }))}
        value={website}
        onChange={(to) => setWish({ ...wish, website: to })}
      />
      <WishFields wish={wish} onChange={(part) => setWish({ ...wish, ...part })} />
      <Button type="submit" loading={start.isPending} disabled={website === null}>
        Decide again
      </Button>
      <Problem error={start.error} />
    </form>
  )
}

interface WishFieldsProps {
  readonly wish: Wish
  readonly onChange: (part: Partial<Wish>) => void
}

function WishFields({ wish, onChange }: WishFieldsProps): ReactNode {
  return (
    <>
      <Select
        label="In"
        allowDeselect={false}
        data={PERIODS}
        value={String(wish.days)}
        onChange={(days) => onChange({ days: Number(days) })}
      />
      <Select
        label="Matched to"
        allowDeselect={false}
        data={POLICY_CHOICES}
        value={wish.policy}
        onChange={(policy) => onChange({ policy: policy ?? 'first_visit' })}
      />
      <Select
        label="Before the install"
        allowDeselect={false}
        data={WINDOWS}
        value={String(wish.windowDays)}
        onChange={(to) => onChange({ windowDays: Number(to) })}
      />
      <Select
        label="By"
        allowDeselect={false}
        data={PROOFS}
        value={wish.tokensOnly ? 'tokens' : 'all'}
        onChange={(proof) => onChange({ tokensOnly: proof === 'tokens' })}
      />
    </>
  )
}

function Replays({ organization }: { readonly organization: OwnOrganization }): ReactNode {
  const { data, error } = useQuery(replaysQuery(organization.id))
  if (data === undefined) return error === null ? <Loading what="replays" /> : <Problem error={error} />
  if (data.length === 0) {
    return (
      <Empty title="Nothing was asked within the last seven days">
        {organization.role === 'Viewer'
          ? 'Members of the organisation can ask; what comes out appears here.'
          : 'Choose a policy above. Nothing is sent to anybody, and no install changes.'}
      </Empty>
    )
  }
  return (
    <section className="what-if-part">
      <h2>Asked within the last seven days</h2>
      <div className="wide">
        <table className="list stacks">
          <TableHead columns={['Asked', 'Website', 'Policy', 'Installs since', 'State']} />
          <tbody>
            {data.map((line) => (
              <tr key={line.id}>
                <th scope="row">
                  <Link
                    to="/app/$organization/what-if"
                    params={{ organization: organization.id }}
                    search={{ replay: line.id }}
                  >
                    <Moment ms={line.askedAt} />
                  </Link>
                </th>
                <td translate="no">{line.website}</td>
                <td>{policyWords(line)}</td>
                <td>
                  <Moment ms={line.since} />
                </td>
                <td>{stateWords(line)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function stateWords({ state, installs, progress }: ReplayLine): string {
  switch (state) {
    case 'waiting':
      return 'begins within seconds'
    case 'running':
      return `${Math.round(progress * 100)} %`
    case 'failed':
    case 'cancelled':
      return state
    case 'done':
      return `${installs.toLocaleString()} installs`
  }
}
