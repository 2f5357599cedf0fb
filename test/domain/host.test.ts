/** One rule for hosts, base addresses and brands: whatever the compiler or a setting accepts, the hook's script can contain. */

import { expect } from 'chai'
import fc from 'fast-check'

import { isPlainHost } from '../../domain/host.ts'
import { renderHookBody, renderHookScript } from '../../domain/collection/hook-script.ts'
import { parseOrigin, parsePageUrl } from '../../domain/origin.ts'
import { parseBaseUrl, parseBrand, parseOriginUrl } from '../../runtime/settings/parse.ts'
import { compile, organization, website } from '../../fixtures/service/manifests.ts'

const VALUES = {
  website: 'site',
  path: null,
  origins: ['https://acme.dev'],
  scan: 'Notice' as const,
  baseUrl: 'https://whence.dev',
  brand: 'whence',
}
const render = (values: Partial<Omit<typeof VALUES, 'path'>>) => renderHookScript('body', { ...VALUES, ...values })

/** Texts that are real hosts, or nearly. */
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'B', '0', 'a.b', 'dev', '_', 'ü') },
  { weight: 1, arbitrary: fc.constantFrom('-', '.', '..', '-a', 'xn--', "'", '$', ';', '%27', '&', '*', ' ') },
)
const host = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''))
const path = fc.array(fc.constantFrom('/', 'a', "'", ';', '$', '&', '%27', '~', '(', ' ', '.'), { maxLength: 6 })

describe('the rule for hosts', () => {
  it('refuses a dot at the end, an empty label and a hyphen at an edge, everywhere in the same way', () => {
    for (const odd of ['dot.dev.', '.a.dev', 'a..dev', '-a.dev', 'a-.dev', `${'a'.repeat(64)}.dev`]) {
      expect(isPlainHost(odd), odd).to.equal(false)
      expect(parseOrigin(`https://${odd}`).ok, odd).to.equal(false)
      expect(parsePageUrl(`https://${odd}/install`).ok, odd).to.equal(false)
      expect(parseBaseUrl(`https://${odd}`).ok, odd).to.equal(false)
      expect(parseOriginUrl(`https://${odd}`).ok, odd).to.equal(false)
      expect(() => render({ origins: [`https://${odd}`] }), odd).to.throw(RangeError)
    }
  })

  it('renders the script of every website that compiles', () => {
    let taken = 0
    fc.assert(
      fc.property(host, host, (one, other) => {
        const pages = [{ id: 'p', url: `https://${other}/install` }]
        const { catalog } = compile(organization('acme'), website('site', { primaryOrigin: `https://${one}`, pages }))
        const origins = [...(catalog.websites.get('site')?.origins ?? [])]
        if (origins.length === 0) return
        taken += 1
        expect(render({ origins })).to.include(origins.join(' '))
      }),
      { numRuns: 2_000 },
    )
    expect(taken).to.be.greaterThan(20)
  })

  it('renders the script for every base address and brand that the settings accept', () => {
    let taken = 0
    fc.assert(
      fc.property(host, path, (name, steps) => {
        const base = parseBaseUrl(`https://${name}/${steps.join('')}`)
        if (!base.ok) return
        taken += 1
        expect(render({ baseUrl: base.value })).to.include(`='${base.value}'`)
      }),
      { numRuns: 2_000 },
    )
    expect(taken).to.be.greaterThan(20)
    const word = fc
      .array(fc.constantFrom('a', '9', '-', '--', 'A', '_'), { maxLength: 40 })
      .map((each) => each.join(''))
    fc.assert(
      fc.property(word, (brand) => {
        if (parseBrand(brand).ok) expect(renderHookBody('whence', brand)).to.equal(brand)
      }),
    )
    expect(parseBrand('my-').ok || parseBrand('a--b').ok).to.equal(false)
    expect(parseBrand('my-brand').ok).to.equal(true)
  })
})
