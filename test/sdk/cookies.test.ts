import { expect } from 'chai'
import fc from 'fast-check'
import { cookieReader } from '../../sdk/readers/cookies.ts'
import { LIMITS } from '../../domain/limits.ts'

describe('sdk/cookies', () => {
  it('finds a cookie at the beginning, in the middle and at the end', () => {
    const cookie = cookieReader('a=1; bb=2; c=3')
    expect([cookie('a'), cookie('bb'), cookie('c')]).to.deep.equal(['1', '2', '3'])
  })

  it('takes no cookie whose name merely ends or begins with the one asked for', () => {
    const cookie = cookieReader('x_ga=1; _gab=2; _ga_A=3')
    expect([cookie('_ga'), cookie('ga'), cookie('_ga_')]).to.deep.equal([undefined, undefined, undefined])
  })

  it('takes the first of several cookies of one name', () => {
    expect(cookieReader('_ga=GA1.2.1.1; _ga=GA1.1.2.2')('_ga')).to.equal('GA1.2.1.1')
  })

  it('keeps equals signs in the value and decodes percent signs', () => {
    expect(cookieReader('a=b=c%24d')('a')).to.equal('b=c$d')
  })

  it('leaves a value as it is that cannot be decoded', () => {
    expect(cookieReader('a=100%')('a')).to.equal('100%')
  })

  it('counts an empty cookie as absent', () => {
    expect(cookieReader('a=; b=1')('a')).to.equal(undefined)
  })

  it('leaves out a value longer than an identifier may be, and keeps the longest that fits', () => {
    const fitting = 'v'.repeat(LIMITS.identifierChars)
    expect(cookieReader(`a=${fitting}; b=1`)('a')).to.equal(fitting)
    expect(cookieReader(`a=${fitting}v; b=1`)('a')).to.equal(undefined)
  })

  it('never throws, whatever other scripts have put into the cookies', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        const value = cookieReader(header)('_ga')
        expect(value === undefined || typeof value === 'string').to.equal(true)
      }),
    )
  })
})
