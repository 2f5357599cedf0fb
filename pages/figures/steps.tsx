/** The steps from a visit to a first run: what each means, and the visits that reached it. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import type { FunnelCounts } from '../data/figures.ts'
import type { Bounds, FilteredFigures } from '../data/period.ts'
import { visitsOf } from './list-of.ts'

interface FunnelStep {
  readonly id: keyof FunnelCounts
  readonly title: string
  readonly means: string
}

export const STEPS: readonly FunnelStep[] = [
  { id: 'visits', title: 'Visited', means: 'Pages were viewed, without a break of half an hour' },
  { id: 'activated', title: 'Marked', means: 'The browser confirmed that it keeps the marker' },
  { id: 'copied', title: 'Copied', means: 'The install command was copied' },
  { id: 'started', title: 'Started', means: 'The installer began on a machine' },
  { id: 'installed', title: 'Installed', means: 'A machine installed the product' },
  { id: 'first_run', title: 'Ran', means: 'What was installed ran for the first time' },
]

interface StepLinkProps {
  readonly organization: string
  readonly step: FunnelStep
  readonly filters: FilteredFigures
  readonly bounds: Bounds
  readonly children: ReactNode
}

/** Links to the visits that a number of this step counts. */
export function StepLink({ organization, step, filters, bounds, children }: StepLinkProps): ReactNode {
  const search = visitsOf(bounds, filters, step.id === 'visits' ? {} : { step: step.id })
  return (
    <Link to="/app/$organization/visits" params={{ organization }} search={search}>
      {children}
    </Link>
  )
}
