import { expect } from 'chai'

import { blockingDirective, type Loaded } from '../../../domain/onboarding/content-policy.ts'
import { sourceFindings } from '../../../domain/onboarding/page-check.ts'

const PAGE = new URL('https://acme.dev/install')
const EXPECTED = { website: 'acme-dev', baseUrl: 'https://whence.acme.dev' }
const TAG = '<script async src="https://whence.acme.dev/browser.js" data-project="acme-dev"></script>'
const COMMAND = '<pre id="install" data-whence-command>curl</pre>'

function findings(html: string, ...policies: readonly string[]): readonly string[] {
  return sourceFindings({ url: PAGE, policies, html }, EXPECTED)
}

describe('the source of a page', () => {
  const CASES: readonly (readonly [what: string, html: string, found: readonly string[]])[] = [
    ['nothing that shows there', TAG + COMMAND, ['fine']],
    ['a documentation site', TAG.replace('data-project', 'data-commands=".install pre code" data-project'), ['fine']],
    ['no script', COMMAND, ['no_script']],
    ['a tag manager', '<script src="https://www.googletagmanager.com/gtm.js?id=GTM-1"></script>', ['tag_manager']],
    ['a script without a website', TAG.replace('data-project="acme-dev"', '') + COMMAND, ['no_project']],
    ['the script of another website', TAG.replace('acme-dev"', 'acme-docs"') + COMMAND, ['other_project']],
    ['the script of another service', TAG.replace('whence.acme.dev', 'other.dev') + COMMAND, ['other_service']],
    ['a proxy on its own site', TAG.replace('https://whence.acme.dev', '/w') + COMMAND, ['fine']],
    ['consent that is awaited', TAG.replace('async', 'data-consent="required"') + COMMAND, ['consent_required']],
    ['a misspelt word for consent', TAG.replace('async', 'data-consent=yes') + COMMAND, ['consent_required']],
    ['consent that is denied', TAG.replace('async', 'data-consent="denied"') + COMMAND, ['consent_denied']],
    ['a start by a call', TAG.replace('async', 'data-manual') + COMMAND, ['manual_start']],
    ['no marked command', TAG, ['no_command']],
    [
      'a policy in the source',
      `<meta http-equiv="Content-Security-Policy" content="script-src 'self'">${TAG}${COMMAND}`,
      ['policy_script'],
    ],
  ]
  for (const [what, html, found] of CASES)
    it(`with ${what}: ${found.join(', ')}`, () => {
      expect(findings(html)).to.deep.equal(found)
    })

  it('is judged by the policy of its headers, for the script and for what the script sends', () => {
    expect(findings(TAG + COMMAND, "default-src 'self'")).to.deep.equal(['policy_script'])
    expect(findings(TAG + COMMAND, "script-src https://whence.acme.dev; default-src 'self'")).to.deep.equal([
      'policy_connect',
    ])
    expect(findings(TAG + COMMAND, "default-src 'self' https://whence.acme.dev")).to.deep.equal(['fine'])
  })
})

describe('a Content Security Policy', () => {
  const script = (nonce: string | null = null): Loaded => ({
    as: 'script',
    url: new URL('https://whence.acme.dev/browser.js'),
    nonce,
  })
  const CASES: readonly (readonly [policy: string, blocked: string | null])[] = [
    ['', null],
    ["object-src 'none'", null],
    ["default-src 'none'", 'default-src'],
    ["default-src 'none'; script-src *", null],
    ["script-src 'self'; script-src-elem https://whence.acme.dev", null],
    ["script-src https://whence.acme.dev; script-src-elem 'self'", 'script-src-elem'],
    ['script-src https:', null],
    ['script-src http://whence.acme.dev', null],
    ['script-src whence.acme.dev', null],
    ['script-src *.acme.dev', null],
    ['script-src *.whence.acme.dev', 'script-src'],
    ['script-src https://whence.acme.dev:8443', 'script-src'],
    ['script-src https://whence.acme.dev/browser.js', null],
    ['script-src https://whence.acme.dev/sdk/', 'script-src'],
    ["script-src 'nonce-abc' 'strict-dynamic' https:", 'script-src'],
    ["SCRIPT-SRC 'NONE'", 'script-src'],
    ["script-src https:, script-src 'self'", 'script-src'],
  ]
  for (const [policy, blocked] of CASES)
    it(`"${policy}" ${blocked === null ? 'lets the script in' : `keeps it out by ${blocked}`}`, () => {
      expect(blockingDirective([policy], PAGE, script())).to.equal(blocked)
    })

  it('lets a script in by its nonce, and one of the own origin by self', () => {
    expect(blockingDirective(["script-src 'nonce-abc' 'strict-dynamic'"], PAGE, script('abc'))).to.equal(null)
    const own = { as: 'script', url: new URL('https://acme.dev/w/browser.js'), nonce: null } as const
    expect(blockingDirective(["script-src 'self'"], PAGE, own)).to.equal(null)
  })
})
