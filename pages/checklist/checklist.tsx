/** The set-up: questions, what to paste, and steps that only traffic completes. Nothing can be ticked by hand. */

import { Select } from '@mantine/core'
import { skipToken, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { EXAMPLE_COMMANDS } from '../../domain/onboarding/set-up-words.ts'
import type { SetUpSnippet } from '../../domain/onboarding/snippet.ts'
import { setUpSnippets } from '../../domain/onboarding/snippets.ts'
import { isAtLeast } from '../../domain/people/roles.ts'
import { checklistQuery } from '../data/checklist.ts'
import { websitesQuery } from '../data/overview.ts'
import { idOfWebsite, resourcesQuery } from '../data/resources.ts'
import { setUpAnswersOf, setUpQuery, type SetUpAnswers } from '../data/set-up.ts'
import { ExampleNotice } from '../parts/example-notice.tsx'
import { Loading, Page, Problem } from '../parts/states.tsx'
import { useOrganization, type OwnOrganization } from '../shell/organization.tsx'
import { PageCheckForm, type WebsiteObject } from './faults.tsx'
import { Questions } from './questions.tsx'
import { StepList } from './step-list.tsx'
import { TryIt } from './try-it.tsx'

export function ChecklistPage(): ReactNode {
  const organization = useOrganization()
  return organization === null ? null : <Checklist organization={organization} />
}

function Checklist({
  organization: { id: organization, role },
}: {
  readonly organization: OwnOrganization
}): ReactNode {
  const navigate = useNavigate()
  const answers = setUpAnswersOf(useSearch({ strict: false }))
  const filter = answers.website === undefined ? {} : { website: answers.website }
  const { data, error } = useQuery(checklistQuery(organization, filter))
  const { websites, website, faults, object } = useWebsite(organization, answers.website)
  const of = website === undefined || !isAtLeast(role, 'Member') ? null : { organization, website }
  const answer = (part: SetUpAnswers): void =>
    void navigate({ to: '.', search: { ...answers, ...part }, replace: true, resetScroll: false })
  return (
    <Page
      title="Checklist"
      question="What is set up, and what comes next?"
      actions={<Choice websites={websites} chosen={answers.website} onChoose={(to) => answer({ website: to })} />}
    >
      <Problem error={error} />
      {data === undefined ? (
        error === null && <Loading what="the checklist" />
      ) : (
        <>
          <ExampleNotice until={data.exampleUntil}>
            Made-up traffic completes no step here; lists and other pages show it, too.
          </ExampleNotice>
          <Questions answers={answers} onAnswer={answer} />
          <StepList
            checklist={data}
            organization={organization}
            filter={filter}
            pasted={{ website: website ?? 'my-website', snippets: snippetsFor(answers, website) }}
            wrong={{ faults, object }}
            pageCheck={of === null ? null : <PageCheckForm of={of} page={firstPageOf(object)} />}
          />
          {of !== null && <TryIt of={of} />}
        </>
      )}
    </Page>
  )
}

/** The one that is chosen, else the first: what the texts are for, and whose faults are named. */
function useWebsite(organization: string, chosen: string | undefined) {
  const { data: websites = [] } = useQuery(websitesQuery(organization))
  const website = chosen ?? websites[0]?.id
  const { data } = useQuery({
    ...setUpQuery(organization, website ?? ''),
    ...(website === undefined ? { queryFn: skipToken } : {}),
  })
  const object = useWebsiteObject(organization, website)
  return { websites, website, faults: data?.troubles ?? [], object }
}

/** Null while a question is open. */
function snippetsFor(
  { place, tool, matching, command }: SetUpAnswers,
  website = 'my-website',
): readonly SetUpSnippet[] | null {
  if (place === undefined || tool === undefined || matching === undefined) return null
  const installCommand = command ?? EXAMPLE_COMMANDS[tool]
  return setUpSnippets({ place, tool, matching }, { baseUrl: location.origin, website, path: null, installCommand })
}

/** Null while it loads, or if there is none. */
function useWebsiteObject(organization: string, website: string | undefined): WebsiteObject | null {
  const { data: objects = [] } = useQuery(resourcesQuery(organization, 'Website'))
  const found = objects.find((object) => idOfWebsite(object) === website)
  return found === undefined ? null : { ...found, organization }
}

/** Where a look begins: the website's first address. */
function firstPageOf(object: WebsiteObject | null): string {
  const origin = object?.spec['primaryOrigin']
  return typeof origin === 'string' ? `${origin}/` : ''
}

interface ChoiceProps {
  readonly websites: readonly { readonly id: string; readonly displayName: string }[]
  readonly chosen: string | undefined
  readonly onChoose: (website: string) => void
}

/** Hidden if there is only one website. */
function Choice({ websites, chosen, onChoose }: ChoiceProps): ReactNode {
  if (websites.length < 2) return null
  return (
    <Select
      aria-label="Website"
      placeholder="All websites"
      clearable
      data-filter
      data={websites.map(({ id, displayName }) => ({ value: id, label: displayName }))}
      value={chosen ?? null}
      onChange={(id) => onChoose(id ?? '')}
    />
  )
}
