/** Support requests: what one would tell beside its message, and sending it. */

import { queryOptions } from '@tanstack/react-query'

import { ask, path } from './ask.ts'

interface SupportPreview {
  /** Whether somebody gets it. */
  readonly isMailed: boolean
  /** Sent back as it is, if the person wants to. */
  readonly diagnostics: object
}

interface SupportMessage {
  /** 32 hex digits; a repeat with the same is the same request. */
  readonly id: string
  readonly message: string
  readonly diagnostics?: object
}

const PATH = '/api/organizations/:organization/support'

export function supportQuery(organization: string) {
  return queryOptions({
    queryKey: ['support', organization],
    queryFn: ({ signal }) => ask<SupportPreview>(path(PATH, { organization }), { signal }),
  })
}

/** The ID of the request, to refer to it. */
export function sendSupportRequest(
  organization: string,
  message: SupportMessage,
): Promise<{ readonly request: string }> {
  return ask(path(PATH, { organization }), { method: 'POST', body: message })
}

export function newRequestId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
