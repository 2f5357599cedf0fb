/**
 * Who goes next of those who wait for the engine. Each rank gets its share of the engine's time. Within a rank the organisation, or the
 * person, that used less of that time lately goes first: cost decides who waits, not how many statements somebody sends.
 */

import { keysOf, recordOf } from '../../../domain/typed-keys.ts'
import { BoundedMap } from '../../../common/bounded-map.ts'
import { ENGINE_SHARES } from '../../../domain/limits.ts'

type Rank = keyof typeof ENGINE_SHARES

/** Who is charged; empty: nobody, as for what the service itself reads. */
export interface Charged {
  readonly rank: Rank
  readonly organization: string
  readonly person: string
}

export interface WaitingStatement extends Charged {
  readonly start: () => void
}

interface RankState {
  readonly waiting: WaitingStatement[]
  /** Engine time that it has used, divided by its share. */
  used: number
  running: number
  /** By organisation and by person. */
  readonly uses: DecayingUse
}

interface RanksOptions {
  /** Of one organisation, or one person, so many run at the same time. */
  readonly placesOfOne: number
  /** A clock that never goes back. */
  readonly elapsedMs: () => number
}

/** Time that was used so long ago counts half. */
const HALF_LIFE_MS = 10_000
/** Of two who used about as much neither waits for what the other may ask next. */
const CLEARLY_MS = 250
/** Organisations and people whose use is remembered, in each rank. */
const MOST_REMEMBERED = 10_000

export class Ranks {
  readonly #options: RanksOptions
  readonly #states: Readonly<Record<Rank, RankState>>
  /** What runs, by organisation and by person. */
  readonly #running = new Map<string, number>()
  /** That of the rank whose task was started last: a rank that was idle saves up nothing. */
  #used = 0
  /** Whom others, who used more, wait for. */
  #held: Charged | null = null

  constructor(options: RanksOptions) {
    this.#options = options
    const state = (): RankState => ({ waiting: [], used: 0, running: 0, uses: new DecayingUse(options.elapsedMs) })
    this.#states = recordOf(keysOf(ENGINE_SHARES), state)
  }

  add(waiting: WaitingStatement): void {
    const state = this.#of(waiting.rank)
    const isIdle = state.waiting.length === 0 && state.running === 0 && this.#held?.rank !== waiting.rank
    if (isIdle) state.used = Math.max(state.used, this.#used)
    state.waiting.push(waiting)
  }

  remove(waiting: WaitingStatement): void {
    const { waiting: list } = this.#of(waiting.rank)
    list.splice(list.indexOf(waiting), 1)
  }

  /** Takes the one that goes next out of its rank; undefined if none may run. */
  next(): WaitingStatement | undefined {
    const first = this.#first()
    if (first === undefined || this.#isHeldUp(first)) return undefined
    const state = this.#of(first.rank)
    this.remove(first)
    state.running += 1
    this.#used = state.used
    for (const key of chargedKeys(first)) this.#count(key, 1)
    return first
  }

  /** For a task of `next` that has ended, whether it failed or not. */
  charge(who: Charged, tookMs: number): void {
    const state = this.#of(who.rank)
    state.running -= 1
    state.used += tookMs / ENGINE_SHARES[who.rank]
    for (const key of chargedKeys(who)) {
      this.#count(key, -1)
      state.uses.add(key, tookMs)
    }
  }

  /** Lets whoever used more wait for what these ask next, until `release`. False if nobody has to wait for it. */
  hold(who: Charged): boolean {
    this.#held = who
    const first = this.#first()
    if (first === undefined || !this.#isHeldUp(first)) this.#held = null
    return this.#held !== null
  }

  release(): void {
    this.#held = null
  }

  #of(rank: Rank): RankState {
    return this.#states[rank]
  }

  #count(key: string, by: number): void {
    const now = (this.#running.get(key) ?? 0) + by
    if (now === 0) this.#running.delete(key)
    else this.#running.set(key, now)
  }

  /** Of the rank that has used the least of its share. */
  #first(): WaitingStatement | undefined {
    let least: { readonly waiting: WaitingStatement; readonly used: number } | undefined
    for (const state of Object.values(this.#states)) {
      const waiting = this.#leastUsed(state)
      if (waiting !== undefined && (least === undefined || state.used < least.used))
        least = { waiting, used: state.used }
    }
    return least?.waiting
  }

  /** By whoever used clearly less, in a rank that would be next. What the service itself reads waits for nobody's page. */
  #isHeldUp(waiting: WaitingStatement): boolean {
    const held = this.#held
    if (held === null || waiting.organization === '') return false
    const own = this.#of(held.rank)
    const other = this.#of(waiting.rank)
    if (own !== other && own.used >= other.used) return false
    const { byEither, byPerson } = useOf(held, own.uses.now())
    const most = { byEither: byEither + CLEARLY_MS, byPerson: byPerson + CLEARLY_MS }
    const use = useOf(waiting, other.uses.now())
    return use.byEither > most.byEither || (waiting.organization === held.organization && use.byPerson > most.byPerson)
  }

  /** Of those that may run; of equals, who came first. */
  #leastUsed({ waiting, uses }: RankState): WaitingStatement | undefined {
    if (waiting.length === 0) return undefined
    const used = uses.now()
    let least: { readonly waiting: WaitingStatement; readonly use: Use } | undefined
    for (const each of waiting) {
      if (!this.#mayRun(each)) continue
      const use = useOf(each, used)
      if (least === undefined || isLess(use, least.use)) least = { waiting: each, use }
    }
    return least?.waiting
  }

  #mayRun(waiting: WaitingStatement): boolean {
    return chargedKeys(waiting).every((key) => (this.#running.get(key) ?? 0) < this.#options.placesOfOne)
  }
}

interface Use {
  /** Of the organisation or the person, whichever used more: nobody gets ahead by belonging to several organisations. */
  readonly byEither: number
  readonly byPerson: number
}

function useOf(who: Charged, used: (key: string) => number): Use {
  const byPerson = used(chargedPerson(who))
  return { byEither: Math.max(used(chargedOrganization(who)), byPerson), byPerson }
}

/** Within an organisation the person who used less goes first. */
function isLess(one: Use, other: Use): boolean {
  return one.byEither < other.byEither || (one.byEither === other.byEither && one.byPerson < other.byPerson)
}

function chargedKeys(who: Charged): readonly string[] {
  return [
    ...(who.organization === '' ? [] : [chargedOrganization(who)]),
    ...(who.person === '' ? [] : [chargedPerson(who)]),
  ]
}

const chargedOrganization = ({ organization }: Charged): string => `o ${organization}`
const chargedPerson = ({ person }: Charged): string => `p ${person}`

/** Time that was used, of which what was used long ago counts for less. */
class DecayingUse {
  readonly #elapsedMs: () => number
  readonly #uses = new BoundedMap<string, { readonly ms: number; readonly atMs: number }>(MOST_REMEMBERED)

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs
  }

  /** What each has used as of one moment. */
  now(): (key: string) => number {
    const nowMs = this.#elapsedMs()
    return (key) => {
      const use = this.#uses.get(key)
      return use === undefined ? 0 : use.ms * 2 ** ((use.atMs - nowMs) / HALF_LIFE_MS)
    }
  }

  add(key: string, ms: number): void {
    this.#uses.set(key, { ms: this.now()(key) + ms, atMs: this.#elapsedMs() })
  }
}
