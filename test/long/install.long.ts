/** The package of the service as people install it: by npm, with every package that it needs, from what the registry has. */

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { buildServerPackage } from '../../tools/release/package.ts'

const run = promisify(execFile)
const INSTALL_MS = 800_000

describe('the package of the service', () => {
  it('brings its own Node, its engines and nothing to build', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'whence-install-'))
    try {
      await buildServerPackage(join(folder, 'package'))
      const { stdout } = await run('npm', ['pack', '--silent', './package'], { cwd: folder })
      const words = [
        'install',
        '--global',
        '--prefix',
        join(folder, 'prefix'),
        `./${stdout.trim()}`,
        '--prefer-offline',
      ]
      await run('npm', words, { cwd: folder, timeout: INSTALL_MS })
      // No Node that could run it is on this PATH.
      const options = { cwd: folder, env: { PATH: `${folder}/prefix/bin:/usr/bin:/bin` }, timeout: INSTALL_MS }
      expect((await run('whencectl', ['--version'], options)).stdout).to.match(/^whencectl \d/)
      const refused = await run('whencectl', ['logs', '--data', './none'], options).catch(
        (error: Error) => error.message,
      )
      expect(refused).to.contain('there is no data')
      const script = "await Promise.all([import('chdb'), import('lmdb')])"
      const installed = join(folder, 'prefix/lib/node_modules/whence-server')
      await run(join(installed, 'node_modules/.bin/node'), ['--input-type=module', '-e', script], { cwd: installed })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
