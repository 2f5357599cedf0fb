/**
 * A stand-in for Google's token service: refresh tokens and assertions in, access tokens out.
 *
 * Sources: RFC 6749 sections 5 and 6, RFC 7523 section 3, and developers.google.com/identity/protocols/oauth2 for the
 * address, the lifetime of an hour, and what an assertion of a service account must claim (November 2026).
 */

import { verify } from 'node:crypto'

import { isFilledText, parsed, type Json } from './checks.ts'
import { startStandIn } from './server.ts'
import type { Judgement, SimulatedRequest, StandInServer, StandInOptions } from './server.ts'

interface GoogleOauthOptions extends StandInOptions {
  /** Whether this refresh token is valid; by default every non-empty one is. */
  readonly isRefreshToken?: (token: string) => boolean
  /** The service account whose assertions are checked with its key; without it, all are refused. */
  readonly account?: { readonly email: string; readonly publicKeyPem: string }
}

export interface GoogleOauthStandIn extends StandInServer {
  /** Whether a token was issued, has not expired, and was not revoked. */
  isToken(token: string): boolean
  /** Revokes every issued token. */
  withdraw(): void
}

/** Of the issued tokens. */
const LIFETIME_S = 3_600
const SCOPE = 'https://www.googleapis.com/auth/datamanager'
const AUDIENCE = 'https://oauth2.googleapis.com/token'
const ASSERTION = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** Answers `POST /token`; a fault's key is the client ID, or the issuer of the assertion. */
export async function startGoogleOauthStandIn(options: GoogleOauthOptions): Promise<GoogleOauthStandIn> {
  const endsAtMs = new Map<string, number>()
  const nowMs = options.nowMs ?? Date.now
  let given = 0

  function give(key: string): Judgement {
    given += 1
    const token = `ya29.simulated-${given}`
    endsAtMs.set(token, nowMs() + LIFETIME_S * 1_000)
    const body = { access_token: token, expires_in: LIFETIME_S, scope: SCOPE, token_type: 'Bearer' }
    return { key, messages: [], status: 200, body }
  }

  const standIn = await startStandIn(options, (request) => {
    if (request.method !== 'POST' || request.url.pathname !== '/token') return null
    const form = new URLSearchParams(request.body)
    const grantType = form.get('grant_type')
    if (grantType === 'refresh_token') return judgeRefresh(form, options, give)
    if (grantType === ASSERTION) return judgeAssertion(form, options, { request, give })
    return oauthRefusal('', 'unsupported_grant_type', 'grant_type is unknown')
  })
  return {
    ...standIn,
    isToken: (token) => nowMs() < (endsAtMs.get(token) ?? 0),
    withdraw: () => endsAtMs.clear(),
  }
}

function judgeRefresh(form: URLSearchParams, options: GoogleOauthOptions, give: (key: string) => Judgement): Judgement {
  const key = form.get('client_id') ?? ''
  if (key === '' || (form.get('client_secret') ?? '') === '') return oauthRefusal(key, 'invalid_client', 'no client')
  const token = form.get('refresh_token') ?? ''
  const isGood = options.isRefreshToken?.(token) ?? token !== ''
  return isGood ? give(key) : oauthRefusal(key, 'invalid_grant', 'Token has been expired or revoked.')
}

function judgeAssertion(
  form: URLSearchParams,
  { account }: GoogleOauthOptions,
  { request, give }: { request: SimulatedRequest; give: (key: string) => Judgement },
): Judgement {
  const [head, body, signature] = assertionParts(form.get('assertion') ?? '')
  const claims = parsed(decodePart(body)) ?? {}
  const issuer = claims['iss']
  const key = isFilledText(issuer) ? issuer : ''
  if (account === undefined || key !== account.email) return oauthRefusal(key, 'invalid_grant', 'account not found')
  const isSigned = hasSigned(account.publicKeyPem, [head, body, signature])
  if (!isSigned || parsed(decodePart(head))?.['alg'] !== 'RS256')
    return oauthRefusal(key, 'invalid_grant', 'bad signature')
  if (claims['aud'] !== AUDIENCE) return oauthRefusal(key, 'invalid_grant', 'wrong audience')
  if (claims['scope'] !== SCOPE) return oauthRefusal(key, 'invalid_scope', 'wrong scope')
  return isTimely(claims, request.nowMs / 1_000) ? give(key) : oauthRefusal(key, 'invalid_grant', 'wrong iat or exp')
}

function assertionParts(assertion: string): readonly [string, string, string] {
  const [head = '', body = '', signature = ''] = assertion.split('.')
  return [head, body, signature]
}

function hasSigned(publicKeyPem: string, [head, body, signature]: readonly [string, string, string]): boolean {
  return verify('RSA-SHA256', Buffer.from(`${head}.${body}`), publicKeyPem, Buffer.from(signature, 'base64url'))
}

function isTimely(claims: Json, nowS: number): boolean {
  const issuedS = Number(claims['iat'])
  const endsS = Number(claims['exp'])
  return issuedS <= nowS + 60 && endsS > nowS && endsS - issuedS <= LIFETIME_S
}

function decodePart(part: string): string {
  return Buffer.from(part, 'base64url').toString('utf8')
}

function oauthRefusal(key: string, error: string, description: string): Judgement {
  return { key, messages: [description], status: 400, body: { error, error_description: description } }
}
