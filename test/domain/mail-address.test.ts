/** What counts as a mail address, wherever one is read. */

import { expect } from 'chai'

import { mailAddress, mailSender } from '../../domain/schema/mail-address.ts'
import { readClaims } from '../../domain/people/oidc-claims.ts'
import { NO_ADDRESSES } from '../support/no-addresses.ts'

describe('a mail address', () => {
  it('is one mailbox for everybody who reads it', () => {
    for (const text of NO_ADDRESSES) expect(mailAddress(text), JSON.stringify(text)).to.equal(null)
    for (const text of [
      "o'brien@acme.dev",
      'a+b@mail.acme.dev',
      'a.b-c_d@xn--cme-pla.dev',
      "!#$%&'*+/=?^_`{|}~-@b.dev",
      '1@2.3.dev',
      `${'a'.repeat(64)}@b.dev`,
      `a@${'b'.repeat(63)}.dev`,
      'a@b.c',
    ])
      expect(mailAddress(text), text).to.equal(text)
  })

  it('is one text, in lower case', () => {
    expect(mailAddress('Anna@ACME.Dev')).to.equal('anna@acme.dev')
  })

  it('counts in a claim of an identity provider by the same rule', () => {
    const rules = { trustedDomains: ['acme.dev'], groupsClaim: null }
    for (const email of NO_ADDRESSES)
      expect(readClaims({ email, email_verified: true }, rules), JSON.stringify(email)).to.equal(null)
    expect(readClaims({ email: 'Anna@acme.dev' }, rules)?.email).to.equal('anna@acme.dev')
  })

  it('counts as a sender by the same rule, alone or behind a name', () => {
    for (const email of NO_ADDRESSES.filter((each) => !/^(<a@b|A <a@b)/.test(each)))
      for (const text of [email, `Whence <${email}>`]) expect(mailSender(text), JSON.stringify(text)).to.equal(null)
    for (const name of ['W\u009b', 'W\u202e', 'W\0', 'W\r\nBcc: a@b.dev'])
      expect(mailSender(`${name} <a@b.dev>`), JSON.stringify(name)).to.equal(null)
    expect(mailSender('Acme, Inc. <w@acme.dev>')).to.deep.equal({ name: 'Acme, Inc.', address: 'w@acme.dev' })
  })
})
