/** Match rate: how many installs have a visit, how it was found, and why the others have none. */

import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { MACHINE_NAMES, type InstallCount } from '../../domain/figures/installs.ts'
import { figuresPath, matchQuery, type MatchFigures } from '../data/figures.ts'
import { dateParameters, countingFilters, nameOfBefore, type CountingFilters } from '../data/period.ts'
import type { ShownInstallFilters } from '../data/installs.ts'
import { ValueFilterBar } from '../filters/value-filter-bar.tsx'
import { TakeAlong } from '../parts/copy.tsx'
import { ExampleNotice } from '../parts/example-notice.tsx'
import { FigureLegend, FigureWord } from '../parts/figure-word.tsx'
import { POLICIES, reasonWords } from '../parts/install-words.ts'
import { Bar, Change, shownCount, ShareChange, shareText, countBefore } from '../parts/numbers.tsx'
import { NotKept } from '../parts/not-kept.tsx'
import { PeriodBar } from '../parts/period-bar.tsx'
import { Empty, Page, Problem } from '../parts/states.tsx'
import { Tile } from '../parts/tile.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useOrganization } from '../shell/organization.tsx'
import { InstallBreakdown } from './breakdown.tsx'
import { LeftOut } from './left-out.tsx'
import { listFilters } from './list-of.ts'
import { TimeToInstall } from './time-to-install.tsx'
import { TokensAndMarkers } from './tokens-and-markers.tsx'

export function MatchPage(): ReactNode {
  const organization = useOrganization()
  const filters = countingFilters(useSearch({ strict: false }))
  return organization === null ? null : <Match organization={organization.id} filters={filters} />
}

interface MatchProps {
  readonly organization: string
  readonly filters: CountingFilters
}

function Match({ organization, filters }: MatchProps): ReactNode {
  const options = matchQuery(organization, filters)
  const query = useQuery(options)
  const { data, error, isPlaceholderData } = query
  return (
    <Page
      title="Match rate"
      question="Why is it not 100 %, and what can we do about it?"
      actions={
        <>
          <PeriodBar organization={organization} filters={filters} />
          <TakeAlong file={figuresPath('match', organization, filters)} name="match.json" />
        </>
      }
    >
      <ValueFilterBar organization={organization} filters={filters} bounds={dateParameters(filters)} />
      <Problem error={error} />
      <Waiting what="the match rate" query={query} queryKey={options.queryKey} />
      {data !== undefined && (
        <>
          <ExampleNotice until={data.exampleUntil} />
          <NotKept figures={data} />
          <LeftOut organization={organization} filters={filters} figures={data} isBusy={isPlaceholderData} />
        </>
      )}
      {data !== undefined &&
        (data.total.installs === 0 ? (
          <NoEvents organization={organization} />
        ) : (
          <div className="figures" aria-busy={isPlaceholderData}>
            <RateParts organization={organization} filters={filters} figures={data} />
          </div>
        ))}
    </Page>
  )
}

function RateParts(props: RatePartProps): ReactNode {
  const { organization, filters, figures } = props
  return (
    <>
      <Rate {...props} />
      <Beside {...props} />
      <WhyNot {...props} />
      <TokensAndMarkers {...props} />
      <Policies {...props} />
      <TimeToInstall {...props} />
      <div className="pair">
        {(['path', 'platform'] as const).map((by) => (
          <InstallBreakdown
            key={by}
            title={`By ${MACHINE_NAMES[by].toLowerCase()}`}
            figures={{ now: figures[by], before: figures.before?.[by] ?? null }}
            by={by}
            organization={organization}
            filters={filters}
            bounds={figures}
          />
        ))}
      </div>
    </>
  )
}

interface RatePartProps extends MatchProps {
  readonly figures: MatchFigures
}

/** Of installs that were looked up and decided. */
function Rate({ organization, figures, filters }: RatePartProps): ReactNode {
  const { total, before } = figures
  const judged = total.matched + total.unmatched
  const judgedBefore = before === null ? 0 : before.total.matched + before.total.unmatched
  return (
    <section className="card rate">
      <p className="great">{shareText(total.matched, judged)}</p>
      <div>
        <p>
          <InstallsLink
            organization={organization}
            filters={filters}
            figures={figures}
            more={{ kind: 'install', resolution: 'matched' }}
          >
            {shownCount(total.matched)}
          </InstallsLink>{' '}
          of {shownCount(judged)} installs have a visit.{' '}
          {judged > 0 && before !== null && judgedBefore > 0 && (
            <ShareChange
              now={total.matched / judged}
              before={before.total.matched / judgedBefore}
              since={nameOfBefore(filters)}
            />
          )}
        </p>
        <Bar share={judged === 0 ? 0 : total.matched / judged} />
        <FigureLegend of={['match_rate', 'installs']} />
        {total.counted > 0 && (
          <p className="footnote">
            <InstallsLink
              organization={organization}
              filters={filters}
              figures={figures}
              more={{ kind: 'install', resolution: 'counted' }}
            >
              {shownCount(total.counted)}
            </InstallsLink>{' '}
            more were not looked up, because of the plan or a paused install path.
          </p>
        )}
      </div>
    </section>
  )
}

/** Of the same installs and their machines. No list can hold just those with a known source, or those that ran. */
function Beside(props: RatePartProps): ReactNode {
  const { total, before } = props.figures
  const since = nameOfBefore(props.filters)
  return (
    <dl className="tiles">
      {(['known_source', 'ran', 'upgrades', 'reinstalls'] as const).map((name) => (
        <Tile
          key={name}
          title={<FigureWord of={name} />}
          value={
            <>
              <CountOfKind {...props} name={name} />{' '}
              <Change now={total[name]} before={before?.total[name] ?? null} since={since} />
            </>
          }
        />
      ))}
    </dl>
  )
}

const KINDS: Readonly<Record<string, string>> = { upgrades: 'upgrade', reinstalls: 'reinstall' }

/** Leads to the events that it counts, if these are of one kind. */
function CountOfKind({ name, ...props }: RatePartProps & { readonly name: InstallCount }): ReactNode {
  const count = props.figures.total[name]
  const kind = KINDS[name]
  if (kind === undefined || count === 0) return shownCount(count)
  return (
    <InstallsLink {...props} more={{ kind }}>
      {shownCount(count)}
    </InstallsLink>
  )
}

interface InstallsLinkProps extends RatePartProps {
  readonly more: ShownInstallFilters
  readonly children: ReactNode
}

function InstallsLink({ organization, filters, figures, more, children }: InstallsLinkProps): ReactNode {
  return (
    <Link to="/app/$organization/installs" params={{ organization }} search={listFilters(figures, filters, more)}>
      {children}
    </Link>
  )
}

function WhyNot({ organization, filters, figures }: RatePartProps): ReactNode {
  const { reason, total, before } = figures
  if (total.unmatched === 0) return null
  const mostFirst = reason.toSorted((a, b) => b.installs - a.installs)
  return (
    <section aria-labelledby="why-not">
      <h2 id="why-not">Why not the others</h2>
      <ul className="reasons">
        {mostFirst.map(({ value, installs }) => {
          const { name, sentence, advice } = reasonWords(value)
          const more = { kind: 'install', resolution: 'unmatched', reason: value }
          return (
            <li key={value} className="card">
              <h3>{name}</h3>
              <p className="count">
                <InstallsLink organization={organization} filters={filters} figures={figures} more={more}>
                  {shownCount(installs)} <span className="unseen">installs: {name}</span>
                </InstallsLink>
              </p>
              <Bar share={installs / total.unmatched} tone="quiet" />
              <p className="share">
                {shareText(installs, total.unmatched)}{' '}
                <Change
                  now={installs}
                  before={countBefore(
                    before?.reason,
                    (each) => each.value === value,
                    (each) => each.installs,
                  )}
                  since={nameOfBefore(filters)}
                />
              </p>
              <p>{sentence}</p>
              <p className="todo">
                <strong>What to do</strong> {advice}
              </p>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

function Policies({ organization, filters, figures }: RatePartProps): ReactNode {
  const { policy, total, before } = figures
  const matched = policy.filter((each) => each.matched > 0)
  if (matched.length === 0) return null
  return (
    <section className="card" aria-labelledby="how">
      <h2 id="how">How the visit was found</h2>
      <ul className="shares">
        {matched.map(({ value, matched: count }) => (
          <li key={value}>
            <span className="name">
              {POLICIES[value]?.name ?? value}
              <small>{POLICIES[value]?.sentence}</small>
            </span>
            <Bar share={count / total.matched} />
            <InstallsLink
              organization={organization}
              filters={filters}
              figures={figures}
              more={{ kind: 'install', resolution: 'matched', policy: value }}
            >
              {shownCount(count)}
            </InstallsLink>
            <span className="share">{shareText(count, total.matched)}</span>
            <Change
              now={count}
              before={countBefore(
                before?.policy,
                (each) => each.value === value,
                (each) => each.matched,
              )}
              since={nameOfBefore(filters)}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}

function NoEvents({ organization }: { readonly organization: string }): ReactNode {
  return (
    <Empty title="No install in this time">
      Choose a longer time. If there is none at all, run your installer once with the hook in it: the{' '}
      <Link to="/app/$organization/checklist" params={{ organization }}>
        checklist
      </Link>{' '}
      has the lines to paste.
    </Empty>
  )
}
