/** What the dashboard calls, from a network that lets nothing out but through a proxy. */

import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'

import { expect } from 'chai'

import { useProxyForFetch } from '../../bin/wiring/outbound.ts'
import { stripePayments } from '../../dashboard/billing/stripe.ts'
import { smtpMailer } from '../../dashboard/mail/smtp.ts'
import { startDiscovery } from '../../dashboard/sign-in/discovery.ts'
import { testCertificate } from '../../fixtures/engines/certificate.ts'
import { startConnectProxy, type ConnectProxy } from '../../fixtures/engines/connect-proxy.ts'
import { until } from '../../fixtures/until.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { startPostOffice } from './support/post-office.ts'

const ISSUER = 'https://id.acme.dev'
const CERTIFICATE = testCertificate(['id.acme.dev', 'api.stripe.com'], [])
const ANSWERS: Readonly<Record<string, unknown>> = {
  '/.well-known/openid-configuration': { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` },
  '/v1/subscriptions': { object: 'list', data: [], has_more: false, url: '/v1/subscriptions' },
}

describe('what the dashboard calls through the proxy of the network', () => {
  const trusted = tls.getCACertificates('default')
  let server: Server
  let proxies: ConnectProxy[]
  const proxyTo = async (port: number): Promise<ConnectProxy> => {
    const proxy = await startConnectProxy(port)
    proxies.push(proxy)
    return proxy
  }
  const portOf = (): number => (server.address() as AddressInfo).port

  before(async () => {
    tls.setDefaultCACertificates([CERTIFICATE.certPem])
    server = createServer({ key: CERTIFICATE.keyPem, cert: CERTIFICATE.certPem }, (request, response) => {
      const answer = ANSWERS[(request.url ?? '').split('?')[0] ?? '']
      response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer ?? {}))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  beforeEach(() => {
    proxies = []
  })
  afterEach(() => Promise.all(proxies.map((proxy) => proxy.stop())))
  after(async () => {
    tls.setDefaultCACertificates(trusted)
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  it('is Stripe', async () => {
    const proxy = await proxyTo(portOf())
    const way = { url: proxy.url, direct: [], resolvesNames: false }
    const payments = await stripePayments({ secretKey: 'sk_test_1', url: 'https://api.stripe.com', proxy: way })
    expect(await payments.subscriptions('cus_1')).to.deep.equal([])
    expect(proxy.goals).to.deep.equal(['api.stripe.com:443'])
  })

  it('is the mail server', async () => {
    const office = await startPostOffice()
    try {
      const proxy = await proxyTo(Number(new URL(office.url).port))
      const way = { url: proxy.url, direct: [], resolvesNames: false }
      const mailer = smtpMailer({ url: 'smtp://mail.acme.dev', from: 'w@acme.dev', proxy: way })
      await mailer.send({ id: '0123', to: 'anna@acme.dev', subject: 'Hello', text: 'Hello.' })
      mailer.close()
      expect(office.mails).to.have.length(1)
      expect(proxy.goals).to.deep.equal(['mail.acme.dev:587'])
    } finally {
      await office.stop()
    }
  })

  describe('is the identity provider', () => {
    const found = async (noProxy: readonly string[], isFound: boolean): Promise<ConnectProxy> => {
      const proxy = await proxyTo(portOf())
      const restore = useProxyForFetch({ httpsProxy: proxy.url, noProxy })
      let warned = 0
      const logger = { ...SILENT_LOGGER, warn: () => void (warned += 1) }
      const discovery = startDiscovery({
        issuer: ISSUER,
        clientId: 'a',
        clientSecret: 'b',
        scopes: 'openid',
        logger,
        retryMs: 60_000,
      })
      try {
        await until(() => (isFound ? discovery.current() !== null : warned > 0))
        return proxy
      } finally {
        await discovery.close()
        restore()
      }
    }

    it('by its own name', async () => {
      expect((await found([], true)).goals).to.deep.equal(['id.acme.dev:443'])
    })

    it('unless it, or a name above it, is called directly', async () => {
      expect((await found(['acme.dev'], false)).goals).to.deep.equal([])
    })
  })
})
