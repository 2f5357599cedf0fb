/** Sends one request to its provider and returns its outcome: checked here, or sent, with a token if one is needed. */

import { LIMITS } from '../../domain/limits.ts'
import type { OutboundProxy } from '../../domain/outbound/proxy.ts'
import { createTokens, type Tokens } from './auth.ts'
import type { Outcome, OauthGrant, Provider, ProviderReply, ProviderRequest } from '../providers/provider.ts'
import { createSender } from './send.ts'

/** A provider, and how it is reached. */
export interface ProviderAccess {
  readonly provider: Provider
  /** Origin of the provider's API: its own, or a stand-in from the settings. */
  readonly baseUrl: string
  /** Origin of the service that issues access tokens, for a provider that needs them. */
  readonly tokenUrl?: string
  /** Through which these are called; absent or null: directly. */
  readonly proxy?: OutboundProxy | null
  /** Time limit of one exchange, in ms; the default is 10 s. */
  readonly exchangeMs?: number
}

/** A provider that can be called. */
export interface ProviderLine {
  readonly provider: Provider
  /** Origin of the provider's API, for the request address in records. */
  readonly baseUrl: string
  /** Never rejects. `judge` is the provider's interpretation of an answer; it is not called if nothing was sent. */
  readonly exchange: <O>(
    request: ProviderRequest,
    secrets: Readonly<Record<string, string>>,
    judge: (reply: ProviderReply) => O | Outcome,
  ) => Promise<Exchanged<O>>
  /** Closes idle connections; exchanges in flight end by themselves. */
  readonly close: () => void
}

export interface Exchanged<O> {
  /** As it was sent, so that the token is redacted too. */
  readonly request: ProviderRequest
  readonly reply: ProviderReply
  readonly outcome: O | Outcome
}

type Send = (request: ProviderRequest) => Promise<ProviderReply>

const NOTHING_SENT: ProviderReply = { status: 0, headers: {}, body: '', failure: '', isUnclear: false }

export function openProvider(access: ProviderAccess, nowMs: () => number): ProviderLine {
  const { provider, baseUrl, proxy, exchangeMs } = access
  const sender = createSender({ baseUrl, proxy, exchangeMs })
  const tokens = tokensOf(access, nowMs)
  return {
    provider,
    baseUrl,
    async exchange(request, secrets, judge) {
      if (request.checkedHere !== undefined) {
        return { request, reply: NOTHING_SENT, outcome: outcomeHere(request.checkedHere) }
      }
      if (provider.auth === undefined || tokens === null) {
        const reply = await sender.send(request)
        return { request, reply, outcome: judge(reply) }
      }
      const grant = provider.auth.grant(secrets)
      if (grant === null) {
        return { request, reply: NOTHING_SENT, outcome: { kind: 'credentials', code: 'token: unusable_credentials' } }
      }
      const send = (authorized: ProviderRequest) => sender.send(authorized)
      return exchangeWithToken({ tokens, send, grant }, request, judge)
    },
    close() {
      sender.close()
      tokens?.close()
    },
  }
}

/** A token and its request share the time limit of one exchange: a claim covers both, and a second try of both. */
function tokensOf({ provider, tokenUrl, proxy, exchangeMs }: ProviderAccess, nowMs: () => number): Tokens | null {
  if (provider.auth === undefined) return null
  if (tokenUrl === undefined) throw new Error(`${provider.id} needs a token service`)
  const halfMs = Math.round((exchangeMs ?? LIMITS.webhookMs) / 2)
  return createTokens({ baseUrl: tokenUrl, proxy, nowMs, exchangeMs: halfMs })
}

interface AuthorizedSending {
  readonly tokens: Tokens
  readonly send: Send
  readonly grant: OauthGrant
}

/** A token may be revoked early: after a refusal it is renewed once, and the second answer counts. */
async function exchangeWithToken<O>(
  { tokens, send, grant }: AuthorizedSending,
  request: ProviderRequest,
  judge: (reply: ProviderReply) => O | Outcome,
): Promise<Exchanged<O>> {
  for (let tries = 1; ; tries += 1) {
    const result = await tokens.get(grant)
    if (result.kind === 'none') return { request, reply: NOTHING_SENT, outcome: result.outcome }
    const authorized = withToken(request, result.token)
    const reply = await send(authorized)
    if (reply.status !== 401 || tries > 1) return { request: authorized, reply, outcome: judge(reply) }
    tokens.drop(grant, result.token)
  }
}

function withToken(request: ProviderRequest, token: string): ProviderRequest {
  return {
    ...request,
    headers: { ...request.headers, authorization: `Bearer ${token}` },
    secrets: [...request.secrets, token],
  }
}

function outcomeHere(faults: readonly string[]): Outcome {
  if (faults.length === 0) return { kind: 'delivered', code: 'checked_here' }
  return { kind: 'refused', code: faults.join('; ') }
}
