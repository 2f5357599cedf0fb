/** What others make of the OpenAPI documents: a linter finds nothing, and a client that is made from one compiles. */

import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect } from 'chai'
import openapiTypes, { astToString } from 'openapi-typescript'

import { ROOT } from './source-files.ts'

const run = promisify(execFile)
const DOCUMENTS = ['docs/openapi.json', 'docs/dashboard-openapi.json']
/** Without update checks and telemetry. */
const QUIET = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

interface Findings {
  readonly totals: { readonly errors: number; readonly warnings: number; readonly ignored: number }
  readonly problems: readonly { readonly message: string }[]
}

/** By the rules of redocly.yaml. */
async function lint(api: string): Promise<Findings> {
  const words = ['node_modules/@redocly/cli/bin/cli.js', 'lint', '--format=json', api]
  const options = { cwd: ROOT, env: { ...process.env, ...QUIET }, maxBuffer: 10_000_000 }
  const { stdout } = await run(process.execPath, words, options).catch((error: { stdout: string }) => error)
  return JSON.parse(stdout) as Findings
}

/** Uses every kind of place that generated types have; lines that must not compile say so. */
const CLIENT = `import type { components, operations, paths } from './types.ts'

type Body<P extends keyof paths> = paths[P]['post'] extends {
  requestBody: { content: { 'application/json': infer B } }
} ? B : never

export const visit: Body<'/v1/visits'> = { project: 'acme-dev', url_id: 'home', page_url: 'https://acme.dev/' }
export const event: Body<'/v1/events'> = {
  project: 'acme-dev', event_id: 'an-id-of-8', installation_id: 'an-id-of-8', event_type: 'install_completed', arch: ['x86_64'],
}
export const head: operations['recordVisit']['parameters']['header'] = { Origin: 'https://acme.dev' }
export const receiptOf = (answer: components['schemas']['VisitAnswer']): string => answer.marker.receipt
export const waitOf = (answer: operations['recordVisit']['responses'][429]): number | undefined =>
  answer.headers['Retry-After'] ?? answer.content['application/json'].retryAfter
export const resolutions: components['schemas']['EventAnswer']['resolution'][] = ['matched', 'unmatched', 'counted', 'pending']
// @ts-expect-error Without its website nothing is recorded.
export const bare: Body<'/v1/visits'> = { url_id: 'home', page_url: 'https://acme.dev/' }
// @ts-expect-error Browsers name their origin.
export const headless: operations['recordVisit']['parameters']['header'] = {}
`
/** The same for answers, which the document of the dashboard takes from the types of its handlers. */
const DASHBOARD_CLIENT = `import type { operations } from './dashboard.ts'

type AnswerOf<O extends keyof operations> = operations[O]['responses'] extends {
  200: { content: { 'application/json': infer A } }
} ? A : never

export const roleOf = (me: AnswerOf<'me'>): 'Viewer' | 'Member' | 'Admin' | 'Owner' | undefined => me.organizations[0]?.role
export const copied = (funnel: AnswerOf<'funnel'>): number => (funnel.total?.copied ?? 0) + funnel.steps.length
export const stateOf = ({ streams }: AnswerOf<'streams'>): string | null | undefined => streams[0]?.state
export const campaignOf = ({ installs }: AnswerOf<'installs'>): string | undefined => installs[0]?.visit?.campaign
export const secretOf = (made: operations['createWebhook']['responses'][201]): string => made.content['application/json'].secret
export const nothing: operations['leave']['responses'][204]['content'] = undefined
// @ts-expect-error An install that came from nowhere has no visit.
export const page = ({ installs }: AnswerOf<'installs'>): string | undefined => installs[0]?.visit.page_url
`
const STRICT = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    types: [],
    target: 'es2024',
    module: 'nodenext',
    allowImportingTsExtensions: true,
  },
  files: ['client.ts', 'dashboard-client.ts'],
}

describe('the OpenAPI documents', function () {
  this.timeout(60_000)

  it('leave a linter nothing to find', async () => {
    for (const api of ['public', 'dashboard']) {
      const { totals, problems } = await lint(api)
      expect(problems.map(({ message }) => message)).to.deep.equal([])
      expect(totals).to.deep.equal({ errors: 0, warnings: 0, ignored: 0 })
    }
  })

  it('make a client that compiles', async () => {
    const folder = await mkdtemp(join(ROOT, 'node_modules/.openapi-'))
    try {
      const documents = await Promise.all(DOCUMENTS.map((file) => readFile(join(ROOT, file), 'utf8')))
      const [types = '', dashboard = ''] = await Promise.all(
        documents.map(async (text) => astToString(await openapiTypes(JSON.parse(text)))),
      )
      await writeFile(join(folder, 'types.ts'), types)
      await writeFile(join(folder, 'dashboard.ts'), dashboard)
      await writeFile(join(folder, 'client.ts'), CLIENT)
      await writeFile(join(folder, 'dashboard-client.ts'), DASHBOARD_CLIENT)
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(STRICT))
      const words = [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder]
      const { stdout } = await run(process.execPath, words).catch((error: { stdout: string }) => error)
      expect(stdout).to.equal('')
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
