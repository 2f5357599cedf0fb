/** The installer's line in five shells, before a service that works, fails, hangs, or cuts what it sends. */

import { execFile } from 'node:child_process'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { expect } from 'chai'
import { installerLine } from '../../domain/collection/installer-line.ts'

const SCRIPT = 'echo reported >&2\n'
const SERVICES: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  works: (response) => response.end(SCRIPT),
  'answers with an error': (response) => response.writeHead(503).end('{"error":"unavailable"}'),
  'cuts the script': (response) => {
    response.writeHead(200, { 'content-length': 1_000 })
    response.write('{\necho cut >&2\n', () => response.destroy())
  },
  'never answers': () => undefined,
}
/** As far as a shell has them. */
const STRICT = 'set -eu; (set -o pipefail) 2>/dev/null && set -o pipefail;'
const SHELLS: Readonly<Record<string, string>> = { dash: STRICT, bash: STRICT, zsh: STRICT, ksh93: STRICT, tcsh: '' }
/** More than the line takes at most, with a slow machine's starts of programs. */
const PATIENCE_MS = 30_000

describe("the installer's line", function () {
  this.timeout(60_000)
  let server: Server
  let baseUrl: string

  before(async () => {
    server = createServer((request, response) =>
      SERVICES[decodeURIComponent(request.url ?? '').split('/')[1] ?? '']?.(response),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server?.closeAllConnections()
    server?.close()
  })

  for (const [shell, before] of Object.entries(SHELLS)) {
    it(`neither ends nor holds an installer in ${shell}`, async () => {
      const ran = Object.keys(SERVICES).map(async (service) => {
        const line = installerLine({
          baseUrl: `${baseUrl}/${encodeURIComponent(service)}`,
          website: 'acme-dev',
          path: 'cli',
        })
        return [service, await run(shell, `${before} ${line}\necho installed`)] as const
      })
      const outcomes = Object.fromEntries(await Promise.all(ran))
      for (const [service, { code, stdout }] of Object.entries(outcomes)) {
        expect({ code, stdout }, service).to.deep.equal({ code: 0, stdout: 'installed\n' })
      }
      expect(outcomes['works']?.stderr).to.equal('reported\n')
      expect(outcomes['cuts the script']?.stderr).to.not.match(/^cut$/m)
    })
  }

  it('does the same where nothing listens', async () => {
    const line = installerLine({ baseUrl: 'http://127.0.0.1:1', website: 'acme-dev', path: null })
    expect(line).to.include('/v1/projects/acme-dev/report.sh ')
    expect(await run('dash', `${STRICT} ${line}\necho installed`)).to.include({ code: 0, stdout: 'installed\n' })
  })
})

interface Ran {
  readonly code: number | string
  readonly stdout: string
  readonly stderr: string
}

function run(shell: string, script: string): Promise<Ran> {
  return new Promise((resolve) =>
    execFile(shell, ['-c', script], { timeout: PATIENCE_MS }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (error.code ?? error.signal ?? 'unknown'), stdout, stderr }),
    ),
  )
}
