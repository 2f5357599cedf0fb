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

  it('are called a milestone if a destination goes live or origins change', () => {
    const of = (kind: string, before: object | null, after: object) =>
      specChange(kind, before as never, after as never).type
    expect(of('Destination', { mode: 'Validate' }, { mode: 'Live' })).to.equal('destination_live')
    expect(of('Destination', null, { mode: 'Live' })).to.equal('destination_live')
    expect(of('Destination', null, { mode: 'Validate' })).to.equal('object_created')
    expect(of('Destination', { mode: 'Live', a: 1 }, { mode: 'Live', a: 2 })).to.equal('object_changed')
    expect(of('Destination', { mode: 'Live' }, { mode: 'Paused' })).to.equal('object_changed')
    expect(of('Website', { additionalDomains: [] }, { additionalDomains: ['https://a.example'] })).to.equal(
      'origins_changed',
    )
    expect(of('Website', { primaryOrigin: 'https://a.example' }, { primaryOrigin: 'https://b.example' })).to.equal(
      'origins_changed',
    )
    expect(of('Website', { displayName: 'a' }, { displayName: 'b' })).to.equal('object_changed')
    expect(of('Member', { mode: 'x' }, { mode: 'Live' })).to.equal('object_changed')
    expect(specChange('Destination', undefined, { mode: 'Live' }).type).to.equal('object_changed')
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
        const { fields } = specChange('Website', before, after)
        expect(between(before, after)).to.deep.equal([...(fields ?? [])].sort())
      }),
    )
  })
})
