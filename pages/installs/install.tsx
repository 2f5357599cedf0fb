/** One install: why it was matched or not, as a picture and as a table, with the providers' exact answers. */

import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { installPath, installQuery, type InstallDetail, type InstallAddress } from '../data/installs.ts'
import { TakeAlong } from '../parts/copy.tsx'
import { EVENT_WORDS, reasonWords } from '../parts/install-words.ts'
import { Failed, Loading, Page } from '../parts/states.tsx'
import { Moment } from '../parts/time.tsx'
import { useOrganization } from '../shell/organization.tsx'
import { AsItCame } from './as-it-came.tsx'
import { Deliveries } from './deliveries.tsx'
import { MachineFacts, VisitSection } from './facts.tsx'
import { MomentTable } from './moments.tsx'
import { Picture } from './picture.tsx'
import { sentenceOfInstall } from './sentence.ts'
import { storyOf } from './story.ts'

export function InstallPage(): ReactNode {
  const organization = useOrganization()
  const { website, event } = useParams({ strict: false })
  if (organization === null || website === undefined || event === undefined) return null
  return <OneInstall organization={organization.id} website={website} event={event} />
}

function OneInstall(key: InstallAddress): ReactNode {
  const { data, error } = useQuery(installQuery(key))
  if (data !== undefined) return <Explained install={key} detail={data} />
  return error === null ? <Loading what="the install" /> : <Failed error={error} />
}

interface ExplainedProps {
  readonly install: InstallAddress
  readonly detail: InstallDetail
}

function Explained({ install: key, detail }: ExplainedProps): ReactNode {
  const { install } = detail
  const story = storyOf(detail)
  const sentence = sentenceOfInstall(detail)
  return (
    <Page title={titleOf(detail)} actions={<TakeAlong file={installPath(key)} name={`${install.event_id}.json`} />}>
      <p className="when">
        <Moment ms={install.received_at_ms} /> · {key.website} ·{' '}
        <Link to="/app/$organization/logs" params={key} search={{ reference: install.event_id }}>
          Its lines of Logs
        </Link>
      </p>
      <p className={`verdict ${install.resolution}`}>{sentence}</p>
      {install.resolution === 'unmatched' && <Advice reason={install.reason} />}
      <Picture story={story} sentence={sentence} nowMs={Date.now()} />
      <div className="pair">
        <VisitSection story={story} />
        <MachineFacts install={install} organization={key.organization} />
      </div>
      <Deliveries organization={key.organization} lanes={story.deliveries} />
      <MomentTable story={story} organization={key.organization} event={install.event_id} />
      <AsItCame organization={key.organization} website={install.website} request={install.request_id} />
    </Page>
  )
}

function titleOf({ install }: InstallDetail): string {
  const event = EVENT_WORDS[install.event_type] ?? install.event_type
  return install.install_path === '' ? event : `${event}: ${install.install_path}`
}

function Advice({ reason }: { readonly reason: string }): ReactNode {
  const { advice } = reasonWords(reason)
  if (advice === '') return null
  return (
    <p className="advice">
      <strong>What to do</strong> {advice}
    </p>
  )
}
