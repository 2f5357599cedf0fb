/** docs/vm.md, followed word for word on a machine in a folder. */

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { visitBody } from '../../../fixtures/service/requests.ts'
import { TEST_ORIGIN } from '../../../fixtures/service/service.ts'
import { ROOT } from '../../tidy/source-files.ts'
import { until } from '../../../fixtures/until.ts'
import { makeMachine, type Machine } from './machine.ts'

const run = promisify(execFile)

describe('one machine', function () {
  this.timeout(600_000)
  let machine: Machine

  before(async () => {
    machine = await makeMachine()
  })
  after(() => machine?.remove())

  it('gets packages by digest, without those that only build and test', async () => {
    const lock = JSON.parse(await readFile(machine.at('/built/npm-shrinkwrap.json'), 'utf8')) as {
      packages: Record<string, { integrity?: string; dependencies?: object; optionalDependencies?: object }>
    }
    const { '': own, ...others } = lock.packages
    const direct = Object.keys({ ...own?.dependencies, ...own?.optionalDependencies })
    expect(direct).to.include.members(['express', 'lmdb', 'chdb'])
    for (const name of direct) expect(others[`node_modules/${name}`]?.integrity, name).to.match(/^sha512-/)
    for (const name of ['mocha', 'typescript', 'eslint']) expect(others).not.to.have.property(`node_modules/${name}`)
  })

  it('gets the commands by npm, from any folder and through links', async () => {
    await machine.bring('1.0.0')
    expect(await machine.follow('Install')).to.match(/^whencectl 1\.0\.0$/m)
    expect(await machine.sh('cd / && kubectl-whence --help')).to.match(/^Usage: kubectl whence/)
  })

  it('starts the unit with its settings, and answers', async () => {
    await machine.follow('Settings')
    await machine.edit()
    await machine.follow('Start')
    await machine.ready()
    expect(await machine.follow('See that it works')).to.contain('"ok":true')
  })

  it('starts again with a file that lets pages give way', async () => {
    await machine.follow('Pages that give way')
    await machine.ready()
    const added = await readFile(machine.at('/etc/systemd/system/whence.service.d/priority.conf'), 'utf8')
    expect(added).to.contain('\nAmbientCapabilities=CAP_SYS_NICE\n')
  })

  it('collects behind TLS, and counts the address that the proxy saw', async () => {
    await machine.follow('TLS')
    const visit = async (): Promise<number> => postTls(machine.tlsPort, visitBody()).catch(() => 0)
    await until(async () => (await visit()) === 200)
    // Logs are written from the event log, a moment after the answer.
    const logs = (): Promise<string> => machine.sh('runuser -u whence -- whencectl logs --data /var/lib/whence --json')
    await until(async () => (await logs()).includes('"path":"/v1/visits"'))
  })

  it('keeps what was collected over a backup, an upgrade, a roll back and a restore', async () => {
    const visits = async (): Promise<number> => {
      const lines = await machine.sh('runuser -u whence -- whencectl logs --data /var/lib/whence --json')
      return lines.split('\n').filter((line) => line.includes('"path":"/v1/visits"')).length
    }
    const before = await visits()
    expect(await machine.follow('Backup')).to.contain('holds everything that was answered before')
    await machine.bring('1.1.0')
    await machine.follow('Upgrade')
    await machine.ready()
    expect(await machine.sh('whencectl --version')).to.equal('whencectl 1.1.0\n')
    expect(await postTls(machine.tlsPort, visitBody())).to.equal(200)
    await until(async () => (await visits()) === before + 1)
    await machine.bring('1.0.0')
    await machine.follow('Roll back')
    await machine.ready()
    expect(await machine.sh('whencectl --version')).to.equal('whencectl 1.0.0\n')
    expect(await visits()).to.equal(before)
    await machine.follow('Restore')
    await machine.ready()
    expect(await visits()).to.equal(before)
    expect(await postTls(machine.tlsPort, visitBody())).to.equal(200)
    expect(await machine.follow("A person's data")).to.contain('Erased: 1 installations, 0 visits, 0 install events')
  })

  it('stops when it is told to: the signal reaches the service', async () => {
    await machine.sh('systemctl stop whence')
    expect(await machine.journal()).to.match(/"reason":"SIGTERM"[\s\S]*"isClean":true/)
    expect(
      await fetch(`${machine.url}/health`).then(
        () => 'answers',
        () => 'gone',
      ),
    ).to.equal('gone')
  })

  it('has a unit that systemd accepts, with a small attack surface', async function () {
    const unit = machine.at('/etc/systemd/system/whence.service')
    const analyze = (...words: string[]) =>
      run('systemd-analyze', [...words, unit], { env: { ...process.env, LC_ALL: 'C' } })
    const found = await analyze('verify').catch((error: NodeJS.ErrnoException) => error)
    if ('code' in found && found.code === 'ENOENT') this.skip()
    expect(found).to.include({ stdout: '', stderr: '' })
    const { stdout } = await analyze('security', '--offline=true', '--threshold=20')
    expect(stdout).to.match(/Overall exposure level for whence\.service: 1\.\d OK/)
    expect(await readFile(join(ROOT, 'examples/vm/whence.service'), 'utf8')).to.contain(
      '\nExecStart=/usr/local/bin/whencectl embedded\n',
    )
  })
})

/** The status of a POST from the example's page; the certificate is of Caddy's own authority. */
function postTls(port: number, body: unknown): Promise<number> {
  const headers = { 'Content-Type': 'application/json', Origin: TEST_ORIGIN }
  return new Promise((resolve, reject) => {
    const options = { host: 'localhost', port, method: 'POST', path: '/v1/visits', headers, rejectUnauthorized: false }
    const req = request(options, (res) => resolve(res.resume().statusCode ?? 0))
    req.on('error', reject)
    req.end(JSON.stringify(body))
  })
}
