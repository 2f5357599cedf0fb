/** Composes the body of a visit from what the page, its cookies and the tab's memory tell. */

import { readClient } from './client.ts'
import { cookieReader } from './cookies.ts'
import type { BrowserConfig } from './identities.ts'
import { areTagsReady, readIdentities } from './identities.ts'
import type { Answer } from './net.ts'
import type { Page } from './page.ts'
import { hasGpc, loadExtras } from './page.ts'
import type { Scope } from './scope.ts'
import type { Landing, PageView } from './source.ts'
import { landingOf, originAndPath } from './source.ts'

/** How long, and how often, a visit waits for the cookies of tags that load beside the SDK. */
const TAGS_WAIT_MS = 200
const TAGS_TRIES = 10

/** What a page sends; `previous_receipt` is added where there is a marker. */
export interface VisitBody {
  readonly project: string
  readonly url_id: string
  /** Origin and path. */
  readonly page_url: string
  readonly referrer: string | undefined
  readonly identities: object
  readonly source: object
  readonly gpc: boolean
  readonly client: object
}

/** The page as it is now: a single-page application may show another address by the time the service has answered. */
export const viewPage = (): PageView => ({ url: location.href, referrer: document.referrer, nowMs: Date.now() })

/** Everything but `previous_receipt`. Under Global Privacy Control only GA4 is read, and no click ID is remembered. */
export async function composeVisit(page: Page, scope: Scope, view: PageView, answer: Answer): Promise<VisitBody> {
  const { project, adapters } = scope
  const config = answer as unknown as BrowserConfig
  const gpc = hasGpc()
  if (gpc) config.providers = []
  await waitForTags(config, scope)
  const landing = await rememberLanding(page, project, view, config.providers)
  const { clicks: _, google: __, ...source } = landing
  const custom = adapters.size && !gpc ? await (await loadExtras(page))?.readAdapters(adapters) : undefined
  const { origin, pathname } = new URL(view.url)
  const page_url = origin + pathname
  return {
    project,
    url_id: page.registeredId ?? (await urlIdOf(page_url)),
    page_url,
    referrer: originAndPath(view.referrer),
    identities: { ...readIdentities(config, cookieReader(document.cookie), landing), custom },
    source,
    gpc,
    client: await readClient(),
  }
}

/** The page's ID where the website has not given it one: the beginning of the digest of origin and path. */
async function urlIdOf(pageUrl: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(pageUrl))
  return `url_${new DataView(digest).getBigUint64(0).toString(16).padStart(16, '0')}`
}

/** Resolves when the tags' cookies are there, at the latest after two seconds, or as soon as the token is asked for. */
async function waitForTags(config: BrowserConfig, scope: Scope): Promise<void> {
  for (
    let tries = 0;
    tries < TAGS_TRIES && !scope.isUrgent && !areTagsReady(config, cookieReader(document.cookie));
    tries++
  ) {
    await new Promise((resolve) => setTimeout(resolve, TAGS_WAIT_MS))
  }
}

/** Under this name the tab remembers how it came to the website. */
export const memoryKey = (project: string) => `whence:${project}`

async function rememberLanding(
  page: Page,
  project: string,
  view: PageView,
  providers: readonly string[],
): Promise<Landing> {
  const key = memoryKey(project)
  const landing = landingOf(
    view,
    providers,
    tryStorage(() => sessionStorage.getItem(key)),
  )
  if (landing.landed_at === view.nowMs && providers.includes('google_ads') && /gad_|gclid|braid/.test(view.url)) {
    landing.google = (await loadExtras(page))?.sessionAttributes(view)
  }
  tryStorage(() => sessionStorage.setItem(key, JSON.stringify(landing)))
  return landing
}

/** Browsers that block storage throw on the mere access, and full ones on writing. */
function tryStorage<Result>(use: () => Result): Result | undefined {
  try {
    return use()
  } catch {
    return undefined
  }
}
