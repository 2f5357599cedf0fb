/** The request that reported the install, byte for byte as in Logs. */

import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { ApiProblem } from '../data/ask.ts'
import { lineQuery } from '../data/lines.ts'
import { curlOf, prettyText } from '../parts/lines/bodies.ts'
import { CopyButton } from '../parts/copy.tsx'
import { Problem } from '../parts/states.tsx'

interface AsItCameProps {
  readonly organization: string
  readonly website: string
  readonly request: string
}

export function AsItCame({ organization, website, request }: AsItCameProps): ReactNode {
  const line = { direction: 'inbound', website, id: request } as const
  const { data, error } = useQuery({ ...lineQuery(organization, line), enabled: request !== '' })
  const isGone = request === '' || (error instanceof ApiProblem && error.status === 404)
  const text = (name: string): string => (typeof data?.[name] === 'string' ? data[name] : '')
  return (
    <section className="card raw" aria-labelledby="raw">
      <h2 id="raw">As it came</h2>
      {isGone ? (
        <p className="question">Its request is no longer kept in Logs.</p>
      ) : (
        <>
          <Problem error={error} />
          {data !== undefined && (
            <>
              <pre translate="no" tabIndex={0} aria-label="Body of the request">
                {prettyText(text('body'))}
              </pre>
              <CopyButton
                what="as curl"
                text={curlOf(
                  { method: text('method'), path: text('path'), origin: text('origin') },
                  text('body'),
                  location.origin,
                )}
              />
            </>
          )}
        </>
      )}
    </section>
  )
}
