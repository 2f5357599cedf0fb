/** Text to take along: a button that copies it, and a snippet that shows what will be copied. */

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
    // A browser may refuse, and has no clipboard at all on an address without https that is not this machine.
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

/** Code as it is to be pasted. `text` changes the button back, so that it never says "Copied" of another text. */
export function Snippet({ what, text }: CopyProps): ReactNode {
  return (
    <div className="snippet">
      <pre tabIndex={0} aria-label={what}>
        {text}
      </pre>
      <CopyButton key={text} what={what} text={text} />
    </div>
  )
}
