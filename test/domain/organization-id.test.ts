/** What an organisation is called in everything that is stored about it. */

import { expect } from 'chai'
import fc from 'fast-check'
import { organizationId } from '../../domain/catalog/objects.ts'

const SIGNED_UP = 'o-0123456789abcdef'

describe('the ID of an organisation', () => {
  const named = (namespace: string, name: string, tenant?: string) => organizationId({ namespace, name, tenant })

  it('is its name, after its namespace unless that is the default one', () => {
    expect([named('default', 'acme'), named('team', 'acme')]).to.deep.equal(['acme', 'team/acme'])
  })

  it('mentions a tenant, and for one that signed up only another than its own', () => {
    expect(named('default', 'acme', 'acme')).to.equal('acme@acme')
    expect(named('team', 'acme', 't1')).to.equal('team/acme@t1')
    expect(named('default', SIGNED_UP, SIGNED_UP)).to.equal(SIGNED_UP)
    expect(named('default', SIGNED_UP)).to.equal(`${SIGNED_UP}@`)
    expect(named('default', SIGNED_UP, 't1')).to.equal(`${SIGNED_UP}@t1`)
  })

  it('differs as soon as namespace, name or tenant differ', () => {
    const label = fc.constantFrom('default', 'team', 'acme', SIGNED_UP, 'o-1')
    const parts = fc.tuple(label, label, fc.option(label, { nil: undefined }))
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        expect(named(...one) === named(...other)).to.equal(JSON.stringify(one) === JSON.stringify(other))
      }),
    )
  })
})
