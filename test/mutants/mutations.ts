/** The hand-made mutations: each a change that would break a promise, and the suites that must notice it. */

export interface Mutation {
  /** What would break, as a test could say it. */
  readonly breaks: string
  readonly file: string
  /** Text of the file; stands there exactly once. */
  readonly old: string
  readonly new: string
  /** Test files, at least one of which must fail. */
  readonly suites: readonly string[]
}

export const MUTATIONS: readonly Mutation[] = [
  {
    breaks: 'webhooks get 10 s',
    file: 'domain/limits.ts',
    old: 'webhookMs: 10 * SECOND_MS',
    new: 'webhookMs: 30 * SECOND_MS',
    suites: ['test/domain/contract-limits.test.ts'],
  },
  {
    breaks: 'an issued receipt is remembered for an hour',
    file: 'domain/limits.ts',
    old: 'issuedMemoryMs: HOUR_MS',
    new: 'issuedMemoryMs: MINUTE_MS',
    suites: ['test/domain/contract-limits.test.ts'],
  },
  {
    breaks: 'TikTok knows a repeat for 48 h',
    file: 'domain/deliveries.ts',
    old: 'tiktok: { maxAgeMs: 7 * DAY_MS - HOUR_MS, isAdvertising: true, dedupeMs: 48 * HOUR_MS }',
    new: 'tiktok: { maxAgeMs: 7 * DAY_MS - HOUR_MS, isAdvertising: true, dedupeMs: 480 * HOUR_MS }',
    suites: ['test/domain/contract-limits.test.ts'],
  },
  {
    breaks: 'Free has 10,000 tracked events a month',
    file: 'domain/limits.ts',
    old: 'trackedEventsPerMonth: 10_000,',
    new: 'trackedEventsPerMonth: 11_000,',
    suites: ['test/domain/contract-limits.test.ts'],
  },
  {
    breaks: 'Standard has 10 domains for each website',
    file: 'domain/limits.ts',
    old: 'domainsPerWebsite: 10,',
    new: 'domainsPerWebsite: 12,',
    suites: ['test/domain/contract-limits.test.ts'],
  },
  {
    breaks: 'receipts of before a rotation keep their origin',
    file: 'domain/receipt.ts',
    old: 'const tag = keys.originTag(claims.keyId, website, origin)',
    new: 'const tag = keys.originTag(keys.currentKeyId, website, origin)',
    suites: ['test/domain/receipt-after-rotation.test.ts'],
  },
  {
    breaks: 'loopback origins belong to everybody',
    file: 'domain/compile-website.ts',
    old: 'filter((origin) => !isEverybodys(origin))',
    new: 'filter(() => true)',
    suites: ['test/domain/compile-catalog.test.ts'],
  },
  {
    breaks: 'an install path keeps its ID from younger ones',
    file: 'domain/compile-catalog.ts',
    old: 'if (installPaths.some((other) => other.id === id)) {',
    new: 'if (false) {',
    suites: ['test/domain/compile-catalog.test.ts'],
  },
  {
    breaks: 'the install path that an organisation names is its first',
    file: 'domain/install.ts',
    old: 'byId(sent) ?? byId(organization.firstInstallPath)',
    new: 'byId(sent) ?? organization.installPaths[0]',
    suites: ['test/domain/install.test.ts'],
  },
  {
    breaks: 'an empty value of a Secret is none',
    file: 'domain/compile-destination.ts',
    old: "(secret.values.get(key) ?? '') !== ''",
    new: 'secret.values.has(key)',
    suites: ['test/domain/compile-catalog.test.ts'],
  },
  {
    breaks: 'only localhost and what is below it is loopback',
    file: 'domain/origin.ts',
    old: "host.endsWith('.localhost')",
    new: "host.endsWith('localhost')",
    suites: ['test/domain/origin.test.ts'],
  },
  {
    breaks: 'a verdict is not asked for again at once',
    file: 'domain/attempts.ts',
    old: 'acceptedAtMs + waitMs > nowMs + MINUTE_MS',
    new: 'acceptedAtMs + waitMs > nowMs',
    suites: ['test/domain/attempts.test.ts'],
  },
]
