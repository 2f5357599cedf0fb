/** Checks that reviewers should not have to make. Each is first tried on something that it must refuse. */

import { expect } from 'chai'

import { LIMITS, NOT_BUILT, RATE_RULES } from '../../domain/limits.ts'
import { PRODUCT_FOLDERS, sourceFiles, TEST_ENDINGS } from './source-files.ts'
import {
  contractLiterals,
  impurities,
  leftovers,
  moduleState,
  openingProblem,
  UNMISTAKABLE_NUMBERS,
} from './sources.ts'

const sample = (text: string, path = 'domain/x.ts') => ({ path, text })

/** Plumbing that all programs share. A new file here is a decision: most things belong to a folder with a subject. */
const RUNTIME_FILES = [
  'catalog/cluster-catalog.ts',
  'catalog/cluster-credentials.ts',
  'catalog/copy.ts',
  'catalog/folder-watch.ts',
  'catalog/last-number.ts',
  'catalog/manifests.ts',
  'catalog/members.ts',
  'catalog/source.ts',
  'catalog/whole-catalog.ts',
  'connections.ts',
  'http/body.ts',
  'http/refusal.ts',
  'http/shapes.ts',
  'keyring.ts',
  'kube/client.ts',
  'kube/kubeconfig.ts',
  'kube/lines.ts',
  'kube/list-items.ts',
  'kube/metrics.ts',
  'kube/objects.ts',
  'kube/reflector.ts',
  'lifecycle.ts',
  'logger.ts',
  'metrics.ts',
  'random.ts',
  'settings/arguments.ts',
  'settings/billing.ts',
  'settings/cluster.ts',
  'settings/commands.ts',
  'settings/parse.ts',
  'settings/people.ts',
  'settings/provider-urls.ts',
  'settings/proxy.ts',
  'settings/setting-groups.ts',
  'settings/settings-of.ts',
  'settings/settings.ts',
  'settings/table.ts',
  'settings/tool-flags.ts',
  'tracing.ts',
]

/** Small pieces without a subject; the same applies to them. */
const COMMON_FILES = [
  'bounded-map.ts',
  'bounded-parts.ts',
  'csv.ts',
  'deadline.ts',
  'digest.ts',
  'every.ts',
  'fault.ts',
  'in-lanes.ts',
  'json-column.ts',
  'outage.ts',
  'pages-manifest.ts',
  'printable.ts',
  'shell.ts',
  'sliced.ts',
  'window-counts.ts',
]

/** A cache by schemas of our own, whose compilation would cost more than the rest of a check. */
const MODULE_STATE = ['domain/schema/check-schema.ts keeps validatorOf']

/** Places in which a number of the contract means something else: file and number, and its meaning there. */
const OTHER_MEANINGS: Readonly<Record<string, string>> = {
  'api/server.ts repeats 16384': 'the header block, not the body',
  'pages/shell/account-menu.tsx repeats 240': 'a width in pixels',
}

describe('the domain', () => {
  const IMPURE = [
    'export const now = () => Date.now()',
    'export const now = () => new Date()',
    'export const dice = () => Math.random()',
    "export const get = () => fetch('x')",
    'export const env = process.env',
    'export const later = () => setTimeout(() => 1, 1)',
    'export async function f() {}',
    'export const f = async () => 1',
    'export const bytes = Buffer.alloc(1)',
    'export const here = import.meta.dirname',
    'export const wait = () => new Promise(() => 1)',
    'export const digest = crypto.subtle',
    'export const x = globalThis',
    'const { now } = Date',
    "export const now = () => Date['now']()",
    'export const now = () => Date()',
    'const Clock = Date',
    "export const dice = () => Math['random']()",
    'const { random } = Math',
  ]
  for (const text of IMPURE) {
    it(`may not say ${text}`, () => expect(impurities(sample(text))).not.to.deep.equal([]))
  }

  it('may name fields and parameters as it likes, and make dates from numbers', () => {
    const text =
      'interface A { process: string; fetch(): void }\nexport const f = (a: A, atMs: number) => [a.process, new Date(atMs), Date.UTC(2026, 1), Math.max(1, 2), a instanceof Date]\nexport type D = Date'
    expect(impurities(sample(text))).to.deep.equal([])
  })

  const STATE = [
    'let latest = 0',
    'const CACHE = new WeakMap<object, string>()',
    'const made = oncePerObject((source: object) => String(source))',
    'const SEEN = new Set<string>()\nexport const f = (a: string) => SEEN.add(a)',
    'const KNOWN: Record<string, number> = {}\nexport const f = (a: string) => (KNOWN[a] = 1)',
    'const LIST: string[] = []\nexport const f = (a: string) => LIST.push(a)',
  ]
  for (const text of STATE) {
    it(`may not keep ${text}`, () => expect(moduleState(sample(text))).to.have.length(1))
  }

  it('may keep what is never written to, and write to what a call made', () => {
    const text =
      'const NAMES = new Set(["a"])\nexport const f = () => { const made = new Set(NAMES); made.add("b"); return made }'
    expect(moduleState(sample(text))).to.deep.equal([])
  })

  it('keeps nothing between calls', () => {
    expect(sourceFiles(['domain'], ['.ts']).flatMap(moduleState)).to.deep.equal(MODULE_STATE)
  })

  it('reads no clock, uses no randomness and does no I/O', () => {
    const files = sourceFiles(['domain'], ['.ts'])
    expect(files.length).to.be.greaterThan(10)
    expect(files.flatMap(impurities)).to.deep.equal([])
  })
})

describe('every file', () => {
  const REFUSED = [
    "import { a } from './a.ts'\n/** Too late. */",
    '/** */\n',
    '/** TODO */',
    '// A line comment.\n',
    '/** short. */',
  ]
  for (const text of REFUSED) {
    it(`may not open with ${JSON.stringify(text)}`, () => expect(openingProblem(sample(text))).not.to.equal(null))
  }

  it('may open with a sentence in its language', () => {
    expect(openingProblem(sample('/**\n * Decides what counts.\n */\n'))).to.equal(null)
    expect(openingProblem(sample('#!/bin/sh\n# Installs what the tests need.\n', 'x.sh'))).to.equal(null)
    expect(openingProblem(sample('#!/bin/sh\nset -eu\n', 'x.sh'))).not.to.equal(null)
  })

  it('opens with a sentence that says what it decides or does', () => {
    const files = sourceFiles(
      [...PRODUCT_FOLDERS, 'bench', 'fixtures', 'test', '.ci'],
      ['.ts', '.tsx', '.sh', '.ci/run'],
    )
    const problems = files
      .filter(({ path }) => !TEST_ENDINGS.some((ending) => path.endsWith(ending)))
      .map(openingProblem)
    expect(problems.filter((problem) => problem !== null)).to.deep.equal([])
  })

  const LEFT_OVER = [
    '// TODO: make this work',
    '/* FIXME later */',
    '// const a = 1;',
    '//   return receipt',
    '// if (a) {',
    '// a.b.c(d)',
    '// @ts-ignore',
    '// @ts-expect-error',
    '// eslint-disable-next-line no-control-regex',
    "describe.only('x', () => {})",
    "it.skip('x', () => {})",
    "specify.skip('x', () => {})",
    "it['skip']('x', () => {})",
    'const later = describe.only',
    'const { skip: later } = it',
    "xit('x', () => {})",
    'debugger',
  ]
  for (const text of LEFT_OVER) {
    it(`may not leave ${text} behind`, () =>
      expect(leftovers(sample(`export const a = 1\n${text}\n`))).to.have.length(1))
  }

  it('may explain itself in prose, with numbered markers and examples', () => {
    const text = [
      '// TODO(#12): remove once every reader knows version 2.',
      '// Windows are clock-aligned: two pods agree without talking.',
      '// The rest is (nearly) always one record; it never blocks',
      '// if the log refuses, nothing was promised',
      '/** For example `const a = 1;` in the page. */',
      '// eslint-disable-next-line no-control-regex -- control characters are what it looks for',
      "const text = '// const a = 1;'",
      "const url = 'https://acme.dev'",
    ]
    expect(leftovers(sample(text.join('\n')))).to.deep.equal([])
  })

  it('is left without markers, dead code and tests that are switched off', () => {
    const files = sourceFiles([...PRODUCT_FOLDERS, 'bench', 'fixtures', 'test'], ['.ts', '.tsx']).filter(
      ({ path }) => path !== 'test/tidy/sources.test.ts',
    )
    expect(files.flatMap(leftovers)).to.deep.equal([])
  })

  it('has a name that says what it is about', () => {
    const files = sourceFiles([...PRODUCT_FOLDERS, 'bench', 'fixtures', 'test'], ['.ts', '.tsx', '.sh'])
    const vague = files.filter(({ path }) =>
      /(^|[/-])(utils?|helpers?|managers?|misc|common|shared|stuff)([-.]|$)/.test(path),
    )
    const odd = files.filter(({ path }) => !/^[a-z0-9/.-]+$/.test(path))
    expect([...vague, ...odd].map(({ path }) => path)).to.deep.equal([])
  })
})

describe('the numbers of the contract', () => {
  it('are known by their values', () => {
    const some = [
      LIMITS.markerBytes,
      LIMITS.retentionDays.max,
      LIMITS.retentionDays.fallback,
      LIMITS.reconstructionHours.max,
    ]
    for (const number of some) expect(UNMISTAKABLE_NUMBERS.has(number), String(number)).to.equal(true)
  })

  const REPEATED = [
    'const days = 395',
    'const bytes = 16 * 1024',
    'if (text.length > 6_000) throw 1',
    'const size = 1021',
  ]
  for (const text of REPEATED) {
    it(`may not be repeated as in ${text}`, () => expect(contractLiterals(sample(text, 'api/x.ts'))).to.have.length(1))
  }

  it('may be part of another number, or mean something else outside of the contract', () => {
    expect(contractLiterals(sample('const bytes = 16 * 1024 * 1024', 'api/x.ts'))).to.deep.equal([])
    expect(contractLiterals(sample('const chunk = 64 * 1024', 'ports/x.ts'))).to.deep.equal([])
    expect(contractLiterals(sample('const port = 8080', 'api/x.ts'))).to.deep.equal([])
  })

  it('are in domain/limits.ts and nowhere else', () => {
    const files = sourceFiles(PRODUCT_FOLDERS, ['.ts', '.tsx']).filter(({ path }) => path !== 'domain/limits.ts')
    const found = files.flatMap(contractLiterals)
    const isExplained = (finding: string) =>
      Object.keys(OTHER_MEANINGS).some((known) => finding.startsWith(`${known} `))
    expect(found.filter((finding) => !isExplained(finding))).to.deep.equal([])
    const unused = Object.keys(OTHER_MEANINGS).filter(
      (known) => !found.some((finding) => finding.startsWith(`${known} `)),
    )
    expect(unused, 'explained and not there').to.deep.equal([])
  })
})

describe('runtime/', () => {
  it('is a closed list', () => {
    const files = sourceFiles(['runtime'], ['.ts']).map(({ path }) => path.replace('runtime/', ''))
    expect(files).to.deep.equal(RUNTIME_FILES)
  })
})

describe('folders', () => {
  /** More than a reader takes in at a glance. Generated files and charts have an order that their tools require. */
  const MOST_FILES = 25

  it('of the product have no more files than one sees at a glance', () => {
    const counts = new Map<string, number>()
    for (const { path } of sourceFiles(
      [...PRODUCT_FOLDERS, 'tools', 'bench', 'fixtures'],
      ['.ts', '.tsx', '.lua', '.sql', '.sh'],
    )) {
      const folder = path.slice(0, path.lastIndexOf('/'))
      counts.set(folder, (counts.get(folder) ?? 0) + 1)
    }
    expect([...counts].filter(([, count]) => count > MOST_FILES)).to.deep.equal([])
  })
})

describe('common/', () => {
  it('is a closed list', () => {
    const files = sourceFiles(['common'], ['.ts']).map(({ path }) => path.replace('common/', ''))
    expect(files).to.deep.equal(COMMON_FILES)
  })
})

describe('entries of the event log', () => {
  /** These trust what they read: for tests, benchmarks, and the reader that checks it. */
  const unguarded = ({ path, text }: { readonly path: string; readonly text: string }): readonly string[] =>
    path !== 'domain/records.ts' && path !== 'domain/read-record.ts' && /\b(decodeRecord|parseRecord)\b/.test(text)
      ? [path]
      : []

  it('are found if they are read without a guard', () => {
    const text = "import { decodeRecord } from '../domain/records.ts'"
    expect(unguarded(sample(text, 'delivery/x.ts'))).to.deep.equal(['delivery/x.ts'])
    expect(unguarded(sample(text, 'domain/read-record.ts'))).to.deep.equal([])
    expect(unguarded(sample("import { readRecord } from '../domain/read-record.ts'", 'bin/x.ts'))).to.deep.equal([])
  })

  it('are read through the one guarded decoder', () => {
    expect(sourceFiles([...PRODUCT_FOLDERS], ['.ts']).flatMap(unguarded)).to.deep.equal([])
  })
})

describe('limits', () => {
  it('are marked as not built yet exactly while nothing of the product reads them', () => {
    const readers = sourceFiles(PRODUCT_FOLDERS, ['.ts', '.tsx', '.sh']).filter(
      ({ path }) => path !== 'domain/limits.ts',
    )
    const isRead = (name: string) =>
      readers.some(({ text }) => new RegExp(`(?:LIMITS|RULES)\\.${name}\\b|'${name}'`).test(text))
    // The hook has its limits written out in shell; a test of the hook compares the two.
    const unread = Object.keys(LIMITS).filter((name) => !name.startsWith('hook') && !isRead(name))
    expect(unread).to.have.members([...NOT_BUILT.service])
    expect(Object.keys(RATE_RULES).filter((name) => !isRead(name))).to.have.members([...NOT_BUILT.rates])
  })
})
