/** Signing in through OpenID Connect: authorisation code with PKCE, state and nonce, bound to the browser that began. */

import * as client from 'openid-client'

import { memberOf } from '../../domain/strict-json.ts'
import { shapeOf, isText, parsedAs } from '../../domain/guards.ts'
import { refuse } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { lacksGroups, readClaims, type ClaimRules } from '../../domain/people/oidc-claims.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import { answer, answerElsewhere, type Call, type CallTo, type CookieChanges } from '../http/call.ts'
import { sha256Hex } from '../../common/digest.ts'
import { secretText, type Sessions } from '../sessions/sessions.ts'
import { finishSignIn } from './finish.ts'
import { accountOf } from './pins.ts'
import { isSameAccount, type SameAccountParts } from './same-account.ts'
import { groupGrantOf } from './read-groups.ts'
import type { Discovery } from './discovery.ts'

interface OidcParts extends Omit<SameAccountParts, 'hotState'> {
  readonly hotState: HotState
  readonly sessions: Sessions
  /** Null: the installation has no identity provider. */
  readonly discovery: Discovery | null
  readonly rules: ClaimRules
  readonly baseUrl: string
  readonly countGroupsMissing: () => void
}

interface OidcAttempt {
  readonly nonce: string
  readonly verifier: string
  readonly returnTo: string
}

const isAttempt = shapeOf<OidcAttempt>({ nonce: isText, verifier: isText, returnTo: isText })

const CALLBACK = '/api/sign-in/oidc/callback'

export function startOidc(parts: OidcParts) {
  return async (call: CallTo<'startOidc'>) => {
    const { discovery, randomness, hotState, baseUrl } = parts
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
    const config = parts.discovery?.current() ?? null
    const attempt = config === null ? null : await takeAttempt(call, parts)
    if (config === null || attempt === null) return failed(call)
    // The configured address, never the Host header: it is part of what the provider checks.
    const url = new URL(`${parts.baseUrl}${CALLBACK}?${call.search.toString()}`)
    const proven = await redeem(config, url, { attempt, state: call.search.get('state') ?? '', parts })
    if (proven === null) return failed(call)
    if (!(await isSameAccount(proven.email, proven.account, parts))) return failed(call, REPLACED)
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

interface Redemption {
  readonly attempt: OidcAttempt
  readonly state: string
  readonly parts: OidcParts
}

async function redeem(config: client.Configuration, url: URL, { attempt, state, parts }: Redemption) {
  try {
    const tokens = await client.authorizationCodeGrant(config, url, {
      pkceCodeVerifier: attempt.verifier,
      expectedNonce: attempt.nonce,
      expectedState: state,
      idTokenExpected: true,
    })
    const claims = tokens.claims()
    if (claims === undefined) return null
    const { userinfo_endpoint: endpoint } = config.serverMetadata()
    // Some providers give the address there alone.
    const more = endpoint === undefined ? {} : await client.fetchUserInfo(config, tokens.access_token, claims.sub)
    const said = { ...claims, ...more }
    const proven = readClaims(said, parts.rules)
    if (lacksGroups(said, parts.rules)) noteGroupsMissing(parts)
    if (proven === null) parts.logger.warn({}, 'the identity provider gave no proven address')
    if (proven === null) return null
    const grant = groupGrantOf(tokens, claims.sub, parts.nowMs())
    return { ...proven, grant, account: accountOf(claims.iss, claims.sub) }
  } catch (error) {
    parts.logger.warn(
      { code: memberOf(error, 'code'), reason: memberOf(error, 'error') },
      'the answer of the identity provider was refused',
    )
    return null
  }
}

/** Whoever set a claim for groups expects people to be members by them: without the claim they sign in and see nothing. */
function noteGroupsMissing({ rules, discovery, logger, countGroupsMissing }: OidcParts): void {
  countGroupsMissing()
  logger.warn(
    { claim: rules.groupsClaim, scopes: discovery?.scopes },
    'the identity provider names no groups: some do so only with a scope of its own (--oidc-scopes) or a setting of theirs',
  )
}

/** The end of the address that says why nobody was signed in. */
export const REPLACED = '=account_replaced'

function failed(call: Call, why: '' | typeof REPLACED = '') {
  return answerElsewhere(`/sign-in#failed${why}`, attemptEnded(call))
}

function attemptEnded({ attempts, search }: Call): Pick<CookieChanges, 'attempts'> {
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
