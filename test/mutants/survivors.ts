/** Generated mutants that no test can or needs to notice, each with the reason; any other survivor is a failure. */

export interface Survivor {
  readonly file: string
  /** The line as it is, and as it is with the mutant, both without white space around them. */
  readonly line: string
  readonly changed: string
  /** Why nothing that anybody can see differs. */
  readonly reason: string
}

interface Place {
  readonly file: string
  readonly line: string
  readonly reason: string
}

/** Several mutants of one line that the same reason holds for. */
function survivors({ file, line, reason }: Place, ...changed: readonly string[]): readonly Survivor[] {
  return changed.map((each) => ({ file, line, changed: each, reason }))
}

const RESOLVE = 'domain/collection/resolve.ts'
const RECEIPT = 'domain/receipt.ts'
const RECEIPTS = 'api/collection/receipts.ts'
const DECIDE = 'delivery/dispatch/decide-pending.ts'
const DISPATCHER = 'delivery/dispatch/dispatch.ts'
const PLAN = 'delivery/dispatch/plan.ts'
const FIRSTS = 'delivery/dispatch/first-records.ts'
const AWAITED = 'delivery/dispatch/awaited-facts.ts'
const DECISION_FACTS = 'delivery/dispatch/decision-facts.ts'
const BATCH = 'delivery/facts-writer/fact-batch.ts'
const HOUR_MARKS = 'delivery/counting/hour-marks.ts'
const STREAM_ROWS = 'delivery/facts-writer/stream-rows.ts'

const VERY_MILLISECOND = 'It differs in that very millisecond alone; the next look, a moment later, does the same.'

const RESOLUTION: readonly Survivor[] = [
  ...survivors(
    {
      file: RESOLVE,
      line: "{ verdicts, openCandidates = [], visitPolicy: policy = 'latest_visit' }: PendingInstall,",
      reason: 'A text in the place of a candidate has no visit, so it has no state either and is none.',
    },
    `{ verdicts, openCandidates = ["Stryker was here"], visitPolicy: policy = 'latest_visit' }: PendingInstall,`,
  ),
  ...survivors(
    {
      file: RESOLVE,
      line: "if (verdict.verdict === 'handoff' && handoff.claims !== null) {",
      reason: 'Only a token with claims gets that verdict; the comparison tells the compiler so.',
    },
    "if (verdict.verdict === 'handoff' && true) {",
  ),
  ...survivors(
    {
      file: RESOLVE,
      line: "verdicts: verdicts.map((each) => ({ ...each, verdict: judged.get(each.visitId ?? '') ?? each.verdict })),",
      reason: 'No visit has this ID, nor an empty one.',
    },
    'verdicts: verdicts.map((each) => ({ ...each, verdict: judged.get(each.visitId ?? "Stryker was here!") ?? each.verdict })),',
  ),
  ...survivors(
    {
      file: RESOLVE,
      line: 'return one.visitId > other.visitId',
      reason: 'Each visit is a candidate once, so two candidates never have one ID.',
    },
    'return one.visitId >= other.visitId',
  ),
  ...survivors(
    {
      file: RESOLVE,
      line: 'if (one.issuedAtMs !== other.issuedAtMs) return one.issuedAtMs > other.issuedAtMs',
      reason: 'The two times differ where they are compared.',
    },
    'if (one.issuedAtMs !== other.issuedAtMs) return one.issuedAtMs >= other.issuedAtMs',
  ),
]

const ASKED_FOR = 'Every receipt that is looked at was asked for, so it is in the map.'
const RECEIPT_SURVIVORS: readonly Survivor[] = [
  ...survivors(
    { file: RECEIPTS, line: 'return []', reason: "A text in the place of a row names no visit, so it is nobody's." },
    'return ["Stryker was here"]',
  ),
  ...survivors(
    {
      file: RECEIPTS,
      line: "const state = standingBy(known.get(visitId) ?? 'unknown', recalled.get(visitId), isSure)",
      reason: ASKED_FOR,
    },
    'const state = standingBy(known.get(visitId) ?? "", recalled.get(visitId), isSure)',
  ),
  ...survivors(
    {
      file: RECEIPTS,
      line: "return isSure || standing === 'active' ? 'revoked' : 'undecided'",
      reason: 'While the facts are behind, what was asked for and is not revoked is undecided anyway.',
    },
    `return isSure || standing === 'active' ? 'revoked' : ""`,
  ),
  ...survivors(
    {
      file: RECEIPTS,
      line: "const asked = { website: refs[0]?.website ?? '', visit_ids: refs.map(({ visitId }) => visitId) }",
      reason: 'Both callers ask for one receipt at least.',
    },
    'const asked = { website: refs[0]?.website ?? "Stryker was here!", visit_ids: refs.map(({ visitId }) => visitId) }',
    "const asked = { website: refs[0].website ?? '', visit_ids: refs.map(({ visitId }) => visitId) }",
  ),
  ...survivors(
    {
      file: RECEIPTS,
      line: 'return websitesByOrganization(catalog).get(organization.id) ?? []',
      reason: 'A website of the catalog is among those of its organisation.',
    },
    'return websitesByOrganization(catalog).get(organization.id) ?? ["Stryker was here"]',
  ),
  ...survivors(
    {
      file: RECEIPT,
      line: 'if (text.length !== LIMITS.receiptChars) return null',
      reason: 'The MAC of another length equals none; only the look at it is saved.',
    },
    'if (false) return null',
  ),
  ...survivors(
    {
      file: RECEIPT,
      line: 'for (let index = 0; index < left.length; index++) difference |= (left[index] ?? 0) ^ (right[index] ?? 0)',
      reason: 'Behind their equal ends both have nothing, which is the same.',
    },
    'for (let index = 0; index <= left.length; index++) difference |= (left[index] ?? 0) ^ (right[index] ?? 0)',
  ),
]

const FACTS_WRITER: readonly Survivor[] = [
  ...survivors(
    {
      file: BATCH,
      line: 'if (entry !== undefined && !isRefused.has(index)) streams.note(table, row, entry)',
      reason: 'Each row has its entry; the comparison tells the compiler so.',
    },
    'if (true && !isRefused.has(index)) streams.note(table, row, entry)',
  ),
  ...survivors(
    {
      file: HOUR_MARKS,
      line: 'for (const column of TIMES[table] ?? []) {',
      reason: 'No row has a column of this name.',
    },
    'for (const column of TIMES[table] ?? ["Stryker was here"]) {',
  ),
  ...survivors(
    {
      file: 'delivery/facts-writer/facts-writer.ts',
      line: "const reason = error instanceof Error ? error.message : 'unknown'",
      reason: 'Words of a log line about something thrown that is no Error, which no part does.',
    },
    'const reason = error instanceof Error ? error.message : ""',
  ),
  ...survivors(
    {
      file: BATCH,
      line: "if (reading.kind !== 'record') throw new RowsRefused(UNDECODABLE)",
      reason: 'Without it the rows of the missing record cannot be made, which is refused in the same words.',
    },
    "if (reading.kind !== 'record') ;",
    'if (false) throw new RowsRefused(UNDECODABLE)',
  ),
  ...survivors(
    {
      file: BATCH,
      line: 'if (entry !== undefined) keep(entry, table, engineCode)',
      reason: 'Each refused row has its entry at the same position; the comparison tells the compiler so.',
    },
    'if (true) keep(entry, table, engineCode)',
  ),
  ...survivors(
    {
      file: STREAM_ROWS,
      line: "if (first === undefined || last === undefined) throw new Error('a batch without entries')",
      reason: 'A batch has both or neither.',
    },
    "if (first === undefined && last === undefined) throw new Error('a batch without entries')",
    "if (false || last === undefined) throw new Error('a batch without entries')",
    "if (first === undefined || false) throw new Error('a batch without entries')",
  ),
  ...survivors(
    {
      file: STREAM_ROWS,
      line: 'const isFurther = isNew || before === undefined || last.offset > before.newest.offset',
      reason: 'Of one offset there is one entry.',
    },
    'const isFurther = isNew || before === undefined || last.offset >= before.newest.offset',
  ),
  ...survivors(
    {
      file: STREAM_ROWS,
      line: 'if ((known.get(key)?.lane.begunAtMs ?? -1) > lane.begunAtMs) continue',
      reason: 'No two lanes of a partition began at one time, and none in the first millisecond of 1970.',
    },
    'if ((known.get(key)?.lane.begunAtMs ?? -1) >= lane.begunAtMs) continue',
    'if ((known.get(key)?.lane.begunAtMs ?? +1) > lane.begunAtMs) continue',
  ),
  ...survivors(
    {
      file: BATCH,
      line: 'hours.stored()',
      reason:
        'A mark that is not remembered is written again by the next batch, which costs a row and changes no figure.',
    },
    ';',
  ),
  ...survivors(
    {
      file: HOUR_MARKS,
      line: 'for (const website of present ?? []) if (served.has(website)) present?.delete(website)',
      reason: 'Within the loop it is there; and no website has this name.',
    },
    'for (const website of present ?? []) if (served.has(website)) present.delete(website)',
    'for (const website of present ?? ["Stryker was here"]) if (served.has(website)) present?.delete(website)',
  ),
  ...survivors(
    {
      file: HOUR_MARKS,
      line: 'for (const website of hours.get(hourOf(now)) ?? []) served.add(website)',
      reason: 'No website has this name.',
    },
    'for (const website of hours.get(hourOf(now)) ?? ["Stryker was here"]) served.add(website)',
  ),
  ...survivors(
    {
      file: HOUR_MARKS,
      line: 'let serving = { period: -1, websites: new Set<string>() }',
      reason: 'No batch is of such a period, so the first one makes its own.',
    },
    'let serving = {}',
    'let serving = { period: +1, websites: new Set<string>() }',
  ),
  ...survivors(
    {
      file: STREAM_ROWS,
      line: 'if (latest === undefined || !isAlike(latest.alike, pointer)) latest = open.get(alikeKey(pointer))',
      reason: 'The map has the same row; only the way to it is longer.',
    },
    'if (true) latest = open.get(alikeKey(pointer))',
  ),
  ...survivors(
    {
      file: STREAM_ROWS,
      line: 'function isAlike(a: Alike, b: Alike): boolean {',
      reason: 'The map has the same row; only the way to it is longer.',
    },
    'function isAlike(a: Alike, b: Alike): boolean {}',
  ),
  ...survivors(
    {
      file: STREAM_ROWS,
      line: 'return a.website === b.website && a.kind === b.kind && a.status === b.status && a.organization === b.organization',
      reason: 'The map has the same row; only the way to it is longer.',
    },
    'return false',
  ),
  ...survivors(
    {
      file: STREAM_ROWS,
      line: 'const oldest = times.reduce((least, time) => (time < least ? time : least), Infinity)',
      reason: 'Of two equal times either is the least.',
    },
    'const oldest = times.reduce((least, time) => (time <= least ? time : least), Infinity)',
  ),
]

const DISPATCH: readonly Survivor[] = [
  ...survivors(
    {
      file: AWAITED,
      line: 'const isReached = AWAITED_TOPICS.every((topic) => hasReached(done[topic] ?? [], ends[topic] ?? []))',
      reason: 'Positions are read of every topic, which the compiler cannot know.',
    },
    'const isReached = AWAITED_TOPICS.every((topic) => hasReached(done[topic] ?? ["Stryker was here"], ends[topic] ?? []))',
  ),
  ...survivors(
    {
      file: AWAITED,
      line: 'Object.fromEntries(AWAITED_TOPICS.map((topic, place) => [topic, progress[place]?.[of] ?? []]))',
      reason: 'Positions are read of every topic, which the compiler cannot know.',
    },
    'Object.fromEntries(AWAITED_TOPICS.map((topic, place) => [topic, progress[place]?.[of] ?? ["Stryker was here"]]))',
    'Object.fromEntries(AWAITED_TOPICS.map((topic, place) => [topic, progress[place][of] ?? []]))',
  ),
  ...survivors(
    {
      file: AWAITED,
      line: 'const passage = this.#enter(partition, entries[0]?.offset ?? 0)',
      reason: 'A batch has an entry at least.',
    },
    'const passage = this.#enter(partition, entries[0].offset ?? 0)',
  ),
  ...survivors(
    {
      file: AWAITED,
      line: 'passage.nextOffset = (entries.at(-1)?.offset ?? 0) + 1',
      reason: 'A batch has an entry at least.',
    },
    'passage.nextOffset = (entries.at(-1).offset ?? 0) + 1',
  ),
  ...survivors(
    {
      file: DECISION_FACTS,
      line: 'const { openCandidates = [], receivedAtMs } = install',
      reason: 'A text in the place of a candidate has no visit, so it has no state.',
    },
    'const { openCandidates = ["Stryker was here"], receivedAtMs } = install',
  ),
  ...survivors(
    {
      file: DECISION_FACTS,
      line: 'for (const install of asked) found.set(momentKeyOf(install), byInstallation.get(installationKeyOf(install)) ?? [])',
      reason: 'A text in the place of a row has no time, so it is neither before nor after.',
    },
    'for (const install of asked) found.set(momentKeyOf(install), byInstallation.get(installationKeyOf(install)) ?? ["Stryker was here"])',
  ),
  ...survivors(
    {
      file: DECISION_FACTS,
      line: '{ website, openCandidates = [], receivedAtMs }: Install,',
      reason: 'A text in the place of a candidate has no visit, so it has no state.',
    },
    '{ website, openCandidates = ["Stryker was here"], receivedAtMs }: Install,',
  ),
  ...survivors(
    {
      file: DISPATCHER,
      line: "const awaited = ends === undefined || record.install.resolution === 'pending' ? {} : { ends }",
      reason: 'Ends that are undefined are none, which the compiler does not take for the same.',
    },
    "const awaited = false || record.install.resolution === 'pending' ? {} : { ends }",
  ),
  ...survivors(
    {
      file: DISPATCHER,
      line: 'return end === -1 || at < end',
      reason: 'The two places are of different characters.',
    },
    'return end === -1 || at <= end',
  ),
  ...survivors(
    {
      file: DECISION_FACTS,
      line: 'if (row.received_at_ms !== receivedAtMs) return row.received_at_ms < receivedAtMs',
      reason: 'The two times differ there.',
    },
    'if (row.received_at_ms !== receivedAtMs) return row.received_at_ms <= receivedAtMs',
  ),
  ...survivors(
    {
      file: DISPATCHER,
      line: 'if (waiting.length === 0) break',
      reason: 'It looks again at nothing, after a moment; only the time differs.',
    },
    'if (false) break',
  ),
  ...survivors(
    {
      file: FIRSTS,
      line: 'const isSame = receivedAtMs(arrival) === known.receivedAtMs && arrival.record.request.id === known.requestId',
      reason: 'A request is received at one time, so its ID alone says that it is the same.',
    },
    'const isSame = true && arrival.record.request.id === known.requestId',
  ),
  ...survivors(
    {
      file: FIRSTS,
      line: 'return arrival.record.request.id !== first.request_id && !saysTheSame(arrival, first)',
      reason: 'Records of one request say the same.',
    },
    'return true && !saysTheSame(arrival, first)',
  ),
  ...survivors(
    {
      file: FIRSTS,
      line: 'const before = deliveries.get(key) ?? []',
      reason: 'A text in the place of a delivery has no time, so it is neither earlier, the same nor later.',
    },
    'const before = deliveries.get(key) ?? ["Stryker was here"]',
  ),
  ...survivors(
    {
      file: DISPATCHER,
      line: 'if (arrivals.length === 0) return []',
      reason: 'Without an install nothing is asked for and nothing is appended; only the way there is saved.',
    },
    'if (false) return []',
  ),
  ...survivors(
    {
      file: DECIDE,
      line: 'destinations: deps.catalog().websites.get(install.website)?.destinations ?? [],',
      reason: 'A text in the place of a destination has no name, so no plan finds it.',
    },
    'destinations: deps.catalog().websites.get(install.website)?.destinations ?? ["Stryker was here"],',
  ),
  ...survivors(
    {
      file: DECIDE,
      line: "known.installation.kind === 'undecided' ? { kind: 'none' } : known.installation",
      reason: 'Whatever is neither matched nor undecided counts as none.',
    },
    "known.installation.kind === 'undecided' ? {} : known.installation",
    `known.installation.kind === 'undecided' ? { kind: "" } : known.installation`,
  ),
  ...survivors(
    {
      file: DISPATCHER,
      line: 'const isGivenUp = nowMs - arrival.firstSeenAtMs >= LIMITS.visitMissingMs',
      reason: VERY_MILLISECOND,
    },
    'const isGivenUp = nowMs - arrival.firstSeenAtMs > LIMITS.visitMissingMs',
  ),
  ...survivors(
    {
      file: DISPATCHER,
      line: 'return this.#deps.nowMs() >= this.#looksAgainAtMs ? LOOKS_MS : []',
      reason: VERY_MILLISECOND,
    },
    'return this.#deps.nowMs() > this.#looksAgainAtMs ? LOOKS_MS : []',
  ),
  ...survivors(
    {
      file: DISPATCHER,
      line: "return new Set(records.flatMap(({ status, destination }) => (status === 'skipped' ? [destination] : [])))",
      reason: 'No destination has this name, so that it was skipped changes nothing.',
    },
    `return new Set(records.flatMap(({ status, destination }) => (status === 'skipped' ? [destination] : ["Stryker was here"])))`,
  ),
  ...survivors(
    {
      file: PLAN,
      line: "if (reason !== '' || input.visit === null) return []",
      reason: 'Without its visit a delivery has a reason; the comparison tells the compiler so.',
    },
    "if (reason !== '' || false) return []",
  ),
]

export const SURVIVORS: readonly Survivor[] = [...RESOLUTION, ...RECEIPT_SURVIVORS, ...DISPATCH, ...FACTS_WRITER]
