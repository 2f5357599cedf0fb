/** Origins and page addresses: one spelling for comparison, and nothing that only `new URL` would accept. */

import { createHash } from 'node:crypto'

import { expect } from 'chai'
import fc from 'fast-check'

import { normaliseOrigin, parseOrigin, parsePageUrl, stripReferrer, urlId } from '../../domain/origin.ts'

const sha256Hex = (text: string) => createHash('sha256').update(text).digest('hex')
const split = (text: string) => {
  const parsed = parsePageUrl(text)
  return parsed.ok ? parsed.value : null
}

describe('normaliseOrigin', () => {
  const SAME: readonly (readonly [string, string])[] = [
    ['https://acme.dev', 'https://acme.dev'],
    ['https://ACME.dev', 'https://acme.dev'],
    ['HTTPS://acme.dev', 'https://acme.dev'],
    ['https://acme.dev/', 'https://acme.dev'],
    ['https://acme.dev:443', 'https://acme.dev'],
    ['https://acme.dev:8443', 'https://acme.dev:8443'],
    ['https://münchen.example', 'https://xn--mnchen-3ya.example'],
    ['https://xn--mnchen-3ya.example', 'https://xn--mnchen-3ya.example'],
    ['https://10.0.0.1', 'https://10.0.0.1'],
    ['http://localhost', 'http://localhost'],
    ['http://localhost:80', 'http://localhost'],
    ['http://localhost:8081', 'http://localhost:8081'],
    ['http://app.localhost:3000', 'http://app.localhost:3000'],
    ['http://127.0.0.1:8081', 'http://127.0.0.1:8081'],
    ['http://127.9.8.7', 'http://127.9.8.7'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
    ['http://[0:0:0:0:0:0:0:1]', 'http://[::1]'],
  ]
  it('refuses a host with a quote or another mark that no DNS name has', () => {
    for (const text of ["https://a'b.dev", 'https://a$b.dev', 'https://a;b.dev', 'https://a(b).dev']) {
      expect(normaliseOrigin(text)).to.equal(null)
    }
  })

  for (const [text, origin] of SAME) {
    it(`reads ${text} as ${origin}`, () => expect(normaliseOrigin(text)).to.equal(origin))
  }

  const REFUSED = [
    '',
    'null',
    'acme.dev',
    '//acme.dev',
    'http://acme.dev',
    'http://localhost.acme.dev',
    'http://evillocalhost',
    'http://evil-localhost:3000',
    'http://127.0.0.1.acme.dev',
    'http://[::2]',
    'ftp://acme.dev',
    'file:///etc/passwd',
    'data:text/html,x',
    'chrome-extension://abcdefghijklmnop',
    'https://',
    'https:acme.dev',
    'https:/acme.dev',
    'https:\\\\acme.dev',
    'https://acme.dev\\@evil.example',
    'https://user@acme.dev',
    'https://user:secret@acme.dev',
    'https://acme.dev/install',
    'https://acme.dev?x',
    'https://acme.dev#x',
    'https://*.acme.dev',
    'https://ac me.dev',
    ' https://acme.dev',
    'https://acme.dev\n',
    'https://ac\tme.dev',
    'https://acme.dev https://evil.example',
    'https://acme%2edev',
    'https://%61cme.dev',
    'https://acme.dev%2e',
    'https://acme.dev:65536',
    'https://acme.dev:x',
    `https://${'a'.repeat(10_000)}.dev`,
  ]
  for (const text of REFUSED) {
    it(`refuses ${JSON.stringify(text.slice(0, 60))}`, () => expect(normaliseOrigin(text)).to.equal(null))
  }

  it('is idempotent, and equals what a browser would send', () => {
    fc.assert(
      fc.property(fc.webUrl({ validSchemes: ['https'] }), (url) => {
        const { origin } = new URL(url)
        expect(normaliseOrigin(origin)).to.equal(origin)
      }),
    )
  })

  it('never throws and never gives anything but an origin', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.string().map((text) => `https://${text}`),
        ),
        (text) => {
          const origin = normaliseOrigin(text)
          if (origin !== null) expect(new URL(origin).origin).to.equal(origin)
        },
      ),
    )
  })

  it('says why, without repeating the address', () => {
    const parsed = parseOrigin('https://user:hunter2@acme.dev')
    expect(parsed.ok).to.equal(false)
    expect(JSON.stringify(parsed)).not.to.contain('hunter2')
    expect(parseOrigin('http://acme.dev'))
      .to.deep.include({ ok: false })
      .and.to.have.property('why')
      .contain('https://')
  })
})

describe('the split of a page address', () => {
  const PAGES: readonly (readonly [string, string, string])[] = [
    ['https://acme.dev', 'https://acme.dev', '/'],
    ['https://acme.dev?utm_source=x', 'https://acme.dev', '/'],
    ['https://acme.dev/install?utm_source=x#top', 'https://acme.dev', '/install'],
    ['https://ACME.dev:443/Install/', 'https://acme.dev', '/Install/'],
    ['https://acme.dev/a/../b', 'https://acme.dev', '/b'],
    ['https://acme.dev/%E4%BD%A0', 'https://acme.dev', '/%E4%BD%A0'],
    ['https://acme.dev/mail@home', 'https://acme.dev', '/mail@home'],
    ['http://localhost:8081/', 'http://localhost:8081', '/'],
  ]
  for (const [text, origin, path] of PAGES) {
    it(`keeps origin and path of ${text}`, () => expect(split(text)).to.deep.equal({ origin, path }))
  }

  for (const text of [
    '',
    'install',
    '/install',
    'http://acme.dev/install',
    'https://u:p@acme.dev/',
    'https://acme%2edev/install',
    'https://acme.dev/a b',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => expect(split(text)).to.equal(null))
  }

  it('says why a page is refused', () => {
    expect(parsePageUrl('http://acme.dev/')).to.have.property('ok', false)
    expect(parsePageUrl('https://u:p@acme.dev/')).to.deep.equal({ ok: false, why: 'carries a user name or password' })
  })
})

describe('stripReferrer', () => {
  const REFERRERS: readonly (readonly [string, string])[] = [
    ['https://news.example/item?id=1#c', 'https://news.example/item'],
    ['http://news.example/', 'http://news.example/'],
    ['https://user:secret@news.example/x', 'https://news.example/x'],
    ['android-app://com.google.android.gm/?x', 'android-app://com.google.android.gm/'],
    ['about:client', ''],
    ['data:text/plain,secret', ''],
    ['', ''],
    ['not an address', ''],
  ]
  for (const [text, kept] of REFERRERS) {
    it(`keeps ${JSON.stringify(kept)} of ${JSON.stringify(text)}`, () => expect(stripReferrer(text)).to.equal(kept))
  }
})

describe('urlId', () => {
  it('is url_ and the first 16 hex digits of SHA-256 over origin and path', () => {
    // printf 'https://acme.dev/install' | sha256sum
    const page = { origin: 'https://acme.dev', path: '/install' }
    expect(urlId(page, sha256Hex)).to.equal('url_3b9320629beb51f2')
  })

  it('differs between pages and between origins', () => {
    const ids = ['https://acme.dev/', 'https://acme.dev/a', 'https://docs.acme.dev/'].map((text) => {
      const page = split(text)
      return page === null ? '' : urlId(page, sha256Hex)
    })
    expect(new Set(ids).size).to.equal(3)
  })
})
