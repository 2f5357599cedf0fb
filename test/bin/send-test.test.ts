/** `whencectl send-test` as people run it: from the folder of resources, and through a running service. */

import { expect } from 'chai'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { connectTools, serveTools, type ToolServer } from '../../bin/tools/control.ts'
import type { ToolBackend } from '../../bin/tools/live.ts'
import { answerSendTest } from '../../bin/tools/send-test.ts'
import { startXStandIn } from '../../stand-ins/x.ts'
import type { StandInServer } from '../../stand-ins/server.ts'
import { compileManifests } from '../../runtime/catalog/source.ts'
import { readManifests } from '../../runtime/catalog/manifests.ts'
import { compileSettings } from '../../runtime/settings/settings.ts'
import { whencectl, type Ran } from './support/run-whencectl.ts'

const TOKEN = 'canary-pixel-token'
const MANIFEST = `
apiVersion: whence.dev/v1alpha1
kind: Organization
metadata: { name: acme }
spec: { displayName: Acme, plan: Standard }
---
apiVersion: whence.dev/v1alpha1
kind: Website
metadata: { name: acme-dev }
spec:
  organizationRef: { name: acme }
  displayName: acme.dev
  primaryOrigin: https://acme.dev
  providers: [x]
---
apiVersion: v1
kind: Secret
metadata: { name: acme-x }
stringData: { token: '\${X_TOKEN}' }
---
apiVersion: whence.dev/v1alpha1
kind: Destination
metadata: { name: acme-x }
spec:
  websiteRef: { name: acme-dev }
  displayName: X
  provider: x
  x: { pixelId: o8z6j, eventId: tw-o8z6j-o87ne, pixelTokenRef: { name: acme-x, key: token } }
`

describe('whencectl send-test', function () {
  this.timeout(60_000)
  let folder: string
  let standIn: StandInServer
  let manifests: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-send-test-'))
    manifests = join(folder, 'manifests')
    await mkdir(manifests)
    await writeFile(join(manifests, 'acme.yaml'), MANIFEST)
    standIn = await startXStandIn({ port: 0, guard: { isToken: (token) => token === TOKEN } })
  })
  after(async () => {
    await standIn.close()
    await rm(folder, { recursive: true, force: true })
  })

  function run(words: readonly string[], token = TOKEN): Promise<Ran> {
    const where = ['--data', join(folder, 'data'), '--manifests', manifests]
    return whencectl(['send-test', ...words, ...where], { X_TOKEN: token, WHENCE_X_URL: standIn.url })
  }

  it('prints the verdict of the provider, its words and the next step, and none of the secrets', async () => {
    const { status, stdout, stderr } = await run(['--destination', 'acme-x', '--live'])
    expect(status, stderr).to.equal(0)
    expect(stdout).to.match(
      /^acme-x of acme-dev \(x, mode Validate\): passed\n {2}outcome {2}delivered \(processed\)\n/,
    )
    expect(stdout).to.match(/ {2}answer {3}HTTP 200 after .*conversions_processed/)
    expect(stdout).to.match(/ {2}next {5}Set the mode to Live/)
    expect(stdout).not.to.contain('canary')
    const before = standIn.total()
    expect((await run(['acme-x'])).stdout).to.contain('nothing was sent')
    expect(standIn.total()).to.equal(before)
  })

  it('exits with 1 if it is refused, 3 if no clear answer came, and 2 if it is called wrongly', async () => {
    const refused = await run(['acme-x', '--live', '--json'], 'canary-wrong')
    expect(refused.status).to.equal(1)
    expect(JSON.parse(refused.stdout)).to.include({ verdict: 'refused', code: 'UNAUTHORIZED_ACCESS' })
    expect(refused.stdout).not.to.contain('canary')
    standIn.fail('*', { kind: 'reset' })
    const unclear = await run(['acme-x', '--live'])
    standIn.fail('*', null)
    expect(unclear).to.include({ status: 3 })
    const unknown = await run(['acme-y'])
    expect(unknown).to.deep.include({ status: 2, stdout: '' })
    expect(unknown.stderr).to.contain('there is no destination acme-y; there are acme-x')
    expect((await run([])).status).to.equal(2)
  })

  it('uses a running service if there is one, with its resources and addresses', async () => {
    const data = join(folder, 'live')
    await mkdir(data)
    const env = { X_TOKEN: TOKEN, WHENCE_X_URL: standIn.url, WHENCE_MANIFESTS: manifests }
    const outcome = compileSettings('send-test', [], env)
    if (outcome.kind !== 'run') throw new Error(JSON.stringify(outcome))
    const compiled = compileManifests(await readManifests(manifests), { env })
    const stores = {} as ToolBackend
    const server: ToolServer = await serveTools(data, {
      ...stores,
      sendTest: (wish) => answerSendTest({ settings: outcome.settings, ...compiled }, wish),
    })
    try {
      // The tool itself gets neither resources nor address.
      const ran = await whencectl(['send-test', '--destination', 'acme-x', '--live', '--data', data], {})
      expect(ran.status, ran.stderr).to.equal(0)
      const live = await connectTools(data)
      const elsewhere = await live?.sendTest({ destination: 'acme-x', website: 'other', isLive: false })
      expect(elsewhere?.kind).to.equal('unknown')
    } finally {
      await server.close()
    }
  })
})
