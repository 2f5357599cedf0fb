/**
 * Where a person ends their weekly mail, without signing in: a page with one button. Only the button, and the mail program of the person (RFC 8058), end
 * anything; scanners that open the address do not.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'

import { readBody } from '../../runtime/http/body.ts'
import { ERRORS, refuse, type Refusal } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { Logger } from '../../runtime/logger.ts'
import { retryHeader } from '../../runtime/http/refusal.ts'
import type { SealedTexts } from '../../runtime/keyring.ts'
import { PAGE_HEADERS } from '../pages/answer.ts'
import { escapedText, plainPage, plainPolicy } from '../pages/plain-page.ts'
import { problemPage } from '../pages/problem-page.ts'
import type { Directory } from '../resources/directory.ts'
import type { MailChoices } from './choices.ts'
import { END_PATH, readerOf } from './end-token.ts'

interface EndPageParts {
  readonly open: SealedTexts['open']
  readonly directory: Directory
  readonly choices: MailChoices
  /** The service's name as people read it. */
  readonly brand: string
  /** Counts an address that does not exist, and says how it is refused. */
  readonly refuseUnknown: (req: IncomingMessage) => Promise<Refusal>
  readonly logger: Logger
}

/** A form of one field. */
const BODY_BYTES = 1_024
const HEADERS = {
  ...PAGE_HEADERS,
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': plainPolicy(["form-action 'self'"]),
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
} as const

/** False for every other address. */
export function endPages(parts: EndPageParts): (req: IncomingMessage, res: ServerResponse) => boolean {
  return (req, res) => {
    const path = (req.url ?? '').split('?', 1)[0] ?? ''
    if (!path.startsWith(END_PATH)) return false
    void answerEnd(parts, req, path.slice(END_PATH.length)).then(
      (page) => sendEnd(req, res, page),
      (error: unknown) => {
        parts.logger.warn({ err: error }, 'the end of a weekly mail could not be stored')
        sendEnd(req, res, endProblem(refuse('unavailable', { retryAfter: LIMITS.unavailableRetryS })))
      },
    )
    return true
  }
}

interface EndAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

async function answerEnd(parts: EndPageParts, req: IncomingMessage, token: string): Promise<EndAnswer> {
  const { open, directory, choices, brand } = parts
  const reader = readerOf(token, open)
  if (reader === null) return endProblem(await parts.refuseUnknown(req))
  const organization = directory.organizations().get(reader.organization)
  const shown = { organization: organization?.displayName ?? reader.organization, brand }
  if (req.method === 'GET' || req.method === 'HEAD') return { status: 200, body: askingPage(shown) }
  if (req.method !== 'POST') {
    return { ...endProblem(refuse('method_not_allowed')), headers: { Allow: 'GET, HEAD, POST' } }
  }
  // What it says is of no account: the address alone names the mail.
  if ((await readBody(req, { mostBytes: BODY_BYTES })).kind === 'aborted') return endProblem(refuse('invalid_json'))
  const isEnded = await choices.isEnded(reader.organization, reader.email).catch(() => false)
  const logRetentionDays = organization?.logRetentionDays ?? LIMITS.logRetentionDays.fallback
  if (!isEnded) await choices.choose({ ...reader, logRetentionDays, isEnded: true })
  return { status: 200, body: endedPage(shown) }
}

interface ShownEnd {
  readonly organization: string
  readonly brand: string
}

function askingPage({ organization, brand }: ShownEnd): string {
  return plainPage({
    title: `End the weekly mail of ${brand}`,
    main: `<h1>End the weekly mail?</h1>
<p>You get the numbers of <b><bdi>${escapedText(organization)}</bdi></b> every Monday. After this you get them no more.</p>
<form method="post"><p><button name="List-Unsubscribe" value="One-Click">End the weekly mail</button></p></form>`,
  })
}

function endedPage({ organization, brand }: ShownEnd): string {
  return plainPage({
    title: `The weekly mail of ${brand} has ended`,
    main: `<h1>The weekly mail has ended</h1>
<p role="status">You get no more weekly mails about <b><bdi>${escapedText(organization)}</bdi></b>. If you want them again, sign in and turn them on under <i>Your account</i>; nobody else can.</p>`,
  })
}

function endProblem(refusal: Refusal): EndAnswer {
  const { code } = refusal
  return { status: ERRORS[code].status, headers: retryHeader(refusal), body: problemPage({ code }) }
}

function sendEnd(req: IncomingMessage, res: ServerResponse, { status, headers, body }: EndAnswer): void {
  // A body that is too long was not read to its end.
  const closing = req.complete ? {} : { Connection: 'close' }
  res.writeHead(status, { ...HEADERS, ...headers, ...closing, 'Content-Length': Buffer.byteLength(body) })
  res.end(req.method === 'HEAD' ? undefined : body)
}
