/** Which calls go through the proxy of the network. */

import { expect } from 'chai'

import { isProxied, parseNoProxy, parseProxyUrl, proxyFor } from '../../domain/outbound/proxy.ts'

const through = (noProxy: string, host: string, port = 443): boolean =>
  isProxied({ direct: parseNoProxy(noProxy) }, { host, port })

describe('the proxy of the network', () => {
  const DIRECT = [
    ['*', 'hooks.acme.dev'],
    ['acme.dev', 'acme.dev'],
    ['acme.dev', 'hooks.acme.dev'],
    ['.acme.dev', 'hooks.acme.dev'],
    ['.acme.dev', 'acme.dev'],
    ['*.acme.dev', 'hooks.acme.dev'],
    ['acme.dev.', 'acme.dev'],
    ['.acme.dev.', 'hooks.acme.dev'],
    ['other.dev, ACME.dev', 'hooks.acme.dev'],
    ['other.dev acme.dev', 'hooks.acme.dev'],
    ['acme.dev:443', 'acme.dev'],
    ['10.1.2.3', '10.1.2.3'],
    ['10.0.0.0/8', '10.1.2.3'],
    ['10.1.2.3:443', '10.1.2.3'],
    ['fd00::/8', 'fd00::1'],
    ['fd00::1', 'fd00:0:0::1'],
    ['[fd00::1]:443', 'fd00::1'],
    ['[fd00::1]', 'fd00::1'],
    ['', 'localhost'],
    ['', 'api.localhost'],
    ['', '127.0.0.1'],
    ['', '127.8.8.8'],
    ['', '::1'],
  ] as const
  for (const [noProxy, host] of DIRECT)
    it(`is not asked for ${host} if NO_PROXY is "${noProxy}"`, () => {
      expect(through(noProxy, host)).to.equal(false)
    })

  const PROXIED = [
    ['', 'hooks.acme.dev'],
    ['acme.dev', 'notacme.dev'],
    ['acme.dev', 'acme.dev.evil.example'],
    ['hooks.acme.dev', 'acme.dev'],
    ['acme.dev:8443', 'acme.dev'],
    ['10.1.2.3', '10.1.2.30'],
    ['10.0.0.0/8', '11.1.2.3'],
    ['10.0.0.0/8', 'ten.acme.dev'],
    ['10.1.2.3:8443', '10.1.2.3'],
    ['fd00::/8', 'fe00::1'],
    ['10.0.0.0/abc', '10.1.2.3'],
    ['10.0.0.0/99', '10.1.2.3'],
    [',, ,', 'acme.dev'],
    ['.', 'acme.dev'],
  ] as const
  for (const [noProxy, host] of PROXIED)
    it(`is asked for ${host} if NO_PROXY is "${noProxy}"`, () => {
      expect(through(noProxy, host)).to.equal(true)
    })

  it('is asked for what is called with TLS or by mail, by the port of its scheme', () => {
    const proxy = { url: 'http://proxy:3128/', direct: parseNoProxy('mail.acme.dev:587'), resolvesNames: false }
    const via = (url: string) => proxyFor(proxy, new URL(url))
    expect(via('https://graph.facebook.com')).to.equal('http://proxy:3128/')
    expect(via('http://stand-ins:8090')).to.equal(null)
    expect(via('smtp://mail.acme.dev')).to.equal(null)
    expect(via('smtp://MAIL.Acme.dev')).to.equal(null)
    expect(via('smtp://LOCALHOST:1025')).to.equal(null)
    expect(via('smtps://mail.acme.dev')).to.equal('http://proxy:3128/')
    expect(via('https://[::1]:8443')).to.equal(null)
    expect(proxyFor(null, new URL('https://graph.facebook.com'))).to.equal(null)
  })

  it('has an address of its own', () => {
    expect(parseProxyUrl('http://proxy.acme.dev:3128')).to.deep.equal({
      ok: true,
      value: 'http://proxy.acme.dev:3128/',
    })
    expect(parseProxyUrl('https://user:p%40ss@proxy.acme.dev/').ok).to.equal(true)
    for (const text of ['proxy:3128', 'socks5://proxy:1080', '', 'http://', 'http://proxy/path', 'http://proxy/?a=b'])
      expect(parseProxyUrl(text).ok, text).to.equal(false)
  })

  it('has no user name or password that nobody can decode', () => {
    for (const text of ['http://user:50%@proxy:3128', 'http://us%zzer:p@proxy', 'http://user:%C3%28@proxy']) {
      const parsed = parseProxyUrl(text)
      expect(parsed.ok, text).to.equal(false)
      expect(parsed).to.have.property('why').that.contains('%25').and.not.contains('user:')
    }
    expect(parseProxyUrl('http://user:50%25@proxy:3128').ok).to.equal(true)
  })
})
