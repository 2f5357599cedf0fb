/** Marks of tests: only a signed one counts, for its website and its ten minutes. */

import { expect } from 'chai'
import fc from 'fast-check'

import { isTestMark, issueTestMark, TEST_MARK_MS } from '../../domain/collection/test-mark.ts'
import { createKeyring } from '../../runtime/keyring.ts'

const OLD = 'an-old-secret-for-tests-of-marks-0001'
const NEW = 'a-new-secret-for-tests-of-marks-00002'
const KEYS = createKeyring([NEW])
const WEBSITE = { organization: 'acme', website: 'acme-dev' }
const NOW_MS = Date.parse('2026-11-28T08:00:00Z')
const PERSON = 'p_0123456789abcdef'

describe('the mark of a test', () => {
  const mark = issueTestMark(KEYS, { ...WEBSITE, person: PERSON }, NOW_MS)
  const counts = (text: unknown, website = WEBSITE, nowMs = NOW_MS) => isTestMark(KEYS, website, text, nowMs)

  it('counts for ten minutes, on its website alone', () => {
    expect(counts(mark)).to.equal(true)
    expect(counts(mark, WEBSITE, NOW_MS + TEST_MARK_MS)).to.equal(true)
    expect(counts(mark, WEBSITE, NOW_MS + TEST_MARK_MS + 1_000)).to.equal(false)
    expect(counts(mark, { ...WEBSITE, website: 'other' })).to.equal(false)
    expect(counts(mark, { ...WEBSITE, organization: 'other' })).to.equal(false)
  })

  it('outlives a rotation of the master secret', () => {
    const before = issueTestMark(createKeyring([OLD]), { ...WEBSITE, person: PERSON }, NOW_MS)
    expect(counts(before)).to.equal(false)
    expect(isTestMark(createKeyring([NEW, OLD]), WEBSITE, before, NOW_MS)).to.equal(true)
  })

  it('needs no escaping in an address or a shell, and is one that the hook takes', () => {
    expect(mark).to.match(/^[A-Za-z0-9_.]+$/u)
    // What the hook takes for a fact.
    expect(mark.length).to.be.at.most(64)
  })

  it('cannot be made up or changed', () => {
    fc.assert(fc.property(fc.anything(), (text) => !counts(text)))
    const places = fc.nat(mark.length - 1)
    fc.assert(
      fc.property(places, fc.constantFrom(...'0123456789abcdefpt._'), (place, character) => {
        const changed = mark.slice(0, place) + character + mark.slice(place + 1)
        return changed === mark || !counts(changed)
      }),
    )
  })
})
