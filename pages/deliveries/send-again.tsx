/** Sends failed deliveries again, after it was asked once more. What came of it stays in sight. */

import { Button, Modal } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'

import { MODAL } from '../parts/modals.ts'
import { Problem } from '../parts/states.tsx'
import {
  DELIVERIES_KEY,
  sendDeliveriesAgain,
  type ReplayedDeliveries,
  type ReplayOfDeliveries,
} from './deliveries-data.ts'

interface SendAgainProps {
  readonly organization: string
  readonly wanted: ReplayOfDeliveries
  /** Where they go. */
  readonly destination: string
  readonly count: number
  /** The provider may have them, and would not recognise their IDs. */
  readonly mayCountTwice: boolean
}

export function SendAgain({ organization, wanted, destination, count, mayCountTwice }: SendAgainProps): ReactNode {
  const queries = useQueryClient()
  const [isAsking, setIsAsking] = useState(false)
  const send = useMutation({
    mutationFn: () => sendDeliveriesAgain(organization, wanted),
    async onSuccess() {
      setIsAsking(false)
      await queries.invalidateQueries({ queryKey: [DELIVERIES_KEY, organization] })
    },
  })
  return (
    <>
      <Button size="xs" variant="default" aria-label={`Send again to ${destination}`} onClick={() => setIsAsking(true)}>
        Send again
      </Button>
      <span role="status" className="sent">
        {send.data !== undefined && outcomeText(send.data)}
      </span>
      <Modal opened={isAsking} onClose={() => setIsAsking(false)} title={`Send again to ${destination}?`} {...MODAL}>
        <p>
          {count === 1 ? 'It goes' : `${count.toLocaleString()} deliveries go`} out under the old ID
          {mayCountTwice
            ? '. The provider may have it from an attempt that it never answered. That was too long ago to be recognised, so it may count twice.'
            : ', so that the provider counts nothing twice.'}
        </p>
        {count > 50 && <p>At most 50 are sent at a time, the latest first. Press again for the rest.</p>}
        <Problem error={send.error} />
        <Button data-autofocus loading={send.isPending} onClick={() => send.mutate()}>
          Send again
        </Button>
      </Modal>
    </>
  )
}

function outcomeText({ replayed, refused, mayHaveMore }: ReplayedDeliveries): string {
  if (replayed + refused === 0) return 'There is none left that can be sent again.'
  const sent = `${replayed.toLocaleString()} sent again`
  const left =
    refused === 0 ? '' : `, ${refused.toLocaleString()} not: too late, on their way already, or perhaps counted already`
  return `${sent}${left}.${mayHaveMore ? ' There may be more.' : ''}`
}
