/** The rate limits of collection, at the edges of windows that are aligned to the clock. */

import { expect } from 'chai'
import { RATE_RULES, type RateRuleName } from '../../domain/limits.ts'
import type { Reply } from '../../fixtures/service/requests.ts'
import { eventBody, freshAddress, logsOf, startApi, visitBody, type Api, type CallOptions } from './support/api.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** Far from any midnight, at the beginning of a minute. */
const NOON_MS = Date.UTC(2040, 10, 21, 12, 0, 0)
const CONFIG = '/v1/projects/acme-dev/browser-config'

describe('rate limits', () => {
  let api: Api
  let nowMs = NOON_MS
  before(async () => {
    api = await startApi({ nowMs: () => nowMs })
  })
  after(() => api.stop())
  beforeEach(() => {
    // Every test has a minute and a day of its own.
    nowMs = NOON_MS + Math.ceil((nowMs - NOON_MS + 1) / DAY_MS) * DAY_MS
  })

  /** Calls `ask` `count` times, a few at once. */
  const repeat = async (count: number, ask: (index: number) => Promise<Reply>): Promise<Reply[]> => {
    const replies: Reply[] = []
    for (let done = 0; done < count; done += 30) {
      const batch = Array.from({ length: Math.min(30, count - done) }, (_, index) => ask(done + index))
      replies.push(...(await Promise.all(batch)))
    }
    return replies
  }
  const statuses = (replies: readonly Reply[]): number[] => [...new Set(replies.map(({ status }) => status))]
  const expectLimited = (reply: Reply, retryAfter: number): void => {
    expect(reply.status).to.equal(429)
    expect(reply.body).to.deep.equal({ error: 'rate_limited', retryAfter })
    expect(reply.headers.get('retry-after')).to.equal(String(retryAfter))
  }
  /** Uses up a window without a request: through the hot state, under the key that requests count under. */
  const fill = async (rule: RateRuleName, subject: string, count: number): Promise<void> => {
    const { limit, windowS } = RATE_RULES[rule]
    for (let hit = 0; hit < count; hit++) {
      await api.service.hotState.countHits([{ key: `${rule}:${subject}`, limit, windowS }])
    }
  }
  /** Lets the clock run during a wait: batches are written only after some time. */
  const ticking = async <T>(wait: () => Promise<T>): Promise<T> => {
    const timer = setInterval(() => (nowMs += 10), 10)
    try {
      return await wait()
    } finally {
      clearInterval(timer)
    }
  }
  const activityOf = async (rule: string) => {
    await ticking(() => api.service.drain('facts-writer'))
    const period = { since_ms: nowMs - DAY_MS / 2, until_ms: nowMs + DAY_MS / 2, limit: 1_000, organization: 'acme' }
    const rows = await api.service.facts.run('listActivity', period)
    return rows.filter(({ subject, type }) => subject === rule && type === 'rate_limit_reached')
  }

  describe('240 requests a minute of a client address, all collection endpoints together', () => {
    const ask = (index: number, options: CallOptions): Promise<Reply> => {
      const kinds = [
        () => api.get(CONFIG, options),
        () => api.get('/v1/projects/acme-dev/report.sh', options),
        () => api.post('/v1/visits', '{', options),
        () => api.post('/v1/handoffs', visitBody({ project: 'nobody' }), options),
        () => api.get('/v1/projects/acme-dev/paths/cli/report.sh', { ...options, method: 'HEAD' }),
      ]
      return kinds[index % kinds.length]!()
    }

    it('admits exactly 240, refuses the next until the minute ends, and begins again with the next', async () => {
      const client = { address: freshAddress() }
      nowMs += 12_345
      const replies = await repeat(240, (index) => ask(index, client))
      expect(statuses(replies)).to.not.include(429)
      expectLimited(await api.get(CONFIG, client), 48)
      nowMs += MINUTE_MS - 12_345 - 1
      expectLimited(await api.get(CONFIG, client), 1)
      nowMs += 1
      expect((await api.get(CONFIG, client)).status).to.equal(200)
    })

    it('admits exactly 240 of 400 at once', async () => {
      const client = { address: freshAddress() }
      const replies = await Promise.all(Array.from({ length: 400 }, () => api.get(CONFIG, client)))
      expect(replies.filter(({ status }) => status === 200).length).to.equal(240)
      expect(replies.filter(({ status }) => status === 429).length).to.equal(160)
    })

    it('keeps addresses apart, IPv4 whole and IPv6 by its /64', async () => {
      const full = async (address: string, others: readonly string[], free: readonly string[]) => {
        await repeat(240, () => api.get(CONFIG, { address }))
        for (const other of others) expect((await api.get(CONFIG, { address: other })).status, other).to.equal(429)
        for (const other of free) expect((await api.get(CONFIG, { address: other })).status, other).to.equal(200)
      }
      await full(
        '2001:db8:1:2::1',
        ['2001:db8:1:2::2', '2001:DB8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2:3:4:192.0.2.1', '[2001:db8:1:2::9]:443'],
        ['2001:db8:1:3::1', '2001:db8:1::1'],
      )
      await full('192.0.2.7', ['::ffff:192.0.2.7', '192.0.2.7:4711', '::ffff:c000:207'], ['192.0.2.8'])
    })

    it('trusts only the nearest proxy: addresses that a client adds change nothing', async () => {
      const address = freshAddress()
      await repeat(240, (index) => api.get(CONFIG, { address: `10.99.0.${index}, ${address}` }))
      expect((await api.get(CONFIG, { address })).status).to.equal(429)
    })

    it('counts clients without a readable address by the address of the peer', async () => {
      const replies = await repeat(240, (index) =>
        api.get(CONFIG, { address: ['', 'unknown', '_hidden', 'x'.repeat(2_000), '999'][index % 5]! }),
      )
      expect(statuses(replies)).to.deep.equal([200])
      expect((await api.get(CONFIG, { address: 'nonsense' })).status).to.equal(429)
    })

    it('does not count preflights, wrong methods, and what is not collection', async () => {
      const client = { address: freshAddress() }
      await repeat(300, (index) =>
        index % 2 === 0
          ? api.get('/health', client)
          : api.get(CONFIG, { ...client, method: ['OPTIONS', 'DELETE', 'POST'][index % 3]! }),
      )
      expect((await api.get(CONFIG, client)).status).to.equal(200)
    })

    it('is refused before the body is checked, keeps the connection, and lets a registered origin read it', async () => {
      const client = { address: freshAddress() }
      await repeat(240, () => api.get(CONFIG, client))
      const reply = await api.post('/v1/visits', 'not json', {
        ...client,
        headers: { 'Content-Type': 'text/plain' },
        origin: 'https://acme.dev',
      })
      expectLimited(reply, 60)
      expect(reply.headers.get('connection')).to.not.equal('close')
      expect(reply.headers.get('access-control-allow-origin')).to.equal('https://acme.dev')
      expect((await api.post('/v1/visits', 'x'.repeat(20_000), client)).headers.get('connection')).to.equal('close')
    })

    it('is in Logs with its body and in the activity of the website once a minute', async () => {
      const client = { address: freshAddress() }
      await repeat(240, () => api.get(CONFIG, client))
      const body = JSON.stringify(visitBody({ referrer: 'https://limited.example/' }))
      for (let again = 0; again < 3; again++) await api.post('/v1/visits', body, client)
      const rows = await ticking(() => logsOf(api, (row) => row.body === body, 3))
      expect(rows[0]).to.deep.include({
        status: 429,
        code: 'rate_limited',
        website: 'acme-dev',
        organization: 'acme',
        path: '/v1/visits',
      })
      expect((await activityOf('collection')).length).to.equal(1)
      nowMs += MINUTE_MS
      await repeat(242, () => api.get(CONFIG, client))
      expect((await activityOf('collection')).length).to.equal(2)
    })
  })

  describe('30 install events a minute of a client address at a website', () => {
    const report = (address: string, more: Record<string, unknown> = {}) => api.event(more, { address })

    it('admits exactly 30 and begins again with the next minute', async () => {
      const address = freshAddress()
      nowMs += 30_500
      expect(statuses(await repeat(30, () => report(address)))).to.deep.equal([200])
      expectLimited(await report(address), 30)
      expect((await report(freshAddress())).status).to.equal(200)
      nowMs += 29_500
      expect((await report(address)).status).to.equal(200)
    })

    it('counts repeats and unmatched events too, and leaves out malformed ones', async () => {
      const address = freshAddress()
      const event = eventBody()
      await repeat(40, () => api.post('/v1/events', { ...event, event_type: 'x' }, { address }))
      await repeat(40, () => api.post('/v1/events', event, { address, origin: 'https://acme.dev' }))
      expect(statuses(await repeat(30, () => api.post('/v1/events', event, { address })))).to.deep.equal([200])
      expectLimited(await api.post('/v1/events', event, { address }), 60)
    })

    it('is an activity entry once a minute, and every refusal is in Logs', async () => {
      const address = freshAddress()
      await repeat(30, () => report(address))
      const sent = await Promise.all(Array.from({ length: 3 }, async () => eventBody()))
      for (const event of sent) await api.post('/v1/events', event, { address })
      const ids = sent.map((event) => event['event_id'] as string)
      const rows = await ticking(() => logsOf(api, ({ body }) => ids.some((id) => body.includes(id)), 3))
      expect(rows.map(({ code }) => code)).to.deep.equal(['rate_limited', 'rate_limited', 'rate_limited'])
      expect((await activityOf('events_per_address_minute')).length).to.equal(1)
    })
  })

  describe('500 install events a day of a client address at a website', () => {
    it('admits exactly 500 and begins again at midnight UTC; the longest window is the one to wait for', async () => {
      const address = freshAddress()
      for (let minute = 0; minute < 16; minute++) {
        expect(statuses(await repeat(30, () => api.event({}, { address })))).to.deep.equal([200])
        nowMs += MINUTE_MS
      }
      expect(statuses(await repeat(20, () => api.event({}, { address })))).to.deep.equal([200])
      const midnightMs = Math.ceil(nowMs / DAY_MS) * DAY_MS
      expectLimited(await api.event({}, { address }), (midnightMs - nowMs) / 1_000)
      nowMs = midnightMs - 1
      expectLimited(await api.event({}, { address }), 1)
      nowMs = midnightMs
      expect((await api.event({}, { address })).status).to.equal(200)
    })
  })

  describe('1,200 install events a minute of a website', () => {
    it('admits exactly 1,200 of all addresses together', async () => {
      await fill('events', 'acme-dev', 1_170)
      expect(statuses(await repeat(30, () => api.event()))).to.deep.equal([200])
      expectLimited(await api.event(), 60)
      expect((await activityOf('events')).length).to.equal(1)
      nowMs += MINUTE_MS
      expect((await api.event()).status).to.equal(200)
    })

    it('is not used up by requests that the narrower limit refuses', async () => {
      await fill('events', 'acme-dev', 1_165)
      const address = freshAddress()
      expect(statuses(await repeat(30, () => api.event({}, { address })))).to.deep.equal([200])
      expect(statuses(await repeat(30, () => api.event({}, { address })))).to.deep.equal([429])
      expect(statuses(await repeat(5, () => api.event()))).to.deep.equal([200])
      expectLimited(await api.event(), 60)
    })
  })

  describe('6,000 visits a minute of a website', () => {
    it('admits exactly 6,000, with or without a marker, and leaves handoffs of earlier visits and events alone', async () => {
      const { receipt } = (await api.visit()).body['marker']
      await fill('visits', 'acme-dev', 5_989)
      expect(statuses(await repeat(9, () => api.visit()))).to.deep.equal([200])
      expect((await api.handoff(visitBody())).status).to.equal(200)
      expectLimited(await api.visit(), 60)
      expectLimited(await api.handoff(visitBody()), 60)
      expect((await api.handoff({ receipt })).status).to.equal(200)
      expect((await api.event()).status).to.equal(200)
      expect((await activityOf('visits')).length).to.equal(1)
      nowMs += MINUTE_MS
      expect((await api.visit()).status).to.equal(200)
    })

    it('is not used up by visits that are refused for their content', async () => {
      await fill('visits', 'acme-dev', 5_995)
      await repeat(30, (index) =>
        api.visit([{ url_id: 'x' }, { page_url: 'https://evil.example/' }, { gpc: 1 }][index % 3]),
      )
      expect(statuses(await repeat(5, () => api.visit()))).to.deep.equal([200])
      expectLimited(await api.visit(), 60)
    })
  })

  it('lets 1,000 refusals a second into Logs and counts the rest in the metrics', async () => {
    const client = { address: freshAddress() }
    await repeat(240, () => api.get(CONFIG, client))
    await repeat(1_100, () => api.get(CONFIG, { ...client, headers: { 'User-Agent': 'flood' } }))
    const metrics = await (await fetch(api.service.metricsUrl)).text()
    expect(metrics).to.match(/whence_records_shed_total\{[^}]*request_record[^}]*\} 1\d\d\n/)
    const rows = await ticking(() => logsOf(api, ({ user_agent }) => user_agent === 'flood', 1_000))
    expect(rows.length).to.equal(1_000)
  })
})
