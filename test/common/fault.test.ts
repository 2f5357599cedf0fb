/** What is logged of an error says what is wrong with the code, and never a value that was at hand. */

import { expect } from 'chai'

import { loggedFault } from '../../common/fault.ts'

const thrownBy = (work: () => unknown): unknown => {
  try {
    return work()
  } catch (error) {
    return error
  }
}

describe('a fault in the log', () => {
  it('says what went wrong, and where', () => {
    const settings: { readonly pixel?: { readonly id: string } } = {}
    const fault = loggedFault(thrownBy(() => (settings.pixel as { readonly id: string }).id))
    expect(fault.cause).to.equal("TypeError: Cannot read properties of undefined (reading 'id')")
    expect(fault.at?.[0]).to.contain('fault.test.ts')
    expect(fault.at).to.have.length.within(1, 4)
  })

  it('repeats no text that was at hand', () => {
    const texts = ['canary', '{"private_key":"canary', 'x'.repeat(9)]
    for (const text of texts) {
      const shown = JSON.stringify(loggedFault(thrownBy(() => JSON.parse(text))))
      expect(shown).to.contain('SyntaxError').and.not.contain(text.slice(0, 6))
    }
    const own = new Error('the token canary was refused\n    at canary')
    own.stack = `Error: the token canary was refused\n    at somewhere (file:1:1)`
    expect(loggedFault(own)).to.deep.equal({ cause: 'Error', at: ['at somewhere (file:1:1)'] })
    expect(loggedFault('canary')).to.deep.equal({ cause: 'unknown' })
  })

  it('repeats no value that a TypeError or RangeError quotes', () => {
    const value = 'canary-of-a-key' as never
    const absent = undefined as never
    const faults = [
      () => 'x' in (value as object),
      () => Object.assign(value, { 0: 'x' }),
      () => Buffer.concat(value),
      () => new Headers({ authorization: `Bearer ${String(value)}\nx` }),
      () => new Intl.DateTimeFormat('en', { timeZone: value }),
      () => absent[value],
      () => Object.fromEntries([value]),
    ]
    for (const fault of faults) {
      const { cause, at } = loggedFault(thrownBy(fault))
      expect(cause, String(fault)).to.be.oneOf(['TypeError', 'RangeError'])
      expect(at?.join(), String(fault)).to.be.a('string').and.not.contain('canary')
    }
  })

  it('takes no line of a message for a place in the code', () => {
    const { at = [] } = loggedFault(new Error('refused:\n    at canary\n    at canary (file:1:1)'))
    expect(at).to.have.length.of.at.least(1)
    expect(at.join()).to.contain('fault.test.ts').and.not.contain('canary')
  })
})
