/** Which fields of an object changed: the same whether both specs are at hand, or only digests of their fields. */

import { expect } from 'chai'
import fc from 'fast-check'

import { fieldsThatDiffer, fieldTexts, specChange } from '../../../domain/people/change-entry.ts'

const between = (before: object, after: object): readonly string[] =>
  fieldsThatDiffer(Object.fromEntries(fieldTexts(before)), Object.fromEntries(fieldTexts(after)))

describe('the fields that changed', () => {
  it('are named one by one inside a part that stays, and as one if the part is new or gone', () => {
    const invited = { role: 'Viewer', invitation: { id: 'a', expiresAt: 'b' } }
    const joined = { role: 'Viewer' }
    expect(between(invited, joined)).to.deep.equal(['/spec/invitation'])
    expect(between(joined, invited)).to.deep.equal(['/spec/invitation'])
    expect(between(invited, { ...invited, invitation: { id: 'c', expiresAt: 'd' } })).to.deep.equal([
      '/spec/invitation/expiresAt',
      '/spec/invitation/id',
    ])
    expect(between(invited, { ...invited, invitation: { id: 'a' } })).to.deep.equal(['/spec/invitation/expiresAt'])
    expect(between(invited, { ...invited, invitation: 'none' })).to.deep.equal(['/spec/invitation'])
  })

  it('are the same from digests as from both specs', () => {
    const names = fc.constantFrom('a', 'b', 'a/b', 'c~')
    const { spec } = fc.letrec((tie) => ({
      value: fc.oneof(
        fc.constantFrom('x', 'y', 1, true),
        fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 }),
        tie('spec'),
      ),
      // An empty map holds no field, and no definition has one.
      spec: fc.dictionary(names, tie('value'), { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
    }))
    fc.assert(
      fc.property(spec, spec, (before, after) => {
        const { fields } = specChange(before, after)
        expect(between(before, after)).to.deep.equal([...(fields ?? [])].sort())
      }),
    )
  })
})
