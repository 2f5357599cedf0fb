/** What every place of ads must have been told of a world: of each machine one event, that which its install came by. */

import { decidingEvent, judgedEvents, type Entry, type Judged } from './book.ts'
import { DAY, HOUR, type Machine, type MachineEvent } from './world.ts'

/** How long a place takes what has happened. */
const PATIENCE = 7 * DAY - HOUR

/** Where ads are bought, and how it answers whoever tells it something. */
export interface AdPlace {
  readonly name: string
  readonly number: string
  readonly answers: 'takes' | 'refuses' | 'is busy'
  readonly wants: readonly MachineEvent['what'][]
  readonly isPaused: boolean
  /** It wants each event of a machine, not its install alone. */
  readonly wantsRepeats: boolean
}

const USUAL = {
  answers: 'takes',
  wants: ['install_completed', 'first_run'],
  isPaused: false,
  wantsRepeats: false,
} as const

export const PLACES: readonly AdPlace[] = [
  { ...USUAL, name: 'plain', number: '1001' },
  { ...USUAL, name: 'strict', number: '1002', answers: 'refuses' },
  { ...USUAL, name: 'busy', number: '1003', answers: 'is busy' },
  { ...USUAL, name: 'paused', number: '1004', isPaused: true },
  { ...USUAL, name: 'runs', number: '1005', wants: ['first_run'] },
  { ...USUAL, name: 'greedy', number: '1006', wantsRepeats: true },
]

/** `delivered`, `failed`, `expired`, `waiting`, or why nothing was told. */
export type Outcome = string

/** What became of one event of a machine at a place, asked at `now`. */
export function outcomeOf(machine: Machine, each: Judged, { place, now }: AskedPlace): Outcome {
  const reason = reasonAtOnce(machine, each, place) ?? reasonOfVisit(machine, each, place)
  if (reason !== null) return reason
  if (place.answers === 'takes') return 'delivered'
  if (place.answers === 'refuses') return 'failed'
  return each.event.at + PATIENCE <= now ? 'expired' : 'waiting'
}

/** Why nothing of it is told, as far as the machine and the place know. */
function reasonAtOnce(machine: Machine, { event, visitor }: Judged, place: AdPlace): Outcome | null {
  if (machine.isTest) return 'test'
  if (place.isPaused) return 'destination_paused'
  if (!place.wants.includes(event.what)) return 'event_type_not_selected'
  if (machine.isCi || machine.isContainer) return 'ci'
  if (machine.method === 'old') return 'counted'
  return visitor === null ? 'unmatched' : null
}

/** The same, as far as that depends on the machine's other events and on the visit. */
function reasonOfVisit(machine: Machine, { event, visitor }: Judged, place: AdPlace): Outcome | null {
  if (!place.wantsRepeats && toldEvent(machine) !== event) return 'not_an_install'
  if (visitor === null || visitor.isTest) return 'test'
  if (visitor.isPrivate) return 'gpc'
  return visitor.isKnownToAds ? null : 'no_identifier'
}

export interface AskedPlace {
  readonly place: AdPlace
  readonly now: number
}

/** What became of an install: of the event that tells of it. */
export function outcomeOfInstall({ machine, id }: Entry, asked: AskedPlace): Outcome {
  const events = judgedEvents(machine, { forgetsFrom: null })
  const install = events.find(({ event }) => event.id === id)
  if (install === undefined) throw new Error(`nothing is known of ${id}`)
  return outcomeOf(machine, decidingEvent(install, events), asked)
}

function toldEvent(machine: Machine): MachineEvent | null {
  const events = judgedEvents(machine, { forgetsFrom: null })
  const install = events.find(({ kind }) => kind === 'install')
  return install === undefined ? null : decidingEvent(install, events).event
}

/** How often each is among them. */
export function tally(outcomes: readonly Outcome[]): Readonly<Record<Outcome, number>> {
  return Object.fromEntries([...Map.groupBy(outcomes, (outcome) => outcome)].map(([name, all]) => [name, all.length]))
}
