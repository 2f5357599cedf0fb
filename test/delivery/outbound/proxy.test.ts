/** Calls from a network that lets nothing out but through a proxy. */

import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'

import { expect } from 'chai'

import { createSender } from '../../../delivery/exchange/send.ts'
import { callOutbound, type OutboundParts } from '../../../delivery/outbound/call.ts'
import type { ProviderRequest } from '../../../delivery/providers/provider.ts'
import type { OutboundProxy } from '../../../domain/outbound/proxy.ts'
import { testCertificate } from '../../../fixtures/engines/certificate.ts'
import { startConnectProxy, type ConnectProxy } from '../../../fixtures/engines/connect-proxy.ts'
import { freePort } from '../../../fixtures/engines/free-port.ts'

const CERTIFICATE = testCertificate(
  ['hooks.acme.dev', 'www.google-analytics.com'],
  ['93.184.215.14', '2606:4700::1111'],
)
const REQUEST: ProviderRequest = {
  method: 'POST',
  path: '/mp/collect',
  query: {},
  headers: {},
  body: '{}',
  sessionMode: 'none',
  detail: '',
  secrets: [],
}

describe('calls through the proxy of the network', () => {
  const trusted = tls.getCACertificates('default')
  let server: Server
  let proxy: ConnectProxy
  let settings: OutboundProxy
  let hosts: string[]
  let isBroken: boolean

  before(async () => {
    tls.setDefaultCACertificates([CERTIFICATE.certPem])
    server = createServer({ key: CERTIFICATE.keyPem, cert: CERTIFICATE.certPem }, (request, response) => {
      hosts.push(request.headers.host ?? '')
      request.resume().on('end', () => (isBroken ? request.socket.destroy() : response.end('taken')))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    proxy = await startConnectProxy((server.address() as AddressInfo).port)
  })
  after(async () => {
    tls.setDefaultCACertificates(trusted)
    await proxy.stop()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  beforeEach(() => {
    hosts = []
    isBroken = false
    proxy.goals.length = 0
    proxy.credentials.length = 0
    proxy.status = 200
    const url = proxy.url.replace('//', '//user:p%40ss@')
    settings = { url, direct: [], resolvesNames: false }
  })

  describe('to a provider', () => {
    const send = async (over: Partial<OutboundProxy> = {}) => {
      const sender = createSender({ baseUrl: 'https://www.google-analytics.com', proxy: { ...settings, ...over } })
      try {
        return [await sender.send(REQUEST), await sender.send(REQUEST)] as const
      } finally {
        sender.close()
      }
    }

    it('take one tunnel by name, and its connection is used again', async () => {
      for (const reply of await send()) expect(reply).to.include({ status: 200, body: 'taken', failure: '' })
      expect(proxy.goals).to.deep.equal(['www.google-analytics.com:443'])
      expect(proxy.credentials).to.deep.equal([`Basic ${Buffer.from('user:p@ss').toString('base64')}`])
      expect(hosts).to.deep.equal(['www.google-analytics.com', 'www.google-analytics.com'])
    })

    it('certainly did not arrive if the proxy refuses or is away', async () => {
      for (const status of [403, 407, 502]) {
        proxy.status = status
        const [reply] = await send()
        expect(reply, String(status)).to.include({ failure: 'connection', isUnclear: false })
      }
      const [reply] = await send({ url: `http://127.0.0.1:${await freePort()}/` })
      expect(reply).to.include({ failure: 'connection', isUnclear: false })
      expect(hosts).to.deep.equal([])
    })

    it('may have arrived if the connection broke after the request', async () => {
      isBroken = true
      for (const reply of await send()) expect(reply).to.include({ failure: 'connection', isUnclear: true })
    })
  })

  describe('to an address of a tenant', () => {
    let asked: string[]
    beforeEach(() => {
      asked = []
    })
    const call = (url: string, addresses: readonly string[], over: Partial<OutboundProxy> = {}) => {
      const parts: OutboundParts = {
        proxy: { ...settings, ...over },
        trustedPem: CERTIFICATE.certPem,
        resolve: (name) => {
          asked.push(name)
          return Promise.resolve(addresses)
        },
        dial: () => expect.fail('it was called directly'),
      }
      return callOutbound({ url, method: 'POST', headers: {}, body: '{}', secrets: [] }, parts)
    }

    it('ask the proxy for the address that was vetted, and check the certificate by the name', async () => {
      const { reply } = await call('https://hooks.acme.dev/in', ['93.184.215.14'])
      expect(reply).to.include({ status: 200, failure: '' })
      await call('https://hooks.acme.dev:8443/in', ['2606:4700::1111'])
      await call('https://93.184.215.14/in', [])
      expect(proxy.goals).to.deep.equal(['93.184.215.14:443', '[2606:4700::1111]:8443', '93.184.215.14:443'])
      const { reply: wrong } = await call('https://other.acme.dev/in', ['93.184.215.14'])
      expect(wrong).to.include({ failure: 'tls' })
    })

    it('ask it for no address that is not public, whatever else the name has', async () => {
      for (const addresses of [['10.1.2.3'], ['93.184.215.14', '169.254.169.254'], ['::1']]) {
        const { reply } = await call('https://hooks.acme.dev/in', addresses)
        expect(reply).to.include({ failure: 'address_refused' })
      }
      expect((await call('https://10.1.2.3/', [])).reply).to.include({ failure: 'address_refused' })
      expect(proxy.goals).to.deep.equal([])
    })

    it('leave the name to the proxy if the operator says so, but no address that is not public', async () => {
      const way = { resolvesNames: true }
      expect((await call('https://hooks.acme.dev/in', ['10.1.2.3'], way)).reply).to.include({ status: 200 })
      expect((await call('https://10.1.2.3/', [], way)).reply).to.include({ failure: 'address_refused' })
      expect((await call('https://metadata.internal/', [], way)).reply).to.include({ failure: 'address_refused' })
      expect(proxy.goals).to.deep.equal(['hooks.acme.dev:443'])
      expect(asked).to.deep.equal([])
    })

    it('try the next address if the proxy reaches the first one not, and end with its answer', async () => {
      proxy.status = 502
      const { reply } = await call('https://hooks.acme.dev/in', ['93.184.215.14', '1.1.1.1'])
      expect(reply).to.include({ failure: 'connection' })
      expect(proxy.goals).to.deep.equal(['93.184.215.14:443', '1.1.1.1:443'])
    })
  })
})
