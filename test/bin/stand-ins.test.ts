/**
 * `whencectl stand-ins` and `whencectl send-test` together, as in an evaluation: with correct settings, with a wrong token, with another customer's account.
 */

import { expect } from 'chai'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { freePort } from '../../fixtures/engines/free-port.ts'
import { startWhencectl, whencectl, type Ran, type Running } from './support/run-whencectl.ts'

interface Case {
  readonly provider: string
  /** The destination's block, from the token's reference on. */
  readonly block: (id: string) => string
  readonly secrets: (token: string) => string
  readonly id: string
  /** An account that these credentials cannot access; null if the provider's test facility checks none. */
  readonly foreignId: string | null
  /** What the provider says of a wrong token; null as for the account. */
  readonly wrongToken: string | null
  readonly isLive: boolean
}

const CASES: Readonly<Record<string, Case>> = {
  'acme-ga4': {
    provider: 'ga4',
    block: (id) => `ga4: { measurementId: ${id}, apiSecretRef: { name: SECRET, key: token } }`,
    secrets: (token) => `{ token: ${token} }`,
    id: 'G-TEST000001',
    foreignId: null,
    wrongToken: null,
    isLive: false,
  },
  'acme-google': {
    provider: 'google_ads',
    block: (id) =>
      `googleAds: { customerId: '${id}', conversionActionId: '987654321', credentialsRef: { name: SECRET } }`,
    secrets: (token) => `{ client-id: canary-client, client-secret: canary-secret, refresh-token: ${token} }`,
    id: '1234567890',
    foreignId: '1234567404',
    wrongToken: 'invalid_grant',
    isLive: false,
  },
  'acme-meta': {
    provider: 'meta',
    block: (id) => `meta: { pixelId: '${id}', accessTokenRef: { name: SECRET, key: token } }`,
    secrets: (token) => `{ token: ${token} }`,
    id: '123456789012345',
    foreignId: '123456789012404',
    wrongToken: '190',
    isLive: true,
  },
  'acme-tiktok': {
    provider: 'tiktok',
    block: (id) => `tiktok: { pixelCode: ${id}, accessTokenRef: { name: SECRET, key: token } }`,
    secrets: (token) => `{ token: ${token} }`,
    id: 'C4PIXELCODE',
    foreignId: 'C4PIXEL404',
    wrongToken: '40105',
    isLive: true,
  },
  'acme-x': {
    provider: 'x',
    block: (id) => `x: { pixelId: ${id}, eventId: tw-${id}-o87ne, pixelTokenRef: { name: SECRET, key: token } }`,
    secrets: (token) => `{ token: ${token} }`,
    id: 'o8z6j',
    foreignId: 'o8404',
    wrongToken: 'UNAUTHORIZED_ACCESS',
    isLive: true,
  },
}

/** Each case with correct settings, as NAME-token with a wrong token, and as NAME-id with an account without access. A website has at most ten. */
function manifests(): string {
  const parts = Object.entries(CASES).flatMap(([name, each]) => [
    destination(name, 'right', each, { id: each.id, token: 'canary-token' }),
    destination(`${name}-token`, 'token', each, { id: each.id, token: 'wrong-canary-token' }),
    destination(`${name}-id`, 'id', each, { id: each.foreignId ?? each.id, token: 'canary-token' }),
  ])
  return `
apiVersion: whence.dev/v1alpha1
kind: Organization
metadata: { name: acme }
spec: { displayName: Acme, plan: Standard }
${['right', 'token', 'id'].map(website).join('')}${parts.join('')}`
}

function website(name: string): string {
  return `---
apiVersion: whence.dev/v1alpha1
kind: Website
metadata: { name: ${name} }
spec:
  organizationRef: { name: acme }
  displayName: ${name}
  primaryOrigin: https://${name}.acme.dev
  providers: [ga4, google_ads, meta, tiktok, x]
`
}

function destination(
  name: string,
  site: string,
  each: Case,
  { id, token }: { readonly id: string; readonly token: string },
): string {
  return `---
apiVersion: v1
kind: Secret
metadata: { name: ${name} }
stringData: ${each.secrets(token)}
---
apiVersion: whence.dev/v1alpha1
kind: Destination
metadata: { name: ${name} }
spec:
  websiteRef: { name: ${site} }
  displayName: ${name}
  provider: ${each.provider}
  ${each.block(id).replace('SECRET', name)}
`
}

/** In the order of the ports. */
const VARIABLES = {
  ga4Url: 'WHENCE_GA4_URL',
  googleAdsUrl: 'WHENCE_GOOGLE_ADS_URL',
  googleOauthUrl: 'WHENCE_GOOGLE_OAUTH_URL',
  metaUrl: 'WHENCE_META_URL',
  tiktokUrl: 'WHENCE_TIKTOK_URL',
  xUrl: 'WHENCE_X_URL',
} as const

describe('whencectl stand-ins', function () {
  this.timeout(120_000)
  let folder: string
  let program: Running
  let firstPort: number
  let env: Readonly<Record<string, string>>

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-stand-ins-'))
    await mkdir(join(folder, 'manifests'))
    await writeFile(join(folder, 'manifests', 'acme.yaml'), manifests())
    for (let tries = 1; ; tries += 1) {
      firstPort = await freePort()
      const where = ['--stand-ins-listen', `127.0.0.1:${firstPort}`, '--metrics-listen', '127.0.0.1:0']
      program = startWhencectl(['stand-ins', ...where], { WHENCE_LOG_FORMAT: 'json' })
      const said = await saidUrls(program)
      if (said !== null) return void (env = said)
      // One of the five ports after it was in use.
      if (tries === 10) throw new Error((await program.ended).stderr)
    }
  })
  after(async () => {
    program.child.kill('SIGTERM')
    const { status, stderr } = await program.ended
    await rm(folder, { recursive: true, force: true })
    expect(status, stderr).to.equal(0)
    expect(stderr).not.to.contain('canary')
  })

  function trial(name: string, isLive: boolean): Promise<Ran> {
    const where = ['--data', join(folder, 'data'), '--manifests', join(folder, 'manifests')]
    return whencectl(['send-test', name, '--json', ...(isLive ? ['--live'] : []), ...where], env)
  }

  for (const [name, { provider, wrongToken, foreignId, isLive }] of Object.entries(CASES)) {
    it(`let send-test distinguish at ${provider} correct settings, a wrong token and an account of others`, async () => {
      const [right, token, id] = await Promise.all([
        trial(name, isLive),
        trial(`${name}-token`, isLive),
        trial(`${name}-id`, isLive),
      ])
      expect(right.status, right.stderr + right.stdout).to.equal(0)
      expect(JSON.parse(right.stdout)).to.include({ verdict: 'passed', responseStatus: 200, provider })
      expect(token.status, token.stderr + token.stdout).to.equal(wrongToken === null ? 0 : 1)
      if (wrongToken !== null) {
        expect(JSON.parse(token.stdout)).to.include({ verdict: 'refused', outcome: 'credentials' })
        expect(JSON.parse(token.stdout).code).to.contain(wrongToken)
      }
      expect(id.status, id.stderr + id.stdout).to.equal(foreignId === null ? 0 : 1)
      for (const { stdout } of [right, token, id]) expect(stdout).not.to.contain('canary')
    })
  }

  it('listen on six consecutive ports, in the order that the chart expects', () => {
    const ports = Object.values(env).map((url) => Number(new URL(url).port) - firstPort)
    expect(ports).to.deep.equal([0, 1, 2, 3, 4, 5])
  })

  it('record requests, and fail when they are told to', async () => {
    const meta = env['WHENCE_META_URL'] ?? ''
    const fault = { key: '*', fault: { kind: 'status', status: 503 } }
    await fetch(`${meta}/faults`, { method: 'POST', body: JSON.stringify(fault) })
    expect((await trial('acme-meta', true)).status).to.equal(3)
    await fetch(`${meta}/faults`, { method: 'POST', body: JSON.stringify({ key: '*', fault: null }) })
    const recorded = (await (await fetch(`${meta}/requests`)).json()) as { requests: { answered: number }[] }
    expect(recorded.requests.at(-1)?.answered).to.equal(503)
  })
})

/** The variables that point a program at the stand-ins, from the line that logs their addresses; null if the program ends. */
function saidUrls({ child, ended }: Running): Promise<Readonly<Record<string, string>> | null> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stderr?.on('data', (chunk: string) => {
      text += chunk
      const line = text.split('\n').find((each) => each.includes('standing in for the providers'))
      if (line === undefined) return
      const said = JSON.parse(line) as Record<string, string>
      resolve(Object.fromEntries(Object.entries(VARIABLES).map(([name, variable]) => [variable, said[name] ?? ''])))
    })
    ended.then(() => resolve(null), reject)
  })
}
