import { expect } from 'chai'

import { noteSpan, traced, traceparent } from '../../runtime/tracing.ts'

const PARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`

describe('traces of a process without an SDK', () => {
  it('change nothing of the work, and records carry none', async () => {
    expect(await traced({ name: 'append' }, async () => traceparent() ?? 'none')).to.equal('none')
    const broken = await traced({ name: 'append' }, () => Promise.reject(new Error('away'))).catch(String)
    expect(broken).to.equal('Error: away')
  })

  it('pass on the trace of a record that another process traced', () => {
    expect(noteSpan({ name: 'dispatch', parent: PARENT, startMs: 1, endMs: 2 })).to.equal(PARENT)
  })

  it('take no other text for a trace', () => {
    for (const parent of ['', PARENT.toUpperCase(), `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`, `${PARENT}\n`]) {
      expect(noteSpan({ name: 'dispatch', parent, startMs: 1, endMs: 2 })).to.equal(parent)
    }
  })
})
