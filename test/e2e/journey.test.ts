/** The whole way in both real browsers and every shell: from the page to the row in ClickHouse and the hit at GA4. */

import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { markersOnDisk } from '../sdk/support/browsers.ts'
import { CHROMIUM_KIND, FIREFOX_KIND, type BrowserKind, type Window } from './support/browsers.ts'
import { startEmbeddedSystem } from './support/embedded-system.ts'
import { answerTo, install, SHELLS, type Installed } from './support/installer.ts'
import type { StartSystem, System } from './support/system.ts'

const DAY_MS = 86_400_000

journeys('embedded', startEmbeddedSystem)

/** Another wiring of the service joins with one more line above. */
function journeys(wiring: string, start: StartSystem): void {
  for (const kind of [CHROMIUM_KIND, FIREFOX_KIND]) {
    describe(`from a visit in ${kind.name} to a matched install (${wiring})`, function () {
      this.timeout(60_000)
      journey(start, kind)
    })
  }
}

function journey(start: StartSystem, kind: BrowserKind): void {
  let system: System
  let folder: string
  let home: string
  let window: Window
  let clientId: string
  let marker: Record<string, any>

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

  for (const shell of SHELLS) {
    it(`is found by the hook in ${shell}: one row and one hit that name this visit`, async () => {
      const installed = await install({ command: system.command, home, shell })
      isUnharmed(installed)
      expect(installed.request).to.deep.include({ receipts: [marker['receipt']], browsers: [kind.hookName] })
      const answer = await answerTo(system.gate.url, installed)
      expect(answer).to.deep.include({ duplicate: true, resolution: 'matched', candidate_count: 1 })
      expect(answer).to.include({ selection_policy: 'latest_visit' })
      await system.drain()
      await expectOneVisit(system, installed, clientId)
    })
  }
}

/** The row, the visit it names, and the hit at GA4 are about one and the same visit, and the hit is valid. */
async function expectOneVisit(system: System, installed: Installed, clientId: string): Promise<void> {
  const { install: row, visits, deliveries } = await system.explain(installed.request?.['event_id'])
  expect(row).to.include({ resolution: 'matched', installation_id: installed.request?.['installation_id'] })
  const [visit] = visits
  expect(visits.length).to.equal(1)
  expect(visit).to.include({ visit_id: row.visit_id, page_url: new URL('/', system.pageUrl).href })
  expect(visit).to.include({ utm_source: 'newsletter', utm_campaign: 'launch' })
  const identity = JSON.parse(visit?.identities ?? '{}').ga4[system.measurementId]
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
void DAY_MS
