/** The way to anything by its name: pages, websites, and whatever an ID names that is pasted. A dialog with a combobox. */

import { Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useId, useState, type ReactNode } from 'react'

import { findQuery, mayBeId } from '../data/find.ts'
import { websitesQuery } from '../data/overview.ts'
import { isJumpKey, jumpsTo, type Jump } from './jump-targets.ts'

interface JumpDialogProps {
  readonly organization: string
}

/** Opens with ⌘K or Ctrl K, also while somebody types. */
export function JumpDialog({ organization }: JumpDialogProps): ReactNode {
  const [isOpen, setIsOpen] = useState(false)
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (!isJumpKey(event)) return
      event.preventDefault()
      setIsOpen(true)
    }
    document.addEventListener('keydown', pressed)
    return () => document.removeEventListener('keydown', pressed)
  }, [])
  return (
    <>
      <button type="button" className="jump" aria-keyshortcuts="Meta+K Control+K" onClick={() => setIsOpen(true)}>
        Jump to … <kbd translate="no">{isMac() ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <Modal
        opened={isOpen}
        onClose={() => setIsOpen(false)}
        title="Jump to"
        closeButtonProps={{ 'aria-label': 'Close' }}
        transitionProps={{ duration: 0 }}
      >
        <JumpList organization={organization} onDone={() => setIsOpen(false)} />
      </Modal>
    </>
  )
}

function isMac(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent)
}

interface JumpListProps extends JumpDialogProps {
  readonly onDone: () => void
}

function JumpList({ organization, onDone }: JumpListProps): ReactNode {
  const navigate = useNavigate()
  const id = useId()
  const [text, setText] = useState('')
  const [place, setPlace] = useState(0)
  const wanted = text.trim()
  const { data: websites = [] } = useQuery(websitesQuery(organization))
  const { data: found, isLoading } = useQuery(findQuery(organization, wanted))
  const jumps = jumpsTo(wanted, { websites, found: found ?? [] })
  const chosen = jumps[Math.min(place, jumps.length - 1)]
  const shown = chosen?.key
  useEffect(() => {
    if (shown !== undefined) document.getElementById(`${id}-${shown}`)?.scrollIntoView({ block: 'nearest' })
  }, [id, shown])
  const go = (jump: Jump): void => {
    onDone()
    void navigate({ to: jump.to, params: { organization, ...jump.params }, search: { ...jump.search } })
  }
  return (
    <form
      className="jump-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (chosen !== undefined) go(chosen)
      }}
    >
      <input
        data-autofocus
        role="combobox"
        aria-label="A page, a website or an ID"
        aria-expanded={jumps.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        {...(chosen === undefined ? {} : { 'aria-activedescendant': `${id}-${chosen.key}` })}
        placeholder="A page, a website, or an ID that you paste"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          setPlace(0)
        }}
        onKeyDown={(event) => {
          const step = STEPS[event.key]
          if (step === undefined || jumps.length === 0) return
          event.preventDefault()
          setPlace((Math.min(place, jumps.length - 1) + step + jumps.length) % jumps.length)
        }}
      />
      <ul id={`${id}-list`} role="listbox" aria-label="Where to">
        {jumps.map((jump) => (
          <li
            key={jump.key}
            id={`${id}-${jump.key}`}
            role="option"
            aria-selected={jump === chosen}
            onClick={() => go(jump)}
          >
            <span>{jump.title}</span>
            <small>{jump.kind}</small>
          </li>
        ))}
      </ul>
      <p className="question" role="status">
        {jumps.length === 0 ? (isLoading ? 'Looking for it …' : nothingText(wanted)) : ''}
      </p>
    </form>
  )
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }

function nothingText(text: string): string {
  return mayBeId(text)
    ? 'No page, website, install, visit, delivery or request has this name or ID.'
    : 'No page or website has this name.'
}
