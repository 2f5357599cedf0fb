/** Fetches the page and reads service and website from its script tag. */

import { findScriptTag } from '../../../domain/onboarding/script-tag.ts'
import { ok, problem, type Tell } from './finding.ts'

/** The service as the page names it. */
export interface PageSetup {
  readonly website: string
  /** Ends in a slash. */
  readonly serviceUrl: string
  /** `data-carry="query"`: what its links carry goes into the query. */
  readonly carriesInQuery: boolean
}

const FETCH_MS = 15_000
/** More than the largest pages; the rest is ignored. */
const PAGE_CHARS_MAX = 5_000_000

/** Null if the page cannot be fetched, or its source has no script tag that names a website. */
export async function findSetup(url: URL, tell: Tell): Promise<PageSetup | null> {
  const html = await fetchPage(url, tell)
  if (html === null) return null
  const tag = findScriptTag(html, url)
  if (tag === null) {
    tell(
      problem(
        'script',
        "The page's source has no script tag of the SDK: add it, or see below if a tag manager or a bundle adds it.",
      ),
    )
    return null
  }
  const { website, serviceUrl, carriesInQuery } = tag
  if (website === null) {
    tell(problem('script', 'The script tag has no data-project: give it the ID of your website.'))
    return null
  }
  tell(ok('script', `The script tag names the website "${website}" and the service ${serviceUrl}`))
  return { website, serviceUrl, carriesInQuery }
}

async function fetchPage(url: URL, tell: Tell): Promise<string | null> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(FETCH_MS) })
    const html = (await answer.text()).slice(0, PAGE_CHARS_MAX)
    if (!answer.ok) {
      tell(
        problem(
          'page',
          `${url.href} answers with status ${answer.status}: give the address of a page that visitors see.`,
        ),
      )
      return null
    }
    tell(ok('page', `${url.href} answers.`))
    return html
  } catch (error) {
    tell(problem('page', `${url.href} cannot be fetched: ${failureReason(error)}`))
    return null
  }
}

/** The innermost reason of a failed request, which is more precise than "fetch failed". */
export function failureReason(error: unknown): string {
  const { cause, message } = error instanceof Error ? error : { cause: undefined, message: String(error) }
  return cause instanceof Error ? cause.message : message
}
