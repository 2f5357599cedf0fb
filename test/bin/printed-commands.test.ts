/** Every command line that a page, a message or an example prints does what it says in the shells in which people paste it. */

import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'

import { COMMANDS, isCommand } from '../../runtime/settings/commands.ts'
import { compileSettings, unknownCommand } from '../../runtime/settings/settings.ts'
import { sourceFiles } from '../tidy/source-files.ts'

/** Shells of people's terminals; the first two have a builtin `whence`. */
const SHELLS = ['zsh', 'ksh', 'bash', 'sh']
const IN_CODE = /`[^`\n]*\b(whencectl [^`\n]*)`/g
const BLOCK = /^```.*\n([^]*?)^```$/gm
const IN_BLOCK = /^\s*(?:[$#] )?(?:.*(?: -- |\/))?(whencectl [^\n]*)$/gm
/** A message that begins with the program's name, not a line to type. */
const MESSAGE = /^whencectl (?:[a-z-]+:|knows\b)/
/** What a template of the code puts in, and what a page leaves to the reader. */
const LEFT_OPEN = /\$\{[^}]*\}|\{\{[^}]*\}\}|…/g

interface Printed {
  readonly where: string
  readonly line: string
}

const ENDINGS = [
  '.md',
  '.txt',
  '.service',
  '.sh',
  '.ts',
  '.tsx',
  '.js',
  '.mjs',
  '.html',
  '.json',
  '.yaml',
  '.yml',
  '.tpl',
]
const PAGES = sourceFiles([''], [...ENDINGS, 'Dockerfile', 'Makefile']).filter(
  ({ path }) => !/^(test|bench|CHANGELOG|node_modules|package-lock)/.test(path),
)

function printedLines(): readonly Printed[] {
  return PAGES.flatMap(({ path, text }) => {
    const found = [...text.replaceAll('\\`', '`').matchAll(IN_CODE), ...blocksOf(path, text).matchAll(IN_BLOCK)]
    return found.map(([, line = '']) => ({ where: path, line: line.replace(LEFT_OPEN, 'x').trim() }))
  })
}

function blocksOf(path: string, text: string): string {
  if (/\.tsx?$/.test(path)) return ''
  return path.endsWith('.md') ? [...text.matchAll(BLOCK)].map(([, block]) => block).join('\n') : text
}

describe('commands that pages and messages print', () => {
  const printed = printedLines().filter(({ line }) => !/^whencectl (COMMAND|-- |x)/.test(line) && !MESSAGE.test(line))
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'whencectl-'))
    const stub = join(folder, 'whencectl')
    // Each word on a line of its own; none of them holds a line break.
    writeFileSync(stub, `#!/bin/sh\nfor word in "$@"; do printf '%s\\n' "$word"; done >"${folder}/words"\n`)
    chmodSync(stub, 0o755)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  function wordsBy(shell: string, line: string): readonly string[] {
    const words = join(folder, 'words')
    rmSync(words, { force: true })
    const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}`, HOME: folder }
    execFileSync(shell, ['-c', line], { env, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    return readFileSync(words, 'utf8').split('\n').slice(0, -1)
  }

  it('are found in each kind of place', () => {
    for (const place of ['README.md', 'docs/', 'bin/', 'charts/', 'examples/'])
      expect(
        printed.filter(({ where }) => where.startsWith(place)),
        place,
      ).not.to.deep.equal([])
  })

  it('do not begin with the builtin of zsh and ksh', () => {
    const commands = Object.keys(COMMANDS).join('|')
    // `kubectl whence` is the plugin, `docker run whence` the image, and `-n whence` a namespace.
    const builtin = new RegExp(
      `(?<![\\w/.@-]|kubectl |docker run |-[a-z] )whence (?:${commands}|--help|--version)(?![\\w-])`,
    )
    expect(PAGES.filter(({ text }) => builtin.test(text)).map(({ path }) => path)).to.deep.equal([])
    expect(builtin.test('`whence explain EVENT_ID`')).to.equal(true)
  })

  for (const shell of SHELLS)
    it(`reach the program, with commands and options that it has, under ${shell}`, function () {
      this.timeout(60_000)
      const wrong = [...new Map(printed.map((each) => [each.line, each])).values()].flatMap(({ where, line }) => {
        try {
          const [command = '', ...words] = wordsBy(shell, line)
          if (command === '--help' || command === '--version') return []
          const outcome = isCommand(command) ? compileSettings(command, words, {}) : unknownCommand(command)
          const unknown = outcome.kind === 'problems' && /is not (a|an) /.exec(outcome.text)
          return unknown ? [`${where}: ${line}: ${outcome.text}`] : []
        } catch (error) {
          return [`${where}: ${line}: ${String(error)}`]
        }
      })
      expect(wrong).to.deep.equal([])
    })
})
