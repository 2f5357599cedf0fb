/** Receipts and tokens are never in what the request logs keep, however they are hidden. */

import { expect } from 'chai'
import fc from 'fast-check'
import { redactBody, redactLine, redactText, type RedactOptions } from '../../domain/privacy/redact.ts'
import { issueReceipt, issueToken } from '../../domain/receipt.ts'
import { createKeyring } from '../../runtime/keyring.ts'

const NOW_MS = Date.UTC(2026, 10, 21)
const keys = createKeyring(['a-master-secret-that-is-only-for-these-tests'])
const options: RedactOptions = { hash: keys.logHash, hasKey: keys.hasKey, nowMs: NOW_MS }
const toBase64 = (latin1: string): string => Buffer.from(latin1, 'latin1').toString('base64')

function issue(seed: number, isHandoffOnly = false) {
  const random = Uint8Array.from([seed & 255, (seed >> 8) & 255, 3, 4, 5])
  const receipt = {
    organization: 'acme',
    website: 'acme-dev',
    origin: 'https://acme.dev',
    issuedAtMs: NOW_MS - seed * 1_000,
    random,
    isHandoffOnly,
    isUnrecorded: false,
    gpc: false,
  }
  const { text, claims } = issueReceipt(keys, receipt)
  return { receipt: text, token: issueToken(keys, { organization: 'acme', website: 'acme-dev' }, claims, false) }
}

function keep(text: string | Buffer, isCut = false) {
  const bytes = Buffer.from(text)
  const isText = typeof text === 'string'
  return redactBody(
    { text: isText ? text : null, latin1: () => bytes.toString('latin1'), isCut },
    { ...options, toBase64 },
  )
}

/** Everything that a reader of the kept body could undo to find the secret. */
function readings(kept: { body: string; bodyForm: string }): string[] {
  const body = kept.bodyForm === 'base64' ? Buffer.from(kept.body, 'base64').toString('latin1') : kept.body
  const unescaped = body.replace(/\\u([0-9a-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  const percent = unescaped.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  return [body, unescaped, percent, percent.replaceAll('\0', ''), unescaped.replaceAll('\\/', '/')]
}

const escapeAll = (text: string): string =>
  [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
const percentAll = (text: string): string => [...text].map((char) => `%${char.charCodeAt(0).toString(16)}`).join('')
const utf16 = (text: string): string => [...text].map((char) => `${char}\0`).join('')

const HIDINGS: readonly (readonly [string, (secret: string) => string | Buffer])[] = [
  ['as a field', (secret) => `{"receipt":"${secret}"}`],
  ['in an unknown field', (secret) => `{"x":{"y":["${secret}"]}}`],
  ['in a body that does not parse', (secret) => `{"receipt":"${secret}`],
  ['as a key', (secret) => `{"${secret}":1}`],
  ['wholly escaped', (secret) => `{"receipt":"${escapeAll(secret)}"}`],
  [
    'with one character escaped',
    (secret) => `{"receipt":"\\u00${secret.charCodeAt(0).toString(16)}${secret.slice(1)}"}`,
  ],
  ['with its last character escaped', (secret) => `{"receipt":"${secret.slice(0, -1)}${escapeAll(secret.slice(-1))}"}`],
  ['escaped twice', (secret) => `{"receipt":"${escapeAll(secret).replaceAll('\\', '\\\\')}"}`],
  ['percent-encoded', (secret) => `{"page_url":"https://acme.dev/?r=${percentAll(secret)}"}`],
  ['percent-encoded inside escapes', (secret) => `{"page_url":"${escapeAll(percentAll(secret))}"}`],
  ['in a query', (secret) => `{"page_url":"https://acme.dev/?r=${secret}&x=1"}`],
  ['behind other base64url text', (secret) => `{"x":"prefix_${secret}"}`],
  [
    'between other base64url text',
    (secret) =>
      `{"x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA${secret}BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"}`,
  ],
  ['as UTF-16', (secret) => utf16(`{"receipt":"${secret}"}`)],
  [
    'in bytes that are not UTF-8',
    (secret) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(`{"receipt":"${secret}"}`)]),
  ],
]

describe('what the request logs keep of a body', () => {
  for (const [name, hide] of HIDINGS) {
    it(`shows no receipt and no token ${name}`, () => {
      for (let seed = 0; seed < 40; seed++) {
        const { receipt, token } = issue(seed, seed % 2 === 1)
        for (const secret of [receipt, token]) {
          const kept = keep(hide(secret))
          const bare = secret.replace('wht_', '')
          expect(readings(kept).filter((reading) => reading.includes(bare))).to.deep.equal([])
          expect(kept.isRedacted).to.equal(true)
        }
      }
    })
  }

  it('keeps every other byte of the body as it came', () => {
    const body =
      '{ "project": "acme-dev",\t"gclid":"EAIaIQobChMI5-Xr0d2AgwMVj4xQBh0YQwEREAAYASAAEgJk8_D_BwE","x":"\\u00e9\\n%20" }'
    expect(keep(body)).to.deep.equal({ body, bodyForm: 'text', isRedacted: false })
  })

  it('replaces a receipt in place and keeps the rest byte for byte', () => {
    const { receipt } = issue(7)
    const kept = keep(`{ "a":"\\n", "receipt":"${receipt}" }`)
    expect(kept).to.deep.equal({
      body: `{ "a":"\\n", "receipt":"hmac:${keys.logHash(receipt)}" }`,
      bodyForm: 'text',
      isRedacted: true,
    })
  })

  it('shows no user name and no password of an address, however it is spelled, and the rest as it came', () => {
    const rows: readonly (readonly [string, string])[] = [
      ['{"page_url":"https://user:pa55@a.example/x?y"}', '{"page_url":"https://***@a.example/x?y"}'],
      [
        '{"n":"see http://pa55@a.example and ftp://user:pa55@b.example"',
        '{"n":"see http://***@a.example and ftp://***@b.example"',
      ],
      ['{"r":"https:\\/\\/user:pa55@a.example\\/x@y"}', '{"r":"https:\\/\\/***@a.example\\/x@y"}'],
      ['{"r":"https://us@er:\\"pa55\\t@a.example/"}', '{"r":"https://***@a.example/"}'],
      ['{"r":"https:\\\\\\\\user:pa55@a.example"}', '{"r":"https:\\\\\\\\***@a.example"}'],
    ]
    for (const [sent, kept] of rows)
      expect(keep(sent)).to.deep.equal({ body: kept, bodyForm: 'text', isRedacted: true })
    const hidden = [
      'https%3A%2F%2Fuser%3Apa55%40a.example',
      'https:\\u002f/user:pa55\\u0040a.example',
      'https://user:pa55%40a.example',
    ]
    for (const sent of hidden) {
      expect(keep(`{"r":"${sent}"}`), sent).to.deep.include({ bodyForm: 'unescaped', isRedacted: true })
      expect(keep(`{"r":"${sent}"}`).body)
        .to.include('://***@a.example')
        .and.not.include('pa55')
    }
    expect(redactLine('https://user:pa55@a.example/x', 512, options)).to.equal('https://***@a.example/x')
    const none = '{"a":"https://a.example/@b","mail":"a@b.example","c":"https://a.example?u=b@c","d":"a:b@c"}'
    expect(keep(none)).to.deep.equal({ body: none, bodyForm: 'text', isRedacted: false })
  })

  it('keeps bytes that are not UTF-8 exactly', () => {
    const bytes = Buffer.from([0x7b, 0xff, 0x80, 0x7d])
    expect(keep(bytes)).to.deep.equal({ body: bytes.toString('base64'), bodyForm: 'base64', isRedacted: false })
  })

  it('hashes a receipt that was cut off', () => {
    const { receipt } = issue(3)
    expect(keep(`{"receipt":"${receipt.slice(0, 30)}`, true).body).to.not.include(receipt.slice(0, 30))
  })

  it('gives equal receipts equal hashes, so that a reader can follow one through the logs', () => {
    const { receipt } = issue(5)
    expect(redactText(`${receipt} ${receipt}`, options)).to.equal(
      `hmac:${keys.logHash(receipt)} hmac:${keys.logHash(receipt)}`,
    )
  })

  it('finds an issued receipt inside any base64url run', () => {
    const run = fc.stringMatching(/^[A-Za-z0-9_-]{0,60}$/)
    fc.assert(
      fc.property(run, run, fc.nat(5_000), (before, after, seed) => {
        const { receipt } = issue(seed)
        expect(redactText(before + receipt + after, options)).to.not.include(receipt)
      }),
    )
  })

  it('changes nothing when it redacts again', () => {
    fc.assert(
      fc.property(fc.nat(5_000), fc.string(), (seed, around) => {
        const once = redactText(`${around}"${issue(seed).token}"${around}`, options)
        expect(redactText(once, options)).to.equal(once)
      }),
    )
  })

  it('shows no receipt in a header line, however it is spelled and wherever the line is cut', () => {
    for (let seed = 0; seed < 60; seed++) {
      const { receipt } = issue(seed)
      for (const hide of [(text: string) => text, percentAll, escapeAll]) {
        const line = redactLine(`/v1/${'x/'.repeat(230 + seed)}${hide(receipt)}`, 512, options)
        expect(line.length).to.be.at.most(512)
        expect(readings({ body: line, bodyForm: 'text' }).some((text) => text.includes(receipt.slice(0, 12)))).to.equal(
          false,
        )
      }
    }
  })
})
