/** The rules for imports and exports (`.dependency-cruiser.js`, `knip.json`, lint) refuse what they must. `npm run check` holds the tree to them. */

import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { expect } from 'chai'
import { ESLint, Linter } from 'eslint'
import tseslint from 'typescript-eslint'

import { PRODUCT_FOLDERS, ROOT } from './source-files.ts'

describe('the rules for imports and exports', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-imports-'))
    for (const name of ['.dependency-cruiser.js', 'knip.json', 'tsconfig.json', 'package.json'])
      await copyFile(join(ROOT, name), join(folder, name))
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const write = async (files: Readonly<Record<string, string>>): Promise<void> => {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(folder, dirname(path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
  }

  /** What a checker prints about the folder. It fails if it finds something, which is why the exit code is not looked at. */
  const check = (program: string, words: readonly string[]): Promise<string> =>
    new Promise((resolve) => {
      const file = join(ROOT, 'node_modules/.bin', program)
      execFile(file, words, { cwd: folder, env: { ...process.env, NO_COLOR: '1' } }, (_, stdout) => resolve(stdout))
    })

  it('let a folder import only what the table allows, packages only where they are named, and no layer one above it', async () => {
    const refused = {
      'domain/a.ts': ["import { a } from '../runtime/x.ts'", 'from-domain'],
      'domain/b.ts': ["import type { A } from '../ports/facts/x.ts'", 'from-domain'],
      'domain/c.ts': ["import '../api/x.ts'", 'from-domain'],
      'domain/d.ts': ["import { createHash } from 'node:crypto'", 'domain-without-packages'],
      'domain/e.ts': ["export const a = import('../runtime/x.ts')", 'from-domain'],
      'domain/f.ts': ["export * from '../api/x.ts'", 'from-domain'],
      'ports/facts/a.ts': ["import { a } from '../../runtime/x.ts'", 'from-ports'],
      'api/a.ts': ["import { a } from '../delivery/x.ts'", 'from-api'],
      'api/b.ts': ["import type { ClickHouseClient } from '@clickhouse/client'", '@clickhouse/client-has-an-owner'],
      'api/c.ts': ["import { expect } from 'chai'", 'installed-with-the-product'],
      'api/d.ts': ["import { a } from 'not-installed-anywhere'", 'resolvable'],
      'delivery/a.ts': ["import { a } from '../api/x.ts'", 'from-delivery'],
      'delivery/b.ts': ["import { Kafka } from 'kafkajs'", 'kafkajs-has-an-owner'],
      'delivery/exchange/a.ts': ["import type { A } from '../worker/x.ts'", 'delivery/exchange below delivery/worker'],
      'runtime/a.ts': ["import { a } from '../bin/whencectl.ts'", 'from-runtime'],
      'runtime/b.ts': ["export const { open } = await import('lmdb')", 'lmdb-has-an-owner'],
      'sdk/a.ts': ["import { a } from '../runtime/x.ts'", 'from-sdk'],
      'sdk/b.ts': ["import { readFile } from 'node:fs'", 'sdk-without-packages'],
      'dashboard/a.ts': ["import type { B } from './b.ts'", 'no-circle'],
      'pages/a.ts': ["import { a } from '../dashboard/api/x.ts'", 'pages-takes-types-of-dashboard/api'],
      'pages/b.ts': ["import type { A } from '../dashboard/http/x.ts'", 'from-pages'],
      'dashboard/logs/a.ts': ["import { Type } from 'typebox'", 'typebox-has-an-owner'],
      'fixtures/a.ts': ["import { a } from '../test/x.ts'", 'fixtures below test'],
    } as const
    const allowed = {
      'ports/event-log/a.ts': "import { a } from '../../domain/x.ts'\nexport const { open } = await import('lmdb')",
      'delivery/exchange/b.ts': "import { a } from '../providers/x.ts'\nimport { b } from '../x.ts'",
      'pages/c.ts': "import type { A } from '../dashboard/api/x.ts'",
      'dashboard/b.ts': "import type { C } from './deep/c.ts'",
      'dashboard/deep/c.ts': "import type { A } from '../a.ts'",
    }
    const targets =
      'domain runtime ports/facts api dashboard/api dashboard/http delivery delivery/worker delivery/providers test'
    await write({
      ...Object.fromEntries(
        targets.split(' ').map((name) => [`${name}/x.ts`, 'export const a = 1, b = 2\nexport type A = 1']),
      ),
      ...Object.fromEntries(Object.entries(refused).map(([path, [text]]) => [path, text])),
      ...allowed,
      'bin/whencectl.ts': "export const a = () => import('./reached.ts')",
      'bin/reached.ts': '',
      'bin/dead.ts': "import './reached.ts'",
    })
    const folders = [...PRODUCT_FOLDERS, 'fixtures'].filter(
      (name) => !['operator', 'stand-ins', 'hook', 'common'].includes(name),
    )
    const printed = await check('depcruise', ['--config', '.dependency-cruiser.js', ...folders])
    for (const [path, [, rule]] of Object.entries(refused))
      expect(printed).to.match(new RegExp(`error ${rule}: ${path}\\b`))
    expect(printed).to.match(/error no-dead-file: bin\/dead\.ts/)
    expect(printed).not.to.match(/no-dead-file: bin\/(reached|whencectl)/)
    expect(printed).not.to.match(/error \S+: (ports\/event-log\/a|delivery\/exchange\/b|pages\/c)\.ts →/)
  }).timeout(60_000)

  it('leave no export without an import, and none of a value for tests alone unless it says so', async () => {
    await write({
      'bin/whencectl.ts': "import { one, type Five } from '../api/a.ts'\nexport const a: Five = one",
      'api/a.ts': [
        'export const one = 1, two = 2, lone = 3',
        'export function three() {}',
        '/**\n * Four.\n * @internal\n */\nexport class Four {}',
        'export interface Five {}\nexport type Six = 6',
      ].join('\n'),
      'api/unused.ts': 'export const seven = 7',
      'test/a.test.ts': "import { three, Four } from '../api/a.ts'\nnew Four(three())",
    })
    const all = await check('knip', ['--include', 'files,exports,types'])
    for (const name of ['two', 'lone', 'Six', 'api/unused.ts']) expect(all).to.match(new RegExp(`^${name}\\b`, 'm'))
    expect(all).not.to.match(/^(one|three|Four|Five)\b/m)
    const values = await check('knip', ['--production', '--include', 'exports'])
    expect(values).to.match(/^three\b/m)
    expect(values).not.to.match(/^(one|Four|Five)\b/m)
  }).timeout(60_000)

  /** What the rule about syntax says of a text in this file. */
  const syntaxOf = async (path: string): Promise<(text: string) => readonly string[]> => {
    const { rules } = (await new ESLint({ cwd: ROOT }).calculateConfigForFile(join(ROOT, path))) as Linter.Config
    const config: Linter.Config = {
      files: ['**/*.ts', '**/*.tsx'],
      languageOptions: { parser: tseslint.parser },
      rules: { 'no-restricted-syntax': rules?.['no-restricted-syntax'] ?? 'off' },
    }
    return (text) => new Linter().verify(text, config, path).map(({ message }) => message)
  }

  it('refuse imports that cannot be checked: made up at run time, or without their ending', async () => {
    for (const path of ['api/x.ts', 'domain/x.ts', 'pages/x.tsx']) {
      const problems = await syntaxOf(path)
      for (const text of [
        'const a = import(name)',
        'const a = import(`./${name}.ts`)',
        "import { y } from './y'",
        "export * from '../y'",
      ])
        expect(problems(text), `${path}: ${text}`).to.have.lengthOf(1)
      for (const text of ["const a = import('./fixed.ts')", "import { y } from './y.ts'", "import z from 'z'"])
        expect(problems(text), `${path}: ${text}`).to.deep.equal([])
    }
  })

  it('refuse a bag of parts that is handed on whole, or picked apart by what it lacks', async () => {
    const problems = await syntaxOf('bin/x.ts')
    for (const text of [
      'start({ ...parts, nowMs })',
      'new Role({ eventLog, ...deps })',
      "type Rest = Omit<RoleParts, 'nowMs'>",
      "interface Rest extends Omit<RoleDeps, 'nowMs'> {}",
    ])
      expect(problems(text), text).to.have.lengthOf(1)
    for (const text of ['start({ eventLog, nowMs })', 'const all = { ...parts }', "type Rest = Omit<Row, 'id'>"])
      expect(problems(text), text).to.deep.equal([])
  })
})
