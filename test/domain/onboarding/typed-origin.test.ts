import { expect } from 'chai'

import { typedOrigin } from '../../../domain/onboarding/typed-origin.ts'

describe('the address of a website as it is typed', () => {
  const CASES: readonly (readonly [typed: string, origin: string | null])[] = [
    ['acme.dev', 'https://acme.dev'],
    [' https://Acme.dev/install?a=1 ', 'https://acme.dev'],
    ['docs.acme.dev:8443/x', 'https://docs.acme.dev:8443'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://acme.dev', null],
    ['ftp://acme.dev', null],
    ['', null],
    ['not a website', null],
  ]
  for (const [typed, origin] of CASES)
    it(`"${typed}" is ${origin ?? 'none'}`, () => {
      expect(typedOrigin(typed)).to.equal(origin)
    })
})
