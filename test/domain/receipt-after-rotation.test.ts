/** Receipts from before a rotation of the master secret, as the keyring reads them afterwards. */

import { expect } from 'chai'

import { isFromOrigin, issueReceipt, issueToken, readReceipt, readToken } from '../../domain/receipt.ts'
import { createKeyring } from '../../runtime/keyring.ts'

const ORIGIN = 'https://acme.dev'
const OLD = 'the-old-secret-of-this-test-the-old-secret'

describe('a receipt from before the master secret was rotated', () => {
  const before = createKeyring([OLD])
  const after = createKeyring([rotatedFrom(OLD), OLD])
  const issued = issueReceipt(before, {
    organization: 'acme',
    website: 'w',
    origin: ORIGIN,
    issuedAtMs: Date.UTC(2026, 10, 21),
    random: new Uint8Array(5),
    isHandoffOnly: false,
    isUnrecorded: false,
    gpc: false,
  })

  it('still belongs to the origin that it was issued on, and to no other', () => {
    const claims = readReceipt(after, { organization: 'acme', website: 'w' }, issued.text)
    expect(claims).to.deep.equal(issued.claims)
    expect(isFromOrigin(after, { organization: 'acme', website: 'w' }, claims!, ORIGIN)).to.equal(true)
    expect(isFromOrigin(after, { organization: 'acme', website: 'w' }, claims!, 'https://evil.example')).to.equal(false)
  })

  it('gives the same handoff token as before, and the token is read', () => {
    const token = issueToken(after, { organization: 'acme', website: 'w' }, issued.claims, false)
    expect(token).to.equal(issueToken(before, { organization: 'acme', website: 'w' }, issued.claims, false))
    expect(readToken(after, { organization: 'acme', website: 'w' }, token)?.visitId).to.equal(issued.claims.visitId)
  })
})

/** Key IDs are few, so two secrets may share one, which the keyring refuses. */
function rotatedFrom(old: string): string {
  for (let turn = 0; ; turn++) {
    const next = `the-new-secret-of-this-test-the-new-secret-${turn}`
    try {
      createKeyring([next, old])
      return next
    } catch {
      continue
    }
  }
}
