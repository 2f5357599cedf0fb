/** The whole path in both real browsers and every shell: from the page to the row in ClickHouse and the hit at GA4. */

import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { markersOnDisk } from './support/markers.ts'
import { CHROMIUM_KIND, FIREFOX_KIND, type BrowserKind, type Window } from './support/browsers.ts'
import { sharesEngines, startDistributedSystem } from './support/distributed-system.ts'
import { startEmbeddedSystem } from './support/embedded-system.ts'
import { answerTo, install, SHELLS, type Installed } from './support/installer.ts'
import type { StartSystem, System } from './support/system.ts'

const DAY_MS = 86_400_000

/** Every shell, both browsers and both wirings, but not all of them with each other: none knows which of the others it meets. */
const JOURNEYS = [
  { wiring: 'embedded', start: startEmbeddedSystem, kind: CHROMIUM_KIND, shells: SHELLS },
  { wiring: 'embedded', start: startEmbeddedSystem, kind: FIREFOX_KIND, shells: ['dash'] },
  { wiring: 'distributed', start: startDistributedSystem, kind: CHROMIUM_KIND, shells: ['dash'] },
] as const

for (const { wiring, start, kind, shells } of JOURNEYS)
  describe(`from a visit in ${kind.name} to a matched install (${wiring})`, function () {
    this.timeout(180_000)
    journey(start, kind, shells)
    sharesEngines()
  })

function journey(start: StartSystem, kind: BrowserKind, shells: readonly string[]): void {
  let system: System
  let folder: string
  let home: string
  let window: Window
  let clientId: string
  let marker: Record<string, any>
  let lastEventId: string

  before(async () => {
    system = await start({ plan: 'Standard' })
    folder = await mkdtemp(join(tmpdir(), 'whence-e2e-home-'))
    home = join(folder, 'visitor')
    window = await kind.open(home)
    await window.visit(system.pageUrl)
    clientId = await window.clientId()
  })
  after(async () => {
    await window?.close()
    await system?.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })

  const isUnharmed = ({ status, stdout, stderr }: Installed): void => {
    expect({ status, stdout, stderr }).to.deep.equal({ status: 0, stdout: '', stderr: '' })
  }

  it('leaves one marker of 1,021 bytes on disk', async () => {
    const markers = await markersOnDisk(home)
    expect(markers.length).to.equal(1)
    marker = JSON.parse(markers[0] ?? '')
    expect(marker).to.include({ format: 'opfs-install-attribution', version: 1, project: system.website })
    expect(marker['origin']).to.equal(new URL(system.pageUrl).origin)
  })

  for (const shell of shells) {
    it(`is found by the hook in ${shell}: one row and one hit that name this visit`, async () => {
      const installed = await install({ command: system.command, home, shell })
      isUnharmed(installed)
      expect(installed.request).to.deep.include({ receipts: [marker['receipt']], browsers: [kind.hookName] })
      const answer = await answerTo(system.gate.url, installed)
      expect(answer).to.deep.include({ duplicate: true, resolution: 'matched', candidate_count: 1 })
      expect(answer).to.include({ selection_policy: 'latest_visit' })
      await system.drain()
      await expectOneVisit(system, installed, clientId)
      lastEventId = installed.request?.['event_id']
    })
  }

  it('is explained by `whencectl explain`', async () => {
    const story = await system.tool('explain', lastEventId)
    for (const words of [lastEventId, system.website, 'matched', 'newsletter', 'acme-ga4', 'delivered', 'session']) {
      expect(story).to.include(words)
    }
    expect(story).to.not.include(marker['receipt'])
    expect(story).to.not.include(clientId)
  })

  it('works on another machine with the copied command', async () => {
    const command = await window.copyCommand()
    expect(command).to.match(/ --handoff wht_[\w-]{43}$/)
    const installed = await install({ command, home: join(folder, 'another-machine') })
    isUnharmed(installed)
    expect(installed.request).to.deep.include({ receipts: [] })
    const answer = await answerTo(system.gate.url, installed)
    expect(answer).to.include({ resolution: 'matched', candidate_count: 1, selection_policy: 'handoff' })
    await system.drain()
    await expectOneVisit(system, installed, clientId)
  })

  it('matches the newer visit of two, and no longer the one that it replaced', async () => {
    const backup = join(folder, 'backup')
    await kind.copyStorage(home, backup)
    await window.visit(system.pageUrl)
    const newer = await install({ command: system.command, home })
    const older = await install({ command: system.command, home: backup })
    expect(older.request).to.deep.include({ receipts: [marker['receipt']] })
    expect(newer.request?.['receipts'].length).to.equal(1)
    expect(newer.request?.['receipts']).to.not.deep.equal(older.request?.['receipts'])
    expect(await answerTo(system.gate.url, newer)).to.include({ resolution: 'matched', candidate_count: 1 })
    expect(await answerTo(system.gate.url, older)).to.include({ resolution: 'unmatched', candidate_count: 0 })
    await system.drain()
    expect(await verdictsOf(system, older)).to.deep.equal(['revoked'])
    expect(await system.tool('explain', older.request?.['event_id'])).to.include('a newer visit replaced it')
  })

  it('has caused nothing visible on the page', () => {
    expect(window.complaints).to.deep.equal([])
  })

  it('ends 30 days later: the marker is found and the visit matches no more', async () => {
    system.advance(31 * DAY_MS)
    const installed = await install({ command: system.command, home })
    isUnharmed(installed)
    expect(installed.request?.['receipts'].length).to.equal(1)
    const answer = await answerTo(system.gate.url, installed)
    expect(answer).to.include({ resolution: 'unmatched', candidate_count: 0, selection_policy: 'none' })
    await system.drain()
    expect(await verdictsOf(system, installed)).to.deep.equal(['expired'])
  })

  it('leaves nothing behind from a private window, in which the copied command still works', async () => {
    await window.close()
    const privateHome = join(folder, 'private')
    window = await kind.openPrivate(privateHome)
    await window.visit(system.pageUrl)
    const command = await window.copyCommand()
    expect(window.complaints).to.deep.equal([])
    expect(await markersOnDisk(privateHome)).to.deep.equal([])
    const found = await install({ command: system.command, home: privateHome })
    isUnharmed(found)
    expect(found.request).to.deep.include({ receipts: [] })
    expect(await answerTo(system.gate.url, found)).to.include({ resolution: 'unmatched' })
    const handedOver = await install({ command, home: privateHome })
    expect(await answerTo(system.gate.url, handedOver)).to.include({ resolution: 'matched' })
  })
}

async function verdictsOf(system: System, installed: Installed): Promise<readonly string[]> {
  const { verdicts } = await system.explain(installed.request?.['event_id'])
  return verdicts.map(({ verdict }) => verdict)
}

/** The row, the visit it names, and the hit at GA4 are about one and the same visit, and the hit is valid. */
async function expectOneVisit(system: System, installed: Installed, clientId: string): Promise<void> {
  const { install: row, visits, deliveries } = await system.explain(installed.request?.['event_id'])
  expect(row).to.include({ resolution: 'matched', installation_id: installed.request?.['installation_id'] })
  const [visit] = visits
  expect(visits.length).to.equal(1)
  expect(visit).to.include({ visit_id: row.visit_id, page_url: new URL('/', system.pageUrl).href })
  expect(visit).to.include({ utm_source: 'newsletter', utm_campaign: 'launch' })
  const identity = (visit?.identities as any).ga4[system.measurementId]
  expect(identity.client_id).to.equal(clientId)
  expect(deliveries.map(({ status }) => status)).to.deep.equal(['delivered'])
  const hits = system.ga4Hits().filter(({ body }) => paramsOf(body)['install_id'] === deliveries[0]?.job_id)
  expect(hits.length).to.equal(1)
  expect(hits[0]?.messages).to.deep.equal([])
  expect(hits[0]?.body).to.include({ client_id: clientId })
  expect(paramsOf(hits[0]?.body)['session_id']).to.equal(identity.session_id)
}

function paramsOf(hit: any): Record<string, unknown> {
  return hit.events[0].params
}
