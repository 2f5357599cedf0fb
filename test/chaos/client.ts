/** Sends the calls of chaos runs to the processes of the api and records the answer to each. */

import { randomBytes, randomInt } from 'node:crypto'
import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { CHAOS_ORIGIN } from './manifests.ts'
import type { Call, Identity, Kind, Outcome, SentEvent, Silence } from './history.ts'

export interface Api {
  readonly name: string
  readonly url: string
}

/** A call before it is sent. */
export interface Plan {
  readonly kind: Kind
  readonly website: string
  readonly body: Readonly<Record<string, any>>
  readonly visit?: string
  readonly previous?: string
  readonly identity?: Identity
  readonly gpc?: boolean
  readonly event?: SentEvent
}

/** What must not be found again in any store. */
export interface Canaries {
  readonly addresses: Set<string>
  /** Receipts and tokens, without the prefix of a token. */
  readonly secrets: Set<string>
  /** Identities that came along with Global Privacy Control. */
  readonly optedOut: Set<string>
}

export const COOKIE_CANARY = 'session=cookie-canary-of-the-visitor'
const PATHS = { visit: '/v1/visits', activation: '/v1/visits/activate', handoff: '/v1/handoffs', event: '/v1/events' }
/** Twice what the service promises at most, so that what it breaks is seen. */
const ANSWER_MS = 10_000
/** A connection is given up before a stopping server closes it for idling: what is sent at that moment would be cut off. */
const IDLE_MS = 100
const REPEATS_AT_ONCE = 8
const REPEAT_TRIES = 30
const REPEAT_AFTER_MS = 1_000

export class Client {
  readonly calls: Call[] = []
  readonly canaries: Canaries = { addresses: new Set(), secrets: new Set(), optedOut: new Set() }
  readonly #agent = new Agent({ keepAlive: true, timeout: IDLE_MS })
  /** Of events that were answered ok, by website and event ID: what was sent first. */
  readonly #answered = new Map<string, Plan>()
  readonly #run = randomBytes(3).toString('hex')
  #count = 0

  /** Forgets the calls of the round before; canaries stay. */
  forget(): void {
    this.calls.length = 0
    this.#answered.clear()
  }

  close(): void {
    this.#agent.destroy()
  }

  async send(api: Api, plan: Plan): Promise<Call> {
    const call = await this.#call(api, plan)
    this.calls.push(call)
    const key = `${plan.website}/${plan.event?.eventId}`
    if (plan.event !== null && plan.event !== undefined && call.outcome === 'ok' && !this.#answered.has(key))
      this.#answered.set(key, plan)
    return call
  }

  /** Asks once more, with the same body, for each event that was answered ok. */
  async repeatAll(apis: readonly [Api, ...Api[]]): Promise<Call[]> {
    const last: Call[] = []
    const plans = [...this.#answered.values()]
    for (let from = 0; from < plans.length; from += REPEATS_AT_ONCE) {
      const some = plans.slice(from, from + REPEATS_AT_ONCE)
      last.push(
        ...(await Promise.all(some.map((plan, index) => this.#repeat(apis[index % apis.length] ?? apis[0], plan)))),
      )
    }
    return last
  }

  async #repeat(api: Api, plan: Plan): Promise<Call> {
    for (let tries = 1; ; tries++) {
      const call = await this.#call(api, plan)
      // After a loss of Redis a repeat may be decided anew, and be pending for a moment: its decision counts.
      const isOpen = call.outcome === 'unknown' || call.answer['resolution'] === 'pending'
      if (!isOpen || tries === REPEAT_TRIES) return call
      await wait(REPEAT_AFTER_MS)
    }
  }

  async #call(api: Api, plan: Plan): Promise<Call> {
    const tag = `chaos-${this.#run}/${(this.#count += 1)}`
    const origin = plan.kind === 'event' ? {} : { Origin: CHAOS_ORIGIN, Cookie: COOKIE_CANARY }
    const headers = { 'User-Agent': tag, 'X-Forwarded-For': this.#address(), ...origin }
    const beganMs = Date.now()
    const sent = await post(`${api.url}${PATHS[plan.kind]}`, this.#agent, headers, plan.body)
    const receipt = receiptIn(sent.answer)
    this.#plant(plan, [receipt, sent.answer['token']?.slice('wht_'.length)])
    const { kind, website, previous = '', identity = null, gpc = false, event = null } = plan
    const visit = plan.visit ?? (receipt === undefined ? '' : visitOf(receipt))
    const asked = { tag, kind, website, api: api.name, beganMs, endedMs: Date.now() }
    return { ...asked, ...sent, visit, previous, identity, gpc, event }
  }

  #plant({ gpc, identity }: Plan, secrets: readonly (string | undefined)[]): void {
    for (const secret of secrets) if (secret !== undefined) this.canaries.secrets.add(secret)
    if (gpc === true && identity !== undefined) this.canaries.optedOut.add(identity.meta)
  }

  /** An address of its own, as behind a proxy; in a spelling that occurs nowhere by accident. */
  #address(): string {
    const part = (): string => randomInt(0x1000, 0x10000).toString(16)
    const address = `2001:db8:${part()}:${part()}:${part()}:${part()}:${part()}:${part()}`
    this.canaries.addresses.add(address)
    return address
  }
}

/** The receipt that an answer carries. */
export function receiptIn(answer: Readonly<Record<string, any>>): string | undefined {
  return answer['marker']?.receipt ?? answer['receipt']
}

/** The visit of a receipt, or of a token without its prefix. */
export function visitOf(receipt: string): string {
  const bytes = Buffer.from(receipt, 'base64url').subarray(0, 16)
  // The bits that distinguish receipts from tokens and carry GPC are not part of the visit's ID.
  bytes[0] = (bytes[0] ?? 0) & 0b0110_1111
  return bytes.toString('hex')
}

interface Told {
  readonly outcome: Outcome
  readonly status: number
  readonly silence: Silence
  readonly answer: Readonly<Record<string, any>>
}

/** Never rejects. */
function post(url: string, agent: Agent, headers: Record<string, string>, body: unknown): Promise<Told> {
  const sent = { 'Content-Type': 'application/json', ...headers }
  return new Promise((resolve) => {
    const outgoing = request(url, { method: 'POST', agent, timeout: ANSWER_MS, headers: sent }, (response) => {
      let text = ''
      response.on('data', (chunk) => (text += String(chunk)))
      response.on('error', () => resolve(silent('reset')))
      response.on('close', () =>
        resolve(response.complete ? read(response.statusCode ?? 0, text) : silent(isLate ? 'late' : 'reset')),
      )
    })
    let isLate = false
    outgoing.on('timeout', () => {
      isLate = true
      outgoing.destroy()
    })
    outgoing.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED') resolve(silent('unreachable'))
      else if (isLate) resolve(silent('late'))
      else resolve(silent(outgoing.reusedSocket ? 'reset while idle' : 'reset'))
    })
    outgoing.end(JSON.stringify(body))
  })
}

/** If no process listens any more, nothing can have happened. */
function silent(silence: Silence): Told {
  return { outcome: silence === 'unreachable' ? 'refused' : 'unknown', status: 0, silence, answer: {} }
}

function read(status: number, text: string): Told {
  // A 503 promises nothing: the request may have had its effect.
  const unknown: Told = { outcome: 'unknown', status, silence: '', answer: {} }
  if (status === 503) return unknown
  try {
    const answer = JSON.parse(text) as Told['answer']
    return { ...unknown, outcome: status === 200 ? 'ok' : 'refused', answer }
  } catch {
    return unknown
  }
}
