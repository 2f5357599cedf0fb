/** Sends one request to its provider and returns its outcome: checked here, or sent, with a token if one is needed. */

import type { Tokens } from './auth.ts'
import type { Outcome, OauthGrant, Provider, ProviderReply, ProviderRequest } from '../providers/provider.ts'
import type { Sender } from './send.ts'

export interface ExchangeDeps {
  readonly provider: Pick<Provider, 'auth'>
  readonly sender: Pick<Sender, 'send'>
  /** Null for providers that need no token. */
  readonly tokens: Tokens | null
}

export interface Exchanged<O> {
  /** As it was sent, so that the token is redacted too. */
  readonly request: ProviderRequest
  readonly reply: ProviderReply
  readonly outcome: O | Outcome
}

const NOTHING_SENT: ProviderReply = { status: 0, headers: {}, body: '', failure: '', isUnclear: false }

/** Never rejects. `judge` is the provider's interpretation of an answer; it is not called if nothing was sent. */
export async function exchange<O>(
  deps: ExchangeDeps,
  request: ProviderRequest,
  secrets: Readonly<Record<string, string>>,
  judge: (reply: ProviderReply) => O | Outcome,
): Promise<Exchanged<O>> {
  if (request.checkedHere !== undefined) {
    return { request, reply: NOTHING_SENT, outcome: outcomeHere(request.checkedHere) }
  }
  if (deps.provider.auth === undefined || deps.tokens === null) {
    const reply = await deps.sender.send(request)
    return { request, reply, outcome: judge(reply) }
  }
  const grant = deps.provider.auth.grant(secrets)
  if (grant === null) {
    return { request, reply: NOTHING_SENT, outcome: { kind: 'credentials', code: 'token: unusable_credentials' } }
  }
  return exchangeWithToken({ ...deps, tokens: deps.tokens }, request, grant, judge)
}

/** A token may be revoked early: after a refusal it is renewed once, and the second answer counts. */
async function exchangeWithToken<O>(
  deps: ExchangeDeps & { readonly tokens: Tokens },
  request: ProviderRequest,
  grant: OauthGrant,
  judge: (reply: ProviderReply) => O | Outcome,
): Promise<Exchanged<O>> {
  for (let tries = 1; ; tries += 1) {
    const result = await deps.tokens.get(grant)
    if (result.kind === 'none') return { request, reply: NOTHING_SENT, outcome: result.outcome }
    const authorized = withToken(request, result.token)
    const reply = await deps.sender.send(authorized)
    if (reply.status !== 401 || tries > 1) return { request: authorized, reply, outcome: judge(reply) }
    deps.tokens.drop(grant, result.token)
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
