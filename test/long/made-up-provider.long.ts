/** A sixth provider, added to a copy of the tree by a diff: its files, one line, and nothing else. */

import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const DIFF = join(import.meta.dirname, 'made-up-provider.diff')
const INDEX = 'domain/providers/index.ts'
const MISSING = ['delivery/providers/nightjar.ts', 'stand-ins/nightjar.ts', 'sdk/readers/nightjar.ts']

describe('a made-up provider', function () {
  this.timeout(600_000)
  let folder: string
  let diff: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-provider-'))
    const { stdout } = await run('git', ['ls-files', '-z'], { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 })
    for (const path of stdout.split('\0').filter((name) => name !== '')) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await cp(join(ROOT, path), join(folder, path))
    }
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    diff = await readFile(DIFF, 'utf8')
  })
  after(() => rm(folder, { recursive: true }))

  async function apply(paths: readonly string[]): Promise<void> {
    const parts = diff.split(/^(?=diff --git )/m).filter((part) => paths.some((path) => part.includes(` b/${path}\n`)))
    expect(parts).to.have.lengthOf(paths.length)
    await writeFile(join(folder, 'part.diff'), parts.join('').replace(/^diff --git .*\n/gm, ''))
    await run('patch', ['-p1', '--input', 'part.diff'], { cwd: folder })
  }
  async function errors(project: string): Promise<string> {
    // Each time but the first, the compiler looks only at what changed and at what depends on it.
    const memory = ['--incremental', '--tsBuildInfoFile', join(folder, `${project.replace('.', 'root')}.tsbuildinfo`)]
    const words = [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', project, ...memory]
    return run(process.execPath, words, { cwd: folder }).then(
      () => '',
      (error: unknown) => (error as { readonly stdout: string }).stdout,
    )
  }
  const makeDocs = () => run(process.execPath, ['tools/docs/write.ts'], { cwd: folder })
  const made = (path: string) => readFile(join(folder, path), 'utf8')

  it('is five files, the index among them, and a test', () => {
    expect([...diff.matchAll(/^diff --git a\/\S+ b\/(\S+)$/gm)].map(([, path]) => path)).to.have.members([
      'domain/providers/nightjar.ts',
      INDEX,
      ...MISSING,
      'test/delivery/nightjar.test.ts',
    ])
  })

  it('is asked for by the compiler, file by file, once it is described', async () => {
    await apply(['domain/providers/nightjar.ts', INDEX])
    expect(await errors('.'))
      .to.contain('delivery/providers/index.ts')
      .and.contain('stand-ins/index.ts')
      .and.contain('sdk/readers/index.ts')
    await makeDocs()
    const asked = await errors('.')
    for (const path of MISSING) expect(asked).to.contain(`${dirname(path)}/index.ts`)
    expect(asked.match(/'\.\/nightjar\.ts'/g)).to.have.lengthOf(MISSING.length)
  })

  it('is then complete: types, its test, settings, definitions and the chart', async () => {
    await apply([...MISSING, 'test/delivery/nightjar.test.ts'])
    expect(await errors('.')).to.equal('')
    expect(await errors('sdk')).to.equal('')
    const mocha = [join(ROOT, 'node_modules/mocha/bin/mocha.js'), '--no-config', '--timeout', '60000']
    await run(process.execPath, [...mocha, 'test/delivery/nightjar.test.ts', 'test/domain/identities.test.ts'], {
      cwd: folder,
    })
    expect(await made('docs/settings.md')).to.contain('`WHENCE_NIGHTJAR_URL`')
    expect(await made('crds/destinations.yaml')).to.contain('description: A nest of Nightjar.')
    expect(await made('charts/whence/values.yaml')).to.contain('  nightjar: { enabled: true, replicas: 1, pod: {} }')
  })
})
