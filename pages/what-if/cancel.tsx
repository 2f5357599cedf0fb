/** The button that cancels a replay which waits or runs. */

import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { Problem } from '../parts/states.tsx'
import { sendCancellation } from './replays-data.ts'

export function CancelReplay({ organization, id }: { readonly organization: string; readonly id: string }): ReactNode {
  const cancel = useMutation({ mutationFn: () => sendCancellation(organization, id) })
  return (
    <>
      <Button
        size="xs"
        variant="default"
        loading={cancel.isPending}
        disabled={cancel.isSuccess}
        onClick={() => cancel.mutate()}
      >
        Cancel
      </Button>
      <span role="status">{cancel.isSuccess && 'It stops within seconds.'}</span>
      <Problem error={cancel.error} />
    </>
  )
}
