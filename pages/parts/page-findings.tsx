/** What is wrong, in words, and what a look at the source of a page shows. */

import type { ReactNode } from 'react'

import { PAGE_WORDS, type FaultWords } from '../../domain/onboarding/trouble-words.ts'
import type { PageCheck } from '../data/set-up.ts'

interface FaultProps {
  readonly words: FaultWords
  readonly isGood?: boolean
  /** What it is about, as it came from outside. */
  readonly about?: string | null
  readonly children?: ReactNode
}

export function Fault({ words: { title, advice }, isGood = false, about = null, children }: FaultProps): ReactNode {
  return (
    <li className="fault" data-good={isGood}>
      <strong>{title}</strong>
      {about !== null && (
        <>
          {': '}
          <bdi translate="no">{about}</bdi>
        </>
      )}
      <span>
        {advice} {children}
      </span>
    </li>
  )
}

/** Of a check: why the page could not be read, or what its source says. */
export function PageFindings({ check }: { readonly check: PageCheck }): ReactNode {
  const { failure, status, findings } = check
  return (
    <ul className="faults">
      {failure !== null && (
        <Fault words={PAGE_WORDS[failure]}>{status !== null && <small>It answered {status}.</small>}</Fault>
      )}
      {findings.map((finding) => (
        <Fault key={finding} words={PAGE_WORDS[finding]} isGood={finding === 'fine'} />
      ))}
    </ul>
  )
}
