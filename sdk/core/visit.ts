/** Builds the body of a visit from the page, its cookies and the tab's memory. */

import type { BrowserConfig, VisitBody, Page, Scope } from './types.ts'
import { nativeDocument } from './native.ts'
import { hasGpc } from './page.ts'
import { askExtras, askReaders } from './parts.ts'
import { BODY_BYTES } from './limits.ts'
import type { Landing } from './landing.ts'
import type { PageView } from './source.ts'
import { firstGroup, landingOf, originAndPath } from './source.ts'

/** The page as it is now: a single-page application may show another address by the time the service has answered. */
export const viewPage = (): PageView => ({ url: location.href, referrer: nativeDocument.referrer, nowMs: Date.now() })

/** The part of a visit's body that needs no request. The landing is remembered before anything else. */
export async function beginVisit(page: Page, project: string): Promise<VisitBody> {
  const { clicks: _, page: __, ...source } = rememberLanding(page, project)
  const page_url = originAndPath(location.href)
  const referrer = originAndPath(nativeDocument.referrer)
  const url_id = page.registeredId ?? (await urlIdOf(page_url))
  // The mark of a test, from the dashboard; without one the member is left out of the JSON.
  const test = firstGroup(/#_whence_test=(.+)/, page.view.url)
  const body = { project, url_id, page_url, referrer, source, gpc: hasGpc(), client: await readClient(), test }
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
  body.identities = {}
  if (body.gpc) config.providers = []
  await Promise.all([
    // Throws if the answer is no configuration.
    (config.measurementIds.length || config.providers.some((provider) => provider !== 'ga4')) &&
      askReaders(page, (readers) => readers.addIdentities(body, { config, landing, page, scope })),
    !body.gpc && adapters.size && askExtras(page, (extras) => extras.addCustom(body, adapters)),
  ])
  if (new Blob([JSON.stringify(body)]).size > BODY_BYTES) await askExtras(page, (extras) => extras.fit(body))
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
