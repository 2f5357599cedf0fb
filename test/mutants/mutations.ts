/** The hand-made mutations: each a change that would break a promise, and the suites that must notice it. */

export interface Mutation {
  /** What would break, as a test could say it. */
  readonly breaks: string
  readonly file: string
  /** Text of the file; occurs there exactly once. */
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
    file: 'domain/providers/tiktok.ts',
    old: 'dedupeMs: hours(48)',
    new: 'dedupeMs: hours(480)',
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
    old: 'const tag = keys.originTag(claims.keyId, of, origin)',
    new: 'const tag = keys.originTag(keys.currentKeyId, of, origin)',
    suites: ['test/domain/receipt-after-rotation.test.ts'],
  },
  {
    breaks: 'loopback origins belong to everybody',
    file: 'domain/catalog/compile-website.ts',
    old: 'if (!isEverybodys(origin)) originOwners.set(origin, claimant)',
    new: 'originOwners.set(origin, claimant)',
    suites: ['test/domain/compile-catalog.test.ts'],
  },
  {
    breaks: 'an install path keeps its ID from younger ones',
    file: 'domain/catalog/compile-catalog.ts',
    old: 'if (installPaths.some((other) => other.id === id)) {',
    new: 'if (false) {',
    suites: ['test/domain/compile-catalog.test.ts'],
  },
  {
    breaks: 'the install path that an organisation names is its first',
    file: 'domain/collection/install.ts',
    old: 'byId(sent) ?? byId(organization.firstInstallPath)',
    new: 'byId(sent) ?? organization.installPaths[0]',
    suites: ['test/domain/install.test.ts'],
  },
  {
    breaks: 'an empty value of a Secret is none',
    file: 'domain/catalog/compile-secrets.ts',
    old: "return (values.get(key) ?? '') !== ''",
    new: 'return values.has(key)',
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
    file: 'domain/delivery/attempts.ts',
    old: 'acceptedAtMs + waitMs > nowMs + MINUTE_MS',
    new: 'acceptedAtMs + waitMs > nowMs',
    suites: ['test/domain/attempts.test.ts'],
  },
  {
    breaks: 'jobs are on the log before their records',
    file: 'delivery/dispatch/dispatch.ts',
    old: `await Promise.all(appends)
`,
    new: '',
    suites: ['test/delivery/dispatch-appends.test.ts'],
  },
  {
    breaks: 'a parked install waits in its room',
    file: 'delivery/tiers.ts',
    old: 'if (leavesAtMs > nowMs()) return',
    new: 'if (false) return',
    suites: ['test/delivery/dispatch-appends.test.ts'],
  },
  {
    breaks: 'a batch that was cut is committed as far as it came',
    file: 'delivery/facts-writer/facts-writer.ts',
    old: 'return restMs > 0 ? { done: report.done, resumeAtMs: nowMs() + restMs } : { done: report.done }',
    new: 'return restMs > 0 ? { done: batch.entries.length, resumeAtMs: nowMs() + restMs } : { done: batch.entries.length }',
    suites: ['test/delivery/fact-batch.test.ts'],
  },
  {
    breaks: 'an engine that goes away makes no poison of good rows',
    file: 'delivery/facts-writer/fact-batch.ts',
    old: `      if (!(error instanceof RowsRefused)) throw error
      const middle`,
    new: '      const middle',
    suites: ['test/delivery/fact-batch.test.ts'],
  },
  {
    breaks: 'what becomes of a job is not given up silently',
    file: 'delivery/worker/job-journal.ts',
    old: 'if (tries >= APPEND_TRIES) throw error',
    new: 'if (tries >= APPEND_TRIES) return',
    suites: ['test/delivery/job-journal.test.ts'],
  },
  {
    breaks: 'an attempt in the background has a backup copy on the log',
    file: 'delivery/worker/job-runner.ts',
    old: `    try {
      await this.#writeBackup(batch, this.#deps.nowMs() + BACKUP_COPY_AFTER_MS)
    } catch`,
    new: `    try {
      await Promise.resolve()
    } catch`,
    suites: ['test/delivery/worker.test.ts'],
  },
  {
    breaks: 'a job that another worker has claimed does not go out',
    file: 'delivery/worker/attempt.ts',
    old: 'return ready.filter((_, index) => isOurs[index] === true)',
    new: 'return ready',
    suites: ['test/delivery/worker.test.ts'],
  },
  {
    breaks: 'a repeat is recorded before it is answered',
    file: 'api/collection/pipeline.ts',
    old: 'await recorder.accept({ exchange, website, isUnrecorded: outcome.isUnrecorded === true }, null)',
    new: 'void recorder.accept({ exchange, website }, null).catch(() => undefined)',
    suites: ['test/api/unavailable.test.ts'],
  },
  {
    breaks: 'a handler that did a part commits that part',
    file: 'ports/event-log/kafka/flow.ts',
    old: 'const done = Math.min(Math.max(outcome?.done ?? entries.length, 0), entries.length)',
    new: 'const done = entries.length',
    suites: ['test/ports/kafka-flow.test.ts'],
  },
  {
    breaks: 'partitions share a bound of bytes',
    file: 'ports/event-log/kafka/flow.ts',
    old: 'return this.#buffer.length > 0 && budget.bytes >= budget.maxBytes',
    new: 'return false',
    suites: ['test/ports/kafka-flow.test.ts'],
  },
  {
    breaks: "an organisation's log retention reaches its records",
    file: 'api/collection/request-logs.ts',
    old: 'logRetentionDays: website?.organization.logRetentionDays ?? LIMITS.logRetentionDays.min',
    new: 'logRetentionDays: 30',
    suites: ['test/api/logs.test.ts'],
  },
  {
    breaks: 'attempts are kept as long as log lines',
    file: 'delivery/facts-writer/fact-rows.ts',
    old: `    next_step: attempt.nextStep,
    retention_days: record.logRetentionDays,`,
    new: `    next_step: attempt.nextStep,
    retention_days: record.retentionDays,`,
    suites: ['test/delivery/fact-rows.test.ts'],
  },
  {
    breaks: 'of two firsts of one time the entry further ahead wins',
    file: 'delivery/facts-writer/row-versions.ts',
    old: '(OFFSET_SPAN - 1 - (offset % OFFSET_SPAN))',
    new: '(offset % OFFSET_SPAN)',
    suites: ['test/delivery/fact-rows.test.ts'],
  },
  {
    breaks: 'the quota is told past its last event',
    file: 'api/collection/usage.ts',
    old: 'outcome.used === quota + 1',
    new: 'outcome.used === quota',
    suites: ['test/api/quota.test.ts'],
  },
  {
    breaks: 'a window of Redis lasts as long as it says',
    file: 'ports/hot-state/redis/lua/limits/count_hits.lua',
    old: "redis.call('SET', names[place], 1, 'PX', ends[place] - NOW + GRACE_MS)",
    new: "redis.call('SET', names[place], 1, 'PX', 1000)",
    suites: ['test/ports/redis-hot-state.test.ts'],
  },
  {
    breaks: 'a refused window of Redis lasts as long as it says',
    file: 'ports/hot-state/redis/lua/limits/count_hits.lua',
    old: "redis.call('SET', names[place], -count - 1, 'PX', ends[place] - NOW + GRACE_MS)",
    new: "redis.call('SET', names[place], -count - 1, 'PX', 1000)",
    suites: ['test/ports/redis-hot-state.test.ts'],
  },
  {
    breaks: 'usage never falls below nothing',
    file: 'ports/hot-state/redis/lua/limits/return_usage.lua',
    old: 'if count > 0 then',
    new: 'if true then',
    suites: ['test/contract/hot-state.redis.test.ts'],
  },
  {
    breaks: 'an active receipt is no longer kept as an issued one',
    file: 'ports/hot-state/redis/lua/shared.lua',
    old: `  redis.call('DEL', issued_key(id))
`,
    new: '',
    suites: ['test/ports/redis-hot-state.test.ts'],
  },
  {
    breaks: 'counters in memory are bounded',
    file: 'ports/hot-state/lmdb/counters.ts',
    old: 'const counts = new BoundedMap<string, Count>(MAX_KEYS_PER_WINDOW)',
    new: 'const counts = new BoundedMap<string, Count>(Infinity)',
    suites: ['test/ports/lmdb-counters.test.ts'],
  },
  {
    breaks: 'the breaker opens at the tenth failure',
    file: 'delivery/worker/destination-gate.ts',
    old: 'const FAILURES_IN_A_ROW = 10',
    new: 'const FAILURES_IN_A_ROW = 11',
    suites: ['test/delivery/gate.test.ts'],
  },
  {
    breaks: 'a clock set back takes nothing from a quota',
    file: 'delivery/worker/quota.ts',
    old: 'Math.max(0, nowMs - bucket.filledAtMs)',
    new: 'nowMs - bucket.filledAtMs',
    suites: ['test/delivery/gate.test.ts'],
  },
  {
    breaks: 'Meta gets no click from the future',
    file: 'delivery/providers/meta.ts',
    old: 'return atMs <= nowMs + MINUTE_MS && nowMs - atMs < CLICK_LIFETIME_MS',
    new: 'return nowMs - atMs < CLICK_LIFETIME_MS',
    suites: ['test/delivery/meta.test.ts'],
  },
  {
    breaks: 'GA4 gets no time behind the install',
    file: 'delivery/providers/ga4.ts',
    old: 'const inSessionAtMs = Math.min(Math.max(startedAtMs, job.visit.issuedAtMs), installAtMs)',
    new: 'const inSessionAtMs = Math.max(startedAtMs, job.visit.issuedAtMs)',
    suites: ['test/delivery/ga4.test.ts'],
  },
  {
    breaks: 'calls to tenants speak TLS 1.2 or newer',
    file: 'delivery/outbound/connect.ts',
    old: "minVersion: 'TLSv1.2'",
    new: "minVersion: 'TLSv1'",
    suites: ['test/delivery/outbound/outbound.test.ts'],
  },
  {
    breaks: "a cut answer of Google's is no verdict",
    file: 'delivery/providers/google-ads.ts',
    old: `  if (reply.failure !== '') return { kind: 'retry', code: 'unreadable_answer' }
`,
    new: '',
    suites: ['test/delivery/google-ads.test.ts'],
  },
  {
    breaks: 'the hook command names the first install path',
    file: 'operator/decide/decide.ts',
    old: "const path = externalInput === null ? '' : `/paths/${externalInput}`",
    new: "const path = ''",
    suites: ['test/operator/decide.test.ts'],
  },
  {
    breaks: 'a piped shell without -s is not the hook',
    file: 'sdk/extras/fill.ts',
    old: 'const takesArguments = feeder === undefined || operands.some(({ text }) => /^-\\w*s$/.test(text))',
    new: 'const takesArguments = true',
    suites: ['test/sdk/fill.test.ts'],
  },
  {
    breaks: 'all replicas in sync have a record',
    file: 'ports/event-log/kafka/producer.ts',
    old: 'acks: -1,',
    new: 'acks: 1,',
    suites: ['test/ports/kafka-producer.test.ts'],
  },
  {
    breaks: 'what has just been stored is not deleted before the log has learnt of it',
    file: 'ports/event-log/lmdb/topics.ts',
    old: 'if (firstOffset >= log.endOffset) break',
    new: '',
    suites: ['test/ports/lmdb-event-log.test.ts'],
  },
  {
    breaks: 'the spool does not count what was refused and is not stored',
    file: 'ports/event-log/spool/counts.ts',
    old: 'if (count !== undefined) uncount(count, entries, bytes)',
    new: '',
    suites: ['test/contract/event-log.spooled.test.ts'],
  },
]
