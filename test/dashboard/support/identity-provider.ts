/** A real identity provider (oidc-provider) that asks nobody: tests say whom it signs in, and with which claims. */

import { createServer } from 'node:http'

import Provider from 'oidc-provider'

import { freePort } from '../../../fixtures/engines/free-port.ts'

export interface IdentityProvider {
  readonly issuer: string
  /** Whom the next sign-in is about. */
  claims: Readonly<Record<string, unknown>>
  /** Which of these claims only ID tokens hold, and not userinfo. */
  onlyInIdTokens: readonly string[]
  /** Follows an authorisation as a browser would, to the address that it sends the browser back to. */
  readonly authorize: (url: string) => Promise<string>
  readonly stop: () => Promise<void>
}

export interface Clients {
  readonly redirectUri: string
  readonly ids: readonly string[]
  /** Whether it gives refresh tokens; it does if nothing is said. */
  readonly hasRefreshTokens?: boolean
}

export const CLIENT_SECRET = 'a-secret-for-tests-only'
const STEPS_MAX = 10

export async function startIdentityProvider(clients: Clients, port?: number): Promise<IdentityProvider> {
  const { redirectUri, ids, hasRefreshTokens = true } = clients
  const at = port ?? (await freePort())
  const issuer = `http://127.0.0.1:${at}`
  const holder: Pick<IdentityProvider, 'claims' | 'onlyInIdTokens'> = { claims: {}, onlyInIdTokens: [] }
  const claimsFor = (use: string) =>
    Object.fromEntries(
      Object.entries(holder.claims).filter(([name]) => use === 'id_token' || !holder.onlyInIdTokens.includes(name)),
    )
  const provider: Provider = new Provider(issuer, {
    clients: ids.map((id) => ({
      client_id: id,
      client_secret: CLIENT_SECRET,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
    })),
    issueRefreshToken: async (_context, { clientId }) => hasRefreshTokens && clientId !== 'other',
    // As some do, groups only for a scope of their own.
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    // Into the ID token as well as into userinfo.
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    cookies: { keys: ['only for tests'] },
    findAccount: (_context, sub) => ({ accountId: sub, claims: async (use) => ({ sub, ...claimsFor(use) }) }),
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    async loadExistingGrant(context) {
      const { client, session } = context.oidc
      const grant = new provider.Grant({
        clientId: client?.clientId ?? '',
        accountId: session?.accountId ?? '',
      })
      grant.addOIDCScope('openid email profile groups')
      await grant.save()
      return grant
    },
  })
  const callback = provider.callback()
  const server = createServer((req, res) => {
    if (!(req.url ?? '').startsWith('/interaction/')) return void callback(req, res)
    const { sub } = holder.claims
    const login = { accountId: typeof sub === 'string' ? sub : 'somebody' }
    void provider.interactionFinished(req, res, { login }, { mergeWithLastSubmission: false })
  })
  await new Promise<void>((done) => server.listen(at, '127.0.0.1', done))
  return {
    issuer,
    get claims() {
      return holder.claims
    },
    set claims(claims) {
      holder.claims = claims
    },
    get onlyInIdTokens() {
      return holder.onlyInIdTokens
    },
    set onlyInIdTokens(names) {
      holder.onlyInIdTokens = names
    },
    authorize: (url) => follow(url, redirectUri),
    stop: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

async function follow(start: string, redirectUri: string): Promise<string> {
  const cookies = new Map<string, string>()
  let url = start
  for (let steps = 0; steps < STEPS_MAX; steps++) {
    if (url.startsWith(redirectUri)) return url
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=', 2)
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location === null) throw new Error(`the provider stopped at ${response.status}: ${await response.text()}`)
    url = new URL(location, url).href
  }
  throw new Error('the provider sends in circles')
}
