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
  {
    breaks: 'jobs are on the log before their records',
    file: 'delivery/dispatch.ts',
    old: `await Promise.all(appends)
`,
    new: '',
    suites: ['test/delivery/dispatch-appends.test.ts'],
  },
  {
    breaks: 'a parked install waits in its room',
    file: 'delivery/dispatch.ts',
    old: 'if (leavesAtMs > this.#deps.nowMs()) {',
    new: 'if (false) {',
    suites: ['test/delivery/dispatch-appends.test.ts'],
  },
  {
    breaks: 'a batch that was cut is committed as far as it came',
    file: 'delivery/facts-writer.ts',
    old: 'return restMs > 0 ? { done: report.done, resumeAtMs: nowMs() + restMs } : { done: report.done }',
    new: 'return restMs > 0 ? { done: batch.entries.length, resumeAtMs: nowMs() + restMs } : { done: batch.entries.length }',
    suites: ['test/delivery/fact-batch.test.ts'],
  },
  {
    breaks: 'an engine that goes away makes no poison of good rows',
    file: 'delivery/fact-batch.ts',
    old: `      if (!(error instanceof RowsRefused)) throw error
      const middle`,
    new: '      const middle',
    suites: ['test/delivery/fact-batch.test.ts'],
  },
  {
    breaks: 'what becomes of a job is not given up silently',
    file: 'delivery/job-journal.ts',
    old: 'if (tries >= APPEND_TRIES) throw error',
    new: 'if (tries >= APPEND_TRIES) return',
    suites: ['test/delivery/job-journal.test.ts'],
  },
  {
    breaks: 'a job that goes out alone has a copy on the log',
    file: 'delivery/courier.ts',
    old: `    try {
      await this.#leave(parcel, this.#deps.nowMs() + COPY_AFTER_MS)
    } catch`,
    new: `    try {
      await Promise.resolve()
    } catch`,
    suites: ['test/delivery/worker.test.ts'],
  },
  {
    breaks: 'a job that another worker has claimed does not go out',
    file: 'delivery/attempt.ts',
    old: 'return ready.filter((_, index) => isOurs[index] === true)',
    new: 'return ready',
    suites: ['test/delivery/worker.test.ts'],
  },
  {
    breaks: 'a repeat is recorded before it is answered',
    file: 'api/pipeline.ts',
    old: 'await recorder.accept(exchange, null)',
    new: 'void recorder.accept(exchange, null).catch(() => undefined)',
    suites: ['test/api/unavailable.test.ts'],
  },
  {
    breaks: 'a handler that did a part commits that part',
    file: 'ports/event-log/kafka-flow.ts',
    old: 'const done = Math.min(Math.max(outcome?.done ?? entries.length, 0), entries.length)',
    new: 'const done = entries.length',
    suites: ['test/ports/kafka-flow.test.ts'],
  },
  {
    breaks: 'partitions share a bound of bytes',
    file: 'ports/event-log/kafka-flow.ts',
    old: 'return this.#buffer.length > 0 && budget.bytes >= budget.maxBytes',
    new: 'return false',
    suites: ['test/ports/kafka-flow.test.ts'],
  },
  {
    breaks: "an organisation's log retention reaches its records",
    file: 'api/request-logs.ts',
    old: 'logRetentionDays: website?.organization.logRetentionDays ?? LIMITS.logRetentionDays.min',
    new: 'logRetentionDays: 30',
    suites: ['test/api/logs.test.ts'],
  },
  {
    breaks: 'attempts are kept as long as log lines',
    file: 'delivery/fact-rows.ts',
    old: `    next_step: attempt.nextStep,
    retention_days: record.logRetentionDays,`,
    new: `    next_step: attempt.nextStep,
    retention_days: record.retentionDays,`,
    suites: ['test/delivery/fact-rows.test.ts'],
  },
  {
    breaks: 'of two firsts of one time the entry further ahead wins',
    file: 'delivery/fact-rows.ts',
    old: '(OFFSET_SPAN - 1 - (offset % OFFSET_SPAN))',
    new: '(offset % OFFSET_SPAN)',
    suites: ['test/delivery/fact-rows.test.ts'],
  },
  {
    breaks: 'the quota is told past its last event',
    file: 'api/usage.ts',
    old: 'outcome.used === quota + 1',
    new: 'outcome.used === quota',
    suites: ['test/api/quota.test.ts'],
  },
]
