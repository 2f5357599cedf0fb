/** What is known of the chosen visit, and of the machine that the install ran on. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { memberOf } from '../../domain/strict-json.ts'
import { readJsonColumn } from '../../common/json-column.ts'
import { sourceFacts } from '../../domain/collection/visit-source.ts'
import type { InstallFacts, VisitFacts } from '../data/installs.ts'
import { Moment } from '../parts/time.tsx'
import { Address } from './origin.tsx'
import type { Story } from './story.ts'

export function VisitSection({ story }: { readonly story: Story }): ReactNode {
  const chosen = story.visits.find(({ isChosen }) => isChosen)
  return (
    <section className="card">
      <h2>The visit</h2>
      {chosen === undefined ? (
        <p className="question">None was chosen.</p>
      ) : chosen.visit === null ? (
        <p className="question">It is not kept here: it is too old, or not stored yet.</p>
      ) : (
        <VisitList visit={chosen.visit} />
      )}
    </section>
  )
}

function VisitList({ visit }: { readonly visit: VisitFacts }): ReactNode {
  const providers = Object.keys(readJsonColumn(visit.identities) ?? {})
  const rows: readonly (readonly [string, ReactNode])[] = [
    ['When', <Moment key="when" ms={visit.issued_at_ms} />],
    ...sourceFacts(visit).map(
      ({ title, value, isAddress }) => [title, isAddress ? <Address key={title} text={value} /> : value] as const,
    ),
    ['Known to', providers.length === 0 ? 'no provider' : providers.join(', ')],
    ['Privacy', visit.gpc ? 'Global Privacy Control is on: advertising providers get nothing' : ''],
  ]
  return <FactList rows={rows.filter(([, value]) => !isEmptyFact(value))} />
}

function isEmptyFact(value: ReactNode): boolean {
  if (value === '') return true
  const isAddress = typeof value === 'object' && value !== null && 'props' in value
  return isAddress && memberOf(value.props, 'text') === ''
}

interface MachineProps {
  readonly install: InstallFacts
  readonly organization: string
}

export function MachineFacts({ install, organization }: MachineProps): ReactNode {
  const { installation_id: installation, default_browser: main } = install
  const browsers = install.browsers.map((browser) => (browser === main ? `${browser} (default)` : browser)).join(', ')
  const rows: readonly (readonly [string, ReactNode])[] = [
    ['System', [install.platform, install.arch].filter((part) => part !== '').join(', ')],
    ['Browsers', browsers],
    ['Locale', [install.language, install.timezone].filter((part) => part !== '').join(', ')],
    ['Country', install.country === '' ? '' : `${install.country}, of its time zone`],
    ['Run by', install.agent === '' ? 'a person, as far as the hook can tell' : install.agent],
    ['Ran in', surroundings(install)],
    ['Test', install.is_test ? 'yes: in no figure, and nothing is delivered' : ''],
    ['Version', install.product_version],
    ['Place', install.place],
    [
      'Event',
      <code translate="no" key="event">
        {install.event_id}
      </code>,
    ],
    [
      'Installation',
      <Link key="more" to="/app/$organization/logs" params={{ organization }} search={{ reference: installation }}>
        <code translate="no">{installation}</code>
      </Link>,
    ],
  ]
  return (
    <section className="card">
      <h2>The machine</h2>
      <FactList rows={rows.filter(([, value]) => value !== '')} />
    </section>
  )
}

function surroundings({ is_ci: isCi, is_container: isContainer }: InstallFacts): string {
  return [...(isCi ? ['CI'] : []), ...(isContainer ? ['a container'] : [])].join(', ')
}

function FactList({ rows }: { readonly rows: readonly (readonly [string, ReactNode])[] }): ReactNode {
  return (
    <dl className="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
