/** Clients that visit, activate, hand off and install without pause, and record the answers. */

import { randomInt } from 'node:crypto'
import { Agent, request } from 'node:http'
import { eventBody, newId, urlIdOf } from '../../fixtures/service/requests.ts'
import type { Operation, Outcome } from './service.history.ts'
import { LOAD_MEASUREMENT_ID, LOAD_ORIGIN } from './service.manifests.ts'

export interface LoadOptions {
  readonly url: string
  readonly websites: readonly string[]
  readonly clients: number
}

export interface Load {
  /** Lets every client finish what it is at; what hangs on a dead connection ends as unknown. */
  readonly stop: () => Promise<void>
}

const PAGE = `${LOAD_ORIGIN}/install`
const ANSWER_MS = 8_000
const MOST_REPEATS = 20

interface Sent {
  readonly outcome: Outcome
  readonly status: number
  readonly brokenBy?: string
  readonly answer: Readonly<Record<string, any>>
}

/** A connection is given up before a stopping server closes it for idling: what is sent at that moment would be cut off. */
const IDLE_MS = 100

interface EventTry {
  readonly website: string
  readonly body: Record<string, any>
}

/** Across loads, so that tags and what is to be repeated outlive a kill. */
export class Clients {
  readonly operations: Operation[] = []
  #count = 0
  /** Events without an answer, each with the receipt it carried; a client of the next load tries them again. */
  readonly #unanswered: EventTry[] = []
  readonly #answered: EventTry[] = []

  start({ url, websites, clients }: LoadOptions): Load {
    // A client may report an event twice at once, and another repeats old ones: none waits for a connection.
    const agent = new Agent({ keepAlive: true, maxSockets: clients * 2 + 1, timeout: IDLE_MS })
    let isStopped = false
    const one = async (): Promise<void> => {
      const client = new Client(url, agent, (operation) => void this.operations.push(operation), this.#nextTag)
      while (!isStopped && !client.isCutOff) await this.#turn(client, websites[randomInt(websites.length)] ?? '')
    }
    const all = Promise.all([this.#repeatOld(url, agent), ...Array.from({ length: clients }, one)])
    return {
      stop: async () => {
        isStopped = true
        await all
        agent.destroy()
      },
    }
  }

  readonly #nextTag = (): string => `load/${(this.#count += 1)}`

  /** One of the ways in which a website is used. */
  async #turn(client: Client, website: string): Promise<void> {
    const dice = randomInt(100)
    if (dice < 50) return this.#installByReceipt(client, website)
    if (dice < 70) return this.#installByToken(client, website)
    if (dice < 80) return this.#installAfterHandoffOnly(client, website)
    if (dice < 90) return this.#report(client, { website, body: eventBody({ project: website }) })
    await client.post('event', website, '/v1/events', eventBody({ project: website, event_type: 'no_such_type' }))
    await client.post('visit', 'no-such-website', '/v1/visits', visitOf('no-such-website'))
  }

  async #installByReceipt(client: Client, website: string): Promise<void> {
    const visit = await client.post('visit', website, '/v1/visits', visitOf(website))
    const receipt: unknown = visit.answer['marker']?.receipt
    if (typeof receipt !== 'string') return
    await client.post('activation', website, '/v1/visits/activate', { project: website, receipt })
    const event = { website, body: eventBody({ project: website, receipts: [receipt] }) }
    if (randomInt(4) === 0) await Promise.all([this.#report(client, event), this.#report(client, event)])
    else await this.#report(client, event)
    if (randomInt(3) === 0) await this.#report(client, event)
  }

  async #installByToken(client: Client, website: string): Promise<void> {
    const visit = await client.post('visit', website, '/v1/visits', visitOf(website))
    const receipt: unknown = visit.answer['marker']?.receipt
    if (typeof receipt !== 'string') return
    const handoff = await client.post('handoff', website, '/v1/handoffs', { project: website, receipt })
    const token: unknown = handoff.answer['token']
    if (typeof token === 'string') await this.#report(client, tokenEvent(website, token))
  }

  async #installAfterHandoffOnly(client: Client, website: string): Promise<void> {
    const handoff = await client.post('handoff', website, '/v1/handoffs', visitOf(website))
    const token: unknown = handoff.answer['token']
    if (typeof token === 'string') await this.#report(client, tokenEvent(website, token))
  }

  async #report(client: Client, event: EventTry): Promise<void> {
    const { outcome } = await client.post('event', event.website, '/v1/events', event.body)
    if (outcome === 'unknown') this.#unanswered.push(event)
    if (outcome === 'ok') this.#answered.push(event)
  }

  /** After a restart: what had no answer is tried again, and what had one must get the very same. */
  async #repeatOld(url: string, agent: Agent): Promise<void> {
    const client = new Client(url, agent, (operation) => void this.operations.push(operation), this.#nextTag)
    for (const event of this.#unanswered.splice(0)) {
      // The world has moved on since: the receipt it carries is replaced by a newer visit's.
      if (randomInt(2) === 0) await replaceReceipt(client, event)
      await this.#report(client, event)
      if (client.isCutOff) return
    }
    for (let repeats = 0; repeats < MOST_REPEATS && this.#answered.length > 0 && !client.isCutOff; repeats++) {
      const event = this.#answered[randomInt(this.#answered.length)]
      if (event !== undefined) await client.post('event', event.website, '/v1/events', event.body)
    }
  }
}

async function replaceReceipt(client: Client, { website, body }: EventTry): Promise<void> {
  const previous: unknown = body['receipts'][0]
  if (typeof previous !== 'string') return
  const visit = await client.post('visit', website, '/v1/visits', { ...visitOf(website), previous_receipt: previous })
  const receipt: unknown = visit.answer['marker']?.receipt
  if (typeof receipt === 'string') {
    await client.post('activation', website, '/v1/visits/activate', { project: website, receipt })
  }
}

class Client {
  /** The server has gone: going on would only make the history longer. */
  isCutOff = false
  readonly #url: string
  readonly #agent: Agent
  readonly #record: (operation: Operation) => void
  readonly #nextTag: () => string

  constructor(url: string, agent: Agent, record: (operation: Operation) => void, nextTag: () => string) {
    this.#url = url
    this.#agent = agent
    this.#record = record
    this.#nextTag = nextTag
  }

  async post(kind: Operation['kind'], website: string, path: string, body: Record<string, any>): Promise<Sent> {
    const tag = this.#nextTag()
    const beganAt = performance.now()
    const headers = { 'User-Agent': tag, 'X-Forwarded-For': `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}` }
    const origin = kind === 'event' ? {} : { Origin: LOAD_ORIGIN }
    const sent = await send(`${this.#url}${path}`, this.#agent, { ...headers, ...origin }, JSON.stringify(body))
    if (sent.status === 0) this.isCutOff = true
    const subject = kind === 'event' ? body['event_id'] : visitIdOf(receiptIn(sent.answer) ?? body['receipt'])
    const names = visitIdOf(body['previous_receipt'] ?? body['receipts']?.[0] ?? body['handoff']?.slice('wht_'.length))
    const hasToken = body['handoff'] !== undefined
    this.#record({ tag, kind, website, subject, names, hasToken, ...sent, beganAt, endedAt: performance.now() })
    return sent
  }
}

/** Never rejects. A 503 promises nothing, so that what it answered may have happened. */
function send(url: string, agent: Agent, headers: Record<string, string>, body: string): Promise<Sent> {
  const unknown: Sent = { outcome: 'unknown', status: 0, answer: {} }
  return new Promise((resolve) => {
    const outgoing = request(
      url,
      { method: 'POST', agent, timeout: ANSWER_MS, headers: { ...headers, 'Content-Type': 'application/json' } },
      (response) => {
        let text = ''
        response.on('data', (chunk) => (text += String(chunk)))
        response.on('error', () => resolve(unknown))
        response.on('close', () => {
          const status = response.statusCode ?? 0
          if (!response.complete) resolve(unknown)
          else if (status === 503) resolve({ ...unknown, status })
          else resolve({ outcome: status === 200 ? 'ok' : 'refused', status, answer: JSON.parse(text) })
        })
      },
    )
    outgoing.on('timeout', () => outgoing.destroy())
    // If no process listens any more, nothing can have happened.
    outgoing.on('error', ({ code }: NodeJS.ErrnoException) =>
      resolve({ ...unknown, brokenBy: code ?? 'timeout', ...(code === 'ECONNREFUSED' ? { outcome: 'refused' } : {}) }),
    )
    outgoing.end(body)
  })
}

function visitOf(website: string): Record<string, any> {
  const now = Math.floor(Date.now() / 1_000)
  const identity = { client_id: `${randomInt(1_000_000_000)}.${now}`, session_id: String(now) }
  return {
    project: website,
    url_id: urlIdOf(PAGE),
    page_url: PAGE,
    identities: { ga4: { [LOAD_MEASUREMENT_ID]: identity } },
  }
}

function tokenEvent(website: string, token: string): EventTry {
  return { website, body: eventBody({ project: website, handoff: token, event_id: newId() }) }
}

function receiptIn(answer: Readonly<Record<string, any>>): string | undefined {
  return answer['marker']?.receipt ?? answer['receipt']
}

/** The visit of a receipt or of a token's body; empty if there is none. */
function visitIdOf(text: string | undefined): string {
  if (text === undefined) return ''
  const bytes = Buffer.from(text, 'base64url').subarray(0, 16)
  // The bits that distinguish receipts from tokens and carry GPC are not part of the visit's ID.
  bytes[0] = (bytes[0] ?? 0) & 0b0110_1111
  return bytes.toString('hex')
}
