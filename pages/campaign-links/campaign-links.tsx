/** Campaign links: the address of an advertisement or a post, whose landing page is checked to count visits. */

import { Autocomplete, Button, Select, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'

import {
  campaignLink,
  type CampaignLink,
  type LinkPart,
  type CampaignParts,
} from '../../domain/onboarding/campaign-link.ts'
import { isAtLeast } from '../../domain/people/roles.ts'
import { websitesQuery } from '../data/overview.ts'
import { askForPageCheck, type OfWebsite } from '../data/set-up.ts'
import { Snippet } from '../parts/copy.tsx'
import { Fault, PageFindings } from '../parts/page-findings.tsx'
import { Empty, Page, Problem } from '../parts/states.tsx'
import { useOrganization, type OwnOrganization } from '../shell/organization.tsx'

export function CampaignLinksPage(): ReactNode {
  const organization = useOrganization()
  return organization === null ? null : <CampaignLinks organization={organization} />
}

interface LinkDraft extends CampaignParts {
  readonly page: string
}

const EMPTY_DRAFT: LinkDraft = { page: '', source: '', medium: '', campaign: '', term: '', content: '' }

type LinkWebsites = readonly { readonly id: string; readonly displayName: string }[]

function CampaignLinks({ organization: { id, role } }: { readonly organization: OwnOrganization }): ReactNode {
  const { data: websites, error } = useQuery(websitesQuery(id))
  return (
    <Page title="Campaign links" question="Which address do I put into an advertisement, a post or a mail?">
      <Problem error={error} />
      {websites?.length === 0 && (
        <Empty title="There is no website yet">Add one first: a link leads to a page that counts its visits.</Empty>
      )}
      {websites !== undefined && websites.length > 0 && (
        <Builder organization={id} websites={websites} mayCheck={isAtLeast(role, 'Member')} />
      )}
    </Page>
  )
}

interface BuilderProps {
  readonly organization: string
  readonly websites: LinkWebsites
  /** The reader may have pages fetched. */
  readonly mayCheck: boolean
}

function Builder({ organization, websites, mayCheck }: BuilderProps): ReactNode {
  const [chosen, setChosen] = useState<string | null>(null)
  const [draft, setDraft] = useState(EMPTY_DRAFT)
  const website = chosen ?? websites[0]?.id ?? ''
  const link = campaignLink(draft.page, draft)
  return (
    <div className="campaign-links">
      <section className="card" aria-label="What it says">
        {websites.length > 1 && (
          <Select
            label="Website"
            allowDeselect={false}
            data={websites.map(({ id, displayName }) => ({ value: id, label: displayName }))}
            value={website}
            onChange={setChosen}
          />
        )}
        <LinkForm draft={draft} link={link} onChange={(part) => setDraft({ ...draft, ...part })} />
      </section>
      <Made link={link} of={mayCheck ? { organization, website } : null} page={draft.page} />
    </div>
  )
}

interface FieldWords {
  readonly part: LinkPart
  readonly label: string
  readonly description: string
  readonly placeholder: string
}

const FIELDS: readonly FieldWords[] = [
  { part: 'source', label: 'Source', description: 'Who sends the visitors', placeholder: 'newsletter' },
  { part: 'medium', label: 'Medium', description: 'In what way', placeholder: 'email' },
  { part: 'campaign', label: 'Campaign', description: 'What they saw', placeholder: 'spring-launch' },
  {
    part: 'term',
    label: 'Term',
    description: 'The keyword that was paid for, if any',
    placeholder: 'install attribution',
  },
  { part: 'content', label: 'Content', description: 'Which of several advertisements', placeholder: 'blue-button' },
]

/** With these, figures and Google Analytics know the channel. */
const MEDIUMS = ['cpc', 'display', 'email', 'social', 'paid_social', 'affiliate', 'referral', 'video', 'sms', 'audio']

interface LinkFormProps {
  readonly draft: LinkDraft
  readonly link: CampaignLink
  readonly onChange: (part: Partial<LinkDraft>) => void
}

function LinkForm({ draft, link, onChange }: LinkFormProps): ReactNode {
  const because = link.kind === 'unusable' ? link.because : null
  return (
    <>
      <TextInput
        label="Landing page"
        description="Where the link leads, as you see it in the browser"
        placeholder="https://acme.dev/install"
        type="url"
        value={draft.page}
        error={because === 'page' && draft.page !== '' ? 'Give the whole address, with https://' : null}
        onChange={({ currentTarget }) => onChange({ page: currentTarget.value })}
      />
      {FIELDS.map(({ part, ...words }) => {
        const about = {
          ...words,
          value: draft[part],
          error: because === part ? 'This is too long to be counted' : null,
        }
        return part === 'medium' ? (
          <Autocomplete key={part} {...about} data={MEDIUMS} onChange={(medium) => onChange({ medium })} />
        ) : (
          <TextInput
            key={part}
            {...about}
            onChange={({ currentTarget }) => onChange({ [part]: currentTarget.value })}
          />
        )
      })}
      <p className="hint">Capitals matter: Newsletter and newsletter count as two sources.</p>
    </>
  )
}

interface MadeProps {
  readonly link: CampaignLink
  /** Null: the reader may not have pages fetched. */
  readonly of: OfWebsite | null
  readonly page: string
}

function Made({ link, of, page }: MadeProps): ReactNode {
  return (
    <section className="card" aria-labelledby="made">
      <h2 id="made">The link</h2>
      {link.kind === 'unusable' ? (
        <p className="question">It appears here once there is a landing page.</p>
      ) : (
        <>
          <Snippet what="the link" text={link.url} />
          <p role="status">
            Its visits count under the channel <strong>{link.channel}</strong>.
          </p>
          {of !== null && <LandingCheck key={`${of.website} ${page}`} of={of} page={page} />}
        </>
      )}
    </section>
  )
}

const FINE = { title: 'Visits of this page are counted', advice: 'Its source has the script of this website.' }

/** Only the page that shows the command needs a mark; a landing page is good without. */
function LandingCheck({ of, page }: { readonly of: OfWebsite; readonly page: string }): ReactNode {
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => askForPageCheck(of, page.trim().replace(/#.*/, '')),
  })
  const findings = data?.findings.filter((each) => each !== 'no_command' && each !== 'fine') ?? []
  return (
    <>
      <Button variant="default" loading={isPending} onClick={() => mutate()}>
        Check the landing page
      </Button>
      <Problem error={error} />
      <div role="status">
        {data !== undefined &&
          (data.failure === null && findings.length === 0 ? (
            <ul className="faults">
              <Fault words={FINE} isGood />
            </ul>
          ) : (
            <PageFindings check={{ ...data, findings }} />
          ))}
      </div>
    </>
  )
}
