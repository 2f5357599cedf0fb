/** Keys: `g` and a letter open a page, `/` goes to the filter, `?` lists them all. The dialog to jump has its own. */

import { Kbd, Modal } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState, type ReactNode } from 'react'

import { isTyping } from '../parts/typing.ts'
import { PAGES } from './navigation.ts'

/** Time limit for the letter after `g`. */
const SECOND_KEY_MS = 1_500

interface Help {
  readonly isOpen: boolean
  readonly close: () => void
}

/** Listens while the frame is mounted; ignores keys that are typed into a field. */
export function useKeys(organization: string | null): Help {
  const [isOpen, setIsOpen] = useState(false)
  const navigate = useNavigate()
  useEffect(() => {
    let goUntil = 0
    const pressed = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const page = event.timeStamp < goUntil ? PAGES.find(({ key }) => key === event.key) : undefined
      goUntil = event.key === 'g' ? event.timeStamp + SECOND_KEY_MS : 0
      if (page !== undefined && organization !== null) void navigate({ to: page.to, params: { organization } })
      if (event.key === '?') setIsOpen(true)
      if (event.key === '/') focusFilter(event)
    }
    document.addEventListener('keydown', pressed)
    return () => document.removeEventListener('keydown', pressed)
  }, [navigate, organization])
  return { isOpen, close: () => setIsOpen(false) }
}

export function KeyboardHelp({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean
  readonly onClose: () => void
}): ReactNode {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keys" closeButtonProps={{ 'aria-label': 'Close' }}>
      <table className="keys">
        <tbody>
          {PAGES.map(({ to, title, key }) => (
            <Row key={to} keys={['g', key]} what={title} />
          ))}
          <Row keys={['⌘K', 'Ctrl K']} what="Jump to a page, a website or an ID" />
          <Row keys={['/']} what="Filter" />
          <Row keys={['?']} what="This list" />
        </tbody>
      </table>
    </Modal>
  )
}

function Row({ keys, what }: { readonly keys: readonly string[]; readonly what: string }): ReactNode {
  return (
    <tr>
      <th scope="row">{what}</th>
      <td>
        {keys.map((key) => (
          <Kbd translate="no" key={key}>
            {key}
          </Kbd>
        ))}
      </td>
    </tr>
  )
}

function focusFilter(event: KeyboardEvent): void {
  const filter = document.querySelector<HTMLElement>('main [data-filter]')
  if (filter === null) return
  event.preventDefault()
  filter.focus()
}
