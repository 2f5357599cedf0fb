/** Follows what a link to another origin of the website carries: a redirect may drop it, a server may refuse it. */

import { isObject, memberOf, textOf } from '../../../domain/strict-json.ts'
import { problem, skipped, type Tell } from './finding.ts'
import { failureReason, type PageSetup } from './page.ts'

const ASK_MS = 10_000
const REDIRECTS_MAX = 10
/** Of the form that links carry, but nothing that the SDK believes. */
export const PROBE = '_whence=1check'

interface CrossingCheck extends PageSetup {
  /** Of the page that is checked. */
  readonly origin: string
}

/** The website's other origins that can be opened, for a look with a browser. These requests are not counted. */
export async function checkCrossing(check: CrossingCheck, tell: Tell): Promise<readonly string[]> {
  const site = await askSite(check)
  const others = site.origins.filter((each) => each !== check.origin)
  if (others.length === 0) return []
  if (site.crossOrigin === 'Disabled') {
    tell(skipped('crossing', "Links to the website's other origins carry nothing: its crossOrigin is Disabled."))
    return []
  }
  const open: string[] = []
  for (const other of others) if (await isReached(other, site.origins, tell)) open.push(other)
  return open
}

interface SiteAnswer {
  readonly origins: readonly string[]
  readonly crossOrigin: string
}

/** No origins if the service does not answer: other checks say so. */
async function askSite({ serviceUrl, website }: PageSetup): Promise<SiteAnswer> {
  const url = `${serviceUrl}v1/projects/${encodeURIComponent(website)}/origins`
  const body: unknown = await fetch(url, { signal: AbortSignal.timeout(ASK_MS) }).then(
    (answer) => answer.json().catch(() => null),
    () => null,
  )
  const origins = isObject(body) ? memberOf(body, 'origins') : []
  return {
    origins: Array.isArray(origins) ? origins.map(textOf) : [],
    crossOrigin: textOf(memberOf(body, 'crossOrigin')),
  }
}

/** Whether a browser can open the origin. Says what becomes of a query on the way. */
async function isReached(other: string, origins: readonly string[], tell: Tell): Promise<boolean> {
  try {
    const plain = await followRedirects(`${other}/`, origins)
    const carried = await followRedirects(`${other}/?${PROBE}`, origins)
    if (carried.status >= 400 && plain.status < 400) {
      const difference = `${carried.status} to an address with _whence in its query, and ${plain.status} without`
      tell(
        problem('crossing', `${carried.url} answers ${difference}: let the server ignore parameters it does not know.`),
      )
    }
    for (const redirect of carried.redirects) tellOfRedirect(redirect, origins, tell)
    return plain.status < 300
  } catch (error) {
    tell(skipped('crossing', `${other} cannot be opened from here: ${failureReason(error)}`))
    return false
  }
}

interface Redirect {
  readonly from: string
  readonly to: string
}

function tellOfRedirect({ from, to }: Redirect, origins: readonly string[], tell: Tell): void {
  const said = `${from} redirects to ${to}`
  if (!origins.includes(new URL(to).origin))
    tell(problem('crossing', `${said}, which is no origin of the website: add it to additionalDomains.`))
  else if (!to.includes(PROBE))
    tell(
      problem(
        'crossing',
        `${said} without _whence: let the redirect keep the query, or links that have a fragment lose where the visitor came from.`,
      ),
    )
}

interface RedirectChain {
  /** The last address, which answered with this status. */
  readonly url: string
  readonly status: number
  readonly redirects: readonly Redirect[]
}

/** Follows redirects within these origins. */
async function followRedirects(address: string, origins: readonly string[]): Promise<RedirectChain> {
  const redirects: Redirect[] = []
  let url = address
  for (;;) {
    const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(ASK_MS) })
    await answer.body?.cancel()
    const location = answer.headers.get('location')
    const to = location === null ? null : new URL(location, url)
    const isRedirect = answer.status >= 300 && answer.status < 400
    if (isRedirect && to !== null) redirects.push({ from: url, to: to.href })
    const isFollowed = isRedirect && to !== null && origins.includes(to.origin) && redirects.length < REDIRECTS_MAX
    if (!isFollowed) return { url, status: answer.status, redirects }
    url = to.href
  }
}
