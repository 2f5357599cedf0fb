/** Builds the body of a visit from the page, its cookies and the tab's memory. */

import type { VisitBody, Page, Scope } from './types.ts'
import { cookieReader } from './cookies.ts'
import type { BrowserConfig } from './identities.ts'
import { isGa4Ready, readIdentities } from './identities.ts'
import { nativeDocument } from './native.ts'
import { askExtras, extrasOf, hasGpc, reportProblem } from './page.ts'
import { BODY_BYTES } from './limits.ts'
import type { Landing } from './landing.ts'
import type { PageView } from './source.ts'
import { landingOf, originAndPath } from './source.ts'

/** How long, and how often, a visit waits for the cookies of tags that load beside the SDK. */
const TAGS_WAIT_MS = 200
const TAGS_TRIES = 10

const cookies = () => cookieReader(nativeDocument.cookie)

/** The page as it is now: a single-page application may show another address by the time the service has answered. */
export const viewPage = (): PageView => ({ url: location.href, referrer: nativeDocument.referrer, nowMs: Date.now() })

/** The part of a visit's body that needs no request. The landing is remembered before anything else. */
export async function beginVisit(page: Page, project: string): Promise<VisitBody> {
  const { clicks: _, page: __, ...source } = rememberLanding(page, project)
  const page_url = originAndPath(location.href)
  const referrer = originAndPath(nativeDocument.referrer)
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
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
  const config = (await scope.send(`v1/projects/${project}/browser-config`)) as unknown as BrowserConfig
  if (body.gpc) config.providers = []
  config.cookiePrefix = page.tagAttributes.ga4CookiePrefix
  const identify = () => {
    const read = [config, cookies(), landing] as const
    body.identities = { ...readIdentities(...read), ...page.extras?.advertising(...read) }
  }
  // Throws if the answer is no configuration.
  identify()
  const needsExtras = !body.gpc && (adapters.size || config.providers.some((provider) => provider !== 'ga4'))
  if (needsExtras) extrasOf(page).then(identify).catch(reportProblem)
  // For the tags' cookies: two seconds at most, and no longer than until a token is requested.
  const areTagsReady = () =>
    isGa4Ready(config, cookies()) && (!needsExtras || page.extras?.areAdTagsReady(config, cookies()))
  for (let tries = TAGS_TRIES; tries && !scope.isUrgent && !areTagsReady(); tries--)
    await new Promise((resolve) => setTimeout(resolve, TAGS_WAIT_MS))
  identify()
  if (needsExtras) await askExtras(page, (extras) => extras?.addCustom(body, adapters))
  if (new Blob([JSON.stringify(body)]).size > BODY_BYTES) await askExtras(page, (extras) => extras?.fit(body))
}

/** The page's default ID: the beginning of the digest of origin and path. */
const urlIdOf = (pageUrl: string | undefined): Promise<string> =>
  crypto.subtle
    .digest('SHA-256', new TextEncoder().encode(pageUrl))
    .then((digest) => `url_${new DataView(digest).getBigUint64(0).toString(16).padStart(16, '0')}`)

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

interface UserAgentData {
  getHighEntropyValues(names: string[]): Promise<object>
}

/** The `client` object of a visit. Hints that the browser does not offer are absent. Never rejects. */
async function readClient(): Promise<object> {
  const { userAgentData, brave } = navigator as Navigator & { userAgentData?: UserAgentData; brave?: object }
  return {
    // Brands, mobile and platform are always included.
    ...(await userAgentData?.getHighEntropyValues(['architecture', 'bitness']).catch(() => undefined)),
    brave: !!brave,
    touch: !!navigator.maxTouchPoints,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    language: navigator.language,
  }
}
