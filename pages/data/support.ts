/** Support requests: the diagnostics that would be sent, and sending a request. */

import { queryOptions } from '@tanstack/react-query'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ask, path } from './ask.ts'

interface SupportMessage {
  /** 32 hex digits; requests with the same ID count as one. */
  readonly id: string
  readonly message: string
  readonly diagnostics?: object
}

const PATH = '/api/organizations/:organization/support'

export function supportQuery(organization: string) {
  return queryOptions({
    queryKey: ['support', organization],
    queryFn: ({ signal }) => ask<JsonFrom<'previewSupport'>>(path(PATH, { organization }), { signal }),
  })
}

/** Resolves with the ID of the request, for reference. */
export function sendSupportRequest(
  organization: string,
  message: SupportMessage,
): Promise<{ readonly request: string }> {
  return ask(path(PATH, { organization }), { method: 'POST', body: message })
}

export function newRequestId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
