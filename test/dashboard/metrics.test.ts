/** The dashboard's metrics: counts by closed lists, and nothing that names anybody. */

import { once } from 'node:events'
import { connect } from 'node:net'

import { expect } from 'chai'
import { Registry } from 'prom-client'

import { listenFor } from '../../api/frame.ts'
import { countingPayments } from '../../dashboard/billing/count-payments.ts'
import { PaymentsUnavailable, type Payments } from '../../dashboard/billing/payments.ts'
import { createDashboardMetrics } from '../../dashboard/http/metrics.ts'
import { RATE_RULES } from '../../domain/limits.ts'
import { exchangeRaw } from '../api/support/raw.ts'
import { organizationOf, startStage, type Stage } from './support/stage.ts'

const OWNER = 'canary-owner@acme.dev'
const ADDRESS = '203.0.113.99'

describe('the metrics of the dashboard', () => {
  let stage: Stage
  let cookies = ''
  before(async () => {
    stage = await startStage({ manifests: organizationOf('canary-acme', { members: { [OWNER]: 'Owner' } }) })
    cookies = await stage.signIn(OWNER)
  })
  after(() => stage?.stop())

  const metric = async (line: RegExp): Promise<number> => Number(line.exec(await stage.metrics())?.[1] ?? 0)

  it('count requests by the pattern of their route, status and code', async () => {
    await stage.ask('GET', '/api/me', { cookies })
    await stage.ask('GET', '/api/me', { address: ADDRESS })
    await stage.ask('GET', '/api/organizations/canary-acme/members', { cookies })
    await stage.ask('GET', '/api/canary-nothing', { cookies })
    const text = await stage.metrics()
    for (const labels of [
      'route="/api/me",status="200",code=""',
      'route="/api/me",status="401",code="unauthenticated"',
      'route="/api/organizations/:organization/members",status="200",code=""',
      'route="",status="404",code="not_found"',
    ])
      expect(text).to.include(`whence_dashboard_requests_total{${labels}} 1`)
    expect(text).to.match(/whence_dashboard_request_seconds_count\{route="\/api\/me"\} 2/)
  })

  it('count tries to sign in by way and outcome, and the sessions that are used', async () => {
    const refused = { body: { token: 'A'.repeat(43) }, address: ADDRESS }
    await stage.ask('POST', '/api/sign-in/link', refused)
    await stage.ask('POST', '/api/sign-in/mail/confirm', refused)
    await stage.ask('GET', '/api/sign-in/oidc/callback?state=x', { address: ADDRESS })
    const text = await stage.metrics()
    for (const labels of [
      'way="link",outcome="signed_in"',
      'way="link",outcome="sign_in_refused"',
      'way="mail",outcome="sign_in_refused"',
      'way="oidc",outcome="sign_in_refused"',
    ])
      expect(text).to.include(`whence_sign_ins_total{${labels}} 1`)
    expect(await metric(/^whence_dashboard_sessions (\d+)$/m)).to.equal(1)
    stage.advance(5 * 60_000)
    expect(await metric(/^whence_dashboard_sessions (\d+)$/m)).to.equal(0)
  })

  it('count limits by name, and mails by kind and outcome', async () => {
    const body = { email: 'canary-guest@acme.dev', role: 'Viewer' }
    await stage.ask('POST', '/api/organizations/canary-acme/members', { cookies, body, address: ADDRESS })
    for (let times = 0; times <= RATE_RULES.dashboard_writes.limit; times += 1)
      await stage.ask('POST', '/api/organizations/canary-acme/leave', { cookies, address: ADDRESS })
    expect(await metric(/^whence_dashboard_limits_total\{limit="dashboard_writes"\} (\d+)$/m)).to.be.greaterThan(0)
    await stage.mailSent()
    expect(await metric(/^whence_mails_total\{kind="invitation",outcome="sent"\} (\d+)$/m)).to.equal(1)
  })

  it('hold no address, no name and no ID', async () => {
    expect(await stage.metrics()).to.not.match(/canary|203\.0\.113|p_[0-9a-f]{16}/)
  })

  it('count what the HTTP parser refuses and connections that are refused, on a port of its own', async () => {
    const registry = new Registry()
    const { broken, connectionEnded } = createDashboardMetrics(registry, Date.now)
    const peers = { most: 1, peerOf: () => 'peer' }
    const arrived = Promise.withResolvers<void>()
    // A request that is not answered: its connection is not closed for another one.
    const hold = (): boolean => {
      arrived.resolve()
      return true
    }
    const server = await listenFor(hold, { host: '127.0.0.1', port: 0 }, 'https://whence.test', {
      onBroken: broken,
      onEnded: connectionEnded,
      peers,
    })
    try {
      const told = await exchangeRaw(server.port, ['GET /canary-path HTTP/1.1\r\ncanary header\r\n\r\n'])
      expect(told.answers.map(({ status }) => status)).to.deep.equal([400])
      const long = `GET / HTTP/1.1\r\nHost: x\r\nX-Canary: ${'a'.repeat(20_000)}\r\n\r\n`
      expect((await exchangeRaw(server.port, [long])).answers.map(({ status }) => status)).to.deep.equal([431])
      const first = connect(server.port, '127.0.0.1')
      first.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      await arrived.promise
      const second = connect(server.port, '127.0.0.1')
        .on('error', () => undefined)
        .resume()
      await once(second, 'close')
      first.destroy()
      const text = await registry.metrics()
      for (const line of [
        'whence_dashboard_requests_total{route="",status="400",code="invalid_request"} 1',
        'whence_dashboard_requests_total{route="",status="431",code="headers_too_large"} 1',
        'whence_dashboard_connections_ended_total{why="too_many_of_one_peer"} 1',
      ])
        expect(text).to.include(line)
      expect(text).to.not.include('canary')
    } finally {
      await server.close()
    }
  })

  it('count requests to the payment provider, with their outcome', async () => {
    const registry = new Registry()
    const { paymentsAsked } = createDashboardMetrics(registry, Date.now)
    const asked = async () => Promise.reject(new PaymentsUnavailable('away'))
    const parts = {
      readCustomer: async () => null,
      subscriptions: asked,
      createPortal: () => Promise.reject(new Error()),
    }
    const payments = countingPayments(parts as unknown as Payments, paymentsAsked)
    await payments.readCustomer('cus_canary')
    await payments.subscriptions('cus_canary').catch(() => undefined)
    await payments.createPortal('cus_canary', '').catch(() => undefined)
    const text = await registry.metrics()
    for (const labels of [
      'what="read_customer",outcome="ok"',
      'what="list_subscriptions",outcome="unavailable"',
      'what="create_portal",outcome="failed"',
    ])
      expect(text).to.include(`whence_payment_requests_total{${labels}} 1`)
    expect(text).to.not.include('canary')
  })
})
