/**
 * Browsers in which an address has signed in before. They have a window of mails of their own, so that strangers who ask for mails to
 * somebody's address cannot keep that person out. What is stored holds neither the address nor the cookie.
 */

import { sha256Hex } from '../../common/digest.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { OnceVerbs } from '../../ports/hot-state/session-verbs.ts'
import type { Call } from '../http/call.ts'

interface Claimed {
  readonly email: string
  /** Keyed hash of the address. */
  readonly mailHash: string
}

/** What tells this browser from others, if the address has signed in or is signed in here; otherwise null. */
export async function knownBrowser(
  { session, browser }: Pick<Call, 'session' | 'browser'>,
  { email, mailHash }: Claimed,
  hotState: OnceVerbs,
): Promise<string | null> {
  if (session?.email === email) return session.id
  if (browser === null) return null
  return (await hotState.readOnce(browserKey(browser, mailHash))) === null ? null : sha256Hex(browser)
}

/** For as long as the browser keeps its cookie. */
export async function rememberBrowser(browser: string, mailHash: string, hotState: OnceVerbs): Promise<void> {
  await hotState.replaceOnce(browserKey(browser, mailHash), '1', LIMITS.knownBrowserMs)
}

function browserKey(browser: string, mailHash: string): string {
  return `known-browser/${sha256Hex(`${browser} ${mailHash}`)}`
}
