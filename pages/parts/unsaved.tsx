/** Asks before a form that was filled in is left. Nothing of it is stored anywhere. */

import { Button, Modal } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { MODAL } from './modals.ts'

interface UnsavedProps {
  /** Whether there is something to lose. */
  readonly isChanged: boolean
}

/** To be a part of the form. Another filter or tab of the same page loses nothing, so it asks for other pages alone, and when the window closes. */
export function Unsaved({ isChanged }: UnsavedProps): ReactNode {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isChanged && current.pathname !== next.pathname,
    enableBeforeUnload: isChanged,
    withResolver: true,
  })
  return (
    <Modal opened={status === 'blocked'} onClose={() => reset?.()} title="Leave without saving?" {...MODAL}>
      <p>What you changed here is saved nowhere. It is gone if you leave.</p>
      <div className="buttons">
        <Button data-autofocus onClick={() => reset?.()}>
          Stay here
        </Button>
        <Button variant="default" onClick={() => proceed?.()}>
          Leave
        </Button>
      </div>
    </Modal>
  )
}
