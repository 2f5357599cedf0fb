/** A test of the set-up by the reader alone: what they do in their own browser is followed here, and what is missing is named. */

import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState, type ReactNode } from 'react'

import { TEST_MARK_MS } from '../../domain/collection/test-mark.ts'
import { askForTestMark, type TestMark } from '../data/checklist.ts'
import { askForPageCheck, isScriptBlocked, setUpQuery, type OfWebsite, type SetUpState } from '../data/set-up.ts'
import { Snippet } from '../parts/copy.tsx'
import { PageFindings } from '../parts/page-findings.tsx'
import { Problem } from '../parts/states.tsx'
import { Clock } from '../parts/time.tsx'

export function TryIt({ of }: { readonly of: OfWebsite }): ReactNode {
  const { organization, website } = of
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
      {data !== undefined && <Trial key={data.mark} of={of} mark={data} />}
    </section>
  )
}

/** A visit arrives within seconds: two for the cookies of tags, and what the network and the facts take. */
const PATIENCE_MS = 20_000

interface TrialProps {
  readonly of: OfWebsite
  readonly mark: TestMark
}

function Trial({ of, mark: { mark, link, expiresAt } }: TrialProps): ReactNode {
  const { data } = useQuery(setUpQuery(of.organization, of.website))
  const [isOpened, setIsOpened] = useState(false)
  const startedAt = expiresAt - TEST_MARK_MS
  const came = cameSince(data, startedAt)
  return (
    <>
      <ol className="trial">
        <li data-done={came.visit}>
          <a href={link} target="_blank" rel="noopener" onClick={() => setIsOpened(true)}>
            Open the page
          </a>{' '}
          in this browser, until <Clock ms={expiresAt} />. <Came is={came.visit}>Its visit has come.</Came>
        </li>
        <li data-done={came.handoff}>
          Copy the command there. <Came is={came.handoff}>The page has asked for its token.</Came>
        </li>
        <li data-done={came.install}>
          Run it, with this option on the line of the hook. <Came is={came.install}>The install has come.</Came>
          <Snippet what="the option" text={`--test ${mark}`} />
        </li>
      </ol>
      {isOpened && !came.visit && <Missing of={of} page={link} />}
    </>
  )
}

function Came({ is, children }: { readonly is: boolean; readonly children: ReactNode }): ReactNode {
  return <span role="status">{is && <strong>{children}</strong>}</span>
}

function cameSince(state: SetUpState | undefined, sinceMs: number) {
  const is = (at: number | null | undefined): boolean => typeof at === 'number' && at >= sinceMs
  const { visit, handoff, install } = state?.seen ?? {}
  return { visit: is(visit), handoff: is(handoff), install: is(install) }
}

/** Looks for what sends no request, once a visit is overdue. */
function Missing({ of, page }: { readonly of: OfWebsite; readonly page: string }): ReactNode {
  const { mutate, data, error } = useMutation({
    mutationFn: async () => ({
      isBlocked: await isScriptBlocked(),
      check: await askForPageCheck(of, page.replace(/#.*/, '')),
    }),
  })
  useEffect(() => {
    const timer = setTimeout(() => mutate(), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [mutate])
  return (
    <div role="status">
      <Problem error={error} />
      {data === undefined ? (
        <p>Waiting for the visit …</p>
      ) : (
        <>
          <p>No visit has come. What a look from here shows:</p>
          {data.isBlocked && (
            <p className="fault">
              <strong>An extension of this browser keeps the script away</strong>
              <span>
                It blocks the script on this page, too. Switch it off for a test; such visitors copy plain commands.
              </span>
            </p>
          )}
          <PageFindings check={data.check} />
        </>
      )}
    </div>
  )
}
