/** The overview of a period without an install: the next thing to set up, or the way to a longer period if all is set up. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { STEPS, type Step } from '../checklist/steps.ts'
import { websitesQuery, type Overview } from '../data/overview.ts'
import { Snippet } from '../parts/copy.tsx'
import { Empty } from '../parts/states.tsx'
import { ExampleFrame } from './example-frame.tsx'

type OpenChecklist = NonNullable<Overview['checklist']>

interface FirstStepsProps {
  readonly organization: string
  readonly website: string | undefined
  readonly checklist: OpenChecklist
}

/** What is to be set up next; null if an install was matched already, so that a longer time may show it. */
export function openStepOf(checklist: OpenChecklist): Step | null {
  const done = doneSteps(checklist)
  return done.has('install_matched') ? null : (STEPS.find(({ id }) => !done.has(id)) ?? null)
}

function doneSteps({ lines }: OpenChecklist): ReadonlySet<string> {
  return new Set(lines.filter(({ isDone }) => isDone).map(({ id }) => id))
}

export function FirstSteps({ organization, website, checklist }: FirstStepsProps): ReactNode {
  const done = doneSteps(checklist)
  const next = openStepOf(checklist)
  if (next === null) return <Empty title="No install in this time">Choose a longer time: everything is set up.</Empty>
  return (
    <div className="first-steps">
      <NextStep step={next} organization={organization} website={website} />
      <section aria-labelledby="other-steps">
        <h2 id="other-steps">All steps</h2>
        <ol className="steps">
          {STEPS.map(({ id, title }) => (
            <li key={id} className="step" data-state={done.has(id) ? 'done' : id === next.id ? 'next' : 'later'}>
              <h3>{title}</h3>
              <p className="step-state">{done.has(id) ? 'done' : id === next.id ? 'waiting for it' : ''}</p>
            </li>
          ))}
        </ol>
        <p className="question">
          A step becomes green by what comes in, by itself and within seconds. The{' '}
          <Link to="/app/$organization/checklist" params={{ organization }}>
            checklist
          </Link>{' '}
          has the text to paste for each, and a way to try it.
        </p>
      </section>
      <ExampleFrame />
    </div>
  )
}

interface NextStepProps {
  readonly step: Step
  readonly organization: string
  readonly website: string | undefined
}

function NextStep({ step, organization, website }: NextStepProps): ReactNode {
  const { data: websites = [] } = useQuery(websitesQuery(organization))
  const named = website ?? websites[0]?.id ?? 'my-website'
  return (
    <section className="card next-step" aria-labelledby="next-step">
      <p className="question">Next step</p>
      <h2 id="next-step">{step.title}</h2>
      <p>{step.how}</p>
      {step.snippet !== undefined && <Snippet what={step.snippet.what} text={step.snippet.text(named)} />}
      {step.snippet === undefined && step.pastes !== undefined && (
        <p>
          <Link to="/app/$organization/checklist" params={{ organization }}>
            Say where your install command stands
          </Link>
          : the exact text to paste is there.
        </p>
      )}
      <p className="waits" role="status">
        Waiting for it …
      </p>
    </section>
  )
}
