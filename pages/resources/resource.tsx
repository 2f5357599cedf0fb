/** One object: its state, its manager, its form, and its deletion. A new object starts with an empty form. */

import { Button, Modal } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
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
import { Failed, Loading, NotFound, Page, Problem } from '../parts/states.tsx'
import { useOrganization, type OwnOrganization } from '../shell/organization.tsx'
import { Editor } from './editor.tsx'
import { State } from './state.tsx'
import { KINDS, originWords } from './words.ts'

export function NewResourcePage(): ReactNode {
  const organization = useOrganization()
  const { kind: given } = useParams({ strict: false })
  const words = KINDS.find(({ kind }) => kind === given)
  const navigate = useNavigate()
  if (organization === null) return null
  if (words?.isMade !== true) return <NotFound />
  const { kind, one, purpose } = words
  return (
    <Page title={`New ${one}`} question={purpose}>
      <Editor
        {...{ kind, organization: organization.id, stored: null, mayWrite: organization.role !== 'Viewer' }}
        onSaved={({ namespace, name }) =>
          void navigate({
            to: '/app/$organization/resources/$kind/$namespace/$name',
            params: { organization: organization.id, kind, namespace, name },
          })
        }
      />
    </Page>
  )
}

export function ResourcePage(): ReactNode {
  const organization = useOrganization()
  const { kind: given, namespace = '', name = '' } = useParams({ strict: false })
  const kind = KINDS.find((each) => each.kind === given)?.kind
  if (organization === null) return null
  return kind === undefined ? <NotFound /> : <One {...{ organization, kind, namespace, name }} />
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
  const mayWrite = organization.role !== 'Viewer'
  const isManagedElsewhere = data.readOnly.length > 0
  return (
    <Page
      title={name}
      question={`${KINDS.find((each) => each.kind === kind)?.one ?? kind} in ${namespace}`}
      actions={
        mayWrite &&
        kind !== 'Organization' &&
        !isManagedElsewhere && <Removal organization={organization.id} resource={data} />
      }
    >
      <dl className="facts">
        <dt>State</dt>
        <dd>
          <State conditions={data.conditions} />
        </dd>
        <dt>Managed by</dt>
        <dd>{originWords(data.origin)}</dd>
      </dl>
      <p className="saved" role="status">
        {saved === null ? '' : savedText(saved)}
      </p>
      <Editor
        // Another object needs a new form.
        key={`${kind}/${namespace}/${name}`}
        {...{ kind, mayWrite, organization: organization.id, stored: data }}
        onSaved={() => undefined}
      />
    </Page>
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
  if (liveAfterMs === null) return 'Saved. The state above says when it is in force.'
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
      await queries.invalidateQueries({ queryKey: ['resources', organization] })
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
