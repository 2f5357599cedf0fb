/** Builds the body of a visit from the page, its cookies and the tab's memory. */

import type { VisitBody, Page, Scope } from './types.ts'
import { readClient } from './client.ts'
import { cookieReader } from './cookies.ts'
import type { Added, BrowserConfig } from './identities.ts'
import { areTagsReady, readIdentities } from './identities.ts'
import { hasGpc, extrasOf } from './page.ts'
import type { Landing } from './landing.ts'
import type { PageView } from './source.ts'
import { campaignOf, landingOf, originAndPath } from './source.ts'

/** How long, and how often, a visit waits for the cookies of tags that load beside the SDK. */
const TAGS_WAIT_MS = 200
const TAGS_TRIES = 10

/** The page as it is now: a single-page application may show another address by the time the service has answered. */
export const viewPage = (): PageView => ({ url: location.href, referrer: document.referrer, nowMs: Date.now() })

/** The part of a visit's body that needs no request. The landing is remembered before anything else. */
export async function beginVisit(page: Page, project: string): Promise<VisitBody> {
  const { clicks: _, page: __, ...source } = rememberLanding(page, project)
  const page_url = originAndPath(location.href)
  const referrer = originAndPath(document.referrer)
  const url_id = page.registeredId ?? (await urlIdOf(page_url))
  const body = { project, url_id, page_url, referrer, source, gpc: hasGpc(), client: await readClient() }
  return body
}

/**
 * Adds what the service, the tags and the extras know. Rejects if the service does not know the website or does not
 * answer.
 */
export async function completeVisit(page: Page, scope: Scope, body: VisitBody): Promise<void> {
  const { project, adapters } = scope
  const landing = rememberLanding(page, project)
  const config = (await scope.send(`v1/projects/${project}/browser-config`)) as unknown as BrowserConfig
  if (body.gpc) config.providers = []
  const identify = (added?: Added) => {
    body.identities = readIdentities(config, cookieReader(document.cookie), landing, added)
  }
  // Throws if the answer is no configuration.
  identify()
  await waitForTags(config, scope)
  const needsExtras = !body.gpc && (adapters.size || /gad_|gclid|braid/.test(campaignOf(landing)))
  identify(needsExtras ? await (await extrasOf(page))?.added(landing, adapters) : undefined)
}

/** The page's default ID: the beginning of the digest of origin and path. */
async function urlIdOf(pageUrl: string | undefined): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(pageUrl))
  return `url_${new DataView(digest).getBigUint64(0).toString(16).padStart(16, '0')}`
}

/** Resolves when the tags' cookies are there, after two seconds at the latest, or as soon as a token is requested. */
async function waitForTags(config: BrowserConfig, scope: Scope): Promise<void> {
  let tries = TAGS_TRIES
  while (tries-- && !scope.isUrgent && !areTagsReady(config, cookieReader(document.cookie)))
    await new Promise((resolve) => setTimeout(resolve, TAGS_WAIT_MS))
}

/** The key of the tab's memory of how it came to the website. */
export const memoryKey = (project: string) => `whence:${project}`

/** The landing of the tab's visitor, kept in the tab for later pages. Repeating it changes nothing. */
export function rememberLanding(page: Page, project: string): Landing {
  const key = memoryKey(project)
  const landing = landingOf(page.view, hasGpc(), () => sessionStorage.getItem(key))
  try {
    sessionStorage.setItem(key, JSON.stringify(landing))
  } catch {
    // Storage is blocked or full: this page still knows its own landing.
  }
  return landing
}
