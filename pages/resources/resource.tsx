/** One object: its state, its manager, its form, and its deletion. A new object starts with an empty form. */

import { Button, Modal } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useState, type ReactNode } from 'react'

import type { ResourceKind } from '../../domain/resources/resources.ts'
import {
  isInForce,
  lastSaveQuery,
  remove,
  resourceQuery,
  type LastSave,
  type ResourceQueryRef,
  type StoredResource,
} from '../data/resources.ts'
import { Empty, Failed, Loading, NotFound, Page, Problem } from '../parts/states.tsx'
import { useOrganization, type OwnOrganization } from '../shell/organization.tsx'
import { Editor } from './editor.tsx'
import { mayMake, mayRemove } from './rights.ts'
import { State } from './state.tsx'
import { forgetLists } from './use-save.ts'
import { KINDS, originWords } from './words.ts'

export function NewResourcePage(): ReactNode {
  const organization = useOrganization()
  const { kind: given } = useParams({ strict: false })
  const words = KINDS.find(({ kind }) => kind === given)
  const navigate = useNavigate()
  if (organization === null) return null
  if (words?.made !== 'here') return <NotFound />
  const { kind, one, purpose } = words
  if (!mayMake(organization.role, kind)) return <NotForRole one={one} />
  return (
    <Page title={`New ${one}`} question={purpose}>
      <Editor
        kind={kind}
        organization={organization.id}
        stored={null}
        role={organization.role}
        onSaved={({ namespace, name }) =>
          void navigate({
            to: '/app/$organization/resources/$kind/$namespace/$name',
            params: { organization: organization.id, kind, namespace, name },
            // The form is saved, which it learns only after this.
            ignoreBlocker: true,
          })
        }
      />
    </Page>
  )
}

function NotForRole({ one }: { readonly one: string }): ReactNode {
  return (
    <Page title={`New ${one}`}>
      <Empty title="Your role does not allow this">Ask an owner or an administrator of the organisation.</Empty>
    </Page>
  )
}

export function ResourcePage(): ReactNode {
  const organization = useOrganization()
  const { kind: given, namespace = '', name = '' } = useParams({ strict: false })
  const kind = KINDS.find((each) => each.kind === given)?.kind
  if (organization === null) return null
  return kind === undefined ? (
    <NotFound />
  ) : (
    <One organization={organization} kind={kind} namespace={namespace} name={name} />
  )
}

interface OneProps {
  readonly organization: OwnOrganization
  readonly kind: ResourceKind
  readonly namespace: string
  readonly name: string
}

function One({ organization, kind, namespace, name }: OneProps): ReactNode {
  const ref = { organization: organization.id, kind, namespace, name }
  const savedAt = useQuery(lastSaveQuery(ref)).data?.sentAt
  const { data, error } = useQuery(resourceQuery(ref, savedAt))
  const saved = useLiveAfter(ref, data)
  if (data === undefined) return error === null ? <Loading what="the object" /> : <Failed error={error} />
  const { role } = organization
  const isRemoved = kind !== 'Organization' && data.readOnly.length === 0 && mayRemove(role, data)
  return (
    <Page
      title={name}
      question={`${KINDS.find((each) => each.kind === kind)?.one ?? kind} in ${namespace}`}
      actions={isRemoved && <Removal organization={organization.id} resource={data} />}
    >
      <dl className="facts">
        <dt>State</dt>
        <dd>
          <State conditions={data.conditions} />
        </dd>
        <dt>Managed by</dt>
        <dd>{originWords(data.origin)}</dd>
        <Arrival {...ref} />
      </dl>
      <p className="saved" role="status">
        {saved === null ? '' : savedText(saved)}
      </p>
      <Editor
        // Another object needs a new form.
        key={`${kind}/${namespace}/${name}`}
        kind={kind}
        role={role}
        organization={organization.id}
        stored={data}
        onSaved={() => undefined}
      />
    </Page>
  )
}

/** Of what sends something: the page that says whether it arrives. */
function Arrival({ organization, kind, namespace, name }: ResourceQueryRef): ReactNode {
  const link =
    kind === 'Webhook' ? (
      <Link to="/app/$organization/webhooks/$namespace/$name" params={{ organization, namespace, name }}>
        State, attempts and secret
      </Link>
    ) : kind === 'LogStream' ? (
      <Link to="/app/$organization/streams/$stream" params={{ organization, stream: name }}>
        State and attempts
      </Link>
    ) : null
  return (
    link !== null && (
      <>
        <dt>Does it arrive?</dt>
        <dd>{link}</dd>
      </>
    )
  )
}

/** How long it took from saving until collection went by it, as far as this browser saw it. */
function useLiveAfter(ref: ResourceQueryRef, resource: StoredResource | undefined): LastSave | null {
  const queries = useQueryClient()
  const { queryKey } = lastSaveQuery(ref)
  const { data: saved = null } = useQuery(lastSaveQuery(ref))
  const isLive = resource !== undefined && resource.version === saved?.version && isInForce(resource)
  useEffect(() => {
    if (!isLive || saved?.liveAfterMs !== null) return
    const live: LastSave = { ...saved, liveAfterMs: performance.now() - saved.sentAt }
    queries.setQueryData<LastSave | null>(queryKey, live)
  }, [isLive, saved, queries, queryKey])
  return saved
}

function savedText({ liveAfterMs }: LastSave): string {
  if (liveAfterMs === null) return 'Saved. The state above says when it is active.'
  return `Saved. Live in collection after ${Math.round(liveAfterMs).toLocaleString()} ms.`
}

function Removal({
  organization,
  resource,
}: {
  readonly organization: string
  readonly resource: StoredResource
}): ReactNode {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [isAsking, setIsAsking] = useState(false)
  const removal = useMutation({
    mutationFn: () => remove(organization, resource),
    async onSuccess() {
      await navigate({ to: '/app/$organization/resources', params: { organization } })
      await forgetLists(queries, organization)
    },
  })
  return (
    <>
      <Button variant="default" onClick={() => setIsAsking(true)}>
        Remove
      </Button>
      <Modal
        opened={isAsking}
        onClose={() => setIsAsking(false)}
        title={`Remove ${resource.name}?`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <p>What refers to it stops working. What was collected stays until its time is over.</p>
        <Problem error={removal.error} />
        <Button color="red" loading={removal.isPending} onClick={() => removal.mutate()}>
          Remove
        </Button>
      </Modal>
    </>
  )
}
