/** Fetches a page that a tenant names, through the guard for addresses: its head and the first 64 KB. */

import type { ProviderReply } from '../providers/provider.ts'
import { callOutbound, type OutboundParts } from './call.ts'

const HEADERS = { accept: 'text/html', 'user-agent': 'Whence-page-check' }

/** Never rejects; a redirect is an answer like any other. */
export async function fetchPublicPage(url: string, parts: OutboundParts): Promise<ProviderReply> {
  const { reply } = await callOutbound({ url, method: 'GET', headers: HEADERS, body: '', secrets: [] }, parts)
  return reply
}
