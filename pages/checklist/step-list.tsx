/** The steps of the set-up: what there is to paste, what proves that it is done, and what is wrong. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import type { SetUpSnippet } from '../../domain/onboarding/snippet.ts'
import type { Checklist as ChecklistAnswer } from '../data/checklist.ts'
import type { SetUpFault } from '../data/set-up.ts'
import { ConnectLinks } from '../connect/connect-links.tsx'
import { Snippet } from '../parts/copy.tsx'
import { SetUpFaults, type WebsiteObject } from './faults.tsx'
import { STEPS, type Step } from './steps.ts'

interface StepListProps {
  readonly organization: string
  readonly checklist: ChecklistAnswer
  readonly filter: { readonly website?: string }
  readonly pasted: PastedTexts
  readonly wrong: WrongSteps
  /** Below the step that needs it. */
  readonly pageCheck: ReactNode
}

interface PastedTexts {
  readonly website: string
  /** Null while a question is open. */
  readonly snippets: readonly SetUpSnippet[] | null
}

interface WrongSteps {
  readonly faults: readonly SetUpFault[]
  readonly object: WebsiteObject | null
}

export function StepList({ checklist, organization, filter, pasted, wrong, pageCheck }: StepListProps): ReactNode {
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
            isOpen={step === next || wrong.faults.some(({ step: of }) => of === step.id && countOf(of) === 0)}
          >
            <Pasted step={step} texts={pasted} />
            {step.id === 'provider_accepted' && <ConnectLinks organization={organization} />}
            {countOf(step.id) === 0 && <SetUpFaults step={step.id} {...wrong} />}
            {step.id === 'visit_seen' && countOf(step.id) === 0 && pageCheck}
          </StepItem>
        ))}
      </ol>
      <p className="question">
        A step becomes green by what came in over the last 30 days, by itself and within seconds.
      </p>
    </>
  )
}

interface PastedProps {
  readonly step: Step
  readonly texts: PastedTexts
}

function Pasted({ step: { snippet, pastes }, texts: { snippets, website } }: PastedProps): ReactNode {
  const own = pastes === undefined ? [] : (snippets ?? []).filter(({ step }) => step === pastes.step)
  return (
    <>
      {snippet !== undefined && <Snippet what={snippet.what} text={snippet.text(website)} />}
      {pastes !== undefined && pastes.step !== 'scan' && snippets === null && (
        <p className="open-questions">Answer the questions above: then the exact text to paste is here.</p>
      )}
      {own.map(({ what, where, text }) => (
        <div key={what + where}>
          <p className="where">{where}:</p>
          <Snippet what={what} text={text} />
        </div>
      ))}
      {snippets !== null && own.length === 0 && pastes !== undefined && pastes.none !== null && <p>{pastes.none}</p>}
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
  /** Also because something is wrong with it. */
  readonly isOpen: boolean
  /** What is there to fill in and to copy. */
  readonly children: ReactNode
}

interface CountedPeriod {
  readonly since: number
  readonly website?: string
}

function StepItem({ step, organization, period, count, isNext, isOpen, children }: StepProps): ReactNode {
  const state = count > 0 ? 'done' : isNext ? 'next' : 'later'
  return (
    <li className="step" data-state={state}>
      <details open={isOpen}>
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
