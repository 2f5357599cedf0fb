/** Makes another secret that signs what is posted. Only on request, because the receiver needs it; it is shown once. */

import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { Snippet } from '../parts/copy.tsx'
import { Problem } from '../parts/states.tsx'
import { STREAMS_KEY } from './streams-data.ts'

interface NewSecretProps {
  readonly organization: string
  readonly make: () => Promise<{ readonly secret: string }>
}

export function NewSecret({ organization, make }: NewSecretProps): ReactNode {
  const queries = useQueryClient()
  const change = useMutation({
    mutationFn: make,
    onSuccess: () => queries.invalidateQueries({ queryKey: [STREAMS_KEY, organization] }),
  })
  return (
    <span>
      <Button size="xs" variant="default" loading={change.isPending} onClick={() => change.mutate()}>
        Make a new secret
      </Button>
      <Problem error={change.error} />
      {change.data !== undefined && <ShownSecret secret={change.data.secret} />}
    </span>
  )
}

export function ShownSecret({ secret }: { readonly secret: string }): ReactNode {
  return (
    <div className="notice" role="status">
      <p>
        Give this secret to the receiver now: it is never shown again. What is sent is signed with the previous secret
        too for 24 hours.
      </p>
      <Snippet what="the secret" text={secret} />
    </div>
  )
}
