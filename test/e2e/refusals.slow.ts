/** What must not happen: people who opt out, plans that count or are used up, and a service that is unreachable. */

import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { markersOnDisk } from './support/markers.ts'
import { CHROMIUM_KIND, type Window } from './support/browsers.ts'
import { startEmbeddedSystem } from './support/embedded-system.ts'
import { answerTo, install, SHELLS, type Installed } from './support/installer.ts'
import type { System, SystemOptions } from './support/system.ts'

describe('opting out, plans, and a service that is unreachable', function () {
  this.timeout(180_000)
  let folder: string
  let home: string
  let system: System | undefined
  let window: Window | undefined

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-e2e-home-'))
  })
  after(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

  /** A system of this kind and a page in Chromium whose visit was answered. */
  const begin = async (options: SystemOptions) => {
    home = await mkdtemp(join(folder, 'visitor-'))
    system = await startEmbeddedSystem(options)
    window = await CHROMIUM_KIND.open(home)
    await window.visit(system.pageUrl)
    return { system, window }
  }
  const end = async (): Promise<void> => {
    await window?.close()
    await system?.stop()
  }

  describe('on a plan that matches', () => {
    let scriptFile: string
    let running: { readonly system: System; readonly window: Window }
    before(async () => {
      running = await begin({ plan: 'Standard' })
      scriptFile = join(folder, 'report.sh')
      const url = /https?:\S+/.exec(running.system.command)?.[0]
      const fetched = await install({ command: `curl -fsSL -o ${scriptFile} ${url}`, home })
      expect(fetched).to.include({ status: 0, stderr: '' })
    })
    after(end)

    /** The script has been fetched already, so only the hook's requests reach the gate. */
    const installFromFile = (shell: string, env: Readonly<Record<string, string>> = {}): Promise<Installed> =>
      install({ command: `cat ${scriptFile} | sh -s -- install_completed`, home, shell, env })

    for (const shell of SHELLS) {
      it(`sends no packet with DO_NOT_TRACK in ${shell}`, async () => {
        const before = running.system.gate.connections()
        const { status, stdout, stderr, request } = await installFromFile(shell, { DO_NOT_TRACK: '1' })
        expect({ status, stdout, stderr, request }).to.deep.equal({
          status: 0,
          stdout: '',
          stderr: '',
          request: null,
        })
        expect(running.system.gate.connections()).to.equal(before)
      })
    }

    it('sends one request without it', async () => {
      const before = running.system.gate.connections()
      const installed = await installFromFile('dash')
      expect(running.system.gate.connections()).to.equal(before + 1)
      expect(await answerTo(running.system.gate.url, installed)).to.include({ resolution: 'matched' })
    })

    for (const how of ['refusing', 'silent'] as const) {
      it(`harms neither page nor installer while the service is ${how}`, async () => {
        await running.system.gate.shut(how)
        const { status, stdout, stderr } = await installFromFile('dash')
        expect({ status, stdout, stderr }).to.deep.equal({ status: 0, stdout: '', stderr: '' })
        // The script does not arrive while the service is silent; the page must not wait for it.
        await running.window.open(running.system.pageUrl)
        expect(await running.window.copyWithoutService()).to.equal(running.system.command)
        expect(running.window.complaints).to.deep.equal([])
        // A pipe from a curl that got nothing is an empty script.
        const piped = await install({ command: `${running.system.command} `.replace('curl', 'curl -m 2'), home })
        expect(piped.status).to.equal(0)
      })
    }

    it('works as before when the service is back', async () => {
      await running.system.reopen()
      await running.window.visit(running.system.pageUrl)
      const installed = await install({ command: running.system.command, home })
      expect(await answerTo(running.system.gate.url, installed)).to.include({ resolution: 'matched' })
    })
  })

  describe('on Free', () => {
    after(end)

    it('counts the install and reads no receipt', async () => {
      const { system } = await begin({ plan: 'Free' })
      const installed = await install({ command: system.command, home })
      expect(installed.request?.['receipts'].length).to.equal(1)
      const answer = await answerTo(system.gate.url, installed)
      expect(answer).to.deep.include({ resolution: 'counted', candidate_count: 0 })
      expect(answer['ga']).to.deep.equal({ status: 'not_queued', deliveries: [] })
      await system.drain()
      const { install: row, verdicts } = await system.explain(installed.request?.['event_id'])
      expect(row).to.include({ resolution: 'counted', visit_id: '' })
      expect(verdicts).to.deep.equal([])
      expect(system.ga4Hits()).to.deep.equal([])
    })
  })

  describe('over the quota of Free', () => {
    after(end)

    it('answers as usual, says that nothing is recorded, and stores nothing', async () => {
      const { system, window } = await begin({ plan: 'Free', isOverQuota: true })
      expect((await markersOnDisk(home)).length).to.be.greaterThan(0)
      const command = await window.copyCommand()
      expect(command).to.include(' --handoff wht_')
      for (const each of [system.command, command]) {
        const installed = await install({ command: each, home })
        const answer = await answerTo(system.gate.url, installed)
        expect(answer).to.include({ ok: true, duplicate: false, recorded: false, resolution: 'counted' })
      }
      await system.drain()
      const { request_logs: logs, activity, ...facts } = await system.counts()
      expect(logs).to.be.greaterThan(0)
      expect(activity).to.be.greaterThan(0)
      expect(
        Object.values(facts).every((rows) => rows === 0),
        JSON.stringify(facts),
      ).to.equal(true)
    })
  })
})
