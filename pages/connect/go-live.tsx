/** A destination that was just connected: it validates, until somebody lets it count. */

import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { PROVIDER_DESCRIPTORS } from '../../domain/providers/index.ts'
import type { StoredResource } from '../data/resources.ts'
import { Problem } from '../parts/states.tsx'
import { mayChange } from '../resources/rights.ts'
import { forgetLists } from '../resources/use-save.ts'
import type { OwnOrganization } from '../shell/organization.tsx'
import { goLive, type Guided } from './connect-data.ts'

interface GoLiveProps {
  readonly organization: OwnOrganization
  readonly guided: Guided
  readonly made: StoredResource
}

export function GoLive({ organization: { id, role }, guided, made }: GoLiveProps): ReactNode {
  const queries = useQueryClient()
  const { name: provider } = PROVIDER_DESCRIPTORS[guided.provider]
  const live = useMutation({ mutationFn: () => goLive(id, made), onSuccess: () => forgetLists(queries, id) })
  const { namespace, name } = made
  return (
    <section className="card good">
      <div role="status">
        <h2>{live.isSuccess ? `Installs count at ${provider} now` : `${provider} is connected, to validate only`}</h2>
      </div>
      {!live.isSuccess && (
        <p>
          Each install is tested there, and counts nowhere. Look at what the next installs get under{' '}
          <Link to="/app/$organization/deliveries" params={{ organization: id }}>
            Deliveries
          </Link>
          , then let them count.
        </p>
      )}
      <h3>Once it is live</h3>
      <ul>
        {guided.guide.after.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <Problem error={live.error} />
      <div className="buttons">
        {!live.isSuccess && mayChange(role, { kind: 'Destination', spec: made.spec }, 'mode') && (
          <Button loading={live.isPending} onClick={() => live.mutate()}>
            Go live with {provider}
          </Button>
        )}
        <Button
          variant="default"
          renderRoot={(props) => (
            <Link
              to="/app/$organization/resources/$kind/$namespace/$name"
              params={{ organization: id, kind: 'Destination', namespace, name }}
              {...props}
            />
          )}
        >
          Open the destination
        </Button>
      </div>
    </section>
  )
}
