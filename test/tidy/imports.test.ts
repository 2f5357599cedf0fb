/** Imports point one way. Each check is first tried on something that it must refuse. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'

import {
  ENTRIES,
  computedImports,
  deadFiles,
  importCircles,
  importProblems,
  importsOf,
  packageOf,
  upwardImports,
} from './imports.ts'
import { PRODUCT_FOLDERS, ROOT, sourceFiles } from './source-files.ts'

const sample = (path: string, text: string) => ({ path, text })

/** Kept for what the next pieces of work need, which is why nothing reaches them yet. */
const NOT_YET_REACHED: readonly string[] = []

describe('imports', () => {
  it('are seen in every form', () => {
    const text = [
      "import { a } from './a.ts'",
      "import type { B } from './b.ts'",
      "import './c.ts'",
      "export { d } from './d.ts'",
      "export type { E } from './e.ts'",
      "export * from './f.ts'",
      "const g = await import('./g.ts')",
      "type H = import('./h.ts').H",
      "import i from 'i'",
      "import('j/deep')",
    ]
    const expected = ['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts', './f.ts', './g.ts', './h.ts', 'i', 'j/deep']
    expect(importsOf(sample('domain/x.ts', text.join('\n')))).to.have.members(expected)
  })

  const REFUSED: readonly (readonly [string, string])[] = [
    ['domain/x.ts', "import { a } from '../runtime/logger.ts'"],
    ['domain/x.ts', "import type { A } from '../ports/facts/facts.ts'"],
    ['domain/x.ts', "import '../api/app.ts'"],
    ['domain/x.ts', "import { createHash } from 'node:crypto'"],
    ['domain/x.ts', "const a = import('../runtime/logger.ts')"],
    ['domain/x.ts', "export * from '../api/app.ts'"],
    ['domain/x.ts', "import { y } from './y'"],
    ['ports/facts/x.ts', "import { a } from '../../runtime/logger.ts'"],
    ['api/x.ts', "import { a } from '../delivery/worker.ts'"],
    ['delivery/x.ts', "import { a } from '../api/app.ts'"],
    ['runtime/x.ts', "import { a } from '../bin/whencectl.ts'"],
    ['sdk/x.ts', "import { a } from '../runtime/logger.ts'"],
    ['sdk/x.ts', "import { readFile } from 'node:fs'"],
    ['delivery/x.ts', "import { Kafka } from 'kafkajs'"],
    ['api/x.ts', "import type { ClickHouseClient } from '@clickhouse/client'"],
    ['runtime/x.ts', "const { open } = await import('lmdb')"],
    ['pages/x.ts', "import { ROUTES } from '../dashboard/api/routes.ts'"],
    ['pages/x.ts', "import type { Call } from '../dashboard/http/call.ts'"],
    ['dashboard/logs/x.ts', "import { Type } from 'typebox'"],
    ['elsewhere/x.ts', 'export const a = 1'],
    ['api/x.ts', 'const a = await import(name)'],
    ['api/x.ts', 'const a = await import(`./${name}.ts`)'],
  ]
  for (const [path, text] of REFUSED) {
    it(`refuse ${text} in ${path}`, () => expect(importProblems(sample(path, text))).to.have.length(1))
  }

  it('let through what may be imported', () => {
    const text =
      "import { a } from '../../domain/model.ts'\nimport { b } from './b.ts'\nconst { open } = await import('lmdb')"
    expect(importProblems(sample('ports/event-log/x.ts', text))).to.deep.equal([])
    const types = "import type { JsonFrom } from '../../dashboard/api/routes.ts'"
    expect(importProblems(sample('pages/data/x.ts', types))).to.deep.equal([])
    expect(computedImports(sample('x.ts', "import('./fixed.ts')"))).to.deep.equal([])
  })

  it('of the product point one way', () => {
    const files = sourceFiles(PRODUCT_FOLDERS, ['.ts', '.tsx'])
    expect(files.length).to.be.greaterThan(50)
    expect(files.flatMap(importProblems)).to.deep.equal([])
  })

  it('find files that import each other in a cycle, even only by types', () => {
    const files = [
      sample('domain/a.ts', "import type { B } from './b.ts'"),
      sample('domain/b.ts', "import { c } from './deep/c.ts'"),
      sample('domain/deep/c.ts', "import type { A } from '../a.ts'\nimport { d } from '../d.ts'"),
      sample('domain/d.ts', "import fs from 'node:fs'"),
    ]
    expect(importCircles(files)).to.deep.equal(['domain/a.ts domain/b.ts domain/deep/c.ts'])
    expect(importCircles(files.slice(1))).to.deep.equal([])
  })

  it('from a layer to one above it are found', () => {
    const text =
      "import type { A } from '../worker/a.ts'\nimport { b } from '../providers/b.ts'\nimport { c } from '../c.ts'"
    expect(upwardImports(sample('delivery/exchange/x.ts', text))).to.deep.equal([
      'delivery/exchange/x.ts imports delivery/worker/a.ts, which lies above it',
    ])
  })

  it('point to no layer above, types included', () => {
    expect(
      sourceFiles([...PRODUCT_FOLDERS, 'tools', 'fixtures', 'examples', 'bench'], ['.ts', '.tsx']).flatMap(
        upwardImports,
      ),
    ).to.deep.equal([])
  })

  it('of the product form no cycle, types included', () => {
    expect(importCircles(sourceFiles(PRODUCT_FOLDERS, ['.ts', '.tsx']))).to.deep.equal([])
  })

  it('name only packages that package.json installs with the product', () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
      string,
      Record<string, string>
    >
    const installed = new Set([
      ...Object.keys(manifest['dependencies'] ?? {}),
      ...Object.keys(manifest['optionalDependencies'] ?? {}),
    ])
    // The SDK and the pages are bundled. The demonstration and `whencectl check` drive a browser, and say so if what drives it is not installed.
    const files = sourceFiles(PRODUCT_FOLDERS, ['.ts', '.tsx']).filter(
      ({ path }) => !/^(sdk|pages|bin\/demo|bin\/tools\/check)\//.test(path),
    )
    const missing = files.flatMap((file) =>
      importsOf(file)
        .filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
        .filter((specifier) => !installed.has(packageOf(specifier)))
        .map((specifier) => `${file.path} imports ${specifier}`),
    )
    expect(missing).to.deep.equal([])
  })

  it('find unreached files', () => {
    const files = [
      sample('bin/whencectl.ts', "import './a.ts'"),
      sample('bin/a.ts', "const b = () => import('../api/b.ts')"),
      sample('api/b.ts', ''),
      sample('api/dead.ts', "import './b.ts'"),
    ]
    expect(deadFiles(files, ['bin/whencectl.ts'])).to.deep.equal(['api/dead.ts'])
  })

  it('reach every file of the product', () => {
    const dead = deadFiles(sourceFiles(PRODUCT_FOLDERS, ['.ts', '.tsx']), ENTRIES)
    expect(dead.filter((path) => !NOT_YET_REACHED.includes(path))).to.deep.equal([])
    expect(
      NOT_YET_REACHED.filter((path) => !dead.includes(path)),
      'reached by now',
    ).to.deep.equal([])
  })
})
