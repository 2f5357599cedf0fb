/** The plugin of kubectl, with a kubectl that records what it is asked; a real one is part of test/charts. */

import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect } from 'chai'

import { ROOT } from '../tidy/source-files.ts'

const run = promisify(execFile)
const PODS = { items: [{ kind: 'Pod', metadata: { name: 'whence-pod-1', namespace: 'collecting' } }] }
const DESTINATION = { kind: 'Destination', metadata: { name: 'ads' }, spec: { provider: 'google_ads' } }

describe('kubectl whence', () => {
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

  it('tries a destination in the pod of its own provider, and hands the exit code on', async () => {
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
    expect(exec).to.equal('exec whence-pod-1 --namespace collecting -- whence send-test --destination ads --live')
  })

  it('shows logs from a pod of the api, wherever it is', async () => {
    expect((await plugin('logs', '--website', 'acme-dev', '--context', 'far')).stdout).to.equal('answered\n')
    const [pods, exec] = await asked()
    expect(pods).to.match(/component=api .*--all-namespaces/)
    expect(exec).to.equal('exec whence-pod-1 --namespace collecting --context far -- whence logs --website acme-dev')
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

  it('says what it does, and what is not there', async () => {
    expect((await plugin()).stdout).to.match(/explain KIND\/NAME/)
    expect((await plugin('dance')).code).to.equal(2)
    expect(await plugin('explain', 'website/none')).to.deep.include({
      code: 2,
      stderr: 'kubectl whence: Error from server (NotFound): it is not there\n',
    })
  })
})
