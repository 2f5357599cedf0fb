/** What tools print with `--json`: values, and no texts of values. */

import { expect } from 'chai'

import { withValues } from '../../bin/terminal/values.ts'

describe('a row as JSON', () => {
  it('has lists and objects where a column holds their text', () => {
    const row = {
      verdicts: '[{"verdict":"active"}]',
      answer: '{"ok":true}',
      identities: '{}',
      arch: '["arm64","x86_64"]',
    }
    expect(withValues(row)).to.deep.equal({
      verdicts: [{ verdict: 'active' }],
      answer: { ok: true },
      identities: {},
      arch: ['arm64', 'x86_64'],
    })
  })

  it('leaves every other text as it is, and what is damaged', () => {
    const row = {
      arch: 'x86_64',
      language: '7',
      verdicts: '[{',
      body: '{"project":"acme"}',
      event_id: '[1]',
      gpc: false,
    }
    expect(withValues(row)).to.deep.equal(row)
  })
})
