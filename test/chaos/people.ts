/**
 * People who visit, come back, copy a command and install, at their own pace: new ones come all the time, and some wait
 * so long between two steps that any disturbance falls in between.
 */

import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { newId, urlIdOf } from '../../fixtures/service/requests.ts'
import { receiptIn, visitOf, type Api, type Client, type Plan } from './client.ts'
import type { Dice } from './dice.ts'
import type { Call, SentEvent } from './history.ts'
import { CHAOS_MEASUREMENT_ID, CHAOS_ORIGIN, CHAOS_PATH, CHAOS_WEBSITES } from './manifests.ts'

const PAGE = `${CHAOS_ORIGIN}/install`
const TYPES = ['install_started', 'install_completed', 'first_run'] as const
/** More at once are not let in: what waits for a service that is down must not become a flood. */
const MOST_PEOPLE = 400
const MOST_TRIES = 6
const TRY_AGAIN_MS = 250

export interface PeopleOptions {
  readonly client: Client
  readonly apis: readonly [Api, ...Api[]]
  readonly dice: Dice
  /** New people a second; each makes about eight calls. */
  readonly perSecond: number
}

export interface People {
  /** No new people come; those who are there finish without waiting any longer. */
  readonly stop: () => Promise<void>
}

export function letPeopleIn(options: PeopleOptions): People {
  const ending = new AbortController()
  const inside = new Set<Promise<void>>()
  const admit = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await wait(1_000 / options.perSecond)
      if (inside.size >= MOST_PEOPLE) continue
      const person = new Person(options, ending.signal).live()
      inside.add(person)
      void person.finally(() => inside.delete(person))
    }
  }
  const admitting = admit()
  return {
    stop: async () => {
      ending.abort()
      await admitting
      while (inside.size > 0) await Promise.all(inside)
    },
  }
}

const HURRIED_MS = 200

/** Besides all others, people who visit and install without a pause; for measuring when that works again. */
export function letHurriedPeopleIn(options: Omit<PeopleOptions, 'perSecond'>): People {
  const ending = new AbortController()
  const inside = new Set<Promise<void>>()
  const timer = setInterval(() => {
    const person = new Person(options, ending.signal).hurry()
    inside.add(person)
    void person.finally(() => inside.delete(person))
  }, HURRIED_MS)
  return {
    stop: async () => {
      clearInterval(timer)
      ending.abort()
      await Promise.all(inside)
    },
  }
}

/** What an install is reported with: receipts of browser profiles, or a token. */
interface Carried {
  readonly receipts: readonly string[]
  readonly token: string | null
}

const NOTHING: Carried = { receipts: [], token: null }

class Person {
  readonly #options: Omit<PeopleOptions, 'perSecond'>
  readonly #dice: Dice
  readonly #website: string
  readonly #ending: AbortSignal
  /** Most clients try again; a few give up. */
  readonly #isStubborn: boolean

  constructor(options: Omit<PeopleOptions, 'perSecond'>, ending: AbortSignal) {
    this.#options = options
    this.#dice = options.dice
    this.#ending = ending
    this.#website = options.dice.pick(CHAOS_WEBSITES)
    this.#isStubborn = options.dice.isOne(0.8)
  }

  async live(): Promise<void> {
    const chance = this.#dice.next()
    if (chance < 0.5) return this.#install(await this.#profile())
    if (chance < 0.62) return this.#install(await this.#twoProfiles())
    if (chance < 0.74) return this.#install(await this.#copiedCommand())
    if (chance < 0.82) return this.#install(await this.#handoffOnly())
    if (chance < 0.94) return this.#returnAfterInstall()
    return this.#install([NOTHING])
  }

  /** A visit, its activation and an install with it. */
  async hurry(): Promise<void> {
    const receipt = receiptIn((await this.#try(this.#visitPlan(null)))?.answer ?? {})
    if (receipt === undefined || (await this.#activate(receipt)) === null) return
    const named = { installation: newId(), eventType: 'install_completed', eventId: newId() } as const
    await this.#try(this.#eventPlan(named, { receipts: [receipt], token: null }))
  }

  /** One to three visits of a browser, each naming the one before; what may be carried away, the newest first. */
  async #profile(): Promise<readonly Carried[]> {
    const receipts: string[] = []
    const count = 1 + this.#dice.below(3)
    for (let visits = 0; visits < count; visits++) {
      const receipt = await this.#visit(receipts.at(-1) ?? null)
      if (receipt === null) continue
      receipts.push(receipt)
      await this.#pause()
    }
    if (receipts.length === 0) return [NOTHING]
    const newest = receipts.at(-1) ?? ''
    const oldest = receipts[0] ?? ''
    return this.#dice.shuffled([
      { receipts: [newest], token: null },
      { receipts: [...receipts], token: null },
      { receipts: [oldest], token: null },
    ])
  }

  /** Two browsers of one machine: both receipts count. */
  async #twoProfiles(): Promise<readonly Carried[]> {
    const first = await this.#profile()
    const second = await this.#profile()
    const receipts = [...(first[0]?.receipts ?? []), ...(second[0]?.receipts ?? [])]
    return [{ receipts: this.#dice.shuffled(receipts), token: null }]
  }

  async #copiedCommand(): Promise<readonly Carried[]> {
    const receipt = await this.#visit(null)
    if (receipt === null) return [NOTHING]
    const answer = await this.#try({
      kind: 'handoff',
      website: this.#website,
      visit: visitOf(receipt),
      body: { project: this.#website, receipt },
    })
    return [{ receipts: [], token: tokenIn(answer) }]
  }

  async #handoffOnly(): Promise<readonly Carried[]> {
    const answer = await this.#try({ ...this.#visitPlan(null), kind: 'handoff' })
    await this.#pause()
    return [{ receipts: [], token: tokenIn(answer) }]
  }

  /** Installs, visits again, and installs on another machine with what is now revoked. */
  async #returnAfterInstall(): Promise<void> {
    const receipt = await this.#visit(null)
    if (receipt === null) return
    await this.#install([{ receipts: [receipt], token: null }])
    await this.#pause()
    const newer = await this.#visit(receipt)
    await this.#pause()
    const carried = newer === null || this.#dice.isOne(0.5) ? [receipt] : [newer, receipt]
    await this.#install([{ receipts: carried, token: null }])
  }

  /** A receipt that is active in most cases, or null if the visit was never answered. */
  async #visit(previous: string | null): Promise<string | null> {
    const answer = await this.#try(this.#visitPlan(previous))
    const receipt = receiptIn(answer?.answer ?? {})
    if (receipt === undefined) return null
    await this.#pause()
    if (this.#dice.isOne(0.9)) await this.#activate(receipt)
    return receipt
  }

  #activate(receipt: string): Promise<Call | null> {
    return this.#try({
      kind: 'activation',
      website: this.#website,
      visit: visitOf(receipt),
      body: { project: this.#website, receipt },
    })
  }

  #visitPlan(previous: string | null): Plan {
    const nowMs = Date.now()
    const nowS = Math.floor(nowMs / 1_000)
    const client = `${randomInt(1, 1_000_000_000)}.${nowS}`
    const identity = { ga4: client, meta: `fb.1.${nowMs}.${randomInt(1_000_000_000, 10_000_000_000)}` }
    const gpc = this.#dice.isOne(0.1)
    const body = {
      project: this.#website,
      url_id: urlIdOf(PAGE),
      page_url: PAGE,
      gpc,
      identities: {
        ga4: { [CHAOS_MEASUREMENT_ID]: { client_id: client, session_id: String(nowS) } },
        meta: { fbp: identity.meta },
      },
      ...(previous === null ? {} : { previous_receipt: previous }),
    }
    const named = previous === null ? '' : visitOf(previous)
    return { kind: 'visit', website: this.#website, body, identity, gpc, previous: named }
  }

  /** One installation, which reports one to three events; later ones carry the same or nothing. */
  async #install(choices: readonly Carried[]): Promise<void> {
    const carried = choices[0] ?? NOTHING
    const installation = newId()
    const types = this.#dice.pick<readonly (typeof TYPES)[number][]>([TYPES, ['install_completed'], TYPES.slice(1)])
    let isFirst = true
    for (const eventType of types) {
      const brings = isFirst || this.#dice.isOne(0.4) ? carried : NOTHING
      isFirst = false
      await this.#report({ installation, eventType, eventId: newId() }, brings)
      await this.#pause()
    }
  }

  /** Reports an event once, twice at the same time, or again later; sometimes with another body. */
  async #report(named: Pick<SentEvent, 'installation' | 'eventType' | 'eventId'>, carried: Carried): Promise<void> {
    const plan = this.#eventPlan(named, carried)
    const chance = this.#dice.next()
    if (chance < 0.1) await Promise.all([this.#try(plan), this.#try(plan)])
    else await this.#try(plan)
    if (chance > 0.75) {
      await this.#pause()
      await this.#try(chance > 0.9 ? this.#variantOf(named) : plan)
    }
  }

  /** The same event ID with another body that is as valid. */
  #variantOf({ eventId, installation }: Pick<SentEvent, 'installation' | 'eventId'>): Plan {
    const other = this.#dice.isOne(0.5) ? installation : newId()
    return this.#eventPlan({ eventId, installation: other, eventType: this.#dice.pick(TYPES) }, NOTHING)
  }

  #eventPlan(named: Pick<SentEvent, 'installation' | 'eventType' | 'eventId'>, { receipts, token }: Carried): Plan {
    const body = {
      project: this.#website,
      event_id: named.eventId,
      installation_id: named.installation,
      event_type: named.eventType,
      platform: 'linux',
      install_path: CHAOS_PATH,
      ...(token === null ? { receipts } : { handoff: token }),
    }
    const visit = token === null ? '' : visitOf(token.slice('wht_'.length))
    return {
      kind: 'event',
      website: this.#website,
      body,
      event: { ...named, receipts: receipts.map(visitOf), token: visit },
    }
  }

  /** Until it is answered or given up; every try may reach another process. */
  async #try(plan: Plan): Promise<Call | null> {
    const { apis, client } = this.#options
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const call = await client.send(this.#dice.pick(apis), plan)
      if (call.outcome === 'ok') return call
      if (call.status >= 400 && call.status < 500) return null
      if (!this.#isStubborn && call.status !== 0) return null
      await wait(TRY_AGAIN_MS * 2 ** tries)
    }
    return null
  }

  /** Mostly moments, sometimes long enough for changes to happen. */
  async #pause(): Promise<void> {
    const chance = this.#dice.next()
    const mostMs = chance < 0.7 ? 500 : chance < 0.92 ? 5_000 : 45_000
    await wait(this.#dice.next() * mostMs, undefined, { signal: this.#ending }).catch(() => undefined)
  }
}

function tokenIn(call: Call | null): string | null {
  const token: unknown = call?.answer['token']
  return typeof token === 'string' ? token : null
}
