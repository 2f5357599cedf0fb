/** The plugin of kubectl, with a kubectl that records its calls; a real one is part of test/charts. */

import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'

import { expect } from 'chai'

import { unpacked } from '../../runtime/catalog/members.ts'
import { ROOT } from '../tidy/source-files.ts'

const run = promisify(execFile)
const PODS = { items: [{ kind: 'Pod', metadata: { name: 'whence-pod-1', namespace: 'collecting' } }] }
const DESTINATION = { kind: 'Destination', metadata: { name: 'ads' }, spec: { provider: 'google_ads' } }

/** A gigabyte in a megabyte: consecutive gzip members decompress to one text. */
const bomb = (): string => {
  const member = gzipSync(Buffer.alloc(64 * 1024 * 1024))
  return Buffer.concat(Array.from({ length: 16 }, () => member)).toString('base64')
}

describe('kubectl whence', function () {
  this.timeout(20_000)
  let folder = ''

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-plugin-'))
    await writeFile(join(folder, 'pods.json'), JSON.stringify(PODS))
    await writeFile(join(folder, 'destination.json'), JSON.stringify(DESTINATION))
    const fake = [
      '#!/bin/sh',
      `printf '%s\\n' "$*" >> '${folder}/asked'`,
      `case "$*" in`,
      `  "get pods"*) cat '${folder}/pods.json' ;;`,
      `  "get destinations"*) cat '${folder}/destination.json' ;;`,
      `  "get website.whence.dev acme"*) cat '${folder}/website.json' ;;`,
      `  "get configmaps"*) cat '${folder}/configmaps.json' ;;`,
      `  "auth can-i create members.whence.dev --namespace team"*) echo yes ;;`,
      `  "auth can-i"*) echo no; exit 1 ;;`,
      `  exec*) echo answered; exit 3 ;;`,
      `  *) echo 'Error from server (NotFound): it is not there' >&2; exit 1 ;;`,
      'esac',
    ]
    await writeFile(join(folder, 'kubectl'), fake.join('\n'))
    await chmod(join(folder, 'kubectl'), 0o755)
    // As people install it: a link in a folder that is on PATH.
    await symlink(join(ROOT, 'bin/kubectl-whence'), join(folder, 'kubectl-whence'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const plugin = async (...words: string[]) => {
    const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` }
    return run(join(folder, 'kubectl-whence'), words, { env }).then(
      ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
    )
  }
  const asked = async () => (await readFile(join(folder, 'asked'), 'utf8')).trim().split('\n')

  it('tests a destination in the pod of its provider, and returns the exit code', async () => {
    const { code, stdout } = await plugin(
      'send-test',
      'destination/ads',
      '-n',
      'team',
      '--release-namespace=collecting',
      '--live',
    )
    expect({ code, stdout }).to.deep.equal({ code: 3, stdout: 'answered\n' })
    const [destination, pods, exec] = await asked()
    expect(destination).to.equal('get destinations.whence.dev ads -o json --namespace team')
    expect(pods).to.match(/component=google-ads .*--namespace collecting/)
    expect(exec).to.equal('exec whence-pod-1 --namespace collecting -- whencectl send-test --destination ads --live')
  })

  it('shows logs from a pod of the api, wherever it is', async () => {
    expect((await plugin('logs', '--website', 'acme-dev', '--context', 'far')).stdout).to.equal('answered\n')
    const [pods, exec] = await asked()
    expect(pods).to.match(/component=api .*--all-namespaces/)
    expect(exec).to.equal('exec whence-pod-1 --namespace collecting --context far -- whencectl logs --website acme-dev')
  })

  it('prints a sign-in link from a pod of the dashboard for those who may create members, and for nobody else', async () => {
    const words = ['sign-in-link', '--email', 'anna@acme.dev', '--owner-of', 'team/acme']
    expect((await plugin(...words, '-n', 'team')).stdout).to.equal('answered\n')
    const [, , pods, exec] = await asked()
    expect(pods).to.match(/component=dashboard /)
    expect(exec).to.equal(`exec whence-pod-1 --namespace collecting -- whencectl ${words.join(' ')}`)
    const refused = await plugin(...words, '-n', 'other')
    expect(refused).to.deep.include({ code: 2, stdout: '' })
    expect(refused.stderr).to.match(/right to create Members/)
    expect((await asked()).filter((line) => line.startsWith('exec'))).to.have.length(1)
  })

  it('prints one from the pod of the embedded program, which has no dashboard of its own', async () => {
    const spec = {
      containers: [
        { name: 'proxy', args: ['run'] },
        { name: 'whence', args: ['embedded'] },
      ],
    }
    const [pod] = PODS.items
    await writeFile(join(folder, 'pods.json'), JSON.stringify({ items: [{ ...pod, spec }] }))
    const words = ['sign-in-link', '--email', 'anna@acme.dev', '--owner-of', 'acme']
    expect((await plugin(...words)).stdout).to.equal('answered\n')
    const [pods, exec, ...more] = await asked()
    expect(pods).to.match(/component=api /)
    expect(exec).to.equal(`exec whence-pod-1 --namespace collecting -- whencectl ${words.join(' ')}`)
    expect(more).to.deep.equal([])
  })

  it('uses no pod if several namespaces have one, since anybody may give a pod our labels', async () => {
    const planted = { kind: 'Pod', metadata: { name: 'whence-pod-0', namespace: 'a-strangers' } }
    await writeFile(join(folder, 'pods.json'), JSON.stringify({ items: [planted, ...PODS.items] }))
    for (const words of [['logs'], ['send-test', 'ads']]) {
      const { code, stderr } = await plugin(...words)
      expect(stderr).to.match(
        /^kubectl whence: there are pods of [\w-]+ in a-strangers, collecting: use --release-namespace\n$/,
      )
      expect(code).to.equal(2)
    }
    expect((await asked()).filter((line) => line.startsWith('exec'))).to.deep.equal([])
  })

  it('uses no catalog if several namespaces have one', async () => {
    const website = { kind: 'Website', metadata: { name: 'acme', namespace: 'team', generation: 1 }, status: {} }
    await writeFile(join(folder, 'website.json'), JSON.stringify(website))
    const map = (namespace: string) => ({ kind: 'ConfigMap', metadata: { name: 'whence-catalog', namespace } })
    await writeFile(join(folder, 'configmaps.json'), JSON.stringify({ items: ['collecting', 'a-strangers'].map(map) }))
    const { code, stderr } = await plugin('explain', 'website/acme')
    expect(stderr).to.equal('kubectl whence: there are catalogs in a-strangers, collecting: use --release-namespace\n')
    expect(code).to.equal(2)
  })

  it('decompresses no part of a catalog that was made to fill the memory', () => {
    expect(unpacked(gzipSync('{}').toString('base64'))).to.equal('{}')
    expect(() => unpacked(bomb())).to.throw('larger than any that an operator writes')
  })

  it('checks files whose Secrets and other references are elsewhere, on request', async () => {
    const website =
      'apiVersion: whence.dev/v1alpha1\nkind: Website\nmetadata: { name: w }\nspec: { organizationRef: { name: away }, primaryOrigin: "https://w.dev" }\n'
    await writeFile(join(folder, 'w.yaml'), website)
    expect((await plugin('lint', '-f', join(folder, 'w.yaml'))).stdout).to.match(/\[RefNotFound\]/)
    for (const words of [
      ['--allow-missing', '-f', join(folder, 'w.yaml')],
      ['-f', join(folder, 'w.yaml'), '--allow-missing'],
    ])
      expect(await plugin('lint', ...words)).to.deep.include({ code: 0 })
    expect((await plugin('lint', '-f', join(folder, 'w.yaml'), '--alow-missing')).code).to.equal(2)
  })

  it('checks a file or a folder without asking a cluster', async () => {
    const good = await plugin('lint', '-f', join(ROOT, 'examples/quickstart'))
    expect(good).to.deep.include({ code: 0 })
    await writeFile(
      join(folder, 'bad.yaml'),
      'apiVersion: whence.dev/v1alpha1\nkind: Organization\nmetadata: { name: acme }\nspec: { plan: Huge }\n',
    )
    const bad = await plugin('lint', '-f', join(folder, 'bad.yaml'))
    expect(bad.code).to.equal(1)
    expect(bad.stdout).to.match(/bad\.yaml.*plan/)
    expect(await asked().catch(() => [])).to.deep.equal([])
  })

  it('shows its usage, and names unknown commands', async () => {
    expect((await plugin()).stdout).to.match(/explain KIND\/NAME/)
    expect((await plugin('dance')).code).to.equal(2)
    expect(await plugin('explain', 'website/none')).to.deep.include({
      code: 2,
      stderr: 'kubectl whence: Error from server (NotFound): it is not there\n',
    })
  })
})
