/** What a change would cause is known before it is made, and nobody takes away by it what somebody else has. */

import { createHash } from 'node:crypto'

import { expect } from 'chai'

import { judgeChange } from '../../domain/catalog/judge-change.ts'
import type { JsonObject } from '../../domain/strict-json.ts'
import { installPath, organization, website, type Manifest } from '../../fixtures/service/manifests.ts'

const OLD = { tenant: 'old', organizationRef: { name: 'old' } }
const YOUNG = { tenant: 'young', organizationRef: { name: 'young' } }
const OBJECTS = [
  organization('old', { tenant: 'old' }),
  organization('young', { tenant: 'young' }),
  website('a', OLD),
  installPath('a-cli', OLD),
  website('b', { ...YOUNG, pages: [{ id: 'p', url: 'https://page.example/' }] }),
  website('c', { ...OLD, id: 'shop' }),
  installPath('c-cli', OLD),
]

const judge = (kind: string, name: string, spec: object | null, objects: readonly Manifest[] = OBJECTS) => {
  const { refusals, warnings } = judgeChange(
    { kind, namespace: 'default', name, spec: spec as JsonObject | null },
    {
      objects: objects.map((value) => ({ value, locate: () => '' })),
      isWithoutSecrets: true,
      sha256Hex: (text) => createHash('sha256').update(text).digest('hex'),
      nowMs: 0,
    },
  )
  return {
    refusals: refusals.map(({ object, reason, field }) => [object, reason, field]),
    warnings: warnings.map(({ object, reason }) => [object, reason]),
  }
}
const site = (name: string, more: object) => ({ primaryOrigin: `https://${name}.example`, ...more })

describe('a change that is judged before it is made', () => {
  it('takes no origin and no ID from a younger object that has it', () => {
    const domains = { additionalDomains: ['https://b.example'] }
    expect(judge('Website', 'a', site('a', { ...OLD, ...domains })).refusals).to.deep.equal([
      ['Website/a', 'OriginTaken', '/spec/additionalDomains'],
    ])
    expect(judge('Website', 'a', site('b', OLD)).refusals).to.deep.equal([
      ['Website/a', 'OriginTaken', '/spec/primaryOrigin'],
    ])
    expect(judge('Website', 'a', site('a', { ...OLD, id: 'shop' })).refusals).to.deep.equal([
      ['Website/a', 'IdTaken', '/spec/id'],
    ])
    expect(judge('InstallPath', 'a-cli', { ...OLD, id: 'c-cli' }).refusals).to.deep.equal([
      ['InstallPath/a-cli', 'IdTaken', '/spec/id'],
    ])
  })

  it('may have what nobody has, keeps what it has, and takes the origin of a page as a new domain does', () => {
    const none = { refusals: [], warnings: [] }
    expect(judge('Website', 'a', site('free', OLD))).to.deep.equal(none)
    expect(judge('Website', 'a', site('a', { ...OLD, displayName: 'A' }))).to.deep.equal(none)
    expect(judge('Website', 'a', site('page', OLD))).to.deep.equal({
      refusals: [],
      warnings: [['Website/b', 'OriginTaken']],
    })
  })

  it('keeps its age: the oldest of too many stays in force, and the ones out of force can be corrected', () => {
    const free = OBJECTS.map((object) =>
      object === OBJECTS[0] ? organization('old', { tenant: 'old', plan: 'Free' }) : object,
    )
    for (const name of ['a', 'c']) {
      const spec = site(name, { ...OLD, ...(name === 'c' ? { id: 'shop' } : {}), displayName: 'New' })
      expect(judge('Website', name, spec, free), name).to.deep.equal({ refusals: [], warnings: [] })
    }
    expect(judge('Website', 'd', site('d', OLD), free).refusals).to.deep.equal([['Website/d', 'PlanLimit', '']])
  })

  it('warns of everything that a removal leaves out', () => {
    expect(judge('Organization', 'old', null)).to.deep.equal({
      refusals: [],
      warnings: ['InstallPath/a-cli', 'InstallPath/c-cli', 'Website/a', 'Website/c'].map((object) => [
        object,
        'RefNotFound',
      ]),
    })
  })
})
