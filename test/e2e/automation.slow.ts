/** Browsers that a script drives: their page views are recorded as that and count in no visit, those of people do. */

import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startExampleSite, type ExampleSite } from '../../bin/example-site.ts'
import { readFigures } from '../../dashboard/figures/read-figures.ts'
import { HOUR_MS } from '../../domain/durations.ts'
import { KEY_IDS } from '../../domain/receipt.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { startTestService, type TestService } from '../../fixtures/service/service.ts'
import { CHROMIUM_KIND, FIREFOX_KIND, type Window } from './support/browsers.ts'
import { manifestsFor } from './support/embedded-system.ts'

for (const kind of [CHROMIUM_KIND, FIREFOX_KIND])
  describe(`a page view of ${kind.name}`, function () {
    this.timeout(180_000)
    let home: string
    let service: TestService
    let site: ExampleSite
    let window: Window | undefined
    before(async () => {
      home = await mkdtemp(join(tmpdir(), 'whence-automation-'))
      const port = await freePort()
      service = await startTestService({ manifests: manifestsFor('Standard', port) })
      const listen = { host: '127.0.0.1', port }
      const { catalog, url, ga4 } = service
      site = await startExampleSite({ listen, catalog: catalog.current, baseUrl: url, ga4Url: ga4.url })
    })
    afterEach(() => window?.close())
    after(async () => {
      await site?.close()
      await service?.stop()
      await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    })

    /** Visits, and page views by who looked; an empty word is a person. */
    async function counted() {
      await service.drain()
      const nowMs = service.nowMs()
      const period = { sinceMs: nowMs - HOUR_MS, untilMs: nowMs + HOUR_MS }
      const figures = await readFigures(
        {
          nowMs,
          keyIds: KEY_IDS,
          reads: {
            websites: [{ id: 'acme-dev' }],
            run: (query, params) =>
              service.facts.run(query, { ...params, organization: 'acme', websites: ['acme-dev'] } as never),
          },
        },
        period,
        ['visits', 'visitor_kind'],
      )
      const kinds = figures.get('visitor_kind') ?? []
      return {
        visits: figures.get('visits')?.[0]?.[1] ?? 0,
        kinds: Object.fromEntries(kinds.map(([value, views]) => [value, views])),
      }
    }

    it('that a script drives is recorded as automation and counts in no visit', async () => {
      window = await kind.openAutomated(home)
      await window.visit(site.pageUrl)
      expect(await counted()).to.deep.equal({ visits: 0, kinds: { automation: 1 } })
    })

    it('that a person uses counts as a visit', async () => {
      window = await kind.open(join(home, 'person'))
      await window.visit(site.pageUrl)
      expect(await counted()).to.deep.equal({ visits: 1, kinds: { automation: 1, '': 1 } })
    })
  })
