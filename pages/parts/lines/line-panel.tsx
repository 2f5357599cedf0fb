/** One line with its exact bodies as text: untrusted content is shown and never executed. */

import { CloseButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, type ReactNode, type RefObject } from 'react'

import type { LogLine } from '../../../domain/logs/line.ts'
import { lineQuery, type LineDetail } from '../../data/lines.ts'
import { isTyping } from '../typing.ts'
import { curlOf, prettyText } from './bodies.ts'
import { CopyButton } from '../copy.tsx'
import { Status } from './line-table.tsx'
import { Loading, Problem } from '../states.tsx'
import { Moment } from '../time.tsx'

interface LinePanelProps {
  readonly organization: string
  readonly line: LogLine
  readonly onClose: () => void
}

export function LinePanel({ organization, line, onClose }: LinePanelProps): ReactNode {
  const { data, error } = useQuery(lineQuery(organization, line))
  const panel = useFocusWhileOpen(line.id)
  useEscape(onClose)
  return (
    <aside className="panel" aria-label="One line of Logs" ref={panel} tabIndex={-1}>
      <header>
        <h2 translate="no">
          {line.method} {line.path}
        </h2>
        <CloseButton aria-label="Close" onClick={onClose} />
      </header>
      <dl className="facts">
        <dt>When</dt>
        <dd>
          <Moment ms={line.at} />
        </dd>
        <dt>Answer</dt>
        <dd>
          <Status status={line.status} code={line.code} /> in {line.durationMs} ms
        </dd>
        <dt>Website</dt>
        <dd>{line.website === '' ? 'none: a request of the dashboard' : line.website}</dd>
        {line.origin !== undefined && line.origin !== '' && (
          <>
            <dt>Origin</dt>
            <dd translate="no">{line.origin}</dd>
          </>
        )}
        <dt>ID</dt>
        <dd>
          <code translate="no">{line.id}</code>
        </dd>
      </dl>
      <Problem error={error} />
      {data === undefined ? error === null && <Loading what="the line" /> : <Bodies line={line} detail={data} />}
    </aside>
  )
}

/** The panel takes the focus for each line that opens, and gives it back to what had it, unless that moved on by itself. */
function useFocusWhileOpen(line: string): RefObject<HTMLElement | null> {
  const panel = useRef<HTMLElement>(null)
  useEffect(() => {
    const opener = document.activeElement
    const { current } = panel
    current?.focus({ preventScroll: true })
    return () => {
      const { activeElement } = document
      const hadFocus = activeElement === document.body || current?.contains(activeElement) === true
      if (hadFocus && opener instanceof HTMLElement) opener.focus({ preventScroll: true })
    }
  }, [line])
  return panel
}

function useEscape(act: () => void): void {
  useEffect(() => {
    const pressed = ({ key, target }: KeyboardEvent): void => {
      if (key === 'Escape' && !isTyping(target)) act()
    }
    document.addEventListener('keydown', pressed)
    return () => document.removeEventListener('keydown', pressed)
  }, [act])
}

function Bodies({ line, detail }: { readonly line: LogLine; readonly detail: LineDetail }): ReactNode {
  const bodies = BODY_NAMES.flatMap(({ column, title }) => {
    const text = detail[column]
    return typeof text === 'string' && text !== '' ? [{ title, text }] : []
  })
  return (
    <>
      {bodies.map(({ title, text }) => (
        <section key={title}>
          <h3>{title}</h3>
          <pre translate="no" tabIndex={0}>
            {prettyText(text)}
          </pre>
        </section>
      ))}
      {bodies.length === 0 && <p className="question">No body is kept of this one.</p>}
      {line.direction === 'inbound' && line.kind !== 'dashboard' && (
        <CopyButton what="as curl" text={curlOf(line, bodyOf(detail), location.origin)} />
      )}
    </>
  )
}

const BODY_NAMES = [
  { column: 'body', title: 'Body' },
  { column: 'request_body', title: 'What was sent' },
  { column: 'response_body', title: 'What came back' },
  { column: 'answer', title: 'Answer' },
] as const

function bodyOf({ body }: LineDetail): string {
  return typeof body === 'string' ? body : ''
}
