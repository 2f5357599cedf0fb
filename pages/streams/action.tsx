/** A button that does something; if that cannot be undone, it asks first. The result stays in sight. */

import { Button, Modal } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'

import { Problem } from '../parts/states.tsx'
import { STREAMS_KEY } from './streams-data.ts'

interface ActionProps {
  readonly organization: string
  readonly title: string
  /** Asks whether to do it, and says what it means; absent: it does not ask. */
  readonly question?: string
  /** Said once it is done. */
  readonly done: string
  readonly act: () => Promise<unknown>
}

export function Action({ organization, title, question, done, act }: ActionProps): ReactNode {
  const queries = useQueryClient()
  const [isAsking, setIsAsking] = useState(false)
  const action = useMutation({
    mutationFn: act,
    async onSuccess() {
      setIsAsking(false)
      await queries.invalidateQueries({ queryKey: [STREAMS_KEY, organization] })
    },
  })
  const press = (): void => (question === undefined ? action.mutate() : setIsAsking(true))
  return (
    <span>
      <Button size="xs" variant="default" loading={action.isPending} onClick={press}>
        {title}
      </Button>
      <span role="status" className="sent">
        {action.isSuccess && done}
      </span>
      {question === undefined ? (
        <Problem error={action.error} />
      ) : (
        <Modal
          opened={isAsking}
          onClose={() => setIsAsking(false)}
          title={`${title}?`}
          closeButtonProps={{ 'aria-label': 'Close' }}
        >
          <p>{question}</p>
          <Problem error={action.error} />
          <Button data-autofocus loading={action.isPending} onClick={() => action.mutate()}>
            {title}
          </Button>
        </Modal>
      )}
    </span>
  )
}
