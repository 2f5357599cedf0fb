/** The skill's installer, as a shell runs it: it installs only what it has checked. */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { expect } from 'chai'
import fc from 'fast-check'

import { skillFiles } from '../../api/routes/skills.ts'
import { renderHookBody, renderHookScript } from '../../domain/collection/hook-script.ts'
import { parseBaseUrl, parseBrand } from '../../runtime/settings/parse.ts'

const BASE_URL = 'https://whence.acme.dev'
const ROOT = `${BASE_URL}/skills/whence-setup/`
/** The programs that it may call besides curl. */
const TOOLS = ['cat', 'cp', 'cut', 'dirname', 'mkdir', 'mktemp', 'rm', 'sh', 'tr'] as const
const DIGESTERS = ['sha256sum', 'shasum'] as const

const rendered = (baseUrl = BASE_URL, brand = 'whence'): ReadonlyMap<string, string> => {
  const files = skillFiles({ baseUrl, brand, version: '0.0.0' }, 'a'.repeat(64))
  return new Map(files.map(([path, { bytes }]) => [path.split('-setup/')[1] ?? '', bytes.toString()]))
}
const script = rendered().get('install.sh') ?? ''
const where = (tool: string): string =>
  spawnSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).stdout.trim()

/** Serves the files in the folder `served` and records its arguments. */
const CURL = `#!/bin/sh
echo "$*" >>"$CALLS"
for url; do case $url in ${ROOT}*) name=\${url#${ROOT}} ;; esac; done
for out; do :; done
cat "$SERVED/$name" >"$out"
`

describe("the skill's installer", () => {
  let folder: string
  const at = (name: string) => join(folder, name)

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'whence-installer-'))
    for (const name of ['bin', 'served', 'home', 'tmp']) mkdirSync(at(name))
    for (const [name, text] of rendered()) {
      mkdirSync(dirname(at(`served/${name}`)), { recursive: true })
      writeFileSync(at(`served/${name}`), text)
    }
    writeFileSync(at('bin/curl'), CURL)
    chmodSync(at('bin/curl'), 0o755)
    for (const tool of [...TOOLS, 'sha256sum']) symlinkSync(where(tool), at(`bin/${tool}`))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const install = (input: string | Buffer = script, shell = where('dash') || where('sh')) => {
    const env = { PATH: at('bin'), SERVED: at('served'), CALLS: at('calls'), TMPDIR: at('tmp') }
    return spawnSync(shell, ['-s', '--', at('skill')], { input, env, cwd: at('home'), encoding: 'utf8' })
  }
  const installed = () => (existsSync(at('skill')) ? readdirSync(at('skill')) : [])
  const calls = () => (existsSync(at('calls')) ? readFileSync(at('calls'), 'utf8').trim().split('\n') : [])

  it('installs every file, and leaves nothing else behind', () => {
    const { status, stdout, stderr } = install()
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' })
    expect(stdout).to.equal(`installed into ${at('skill')}\n`)
    expect(installed()).to.have.members(['SKILL.md', 'references'])
    expect([...readdirSync(at('tmp')), ...readdirSync(at('home'))]).to.deep.equal([])
  })

  it('never goes from an address with TLS to one without, and uses one without as it is', () => {
    install()
    expect(calls()).to.have.length(5)
    for (const call of calls()) expect(call).to.match(/--proto =https /)
    install(rendered('http://127.0.0.1:8080').get('install.sh'))
    expect(calls().at(-1)).to.match(/--proto =http,https .* http:\/\/127\.0\.0\.1:8080\//)
  })

  it('installs nothing on a machine without a program for digests', () => {
    rmSync(at('bin/sha256sum'))
    const { status, stderr } = install()
    expect(stderr).to.equal('neither sha256sum nor shasum gives a digest; nothing was installed\n')
    expect(status).to.equal(1)
    expect(installed()).to.deep.equal([])
  })

  it('works with either of the two programs', () => {
    rmSync(at('bin/sha256sum'))
    const own = where('shasum')
    // A substitute if the machine has none: only its call matters.
    if (own === '') writeFileSync(at('bin/shasum'), `#!/bin/sh\n[ "$*" = '-a 256' ] && exec ${where('sha256sum')}\n`)
    else symlinkSync(own, at('bin/shasum'))
    if (own === '') chmodSync(at('bin/shasum'), 0o755)
    const { status, stderr } = install()
    if (own === '') expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' })
    expect(DIGESTERS).to.include('shasum')
  })

  it('compares digests as a whole, each with the line of its own file', () => {
    const manifest = readFileSync(at('served/manifest.json'), 'utf8')
    const spoiled = 'something else\n'
    const digest = createHash('sha256').update(spoiled).digest('hex')
    const own = createHash('sha256')
      .update(readFileSync(at('served/SKILL.md')))
      .digest('hex')
    const lists = [
      manifest,
      manifest.replace(own, digest.slice(1)),
      manifest.replace(own, `${digest}0`),
      manifest.replace('"SKILL.md"', `"other/SKILL.md"`).replace(own, digest),
      manifest.replace('"SKILL.md"', `"SKILL.md2"`).replace(own, digest),
      manifest.replace('install.sh', 'x').replace(/"sha256": "[0-9a-f]{64}"(?=\n {2}\})/, `"sha256": "${digest}"`),
      '{}',
      '',
    ]
    writeFileSync(at('served/SKILL.md'), spoiled)
    for (const list of lists) {
      writeFileSync(at('served/manifest.json'), list)
      const { status, stderr } = install()
      expect(stderr, list).to.equal('SKILL.md does not match its digest; nothing was installed\n')
      expect(status).to.equal(1)
      expect(installed()).to.deep.equal([])
    }
    writeFileSync(at('served/manifest.json'), manifest.replace(own, digest))
    expect(install().status, 'so that this test can fail').to.equal(0)
  })

  it('runs nothing of a download that was cut short, wherever the cut is', function () {
    // Thousands of cuts, a shell for each, which another shell starts: starting one from this process takes much longer.
    this.timeout(120_000)
    const bytes = Buffer.from(script)
    expect(bytes.toString().endsWith('}\n')).to.equal(true)
    writeFileSync(at('script'), bytes)
    const shell = where('dash') || where('sh')
    const everyCut = `
      length=0
      while [ "$length" -lt ${bytes.length - 1} ]; do
        ${where('head')} -c "$length" ../script | ${shell} -s -- "$SKILL" >/dev/null 2>&1
        [ ! -e "$CALLS" ] || { echo "cut after $length bytes it runs"; exit 1; }
        length=$((length + 1))
      done
      echo "$length cuts"`
    const env = { PATH: at('bin'), SERVED: at('served'), CALLS: at('calls'), TMPDIR: at('tmp'), SKILL: at('skill') }
    const { stdout } = spawnSync(shell, ['-c', everyCut], { env, cwd: at('home'), encoding: 'utf8' })
    expect(stdout).to.equal(`${bytes.length - 1} cuts\n`)
    expect([installed(), readdirSync(at('tmp')), readdirSync(at('home'))]).to.deep.equal([[], [], []])
    expect(install(bytes.subarray(0, -1)).status, 'the last line break is not needed').to.equal(0)
  })

  it('is plain POSIX shell to shellcheck', function () {
    if (where('shellcheck') === '' && process.env['CI'] !== 'true') this.skip()
    const { stdout } = spawnSync('shellcheck', ['-s', 'sh', '-'], { input: script, encoding: 'utf8' })
    expect(stdout).to.equal('')
  })

  it('and the hook can be rendered for every base address and brand that the settings accept', () => {
    const part = fc.string({ unit: fc.constantFrom(...`abz09.-_~%'"$&;()\`\\ !*é`), maxLength: 12 })
    const address = fc
      .tuple(fc.constantFrom('http', 'https'), part, part)
      .map(([scheme, host, path]) => `${scheme}://${host}/${path}`)
    const brand = fc.string({ unit: fc.constantFrom(...'ab0-_A'), maxLength: 34 })
    let taken = 0
    fc.assert(
      fc.property(fc.oneof(address, fc.constant('https://acme.dev/a~b/c%20d')), brand, (url, name) => {
        const baseUrl = parseBaseUrl(url)
        const word = parseBrand(name)
        const values = {
          website: 'w',
          path: null,
          origins: ['https://acme.dev'],
          scan: 'Notice' as const,
          baseUrl: baseUrl.ok ? baseUrl.value : BASE_URL,
          brand: word.ok ? word.value : 'whence',
        }
        expect(renderHookScript(renderHookBody('whence', values.brand), values)).to.contain(
          `base_url='${values.baseUrl}'`,
        )
        if (baseUrl.ok || word.ok) taken++
        expect(rendered(values.baseUrl, values.brand).get('install.sh')).to.contain(
          `root='${values.baseUrl}/skills/${values.brand}-setup'\n`,
        )
      }),
      { numRuns: 300 },
    )
    expect(taken).to.be.greaterThan(20)
  })

  it('quotes every character of its address', () => {
    const text = rendered("https://acme.dev/it's;$(touch x)").get('install.sh') ?? ''
    const line = text.split('\n').find((each) => each.startsWith('root='))
    const { stdout } = spawnSync('sh', ['-c', `${line}\nprintf %s "$root"`], { encoding: 'utf8', cwd: at('home') })
    expect(stdout).to.equal("https://acme.dev/it's;$(touch x)/skills/whence-setup")
    expect(readdirSync(at('home'))).to.deep.equal([])
  })
})
