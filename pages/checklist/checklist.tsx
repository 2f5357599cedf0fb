/** Checklist: what is set up and what comes next. Only traffic completes a step; nothing can be ticked by hand. */

import { Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'

import { checklistQuery, websiteFilterOf, type Checklist as ChecklistAnswer } from '../data/checklist.ts'
import { websitesQuery } from '../data/overview.ts'
import { Snippet } from '../parts/copy.tsx'
import { ExampleNotice } from '../parts/example-notice.tsx'
import { Loading, Page, Problem } from '../parts/states.tsx'
import { useOrganization } from '../shell/organization.tsx'
import { TryIt } from './try-it.tsx'
import { STEPS, type SnippetPlace, type Step } from './steps.ts'

export function ChecklistPage(): ReactNode {
  const organization = useOrganization()
  return organization === null ? null : <Checklist organization={organization.id} />
}

function Checklist({ organization }: { readonly organization: string }): ReactNode {
  const filter = websiteFilterOf(useSearch({ strict: false }))
  const { data, error } = useQuery(checklistQuery(organization, filter))
  const { data: websites = [] } = useQuery(websitesQuery(organization))
  const website = filter.website ?? websites[0]?.id ?? 'my-website'
  const [installCommand, setInstallCommand] = useState(EXAMPLE_COMMAND)
  return (
    <Page
      title="Checklist"
      question="What is set up, and what comes next?"
      actions={<Choice websites={websites} filter={filter} />}
    >
      <Problem error={error} />
      {data === undefined ? (
        error === null && <Loading what="the checklist" />
      ) : (
        <>
          <ExampleNotice until={data.exampleUntil}>
            Made-up traffic completes no step here; lists and other pages show it, too.
          </ExampleNotice>
          <Steps
            checklist={data}
            organization={organization}
            filter={filter}
            place={{ service: location.origin, website, installCommand }}
            onInstallCommand={setInstallCommand}
          />
          {websites.length > 0 && <TryIt organization={organization} website={website} />}
        </>
      )}
    </Page>
  )
}

/** Until the reader has typed another one. */
const EXAMPLE_COMMAND = 'curl -fsSL https://example.com/install.sh | sh'

interface ChoiceProps {
  readonly websites: readonly { readonly id: string; readonly displayName: string }[]
  readonly filter: { readonly website?: string }
}

/** Hidden if there is only one website. */
function Choice({ websites, filter }: ChoiceProps): ReactNode {
  const navigate = useNavigate()
  if (websites.length < 2) return null
  return (
    <Select
      aria-label="Website"
      placeholder="All websites"
      clearable
      data-filter
      data={websites.map(({ id, displayName }) => ({ value: id, label: displayName }))}
      value={filter.website ?? null}
      onChange={(id) => void navigate({ to: '.', search: id === null ? {} : { website: id }, replace: true })}
    />
  )
}

interface StepsProps {
  readonly checklist: ChecklistAnswer
  readonly organization: string
  readonly filter: { readonly website?: string }
  readonly place: SnippetPlace
  readonly onInstallCommand: (command: string) => void
}

function Steps({ checklist, organization, filter, place, onInstallCommand }: StepsProps): ReactNode {
  const { lines, since } = checklist
  const countOf = (id: string): number => lines.find((line) => line.id === id)?.count ?? 0
  const done = STEPS.filter(({ id }) => countOf(id) > 0).length
  const next = STEPS.find(({ id }) => countOf(id) === 0)
  return (
    <>
      <div className="progress">
        <progress value={done} max={STEPS.length} aria-label="Steps that are done" />
        <p role="status">
          {done} of {STEPS.length} steps are done
        </p>
      </div>
      {next === undefined && (
        <p className="card good">
          Everything works.{' '}
          <Link to={'/app/$organization/live'} params={{ organization }}>
            Watch what comes in
          </Link>
          .
        </p>
      )}
      <ol className="steps">
        {STEPS.map((step) => (
          <StepItem
            key={step.id}
            step={step}
            organization={organization}
            period={{ since, ...filter }}
            count={countOf(step.id)}
            isNext={step === next}
          >
            {step.asksForCommand === true && (
              <TextInput
                label="Your install command"
                value={place.installCommand}
                spellCheck={false}
                onChange={({ currentTarget }) => onInstallCommand(currentTarget.value)}
              />
            )}
            {step.snippet !== undefined && <Snippet what={step.snippet.what} text={step.snippet.text(place)} />}
          </StepItem>
        ))}
      </ol>
      <p className="question">
        A step becomes green by what came in over the last 30 days, by itself and within seconds.
      </p>
    </>
  )
}

interface ProofProps {
  readonly step: Step
  readonly organization: string
  /** In which it counts, and the website. */
  readonly period: CountedPeriod
  readonly count: number
}

interface StepProps extends ProofProps {
  readonly isNext: boolean
  /** What is there to fill in and to copy. */
  readonly children: ReactNode
}

interface CountedPeriod {
  readonly since: number
  readonly website?: string
}

function StepItem({ step, organization, period, count, isNext, children }: StepProps): ReactNode {
  const state = count > 0 ? 'done' : isNext ? 'next' : 'later'
  return (
    <li className="step" data-state={state}>
      <details open={isNext}>
        <summary>
          <h2>{step.title}</h2>
        </summary>
        <p>{step.how}</p>
        {children}
      </details>
      {state !== 'later' && (
        <p className="step-state">
          {count > 0 ? (
            <Proof step={step} organization={organization} period={period} count={count} />
          ) : (
            'waiting for it'
          )}
        </p>
      )}
    </li>
  )
}

/** The number leads to the visits or installs that it counts; of what is no list of its own, to where it stands. */
function Proof({ step, organization, period, count }: ProofProps): ReactNode {
  const words = `${count.toLocaleString()} ${step.counted[count === 1 ? 0 : 1]}`
  const params = { organization }
  switch (step.proof.list) {
    case 'visits':
      return (
        <Link to="/app/$organization/visits" params={params} search={{ ...period, ...step.proof.more }}>
          {words}
        </Link>
      )
    case 'installs':
      return (
        <Link to="/app/$organization/installs" params={params} search={{ ...period, ...step.proof.more }}>
          {words}
        </Link>
      )
    case 'deliveries': {
      const { website } = period
      const search = {
        period: 'Last28Days' as const,
        status: 'delivered',
        ...(website === undefined ? {} : { website }),
      }
      return (
        <>
          {words} for the installs of 30 days.{' '}
          <Link to="/app/$organization/deliveries/list" params={params} search={search}>
            All that was delivered in 30 days
          </Link>
        </>
      )
    }
    case 'resources':
      return (
        <Link to="/app/$organization/resources" params={params}>
          {words}
        </Link>
      )
  }
}
