/** The outline of a page, and its states without content: loading, empty, failed, not found. */

import { Link } from '@tanstack/react-router'
import { useEffect, useState, type ReactNode } from 'react'

import { ApiProblem } from '../data/ask.ts'
import { sentenceOf } from './problems.ts'

/** The service's name as people read it, from its setting: the document says it. */
export const BRAND = document.querySelector<HTMLMetaElement>('meta[name="application-name"]')?.content ?? 'Whence'

interface PageProps {
  readonly title: string
  /** The question that the page answers. */
  readonly question?: string
  /** Buttons beside the title. */
  readonly actions?: ReactNode
  readonly children: ReactNode
}

export function Page({ title, question, actions, children }: PageProps): ReactNode {
  useEffect(() => {
    document.title = `${title} · ${BRAND}`
  }, [title])
  return (
    <article className="page">
      <header className="page-head">
        <div>
          <h1 tabIndex={-1}>{title}</h1>
          {question !== undefined && <p className="question">{question}</p>}
        </div>
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      {children}
    </article>
  )
}

/** Says what to do next: most people start with an empty page. */
export function Empty({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="empty">
      <h2>{title}</h2>
      <p>{children}</p>
    </div>
  )
}

/** Nothing for the first 300 ms, so that fast answers do not flicker. */
export function Loading({ what }: { readonly what: string }): ReactNode {
  const [isShown, setIsShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setIsShown(true), 300)
    return () => clearTimeout(timer)
  }, [])
  return (
    <p className="loading" role="status">
      {isShown ? `Loading ${what} …` : ''}
    </p>
  )
}

/** What went wrong, in a sentence, with the ID of the request in the log; renders nothing without an error. */
export function Problem({ error }: { readonly error: unknown }): ReactNode {
  if (error === null || error === undefined) return null
  const requestId = error instanceof ApiProblem ? error.requestId : null
  return (
    <p className="problem" role="alert">
      {sentenceOf(error)}
      {requestId !== null && <small> Request {requestId}</small>}
    </p>
  )
}

export function Failed({ error }: { readonly error: unknown }): ReactNode {
  if (error instanceof ApiProblem && error.status === 404) return <NotFound />
  return (
    <Page title="This did not work">
      <Problem error={error} />
      <p>
        <button type="button" className="link" onClick={() => location.reload()}>
          Try again
        </button>
      </p>
    </Page>
  )
}

export function NotFound(): ReactNode {
  return (
    <Page title="There is no such page" question="It is gone, or it belongs to an organisation that you do not.">
      <p>
        <Link to="/">To the start</Link>
      </p>
    </Page>
  )
}
