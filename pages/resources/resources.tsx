/** Resources: what is configured, whether it is in force, and who manages it. */

import { Button } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { ConnectLinks } from '../connect/connect-links.tsx'
import { resourcesQuery, type ResourceRow } from '../data/resources.ts'
import { Loading, Page, Problem } from '../parts/states.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { useOrganization, type OwnOrganization } from '../shell/organization.tsx'
import { mayMake } from './rights.ts'
import { State } from './state.tsx'
import { KINDS, originWords, type KindWords } from './words.ts'

export function ResourcesPage(): ReactNode {
  const organization = useOrganization()
  return organization === null ? null : <Resources organization={organization} />
}

/** Shown once all kinds have loaded, so that nothing moves while people read. */
function Resources({ organization }: { readonly organization: OwnOrganization }): ReactNode {
  const lists = useQueries({ queries: KINDS.map(({ kind }) => resourcesQuery(organization.id, kind)) })
  const isLoading = lists.some(({ data, error }) => data === undefined && error === null)
  return (
    <Page title="Resources" question="What is configured, is it active, and who manages it?">
      {isLoading ? (
        <Loading what="resources" />
      ) : (
        KINDS.map((words, index) => (
          <Kind
            key={words.kind}
            organization={organization}
            words={words}
            rows={lists[index]?.data}
            error={lists[index]?.error ?? null}
          />
        ))
      )}
      <p className="question">
        People and groups stand under{' '}
        <Link to="/app/$organization/members" params={{ organization: organization.id }}>
          Members
        </Link>
        , keys of programs under{' '}
        <Link to="/app/$organization/keys" params={{ organization: organization.id }}>
          API keys
        </Link>
        , reports that are shared under{' '}
        <Link to="/app/$organization/links" params={{ organization: organization.id }}>
          Share links
        </Link>
        .
      </p>
    </Page>
  )
}

interface KindProps {
  readonly organization: OwnOrganization
  readonly words: KindWords
  /** Absent if they could not be read. */
  readonly rows: readonly ResourceRow[] | undefined
  readonly error: Error | null
}

function Kind({ organization: { id, role }, words, rows, error }: KindProps): ReactNode {
  const { kind, title, one, purpose, made } = words
  return (
    <section className="kind" aria-labelledby={kind}>
      <header>
        <div>
          <h2 id={kind}>{title}</h2>
          <p className="question">{purpose}</p>
        </div>
        {made !== 'elsewhere' && mayMake(role, kind) && (
          <Button
            size="xs"
            variant="default"
            renderRoot={(props) =>
              made === 'here' ? (
                <Link to="/app/$organization/new/$kind" params={{ organization: id, kind }} {...props} />
              ) : (
                <Link to="/app/$organization/webhooks/new" params={{ organization: id }} {...props} />
              )
            }
          >
            New {one}
          </Button>
        )}
      </header>
      {kind === 'Destination' && mayMake(role, kind) && <ConnectLinks organization={id} />}
      <Problem error={error} />
      {rows !== undefined && rows.length > 0 && <KindTable organization={id} rows={rows} title={title} />}
      {rows?.length === 0 && <p className="none">There is no {one} yet.</p>}
    </section>
  )
}

interface KindTableProps {
  readonly organization: string
  readonly rows: readonly ResourceRow[]
  readonly title: string
}

function KindTable({ organization, rows, title }: KindTableProps): ReactNode {
  return (
    <div className="wide">
      <table className="list stacks resources" aria-label={title}>
        <TableHead columns={['Name', 'State', 'Managed by']} />
        <tbody>
          {rows.map(({ kind, namespace, name, spec, conditions, origin }) => (
            <tr key={`${namespace}/${name}`}>
              <th scope="row">
                <Link
                  to="/app/$organization/resources/$kind/$namespace/$name"
                  params={{ organization, kind, namespace, name }}
                  translate="no"
                >
                  {name}
                </Link>
                <Shown spec={spec} name={name} />
              </th>
              <td>
                <State conditions={conditions} />
              </td>
              <td>{originWords(origin)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Shown({ spec, name }: Pick<ResourceRow, 'spec' | 'name'>): ReactNode {
  const { displayName } = spec
  if (typeof displayName !== 'string' || displayName === name) return null
  return <bdi className="also">{displayName}</bdi>
}
