/** For a person who is signed in and belongs to no organisation yet: they join one, or make one if the service is open. */

import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ask } from '../data/ask.ts'
import { landingPage } from '../data/new-organization.ts'
import { meQuery, type Me } from '../data/queries.ts'
import { Empty, Page, Problem } from '../parts/states.tsx'
import { Moment } from '../parts/time.tsx'
import { NewOrganization } from './new-organization.tsx'

type Invitation = Me['invitations'][number]

export function Welcome(): ReactNode {
  const { data } = useQuery(meQuery)
  if (data === undefined) return null
  const { email, invitations, mayMakeOrganizations } = data
  return (
    <Page title="Welcome" question={`You are signed in as ${email}.`}>
      {invitations.length > 0 && <InvitationList invitations={invitations} />}
      {mayMakeOrganizations && <NewOrganization />}
      {invitations.length === 0 && !mayMakeOrganizations && (
        <Empty title="You belong to no organisation yet">
          Ask an owner or an administrator of yours to invite this address. The invitation then appears here, also
          without the mail.
        </Empty>
      )}
    </Page>
  )
}

export function InvitationList({ invitations }: { readonly invitations: readonly Invitation[] }): ReactNode {
  return (
    <ul className="cards">
      {invitations.map((invitation) => (
        <InvitationCard key={invitation.id} invitation={invitation} />
      ))}
    </ul>
  )
}

function InvitationCard({ invitation }: { readonly invitation: Invitation }): ReactNode {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const accept = useMutation({
    mutationFn: () =>
      ask<JsonFrom<'acceptInvitation'>>('/api/invitations/accept', {
        method: 'POST',
        body: { invitation: invitation.id },
      }),
    async onSuccess({ organization }) {
      await queries.invalidateQueries()
      // Whatever is wrong with this read, they have joined.
      const page = await landingPage(organization).catch(() => 'overview' as const)
      await navigate({ to: `/app/$organization/${page}`, params: { organization } })
    },
  })
  return (
    <li className="card">
      <h2>
        <bdi>{invitation.organization}</bdi>
      </h2>
      <p>
        You are invited as {invitation.role}, until <Moment ms={invitation.expiresAt} />.
      </p>
      <Problem error={accept.error} />
      <Button loading={accept.isPending} onClick={() => accept.mutate()}>
        Join
      </Button>
    </li>
  )
}
