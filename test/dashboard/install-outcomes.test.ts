/** What became of installs at advertising destinations, over real facts: every install is somewhere, and the sum is Installs. */

import { expect } from 'chai'

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import type { LogRecord } from '../../domain/records.ts'
import { middayClock } from '../../fixtures/clocks.ts'
import { deliveryRecord, installRecord } from '../contract/fact-samples.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { organizationOf, startStage, type Stage, websiteOf } from './support/stage.ts'

const clock = middayClock()
const NOW_MS = clock()
const OF = { website: 'acme-site', organization: 'acme' }
const MATCHED = {
  resolution: 'matched',
  selectionPolicy: 'handoff',
  visitId: 'visit-1',
  visitIssuedAtMs: NOW_MS,
} as const
const META = `---
apiVersion: v1
kind: Secret
metadata: { name: meta }
stringData: { token: not-a-real-one }
---
apiVersion: whence.dev/v1alpha1
kind: Destination
metadata: { name: acme-meta }
spec:
  websiteRef: { name: ${OF.website} }
  displayName: Ads
  provider: meta
  meta: { pixelId: '1234567890', accessTokenRef: { name: meta, key: token } }
`

let serial = 0

/** An install, and how its delivery to Meta stands; without one if `status` is absent. */
function installWith(status?: string, reason = '', changes: object = {}): readonly LogRecord[] {
  const receivedAtMs = NOW_MS - HOUR_MS - ++serial * MINUTE_MS
  const eventId = `told-${serial}`
  const install = installRecord({
    ...OF,
    ...MATCHED,
    eventId,
    installationId: `machine-${serial}`,
    receivedAtMs,
    ...changes,
  })
  return status === undefined ? [install] : [install, toldOf(eventId, receivedAtMs, { status, reason })]
}

function toldOf(eventId: string, receivedAtMs: number, state: object): LogRecord {
  const about = {
    ...OF,
    eventId,
    destination: 'acme-meta',
    provider: 'meta' as const,
    installReceivedAtMs: receivedAtMs,
    atMs: receivedAtMs,
  }
  return deliveryRecord({ ...about, ...state })
}

describe('installs at advertising destinations', function () {
  this.timeout(120_000)
  let facts: TestFacts
  let stage: Stage
  let cookies: string
  before(async () => {
    facts = await openTestFacts()
    const members = { 'anna@acme.dev': 'Viewer' }
    stage = await startStage({
      manifests: organizationOf('acme', { members }) + websiteOf(OF.website, 'acme') + META,
      facts,
      clock,
    })
    cookies = await stage.signIn('anna@acme.dev')
    const late = NOW_MS - 3 * DAY_MS
    const unmatched = {
      resolution: 'unmatched',
      selectionPolicy: 'none',
      visitId: null,
      visitIssuedAtMs: null,
    } as const
    const ofLate = { ...OF, installationId: 'machine-late' }
    const early = NOW_MS - 5 * DAY_MS
    const ofShy = { ...OF, installationId: 'machine-shy' }
    await storeCounted(
      facts,
      [
        ...installWith('delivered'),
        ...installWith('delivered'),
        ...installWith('pending'),
        ...installWith('retrying', 'http_503'),
        ...installWith('failed', 'refused'),
        ...installWith('expired', 'deadline_passed'),
        ...installWith('skipped', 'gpc'),
        ...installWith('skipped', 'no_identifier'),
        ...installWith('skipped', 'no_identifier'),
        ...installWith(),
        // Without a visit: skipped, until a later event of the same machine has one.
        installRecord({ ...ofLate, ...unmatched, eventId: 'late-1', receivedAtMs: late }),
        toldOf('late-1', late, { status: 'skipped', reason: 'unmatched' }),
        installRecord({
          ...ofLate,
          ...MATCHED,
          eventId: 'late-2',
          eventType: 'first_run',
          receivedAtMs: late + HOUR_MS,
        }),
        toldOf('late-2', late + HOUR_MS, { status: 'delivered' }),
        // No install: a reinstall, CI, and what another destination got.
        installRecord({ ...ofLate, ...MATCHED, eventId: 'late-3', receivedAtMs: late + 2 * DAY_MS }),
        toldOf('late-3', late + 2 * DAY_MS, { status: 'skipped', reason: 'not_an_install' }),
        // The install has a visit, though not by itself: that of the event which has it says why nothing was told.
        installRecord({ ...ofShy, ...unmatched, eventId: 'shy-1', receivedAtMs: early }),
        toldOf('shy-1', early, { status: 'skipped', reason: 'unmatched' }),
        installRecord({
          ...ofShy,
          ...MATCHED,
          eventId: 'shy-3',
          eventType: 'first_run',
          receivedAtMs: early + HOUR_MS,
        }),
        toldOf('shy-3', early + HOUR_MS, { status: 'skipped', reason: 'no_identifier' }),
        installRecord({ ...ofShy, ...MATCHED, eventId: 'shy-2', receivedAtMs: early + 2 * HOUR_MS }),
        toldOf('shy-2', early + 2 * HOUR_MS, { status: 'skipped', reason: 'not_an_install' }),
        ...installWith('skipped', 'ci', { isCi: true }),
        deliveryRecord({ ...OF, eventId: 'told-1', destination: 'acme-ga4', provider: 'ga4', status: 'failed' }),
        deliveryRecord({
          website: 'acme-site',
          organization: 'other',
          eventId: 'told-1',
          provider: 'meta' as const,
          status: 'failed',
        }),
      ],
      clock,
    )
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  const read = async (query = '') => {
    const { status, body, text } = await stage.ask('GET', `/api/organizations/acme/deliveries/installs${query}`, {
      cookies,
    })
    expect(status, text).to.equal(200)
    return body['destinations'] as readonly Record<string, any>[]
  }

  it('are delivered, wait, have ended otherwise or have no delivery, and add up to Installs', async () => {
    const [meta, ...more] = await read()
    expect(more).to.deep.equal([])
    expect(meta).to.deep.equal({
      website: OF.website,
      id: 'acme-meta',
      displayName: 'Ads',
      provider: 'meta' as const,
      installs: 12,
      delivered: 3,
      waiting: 2,
      failed: 1,
      expired: 1,
      skipped: [
        { reason: 'no_identifier', installs: 3 },
        { reason: 'gpc', installs: 1 },
      ],
      none: 1,
    })
    const { body } = await stage.ask('GET', '/api/organizations/acme/overview', { cookies })
    expect(body['total'].installs.installs).to.equal(meta?.['installs'])
  })

  it('are those of the period and of the filters', async () => {
    const date = new Date(NOW_MS - 3 * DAY_MS).toISOString().slice(0, 10)
    const [late] = await read(`?from=${date}&to=${date}`)
    expect(late).to.include({ installs: 1, delivered: 1, none: 0 })
    expect(late?.['skipped']).to.deep.equal([])
    const shyDate = new Date(NOW_MS - 5 * DAY_MS).toISOString().slice(0, 10)
    const [shy] = await read(`?from=${shyDate}&to=${shyDate}`)
    expect(shy?.['skipped']).to.deep.equal([{ reason: 'no_identifier', installs: 1 }])
    const [none] = await read('?filter=version:is:9.9.9')
    expect(none).to.include({ installs: 0, delivered: 0, none: 0 })
  })
})
