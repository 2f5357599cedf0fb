import { expect } from 'chai'

import { memberAsWritten } from '../../../domain/people/member.ts'

const AT = { namespace: 'default', name: 'anna' }

describe('a member whose object may be refused', () => {
  it('is found by its address, whatever else is wrong', () => {
    const email = 'anna@acme.dev'
    const identity = { kind: 'person', email }
    for (const spec of [
      { email },
      { email, role: 'Admn' },
      { email, role: 'Owner', invitation: null },
      { email, role: 'Owner', invitation: { id: 7 } },
      { email, organizationRef: 'acme' },
    ]) {
      expect(memberAsWritten({ ...AT, spec }, 'acme').identity, JSON.stringify(spec)).to.deep.equal(identity)
    }
  })

  it('has the role and the invitation that can be read, else the least role, and an invitation without an end', () => {
    const expiresAt = '2026-11-29T06:00:00Z'
    const spec = { email: 'anna@acme.dev', role: 'Owner', invitation: { id: 'a1', expiresAt } }
    expect(memberAsWritten({ ...AT, spec }, 'acme')).to.deep.include({
      role: 'Owner',
      invitation: { id: 'a1', expiresAtMs: Date.parse(expiresAt) },
    })
    const broken = { group: 'all', role: 'Admn', invitation: { id: 'a1', expiresAt: 'soon' } }
    expect(memberAsWritten({ ...AT, spec: broken }, 'acme')).to.deep.include({
      identity: { kind: 'group', group: 'all' },
      role: 'Viewer',
      invitation: { id: 'a1', expiresAtMs: Infinity },
    })
  })
})
