/** Which websites have facts of others only, as a restore compares them. */

import { expect } from 'chai'
import type { Website } from '../../domain/catalog.ts'
import { changedOwners } from '../../domain/published/changed-owners.ts'

const websiteOf = (id: string, organization: string) => ({ id, organization: { id: organization } }) as Website
const stored = (website: string, organization: string) => ({ website, organization })

describe('owners of websites that differ from those of stored facts', () => {
  it('are named with everybody whose facts there are', () => {
    const now = [websiteOf('shop', 'team/acme'), websiteOf('docs', 'acme')]
    const facts = [stored('shop', 'other'), stored('shop', 'acme'), stored('docs', 'acme'), stored('gone', 'acme')]
    expect(changedOwners(now, facts)).to.deep.equal([{ website: 'shop', now: 'team/acme', stored: ['acme', 'other'] }])
  })

  it('are none if a website has facts of its own owner, whoever else had it, or none at all', () => {
    const now = [websiteOf('shop', 'acme'), websiteOf('new', 'acme')]
    expect(changedOwners(now, [stored('shop', 'former'), stored('shop', 'acme')])).to.deep.equal([])
  })

  it('tell the same name in another namespace or of another tenant apart', () => {
    for (const [now, before] of [
      ['acme', 'team/acme'],
      ['team/acme', 'acme'],
      ['acme@t', 'acme'],
    ] as const)
      expect(changedOwners([websiteOf('shop', now)], [stored('shop', before)])).to.have.length(1)
  })
})
