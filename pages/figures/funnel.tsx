/** The funnel: where do we lose visitors? Every number links to what it counts. */

import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { ORIGIN_DIMENSIONS } from '../../domain/figures/installs.ts'
import { figuresPath, funnelQuery, type FunnelCounts, type FunnelFigures } from '../data/figures.ts'
import { comparisonText, dateParameters, filteredFigures, nameOfBefore, type FilteredFigures } from '../data/period.ts'
import { Columns } from '../parts/columns.tsx'
import { ValueFilterBar } from '../filters/value-filter-bar.tsx'
import { visitsLeftOutText } from '../filters/filter-words.ts'
import { TakeAlong } from '../parts/copy.tsx'
import { CsvLink, csvTime } from '../parts/csv-link.tsx'
import { ExampleNotice } from '../parts/example-notice.tsx'
import { FigureLegend } from '../parts/figure-word.tsx'
import { Bar, Change, shownCount, shareText } from '../parts/numbers.tsx'
import { NotKept } from '../parts/not-kept.tsx'
import { PeriodBar } from '../parts/period-bar.tsx'
import { Empty, Page, Problem } from '../parts/states.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useOrganization } from '../shell/organization.tsx'
import { Programs } from './programs.tsx'
import { StepLink, STEPS } from './steps.tsx'

export function FunnelPage(): ReactNode {
  const organization = useOrganization()
  const filters = filteredFigures(useSearch({ strict: false }))
  return organization === null ? null : <Funnel organization={organization.id} filters={filters} />
}

interface FunnelProps {
  readonly organization: string
  readonly filters: FilteredFigures
}

function Funnel({ organization, filters }: FunnelProps): ReactNode {
  const options = funnelQuery(organization, filters)
  const query = useQuery(options)
  const { data, error, isPlaceholderData } = query
  return (
    <Page
      title="Funnel"
      question="Where do we lose them on the way from a visit to a first run?"
      actions={
        <>
          <PeriodBar
            organization={organization}
            filters={filters}
            {...(data === undefined ? {} : { step: data.step })}
          />
          <TakeAlong file={figuresPath('funnel', organization, filters)} name="funnel.json" />
        </>
      }
    >
      <ValueFilterBar
        organization={organization}
        filters={filters}
        bounds={dateParameters(filters)}
        dimensions={ORIGIN_DIMENSIONS}
      />
      <Problem error={error} />
      <Waiting what="the funnel" query={query} queryKey={options.queryKey} />
      {data !== undefined && <ExampleNotice until={data.exampleUntil} />}
      {data !== undefined && <NotKept figures={data} />}
      {data !== undefined &&
        (data.total === null ? (
          <p className="question">{data.visitsLeftOut !== null && visitsLeftOutText(data.visitsLeftOut)}</p>
        ) : data.total.visits === 0 ? (
          <NoVisits organization={organization} isFiltered={filters.filter !== undefined} />
        ) : (
          <div className="figures" aria-busy={isPlaceholderData}>
            <FunnelSteps organization={organization} filters={filters} figures={data} total={data.total} />
            <Days organization={organization} filters={filters} figures={data} />
          </div>
        ))}
    </Page>
  )
}

interface PartProps extends FunnelProps {
  readonly figures: FunnelFigures
}

function FunnelSteps({
  organization,
  filters,
  figures,
  total,
}: PartProps & { readonly total: FunnelCounts }): ReactNode {
  const { before } = figures
  return (
    <section className="card">
      <ol className="funnel">
        {STEPS.map((step, place) => {
          const count = total[step.id]
          const isFirst = place === 0
          return (
            <li key={step.id}>
              <StepLink organization={organization} step={step} filters={filters} bounds={figures}>
                <span className="name">
                  {step.title}
                  <small>{step.means}</small>
                </span>
                <Bar share={count / total.visits} />
                <span className="count">{shownCount(count)}</span>
                <span className="share">{isFirst ? '' : shareOf(step, total)}</span>
                <Change now={count} before={before?.total?.[step.id] ?? null} since={nameOfBefore(filters)} />
              </StepLink>
            </li>
          )
        })}
      </ol>
      <p className="footnote">
        Each visit counts once, in the hour in which it began, with every step that it has reached until now. Each
        number leads to these visits. {comparisonText(filters, figures)}
        {before !== null && ' It had more time to get on.'}
      </p>
      <FigureLegend of={['visits', 'copied', 'ran']} />
      <Programs figures={figures} since={nameOfBefore(filters)} />
    </section>
  )
}

/** Many hooks report only the end of an install, so a zero at this step is no loss. */
function shareOf({ id }: (typeof STEPS)[number], total: FunnelCounts): string {
  const isUnsaid = id === 'started' && total.started === 0 && total.installed > 0
  return isUnsaid ? 'not reported' : `${shareText(total[id], total.visits)} of visits`
}

/** What is below a column, in the organisation's time zone. */
function columnNames({ step, timeZone }: FunnelFigures): (at: number) => string {
  const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone })
  const hour = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: 'numeric', timeZone })
  // Some hours begin at half past, or at a quarter.
  const minute = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: 'numeric', minute: '2-digit', timeZone })
  return (at) => (step !== 'hour' ? day : new Date(at).getMinutes() === 0 ? hour : minute).format(at)
}

/** A period begins and ends with whole hours, so days at its ends may be cut. */
function cutText(names: readonly string[]): string {
  return names.length === 0 ? '' : `Of ${names.join(' and ')} the period has only a part; its columns are outlined.`
}

const EACH = { hour: 'Hour', day: 'Day', week: 'Week of' } as const

/** Small charts side by side, each with its own scale, since only the shape matters. */
function Days({ organization, filters, figures }: PartProps): ReactNode {
  const { step: size, steps, timeZone } = figures
  const isByDay = size !== 'hour'
  const columnName = columnNames(figures)
  const cut = isByDay ? steps.filter(({ isPart }) => isPart) : []
  const zone = timeZone.replaceAll('_', ' ')
  return (
    <section aria-labelledby="days">
      <h2 id="days">
        By {size} ({zone})
      </h2>
      <div className="multiples">
        {STEPS.map((step) => (
          <Columns
            key={step.id}
            title={step.title}
            what={step.id === 'visits' ? 'visits' : `visits that got to “${step.title}”`}
            each={EACH[size]}
            columns={steps.map(({ at, until, isPart, isKept, ...counts }) => ({
              key: String(at),
              name: columnName(at),
              isPart: isByDay && isPart,
              isKept,
              count: counts[step.id],
              link: (text) => (
                <StepLink organization={organization} step={step} filters={filters} bounds={{ since: at, until }}>
                  {text}
                </StepLink>
              ),
            }))}
          />
        ))}
      </div>
      {isByDay && (
        <p className="footnote">
          {size === 'week' ? 'Weeks begin on Monday' : 'Days are those'} of {zone}.{' '}
          {cutText(cut.map(({ at }) => columnName(at)))}
        </p>
      )}
      <p className="footnote">
        <CsvLink
          name={`funnel-by-${size}`}
          head={['From', 'Until', ...STEPS.map(({ title }) => title)]}
          rows={steps.map((each) => [csvTime(each.at), csvTime(each.until), ...STEPS.map(({ id }) => each[id])])}
        />
      </p>
    </section>
  )
}

function NoVisits({
  organization,
  isFiltered,
}: {
  readonly organization: string
  readonly isFiltered: boolean
}): ReactNode {
  if (isFiltered) return <Empty title="No visit fits these filters">Take one away, or look at a longer time.</Empty>
  return (
    <Empty title="No visit in this time">
      Choose a longer time. If there is none at all, put the script tag on your website and open a page of it: the visit
      shows within a second on{' '}
      <Link to="/app/$organization/live" params={{ organization }}>
        Live
      </Link>
      , and here with it.
    </Empty>
  )
}
