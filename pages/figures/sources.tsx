/** Sources and campaigns: what brings installs, compared with the previous period. Every number links to its visits. */

import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { figuresPath, sourcesQuery } from '../data/figures.ts'
import { comparisonText, dateParameters } from '../data/period.ts'
import { SOURCE_DIMENSIONS, sourceFilters, type SourceFilters } from './source-filters.ts'
import { ValueFilterBar } from '../filters/value-filter-bar.tsx'
import { TakeAlong } from '../parts/copy.tsx'
import { ExampleNotice } from '../parts/example-notice.tsx'
import { FigureLegend } from '../parts/figure-word.tsx'
import { NotKept } from '../parts/not-kept.tsx'
import { PeriodBar } from '../parts/period-bar.tsx'
import { visitsLeftOutText } from '../filters/filter-words.ts'
import { Empty, Page, Problem } from '../parts/states.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useOrganization } from '../shell/organization.tsx'
import { Agents } from './agents.tsx'
import { LeftOut } from './left-out.tsx'
import { SharedCommands } from './fan-out.tsx'
import { SourcesFile } from './sources-file.tsx'
import { SOURCE_FIGURES, SourceTable } from './source-table.tsx'

export function SourcesPage(): ReactNode {
  const organization = useOrganization()
  const filters = sourceFilters(useSearch({ strict: false }))
  if (organization === null) return null
  return (
    <Page
      title="Sources"
      question="What brings installs?"
      actions={
        <>
          <PeriodBar organization={organization.id} filters={filters} />
          <TakeAlong {...sourcesFile(organization.id, filters)} name="sources.json" />
        </>
      }
    >
      <div className="choice tabs" role="group" aria-label="By">
        {SOURCE_DIMENSIONS.map(({ by, title }) => (
          <Link
            key={by}
            to="."
            search={(before) => ({ ...before, by })}
            replace
            aria-current={by === (filters.by ?? 'source') ? 'true' : undefined}
          >
            {title}
          </Link>
        ))}
      </div>
      {filters.by !== 'command' && (
        <ValueFilterBar organization={organization.id} filters={filters} bounds={dateParameters(filters)} />
      )}
      <Tab organization={organization.id} filters={filters} />
    </Page>
  )
}

/** Who ran installs is one of the figures about matches. */
function sourcesFile(organization: string, filters: SourceFilters): { readonly file: string } {
  const { by = 'source' } = filters
  if (by === 'command') return { file: figuresPath('shared-commands', organization, filters) }
  if (by === 'agent') return { file: figuresPath('match', organization, filters) }
  return { file: figuresPath('sources', organization, filters, { by }) }
}

interface TabProps {
  readonly organization: string
  readonly filters: SourceFilters
}

function Tab({ organization, filters }: TabProps): ReactNode {
  const { by = 'source' } = filters
  if (by === 'agent') return <Agents organization={organization} filters={filters} />
  // Filters do not choose among them.
  const { filter: _, ...unfiltered } = filters
  if (by === 'command') return <SharedCommands organization={organization} filters={unfiltered} />
  return <VisitSources organization={organization} filters={filters} by={by} />
}

type ShownDimension = Exclude<SourceFilters['by'], 'command' | undefined>

interface SourcesProps extends TabProps {
  readonly by: ShownDimension
}

function VisitSources({ organization, filters, by }: SourcesProps): ReactNode {
  const options = sourcesQuery(organization, filters, by)
  const query = useQuery(options)
  const { data, error, isPlaceholderData } = query
  return (
    <>
      <Problem error={error} />
      <Waiting what="sources" query={query} queryKey={options.queryKey} />
      {data !== undefined && (
        <>
          <ExampleNotice until={data.exampleUntil} />
          <NotKept figures={data} />
          <LeftOut organization={organization} filters={filters} figures={data} isBusy={isPlaceholderData} />
          {data.visitsLeftOut !== null && <p className="question">{visitsLeftOutText(data.visitsLeftOut)}</p>}
        </>
      )}
      {data !== undefined &&
        (data.total.visits?.visits === 0 && data.total.installs === 0 ? (
          <NoSources organization={organization} />
        ) : (
          <div className="figures" aria-busy={isPlaceholderData}>
            <FigureLegend of={SOURCE_FIGURES} isOnlyNarrow />
            <SourceTable organization={organization} filters={filters} by={by} figures={data} />
            <p className="footnote">
              Visits count when they began, installs when they came in; one visit can lead to many installs.{' '}
              {by === 'page'
                ? 'A visit counts for each page that it saw, so that only installs add up to the total.'
                : 'All rows add up to the total.'}{' '}
              Each number leads to what it counts. {comparisonText(filters, data)}{' '}
              <SourcesFile by={by} filters={filters} figures={data} />
            </p>
          </div>
        ))}
    </>
  )
}

function NoSources({ organization }: { readonly organization: string }): ReactNode {
  return (
    <Empty title="No visit in this time">
      Choose a longer time. Visits are there as soon as the script is on your website; links with{' '}
      <code translate="no">utm_source</code> and <code translate="no">utm_campaign</code> then name where they came
      from. The{' '}
      <Link to="/app/$organization/checklist" params={{ organization }}>
        checklist
      </Link>{' '}
      leads there.
    </Empty>
  )
}
