/** Secrets that a provider sends back, however it spells them, are in nothing that is kept. */

import { expect } from 'chai'
import { hide, hideInBody } from '../../delivery/exchange/hide.ts'

const SECRET = 'sEcret+of/the=stream-42'

describe('what is kept of an exchange', () => {
  const bytes = Buffer.from(SECRET)
  const spellings: Readonly<Record<string, string>> = {
    'as it is': SECRET,
    'in a query': encodeURIComponent(SECRET),
    'in JSON': JSON.stringify(SECRET),
    'in hex': bytes.toString('hex'),
    'in capital hex': bytes.toString('hex').toUpperCase(),
    'in base64': bytes.toString('base64'),
    'in base64url': bytes.toString('base64url'),
    'in base64 of JSON': JSON.stringify({ at: bytes.toString('base64') }).replaceAll('/', '\\/'),
    'in base64 in a query': encodeURIComponent(bytes.toString('base64')),
    backwards: [...SECRET].reverse().join(''),
    'in Basic credentials': Buffer.from(`u:${SECRET}`).toString('base64'),
    'in Basic credentials of a longer name': Buffer.from(`us:${SECRET}:x`).toString('base64'),
    'in Basic credentials of a name of three': Buffer.from(`usr:${SECRET}`).toString('base64'),
  }
  for (const [name, text] of Object.entries(spellings)) {
    it(`holds no secret that came back ${name}`, () => {
      const kept = hideInBody(`before ${text} after`, [SECRET], { isCut: false })
      expect(kept).to.include('[hidden]')
      expect(kept.startsWith('before ')).to.equal(true)
      expect(kept.endsWith(' after')).to.equal(true)
      const left = kept.replaceAll('[hidden]', '').slice('before '.length, -' after'.length)
      expect(left.length, left).to.be.below(13)
      for (const form of [kept, Buffer.from(left, 'base64').toString('latin1'), [...kept].reverse().join('')])
        expect(form).to.not.include(SECRET.slice(2, 12))
    })
  }

  it('keeps words that a short secret would have in common with them by accident', () => {
    expect(hide('a dead cafe 6162 end', ['ab'])).to.equal('a dead cafe 6162 end')
  })
})
