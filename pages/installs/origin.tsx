/** Where a visit came from, in words, and addresses of strangers as links that cannot do anything else. */

import type { ReactNode } from 'react'

interface VisitOrigin {
  readonly utm_source: string
  readonly utm_campaign: string
  readonly source_referrer: string
}

/** "newsletter / spring", a host, or "Direct". */
export function originText({
  utm_source: source,
  utm_campaign: campaign,
  source_referrer: referrer,
}: VisitOrigin): string {
  const named = [source, campaign].filter((part) => part !== '').map(isolated)
  if (named.length > 0) return named.join(' / ')
  return referrer === '' ? DIRECT : isolated(hostOf(referrer))
}

export const DIRECT = 'Direct'

/** Between the marks of an isolate: a stranger's text that runs from right to left turns none of ours around. */
function isolated(text: string): string {
  return `\u2068${text}\u2069`
}

function hostOf(address: string): string {
  return URL.canParse(address) && new URL(address).host !== '' ? new URL(address).host : address
}

/** Only http(s) becomes a link; the whole address is in sight. */
export function Address({ text }: { readonly text: string }): ReactNode {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return text
  return (
    <a href={text} rel="noopener noreferrer nofollow ugc" target="_blank">
      {text}
    </a>
  )
}
