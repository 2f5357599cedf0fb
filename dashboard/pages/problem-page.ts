/** What a person's browser shows instead of a page: plain HTML. Programs get the code as JSON. */

import type { IncomingMessage, ServerResponse } from 'node:http'

import { ERRORS, refuse, type ErrorCode, type Refusal } from '../../domain/errors.ts'
import { retryHeader } from '../../runtime/http/refusal.ts'
import { PAGE_HEADERS, readPath } from './answer.ts'
import { escapedText, plainPage, plainPolicy } from './plain-page.ts'

interface Words {
  readonly title: string
  readonly text: string
}

const WORDS: Partial<Readonly<Record<ErrorCode, Words>>> = {
  not_found: {
    title: 'There is no such page',
    text: 'It is gone, or it belongs to an organisation that you do not.',
  },
  unauthenticated: { title: 'You are signed out', text: 'Sign in, and then open this address again.' },
  forbidden: { title: 'This is not for your role', text: 'Ask an owner or an administrator of the organisation.' },
  cross_origin: { title: 'This came from another website', text: 'Open it from the pages of this service.' },
  rate_limited: { title: 'That was too fast', text: 'Wait a minute, and load this page again.' },
  unavailable: {
    title: 'This is not available right now',
    text: 'A part of the service does not answer. Nothing was changed; load this page again in a moment.',
  },
}

/** Of an address that may have been one of a link: the same for whatever it lacks. */
const NOTHING_SHARED: Words = {
  title: 'This link opens nothing',
  text: 'It has ended, or whoever made it has taken it back. Ask the person who sent it to you for a new one.',
}

const OTHERWISE: Words = { title: 'This did not work', text: 'Go back, and try it again.' }

/** Whether a person's browser asks for something to show: fetches of scripts, and programs, do not say so. */
export function wantsPage({ method, headers }: IncomingMessage): boolean {
  const { accept = '', 'sec-fetch-mode': mode = 'navigate' } = headers
  return (method === 'GET' || method === 'HEAD') && mode === 'navigate' && accept.includes('text/html')
}

interface ToldProblem {
  readonly code: ErrorCode
  /** Finds the request in the process log. */
  readonly requestId?: string
  /** Whoever reads it followed a link, and has no other page here. */
  readonly isShared?: boolean
}

export const PROBLEM_HEADERS = {
  ...PAGE_HEADERS,
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': plainPolicy(["form-action 'none'"]),
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
} as const

export function problemPage({ code, requestId, isShared = false }: ToldProblem): string {
  const { title, text } = isShared && code === 'not_found' ? NOTHING_SHARED : (WORDS[code] ?? OTHERWISE)
  const [to, where] = code === 'unauthenticated' ? ['/sign-in', 'Sign in'] : ['/', 'To the start']
  const found = requestId === undefined ? '' : `\n<p><small>${code}, request ${escapedText(requestId)}</small></p>`
  return plainPage({
    title,
    main: `<h1>${title}</h1>\n<p>${text}</p>${isShared ? '' : `\n<p><a href="${to}">${where}</a></p>`}${found}`,
  })
}

/** Paths of programs, where an unknown address stays a code. */
const OF_PROGRAMS = /^\/(?:api|v1|assets)(?:\/|$)/

/**
 * The last in line: says to a person that there is no such page. False for every other request. `refuseUnknown` counts it, and says how it is
 * refused.
 */
export function serveMissing(
  req: IncomingMessage,
  res: ServerResponse,
  refuseUnknown: () => Promise<Refusal> = async () => refuse('not_found'),
): boolean {
  if (!isMissingPage(req)) return false
  void refuseUnknown().then((refusal) => sendProblem(res, refusal))
  return true
}

function isMissingPage(req: IncomingMessage): boolean {
  const path = readPath(req)
  return path !== null && !OF_PROGRAMS.test(path) && wantsPage(req)
}

function sendProblem(res: ServerResponse, refusal: Refusal): void {
  const { code } = refusal
  const body = problemPage({ code })
  const headers = { ...PROBLEM_HEADERS, ...retryHeader(refusal), 'Content-Length': Buffer.byteLength(body) }
  res.writeHead(ERRORS[code].status, headers)
  res.end(res.req.method === 'HEAD' ? undefined : body)
}
