/** Paying for a plan; if this service has no billing, who sets it. */

import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { billingQuery, openCheckout, openBillingPortal, bringPlanUpToDate } from '../data/billing.ts'
import { meQuery } from '../data/queries.ts'
import { Problem } from '../parts/states.tsx'
import type { OwnOrganization } from '../shell/organization.tsx'

export function BillingPart({ organization }: { readonly organization: OwnOrganization }): ReactNode {
  const { data: me } = useQuery(meQuery)
  const { data, error } = useQuery({ ...billingQuery(organization.id), enabled: me?.hasBilling === true })
  if (me?.hasBilling === false) return <NotSold />
  if (data === undefined) return <Problem error={error} />
  if (data.managedBy !== null) return <BillingText text={data.message} />
  if (organization.role !== 'Owner')
    return <BillingText text="Owners of the organisation choose and pay for its plan." />
  const others = data.offers.filter((plan) => plan !== data.plan)
  return (
    <section className="billing">
      <h2>Billing</h2>
      <div className="actions">
        {!data.isCustomer &&
          others.map((plan) => (
            <LeaveButton key={plan} label={`Subscribe to ${plan}`} lead={() => openCheckout(organization.id, plan)} />
          ))}
        {data.isCustomer && (
          <LeaveButton label="Change or end the subscription" lead={() => openBillingPortal(organization.id)} />
        )}
        {data.isCustomer && <RefreshButton organization={organization.id} />}
      </div>
      <p className="also">
        A payment opens on the payment provider's page. What you have set up stays, whatever the plan.
      </p>
    </section>
  )
}

/** Nobody sells plans here. */
function NotSold(): ReactNode {
  return (
    <p className="also">
      Whoever runs this service sets the plan: <code translate="no">spec.plan</code> of the Organization.
    </p>
  )
}

function BillingText({ text }: { readonly text: string }): ReactNode {
  return (
    <section className="billing">
      <h2>Billing</h2>
      <p>{text}</p>
    </section>
  )
}

interface LeaveProps {
  readonly label: string
  readonly lead: () => Promise<{ readonly url: string }>
}

/** Goes to a page of the provider, whose host the server has checked. */
function LeaveButton({ label, lead }: LeaveProps): ReactNode {
  const leave = useMutation({
    mutationFn: lead,
    onSuccess: ({ url }) => {
      if (new URL(url).protocol === 'https:') location.assign(url)
    },
  })
  return (
    <>
      <Button loading={leave.isPending} onClick={() => leave.mutate()}>
        {label}
      </Button>
      <Problem error={leave.error} />
    </>
  )
}

function RefreshButton({ organization }: { readonly organization: string }): ReactNode {
  const queries = useQueryClient()
  const refresh = useMutation({
    mutationFn: () => bringPlanUpToDate(organization),
    async onSuccess(billing) {
      queries.setQueryData(billingQuery(organization).queryKey, billing)
      await queries.invalidateQueries({ queryKey: ['usage', organization] })
    },
  })
  return (
    <>
      <Button variant="default" loading={refresh.isPending} onClick={() => refresh.mutate()}>
        I have just paid
      </Button>
      <Problem error={refresh.error} />
    </>
  )
}
