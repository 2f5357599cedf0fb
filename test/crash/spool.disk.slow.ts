/** A spool, and a whole service, on a disk that is really full: a small one of its own, in memory, that only the tested process sees. */

import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'

const CHILD = join(import.meta.dirname, 'spool.child.ts')
const FULL_CHILD = join(import.meta.dirname, 'full-disk.child.ts')
const SERVICE_CHILD = join(import.meta.dirname, 'full-service.child.ts')
const mount = (size: string): string => `mount -t tmpfs -o size=${size} tmpfs "$1" && shift && exec "$@"`
const MOUNT = mount('32m')
/** Above the 256 MB that the service leaves free. */
const ROOMY_MOUNT = mount('400m')
/** Ways to a private mount: as root or with a user namespace, otherwise with sudo. */
const APARTS: readonly (readonly string[])[] = [
  ['unshare', '-rm'],
  ['sudo', '-n', 'unshare', '-m'],
]

describe('a full disk', function () {
  this.timeout(120_000)
  let folder: string
  let apart: readonly string[]

  before(async function () {
    folder = await mkdtemp(join(tmpdir(), 'whence-full-'))
    const possible = APARTS.find(([file = '', ...args]) => {
      return spawnSync(file, [...args, 'sh', '-c', MOUNT, 'sh', folder, 'true']).status === 0
    })
    if (possible === undefined && process.env['CI'] === 'true') throw new Error('nothing can be mounted here')
    if (possible === undefined) return this.skip()
    apart = possible
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('refuses what it has no room for, loses nothing that it took, and continues when there is room again', async () => {
    const { status, stdout, stderr } = await run([
      ...apart,
      'sh',
      '-c',
      MOUNT,
      'sh',
      folder,
      process.execPath,
      CHILD,
      folder,
    ])
    expect(status, stderr).to.equal(0)
    const told = JSON.parse(stdout) as Record<string, number>
    expect(told).to.deep.include({ freeBytes: 0, lost: [], storedThoughRefused: [], twice: 0 })
    expect(told['answeredFirst']).to.be.greaterThan(300)
    expect(told['refusedFirst']).to.be.greaterThan(100)
    expect(told['spooledAfterRestart']).to.equal(told['answeredFirst'])
    // With the disk as full as before, but the spool brought to the log; then with room on the disk.
    expect(told['answeredDrained']).to.be.at.least(100)
    expect(told['answeredWithRoom']).to.be.at.least(500)
  })

  it('is said once in the log, in health and as activity, and again when it is over', async () => {
    const command = [...apart, 'sh', '-c', MOUNT, 'sh', folder, process.execPath, FULL_CHILD, folder]
    const { status, stdout, stderr } = await run(command)
    expect(status, stderr).to.equal(0)
    const told = JSON.parse(stdout) as Record<'lines' | 'whileFull' | 'afterwards' | 'entries', any>
    expect(told.lines).to.deep.equal([
      'error less than 256 MB free: nothing new is accepted',
      'info there is room on the disk again',
    ])
    expect(told.whileFull).to.include({ isAccepting: false, isDiskFull: true })
    expect(told.afterwards).to.include({ isAccepting: true }).and.not.have.property('isDiskFull')
    expect(told.entries).to.have.length(1)
    expect(told.entries[0]).to.include({ type: 'disk_full', subject: 'log' })
    expect(told.entries[0].message).to.match(/^There is room on the disk again; it was full since 20/)
  })

  for (const [kind, what] of [
    ['api', 'of an api is said once in its log, in /health, its status and its activity, and nothing it took is lost'],
    [
      'embedded',
      'of the embedded program is said in the same places, appends are refused, and nothing it took is lost',
    ],
  ] as const) {
    it(what, async () => {
      const child = [process.execPath, SERVICE_CHILD, folder, kind]
      const { status, stdout, stderr } = await run([...apart, 'sh', '-c', ROOMY_MOUNT, 'sh', folder, ...child])
      expect(status, stderr).to.equal(0)
      const told = JSON.parse(stdout) as Record<string, any>
      const { whileFull, afterwards, refusal, messages, entries, code } = told
      expect(whileFull.ready, 'what needs no disk is served').to.equal(200)
      expect(refusal.error).to.equal('unavailable')
      expect(Number(refusal.retryAfter)).to.be.greaterThan(0)
      expect(told).to.deep.include({ lost: [], storedTwice: [], storedThoughFull: [], storedUnasked: [] })
      for (const told of [whileFull.log, whileFull.health])
        expect(told).to.include({ isAccepting: false, isDiskFull: true })
      expect(afterwards.ready).to.equal(200)
      for (const told of [afterwards.log, afterwards.health])
        expect(told).to.include({ isAccepting: true }).and.not.have.property('isDiskFull')
      if (kind === 'api') {
        expect(whileFull.entries).to.be.at.least(whileFull.taken)
        expect(afterwards.entries).to.be.at.least(afterwards.taken)
      }
      expect(messages).to.deep.equal([
        'less than 256 MB free: nothing new is accepted',
        'there is room on the disk again',
      ])
      expect(entries.every(({ type }: any) => type === 'disk_full')).to.equal(true)
      // The entry about its beginning is stored only if there was room for it.
      const shown: string[] = entries.map(({ message }: any) => message.slice(0, 31))
      expect(shown.filter((message) => !messages[0].startsWith(message))).to.deep.equal([
        'There is room on the disk again',
      ])
      expect(code).to.equal(0)
    })
  }
})

function run([file = '', ...args]: readonly string[]): Promise<{
  status: number | null
  stdout: string
  stderr: string
}> {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (data) => (stdout += String(data)))
  child.stderr.on('data', (data) => (stderr += String(data)))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => resolve({ status, stdout, stderr }))
  })
}
