/**
 * Gets access tokens for OAuth 2.0 credentials and caches them: one request at a time for each, renewed before they
 * expire.
 */

import { createHash, createSign } from 'node:crypto'

import { httpOutcome } from '../providers/http-outcome.ts'
import { jsonObject } from '../providers/json-answer.ts'
import type { OauthGrant, Outcome, ProviderReply, ProviderRequest } from '../providers/provider.ts'
import { createSender } from './send.ts'
import { MINUTE_MS } from '../../domain/durations.ts'
import type { OutboundProxy } from '../../domain/outbound/proxy.ts'
import { BoundedMap } from '../../common/bounded-map.ts'

interface TokensOptions {
  /** Origin of the token service, for example `https://oauth2.googleapis.com`. */
  readonly baseUrl: string
  /** Through which it is called; absent or null: directly. */
  readonly proxy?: OutboundProxy | null | undefined
  readonly nowMs: () => number
  /** Time limit of one request to the token service, in ms. */
  readonly exchangeMs: number
}

type TokenResult =
  | { readonly kind: 'token'; readonly token: string }
  /** The outcome of a delivery that lacks the token. */
  | { readonly kind: 'none'; readonly outcome: Outcome }

export interface Tokens {
  /** Never rejects. */
  get(grant: OauthGrant): Promise<TokenResult>
  /** Forgets a refused token; a newer one stays. */
  drop(grant: OauthGrant, token: string): void
  close(): void
}

/** A token is renewed this long before it expires, so that none expires in flight. */
const RENEW_MS = 5 * MINUTE_MS
/** For a token whose answer gives no lifetime. */
const LIFETIME_S = 3_600
/** An assertion is valid for an hour at most; Google issues tokens for it with the same lifetime. */
const ASSERTION_S = 3_600
/** Tokens cached; the oldest goes first. */
const KEPT = 10_000

interface CachedToken {
  readonly token: string
  readonly renewAtMs: number
}

/** The cache is keyed by a digest, so that it holds no credential in the clear. */
export function createTokens(options: TokensOptions): Tokens {
  const sender = createSender({ baseUrl: options.baseUrl, proxy: options.proxy, exchangeMs: options.exchangeMs })
  const kept = new BoundedMap<string, CachedToken>(KEPT)
  const underWay = new Map<string, Promise<TokenResult>>()

  async function fetchToken(key: string, grant: OauthGrant): Promise<TokenResult> {
    const request = tokenRequest(grant, options.nowMs())
    if (request === null) return none({ kind: 'credentials', code: 'token: unusable_key' })
    const reply = await sender.send(request)
    const answer = tokenAnswer(reply)
    if (answer === null) return none(tokenOutcome(reply))
    const renewAtMs = options.nowMs() + answer.lifetimeS * 1_000 - RENEW_MS
    kept.set(key, { token: answer.token, renewAtMs })
    return { kind: 'token', token: answer.token }
  }

  return {
    async get(grant) {
      const key = grantDigest(grant)
      const known = kept.get(key)
      if (known !== undefined && options.nowMs() < known.renewAtMs) return { kind: 'token', token: known.token }
      const running = underWay.get(key)
      if (running !== undefined) return running
      const fetching = fetchToken(key, grant).finally(() => underWay.delete(key))
      underWay.set(key, fetching)
      return fetching
    },
    drop(grant, token) {
      const key = grantDigest(grant)
      if (kept.get(key)?.token === token) kept.delete(key)
    },
    close: () => sender.close(),
  }
}

function grantDigest(grant: OauthGrant): string {
  return createHash('sha256').update(JSON.stringify(grant)).digest('base64')
}

function none(outcome: Outcome): TokenResult {
  return { kind: 'none', outcome }
}

/** Null if the key cannot sign. */
function tokenRequest(grant: OauthGrant, nowMs: number): ProviderRequest | null {
  const form = formOf(grant, nowMs)
  if (form === null) return null
  return {
    method: 'POST',
    path: '/token',
    query: {},
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
    sessionMode: 'none',
    detail: '',
    secrets: [],
  }
}

function formOf(grant: OauthGrant, nowMs: number): Record<string, string> | null {
  if (grant.kind === 'refresh_token') {
    const { clientId, clientSecret, refreshToken } = grant
    const client = { client_id: clientId, client_secret: clientSecret }
    return { grant_type: 'refresh_token', ...client, refresh_token: refreshToken }
  }
  const assertion = signedAssertion(grant, nowMs)
  return assertion === null ? null : { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }
}

function signedAssertion(grant: Extract<OauthGrant, { kind: 'assertion' }>, nowMs: number): string | null {
  const issuedAtS = Math.floor(nowMs / 1_000)
  const header = { alg: 'RS256', typ: 'JWT', ...(grant.keyId === '' ? {} : { kid: grant.keyId }) }
  const { issuer, scope, audience } = grant
  const claims = { iss: issuer, scope, aud: audience, iat: issuedAtS, exp: issuedAtS + ASSERTION_S }
  const unsigned = `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(claims))}`
  try {
    return `${unsigned}.${createSign('RSA-SHA256').update(unsigned).sign(grant.privateKeyPem, 'base64url')}`
  } catch {
    return null
  }
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}

/** RFC 6749, section 5.1; null if the answer contains no token. */
function tokenAnswer(reply: ProviderReply): { token: string; lifetimeS: number } | null {
  if (reply.status !== 200 || reply.failure !== '') return null
  const answer = jsonObject(reply.body)
  const token = answer['access_token']
  if (typeof token !== 'string' || token === '') return null
  const lifetimeS = Number(answer['expires_in'] ?? LIFETIME_S)
  return { token, lifetimeS: Number.isFinite(lifetimeS) ? lifetimeS : LIFETIME_S }
}

/** A 400 means faulty credentials (RFC 6749, section 5.2); other failures may pass. */
function tokenOutcome(reply: ProviderReply): Outcome {
  const plain = httpOutcome(reply)
  const error = jsonObject(reply.body)['error']
  const word = typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? error : plain.code
  const code = `token: ${word}`
  if (plain.kind === 'throttled') return { ...plain, code }
  const mayPass = plain.kind === 'retry' || (reply.status >= 200 && reply.status < 300)
  return { kind: mayPass ? 'retry' : 'credentials', code }
}
