/**
 * Explains on the console what the SDK does or does not do, one sentence each with its fix. Only part of
 * `browser.debug.js`.
 */

import { documentValue, findInPage } from './document-value.ts'
import type { ServiceAnswer, Page } from './types.ts'

const said = new Set<string>()

/** What happens as it should. */
const say = (sentence: string): void => speak('info', sentence)

/** What the page's owner should fix or know. */
const warn = (sentence: string): void => speak('warn', sentence)

function speak(level: 'info' | 'warn', sentence: string): void {
  if (said.has(sentence)) return
  said.add(sentence)
  try {
    // eslint-disable-next-line no-console -- asked for by the page's owner
    console[level](`[whence] ${sentence}`)
  } catch {
    // The page has taken the console away.
  }
}

export function explainMissingProject(): void {
  warn('no data-project: give the script tag the ID of your website')
}

export function explainPage(page: Page, consent: string): void {
  if (!isSecureContext) warn('The page is not secure, so nothing is counted: serve it over https.')
  if (consent === 'required') say('Waiting for consent: call whence.grant() when the visitor agrees.')
  else if (consent === 'denied')
    warn('data-consent is "denied": nothing is read, stored or sent, and no call can change that.')
  else if (consent !== 'granted')
    warn(`data-consent="${consent}" is not known and counts as "required": use granted, required or denied.`)
  if ((navigator as Navigator & { globalPrivacyControl?: boolean }).globalPrivacyControl)
    warn(
      'This browser sends Global Privacy Control: only GA4 identities are read. Test with it switched off to see the rest.',
    )
  if (page.tagAttributes.markers === 'off')
    say('No marker is kept (data-markers="off"): only a copied command links an install to this visit.')
  if (!page.isAutomatic) say('Waiting for whence.start(), because the script tag has data-manual.')
  addEventListener('load', () => {
    try {
      checkCommands(page)
    } catch (error) {
      explainFailure(error)
    }
  })
}

function checkCommands({ tagAttributes: { commands = '' } }: Page): void {
  if (!findInPage(`:is([data-whence-command],${commands})`))
    say('No install command is marked on this page: add data-whence-command to the element that shows it.')
  for (const button of documentValue('documentElement').querySelectorAll<HTMLElement>('[data-whence-copy]')) {
    const selector = button.dataset['whenceCopy']
    if (selector && !findInPage(selector))
      warn(`data-whence-copy="${selector}" matches no element: let it name the install command.`)
  }
}

/** Whether this browser keeps a marker that a shell can read. */
export async function checkStorage(): Promise<void> {
  try {
    if (top?.location.href && navigator.vendor.startsWith('Apple'))
      warn('Safari keeps no marker that an installer could read: only a copied command links an install to this visit.')
    else await navigator.storage.getDirectory()
  } catch (error) {
    const name = error instanceof DOMException ? error.name : 'no storage'
    warn(
      `This page cannot keep a marker (${name}): it is a private window or a frame of another site. Only a copied command links an install to this visit.`,
    )
  }
}

/** Why a visit was abandoned. */
export function explainFailure(error: unknown): void {
  if (/policy/i.test(String(error)))
    warn(
      `Trusted Types block the parts that are loaded later: allow "trusted-types whence 'allow-duplicates'" while you debug.`,
    )
  else if (!(error instanceof TypeError)) warn(String(error))
}

/** `path` is the request's, without the service's address. */
export interface AnsweredRequest {
  readonly project: string
  readonly path: string
  readonly answer: ServiceAnswer
}

export function checkAnswer({ isAllowed }: Page, { project, path, answer }: AnsweredRequest): void {
  if (!isAllowed) return
  const { error, field, message } = answer
  if (typeof error === 'string') {
    const place = typeof field === 'string' ? ` (${field}: ${String(message)})` : ''
    return warn(`The service refuses ${path}: ${error}${place}. ${FIXES[error]?.(project) ?? ''}`)
  }
  const [key, sentence] = STEPS[path] ?? ['measurementIds', `The service knows the website "${project}".`]
  if (answer[key]) say(sentence)
}

/** By path: the key that a successful answer has, and what success means. */
const STEPS: Readonly<Record<string, readonly [string, string]>> = {
  'v1/visits': ['marker', 'The visit is recorded.'],
  'v1/visits/activate': [
    'ok',
    'The marker is written and active: an install on this machine within 30 days can match this visit.',
  ],
  'v1/handoffs': ['token', 'A handoff token is here: copied install commands carry it.'],
}

const FIXES: Readonly<Record<string, (project: string) => string>> = {
  website_not_found: (project) =>
    `No website has the ID "${project}": take the ID of your Website resource for data-project.`,
  origin_not_allowed: (project) => `Add ${location.origin} to the additionalDomains of the website "${project}".`,
  rate_limited: () => 'Wait a minute; if all visitors see it, the service does not trust your proxy (--trust-proxy).',
  receipt_revoked: () => 'Another tab has opened this page since, and its visit counts. This is normal.',
}

/** Called if a request got no answer that the page may read: finds out why. */
export async function explainSilence(url: string): Promise<void> {
  let isForbidden = false
  const noteViolation = ({ blockedURI }: SecurityPolicyViolationEvent) => {
    isForbidden ||= url.startsWith(blockedURI) || blockedURI.startsWith(new URL(url).origin)
  }
  addEventListener('securitypolicyviolation', noteViolation)
  const { origin } = new URL(url)
  const isThere = await fetch(url, { mode: 'no-cors', credentials: 'omit' }).then(
    () => true,
    () => false,
  )
  // The browser reports a violation in a task of its own.
  await new Promise((resolve) => setTimeout(resolve))
  removeEventListener('securitypolicyviolation', noteViolation)
  if (isForbidden) warn(`The page's Content Security Policy blocks ${origin}: add it to connect-src.`)
  else if (isThere)
    warn(
      `${location.origin} is registered for no website of ${origin}, so the browser keeps the answer from the page: add it to the additionalDomains of your Website.`,
    )
  else
    warn(
      `${origin} cannot be reached: an extension blocks it, or the service is down. Try without extensions, then open ${origin}/health.`,
    )
}
