/** Your account: who is signed in, invitations, this session, and how to end it or all of them. */

import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { meQuery, type Me } from '../data/queries.ts'
import { Loading, Page, Problem } from '../parts/states.tsx'
import { Moment } from '../parts/time.tsx'
import { signOut } from '../shell/account-menu.tsx'
import { InvitationList } from '../shell/welcome.tsx'
import { WeeklyMails } from './weekly-mail.tsx'

export function AccountPage(): ReactNode {
  const { data, error } = useQuery(meQuery)
  return (
    <Page title="Your account" question="Who am I here, what am I mailed, and how do I leave?">
      <Problem error={error} />
      {data === undefined ? error === null && <Loading what="your account" /> : <Account me={data} />}
    </Page>
  )
}

function Account({ me }: { readonly me: Me }): ReactNode {
  return (
    <>
      <dl className="facts">
        <dt>Address</dt>
        <dd translate="no">{me.email}</dd>
        <dt>Organisations</dt>
        <dd>
          <ul>
            {me.organizations.map(({ id, displayName, role }) => (
              <li key={id}>
                <bdi>{displayName}</bdi> ({role})
              </li>
            ))}
          </ul>
        </dd>
      </dl>
      {me.invitations.length > 0 && (
        <section>
          <h2>Invitations</h2>
          <InvitationList invitations={me.invitations} />
        </section>
      )}
      {me.organizations.length > 0 && <WeeklyMails organizations={me.organizations} />}
      <Session me={me} />
    </>
  )
}

const WAYS: Readonly<Record<Me['signedInBy'], string>> = {
  mail: 'by a link from a mail',
  oidc: 'through the identity provider',
  link: 'by a link from the operator of the service',
}

function Session({ me: { signedInAt, signedInBy, sessionEndsAt } }: { readonly me: Me }): ReactNode {
  const here = useMutation({ mutationFn: () => signOut() })
  const everywhere = useMutation({ mutationFn: () => signOut(true) })
  return (
    <section className="card" aria-labelledby="session">
      <h2 id="session">This session</h2>
      <dl className="facts">
        <dt>Begun</dt>
        <dd>
          <Moment ms={signedInAt} />, {WAYS[signedInBy]}
        </dd>
        <dt>Ends</dt>
        <dd>
          <Moment ms={sessionEndsAt} />, if you do not end it before
        </dd>
      </dl>
      <p>Sessions of yours in other browsers are not listed. If you sign out everywhere, they end too.</p>
      <Problem error={here.error ?? everywhere.error} />
      <div className="buttons">
        <Button variant="default" loading={here.isPending} onClick={() => here.mutate()}>
          Sign out here
        </Button>
        <Button variant="default" loading={everywhere.isPending} onClick={() => everywhere.mutate()}>
          Sign out everywhere
        </Button>
      </div>
    </section>
  )
}
