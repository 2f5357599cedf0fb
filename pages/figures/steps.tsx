/** The steps from a visit to a first run: what each means, and where to find what its number counts. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import type { FunnelCounts } from '../data/figures.ts'
import type { Bounds } from '../data/period.ts'

/** `logs`: the kind of line in Logs that it counts; installs are in a separate list, by event. */
type FunnelStep = { readonly id: keyof FunnelCounts; readonly title: string; readonly means: string } & (
  { readonly logs: string } | { readonly event: string }
)

export const STEPS: readonly FunnelStep[] = [
  { id: 'visits', title: 'Visited', means: 'A page with the script was opened', logs: 'visit' },
  { id: 'activated', title: 'Marked', means: 'The browser confirmed that it keeps the marker', logs: 'activation' },
  { id: 'copied', title: 'Copied', means: 'The install command was copied, with a token in it', logs: 'handoff' },
  { id: 'started', title: 'Started', means: 'The installer began on a machine', event: 'install_started' },
  { id: 'completed', title: 'Installed', means: 'The installer came to its end', event: 'install_completed' },
  { id: 'first_run', title: 'Ran first', means: 'What was installed ran for the first time', event: 'first_run' },
]

interface StepLinkProps {
  readonly organization: string
  readonly step: FunnelStep
  readonly website: string | undefined
  readonly bounds: Bounds
  readonly className?: string
  readonly children: ReactNode
}

/** Links to what a number of this step counts. */
export function StepLink({ organization, step, website, bounds, ...link }: StepLinkProps): ReactNode {
  const shared = { ...bounds, ...(website === undefined ? {} : { website }) }
  const params = { organization }
  if ('logs' in step)
    return <Link to="/app/$organization/logs" {...{ params, search: { ...shared, kind: step.logs } }} {...link} />
  const { since: visitSince, until: visitUntil, ...one } = shared
  const search = { ...one, visitSince, visitUntil, resolution: 'matched', eventType: step.event }
  return <Link to="/app/$organization/installs" {...{ params, search }} {...link} />
}
