/** The judge of chaos runs, on made-up histories: it finds every kind of violation, and nothing if all was kept. */

import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { ROLLING_UPGRADE } from './history.ts'
import type { Call, Disturbance, History, Hit, Stored, StoredDelivery, StoredInstall, StoredVisit } from './history.ts'
import { judge } from './judge.ts'
import { storyOf } from './story.ts'
import { TOLERANCES } from './tolerances.ts'

const SITE = 'site'
const OLD = '00aa'
const NEW = '00bb'
const OTHER = '00cc'
/** Handed off only: it has a token, and a receipt that never counts. */
const HANDED = '00dd'

/** Calls one after the other, a second apart; `more` bends them. */
class Story {
  readonly calls: Call[] = []
  #clockMs = 1_000_000

  call(more: Partial<Call>): Call {
    this.#clockMs += 1_000
    const times = { beganMs: this.#clockMs, endedMs: this.#clockMs + 10 }
    const base = {
      tag: `c/${this.calls.length}`,
      website: SITE,
      api: 'plain',
      status: 200,
      outcome: 'ok',
      silence: '',
      answer: {},
    }
    const none = { kind: 'visit', visit: '', previous: '', identity: null, gpc: false, event: null }
    const call = { ...base, ...times, ...none, ...more } as Call
    this.calls.push(call)
    return call
  }

  visit(visit: string, previous = '', more: Partial<Call> = {}): Call {
    return this.call({ visit, previous, identity: { ga4: `ga4 of ${visit}`, meta: `meta of ${visit}` }, ...more })
  }

  activate(visit: string, more: Partial<Call> = {}): Call {
    return this.call({ kind: 'activation', visit, ...more })
  }

  event(eventId: string, sent: Partial<NonNullable<Call['event']>>, more: Partial<Call> = {}): Call {
    const event = {
      eventId,
      installation: `of ${eventId}`,
      eventType: 'install_completed',
      receipts: [],
      token: '',
      ...sent,
    }
    return this.call({ kind: 'event', event, ...more })
  }
}

const PLANS = [
  { destination: 'ga', provider: 'ga4', status: 'pending' },
  { destination: 'ads', provider: 'meta', status: 'pending' },
]

function answerOf(row: Pick<StoredInstall, 'event_id' | 'resolution' | 'selection_policy' | 'candidate_count'>) {
  const { event_id, resolution, selection_policy, candidate_count } = row
  return { ok: true, event_id, duplicate: false, resolution, candidate_count, selection_policy }
}

/** The row of an event as the service must have stored it. */
function rowOf(call: Call, visit: string, policy: string, count: number): StoredInstall {
  const { event } = call
  const decided = {
    resolution: visit === '' ? 'unmatched' : 'matched',
    selection_policy: policy,
    candidate_count: count,
  }
  const row = { event_id: event?.eventId ?? '', ...decided }
  return {
    website: SITE,
    ...row,
    visit_id: visit,
    tag: call.tag,
    received_at_ms: call.beganMs + 1,
    installation_id: event?.installation ?? '',
    event_type: event?.eventType ?? '',
    answer: JSON.stringify(answerOf(row)),
    deliveries: JSON.stringify(PLANS),
  }
}

const visitRow = (visit_id: string, more: Partial<StoredVisit> = {}): [string, StoredVisit] => [
  visit_id,
  { visit_id, is_recorded: true, is_active: true, is_revoked: false, ...more },
]

interface Kept {
  calls: Call[]
  lastCalls: Call[]
  installs: StoredInstall[]
  deliveries: StoredDelivery[]
  hits: Hit[]
  visits: Map<string, StoredVisit>
  more: Partial<Stored>
  disturbances: Disturbance[]
}

/** A history in which every promise was kept, for tests to bend. */
function keptHistory(): Kept {
  const story = new Story()
  story.visit(OLD)
  story.activate(OLD)
  story.visit(NEW, OLD)
  story.activate(NEW)
  story.visit(OTHER)
  story.activate(OTHER)
  story.call({ kind: 'handoff', visit: HANDED, identity: { ga4: `ga4 of ${HANDED}`, meta: `meta of ${HANDED}` } })
  const rows = [
    rowOf(story.event('both', { receipts: [OLD, NEW, OTHER], installation: 'machine' }), OTHER, 'latest_visit', 2),
    rowOf(story.event('same', { installation: 'machine', eventType: 'first_run' }), OTHER, 'same_installation', 0),
    rowOf(story.event('token', { token: HANDED }), HANDED, 'handoff', 1),
    rowOf(story.event('dead', { receipts: [OLD] }), '', 'none', 0),
  ]
  const calls = story.calls.map((call) => {
    const row = rows.find(({ tag }) => tag === call.tag)
    return row === undefined ? call : { ...call, answer: JSON.parse(row.answer) as Call['answer'] }
  })
  const [both] = rows
  const repeat = story.event('both', { receipts: [], installation: 'another' })
  calls.push({ ...repeat, answer: { ...answerOf(both as StoredInstall), duplicate: true } })
  return {
    calls,
    lastCalls: [],
    installs: rows,
    more: {},
    disturbances: [],
    ...deliveredOf(rows),
    visits: new Map([
      visitRow(OLD, { is_revoked: true }),
      visitRow(NEW),
      visitRow(OTHER),
      visitRow(HANDED, { is_active: false }),
    ]),
  }
}

function deliveredOf(rows: readonly StoredInstall[]): Pick<Kept, 'deliveries' | 'hits'> {
  const deliveries: StoredDelivery[] = []
  const hits: Hit[] = []
  for (const { event_id, event_type, visit_id } of rows) {
    for (const { destination, provider } of PLANS) {
      const isSent = visit_id !== '' && (provider === 'ga4' || event_type === 'install_completed')
      const id = `job ${event_id} ${destination}`
      const status = isSent ? 'delivered' : 'skipped'
      deliveries.push({ website: SITE, event_id, destination, job_id: id, status, reason: '' })
      const named = {
        provider: provider as Hit['provider'],
        eventName: event_type,
        identity: `${provider} of ${visit_id}`,
      }
      if (isSent) hits.push({ ...named, id, isTaken: true, atMs: 0 })
    }
  }
  return { deliveries, hits }
}

function historyOf({ calls, lastCalls, installs, deliveries, hits, visits, more, disturbances }: Kept): History {
  const stored: Stored = {
    installs,
    deliveries,
    hits,
    visits,
    explained: [],
    poisonRecords: 0,
    logs: new Map(calls.map(({ tag }) => [tag, 1])),
    handoffs: new Set([HANDED]),
    visitCount: visits.size,
    ...more,
  }
  return { calls, lastCalls, stored, disturbances, spooling: 'spool' }
}

const rulesOf = (kept: Kept): string[] => [...new Set(judge(historyOf(kept)).violations.map(({ rule }) => rule))]
const callOf = (kept: Kept, eventId: string): Call => kept.calls.find(({ event }) => event?.eventId === eventId) as Call

/** Changes the row of an event and, unless `isTold` is false, its client's answer. */
function bend(kept: Kept, eventId: string, more: Partial<StoredInstall>, isTold = true): void {
  const index = kept.installs.findIndex(({ event_id }) => event_id === eventId)
  const row = { ...(kept.installs[index] as StoredInstall), ...more }
  kept.installs[index] = { ...row, answer: JSON.stringify(answerOf(row)) }
  Object.assign(kept, deliveredOf(kept.installs))
  if (!isTold) return
  kept.calls = kept.calls.map((call) =>
    call.event?.eventId === eventId
      ? { ...call, answer: { ...answerOf(row), duplicate: call.answer['duplicate'] as boolean } }
      : call,
  )
}

function change(kept: Kept, eventId: string, more: Partial<Call>): void {
  kept.calls = kept.calls.map((call) => (call.event?.eventId === eventId ? { ...call, ...more } : call))
}

/** Asks for every event once more, as a round does in its end; `more` bends the answers to this one. */
function askAgain(kept: Kept, eventId = '', more: Record<string, unknown> = {}): void {
  kept.lastCalls = kept.installs.map((row) => {
    const bent = row.event_id === eventId ? more : {}
    const call = kept.calls.find(({ event }) => event?.eventId === row.event_id) as Call
    const times = { tag: `last of ${row.event_id}`, beganMs: 2_000_000, endedMs: 2_000_010 }
    return { ...call, ...times, answer: { ...answerOf(row), duplicate: true, ...bent } }
  })
}

const UNMATCHED = { resolution: 'unmatched', selection_policy: 'none', candidate_count: 0, visit_id: '' }
const latest = (visit_id: string, candidate_count = 1) => ({
  resolution: 'matched',
  selection_policy: 'latest_visit',
  candidate_count,
  visit_id,
})

/** Each kind of violation, made by bending what was kept. */
const CASES: readonly [name: string, rule: string, bend: (kept: Kept) => void][] = [
  ['an answered call that is not in Logs', 'lost', (kept) => void (kept.more = { logs: new Map() })],
  [
    'a call that is in Logs twice',
    'doubled',
    (kept) => void (kept.more = { logs: new Map(kept.calls.map(({ tag }) => [tag, 2])) }),
  ],
  ['a lost visit', 'lost', (kept) => void kept.visits.set(...visitRow(NEW, { is_recorded: false }))],
  ['a lost activation', 'lost', (kept) => void kept.visits.set(...visitRow(NEW, { is_active: false }))],
  ['a lost handoff', 'lost', (kept) => void (kept.more = { handoffs: new Set() })],
  ['a lost event', 'lost', (kept) => void kept.installs.pop()],
  ['an event with two rows', 'doubled', (kept) => void kept.installs.push(kept.installs[0] as StoredInstall)],
  ['an event that nobody sent', 'stranger', (kept) => void bend(kept, 'dead', { event_id: 'nobody' })],
  ['a row that is the record of no call', 'stranger', (kept) => void bend(kept, 'dead', { tag: 'c/unknown' })],
  [
    'a refused event that is stored',
    'stranger',
    (kept) => void change(kept, 'dead', { outcome: 'refused', status: 0 }),
  ],
  ['a visit that nobody made', 'stranger', (kept) => void (kept.more = { visitCount: 5 })],
  ['a record that became no fact', 'poison', (kept) => void (kept.more = { poisonRecords: 1 })],
  ['a lost revocation', 'revocation_lost', (kept) => void kept.visits.set(...visitRow(OLD))],
  [
    'a receipt that nobody revoked',
    'revoked_by_nobody',
    (kept) => void kept.visits.set(...visitRow(NEW, { is_revoked: true })),
  ],
  ['an active receipt that does not match', 'not_matched', (kept) => void bend(kept, 'both', UNMATCHED)],
  ['a token that does not match', 'not_matched', (kept) => void bend(kept, 'token', UNMATCHED)],
  ['an installation that is forgotten', 'not_matched', (kept) => void bend(kept, 'same', UNMATCHED)],
  [
    'an own receipt that gives way to the installation',
    'not_matched',
    (kept) => void bend(kept, 'both', { ...latest(OTHER, 0), selection_policy: 'same_installation' }),
  ],
  ['a revoked receipt that matches', 'revoked_matched', (kept) => void bend(kept, 'dead', latest(OLD))],
  [
    'a receipt that matches and was never activated',
    'inactive_matched',
    (kept) => {
      kept.calls = kept.calls.filter(({ kind, visit }) => kind !== 'activation' || visit !== OTHER)
    },
  ],
  ['a match with an older visit', 'wrong_visit', (kept) => void bend(kept, 'both', latest(NEW, 2))],
  ['a match with a visit that was not named', 'wrong_visit', (kept) => void bend(kept, 'dead', latest(OTHER))],
  [
    "a match with another installation's visit",
    'wrong_visit',
    (kept) => void bend(kept, 'dead', { ...latest(OTHER, 0), selection_policy: 'same_installation' }),
  ],
  ['a revoked receipt that is counted', 'wrong_count', (kept) => void bend(kept, 'both', { candidate_count: 3 })],
  ['a candidate that is not counted', 'wrong_count', (kept) => void bend(kept, 'both', { candidate_count: 1 })],
  [
    'an event that nobody decided',
    'still_pending',
    (kept) => void bend(kept, 'dead', { ...UNMATCHED, resolution: 'pending' }),
  ],
  [
    'an unmatched event that names a visit',
    'wrong_resolution',
    (kept) => void bend(kept, 'dead', { ...UNMATCHED, visit_id: OLD }),
  ],
  ['a row with the type of a repeat', 'wrong_row', (kept) => void bend(kept, 'both', { event_type: 'first_run' })],
  [
    'an answer that is not what is stored',
    'answer_differs',
    (kept) => change(kept, 'token', { answer: { ...callOf(kept, 'token').answer, resolution: 'unmatched' } }),
  ],
  ['two first answers', 'first_twice', (kept) => change(kept, 'both', { answer: callOf(kept, 'both').answer })],
  [
    'a last answer that is not what is stored',
    'answer_differs',
    (kept) => void askAgain(kept, 'token', { candidate_count: 2 }),
  ],
  [
    'a decided answer that changed in the end',
    'answer_changed',
    (kept) => {
      bend(kept, 'token', UNMATCHED, false)
      askAgain(kept)
    },
  ],
  [
    'an event that stays pending for its client',
    'still_pending',
    (kept) => {
      change(kept, 'token', { answer: { ...callOf(kept, 'token').answer, resolution: 'pending' } })
      askAgain(kept, 'token', { resolution: 'pending' })
    },
  ],
  [
    'a last answer that is called the first one',
    'first_twice',
    (kept) => void askAgain(kept, 'token', { duplicate: false }),
  ],
  [
    'an event that is not answered again',
    'not_repeated',
    (kept) => {
      askAgain(kept)
      kept.lastCalls = kept.lastCalls.map((call) => ({ ...call, outcome: 'unknown', status: 503, answer: {} }))
    },
  ],
  [
    'a repeat of nothing',
    'repeat_of_nothing',
    (kept) => change(kept, 'token', { answer: { ...callOf(kept, 'token').answer, duplicate: true } }),
  ],
  [
    'a valid call that is refused',
    'refused',
    (kept) => {
      kept.calls = kept.calls.map((call) =>
        call.kind === 'handoff'
          ? { ...call, outcome: 'refused', status: 404, answer: { error: 'receipt_not_found' } }
          : call,
      )
    },
  ],
  [
    'a receipt that is called revoked without a successor',
    'refused',
    (kept) => {
      const answer = { error: 'receipt_revoked' }
      kept.calls.push({ ...(kept.calls[3] as Call), tag: 'c/again', outcome: 'refused', status: 409, answer })
    },
  ],
  [
    'a connection that is cut by a process which stops in peace',
    'reset',
    (kept) => {
      const name = 'plain stopped in peace'
      kept.disturbances.push({ name, part: 'role', beganMs: 0, endedMs: Number.MAX_SAFE_INTEGER })
      change(kept, 'dead', { outcome: 'unknown', status: 0, silence: 'reset', answer: {} })
    },
  ],
  [
    'a connection that is cut during a rolling upgrade',
    'reset',
    (kept) => {
      kept.disturbances.push({ name: ROLLING_UPGRADE, part: 'role', beganMs: 0, endedMs: Number.MAX_SAFE_INTEGER })
      change(kept, 'dead', { outcome: 'unknown', status: 0, silence: 'reset', answer: {} })
    },
  ],
  [
    'an explanation of something else',
    'explain_differs',
    (kept) => {
      const told = {
        website: SITE,
        event_id: 'both',
        resolution: 'matched',
        visit_id: NEW,
        deliveries: kept.deliveries,
      }
      kept.more = { explained: [told] }
    },
  ],
  ['a delivery without a row', 'not_delivered', (kept) => void kept.deliveries.pop()],
  [
    'a delivery that is still open',
    'not_delivered',
    (kept) => void (kept.deliveries = kept.deliveries.map((row) => ({ ...row, status: 'retrying' }))),
  ],
  ['a delivery that never reached the provider', 'not_delivered', (kept) => void kept.hits.shift()],
  [
    'a delivery that the provider never took',
    'not_delivered',
    (kept) => void (kept.hits = kept.hits.map((hit) => ({ ...hit, isTaken: false }))),
  ],
  [
    'a matched event whose delivery was skipped',
    'not_delivered',
    (kept) => {
      kept.deliveries = kept.deliveries.map((row) => ({ ...row, status: 'skipped', reason: 'unmatched' }))
      kept.hits = []
    },
  ],
  [
    'a delivery under a second ID',
    'delivered_wrongly',
    (kept) => void kept.hits.push({ ...(kept.hits[0] as Hit), id: 'another job' }),
  ],
  [
    'an unmatched event that was sent',
    'delivered_wrongly',
    (kept) => void kept.hits.push({ ...(kept.hits[0] as Hit), id: 'job dead ga' }),
  ],
  [
    'an unmatched event that counts as delivered',
    'wrong_delivery',
    (kept) => void (kept.deliveries = kept.deliveries.map((row) => ({ ...row, status: 'delivered' }))),
  ],
  [
    "a delivery with a repeat's type",
    'wrong_delivery',
    (kept) => void (kept.hits = kept.hits.map((hit) => ({ ...hit, eventName: 'first_run' }))),
  ],
  [
    "a delivery with another visit's identity",
    'wrong_delivery',
    (kept) => void (kept.hits = kept.hits.map((hit) => ({ ...hit, identity: 'ga4 of somebody' }))),
  ],
  [
    'an advertising delivery of a visitor who opted out',
    'delivered_wrongly',
    (kept) => void (kept.calls = kept.calls.map((call) => ({ ...call, gpc: true }))),
  ],
]

describe('the judge of chaos runs', () => {
  it('finds nothing if every promise was kept', () => {
    expect(judge(historyOf(keptHistory()))).to.deep.equal({ violations: [], tolerated: new Map() })
  })

  it('finds nothing if every event is answered again as it is stored, also one that was pending', () => {
    const kept = keptHistory()
    change(kept, 'token', { answer: { ...callOf(kept, 'token').answer, resolution: 'pending' } })
    askAgain(kept)
    expect(judge(historyOf(kept))).to.deep.equal({ violations: [], tolerated: new Map() })
  })

  for (const [name, rule, bendIt] of CASES) {
    it(`finds ${name}`, () => {
      const kept = keptHistory()
      bendIt(kept)
      expect(rulesOf(kept)).to.include(rule)
    })
  }

  it('lets what was under way at the time have happened or not', () => {
    for (const more of [UNMATCHED, latest(OLD)]) {
      const kept = keptHistory()
      // The successor's activation had no answer.
      kept.calls = kept.calls.map((call) =>
        call.kind === 'activation' && call.visit === NEW ? { ...call, outcome: 'unknown', status: 503 } : call,
      )
      bend(kept, 'both', latest(OTHER, 2))
      bend(kept, 'dead', more)
      expect(rulesOf(kept)).to.deep.equal([])
    }
  })

  it('lets an unanswered event be stored or not, and a pending answer become any decision', () => {
    const unanswered = keptHistory()
    change(unanswered, 'dead', { outcome: 'unknown', status: 503, answer: {} })
    expect(rulesOf(unanswered)).to.deep.equal([])
    unanswered.installs.pop()
    Object.assign(unanswered, deliveredOf(unanswered.installs))
    expect(rulesOf(unanswered)).to.deep.equal([])
    const pending = keptHistory()
    change(pending, 'token', { answer: { ...callOf(pending, 'token').answer, resolution: 'pending' } })
    expect(rulesOf(pending)).to.deep.equal([])
  })

  it('takes the record of a retry for that of the try before it, whose decision it repeats', () => {
    const kept = keptHistory()
    const first = callOf(kept, 'both')
    kept.calls = kept.calls.map((call) =>
      call === first || (call.event?.eventId === 'both' && call.tag === first.tag)
        ? { ...call, outcome: 'unknown', status: 503, answer: {} }
        : call,
    )
    const retry = kept.calls.at(-1) as Call
    kept.calls[kept.calls.length - 1] = { ...retry, answer: { ...retry.answer, duplicate: false } }
    bend(kept, 'both', { tag: retry.tag }, false)
    expect(rulesOf(kept)).to.deep.equal([])
    // No client had sent it at that time.
    bend(kept, 'both', { received_at_ms: retry.beganMs + 1 }, false)
    expect(rulesOf(kept)).to.include('wrong_row')
  })

  it('demands the last match of an installation, and takes either of two that were under way at once', () => {
    const kept = keptHistory()
    const story = new Story()
    const second = { ...story.event('second', { installation: 'machine', token: HANDED }), tag: 'c/second' }
    const from = callOf(kept, 'same').beganMs - 500
    const row = rowOf({ ...second, beganMs: from }, HANDED, 'handoff', 1)
    const timed = { ...second, beganMs: from, endedMs: from + 10, answer: JSON.parse(row.answer) as Call['answer'] }
    kept.calls.push(timed)
    kept.installs.push(row)
    Object.assign(kept, deliveredOf(kept.installs))
    expect(rulesOf(kept)).to.deep.equal(['wrong_visit'])
    kept.calls[kept.calls.length - 1] = { ...timed, endedMs: from + 1_000 }
    expect(rulesOf(kept)).to.deep.equal([])
  })
})

describe('the tolerances of chaos runs', () => {
  const memory: Disturbance = { name: 'redis flushed', part: 'memory', beganMs: 0, endedMs: Number.MAX_SAFE_INTEGER }
  const log: Disturbance = { ...memory, name: 'a broker killed', part: 'log' }

  it('say each what documents it', () => {
    for (const { sentence } of TOLERANCES) expect(sentence).to.match(/docs\/\w+\.md|decisions\.md/)
  })

  it('quote what the page says, word for word', () => {
    const quoted = TOLERANCES.flatMap(({ sentence }) => {
      const page = /docs\/\w+\.md/.exec(sentence)?.[0]
      return page === undefined ? [] : [...sentence.matchAll(/"([^"]+)"/g)].map(([, text = '']) => ({ page, text }))
    })
    expect(quoted).to.have.length.greaterThan(2)
    for (const { page, text } of quoted) {
      const said = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8').replaceAll(/\s+/g, ' ')
      expect(said).to.include(text)
    }
  })

  /** What the process that handled a call said about it. */
  const doubtOf = ({ api, beganMs, endedMs }: Call): Disturbance => ({
    name: `${api} in doubt`,
    part: 'doubt',
    process: api,
    beganMs,
    endedMs,
  })

  it('forgive a repeat that is decided anew after Redis was lost by a process in doubt, and not otherwise', () => {
    const kept = keptHistory()
    kept.calls = kept.calls.map((call) =>
      call.tag === kept.calls.at(-1)?.tag ? { ...call, answer: { duplicate: false } } : call,
    )
    expect(rulesOf(kept)).to.have.members(['answer_differs', 'first_twice'])
    kept.disturbances.push(log)
    expect(rulesOf(kept)).to.have.members(['answer_differs', 'first_twice'])
    kept.disturbances.push(memory)
    // The facts and the log were there to be asked.
    expect(rulesOf(kept)).to.have.members(['answer_differs', 'first_twice'])
    const last = kept.calls.at(-1) as Call
    kept.disturbances.push({ ...doubtOf(last), process: 'another' })
    expect(rulesOf(kept)).to.have.members(['answer_differs', 'first_twice'])
    kept.disturbances.push(doubtOf(last))
    const forgiven = { violations: [], tolerated: new Map([['decided anew', 2]]) }
    expect(judge(historyOf(kept))).to.deep.equal(forgiven)
  })

  it('forgive it as well if an earlier try had no answer: its record may come later', () => {
    const kept = keptHistory()
    const last = kept.calls.at(-1) as Call
    kept.calls = kept.calls.map((call) => (call.tag === last.tag ? { ...call, answer: { duplicate: false } } : call))
    kept.disturbances.push(memory)
    expect(rulesOf(kept)).to.have.members(['answer_differs', 'first_twice'])
    kept.calls.push({
      ...last,
      tag: 'c/unanswered',
      outcome: 'unknown',
      status: 0,
      answer: {},
      beganMs: last.beganMs - 5,
      endedMs: last.beganMs - 1,
    })
    expect(rulesOf(kept)).to.deep.equal([])
  })

  it('forgive nothing that was answered before Redis was lost, although the event is sent once more afterwards', () => {
    const kept = keptHistory()
    const last = kept.calls.at(-1) as Call
    kept.calls = kept.calls.map((call) => (call.tag === last.tag ? { ...call, answer: { duplicate: false } } : call))
    kept.disturbances.push({ ...memory, beganMs: last.endedMs + 600_000, endedMs: last.endedMs + 610_000 })
    kept.lastCalls = [
      { ...last, tag: 'c/afterwards', beganMs: last.endedMs + 900_000, endedMs: last.endedMs + 900_010 },
    ]
    expect(rulesOf(kept)).to.include.members(['answer_differs', 'first_twice'])
  })

  it('forgive an installation that follows an answer which was decided anew', () => {
    const kept = keptHistory()
    const told = { answer: { ...answerOf({ ...UNMATCHED, ...latest(NEW), event_id: 'dead' }) } }
    change(kept, 'dead', told)
    const story = new Story()
    const timed = { beganMs: 1_100_000, endedMs: 1_100_010, tag: 'c/later' }
    const later = story.event('later', { installation: 'of dead' }, timed)
    const row = rowOf(later, NEW, 'same_installation', 0)
    kept.calls.push({ ...later, answer: JSON.parse(row.answer) as Call['answer'] })
    kept.installs.push(row)
    Object.assign(kept, deliveredOf(kept.installs))
    expect(rulesOf(kept)).to.have.members(['answer_differs', 'wrong_visit'])
    kept.disturbances.push(memory)
    expect(rulesOf(kept)).to.have.members(['answer_differs', 'wrong_visit'])
    kept.disturbances.push(doubtOf(callOf(kept, 'dead')))
    expect(rulesOf(kept)).to.deep.equal([])
  })

  it('forgive a pending event that follows the next one of its installation, within the difference of clocks', () => {
    const kept = keptHistory()
    const story = new Story()
    const at = (tag: string, beganMs: number): Partial<Call> => ({ tag, beganMs, endedMs: beganMs + 10 })
    const early = story.event('early', { installation: 'new machine' }, at('c/early', 1_100_000))
    const next = story.event('next', { installation: 'new machine', token: HANDED }, at('c/next', 1_104_000))
    const rows = [rowOf(early, HANDED, 'same_installation', 0), rowOf(next, HANDED, 'handoff', 1)] as const
    const told = answerOf({ event_id: 'early', resolution: 'pending', selection_policy: 'none', candidate_count: 0 })
    kept.calls.push({ ...early, answer: told }, { ...next, answer: JSON.parse(rows[1].answer) as Call['answer'] })
    kept.installs.push(...rows)
    Object.assign(kept, deliveredOf(kept.installs))
    const outcome = new Map([['next event of the installation', 1]])
    expect(judge(historyOf(kept))).to.deep.equal({ violations: [], tolerated: outcome })
    bend(kept, 'next', { received_at_ms: rows[0].received_at_ms + 5_001 })
    expect(rulesOf(kept)).to.deep.equal(['wrong_visit'])
    bend(kept, 'next', { received_at_ms: rows[0].received_at_ms + 5_000 })
    expect(rulesOf(kept)).to.deep.equal([])
    change(kept, 'early', { answer: { ...told, resolution: 'matched' } })
    expect(rulesOf(kept)).to.include('wrong_visit')
  })

  it('forgive only an older receipt, and only while its successor cannot be known', () => {
    const kept = keptHistory()
    bend(kept, 'dead', latest(OLD))
    kept.disturbances.push(memory)
    expect(judge(historyOf(kept)).tolerated).to.deep.equal(new Map([['predecessor unknown', 1]]))
    // Two minutes later everybody knows.
    const beganMs = callOf(kept, 'dead').beganMs + 120_000
    change(kept, 'dead', { beganMs, endedMs: beganMs + 10 })
    expect(rulesOf(kept)).to.deep.equal(['revoked_matched'])
  })

  it('forgive an activation that is in a spool if Redis forgot it as well, and not one that another api took', () => {
    const kept = keptHistory()
    bend(kept, 'both', { ...latest(OTHER, 1) })
    kept.disturbances.push(memory, log)
    expect(rulesOf(kept)).to.deep.equal(['wrong_count'])
    kept.calls = kept.calls.map((call) => (call.visit === NEW ? { ...call, api: 'spool' } : call))
    expect(rulesOf(kept)).to.deep.equal([])
    // The api that keeps the spool puts the install behind what waits there.
    change(kept, 'both', { api: 'spool' })
    expect(rulesOf(kept)).to.deep.equal(['wrong_count'])
  })
})

describe('the story of a violation', () => {
  it('lists the calls, the row, the deliveries and the hits in their order, and nothing of others', () => {
    const kept = keptHistory()
    bend(kept, 'dead', latest(OLD))
    kept.disturbances.push({ name: 'dispatch killed', part: 'role', beganMs: 1_000_000, endedMs: 1_001_000 })
    const history = historyOf(kept)
    const [violation] = judge(history).violations
    const text = storyOf(violation as NonNullable<typeof violation>, history)
    for (const part of ['revoked_matched', 'dispatch killed', `visit ${NEW}`, 'event dead', 'row', 'job dead ga']) {
      expect(text).to.include(part)
    }
    expect(text).to.not.include('event token')
    expect(text).to.not.include(OTHER)
  })
})
