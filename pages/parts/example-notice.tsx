/** Says that figures count made-up traffic. */

import type { ReactNode } from 'react'

import { EXAMPLE_DATA } from '../../domain/figures/example-data.ts'

interface ExampleNoticeProps {
  /** Unix ms at which the made-up traffic ends; null: there is none. */
  readonly until: number | null
  readonly children?: ReactNode
}

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeZone: 'UTC' })

export function ExampleNotice({ until, children }: ExampleNoticeProps): ReactNode {
  if (until === null) return null
  return (
    <div className="notice example" role="note">
      <p>
        {children ?? 'These numbers count made-up traffic, too.'} It was filled in to have something to look at, ends
        before {DAY.format(until)} (UTC), and has pages on{' '}
        <code translate="no">{new URL(EXAMPLE_DATA.origin).host}</code>.
      </p>
    </div>
  )
}
