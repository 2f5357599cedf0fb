/** What is wrong with a step, in words: from requests that were refused, and from the source of a page. */

import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type FormEvent, type ReactNode } from 'react'

import { PAGE_WORDS, TROUBLE_WORDS, type FaultWords } from '../../domain/onboarding/trouble-words.ts'
import { askForPageCheck, type OfWebsite, type PageCheck, type SetUpFault } from '../data/set-up.ts'
import type { ResourceRow } from '../data/resources.ts'
import { Problem } from '../parts/states.tsx'
import { Clock } from '../parts/time.tsx'

interface FaultProps {
  readonly words: FaultWords
  readonly isGood?: boolean
  /** What it is about, as it came from outside. */
  readonly about?: string | null
  readonly children?: ReactNode
}

function Fault({ words: { title, advice }, isGood = false, about = null, children }: FaultProps): ReactNode {
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
