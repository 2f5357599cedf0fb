/** Composes the body of a visit from what the page, its cookies and the tab's memory tell. */

import type { Identities } from '../domain/model.ts'
import type { CustomFields } from './whence.d.ts'
import { readClient } from './client.ts'
import { cookieReader } from './cookies.ts'
import type { BrowserConfig } from './identities.ts'
import { areTagsReady, readIdentities } from './identities.ts'
import type { Page } from './page.ts'
import { hasGpc, loadExtras } from './page.ts'
import type { Landing } from './source.ts'
import { landingOf, originAndPath } from './source.ts'

/** How long, and how often, a visit waits for the cookies of tags that load beside the SDK. */
const TAGS_WAIT_MS = 200
const TAGS_TRIES = 10

/** Custom adapters by name. */
export type Adapters = ReadonlyMap<string, () => CustomFields | Promise<CustomFields>>

/** What a page sends; `previous_receipt` is added where there is a marker. */
export interface VisitBody {
  readonly project: string
  readonly url_id: string
  readonly page_url: string
  readonly referrer: string | undefined
  readonly identities: Identities
  readonly source: object
  readonly gpc: boolean
  readonly client: object
}

/** What is known of a visit before its page is read. */
export interface VisitFacts {
  readonly project: string
  readonly urlId: string
  /** Origin and path. */
  readonly pageUrl: string
  readonly config: BrowserConfig
  readonly adapters: Adapters
}

/** The page's ID where the website has not given it one: the beginning of the digest of origin and path. */
export async function urlIdOf(pageUrl: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(pageUrl))
  return `url_${Array.from(new Uint8Array(digest, 0, 8), (byte) => (byte + 256).toString(16).slice(1)).join('')}`
}

/** Resolves when the tags' cookies are there, at the latest after two seconds, or as soon as `isUrgent` says so. */
export async function waitForTags(config: BrowserConfig, isUrgent: () => boolean): Promise<void> {
  for (
    let tries = 0;
    tries < TAGS_TRIES && !isUrgent() && !areTagsReady(config, cookieReader(document.cookie));
    tries++
  ) {
    await new Promise((resolve) => setTimeout(resolve, TAGS_WAIT_MS))
  }
}

/** Under Global Privacy Control only GA4 is read, and no click ID is remembered. */
export async function composeVisit(
  page: Page,
  { project, urlId, pageUrl, config, adapters }: VisitFacts,
): Promise<VisitBody> {
  const gpc = hasGpc()
  const allowed = gpc ? { ...config, providers: [] } : config
  const landing = await rememberLanding(page, project, allowed.providers)
  const custom = !gpc && adapters.size ? await (await loadExtras(page))?.readAdapters(adapters) : undefined
  return {
    project,
    url_id: urlId,
    page_url: pageUrl,
    referrer: originAndPath(document.referrer),
    identities: { ...readIdentities(allowed, cookieReader(document.cookie), landing), ...(custom && { custom }) },
    source: { referrer: landing.referrer, utm: landing.utm, landed_at: landing.at },
    gpc,
    client: await readClient(),
  }
}

const memoryKey = (project: string) => `whence:${project}`

async function rememberLanding(page: Page, project: string, providers: readonly string[]): Promise<Landing> {
  const key = memoryKey(project)
  const view = { url: location.href, referrer: document.referrer, nowMs: Date.now() }
  const landing = landingOf(
    view,
    providers,
    tryStorage((storage) => storage.getItem(key)),
  )
  if (landing.at === view.nowMs && providers.includes('google_ads') && /\bgad_|\bgclid=|braid=/.test(location.search)) {
    landing.google = (await loadExtras(page))?.sessionAttributes({ ...view, userAgent: navigator.userAgent })
  }
  tryStorage((storage) => storage.setItem(key, JSON.stringify(landing)))
  return landing
}

/** The visitor has withdrawn consent: the tab forgets how it came here. */
export function forgetLanding(project: string): void {
  tryStorage((storage) => storage.removeItem(memoryKey(project)))
}

/** Browsers that block storage throw on the mere access. */
function tryStorage<Result>(use: (storage: Storage) => Result): Result | undefined {
  try {
    return use(sessionStorage)
  } catch {
    return undefined
  }
}
