/** Receipts and tokens against the published vectors, and properties that vectors cannot show. */

import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import { decodeBase64url, encodeBase64url } from '../../domain/base64url.ts'
import {
  couldBeReceipt,
  expiresAtMs,
  isExpired,
  isFromOrigin,
  isIssueTime,
  issuedAtOfVisit,
  issueReceipt,
  issueToken,
  KEY_IDS,
  readReceipt,
  readToken,
  RECEIPT_OR_TOKEN,
  VISIT_ID_PREFIXES,
  visitIdIn,
  visitIdTime,
} from '../../domain/receipt.ts'
import { createKeyring, hmacSha256, parseSecrets, SecretProblem } from '../../runtime/keyring.ts'

interface Vectors {
  secrets: { secret: string; key_id: number }[]
  receipts: {
    name: string
    organization: string
    website: string
    origin: string
    issued_at: number
    random: string
    handoff_only: boolean
    unrecorded: boolean
    gpc: boolean
    key_id: number
    receipt: string
    visit_id: string
    token: string
    token_under_gpc: string
  }[]
  refused: { why: string; organization: string; website: string; kind: 'receipt' | 'token'; text: string }[]
}

const vectors = JSON.parse(readFileSync(new URL('../vectors/receipts.json', import.meta.url), 'utf8')) as Vectors
const secrets = vectors.secrets.map(({ secret }) => secret)
const keys = createKeyring(secrets)
const keysBySigner = new Map(secrets.map((secret) => [createKeyring([secret]).currentKeyId, createKeyring([secret])]))

describe('receipts and handoff tokens', () => {
  it('gives each secret the key ID of the vectors', () => {
    expect(secrets.map((secret) => createKeyring([secret]).currentKeyId)).to.deep.equal(
      vectors.secrets.map((row) => row.key_id),
    )
  })

  for (const row of vectors.receipts) {
    it(`writes and reads the vector "${row.name}" byte for byte`, () => {
      const signer = keysBySigner.get(row.key_id)!
      const { text, claims } = issueReceipt(signer, {
        organization: row.organization,
        website: row.website,
        origin: row.origin,
        issuedAtMs: row.issued_at,
        random: Uint8Array.from(Buffer.from(row.random, 'hex')),
        isHandoffOnly: row.handoff_only,
        isUnrecorded: row.unrecorded,
        gpc: row.gpc,
      })
      expect(text).to.equal(row.receipt)
      expect(claims.visitId).to.equal(row.visit_id)
      expect(issuedAtOfVisit(row.visit_id)).to.equal(row.issued_at)
      expect(issueToken(signer, row, claims, false)).to.equal(row.token)
      expect(issueToken(signer, row, claims, true)).to.equal(row.token_under_gpc)
      const read = readReceipt(keys, row, row.receipt)
      expect(read).to.deep.include({
        visitId: row.visit_id,
        issuedAtMs: row.issued_at,
        isHandoffOnly: row.handoff_only,
        isUnrecorded: row.unrecorded,
        gpc: row.gpc,
      })
      expect(readToken(keys, row, row.token)?.visitId).to.equal(row.visit_id)
      expect(readToken(keys, row, row.token_under_gpc)).to.deep.include({ visitId: row.visit_id, gpc: true })
    })
  }

  for (const row of vectors.refused) {
    it(`refuses a ${row.kind}: ${row.why}`, () => {
      const read = row.kind === 'receipt' ? readReceipt : readToken
      expect(read(keys, row, row.text)).to.equal(null)
    })
  }

  it('refuses every single flipped bit of a receipt and of a token', () => {
    const { receipt, token, website } = vectors.receipts[0]!
    const flip = (text: string, bit: number): string => {
      const bytes = decodeBase64url(text)!
      bytes[bit >> 3]! ^= 0x80 >> (bit & 7)
      return encodeBase64url(bytes)
    }
    const bits = Array.from({ length: 256 }, (_, bit) => bit)
    expect(
      bits.filter((bit) => readReceipt(keys, { organization: 'acme', website }, flip(receipt, bit)) !== null),
    ).to.deep.equal([])
    expect(
      bits.filter(
        (bit) => readToken(keys, { organization: 'acme', website }, `wht_${flip(token.slice(4), bit)}`) !== null,
      ),
    ).to.deep.equal([])
  })

  it('distinguishes the origin of its visit from every other', () => {
    const row = vectors.receipts[0]!
    const claims = readReceipt(keys, row, row.receipt)!
    expect(isFromOrigin(keys, row, claims, row.origin)).to.equal(true)
    expect(isFromOrigin(keys, row, claims, 'https://docs.acme.dev')).to.equal(false)
  })

  it('names its visit by its first 16 bytes in hexadecimal, without the marks of tokens and GPC', () => {
    const random = fc.uint8Array({ minLength: 5, maxLength: 5 })
    fc.assert(
      fc.property(random, fc.boolean(), fc.constantFrom(0, 16, 4_096), (bytes, gpc, moreMs) => {
        const flags = { isHandoffOnly: false, isUnrecorded: false, gpc }
        const receipt = {
          organization: 'acme',
          website: 'acme-dev',
          origin: 'https://acme.dev',
          issuedAtMs: 1_795_251_875_088 + moreMs,
        }
        const { text, claims } = issueReceipt(keys, { ...receipt, random: bytes, ...flags })
        const body = decodeBase64url(text)!.slice(0, 16)
        body[0]! &= 0b0110_1111
        expect(claims.visitId).to.equal(Buffer.from(body).toString('hex'))
      }),
    )
  })

  it('names its visit to anybody who has its text, whoever signed it, and is nothing of another form', () => {
    for (const row of vectors.receipts) {
      for (const text of [row.receipt, row.token, row.token_under_gpc]) expect(visitIdIn(text)).to.equal(row.visit_id)
    }
    const { receipt = '', visit_id: visitId = '' } = vectors.receipts[0] ?? {}
    expect(visitIdIn(`wht_${receipt}`)).to.equal(visitId)
    for (const text of ['', receipt.slice(1), `${receipt}A`, `!${receipt.slice(1)}`, `${receipt.slice(4)}wht_`]) {
      expect(visitIdIn(text), text).to.equal(null)
    }
  })

  it('has the time of its visit at a known place of the ID, behind one of 32 beginnings', () => {
    expect(visitIdTime(0)).to.equal('000000000000')
    expect(visitIdTime(0x1a2b3c4d)).to.equal('00001a2b3c4d')
    expect(visitIdTime(2 ** 48 - 1)).to.equal('ffffffffffff')
    for (const none of [-1, 0.5, NaN, 2 ** 48])
      expect(() => visitIdTime(none)).to.throw(RangeError, 'no time of a visit')
    expect(KEY_IDS).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
    const hex = [...'0123456789abcdef']
    expect(VISIT_ID_PREFIXES).to.deep.equal([...hex.map((digit) => `0${digit}`), ...hex.map((digit) => `4${digit}`)])
    const recorded = vectors.receipts.filter(({ unrecorded }) => !unrecorded)
    expect(recorded).not.to.have.length(0)
    for (const { visit_id: id, issued_at: atMs } of recorded) {
      expect(VISIT_ID_PREFIXES).to.include(id.slice(0, 2))
      expect(id.slice(2, 14)).to.equal(visitIdTime(atMs))
    }
  })

  it('still reads receipts of a secret that was moved to the second place', () => {
    const rotated = createKeyring([...secrets].reverse())
    const row = vectors.receipts[0]!
    expect(readReceipt(rotated, row, row.receipt)?.visitId).to.equal(row.visit_id)
    expect(rotated.currentKeyId).to.equal(vectors.secrets[1]!.key_id)
  })

  it('counts the thirtieth day to its last millisecond', () => {
    const issuedAtMs = 1_795_251_875_123
    expect(isExpired(issuedAtMs, expiresAtMs(issuedAtMs))).to.equal(false)
    expect(isExpired(issuedAtMs, expiresAtMs(issuedAtMs) + 1)).to.equal(true)
  })
})

describe('base64url', () => {
  it('agrees with Node on every byte string and reads back what it wrote', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const text = encodeBase64url(bytes)
        expect(text).to.equal(Buffer.from(bytes).toString('base64url'))
        expect(decodeBase64url(text)).to.deep.equal(bytes)
      }),
    )
  })

  it('reads a text only if that is the one spelling of its bytes', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 44 }), (text) => {
        const bytes = decodeBase64url(text)
        if (bytes !== null) expect(encodeBase64url(bytes)).to.equal(text)
      }),
    )
  })
})

describe('the keyring', () => {
  it('refuses a short secret without showing it', () => {
    expect(() => createKeyring(['hunter2']))
      .to.throw(SecretProblem, /shorter/)
      .and.not.match(/hunter2/)
  })

  it('refuses a secret of few different characters without showing it', () => {
    for (const weak of ['a'.repeat(32), '0123456'.repeat(8)])
      expect(() => createKeyring([weak]))
        .to.throw(SecretProblem, /fewer than 8 different/)
        .and.not.match(new RegExp(weak))
  })

  it('refuses two secrets with one key ID', () => {
    expect(() => createKeyring([secrets[0]!, secrets[0]!])).to.throw(SecretProblem, /key ID/)
  })

  it('hashes an address differently each UTC day', () => {
    const before = keys.addressHash('192.0.2.7', Date.UTC(2026, 10, 21, 23, 59))
    expect(keys.addressHash('192.0.2.7', Date.UTC(2026, 10, 21))).to.equal(before)
    expect(keys.addressHash('192.0.2.7', Date.UTC(2026, 10, 22))).to.not.equal(before)
    expect(keys.addressHash('192.0.2.8', Date.UTC(2026, 10, 21))).to.not.equal(before)
  })

  it('computes the same HMAC as Node for every key of a block or less and every message', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 64 }),
        fc.string({ unit: 'binary', maxLength: 900 }),
        fc.uint8Array({ maxLength: 300 }),
        (key, text, bytes) => {
          const expected = createHmac('sha256', key).update(text).update(bytes).digest()
          const mac = hmacSha256(Buffer.from(key))
          expect(mac(text, bytes, 'hex')).to.equal(expected.toString('hex'))
          expect(mac(text, bytes, 'binary')).to.equal(expected.toString('binary'))
        },
      ),
    )
  })

  it('reads one secret a line and ignores comments and blank lines', () => {
    expect(parseSecrets('# first\n\n  abc  \r\ndef\n')).to.deep.equal(['abc', 'def'])
  })
})

describe('the cheap check of a text that may be a receipt', () => {
  const NOW_MS = Date.UTC(2026, 10, 21)
  const FIRST_MS = Date.UTC(2025, 0, 1)
  const SKEW_MS = 300_000
  const issuedAt = (issuedAtMs: number, signer = keys): string => {
    const random = Uint8Array.from([1, 2, 3, 4, 5])
    const more = { organization: 'acme', website: 'w', origin: 'https://acme.dev', random }
    return issueReceipt(signer, { ...more, issuedAtMs, isHandoffOnly: false, isUnrecorded: false, gpc: false }).text
  }

  it('accepts every receipt of a key in use, and of no other, whatever the website', () => {
    const text = issuedAt(NOW_MS - 1_000)
    expect(couldBeReceipt(keys, text, NOW_MS)).to.equal(true)
    expect(couldBeReceipt({ hasKey: () => false }, text, NOW_MS)).to.equal(false)
    const asked: number[] = []
    couldBeReceipt({ hasKey: (keyId) => asked.push(keyId) > 0 }, text, NOW_MS)
    expect(asked).to.deep.equal([keys.currentKeyId])
  })

  it('refuses other lengths, other alphabets and spellings that do not encode back', () => {
    const text = issuedAt(NOW_MS)
    for (const wrong of [
      '',
      text.slice(1),
      `${text}A`,
      `${text.slice(0, 42)}=`,
      `${text.slice(0, 42)}!`,
      '_'.repeat(43),
    ])
      expect(couldBeReceipt({ hasKey: () => true }, wrong, NOW_MS), wrong).to.equal(false)
  })

  it('accepts the times at which it can have been issued, to the millisecond', () => {
    for (const timeMs of [FIRST_MS, NOW_MS, NOW_MS + SKEW_MS]) {
      expect(isIssueTime(timeMs, NOW_MS)).to.equal(true)
      expect(couldBeReceipt(keys, issuedAt(timeMs), NOW_MS)).to.equal(true)
    }
    for (const timeMs of [FIRST_MS - 1, NOW_MS + SKEW_MS + 1, 0]) {
      expect(isIssueTime(timeMs, NOW_MS)).to.equal(false)
      expect(couldBeReceipt(keys, issuedAt(timeMs), NOW_MS)).to.equal(false)
    }
  })

  it('is no token for one whose bit was set by its own key, and no receipt for a token', () => {
    const { receipt, token, website } = vectors.receipts[0]!
    expect(
      readToken(
        { ...keys, mac: (_use, keyId, ...rest) => keys.mac('receipt', keyId, ...rest) },
        { organization: 'acme', website },
        `wht_${receipt}`,
      ),
    ).to.equal(null)
    expect(
      readReceipt(
        { ...keys, mac: (_use, keyId, ...rest) => keys.mac('token', keyId, ...rest) },
        { organization: 'acme', website },
        token.slice(4),
      ),
    ).to.equal(null)
  })

  it('is genuine only if both tags have all of their bytes', () => {
    const { receipt, website, origin } = vectors.receipts[0]!
    const short = { ...keys, mac: (...words: Parameters<typeof keys.mac>) => keys.mac(...words).subarray(0, 15) }
    expect(readReceipt(short, { organization: 'acme', website }, receipt)).to.equal(null)
    const claims = readReceipt(keys, { organization: 'acme', website }, receipt)!
    const tagged = {
      ...keys,
      originTag: (...words: Parameters<typeof keys.originTag>) => keys.originTag(...words).subarray(0, 3),
    }
    expect(isFromOrigin(keys, { organization: 'acme', website }, claims, origin)).to.equal(true)
    expect(isFromOrigin(tagged, { organization: 'acme', website }, claims, origin)).to.equal(false)
    expect(readReceipt(keys, { organization: 'acme', website }, `${receipt}AAAA`)).to.equal(null)
  })
})

describe('a text in the form of a receipt or a token', () => {
  it('is one as a whole, with or without the beginning of a token', () => {
    const receipt = `${'a'.repeat(40)}-_9`
    for (const text of [receipt, `wht_${receipt}`]) expect(RECEIPT_OR_TOKEN.test(text), text).to.equal(true)
    for (const text of [
      `${receipt}a`,
      ` ${receipt}`,
      `x${receipt}`,
      receipt.slice(1),
      'a',
      `wht_a`,
      `${receipt.slice(1)}.`,
      '',
    ])
      expect(RECEIPT_OR_TOKEN.test(text), text).to.equal(false)
  })
})
