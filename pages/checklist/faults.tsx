/** What is wrong with a step, in words: from requests that were refused, and from the source of a page. */

import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type FormEvent, type ReactNode } from 'react'

import { TROUBLE_WORDS } from '../../domain/onboarding/trouble-words.ts'
import { askForPageCheck, type OfWebsite, type SetUpFault } from '../data/set-up.ts'
import type { ResourceRow } from '../data/resources.ts'
import { Fault, PageFindings } from '../parts/page-findings.tsx'
import { Problem } from '../parts/states.tsx'
import { Clock } from '../parts/time.tsx'

/** As a list of objects has it. */
export interface WebsiteObject extends ResourceRow {
  readonly organization: string
}

interface SetUpFaultsProps {
  readonly step: string
  readonly faults: readonly SetUpFault[]
  /** Null while it loads. */
  readonly object: WebsiteObject | null
}

export function SetUpFaults({ step, faults, object }: SetUpFaultsProps): ReactNode {
  const own = faults.filter((fault) => fault.step === step)
  return (
    <div role="status">
      {own.length > 0 && (
        <ul className="faults">
          {own.map(({ trouble, origin, at, count }) => (
            <Fault key={`${trouble} ${origin ?? ''}`} words={TROUBLE_WORDS[trouble]} about={origin}>
              {origin !== null && object !== null && <WebsiteLink object={object} />}{' '}
              {at !== null && (
                <small>
                  {count > 1 ? `${count} times, last at ` : 'At '}
                  <Clock ms={at} />.
                </small>
              )}
            </Fault>
          ))}
        </ul>
      )}
    </div>
  )
}

function WebsiteLink({ object: { organization, namespace, name } }: { readonly object: WebsiteObject }): ReactNode {
  return (
    <Link
      to="/app/$organization/resources/$kind/$namespace/$name"
      params={{ organization, kind: 'Website', namespace, name }}
    >
      Open the website
    </Link>
  )
}

interface PageCheckFormProps {
  readonly of: OfWebsite
  /** Where to begin; the reader may give another address of the website. */
  readonly page: string
}

export function PageCheckForm({ of, page }: PageCheckFormProps): ReactNode {
  const [typed, setTyped] = useState<string | null>(null)
  const url = typed ?? page
  const { mutate, data, error, isPending } = useMutation({ mutationFn: (at: string) => askForPageCheck(of, at) })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    mutate(url.trim())
  }
  return (
    <form className="page-check" onSubmit={submit}>
      <div className="page-check-row">
        <TextInput
          label="No visit comes? Check a page"
          type="url"
          required
          withAsterisk={false}
          value={url}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <Button type="submit" variant="default" loading={isPending}>
          Check the page
        </Button>
      </div>
      <Problem error={error} />
      <div role="status">{data !== undefined && <PageFindings check={data} />}</div>
    </form>
  )
}
