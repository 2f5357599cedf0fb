/** Which share links open something, and what they show. */

import { createHash } from 'node:crypto'

import { expect } from 'chai'
import fc from 'fast-check'

import { compileCatalog, type Compilation } from '../../../domain/catalog/compile-catalog.ts'
import { FILTER_OPERATORS, textOfFilter, type FigureFilter } from '../../../domain/figures/filters.ts'
import { INSTALLS_BY } from '../../../domain/figures/installs.ts'
import { LIMITS } from '../../../domain/limits.ts'
import { hashOfPass, PASS_BYTES } from '../../../domain/people/pass.ts'
import { presentedToken, sharedFilterTexts, sharedFiltersOf, shareToken } from '../../../domain/people/share-link.ts'
import { findings, organization, resource, website } from '../../../fixtures/service/manifests.ts'

const NOW = '2026-11-28T00:00:00Z'
const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex')
const tokenHash = (number: number): string => hashOfPass(shareToken(new Uint8Array(PASS_BYTES).fill(number)), sha256Hex)

function shareLink(
  name: string,
  spec: Readonly<Record<string, unknown>> = {},
  metadata: Readonly<Record<string, unknown>> = {},
): unknown {
  const usual = { websiteRef: { name: 'site' }, period: 'Last28Days', expiresAt: '2027-06-30T00:00:00Z' }
  return resource('ShareLink', name, { ...usual, tokenHash: tokenHash(1), ...spec }, metadata)
}

function compileAt(time: string, ...objects: readonly unknown[]): Compilation {
  return compileCatalog({
    objects: objects.map((value, index) => ({ value, locate: (field) => `object ${index}${field}` })),
    sha256Hex,
    nowMs: Date.parse(time),
  })
}

describe('share links', () => {
  const SITE = [organization('acme'), website('site')]
  const namesOf = ({ people }: Compilation): readonly string[] =>
    [...people.shareLinks.values()].map(({ name }) => name)

  it('show one website of its organisation, and are no part of the catalog', () => {
    const filters = [
      { field: 'campaign', is: ['show-hn', 'a,b'] },
      { field: 'source', isNot: [''], contains: ['google'] },
    ]
    const { people, problems, catalog } = compileAt(NOW, ...SITE, shareLink('board', { filters, displayName: 'Board' }))
    expect(problems).to.deep.equal([])
    expect(catalog.version).to.equal(compileAt(NOW, ...SITE).catalog.version)
    expect([...people.shareLinks.values()]).to.deep.equal([
      {
        namespace: 'default',
        name: 'board',
        organization: 'acme',
        expiresAtMs: Date.parse('2027-06-30T00:00:00Z'),
        hash: tokenHash(1),
        report: {
          title: 'Board',
          website: 'site',
          period: 'Last28Days',
          filter: [String.raw`campaign:is:show-hn,a\,b`, 'source:is_not:', 'source:contains:google'],
        },
      },
    ])
  })

  it('end within a year, and open nothing from then on', () => {
    const far = compileAt(NOW, ...SITE, shareLink('far', { expiresAt: '2027-11-30T00:00:00Z' }))
    expect(findings(far)).to.deep.equal(['ShareLink/far InvalidField spec.expiresAt: must be at most 366 days ahead'])
    const last = shareLink('last', { expiresAt: '2027-11-29T00:00:00Z' })
    expect(namesOf(compileAt('2027-11-28T23:59:59Z', ...SITE, last))).to.deep.equal(['last'])
    const ended = compileAt('2027-11-29T00:00:00Z', ...SITE, last)
    expect([namesOf(ended), findings(ended)]).to.deep.equal([
      [],
      ['ShareLink/last Expired spec.expiresAt: the link has ended'],
    ])
    const near = Date.parse('2027-11-29T00:00:00Z') - LIMITS.passDays * 86_400_000
    expect(compileAt('2026-11-27T00:00:00Z', ...SITE, last).people.changesAtMs).to.equal(near)
  })

  it('are at most 20 of a website, the oldest, without those that have ended', () => {
    const ended = shareLink('ended', { expiresAt: '2026-11-27T00:00:00Z', tokenHash: tokenHash(99) })
    const many = Array.from({ length: 21 }, (_, number) => shareLink(`l${number}`, { tokenHash: tokenHash(number) }))
    const other = shareLink('o', { websiteRef: { name: 'other' }, tokenHash: tokenHash(50) })
    const compiled = compileAt(NOW, ...SITE, website('other'), ended, ...many, other)
    expect(namesOf(compiled)).to.deep.equal([...Array.from({ length: 20 }, (_, number) => `l${number}`), 'o'])
    expect(findings(compiled)).to.include(
      'ShareLink/l20 PlanLimit the plan Enterprise allows 20 share links per website, and no plan allows more',
    )
  })

  it('need a larger plan than Free', () => {
    const compiled = compileAt(NOW, organization('acme', { plan: 'Free' }), website('site'), shareLink('board'))
    expect(namesOf(compiled)).to.deep.equal([])
    expect(findings(compiled)[0]).to.match(/^ShareLink\/board PlanRequired the plan Free allows no share links/)
  })

  it('are one object each: what has the token of an older one opens nothing', () => {
    const copy = shareLink('copy', { websiteRef: { name: 'other' } })
    const compiled = compileAt(NOW, ...SITE, website('other'), shareLink('mine'), copy)
    expect(namesOf(compiled)).to.deep.equal(['mine'])
    expect(findings(compiled)).to.deep.equal([
      'ShareLink/copy Duplicate spec.tokenHash: an older ShareLink has the same token',
    ])
  })

  it('show a website of their own namespace', () => {
    const elsewhere = { websiteRef: { name: 'site', namespace: 'default' } }
    const compiled = compileAt(NOW, ...SITE, shareLink('a', elsewhere, { namespace: 'b' }))
    expect(namesOf(compiled)).to.deep.equal([])
    expect(findings(compiled).join()).to.include('UnknownField')
  })

  it('open nothing with a filter that says nothing, or twice the same', () => {
    for (const [filters, told] of [
      [[{ field: 'campaign', contains: [''] }], 'must say what a value contains'],
      [
        [
          { field: 'campaign', is: ['a'] },
          { field: 'campaign', is: ['b'] },
        ],
        'names campaign:is twice',
      ],
    ] as const) {
      const compiled = compileAt(NOW, ...SITE, shareLink('a', { filters }))
      expect(namesOf(compiled)).to.deep.equal([])
      expect(findings(compiled)[0])
        .to.match(/^ShareLink\/a InvalidField spec.filters: /)
        .and.include(told)
    }
    for (const filters of [
      [{ field: 'campaign' }],
      [{ field: 'campaign', is: [] }],
      [{ field: 'visit_id', is: ['a'] }],
    ])
      expect(namesOf(compileAt(NOW, ...SITE, shareLink('a', { filters })))).to.deep.equal([])
  })

  it('hold every filter that an address can have', () => {
    const filter = fc.record({
      dimension: fc.constantFrom(...INSTALLS_BY),
      op: fc.constantFrom(...FILTER_OPERATORS),
      values: fc.uniqueArray(fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }), {
        minLength: 1,
        maxLength: 5,
      }),
    })
    const filters = fc.uniqueArray(filter, { maxLength: 5, selector: ({ dimension, op }) => `${dimension}:${op}` })
    fc.assert(
      fc.property(filters, (wanted: readonly FigureFilter[]) => {
        expect(sharedFilterTexts(sharedFiltersOf(wanted))).to.deep.equal(wanted.map(textOfFilter))
      }),
    )
  })
})

describe('a token in an address', () => {
  it('is whs_ and 43 characters, in one way of writing them', () => {
    const text = shareToken(new Uint8Array(PASS_BYTES).fill(7))
    expect(text).to.match(/^whs_[\w-]{43}$/)
    expect(presentedToken(text)).to.equal(text)
    const key = `whk_${text.slice(4)}`
    for (const other of [
      undefined,
      '',
      key,
      `${text}A`,
      `${text.slice(0, -1)}d`,
      `whs_${'+'.repeat(43)}`,
      'whs_',
      text.slice(0, -2),
    ])
      expect(presentedToken(other), other).to.equal(null)
  })
})
