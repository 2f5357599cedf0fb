/** The image, as far as it can be held to something without a container engine: its stages are played in a folder. */

import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect } from 'chai'

import { ROOT } from '../tidy/source-files.ts'

const run = promisify(execFile)
/** From npm's cache as a rule; from the registry on a machine that is new. */
const INSTALL_MS = 170_000

interface Step {
  readonly stage: string
  readonly instruction: string
  readonly words: string
}

async function steps(): Promise<readonly Step[]> {
  const text = (await readFile(join(ROOT, 'Dockerfile'), 'utf8')).replaceAll('\\\n', ' ')
  let stage = ''
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [instruction = '', ...rest] = line.split(' ')
      const words = rest.join(' ')
      if (instruction === 'FROM') stage = / AS (\w+)$/.exec(words)?.[1] ?? 'final'
      return { stage, instruction, words }
    })
}

const sourcesOf = ({ words }: Step): readonly string[] => words.split(' ').slice(0, -1)

describe('the image', () => {
  it('copies what is there, and nothing that is kept from the build', async () => {
    const ignored = (await readFile(join(ROOT, '.dockerignore'), 'utf8')).split('\n')
    const copies = (await steps()).filter(({ instruction, words }) => instruction === 'COPY' && !words.startsWith('--from'))
    const sources = copies.flatMap(sourcesOf)
    expect(sources).to.include.members(['api', 'bin', 'delivery', 'domain', 'hook', 'ports', 'runtime', 'package-lock.json'])
    for (const source of sources) {
      expect(existsSync(join(ROOT, source)), source).to.equal(true)
      expect(ignored, source).to.include(`!${source}`)
    }
  })

  it('runs as an unprivileged user, from the command line that the chart gives arguments to', async () => {
    const final = (await steps()).filter(({ stage }) => stage === 'final')
    const last = (instruction: string) => final.findLast((step) => step.instruction === instruction)?.words
    expect(last('USER')).to.equal('65532:65532')
    expect(last('ENTRYPOINT')).to.equal('["node", "/app/bin/whencectl.ts"]')
    const values = await readFile(join(ROOT, 'charts/whence/values.yaml'), 'utf8')
    expect(values).to.contain('runAsUser: 65532')
  })

  it("has a data folder for its own user alone", async () => {
    const commands = (await steps()).filter(({ stage, instruction }) => stage === 'final' && instruction === 'RUN')
    const made = commands.flatMap(({ words }) => words.split(' && ')).find((command) => command.endsWith(' /var/lib/whence'))
    expect(made).to.match(/^install -d -m 0700 -o 65532 -g 65532 /)
    await inFolder(async (folder) => {
      // Only root may give it to another user.
      const own = process.getuid?.() === 0 ? made : made?.replace(/ -[og] \d+/g, '')
      await run('sh', ['-c', `umask 022; ${own?.replace('/var/lib/whence', `${folder}/data`)}`])
      const { mode, uid } = await stat(join(folder, 'data'))
      expect(mode & 0o7777).to.equal(0o700)
      if (process.getuid?.() === 0) expect(uid).to.equal(65_532)
    })
  })

  it('makes the bundle from what it copies for it', async function () {
    this.timeout(INSTALL_MS)
    await inFolder(async (folder) => {
      await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
      for (const step of (await steps()).filter(({ stage }) => stage === 'bundle')) await play(step, folder)
      for (const bundle of ['sdk', 'pages']) {
        await run(process.execPath, [`${bundle}/build.ts`], { cwd: folder })
        expect(existsSync(join(folder, bundle, 'dist/manifest.json')), bundle).to.equal(true)
      }
    })
  })

  it('has every program that it needs once what only builds and tests is left out', async function () {
    this.timeout(INSTALL_MS)
    await inFolder(async (folder) => {
      for (const step of (await steps()).filter(({ stage }) => stage === 'production')) await play(step, folder)
      expect(existsSync(join(folder, 'node_modules/mocha'))).to.equal(false)
      const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string }
      const node = (...words: string[]) =>
        run(process.execPath, words, { cwd: folder, env: { PATH: process.env['PATH'] } })
      expect((await node('bin/whencectl.ts', '--version')).stdout).to.equal(`whencectl ${version}\n`)
      expect((await node('bin/whencectl.ts', 'lint', '-f', 'examples/quickstart')).stdout).to.match(/\w/)
      const programs = ['api', 'delivery', 'embedded', 'tools/migrate'].map((name) => `import('./bin/${name}.ts')`)
      expect((await node('--input-type=module', '-e', `await Promise.all([${programs.join()}])`)).stderr).to.equal('')
    })
  })
})

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-image-'))
  try {
    await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** One instruction of the Dockerfile, in a folder instead of an image. The engines of a single machine stay out: their size. */
async function play(step: Step, folder: string): Promise<void> {
  if (step.instruction === 'COPY') {
    if (step.words.startsWith('--from')) return
    for (const source of sourcesOf(step)) await cp(join(ROOT, source), join(folder, source), { recursive: true, filter: isNotMade })
  } else if (step.words.startsWith('npm ci --omit=dev')) {
    await run('sh', ['-c', `${step.words.split(' && ')[0]} --omit=optional --prefer-offline`], { cwd: folder, timeout: INSTALL_MS })
  }
}

/** What `.dockerignore` keeps out. */
const isNotMade = (path: string): boolean => !/(sdk|pages)\/dist|node_modules/.test(path.replace(ROOT, ''))
