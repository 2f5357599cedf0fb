/** The embedded service is told to stop while every provider and the mail server hang: it ends cleanly, and delivers after its next start. */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { until } from '../../fixtures/until.ts'
import { startGa4StandIn } from '../../stand-ins/ga4.ts'
import { startMetaStandIn } from '../../stand-ins/meta.ts'
import type { Fault } from '../../stand-ins/server.ts'
import { startTiktokStandIn } from '../../stand-ins/tiktok.ts'
import { startXStandIn } from '../../stand-ins/x.ts'
import { startChild, type ServiceChild } from '../crash/service.child.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { listenInSilence, type SilentServer } from '../../fixtures/engines/silent.ts'
import { activeReceipt, eventBody, post } from '../../fixtures/service/requests.ts'
import { MANIFESTS, startTestService } from '../../fixtures/service/service.ts'

const DESTINATIONS = {
  meta: "meta: { pixelId: '123456789012345', accessTokenRef: { name: tokens, key: token } }",
  tiktok: 'tiktok: { pixelCode: C4PIXELCODE, accessTokenRef: { name: tokens, key: token } }',
  x: 'x: { pixelId: o8z6j, eventId: tw-o8z6j-o87ne, pixelTokenRef: { name: tokens, key: token } }',
}
const PERSON = 'anna@acme.dev'
const MANIFEST = `${(MANIFESTS['acme.yaml'] ?? '').replace('providers: [ga4', 'providers: [tiktok, x, ga4')}
---
apiVersion: v1
kind: Secret
metadata: { name: tokens }
stringData: { token: token-of-the-test }
---
apiVersion: whence.dev/v1alpha1
kind: Member
metadata: { name: m-0123456789ab }
spec: { organizationRef: { name: acme }, email: ${PERSON}, role: Owner }
${Object.entries(DESTINATIONS)
  .map(
    ([provider, block]) => `---
apiVersion: whence.dev/v1alpha1
kind: Destination
metadata: { name: acme-${provider} }
spec: { websiteRef: { name: acme-dev }, displayName: ${provider}, provider: ${provider}, mode: Live, ${block} }
`,
  )
  .join('')}`
const INSTALLS = 3

/** Every provider has its own identifier of the visit. */
function identities(nowMs: number): Record<string, unknown> {
  return {
    ga4: { 'G-TEST000001': { client_id: '123456789.1795168500', session_id: '1795168500' } },
    meta: { fbp: `fb.1.${nowMs}.271828182845` },
    tiktok: { ttp: 'ttpofthetest' },
    x: { twclid: 'twclidofthetest', twclid_at: nowMs },
  }
}

interface StandIn {
  readonly url: string
  total(): number
  requests(): readonly { readonly answered: number; readonly body: unknown }[]
  fail(key: string, fault: Fault | null): void
  close(): Promise<void>
}

describe('the embedded service, while all providers and the mail server hang', function () {
  this.timeout(180_000)
  let folder: string
  let standIns: Readonly<Record<string, StandIn>> = {}
  let env: Record<string, string>
  let child: ServiceChild | null = null
  let mailServer: SilentServer

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-stop-'))
    await mkdir(join(folder, 'manifests'))
    await writeFile(join(folder, 'manifests', 'acme.yaml'), MANIFEST)
    standIns = {
      WHENCE_GA4_URL: await startGa4StandIn({ port: 0 }),
      WHENCE_META_URL: await startMetaStandIn({ port: 0 }),
      WHENCE_TIKTOK_URL: await startTiktokStandIn({ port: 0 }),
      WHENCE_X_URL: await startXStandIn({ port: 0 }),
    }
    mailServer = await listenInSilence()
    env = {
      ...Object.fromEntries(Object.entries(standIns).map(([name, { url }]) => [name, url])),
      WHENCE_SMTP_URL: `smtp://${mailServer.address}`,
      WHENCE_MAIL_FROM: 'Whence <whence@acme.dev>',
    }
  })
  after(async () => {
    child?.kill('SIGKILL')
    await child?.ended
    for (const standIn of Object.values(standIns)) await standIn.close()
    await mailServer?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const providers = (fault: Fault | null): void => {
    for (const standIn of Object.values(standIns)) standIn.fail('*', fault)
  }

  it('ends cleanly', async () => {
    providers({ kind: 'hang' })
    child = startChild({ folder, port: await freePort(), ga4Url: '', env })
    await child.ready
    const receipt = await activeReceipt(child.url, { identities: identities(Date.now()) })
    const report = async (): Promise<void> => {
      const { body } = await post(`${child?.url}/v1/events`, eventBody({ receipts: [receipt] }))
      expect(body).to.include({ resolution: 'matched' })
    }
    for (let installs = 0; installs < INSTALLS; installs++) await report()
    const headers = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
    const body = JSON.stringify({ email: PERSON })
    expect((await fetch(`${child.url}/api/sign-in/mail`, { method: 'POST', headers, body })).status).to.equal(202)
    await until(async () => mailServer.connections() > 0)
    await until(async () => Object.values(standIns).every((standIn) => standIn.total() > 0))
    // One more just before: a job that is fetched last must end in time as well.
    await report()
    child.kill('SIGTERM')
    expect(await child.ended, child.stderr()).to.deep.equal({ status: 0, signal: null })
  })

  it('delivers everything once after its next start', async () => {
    providers(null)
    const service = await startTestService({ folder, env, manifests: {} })
    const period = { since_ms: 0, until_ms: Date.now() * 2, limit: 100, website: 'acme-dev' }
    const deliveries = () => service.facts.run('listDeliveries', period)
    const wanted = Object.keys(standIns).length * (INSTALLS + 1)
    try {
      await until(async () => {
        service.advance(60_000)
        await service.drain()
        return (await deliveries()).filter(({ status }) => status === 'delivered').length === wanted
      })
      for (const { provider, job_id: jobId } of await deliveries()) {
        const standIn = standIns[`WHENCE_${provider.toUpperCase()}_URL`]
        const answered = (standIn?.requests() ?? []).filter((request) => request.answered > 0)
        const holding = answered.filter(({ body }) => JSON.stringify(body).includes(jobId))
        expect(holding, provider).to.have.length(1)
      }
    } finally {
      await service.stop()
    }
  })
})
