/** Signing in through OpenID Connect: authorisation code with PKCE, state and nonce, bound to the browser that began. */

import * as client from 'openid-client'

import { shapeOf, isText, parsedAs } from '../../domain/guards.ts'
import { refuse } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { OnceVerbs } from '../../ports/hot-state/session-verbs.ts'
import { answer, answerElsewhere, type Call, type CallTo, type CookieChanges } from '../http/call.ts'
import { sha256Hex } from '../../common/digest.ts'
import type { Randomness } from '../../runtime/random.ts'
import { secretText, type Sessions } from '../sessions/sessions.ts'
import { finishSignIn } from './finish.ts'
import type { AttemptSecrets, IdentityProvider } from './identity-provider.ts'
import type { Accounts } from './same-account.ts'

export interface OidcParts {
  readonly provider: IdentityProvider
  readonly accounts: Accounts
  readonly sessions: Sessions
  readonly hotState: OnceVerbs
  readonly randomness: Randomness
  readonly baseUrl: string
}

interface OidcAttempt extends AttemptSecrets {
  readonly returnTo: string
}

const isAttempt = shapeOf<OidcAttempt>({ nonce: isText, verifier: isText, returnTo: isText })

const CALLBACK = '/api/sign-in/oidc/callback'

export function startOidc(parts: OidcParts) {
  return async (call: CallTo<'startOidc'>) => {
    const { randomness, hotState, baseUrl } = parts
    const { discovery } = parts.provider
    if (discovery === null) return refuse('oidc_not_configured')
    const config = discovery.current()
    if (config === null) return refuse('unavailable')
    const browser = secretText(randomness)
    const state = secretText(randomness)
    const returnTo = ownPath(call.body.returnTo ?? '/')
    const attempt: OidcAttempt = { nonce: secretText(randomness), verifier: secretText(randomness), returnTo }
    await hotState.putOnce(signInKey(browser, state), JSON.stringify(attempt), LIMITS.signInMs)
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: `${baseUrl}${CALLBACK}`,
      scope: discovery.scopes,
      code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
      state,
      nonce: attempt.nonce,
    })
    const begun = [attemptId(state), { value: browser, forMs: LIMITS.signInMs }] as const
    return answer({ url: url.href }, { cookies: { attempts: new Map([...endedFor(call), begun]) } })
  }
}

/** A cookie each: what becomes of one attempt leaves those of other tabs alone. The oldest ones make room. */
function endedFor({ attempts }: Call): readonly (readonly [string, null])[] {
  return [...attempts.keys()].slice(0, Math.max(0, attempts.size + 1 - ATTEMPTS_MAX)).map((id) => [id, null])
}

const ATTEMPTS_MAX = 8
const ATTEMPT_ID_CHARS = 12

function attemptId(state: string): string {
  return sha256Hex(state).slice(0, ATTEMPT_ID_CHARS)
}

/** Where the identity provider sends the browser back: ends on one of our pages, signed in or with the reason. */
export function finishOidc(parts: OidcParts) {
  return async (call: Call) => {
    const { provider, accounts } = parts
    const config = provider.discovery?.current() ?? null
    const attempt = config === null ? null : await takeAttempt(call, parts)
    if (config === null || attempt === null) return failed(call)
    // The configured address, never the Host header: it is part of what the provider checks.
    const url = new URL(`${parts.baseUrl}${CALLBACK}?${call.search.toString()}`)
    const proven = await provider.redeem(config, url, { ...attempt, state: call.search.get('state') ?? '' })
    if (proven === null) return failed(call)
    if (!(await accounts.isSame(proven.email, proven.account))) return failed(call, REPLACED)
    const { email, groups, grant } = proven
    const { cookies = {} } = await finishSignIn(call, parts.sessions, { email, groups, grant, method: 'oidc' })
    return answerElsewhere(attempt.returnTo, { ...cookies, ...attemptEnded(call) })
  }
}

async function takeAttempt({ attempts, search }: Call, { hotState }: OidcParts): Promise<OidcAttempt | null> {
  const state = search.get('state') ?? ''
  const browser = attempts.get(attemptId(state))
  if (browser === undefined) return null
  const text = await hotState.takeOnce(signInKey(browser, state))
  return text === null ? null : parsedAs(isAttempt, text)
}

/** The end of the address that says why nobody was signed in. */
export const REPLACED = '=account_replaced'

function failed(call: Call, why: '' | typeof REPLACED = '') {
  return answerElsewhere(`/sign-in#failed${why}`, attemptEnded(call))
}

function attemptEnded({ attempts, search }: Call): CookieChanges {
  const id = attemptId(search.get('state') ?? '')
  return attempts.has(id) ? { attempts: new Map([[id, null]]) } : {}
}

/** Only one of our own pages: a single slash, and no backslash, which browsers read as a slash. */
function ownPath(path: string): string {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(path) && !path.includes('\\') ? path : '/'
}

function signInKey(browser: string, state: string): string {
  return `oidc/${sha256Hex(`${browser} ${state}`)}`
}
