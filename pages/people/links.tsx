/** Share links: which reports can be seen without signing in, until when, a new one, and the end of one. */

import { Button, Modal, Select, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState, type FormEvent, type ReactNode } from 'react'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { DEFAULT_PERIOD, PERIOD_NAMES } from '../../domain/figures/periods.ts'
import { mayDo } from '../../domain/people/roles.ts'
import { ask, path } from '../data/ask.ts'
import { linkFormIn, LINKS, linksQuery, type LinkForm, type LinkRow } from '../data/links.ts'
import { websitesQuery } from '../data/overview.ts'
import { PERIODS } from '../data/period.ts'
import { filtersIn } from '../data/value-filters.ts'
import { wordsOfFilter } from '../filters/filter-words.ts'
import { FORM_MODAL } from '../parts/modals.ts'
import { Snippet } from '../parts/copy.tsx'
import { FixedChips } from '../parts/chips.tsx'
import { Loading, Page, Problem } from '../parts/states.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Moment } from '../parts/time.tsx'
import { originWords } from '../resources/words.ts'
import { useOrganization, type OwnOrganization } from '../shell/organization.tsx'
import { Unsaved } from '../parts/unsaved.tsx'
import { addressOfPass, EndsIn, inDays, PassState, Revoke, USUAL_DAYS } from './passes.tsx'

export function LinksPage(): ReactNode {
  const organization = useOrganization()
  const form = linkFormIn(useSearch({ strict: false }))
  return organization === null ? null : <Links organization={organization} form={form} />
}

interface LinksProps {
  readonly organization: OwnOrganization
  /** What a new link begins with, if one is asked for. */
  readonly form: LinkForm
}

/** The form stands in the address, so that the Overview leads to it with what it shows. */
function Links({ organization: { id, role }, form }: LinksProps): ReactNode {
  const { data, error } = useQuery(linksQuery(id))
  const navigate = useNavigate()
  const mayWrite = mayDo(role, 'manageLinks')
  const show = (search: LinkForm): void =>
    void navigate({ to: '/app/$organization/links', params: { organization: id }, search, replace: true })
  return (
    <Page
      title="Share links"
      question="Who can see the numbers without signing in, and until when?"
      actions={mayWrite ? <Button onClick={() => show({ share: 'new' })}>New link</Button> : undefined}
    >
      <Problem error={error} />
      {data === undefined ? (
        error === null && <Loading what="links" />
      ) : data.length === 0 ? (
        <p>
          There is no link yet. One shows the Overview of a website, for a period and under filters that you choose, to
          whoever has its address: no account, no other page, no list of people or machines.
        </p>
      ) : (
        <LinkTable links={data} organization={id} mayWrite={mayWrite} />
      )}
      <Modal opened={mayWrite && form.share === 'new'} onClose={() => show({})} title="A new link" {...FORM_MODAL}>
        <NewLink organization={id} form={form} />
      </Modal>
    </Page>
  )
}

interface LinkTableProps {
  readonly links: readonly LinkRow[]
  readonly organization: string
  readonly mayWrite: boolean
}

function LinkTable({ links, organization, mayWrite }: LinkTableProps): ReactNode {
  return (
    <div className="wide">
      <table className="list stacks">
        <TableHead columns={['Name', 'Shows', 'Ends', 'State', 'Made by', ...(mayWrite ? [null] : [])]} />
        <tbody>
          {links.map((link) => (
            <tr key={`${link.namespace}/${link.name}`}>
              <th scope="row" translate="no">
                {link.displayName}
              </th>
              <td>
                <Shows link={link} />
              </td>
              <td>
                <Moment ms={link.expiresAt} />
              </td>
              <td>
                <PassState pass={link} />
              </td>
              <td>
                <MadeBy link={link} organization={organization} />
              </td>
              {mayWrite && (
                <td className="actions">
                  <Revoke
                    name={link.displayName}
                    address={addressOfPass(LINKS, organization, link)}
                    queryKey={['links', organization]}
                  >
                    Its address shows nothing any more, within a second. It cannot be taken back: make a new link
                    instead.
                  </Revoke>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Shows({ link: { website, period, filter } }: { readonly link: LinkRow }): ReactNode {
  const filters = filtersIn({ filter })
  return (
    <>
      <bdi translate="no">{website}</bdi>
      {period !== '' && `, ${PERIODS[period].title.toLowerCase()}`}
      {filters.length > 0 && <bdi className="also">{filters.map(wordsOfFilter).join('; ')}</bdi>}
    </>
  )
}

interface MadeByProps {
  readonly link: LinkRow
  readonly organization: string
}

/** The activity has the person and the time. */
function MadeBy({ link, organization }: MadeByProps): ReactNode {
  const words = originWords(link.origin)
  return (
    <Link
      to="/app/$organization/activity"
      params={{ organization }}
      search={{ object: link.object }}
      aria-label={`Who made ${link.displayName}: ${words}`}
    >
      {words}
    </Link>
  )
}

interface NewLinkProps {
  readonly organization: string
  readonly form: LinkForm
}

function NewLink({ organization, form }: NewLinkProps): ReactNode {
  const queries = useQueryClient()
  const { data: websites = [], error: unread } = useQuery(websitesQuery(organization))
  const [displayName, setDisplayName] = useState('')
  const [chosen, setChosen] = useState(form.website)
  const [period, setPeriod] = useState(form.period ?? DEFAULT_PERIOD)
  const [days, setDays] = useState(USUAL_DAYS)
  const website = chosen ?? websites[0]?.id ?? ''
  const { filter = [] } = form
  const make = useMutation({
    mutationFn: () => {
      const body = { displayName, website, period, filter, expiresAt: inDays(days) }
      return ask<JsonFrom<'createShareLink', 201>>(path(LINKS, { organization }), { method: 'POST', body })
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['links', organization] }),
  })
  if (make.data !== undefined) return <ShownLink address={location.origin + make.data.path} />
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    make.mutate()
  }
  return (
    <form className="form" onSubmit={submit} noValidate>
      <Unsaved isChanged={displayName !== ''} />
      <TextInput
        label="Name"
        description="Whoever opens the link reads it above the numbers."
        data-autofocus
        value={displayName}
        onChange={({ currentTarget }) => setDisplayName(currentTarget.value)}
      />
      <Select
        label="Website"
        allowDeselect={false}
        data={websites.map((each) => ({ value: each.id, label: each.displayName }))}
        value={website}
        onChange={(value) => setChosen(value ?? undefined)}
      />
      <Select
        label="Period"
        description="It moves on: 7 days are always the last seven."
        allowDeselect={false}
        data={PERIOD_NAMES.map((name) => ({ value: name, label: PERIODS[name].title }))}
        value={period}
        onChange={(value) => setPeriod(PERIOD_NAMES.find((name) => name === value) ?? DEFAULT_PERIOD)}
      />
      <SharedFilters form={form} />
      <EndsIn days={days} onChange={setDays} />
      <Problem error={unread ?? make.error} />
      <Button type="submit" loading={make.isPending} disabled={website === ''}>
        Make the link
      </Button>
    </form>
  )
}

function SharedFilters({ form }: { readonly form: LinkForm }): ReactNode {
  const filters = filtersIn(form)
  if (filters.length === 0)
    return (
      <p className="question">It counts everything. To share less, set filters on the Overview, then Share there.</p>
    )
  return (
    <div className="group">
      <p className="question">Under the filters of the Overview, which nobody can change:</p>
      <FixedChips texts={filters.map(wordsOfFilter)} />
    </div>
  )
}

function ShownLink({ address }: { readonly address: string }): ReactNode {
  return (
    <div role="status">
      <p>Copy the address now: it is never shown again. Whoever has it sees the report, without signing in.</p>
      <Snippet what="the address" text={address} />
    </div>
  )
}
