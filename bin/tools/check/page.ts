/** Fetches the page and reads service and website from its script tag. */

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
const SDK_FILE = /\/browser(?:\.debug)?(?:\.[0-9a-f]{12})?\.js$/

/** Null if the page cannot be fetched, or its source has no script tag that names a website. */
export async function findSetup(url: URL, tell: Tell): Promise<PageSetup | null> {
  const html = await fetchPage(url, tell)
  if (html === null) return null
  const tag = [...html.matchAll(/<script\b[^>]*>/gi)].map(([text]) => readTag(text, url)).find((each) => each !== null)
  if (tag === undefined) {
    tell(
      problem(
        'script',
        "The page's source has no script tag of the SDK: add it, or see below if a tag manager or a bundle adds it.",
      ),
    )
    return null
  }
  if (tag.website === undefined) {
    tell(problem('script', 'The script tag has no data-project: give it the ID of your website.'))
    return null
  }
  tell(ok('script', `The script tag names the website "${tag.website}" and the service ${tag.serviceUrl}`))
  return { ...tag, website: tag.website }
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

interface ScriptTag {
  readonly website: string | undefined
  readonly serviceUrl: string
  readonly carriesInQuery: boolean
}

function readTag(tag: string, page: URL): ScriptTag | null {
  const src = URL.parse(attribute(tag, 'src') ?? '', page.href)
  if (src === null || !SDK_FILE.test(src.pathname)) return null
  return {
    website: attribute(tag, 'data-project'),
    serviceUrl: new URL('.', src).href,
    carriesInQuery: attribute(tag, 'data-carry') === 'query',
  }
}

function attribute(tag: string, name: string): string | undefined {
  const [, double, single, bare] = new RegExp(`\\s${name}=(?:"([^"]*)"|'([^']*)'|([^\\s>"']+))`, 'i').exec(tag) ?? []
  return double ?? single ?? bare
}

/** The innermost reason of a failed request, which is more precise than "fetch failed". */
export function failureReason(error: unknown): string {
  const { cause, message } = error instanceof Error ? error : { cause: undefined, message: String(error) }
  return cause instanceof Error ? cause.message : message
}
