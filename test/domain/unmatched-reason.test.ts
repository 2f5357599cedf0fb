/** Why an install has no visit, and which coding agent ran it. */

import { readFileSync } from 'node:fs'

import { expect } from 'chai'

import { codingAgentOf } from '../../domain/collection/coding-agent.ts'
import { CODING_AGENTS } from '../../domain/model.ts'
import { unmatchedReason } from '../../domain/collection/unmatched-reason.ts'
import { RECEIPT_VERDICTS, type CandidateVerdict, type ReceiptVerdict } from '../../domain/model.ts'

const looked = (...verdicts: readonly ReceiptVerdict[]): readonly CandidateVerdict[] =>
  verdicts.map((verdict) => ({ visitId: null, issuedAtMs: null, verdict }))

describe('the reason of an unmatched install', () => {
  it('is the verdict of its one receipt', () => {
    const possible = RECEIPT_VERDICTS.filter((verdict) => !['active', 'handoff', 'undecided'].includes(verdict))
    for (const verdict of possible) {
      expect(unmatchedReason({ resolution: 'unmatched', verdicts: looked(verdict) })).to.equal(verdict)
    }
  })

  it('is the verdict that came closest to a match if there are several, in any order', () => {
    for (const verdicts of [looked('forged', 'expired', 'revoked'), looked('revoked', 'expired', 'forged')]) {
      expect(unmatchedReason({ resolution: 'unmatched', verdicts })).to.equal('expired')
    }
    expect(unmatchedReason({ resolution: 'unmatched', verdicts: looked('forged', 'never_activated') })).to.equal(
      'never_activated',
    )
  })

  it('is no_receipt if it brought none', () => {
    expect(unmatchedReason({ resolution: 'unmatched', verdicts: [] })).to.equal('no_receipt')
  })

  it('does not apply to other installs', () => {
    for (const resolution of ['matched', 'counted', 'pending'] as const) {
      expect(unmatchedReason({ resolution, verdicts: looked('revoked') })).to.equal(null)
    }
  })
})

describe('the coding agent of an install', () => {
  it('is the one that the hook names', () => {
    expect(codingAgentOf('whence-hook/0.1.0 agent/claude-code')).to.equal('claude-code')
    expect(codingAgentOf('whence-hook/0.1.0')).to.equal(null)
  })

  it('is `other` if a newer hook names one that is not known here', () => {
    expect(codingAgentOf('whence-hook/9.0.0 agent/new-agent')).to.equal('other')
  })

  it('is believed only if it comes from the hook', () => {
    const strangers = [
      '',
      'curl/8 agent/codex',
      'whence-hook/1 agent/',
      'whence-hook/1 agent/Codex',
      'whence-hook/1  agent/x',
    ]
    for (const userAgent of [...strangers, `whence-hook/1 agent/${'a'.repeat(33)}`, 'x whence-hook/1 agent/codex']) {
      expect(codingAgentOf(userAgent), userAgent).to.equal(null)
    }
  })

  it('has every name that the hook sends, and no other', () => {
    const hook = readFileSync(new URL('../../hook/report.sh', import.meta.url), 'utf8')
    const part = hook.slice(hook.indexOf('  whence_agent() {'), hook.indexOf('  # ---- The request'))
    const names = new Set([...part.matchAll(/echo ([a-z-]+)/g)].map(([, name]) => name))
    expect([...names]).to.have.members([...CODING_AGENTS])
  })
})
