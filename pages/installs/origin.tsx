/** Where a visit came from, in words, and untrusted addresses as harmless links. */

import type { ReactNode } from 'react'

import { originParts, type VisitOrigin } from '../../domain/collection/visit-source.ts'

/** "newsletter / spring", a host, or "Direct". */
export function originText(visit: VisitOrigin): string {
  const { named, referrer } = originParts(visit)
  if (named.length > 0) return named.map(isolated).join(' / ')
  return referrer === '' ? DIRECT : isolated(hostOf(referrer))
}

export const DIRECT = 'Direct'

/** Between Unicode isolate marks, so that right-to-left text of strangers does not reorder ours. */
function isolated(text: string): string {
  return `\u2068${text}\u2069`
}

function hostOf(address: string): string {
  return URL.canParse(address) && new URL(address).host !== '' ? new URL(address).host : address
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
