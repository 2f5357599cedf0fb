/** Connects a destination step by step: what to fetch where, a trial with the provider's answer, and then, as a step of its own, going live. */

import { Button, Select } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState, type FormEvent, type ReactNode } from 'react'

import type { GuideWay, ProviderGuide } from '../../domain/providers/guide.ts'
import { PROVIDER_DESCRIPTORS, PROVIDER_IDS } from '../../domain/providers/index.ts'
import { RESOURCE_API_VERSION } from '../../domain/resources/resources.ts'
import { resourcesQuery, type StoredResource } from '../data/resources.ts'
import { Snippet } from '../parts/copy.tsx'
import { Empty, Loading, NotFound, Page, Problem } from '../parts/states.tsx'
import { Unsaved } from '../parts/unsaved.tsx'
import { mayMake } from '../resources/rights.ts'
import { forgetLists } from '../resources/use-save.ts'
import { yamlOf } from '../resources/yaml.ts'
import { useOrganization, type OwnOrganization } from '../shell/organization.tsx'
import {
  connect,
  connectedSpec,
  guideTo,
  readValues,
  tryValues,
  type ConnectPlace,
  type Guided,
  type ReadValues,
  type Typed,
} from './connect-data.ts'
import { GuideFields } from './guide-fields.tsx'
import { GoLive } from './go-live.tsx'
import { TrialAnswer } from './trial-answer.tsx'

export function ConnectPage(): ReactNode {
  const organization = useOrganization()
  const { provider: asked } = useParams({ strict: false })
  if (organization === null) return null
  const provider = PROVIDER_IDS.find((each) => each === asked)
  const guide = provider === undefined ? undefined : guideTo(provider)
  if (provider === undefined || guide === undefined) return <NotFound />
  return (
    <Page
      title={`Connect ${PROVIDER_DESCRIPTORS[provider].name}`}
      question="Which values does it need, and does it take them?"
    >
      <Connect key={provider} organization={organization} guided={{ provider, guide }} />
    </Page>
  )
}

interface ConnectProps {
  readonly organization: OwnOrganization
  readonly guided: Guided
}

function Connect({ organization, guided }: ConnectProps): ReactNode {
  const { data: websites, error } = useQuery(resourcesQuery(organization.id, 'Website'))
  const [chosen, setChosen] = useState<string | null>(null)
  const [made, setMade] = useState<StoredResource | null>(null)
  if (!mayMake(organization.role, 'Destination'))
    return <Empty title="Your role does not allow this">Ask an owner or an administrator of the organisation.</Empty>
  if (websites === undefined) return error === null ? <Loading what="websites" /> : <Problem error={error} />
  const website = websites.find(({ name }) => name === chosen) ?? websites[0]
  if (website === undefined)
    return <Empty title="There is no website yet">A destination gets the installs of one.</Empty>
  if (made !== null) return <GoLive organization={organization} guided={guided} made={made} />
  return (
    <>
      <Before guide={guided.guide} organization={organization.id} />
      {websites.length > 1 && (
        <Select
          label="Website"
          description="Whose installs it gets."
          allowDeselect={false}
          data={websites.map(({ name }) => name)}
          value={website.name}
          onChange={setChosen}
        />
      )}
      <ConnectValues place={{ organization: organization.id, website, ...guided }} onMade={setMade} />
    </>
  )
}

function Before({ guide, organization }: { readonly guide: ProviderGuide; readonly organization: string }): ReactNode {
  return (
    <section className="card" aria-labelledby="before">
      <h2 id="before">Before you begin</h2>
      <ul>
        {guide.before.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <p className="question">
        Prefer all fields at once, or YAML?{' '}
        <Link to="/app/$organization/new/$kind" params={{ organization, kind: 'Destination' }}>
          The whole form
        </Link>
        .
      </p>
    </section>
  )
}

interface ConnectValuesProps {
  readonly place: ConnectPlace
  readonly onMade: (made: StoredResource) => void
}

/** A value is judged when its field is left, and all of them by a trial. */
function ConnectValues({ place, onMade }: ConnectValuesProps): ReactNode {
  const { guide, organization, website } = place
  const queries = useQueryClient()
  const [typed, setTyped] = useState<Typed>({})
  const [judged, setJudged] = useState<ReadonlySet<string>>(new Set())
  const [way, setWay] = useState<GuideWay>(guide.ways[0])
  const values = readValues(place, way, typed)
  const text = JSON.stringify([website.name, values])
  const trial = useMutation({
    mutationFn: async (wanted: ReadValues) => ({ of: text, answer: await tryValues(place, wanted) }),
  })
  const making = useMutation({
    mutationFn: () => connect(place, values),
    async onSuccess(made) {
      await forgetLists(queries, organization)
      onMade(made)
    },
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    setJudged(new Set([...guide.settings, ...way.fields].map(({ name }) => name)))
    if (Object.keys(values.faults).length === 0) trial.mutate(values)
  }
  // An answer is about the values that were tried.
  const answer = trial.data?.of === text ? trial.data.answer : null
  return (
    <form className="form" onSubmit={submit} noValidate>
      <Unsaved isChanged={Object.values(typed).some((each) => each !== '') && !making.isSuccess} />
      <GuideFields
        guide={guide}
        way={way}
        onWay={setWay}
        fields={{
          typed,
          faultOf: (name) => (judged.has(name) ? (values.faults[name] ?? null) : null),
          onType: (name, value) => setTyped((before) => ({ ...before, [name]: value })),
          onLeave: (name) => setJudged((before) => new Set(before).add(name)),
        }}
      />
      <div className="buttons">
        <Button type="submit" variant={answer === null ? 'filled' : 'default'} loading={trial.isPending}>
          Try it
        </Button>
        {answer !== null && answer.verdict !== 'refused' && (
          <Button loading={making.isPending} onClick={() => making.mutate()}>
            Connect, to validate only
          </Button>
        )}
      </div>
      <Problem error={trial.error ?? making.error} />
      {answer !== null && <TrialAnswer answer={answer} provider={place.provider} />}
      <details>
        <summary>The same as YAML</summary>
        <Snippet what="the YAML" text={connectedYaml(place, values)} />
      </details>
    </form>
  )
}

/** With a Secret that is still to be made. */
function connectedYaml({ provider, website }: ConnectPlace, { settings, secrets }: ReadValues): string {
  const name = provider.replaceAll('_', '-')
  const spec = connectedSpec({ provider, website, settings, secret: name, secrets })
  return yamlOf({ apiVersion: RESOURCE_API_VERSION, kind: 'Destination', metadata: { name }, spec })
}
