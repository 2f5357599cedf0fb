import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

import { expect } from 'chai'
import fc from 'fast-check'

import {
  jobFor,
  jobIdOf,
  planDecided,
  planDeliveries,
  visitSkip,
  type PlanInput,
} from '../../domain/delivery/deliveries.ts'
import { gaOf } from '../../domain/collection/install.ts'
import { type Identities } from '../../domain/model.ts'
import { PROVIDER_DESCRIPTORS, PROVIDER_IDS, type ProviderId } from '../../domain/providers/index.ts'
import {
  DAY_MS,
  destinationOf,
  HOUR_MS,
  installOf,
  MEASUREMENT_ID,
  NOON_MS,
  visitOf,
} from '../../fixtures/delivery/builders.ts'
import { ACTIVITY_TYPES, DELIVERY_REASONS } from '../../domain/reasons.ts'

const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex')

function planOf(input: Partial<PlanInput>): ReturnType<typeof planDeliveries> {
  return planDeliveries({
    destinations: [destinationOf()],
    eventType: 'install_completed',
    resolution: 'matched',
    visitIssuedAtMs: NOON_MS - HOUR_MS,
    receivedAtMs: NOON_MS,
    isCi: false,
    isContainer: false,
    nowMs: NOON_MS,
    isTest: false,
    ...input,
  })
}

describe('the plan of deliveries', () => {
  it('gives one delivery per destination, in the order of the catalog', () => {
    const destinations = [destinationOf({ id: 'second' }), destinationOf({ id: 'first', provider: 'meta' })]
    const plans = planOf({ destinations })
    expect(plans.map((plan) => [plan.destination, plan.provider])).to.deep.equal([
      ['second', 'ga4'],
      ['first', 'meta'],
    ])
  })

  it('gives none if the website has no destination, and says `not_queued`', () => {
    const plans = planOf({ destinations: [] })
    expect(plans).to.deep.equal([])
    expect(gaOf(plans)).to.deep.equal({ status: 'not_queued', deliveries: [] })
  })

  const SKIPS: readonly [string, Partial<PlanInput>][] = [
    ['destination_paused', { destinations: [destinationOf({ mode: 'Paused' })] }],
    ['event_type_not_selected', { destinations: [destinationOf({ eventTypes: ['first_run'] })] }],
    ['ci', { isCi: true }],
    ['ci', { isContainer: true, resolution: 'unmatched', visitIssuedAtMs: null }],
    ['unmatched', { resolution: 'unmatched', visitIssuedAtMs: null }],
    ['counted', { resolution: 'counted', visitIssuedAtMs: null }],
    ['too_old', { nowMs: NOON_MS + 71 * HOUR_MS }],
  ]
  for (const [reason, input] of SKIPS) {
    it(`skips with the reason ${reason}, and sends no session`, () => {
      expect(planOf(input)).to.deep.equal([
        { destination: 'acme-ga4', provider: 'ga4', status: 'skipped', sessionMode: 'none', reason },
      ])
    })
  }

  it('plans an install in CI for a destination that includes them', () => {
    const destinations = [destinationOf({ ci: 'Include' })]
    expect(planOf({ destinations, isCi: true, isContainer: true })[0]?.status).to.equal('pending')
  })

  it('still plans an install of just under the age limit', () => {
    expect(planOf({ nowMs: NOON_MS + 71 * HOUR_MS - 1 })[0]?.status).to.equal('pending')
  })

  for (const hours of [1, 24, 72, 168]) {
    it(`uses the original session up to ${hours} h after the visit and only the client beyond`, () => {
      const destinations = [destinationOf({ reconstructionWindowHours: hours })]
      const modeAt = (visitIssuedAtMs: number): unknown => planOf({ destinations, visitIssuedAtMs })[0]?.sessionMode
      expect(modeAt(NOON_MS - hours * HOUR_MS)).to.equal('original_session_window')
      expect(modeAt(NOON_MS - hours * HOUR_MS - 1)).to.equal('client_only')
    })
  }

  it('answers the first delivery as the aggregate, and each one with its session mode', () => {
    const destinations = [destinationOf({ mode: 'Paused' }), destinationOf({ id: 'other' })]
    expect(gaOf(planOf({ destinations }))).to.deep.equal({
      status: 'skipped',
      deliveries: [
        { destination: 'acme-ga4', status: 'skipped', session_mode: 'none' },
        { destination: 'other', status: 'pending', session_mode: 'original_session_window' },
      ],
    })
  })
})

describe('the plan of a pending install', () => {
  const destinations = [
    destinationOf(),
    destinationOf({ id: 'paused', mode: 'Paused' }),
    destinationOf({ id: 'starts-only', eventTypes: ['install_started'] }),
  ]
  const reported = planOf({ destinations, resolution: 'pending', visitIssuedAtMs: null })
  const decided = (resolution: 'matched' | 'unmatched', visitIssuedAtMs: number | null, now = destinations) =>
    planDecided(reported, {
      destinations: now,
      eventType: 'install_completed',
      resolution,
      visitIssuedAtMs,
      receivedAtMs: NOON_MS,
      isCi: false,
      isContainer: false,
      nowMs: NOON_MS + HOUR_MS,
      isTest: false,
    }).map((plan) => [plan.destination, plan.status, plan.reason, plan.sessionMode])

  it('names what is certainly not sent, and leaves the rest open', () => {
    expect(reported.map((plan) => [plan.status, plan.reason, plan.sessionMode])).to.deep.equal([
      ['pending', '', 'none'],
      ['skipped', 'destination_paused', 'none'],
      ['skipped', 'event_type_not_selected', 'none'],
    ])
    expect(gaOf(reported).status).to.equal('pending')
  })

  it('names the session once the visit is known', () => {
    expect(decided('matched', NOON_MS - HOUR_MS)[0]).to.deep.equal([
      'acme-ga4',
      'pending',
      '',
      'original_session_window',
    ])
    expect(decided('matched', NOON_MS - 10 * DAY_MS)[0]).to.deep.equal(['acme-ga4', 'pending', '', 'client_only'])
  })

  it('is skipped if there is no visitor to report', () => {
    expect(decided('unmatched', null)).to.deep.equal([
      ['acme-ga4', 'skipped', 'unmatched', 'none'],
      ['paused', 'skipped', 'destination_paused', 'none'],
      ['starts-only', 'skipped', 'event_type_not_selected', 'none'],
    ])
  })

  it('keeps what was planned, whatever became of the destinations since', () => {
    const now = [destinationOf({ id: 'paused' }), destinationOf({ id: 'new' })]
    expect(decided('matched', NOON_MS - HOUR_MS, now)).to.deep.equal([
      ['acme-ga4', 'pending', '', 'client_only'],
      ['paused', 'skipped', 'destination_paused', 'none'],
      ['starts-only', 'skipped', 'event_type_not_selected', 'none'],
    ])
  })
})

describe('what the visit itself rules out', () => {
  const ALL: Identities = {
    ga4: { [MEASUREMENT_ID]: { client_id: '1.2' } },
    google_ads: { gclid: 'g' },
    meta: { fbp: 'f' },
    tiktok: { ttp: 't' },
    x: { twclid: 'x' },
  }

  it('sends nothing to advertising providers if the visit or the receipt carries GPC, and still sends to GA4', () => {
    for (const provider of PROVIDER_IDS) {
      const destination = destinationOf({ provider })
      const expected = provider === 'ga4' ? null : 'gpc'
      expect(visitSkip({ gpc: false }, visitOf({ gpc: true, identities: ALL }), destination), provider).to.equal(
        expected,
      )
      expect(visitSkip({ gpc: true }, visitOf({ identities: ALL }), destination), provider).to.equal(expected)
      expect(visitSkip({ gpc: false }, visitOf({ identities: ALL }), destination), provider).to.equal(null)
    }
  })

  it('skips a provider of which the visit has no identifier', () => {
    const visit = visitOf({ identities: { x: { twclid: 'x' } } })
    expect(visitSkip({ gpc: false }, visit, destinationOf({ provider: 'meta' }))).to.equal('no_identifier')
    expect(visitSkip({ gpc: false }, visit, destinationOf({ provider: 'x' }))).to.equal(null)
  })

  it('requires a client ID of that same measurement ID for GA4', () => {
    const identities = { ga4: { 'G-OTHER': { client_id: '1.2' } } }
    expect(visitSkip({ gpc: false }, visitOf({ identities }), destinationOf())).to.equal('no_client_id')
  })

  for (const clientId of [
    '',
    '0.1',
    '1',
    '1.2.3',
    'a.b',
    '1.2 ',
    '-1.2',
    'GA1.1.1.2',
    '1,2',
    'GA1.1.1234567890.1790000000',
    'x'.repeat(257),
    '550e8400 e29b 41d4 a716 446655440000',
  ]) {
    it(`does not accept ${JSON.stringify(clientId)} as a GA4 client ID`, () => {
      const identities = { ga4: { [MEASUREMENT_ID]: { client_id: clientId } } }
      expect(visitSkip({ gpc: false }, visitOf({ identities }), destinationOf())).to.equal('no_client_id')
    })
  }
})

describe('a GA4 client ID', () => {
  for (const clientId of [
    '1234567890.1790000000',
    '550e8400-e29b-41d4-a716-446655440000',
    '550E8400E29B41D4A716446655440000',
    'amp-Xy_0-AbCdEfGhIjKlMnOpQ',
    '01J9ZQ4T2V7K3M5N8P0R6S1W4X',
    '550e8400-e29b-41d4-a716-446655440000.1790000000',
  ]) {
    it(`may be ${clientId}`, () => {
      const identities = { ga4: { [MEASUREMENT_ID]: { client_id: clientId } } }
      expect(visitSkip({ gpc: false }, visitOf({ identities }), destinationOf())).to.equal(null)
    })
  }
})

describe('the ID of a job', () => {
  it('is the first half of a SHA-256 over organisation, website, event and destination, apart from each other', () => {
    const expected = sha256Hex('acme\u0000acme-dev\u0000event-0001\u0000acme-ga4').slice(0, 32)
    expect(
      jobIdOf({ organization: 'acme', website: 'acme-dev', eventId: 'event-0001', destination: 'acme-ga4' }, sha256Hex),
    ).to.equal(expected)
    expect(expected).to.match(/^[0-9a-f]{32}$/)
  })

  it('differs as soon as one of the three differs, however they are cut', () => {
    const part = fc.stringMatching(/^[a-z0-9_-]{1,8}$/)
    fc.assert(
      fc.property(part, part, part, part, part, part, (a, b, c, d, e, f) => {
        const one = jobIdOf({ organization: 'acme', website: a, eventId: b, destination: c }, sha256Hex)
        const other = jobIdOf({ organization: 'acme', website: d, eventId: e, destination: f }, sha256Hex)
        expect(one === other).to.equal(a === d && b === e && c === f)
      }),
    )
  })
})

describe('a job', () => {
  const jobOf = (provider: ProviderId): ReturnType<typeof jobFor> => {
    const visit = visitOf({
      identities: {
        ga4: { [MEASUREMENT_ID]: { client_id: '1.2' } },
        meta: { fbp: 'fb.1.2.3' },
        custom: { crm: { id: 'c' } },
      },
    })
    const install = installOf({ visit, destinations: [destinationOf({ provider })] })
    const plan = install.deliveries[0]
    if (plan === undefined) throw new Error('no plan')
    return jobFor(
      { install, visit, plan, kind: 'install', catalogNumber: 1, retentionDays: 395, logRetentionDays: 30 },
      sha256Hex,
    )
  }

  it('carries only the identifiers of its own provider', () => {
    expect(Object.keys(jobOf('ga4').visit.identities)).to.deep.equal(['ga4'])
    expect(Object.keys(jobOf('meta').visit.identities)).to.deep.equal(['meta'])
    expect(Object.keys(jobOf('x').visit.identities)).to.deep.equal([])
  })

  it('may be delivered as long as its provider takes the install: 71 h for GA4, less than 7 days for Meta', () => {
    expect(jobOf('ga4').deadlineAtMs - NOON_MS).to.equal(71 * HOUR_MS)
    expect(jobOf('meta').deadlineAtMs - NOON_MS).to.be.lessThan(7 * DAY_MS)
    for (const provider of PROVIDER_IDS) {
      expect(jobOf(provider).deadlineAtMs - NOON_MS).to.equal(PROVIDER_DESCRIPTORS[provider].maxAgeMs)
    }
  })

  it('is the same job whenever it is made', () => {
    expect(jobOf('ga4')).to.deep.equal(jobOf('ga4'))
    expect(JSON.stringify(jobOf('ga4'))).not.to.contain('installation-0001')
  })
})

describe('the reasons of deliveries', () => {
  const page = readFileSync(new URL('../../docs/deliveries.md', import.meta.url), 'utf8')

  for (const [reason, row] of Object.entries(DELIVERY_REASONS)) {
    it(`are documented: ${reason}`, () => {
      expect(page).to.contain(`| \`${reason}\` | \`${row.status}\` | ${row.when} |`)
    })
  }

  it('has no row in the documentation that the table does not have', () => {
    const documented = [...page.matchAll(/^\| `([a-z_]+)` \| `(?:skipped|retrying|expired|failed)` \|/gm)].map(
      ([, name]) => name,
    )
    expect(documented).to.have.members(Object.keys(DELIVERY_REASONS))
  })
})

describe('the types of activity', () => {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  const table = /\| Activity \| Meaning \|\n\| --- \| --- \|\n((?:\|.*\n)*)/.exec(page)?.[1] ?? ''

  it('are documented, and no other is', () => {
    const rows = Object.entries(ACTIVITY_TYPES).map(([type, when]) => `| \`${type}\` | ${when} |\n`)
    expect(table).to.equal(rows.join(''))
  })
})
