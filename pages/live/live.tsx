/** Live: what comes in right now. People open it to see whether it works. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'

import { path } from '../data/ask.ts'
import type { LogLine } from '../../domain/logs/line.ts'
import { liveFunnelQuery, type FunnelFigures } from '../data/figures.ts'
import { livePath } from '../data/lines.ts'
import { websitesQuery } from '../data/overview.ts'
import { useLines } from '../data/use-lines.ts'
import { ExampleNotice } from '../parts/example-notice.tsx'
import { LinePanel } from '../parts/lines/line-panel.tsx'
import { LineTable } from '../parts/lines/line-table.tsx'
import { Empty, Page, Problem } from '../parts/states.tsx'
import { Tile } from '../parts/tile.tsx'
import { useOrganization } from '../shell/organization.tsx'

export function LivePage(): ReactNode {
  const organization = useOrganization()
  return organization === null ? null : <Live organization={organization.id} />
}

function Live({ organization }: { readonly organization: string }): ReactNode {
  const [open, setOpen] = useState<LogLine | null>(null)
  const { data, error } = useQuery(liveFunnelQuery(organization))
  const { data: websites } = useQuery(websitesQuery(organization))
  const list = path('/api/organizations/:organization/logs?direction=inbound', { organization })
  const { lines, state } = useLines({ stream: livePath(organization), list, isOn: true })
  return (
    <Page title="Live" question="Does it work right now?">
      {data !== undefined && <ExampleNotice until={data.exampleUntil} />}
      <dl className="tiles">
        <Tile title="Visits in 24 hours" value={<VisitCount organization={organization} figures={data} />} />
        <Tile
          title="Websites"
          value={
            <Link to="/app/$organization/resources" params={{ organization }}>
              {countOrDash(websites?.length)}
            </Link>
          }
        />
        <Tile title="Requests in view" value={countOrDash(lines.length)} />
      </dl>
      <Problem error={error} />
      <p className="question pulse" role="status" data-state={state}>
        {WORDS[state]}
      </p>
      <div className="split" data-open={open === null ? undefined : true}>
        {lines.length > 0 ? (
          <LineTable lines={lines} selected={open?.id ?? null} onSelect={setOpen} />
        ) : (
          <NothingCame state={state} />
        )}
        {open !== null && <LinePanel organization={organization} line={open} onClose={() => setOpen(null)} />}
      </div>
    </Page>
  )
}

const WORDS = {
  connecting: 'Connecting …',
  live: 'Live: the last half hour, and new lines',
  polling: 'Live, updated every five seconds',
  failing: 'The newest requests cannot be read at the moment; this is tried again every five seconds',
  ended: 'Ended: you are signed out, or may no longer read this. Reload the page to sign in again.',
  paused: 'Paused while nobody looks',
} as const

interface VisitCountProps {
  readonly organization: string
  readonly figures: FunnelFigures | undefined
}

/** Leads to the visits that it counts. */
function VisitCount({ organization, figures }: VisitCountProps): ReactNode {
  const visits = figures?.total?.visits
  if (figures === undefined || visits === undefined || visits === 0) return countOrDash(visits)
  const { since, until } = figures
  return (
    <Link to="/app/$organization/visits" params={{ organization }} search={{ since, until }}>
      {countOrDash(visits)}
    </Link>
  )
}

/** A dash until it is known. */
function countOrDash(count: number | undefined): string {
  return count === undefined ? '–' : count.toLocaleString()
}

function NothingCame({ state }: { readonly state: string }): ReactNode {
  if (state === 'connecting') return null
  return (
    <Empty title="Nothing came in the last half hour">
      Open a page of your website that has the script tag. It appears here within a second or two, without a reload.
    </Empty>
  )
}
