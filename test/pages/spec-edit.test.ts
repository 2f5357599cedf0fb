/** Changes of a spec as the form makes them, and the YAML beside it. */

import { expect } from 'chai'
import { assert, property, dictionary, string, jsonValue } from 'fast-check'
import { parse } from 'yaml'

import { yamlOf } from '../../pages/resources/yaml.ts'
import { laidOver, fieldManager, withValue } from '../../pages/resources/spec-edit.ts'

describe('a spec that is changed', () => {
  it('gets, changes and loses values at any depth, and keeps the order of its fields', () => {
    const spec = { hook: { scan: 'Notice' }, pages: [{ id: 'a' }, { id: 'b' }] }
    expect(withValue(spec, ['hook', 'scan'], 'Silent')).to.deep.equal({ ...spec, hook: { scan: 'Silent' } })
    expect(withValue(spec, ['pages', 0], undefined)).to.deep.equal({ ...spec, pages: [{ id: 'b' }] })
    expect(withValue(spec, ['pages', 1, 'url'], 'u')['pages']).to.deep.equal([{ id: 'a' }, { id: 'b', url: 'u' }])
    expect(withValue(spec, ['ga4', 'measurementId'], 'G-1')['ga4']).to.deep.equal({ measurementId: 'G-1' })
    expect(Object.keys(withValue(spec, ['hook'], {}))).to.deep.equal(['hook', 'pages'])
    expect(withValue(spec, ['hook'], undefined)).to.deep.equal({ pages: spec.pages })
  })

  it('is laid over what somebody else changed meanwhile: both stay, and mine where both did', () => {
    const base = { a: 1, b: 1, c: 1, d: 1 }
    const merged = laidOver({ base, mine: { a: 2, b: 1, c: 2 }, theirs: { a: 3, b: 3, c: 1, d: 1, e: 1 } })
    expect(merged).to.deep.equal({ a: 2, b: 3, c: 2, e: 1 })
  })

  it('knows whose a field is, if the whole spec is or one entry of a list', () => {
    expect(fieldManager([{ field: '/spec', manager: 'a.yaml' }], ['hook', 'scan'])).to.equal('a.yaml')
    expect(fieldManager([{ field: '/spec/pages/0', manager: 'argocd' }], ['pages'])).to.equal('argocd')
    expect(fieldManager([{ field: '/spec/pages', manager: 'argocd' }], ['pagesOfOthers'])).to.equal(null)
  })
})

describe('YAML of plain data', () => {
  it('reads as the same data, whatever texts are in it', () => {
    assert(
      property(dictionary(string(), jsonValue()), (value) => {
        expect(parse(yamlOf(value)) ?? {}).to.deep.equal(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it('escapes characters that turn the text around or are not seen, as a name of a stranger may have them', () => {
    const value = { name: 'a \u202e b \u200b \u2066 \ufeff c', ['\u202e']: 1 }
    const text = yamlOf(value)
    expect(text).to.equal('name: "a \\u202e b \\u200b \\u2066 \\ufeff c"\n"\\u202e": 1\n')
    expect(parse(text)).to.deep.equal(value)
  })

  it('looks like what people write', () => {
    const object = {
      kind: 'Website',
      spec: { on: 'yes', origins: ['https://acme.dev'], pages: [{ id: 'a', count: 1 }], none: [] },
    }
    expect(yamlOf(object)).to.equal(
      'kind: Website\nspec:\n  "on": "yes"\n  origins:\n    - "https://acme.dev"\n  pages:\n    - id: a\n      count: 1\n  none: []\n',
    )
  })
})
