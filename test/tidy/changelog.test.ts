/** CHANGELOG.md keeps to the form that people and tools know. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'

import { changelogProblems, entriesOf, releaseNotes } from '../../tools/release/changelog.ts'
import { ROOT } from './source-files.ts'

const CHANGELOG = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')
const SAMPLE = `# Changelog

## [Unreleased]

### Fixed
- It works.

## [1.1.0] - 2026-12-01

### Added
- One thing.

### Security
- A hole.

## [1.0.0] - 2026-11-01

### Added
- All of it.
`

describe('the changelog', () => {
  it('has the form of Keep a Changelog', () => {
    expect(changelogProblems(CHANGELOG)).to.deep.equal([])
    expect(entriesOf(CHANGELOG).length).to.be.greaterThan(0)
  })

  it('is refused in any other form', () => {
    expect(changelogProblems(SAMPLE)).to.deep.equal([])
    const broken = (from: string, to: string): number => changelogProblems(SAMPLE.replace(from, to)).length
    expect(broken('# Changelog', '# Changes')).to.equal(1)
    expect(broken('[Unreleased]', '[1.2.0] - 2026-12-02')).to.equal(1)
    expect(broken('[1.1.0] - 2026-12-01', '1.1.0')).to.equal(1)
    expect(broken('[1.1.0]', '[next]')).to.equal(1)
    expect(broken('2026-12-01', '2026-10-01')).to.equal(1)
    expect(broken('### Added', '### New')).to.equal(1)
    expect(broken('- One thing.\n', '')).to.equal(1)
    expect(broken('### Fixed\n', '')).to.equal(1)
  })

  it('gives a release its notes', () => {
    expect(releaseNotes(SAMPLE, '1.0.0')).to.equal('### Added\n- All of it.\n')
    expect(releaseNotes(SAMPLE, '2.0.0')).to.equal('### Fixed\n- It works.\n')
  })
})
