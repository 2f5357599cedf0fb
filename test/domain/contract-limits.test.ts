/** Every limit of the public contract, written out here once more as the contract prints it, so that no table can drift. */

import { expect } from 'chai'

import { PROVIDER_DESCRIPTORS } from '../../domain/providers/index.ts'
import { LIMITS, PLAN_LIMITS, RATE_RULES } from '../../domain/limits.ts'

describe('the limits of the contract', () => {
  it('of the plans are those of its table', () => {
    expect(PLAN_LIMITS.Free).to.deep.equal({
      installPaths: 1,
      websites: 1,
      domainsPerWebsite: 5,
      members: 1,
      destinationsPerWebsite: 0,
      logStreams: 0,
      logRetentionDays: 7,
      trackedEventsPerMonth: 10_000,
      isCutOffOverQuota: true,
    })
    expect(PLAN_LIMITS.Standard).to.deep.equal({
      installPaths: 1,
      websites: 3,
      domainsPerWebsite: 10,
      members: 3,
      destinationsPerWebsite: 10,
      logStreams: 0,
      logRetentionDays: 30,
      trackedEventsPerMonth: 1_000_000,
      isCutOffOverQuota: false,
    })
    expect(PLAN_LIMITS.Enterprise).to.deep.equal({
      installPaths: 10,
      websites: 25,
      domainsPerWebsite: 25,
      members: 20,
      destinationsPerWebsite: 20,
      logStreams: 10,
      logRetentionDays: 90,
      trackedEventsPerMonth: 10_000_000,
      isCutOffOverQuota: false,
    })
  })

  const RATES: readonly (readonly [keyof typeof RATE_RULES, number, number, string])[] = [
    ['collection', 240, 60, 'client address'],
    ['visits', 6_000, 60, 'website'],
    ['events', 1_200, 60, 'website'],
    ['events_per_address_minute', 30, 60, 'website and client address'],
    ['events_per_address_day', 500, 86_400, 'website and client address'],
    ['dashboard_writes', 30, 60, 'client address'],
    ['dashboard_reads', 600, 60, 'session'],
    ['key_reads', 600, 60, 'API key'],
    ['share_reads', 60, 60, 'share link and client address'],
    ['invitations', 20, 86_400, 'organisation'],
    ['support_per_person', 5, 86_400, 'person'],
    ['support_per_organization', 20, 86_400, 'organisation'],
    ['billing_sessions', 10, 3_600, 'organisation'],
    ['log_exports', 10, 3_600, 'organisation'],
    ['log_stream_tests', 10, 3_600, 'organisation'],
  ]
  for (const [name, limit, windowS, per] of RATES) {
    it(`allow ${limit} in ${windowS} s as ${name}`, () => {
      expect(RATE_RULES[name]).to.deep.equal({ limit, windowS, per })
    })
  }

  it('of rates have no row that is not checked here', () => {
    expect(Object.keys(RATE_RULES)).to.have.members(RATES.map(([name]) => name))
  })

  it('of sizes and counts are those of its table', () => {
    expect(LIMITS).to.deep.include({
      bodyBytes: 16_384,
      receiptChars: 43,
      receiptsPerInstall: 64,
      idChars: { min: 8, max: 128 },
      nameChars: 80,
      pagesPerWebsite: 30,
      measurementIdsPerVisit: 10,
      customAdapters: 10,
      customFields: 10,
      customValueChars: 256,
      utmChars: 150,
      sessionAttributesChars: 6_000,
      handoffCommandChars: 65_536,
      organizationsOwned: 5,
      organizationsJoined: 20,
      supportMessageChars: 4_000,
      supportDiagnosticsBytes: 16_384,
      logsPerPage: 200,
      logExportRecords: 100_000,
      logExportBytes: 26_214_400,
      outboundBodyBytes: 65_536,
      logStreamBacklogRecords: 1_000_000,
      logStreamBacklogDays: 7,
      csvExportEvents: 100_000,
      activityEntries: { max: 200, fallback: 50 },
    })
  })

  it('of times are those of its table', () => {
    expect(LIMITS).to.deep.include({
      receiptLifetimeMs: 2_592_000_000,
      dashboardSessionMs: 604_800_000,
      invitationMs: 604_800_000,
      hookScanMs: 4_000,
      hookScanFiles: 20_000,
      hookConnectMs: 3_000,
      hookTotalMs: 5_000,
      reconstructionHours: { min: 1, max: 168, fallback: 72 },
      retentionDays: { min: 30, max: 1_095, fallback: 395 },
      logRetentionDays: { min: 7, fallback: 30 },
      webhookMs: 10_000,
      paymentWebhookAgeMs: 300_000,
      limitsCacheS: 300,
    })
  })
})

describe('the limits that the contract leaves to the project', () => {
  it('are those that were decided', () => {
    expect(LIMITS).to.deep.include({
      jsonDepth: 8,
      jsonMembers: 512,
      markerBytes: 1_021,
      preflightCacheS: 7_200,
      answerMemoryDays: 31,
      claimWaitMs: 1_000,
      // A receipt is activated within seconds of its visit; ClickHouse knows what is forgotten after an hour.
      issuedMemoryMs: 3_600_000,
      visitMissingMs: 3_600_000,
      auditRetentionDays: 90,
    })
  })

  it('end a delivery when its provider no longer accepts it, and its repeats when it no longer recognises them', () => {
    const facts = Object.values(PROVIDER_DESCRIPTORS).map(({ id, maxAgeMs, isAdvertising, dedupeMs }) => [
      id,
      { maxAgeMs, isAdvertising, dedupeMs },
    ])
    expect(Object.fromEntries(facts)).to.deep.equal({
      ga4: { maxAgeMs: 255_600_000, isAdvertising: false, dedupeMs: null },
      google_ads: { maxAgeMs: 2_592_000_000, isAdvertising: true, dedupeMs: null },
      meta: { maxAgeMs: 601_200_000, isAdvertising: true, dedupeMs: 172_800_000 },
      tiktok: { maxAgeMs: 601_200_000, isAdvertising: true, dedupeMs: 172_800_000 },
      x: { maxAgeMs: 2_592_000_000, isAdvertising: true, dedupeMs: 172_800_000 },
    })
  })
})
