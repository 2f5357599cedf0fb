/** Where one can jump to: what an ID names first, then pages and websites by a part of their name. */

import { expect } from 'chai'

import { isJumpKey, jumpsTo } from '../../pages/shell/jump-targets.ts'
import { PAGES } from '../../pages/shell/navigation.ts'

const WEBSITES = [{ id: 'acme-docs', displayName: 'Documentation' }]

describe('the way to anything by its name', () => {
  it('lists all pages without a text, and by a text pages and websites', () => {
    const titles = (text: string) => jumpsTo(text, { websites: WEBSITES, found: [] }).map(({ title }) => title)
    expect(titles('')).to.deep.equal(PAGES.map(({ title }) => title))
    expect(titles('sour')).to.deep.equal(['Sources', 'Resources'])
    expect(titles('ACME')).to.deep.equal(['Documentation'])
    expect(titles('nothing')).to.deep.equal([])
  })

  it('has a key of its own for each page', () => {
    const keys = PAGES.map(({ key }) => key)
    expect(keys).to.deep.equal([...new Set(keys)])
  })

  it('begins with what an ID names, each with its own page', () => {
    const found = (['install', 'visit', 'delivery', 'request'] as const).map((kind) => ({
      kind,
      website: 'acme-docs',
      id: `${kind}-id`,
      at: kind === 'request' ? 1_000 : null,
    }))
    const jumps = jumpsTo('some-id', { websites: WEBSITES, found })
    expect(jumps.map(({ to, params, search }) => [to.split('/').slice(3).join('/'), params ?? search])).to.deep.equal([
      ['installs/$website/$event', { website: 'acme-docs', event: 'install-id' }],
      ['installs', { visit: 'visit-id' }],
      ['installs/$website/$event', { website: 'acme-docs', event: 'delivery-id' }],
      ['logs', { website: 'acme-docs', since: 1_000, until: 1_001 }],
    ])
    expect(new Set(jumps.map(({ key }) => key)).size).to.equal(jumps.length)
  })

  it('opens by ⌘K or Ctrl K, and by nothing that browsers or editors use', () => {
    const none = { key: 'k', metaKey: false, ctrlKey: false, altKey: false, shiftKey: false }
    expect(isJumpKey({ ...none, metaKey: true })).to.equal(true)
    expect(isJumpKey({ ...none, ctrlKey: true, key: 'K' })).to.equal(true)
    for (const other of [none, { ...none, ctrlKey: true, shiftKey: true }, { ...none, ctrlKey: true, key: 'j' }])
      expect(isJumpKey(other)).to.equal(false)
  })
})
