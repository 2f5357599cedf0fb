/** Rendering: the body for a brand, the script for a website, and what neither may ever contain. */

import { expect } from 'chai'
import fc from 'fast-check'
import { createHash } from 'node:crypto'
import { spawnSync } from 'node:child_process'
import {
  HOOK_BLOCK_LINES,
  renderHookBody,
  renderHookScript,
  type HookScriptValues,
} from '../../domain/collection/hook-script.ts'
import { HOOK_PATH, HOOK_SOURCE, isInstalled, servedScript } from './support/shells.ts'

const VALUES: HookScriptValues = {
  website: 'acme-dev',
  path: 'cli',
  origins: ['https://acme.dev', 'https://docs.acme.dev:8443', 'http://[::1]:3000'],
  scan: 'Notice',
  baseUrl: 'https://collect.acme.dev/whence',
  brand: 'whence',
}

/** shellcheck knows busybox from version 0.10 on; an older one says so and checks nothing. */
const DIALECTS = ['sh', 'dash', 'busybox'].filter((dialect) => {
  const { stderr } = spawnSync('shellcheck', ['-s', dialect, '-'], { input: ':', encoding: 'utf8' })
  return !String(stderr).includes('Unknown shell')
})

describe('hook script', () => {
  it('is one block of assignments followed by the body, byte for byte', () => {
    const script = renderHookScript(HOOK_SOURCE, VALUES)
    expect(script.split('\n').slice(0, HOOK_BLOCK_LINES)).to.deep.equal([
      '#!/bin/sh',
      '# Settings of one website. What follows them is https://collect.acme.dev/whence/report.sh, byte for byte.',
      '{',
      "whence_website='acme-dev'",
      "whence_path='cli'",
      "whence_origins='https://acme.dev https://docs.acme.dev:8443 http://[::1]:3000'",
      "whence_scan='Notice'",
      "whence_base_url='https://collect.acme.dev/whence'",
      '}',
    ])
    expect(script.endsWith(`\n${HOOK_SOURCE}`)).to.equal(true)
  })

  it('returns the body for comparing its digest', () => {
    const tail = spawnSync('tail', ['-n', `+${HOOK_BLOCK_LINES + 1}`], { input: renderHookScript(HOOK_SOURCE, VALUES) })
    const digest = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex')
    expect(digest(tail.stdout)).to.equal(digest(HOOK_SOURCE))
  })

  it('leaves the path empty if there is none', () => {
    expect(renderHookScript(HOOK_SOURCE, { ...VALUES, path: null })).to.include("\nwhence_path=''\n")
  })

  it('is served to the brand whence as it lies in the repository', () => {
    expect(renderHookBody(HOOK_SOURCE, 'whence')).to.equal(HOOK_SOURCE)
  })

  it('leaves nothing of the first brand in the script of another, and no name that a shell refuses', () => {
    const script = servedScript({ brand: 'acme-counts', baseUrl: 'https://acme.dev' })
    expect(script.replaceAll(/WHENCE_DISABLED|\/etc\/whence\/disabled/g, '')).to.not.match(/whence/i)
    expect(script).to.include("acme_counts_website='acme-dev'")
    expect(script).to.include('ACME_COUNTS_HANDOFF').and.to.include('/etc/acme-counts/disabled')
    expect(spawnSync('sh', ['-n'], { input: script }).status).to.equal(0)
  })

  it('takes a brand that contains the word of the first', () => {
    for (const brand of ['whence-two', 'my-whence']) {
      const script = servedScript({ brand, baseUrl: 'https://acme.dev' })
      expect(script).to.include(`/etc/${brand}/disabled`)
      expect(spawnSync('dash', ['-n'], { input: script }).stderr.toString(), brand).to.equal('')
    }
  })

  it('refuses every value that could leave its quotes or begin a line', () => {
    const hostile = [
      "a'b",
      'a\nb',
      'a\n',
      '',
      'a b',
      'a\\',
      'a"',
      '$(id)',
      '`id`',
      'a;b',
      '../a',
      'a\0',
      'ä',
      'a\r',
      'a'.repeat(129),
    ]
    for (const text of hostile) {
      for (const values of [{ website: text }, { path: text }, { brand: text }, { baseUrl: `https://a/${text}` }]) {
        if ('baseUrl' in values && (text === '' || text === 'a'.repeat(129) || text === '../a')) continue
        expect(() => renderHookScript('', { ...VALUES, ...values }), JSON.stringify(values)).to.throw(RangeError)
      }
      if (text.length > 128) continue
      expect(() => renderHookScript('', { ...VALUES, origins: ['https://a.dev', `https://${text}`] }), text).to.throw(
        RangeError,
      )
    }
    for (const baseUrl of [
      'ftp://a.dev',
      'file:///etc',
      '//a.dev',
      'https://',
      'https://a.dev?x',
      'https://u:p@a.dev',
      'https://a.dev/#',
    ]) {
      expect(() => renderHookScript('', { ...VALUES, baseUrl }), baseUrl).to.throw(RangeError)
    }
    expect(() => renderHookScript('', { ...VALUES, scan: 'silent' as 'Silent' })).to.throw(RangeError)
  })

  it('says which value is wrong and never repeats it', () => {
    expect(() => renderHookScript('', { ...VALUES, path: "x'; secret" }))
      .to.throw(/path/)
      .with.property('message')
      .not.include('secret')
  })

  it('never lets a value out of its quotes, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        let script = ''
        try {
          script = renderHookScript('', { ...VALUES, website: text, origins: [`https://${text}`] })
        } catch {
          return
        }
        expect(script.split('\n')).to.have.length(HOOK_BLOCK_LINES + 1)
        expect(script.split("'")).to.have.length(11)
      }),
      { numRuns: 500 },
    )
  })

  it('ends with the brace that closes it and no line break, so that any cut has an effect', () => {
    expect(HOOK_SOURCE.startsWith('#!/bin/sh\n')).to.equal(true)
    expect(HOOK_SOURCE.endsWith('; }')).to.equal(true)
  })

  describe('shellcheck', () => {
    const scripts = { body: HOOK_SOURCE, 'served script': renderHookScript(HOOK_SOURCE, VALUES) }
    before(function () {
      if (!isInstalled('shellcheck') && process.env['CI'] !== 'true') this.skip()
    })
    for (const [name, input] of Object.entries(scripts)) {
      for (const dialect of DIALECTS) {
        it(`has no finding in the ${name} as ${dialect}`, function () {
          this.timeout(60_000)
          const { status, stdout, stderr } = spawnSync('shellcheck', ['-s', dialect, '-'], { input, encoding: 'utf8' })
          expect({ status, stdout, stderr }).to.deep.equal({ status: 0, stdout: '', stderr: '' })
        })
      }
    }
  })

  it('has lines that fit a screen and functions that are short', () => {
    const lines = HOOK_SOURCE.split('\n')
    expect(
      lines.filter((line) => line.length > 132 && line !== lines.at(-1)),
      HOOK_PATH,
    ).to.deep.equal([])
    const bodies = HOOK_SOURCE.match(/^ {2}whence_\w+\(\) \{\n(?:.*\n)*?^ {2}\}$/gm) ?? []
    expect(bodies.length).to.be.greaterThan(40)
    expect(bodies.filter((body) => body.split('\n').length > 45).map((body) => body.split('\n')[0])).to.deep.equal([])
  })
})
