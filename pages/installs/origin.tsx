/** Where a visit came from, in words, and untrusted addresses as harmless links. */

import type { ReactNode } from 'react'

import type { VisitSource } from '../../domain/collection/visit-source.ts'

/** "newsletter / spring", "github", or "Direct". */
export function originText({ source, campaign }: VisitSource): string {
  const named = [source, campaign].filter((part) => part !== '')
  return named.length === 0 ? DIRECT : named.map(isolated).join(' / ')
}

export const DIRECT = 'Direct'

/** Between Unicode isolate marks, so that right-to-left text of strangers does not reorder ours. */
function isolated(text: string): string {
  return `\u2068${text}\u2069`
}

/** Only http(s) addresses become links, shown in full. */
export function Address({ text }: { readonly text: string }): ReactNode {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return text
  return (
    <a href={text} rel="noopener noreferrer nofollow ugc" target="_blank" translate="no">
      {text}
    </a>
  )
}
