/** A test of the set-up by the reader alone: a page view and an install that are in no figure and delivered to nobody. */

import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { askForTestMark } from '../data/checklist.ts'
import { Snippet } from '../parts/copy.tsx'
import { Problem } from '../parts/states.tsx'
import { Clock } from '../parts/time.tsx'

interface TryItProps {
  readonly organization: string
  readonly website: string
}

export function TryIt({ organization, website }: TryItProps): ReactNode {
  const { mutate, data, error, isPending } = useMutation({ mutationFn: () => askForTestMark(organization, website) })
  return (
    <section className="card" aria-labelledby="try-it">
      <h2 id="try-it">Try it without a trace in your figures</h2>
      <p>
        A test is recorded, shown in lists and counted by the quota. It is in no figure, alert or mail, and nothing is
        delivered.
      </p>
      <Problem error={error} />
      <Button loading={isPending} onClick={() => mutate()}>
        {data === undefined ? 'Make a test' : 'Make another test'}
      </Button>
      {data !== undefined && (
        <>
          <p>
            Until <Clock ms={data.expiresAt} />: open the page by its link, then add the option to the line of the hook.
          </p>
          <Snippet what="the link" text={data.link} />
          <Snippet what="the option" text={`--test ${data.mark}`} />
        </>
      )}
    </section>
  )
}
