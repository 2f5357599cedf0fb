/** Text to copy: a button that copies it, and a snippet that shows what will be copied. */

import { Button } from '@mantine/core'
import { useState, type ReactNode } from 'react'

interface CopyProps {
  /** Completes "Copy …". */
  readonly what: string
  readonly text: string
}

export function CopyButton({ what, text }: CopyProps): ReactNode {
  const [state, setState] = useState<'ready' | 'copied' | 'failed'>('ready')
  const copy = async (): Promise<void> => {
    // A browser may refuse, and offers no clipboard at all without https, except on localhost.
    await navigator.clipboard.writeText(text).then(
      () => setState('copied'),
      () => setState('failed'),
    )
  }
  return (
    <Button variant="default" size="xs" onClick={() => void copy().catch(() => setState('failed'))}>
      {WORDS[state] ?? `Copy ${what}`}
    </Button>
  )
}

const WORDS: Readonly<Record<string, string>> = { copied: 'Copied', failed: 'Select the text and copy it' }

interface TakeAlongProps {
  /** Where exactly this is read as a file; absent: it may not be downloaded. */
  readonly file?: string
  /** Of the file, if the server does not say. */
  readonly name?: string
  /** Completes "Export exactly …". */
  readonly what?: string
}

/** The address of what is shown, filters and all, and the same as a file. */
export function TakeAlong({ file, name = '', what = 'this' }: TakeAlongProps): ReactNode {
  return (
    <>
      <CopyButton key={location.href} what="link" text={location.href} />
      {file !== undefined && (
        <Button component="a" size="xs" variant="default" href={file} download={name}>
          Export exactly {what}
        </Button>
      )}
    </>
  )
}

/** Code to paste. A new `text` resets the button, so that it never says "Copied" about another text. */
export function Snippet({ what, text }: CopyProps): ReactNode {
  return (
    <div className="snippet">
      <pre translate="no" tabIndex={0} aria-label={what}>
        {text}
      </pre>
      <CopyButton key={text} what={what} text={text} />
    </div>
  )
}
