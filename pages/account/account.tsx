/** Your account: who is signed in, invitations, and ending sessions. */

import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { meQuery } from '../data/queries.ts'
import { Loading, Page, Problem } from '../parts/states.tsx'
import { Moment } from '../parts/time.tsx'
import { signOut } from '../shell/account-menu.tsx'
import { InvitationList } from '../shell/welcome.tsx'

export function AccountPage(): ReactNode {
  const { data, error } = useQuery(meQuery)
  const everywhere = useMutation({ mutationFn: () => signOut(true) })
  return (
    <Page title="Your account" question="Where am I signed in?">
      <Problem error={error} />
      {data === undefined ? (
        error === null && <Loading what="your account" />
      ) : (
        <>
          <dl className="facts">
            <dt>Address</dt>
            <dd>{data.email}</dd>
            <dt>This session ends</dt>
            <dd>
              <Moment ms={data.sessionEndsAt} />
            </dd>
            <dt>Organisations</dt>
            <dd>
              <ul>
                {data.organizations.map(({ id, displayName, role }) => (
                  <li key={id}>
                    {displayName} ({role})
                  </li>
                ))}
              </ul>
            </dd>
          </dl>
          {data.invitations.length > 0 && <InvitationList invitations={data.invitations} />}
          <section className="card">
            <h2>Sessions</h2>
            <p>End every session of yours, in all browsers. This one ends too.</p>
            <Problem error={everywhere.error} />
            <Button variant="default" loading={everywhere.isPending} onClick={() => everywhere.mutate()}>
              Sign out everywhere
            </Button>
          </section>
        </>
      )}
    </Page>
  )
}
