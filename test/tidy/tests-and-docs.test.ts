/** Every test is run, and every page that is made from tables agrees with them. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'
import ts from 'typescript'

import { installerLine } from '../../domain/collection/installer-line.ts'
import { COMMANDS } from '../../runtime/settings/commands.ts'
import { docsPages } from '../../tools/docs/pages.ts'
import { MUTATIONS } from '../mutants/mutations.ts'
import { PRODUCT_FOLDERS, ROOT, sourceFiles, TEST_ENDINGS } from './source-files.ts'
import { testsWithoutAssertion } from './sources.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

describe('test files', () => {
  it('all lie where the glob finds them', () => {
    for (const ending of TEST_ENDINGS) expect(read('test/run.ts')).to.include(`'test/**/*${ending}'`)
    const tests = sourceFiles([''], ['.ts', '.js', '.mjs', '.cjs']).filter(
      ({ path, text }) => /^\s*(describe|it)\(/m.test(text) && !path.endsWith('.d.ts'),
    )
    expect(tests.length).to.be.greaterThan(5)
    const isFound = (path: string) => path.startsWith('test/') && TEST_ENDINGS.some((ending) => path.endsWith(ending))
    const lost = tests.filter(({ path }) => !isFound(path))
    const suites = lost.filter(({ path }) => /\.(contract|suite)\.ts$/.test(path))
    expect(lost.filter((file) => !suites.includes(file)).map(({ path }) => path)).to.deep.equal([])
    const imported = sourceFiles(['test'], TEST_ENDINGS).flatMap((file) =>
      ts.preProcessFile(file.text).importedFiles.map(({ fileName }) => fileName.split('/').pop()),
    )
    expect(suites.map(({ path }) => path.split('/').pop()).filter((name) => !imported.includes(name))).to.deep.equal([])
  })

  it('have an assertion in each test, or wait for a condition', () => {
    const sample = (text: string) => testsWithoutAssertion({ path: 'test/x.test.ts', text })
    expect(sample("it('x', () => { run() })")).to.have.length(1)
    expect(sample("it('x', async () => { await run() }); it('y', () => expect(1).to.equal(1))")).to.have.length(1)
    expect(sample("const run = () => expect(1).to.equal(1); it('x', () => { run() })")).to.deep.equal([])
    expect(sample("function a() { b() } function b() { expect(1) } it('x', a)")).to.deep.equal([])
    const empty = sourceFiles(['test'], [...TEST_ENDINGS, '.suite.ts', '.contract.ts']).flatMap(testsWithoutAssertion)
    expect(empty).to.deep.equal([])
  })
})

describe('each hand-made mutation', () => {
  it('has its place in the code, once', () => {
    const lost = MUTATIONS.filter(({ file, old }) => read(file).split(old).length !== 2)
    expect(lost.map(({ breaks }) => breaks)).to.deep.equal([])
  })
})

describe('pages made from tables', () => {
  it('are up to date; `make docs` writes them', () => {
    const stale = docsPages().filter(({ path, text }) => read(path) !== text)
    expect(stale.map(({ path }) => path)).to.deep.equal([])
  })
})

describe("the installer's line", () => {
  const LINE =
    /curl [^|\n]*(https:\/\/whence\.acme\.dev)\/v1\/projects\/([\w-]+)(?:\/paths\/([\w-]+))?\/report\.sh \| .*install_completed.*/g

  it('is the same on every page as in status and dashboard', () => {
    const pages = sourceFiles(['docs', 'api/skills'], ['.md'])
    const lines = pages.flatMap(({ path, text }) =>
      [...text.replaceAll(/\\\n\s*/g, '').matchAll(LINE)]
        .filter(([line]) => !line.endsWith(' --print'))
        .map(([line, baseUrl = '', website = '', installPath = null]) => ({
          shown: `${path}: ${line.replace(' --no-scan || :', ' || :')}`,
          made: `${path}: ${installerLine({ baseUrl, website, path: installPath })}`,
        })),
    )
    expect(lines.length).to.be.greaterThan(4)
    for (const { shown, made } of lines) expect(shown).to.equal(made)
  })
})

describe('decisions', () => {
  it('have one number each, in their name and in their title', () => {
    const names = readdirSync(join(ROOT, 'docs/adr')).sort()
    expect(names.length).to.be.greaterThan(0)
    expect(names.map((name) => Number(name.slice(0, 4)))).to.deep.equal(names.map((_, index) => index + 1))
    for (const [index, name] of names.entries()) {
      expect(/\d+/.exec(read(`docs/adr/${name}`).split('\n')[0] ?? '')?.[0], name).to.equal(String(index + 1))
    }
  })
})

describe('commands', () => {
  it('of the Makefile are those that its help names, and every npm script they call is there', () => {
    const makefile = read('Makefile')
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> }
    const phony = /^\.PHONY: (.*)$/m.exec(makefile)?.[1]?.split(' ') ?? []
    const helped = [...makefile.matchAll(/^([a-z-]+):.*## /gm)].map((match) => match[1])
    expect(helped).to.have.members(phony)
    expect(phony).to.include.members(['help', 'run', 'demo', 'check', 'test', 'bench'])
    const called = [...makefile.matchAll(/npm run -s ([\w-]+)/g)].map((match) => match[1] ?? '')
    expect(called.filter((name) => scripts[name] === undefined)).to.deep.equal([])
  })

  it('of the command line are in its documentation', () => {
    const page = read('docs/settings.md')
    for (const command of Object.keys(COMMANDS)) expect(page).to.match(new RegExp(`\\| \`${command}[ \`]`))
  })
})

describe('the map of the code', () => {
  it('names existing files and folders', () => {
    const paths = sourceFiles([...PRODUCT_FOLDERS, 'tools'], ['.ts', '.tsx', '.sh']).map(({ path }) => `/${path}`)
    const isThere = (name: string) =>
      name.endsWith('/')
        ? paths.some((path) => path.includes(`/${name}`))
        : paths.some((path) => path.endsWith(`/${name}`))
    const named = [...read('ARCHITECTURE.md').matchAll(/`([\w./-]+(?:\.(?:ts|tsx|sh)|\/))`/g)].map(
      ([, name = '']) => name,
    )
    expect(named.length).to.be.greaterThan(50)
    const others = ['charts/', 'crds/', 'docs/', 'fixtures/', '/api/']
    expect(named.filter((name) => !isThere(name) && !others.some((other) => name.startsWith(other)))).to.deep.equal([])
  })
})

describe('the usual changes in CONTRIBUTING.md', () => {
  const lists = read('CONTRIBUTING.md')
    .split(/^\*\*A /m)
    .slice(1)
    .map((part) => [...part.split(/\n\n|\n## /)[0]!.matchAll(/^- `([^`]+)`/gm)].map(([, path = '']) => path))
  const naming = (pattern: RegExp) =>
    sourceFiles([...PRODUCT_FOLDERS, 'tools'], ['.ts', '.tsx', '.sh', '.sql'])
      .filter(({ text }) => !text.includes('// Made from domain/providers/') && pattern.test(text))
      .map(({ path }) => path.replace(/(^ports\/facts\/sql\/).*/, '$1'))

  it('stay short', () => {
    expect(lists.map((paths) => paths.length)).to.deep.equal([6, 5, 3])
  })

  it('list every file that names a field of a visit, beside the one that sends it', () => {
    // In the browser it is the referrer of the source, under the name of the wire.
    expect(lists[0]).to.have.members(['sdk/core/visit.ts', ...naming(/sourceReferrer|source_referrer/)])
  })

  it('list every file that names a provider in its code', () => {
    const code = /^(?!\s*(?:\/?\*|\/\/)).*tiktok/im
    expect(lists[1]).to.have.members(naming(code))
  })

  it('list every file that names a limit', () => {
    expect(lists[2]).to.have.members(naming(/\bmachineFactChars\b/))
  })
})
