/** Fetches a page of a website's own origins for whoever sets it up, and says what its source lacks. The page itself stays here. */

import { refuse } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import {
  sourceFindings,
  type FetchedPage,
  type PageFailure,
  type PageFinding,
} from '../../domain/onboarding/page-check.ts'
import type { HitCounter } from '../../ports/hot-state/hot-state.ts'
import { answer, type CallTo } from '../http/call.ts'
import { pageCheckHit } from '../http/limits.ts'
import type { Directory } from '../resources/directory.ts'
import { oneCallEach } from './one-call-each.ts'

/** As whatever vets addresses answers: `failure` is empty, or says why there is no whole answer. */
interface PageReply {
  readonly status: number
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string>>
  /** As far as it was read. */
  readonly body: string
  readonly failure: string
}

/** Calls public addresses alone, follows no redirect, and never rejects. */
export type FetchPage = (url: string, mostMs: number) => Promise<PageReply>

export interface PageCheckParts {
  readonly directory: { readonly websites: Directory['websites'] }
  readonly hotState: HitCounter
  readonly fetchPage: FetchPage
  readonly site: { readonly baseUrl: string }
  /** A clock that never goes back. */
  readonly elapsedMs: () => number
}

interface PageOutcome {
  readonly failure: PageFailure | null
  readonly status: number | null
  readonly findings: readonly PageFinding[]
}

export function checkPageOf({ directory, hotState, fetchPage, site, elapsedMs }: PageCheckParts) {
  const bounded = oneCallEach({ hotState, mostAtOnce: LIMITS.pageChecksAtOnce, hitOf: pageCheckHit })
  return async ({ scope, params, body }: CallTo<'checkPage'>) => {
    const organization = scope.organization.id
    const website = directory.websites(organization).find(({ id }) => id === params.website)
    if (website === undefined) return refuse('not_found')
    const start = URL.parse(body.url)
    if (start === null || !website.origins.has(start.origin)) return pageAnswer(unreadPage('not_registered', null))
    return bounded(organization, async () => {
      const untilMs = elapsedMs() + LIMITS.pageCheckMs
      const ask = (url: URL) => fetchPage(url.href, Math.max(1, untilMs - elapsedMs()))
      const fetched = await followWithin(start, website.origins, ask)
      if (!('html' in fetched)) return pageAnswer(fetched)
      const findings = sourceFindings(fetched, { website: website.id, baseUrl: site.baseUrl })
      return pageAnswer({ failure: null, status: fetched.status, findings })
    })
  }
}

function pageAnswer({ findings, ...outcome }: PageOutcome) {
  return answer({ ...outcome, findings: [...findings] })
}

function unreadPage(failure: PageFailure, status: number | null): PageOutcome {
  return { failure, status, findings: [] }
}

interface ReadPage extends FetchedPage {
  readonly status: number
}

/** Redirects within the origins of the website; each address is vetted anew. */
async function followWithin(
  start: URL,
  origins: ReadonlySet<string>,
  ask: (url: URL) => Promise<PageReply>,
): Promise<ReadPage | PageOutcome> {
  let url = start
  for (let redirects = 0; redirects <= LIMITS.pageCheckRedirects; redirects += 1) {
    const reply = await ask(url)
    const to = redirectOf(reply, url)
    if (to === null) return readPage(reply, url)
    if (!origins.has(to.origin)) return unreadPage('leads_away', reply.status)
    url = to
  }
  return unreadPage('leads_away', null)
}

function redirectOf({ status, headers }: PageReply, from: URL): URL | null {
  const { location } = headers
  return status >= 300 && status < 400 && location !== undefined ? URL.parse(location, from.href) : null
}

/** A page that is too large was read as far as it matters. */
function readPage({ status, headers, body: html, failure }: PageReply, url: URL): ReadPage | PageOutcome {
  if (failure !== '' && failure !== 'too_large') return unreadPage(FAILURES[failure] ?? 'no_connection', null)
  if (status === 404 || status === 410) return unreadPage('not_found', status)
  if (status >= 300) return unreadPage('refused', status)
  if (!/\bhtml\b/i.test(headers['content-type'] ?? 'html')) return unreadPage('not_readable', status)
  const policy = headers['content-security-policy']
  return { url, status, html, policies: policy === undefined ? [] : [policy] }
}

const FAILURES: Readonly<Record<string, PageFailure>> = {
  address_refused: 'not_public',
  name_unknown: 'name_unknown',
  tls: 'bad_certificate',
  timeout: 'too_slow',
  encoded: 'not_readable',
}
