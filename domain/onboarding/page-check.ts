/** What the source of a page says about the set-up, for what sends no request: nothing of the page itself is passed on. */

import { blockingDirective } from './content-policy.ts'
import { attribute, findScriptTag, type ScriptTag } from './script-tag.ts'

/** Why a page could not be read. */
export const PAGE_FAILURES = [
  'not_registered',
  'not_public',
  'name_unknown',
  'no_connection',
  'bad_certificate',
  'too_slow',
  'not_readable',
  'leads_away',
  'not_found',
  'refused',
] as const
export type PageFailure = (typeof PAGE_FAILURES)[number]

/** What is wrong with a page that was read, the most certain first; `fine` if nothing of it shows in the source. */
export const PAGE_FINDINGS = [
  'no_script',
  'tag_manager',
  'no_project',
  'other_project',
  'other_service',
  'policy_script',
  'policy_connect',
  'consent_denied',
  'consent_required',
  'manual_start',
  'no_command',
  'fine',
] as const
export type PageFinding = (typeof PAGE_FINDINGS)[number]

/** As it was fetched. */
export interface FetchedPage {
  /** After redirects. */
  readonly url: URL
  /** Of the headers; those of the source are found in it. */
  readonly policies: readonly string[]
  /** Its beginning is enough: script and policy stand in the head. */
  readonly html: string
}

export interface ExpectedSetUp {
  readonly website: string
  /** Public address of the service, without a slash at its end. */
  readonly baseUrl: string
}

export function sourceFindings(page: FetchedPage, expected: ExpectedSetUp): readonly PageFinding[] {
  const tag = findScriptTag(page.html, page.url)
  if (tag === null) return [/googletagmanager\.com\/gtm\.js/.test(page.html) ? 'tag_manager' : 'no_script']
  const found = [
    ...namingFindings(tag, page.url, expected),
    ...policyFindings(page, tag),
    ...consentFindings(tag),
    ...(isCommandMarked(page.html) ? [] : ['no_command' as const]),
  ]
  return found.length === 0 ? ['fine'] : found
}

function namingFindings(tag: ScriptTag, page: URL, { website, baseUrl }: ExpectedSetUp): readonly PageFinding[] {
  if (tag.website === null) return ['no_project']
  if (tag.website !== website) return ['other_project']
  // A path of the page's own site may lead to the service.
  const isOurs = tag.serviceUrl === `${baseUrl}/` || new URL(tag.serviceUrl).origin === page.origin
  return isOurs ? [] : ['other_service']
}

function policyFindings({ url, policies, html }: FetchedPage, tag: ScriptTag): readonly PageFinding[] {
  const all = [...policies, ...policiesIn(html)]
  const service = new URL(tag.serviceUrl)
  const script = { as: 'script', url: new URL('browser.js', service), nonce: tag.nonce } as const
  if (blockingDirective(all, url, script) !== null) return ['policy_script']
  const request = { as: 'connect', url: new URL('v1/visits', service), nonce: null } as const
  return blockingDirective(all, url, request) === null ? [] : ['policy_connect']
}

function policiesIn(html: string): readonly string[] {
  return [...html.matchAll(/<meta\b[^>]*>/gi)]
    .filter(([tag]) => attribute(tag, 'http-equiv')?.toLowerCase() === 'content-security-policy')
    .map(([tag]) => (attribute(tag, 'content') ?? '').replaceAll('&#39;', "'").replaceAll('&apos;', "'"))
}

function consentFindings({ consent, isManual }: ScriptTag): readonly PageFinding[] {
  if (consent === 'denied') return ['consent_denied']
  // A misspelt word counts as this one.
  if (consent !== null && consent !== 'granted') return ['consent_required']
  return isManual ? ['manual_start'] : []
}

function isCommandMarked(html: string): boolean {
  return /\sdata-(?:whence-command|commands)\b/i.test(html)
}
