/** Reading YAML: the places of fields, what Secrets take from the environment, and the messages for a broken file. */

import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

import { expect } from 'chai'

import { compileManifests, formatProblems, lintFolder } from '../../runtime/catalog/source.ts'
import {
  isManifestName,
  manifestText,
  ManifestsUnreadable,
  parseManifests,
  readManifests,
  rememberingParser,
  type KnownFiles,
} from '../../runtime/catalog/manifests.ts'

import { until } from '../../fixtures/until.ts'

const parse = (text: string, env: Record<string, string> = {}) => parseManifests([{ name: 'a.yaml', text }], env)
const values = (text: string, env: Record<string, string> = {}) => parse(text, env).objects.map(({ value }) => value)

const SECRET = (value: string) => `kind: Secret\nmetadata: { name: keys }\nstringData:\n  key: ${value}\n`

describe('manifests', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'whence-manifests-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const write = (name: string, text: string | Buffer) => writeFileSync(join(folder, name), text)

  it('are the YAML files of a folder in the order of their names, without what editors leave', async () => {
    for (const name of [
      'b.yaml',
      'a.yml',
      'C.YAML',
      '.hidden.yaml',
      '#b.yaml#',
      '~b.yaml',
      'b.yaml~',
      'b.yaml.swp',
      'notes.txt',
    ]) {
      write(name, 'a: 1')
    }
    mkdirSync(join(folder, 'folder.yaml'))
    symlinkSync(join(folder, 'notes.txt'), join(folder, 'linked.yaml'))
    symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling.yaml'))
    const names = (await readManifests(folder)).map(({ name }) => name)
    expect(names).to.deep.equal(['C.YAML', 'a.yml', 'b.yaml', 'linked.yaml'])
    expect(['.#a.yaml', '4913', 'a.yaml.bak', 'yaml'].filter(isManifestName)).to.deep.equal([])
  })

  it('are written with one zero', () => {
    expect(manifestText({ least: -0, all: [-0, 0.5] })).to.equal('least: 0\nall:\n  - 0\n  - 0.5\n')
  })

  it('are written so that every version of YAML reads the same texts', () => {
    const words = [
      'y',
      'n',
      'yes',
      'Yes',
      'NO',
      'on',
      'off',
      'true',
      'False',
      'null',
      'NULL',
      '~',
      '.inf',
      '-.INF',
      '.nan',
      'NaN',
    ]
    const numbers = [
      '1',
      '007',
      '08',
      '1e3',
      '1_000',
      '0x10',
      '0o7',
      '0b1',
      '+1',
      '-0',
      '1.',
      '.5',
      '12:30:00',
      '190:20:30',
    ]
    const dates = ['2026-11-27', '2001-12-14t21:59:43.10-05:00', '2026-11-27 10:00:00']
    const signs = [
      '',
      ' ',
      ' a',
      'a ',
      '=',
      '<<',
      '- a',
      'a: b',
      'a:',
      ':a',
      'a #b',
      '#',
      '&a',
      '*a',
      '!a',
      '|',
      '>',
      '%a',
      '@a',
      '`a',
      '?',
      '{',
      '[a]',
      '"',
      "it's",
      '---',
      '...',
    ]
    const lines = [
      'a\nb',
      'a\n',
      '\n',
      '\t',
      'a\r\nb',
      '\u0000',
      '\u007f',
      '\u0085',
      '\u009b',
      '\u2028',
      '\u202e',
      '\ufeff',
      '\ud800',
      'ü',
      '${HOME}',
      'x'.repeat(300),
    ]
    for (const text of [...words, ...numbers, ...dates, ...signs, ...lines]) {
      const object = { metadata: { name: text }, spec: { [text]: text, list: [text, { in: text }] } }
      const what = JSON.stringify(text)
      expect(values(manifestText(object)), what).to.deep.equal([object])
      const line = manifestText({ name: text }).trimEnd()
      if (![...words, ...numbers, ...dates, '=', '<<'].includes(text)) continue
      expect(line, what).to.equal(`name: ${what}`)
    }
    expect(manifestText({ kind: 'Website', spec: { origin: 'https://acme.dev', displayName: 'Acme Ltd' } })).to.equal(
      'kind: Website\nspec:\n  origin: https://acme.dev\n  displayName: Acme Ltd\n',
    )
  })

  it('that would be read as another object are not written', () => {
    expect(() => manifestText({ spec: { value: NaN } })).to.throw('read as another one')
  })

  it('that cannot be read are named with the reason', async () => {
    write('latin.yaml', Buffer.from([0x61, 0x3a, 0x20, 0xff]))
    expect(await messageOf(readManifests(folder))).to.equal('latin.yaml cannot be read (it is not UTF-8)')
    expect(await messageOf(readManifests(join(folder, 'nowhere')))).to.contain('cannot be read (ENOENT)')
  })

  it('are read again only if they changed', async () => {
    const reads: string[] = []
    const { readFile } = promises
    promises.readFile = ((path: string) => {
      reads.push(basename(path))
      return readFile(path)
    }) as typeof readFile
    syncBuiltinESMExports()
    try {
      const known: KnownFiles = new Map()
      const read = async (): Promise<readonly string[]> => {
        reads.length = 0
        await readManifests(folder, null, known)
        return reads.toSorted()
      }
      for (const name of ['a.yaml', 'b.yaml', 'c.yaml']) write(name, `name: ${name}`)
      expect(await read()).to.deep.equal(['a.yaml', 'b.yaml', 'c.yaml'])
      // What was written a moment ago may be written again without a later time.
      await until(async () => (await read()).length === 0)
      write('b.yaml', 'name: B.yaml')
      rmSync(join(folder, 'c.yaml'))
      expect(await read()).to.deep.equal(['b.yaml'])
      const files = await readManifests(folder, null, known)
      expect(files.map(({ text }) => text)).to.deep.equal(['name: a.yaml', 'name: B.yaml'])
      expect(known.get(folder)?.size).to.equal(2)
    } finally {
      promises.readFile = readFile
      syncBuiltinESMExports()
    }
  })

  it('keep the place of every field: file, document and line', () => {
    const text = '# a comment\n---\nkind: A\n---\n\nkind: B\nspec:\n  list:\n    - x: 1\n    - y: 2\n  a/b: 3\n'
    const [first, second] = parse(text).objects
    expect(first?.locate('')).to.equal('a.yaml, document 1, line 3')
    expect(second?.locate('/kind')).to.equal('a.yaml, document 2, line 6')
    expect(second?.locate('/spec/list/1/y')).to.equal('a.yaml, document 2, line 10')
    expect(second?.locate('/spec/a~1b')).to.equal('a.yaml, document 2, line 11')
    expect(second?.locate('/spec/missing'), 'what is missing is reported where it would belong').to.equal(
      'a.yaml, document 2, line 7',
    )
    expect(second?.locate('/nothing/at/all')).to.equal('a.yaml, document 2, line 6')
  })

  it('may be empty, in whole or in part', () => {
    expect(values('')).to.deep.equal([])
    expect(values('# nothing\n')).to.deep.equal([])
    expect(values('---\n---\nkind: A\n---\n~\n')).to.deep.equal([{ kind: 'A' }])
  })

  it('may use anchors and merge keys', () => {
    expect(values('base: &b { x: 1 }\nuse: { <<: *b, y: 2 }\n')).to.deep.equal([
      { base: { x: 1 }, use: { x: 1, y: 2 } },
    ])
  })

  it('read booleans as Kubernetes does, unless they are quoted', () => {
    expect(values('a: Off\nb: yes\nc: "on"\nd: nothing\non: 1\n')).to.deep.equal([
      { a: false, b: true, c: 'on', d: 'nothing', on: 1 },
    ])
  })

  const BROKEN: readonly (readonly [string, string, number])[] = [
    ['an open bracket', 'kind: A\nspec: [\n', 3],
    ['a tab', 'kind: A\nspec:\n\tname: x\n', 3],
    ['a key twice', 'kind: A\nkind: B\n', 2],
    ['a list', '- kind: A\n', 1],
    ['a text', 'hello\n', 1],
    ['an unknown alias', 'kind: *nope\n', 1],
    [
      'a bomb of aliases',
      `a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [${'*a, '.repeat(9)}]\nc: &c [${'*b, '.repeat(9)}]\nd: [${'*c, '.repeat(9)}]\n`,
      1,
    ],
  ]
  for (const [what, text, line] of BROKEN) {
    it(`say where ${what} is`, () => {
      const { objects, problems } = parse(text)
      expect(objects).to.deep.equal([])
      expect(problems.length).to.be.greaterThan(0)
      expect(problems[0]).to.include({
        object: 'File/a.yaml',
        reason: 'InvalidYaml',
        source: `a.yaml, document 1, line ${line}`,
      })
    })
  }

  it('do not show the text around a mistake, which may be a secret', () => {
    const { problems } = parse('kind: Secret\nstringData:\n  key: hunter2\n bad: [hunter2\n')
    expect(problems.length).to.be.greaterThan(0)
    expect(JSON.stringify(problems)).not.to.contain('hunter2')
  })

  describe('with Secrets', () => {
    const keyOf = (text: string, env: Record<string, string> = {}) =>
      (values(SECRET(text), env)[0] as { stringData: { key: unknown } }).stringData.key

    it('take values from the environment', () => {
      expect(keyOf("'${KEY}'", { KEY: 'hunter2' })).to.equal('hunter2')
      expect(keyOf("'a-${A}-${B}'", { A: '1', B: '2' })).to.equal('a-1-2')
    })

    it('take them once and as they are', () => {
      expect(keyOf("'${KEY}'", { KEY: '${OTHER}$&', OTHER: 'x' })).to.equal('${OTHER}$&')
    })

    it('may write the reference itself', () => {
      expect(keyOf("'$${KEY}'", { KEY: 'hunter2' })).to.equal('${KEY}')
    })

    it('say which variable is not set', () => {
      const { problems } = parse(SECRET("'${NOPE}'"))
      expect(problems).to.have.length(1)
      expect(problems[0]).to.deep.equal({
        object: 'Secret/keys',
        source: 'a.yaml, document 1, line 4',
        field: '/stringData/key',
        reason: 'EnvNotSet',
        message: 'stringData.key: the environment variable NOPE is not set',
      })
    })

    it('are the only objects in which that happens', () => {
      const text = 'kind: Website\nmetadata: { name: "${KEY}" }\nstringData: { key: "${KEY}" }\n'
      expect(JSON.stringify(values(text, { KEY: 'hunter2' }))).not.to.contain('hunter2')
    })
  })

  it('that do not parse keep quiet about what only refers to them', () => {
    const website = 'apiVersion: whence.dev/v1alpha1\nkind: Website\nmetadata: { name: site }\n' // prettier-ignore
    const text = `${website}spec: { organizationRef: { name: acme }, primaryOrigin: 'https://acme.dev' }\n---\nkind: [\n`
    const { problems, isAccepted } = compileManifests([{ name: 'a.yaml', text }], { env: {} })
    expect(problems.map(({ reason }) => reason)).to.deep.equal(['InvalidYaml'])
    expect(isAccepted).to.equal(false)
  })

  it('are parsed once as long as their text stays, and in their order', () => {
    const parse = rememberingParser({})
    const a = { name: 'a.yaml', text: 'kind: A' }
    const b = { name: 'b.yaml', text: 'kind: B\n---\nkind: [' } // prettier-ignore
    const first = parse([a, b])
    const second = parse([{ name: '0.yaml', text: 'kind: Z' }, a, b])
    expect(second.objects.map(({ value }) => value)).to.deep.equal([{ kind: 'Z' }, { kind: 'A' }, { kind: 'B' }])
    expect(second.objects[1]).to.equal(first.objects[0])
    expect(second.problems).to.deep.equal(first.problems)
    expect(parse([{ ...a, text: 'kind: A2' }]).objects.map(({ value }) => value)).to.deep.equal([{ kind: 'A2' }])
  })

  it('are linted with every problem on a line of its own', async () => {
    write(
      'a.yaml',
      'apiVersion: whence.dev/v1alpha1\nkind: Organization\nmetadata: { name: acme }\nspec: { plan: Gold, x: 1 }\n',
    )
    const lines = formatProblems(await lintFolder({ folder, env: {} })).split('\n')
    expect(lines).to.deep.equal([
      'a.yaml, document 1, line 4: Organization/acme: spec.plan: "Gold" is not one of Free, Standard, Enterprise [InvalidField]',
      'a.yaml, document 1, line 4: Organization/acme: spec.x: is not a field here; there are displayName, plan, logRetentionDays, timeZone, alerts, defaultInstallPath, billing, allowedNamespaces, installation, tenant [UnknownField]',
    ])
    expect((await lintFolder({ folder: join(folder, 'nowhere'), env: {} }))[0]).to.include({
      reason: 'FolderUnreadable',
    })
  })

  it('are taken out of lists, each with its place and its own problems', async () => {
    const list = [
      'apiVersion: v1',
      'kind: List',
      'items:',
      '  - { apiVersion: whence.dev/v1alpha1, kind: Organization, metadata: { name: acme }, spec: { plan: Gold } }',
      '  - kind: List',
      '    items:',
      '      - kind: Secret',
      '        metadata: { name: keys }',
      '        stringData: { key: "${MISSING}" }',
      '  - text',
    ]
    write('a.yaml', list.join('\n'))
    expect(formatProblems(await lintFolder({ folder, env: {} })).split('\n')).to.deep.equal([
      'a.yaml, document 1, line 10: List: items.2: is not a map of fields [InvalidYaml]',
      'a.yaml, document 1, line 9: Secret/keys: stringData.key: the environment variable MISSING is not set [EnvNotSet]',
      'a.yaml, document 1, line 4: Organization/acme: spec.plan: "Gold" is not one of Free, Standard, Enterprise [InvalidField]',
    ])
    expect(values(list.join('\n'), { MISSING: 'x' })[1]).to.deep.include({ stringData: { key: 'x' } })
  })

  it('may refer to objects elsewhere if that is allowed, but not wrongly to what is there', async () => {
    const object = (kind: string, name: string, spec: object) =>
      JSON.stringify({ apiVersion: 'whence.dev/v1alpha1', kind, metadata: { name }, spec })
    const ga4 = (name: string, secret: string) =>
      object('Destination', name, {
        websiteRef: { name: 'site' },
        provider: 'ga4',
        ga4: { measurementId: 'G-AAAAAAAAAA', apiSecretRef: { name: secret, key: 'key' } },
      })
    const documents = [
      object('Organization', 'acme', { plan: 'Enterprise', defaultInstallPath: 'elsewhere' }),
      object('Website', 'orphan', { organizationRef: { name: 'away' }, primaryOrigin: 'https://orphan.dev' }),
      object('Website', 'guest', {
        organizationRef: { name: 'acme', namespace: 'other' },
        primaryOrigin: 'https://guest.dev',
      }),
      object('Website', 'site', { organizationRef: { name: 'acme' }, primaryOrigin: 'https://site.dev' }),
      object('InstallPath', 'path', { organizationRef: { name: 'acme' }, displayName: 'Path' }),
      ga4('sealed', 'sealed'),
      ga4('wrong', 'there'),
      object('Destination', 'lost', {
        websiteRef: { name: 'orphan' },
        provider: 'ga4',
        ga4: { measurementId: 'G-AAAAAAAAAA', apiSecretRef: { name: 'there', key: 'other' } },
      }),
      'kind: Secret\nmetadata: { name: there }\nstringData: { other: x }',
    ]
    write('a.yaml', documents.join('\n---\n'))
    const found = await lintFolder({ folder, env: {} })
    const objectsOf = (problems: typeof found) => problems.map(({ object: shown, reason }) => `${shown} ${reason}`)
    expect(objectsOf(found)).to.have.members([
      'Organization/acme RefNotFound',
      'Website/orphan RefNotFound',
      'Website/guest RefNotPermitted',
      'Destination/sealed RefNotFound',
      'Destination/wrong RefNotFound',
      'Destination/lost RefNotAccepted',
    ])
    const left = await lintFolder({ folder, env: {}, allowsMissing: true })
    expect(objectsOf(left)).to.deep.equal(['Destination/wrong RefNotFound'])
  })

  it('of the quickstart have no problem', async () => {
    const problems = await lintFolder({ folder: join(import.meta.dirname, '../../examples/quickstart'), env: {} })
    expect(formatProblems(problems)).to.equal('')
  })

  it('that may not be read are named, for anyone but root', async function () {
    if (process.getuid?.() === 0) {
      // Root reads everything; what it cannot read is a folder instead of a file, which is skipped.
      expect(await readManifests(folder)).to.deep.equal([])
      return
    }
    write('locked.yaml', 'a: 1')
    chmodSync(join(folder, 'locked.yaml'), 0)
    expect(await messageOf(readManifests(folder))).to.equal('locked.yaml cannot be read (EACCES)')
  })
})

async function messageOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return ''
  } catch (error) {
    expect(error).to.be.instanceOf(ManifestsUnreadable)
    return (error as Error).message
  }
}
