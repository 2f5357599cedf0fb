/** One round: people come, faults follow each other, everything settles, and every decision is judged. */

import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from './client.ts'
import type { Dice } from './dice.ts'
import type { Fault } from './faults.ts'
import { answeredIn, longestSilenceMs, recovery, slowest, type Figure } from './figures.ts'
import type { Call, Disturbance, History, Stored, Violation } from './history.ts'
import { judge, type Verdict } from './judge.ts'
import { letHurriedPeopleIn, letPeopleIn } from './people.ts'
import type { ChaosService } from './service.ts'
import { explain, readStored, settle } from './stored.ts'

const WARM_UP_MS = 6_000
/** Between a recovery and the next fault. */
const REST_MS = 4_000
const EXPLAINED = 5

export interface RoundOptions {
  readonly service: ChaosService
  readonly client: Client
  readonly dice: Dice
  readonly faults: readonly Fault[]
  /** New people a second. */
  readonly people: number
  readonly say: (line: string) => void
}

export interface RoundResult {
  readonly history: History
  readonly calls: readonly Call[]
  readonly verdict: Verdict
  readonly figures: readonly Figure[]
}

export async function playRound(options: RoundOptions): Promise<RoundResult> {
  const { service, client, dice, faults, say } = options
  client.forget()
  const sinceMs = Date.now()
  const badEnds = service.badEnds.length
  const disturbances: Disturbance[] = []
  const figures: Figure[] = []
  const people = letPeopleIn({ client, apis: [...service.apis], dice, perSecond: options.people })
  await wait(WARM_UP_MS)
  for (const fault of faults) {
    const { disturbance, figure } = await breakPart(options, fault)
    for (const part of fault.parts) disturbances.push({ ...disturbance, part })
    figures.push(figure)
    say(`  ${fault.name}: stored after ${figure.storedMs} ms, delivered after ${figure.deliveredMs} ms`)
    say(`    slowest: ${slowest(client.calls, disturbance.beganMs)}`)
    await wait(REST_MS)
  }
  await people.stop()
  const unsettled = await settle(service)
  const calls = [...client.calls]
  const lastCalls = await client.repeatAll(service.apis)
  // What a repeat leaves on the log must be read before it is judged.
  const left = unsettled ?? (await settle(service))
  const stored = await readStored(service, calls, sinceMs)
  const explained = await explain(service, dice.shuffled(stored.installs).slice(0, EXPLAINED))
  const alone = service.alone.filter(({ endedMs }) => endedMs >= sinceMs)
  const doubts = service.doubts.filter(({ atMs }) => atMs >= sinceMs)
  const history: History = {
    calls,
    lastCalls,
    stored: { ...stored, explained } satisfies Stored,
    disturbances: [
      ...disturbances,
      ...alone.map(({ process, ...times }) => ({
        name: `${process} without Redis`,
        part: 'memory' as const,
        ...times,
      })),
      ...doubts.map(({ process, atMs }) => ({
        name: `${process} in doubt`,
        part: 'doubt' as const,
        process,
        beganMs: atMs,
        endedMs: atMs,
      })),
    ],
    spooling: service.apis[0].name,
  }
  const verdict = judge(history)
  const more = [
    ...(left === null ? [] : [plain('not_settled', left)]),
    ...service.badEnds.slice(badEnds).map((end) => plain('bad_end', end)),
  ]
  return { history, calls, figures, verdict: { ...verdict, violations: [...verdict.violations, ...more] } }
}

function plain(rule: string, sentence: string): Violation {
  return { rule, website: '', subject: '', sentence, call: null }
}

interface Broken {
  readonly disturbance: Omit<Disturbance, 'part'>
  readonly figure: Figure
}

/** Ends when an install that was begun afterwards is stored and delivered. */
async function breakPart({ service, client, dice }: RoundOptions, fault: Fault): Promise<Broken> {
  const beganMs = Date.now()
  const mend = await fault.begin(service)
  await wait(Math.max(0, fault.lastsMs - (Date.now() - beganMs)))
  const endedMs = Date.now()
  const mending = mend()
  mending.catch(() => undefined)
  const hurried = letHurriedPeopleIn({ client, apis: [...service.apis], dice })
  const times = await recovery(service, client, endedMs)
  const leaving = hurried.stop()
  await mending
  const answered = answeredIn(client.calls, beganMs, endedMs)
  await leaving
  const silentMs = longestSilenceMs(client.calls, beganMs)
  return {
    disturbance: { name: fault.name, beganMs, endedMs: Date.now() },
    figure: { fault: fault.name, ...times, silentMs, answered },
  }
}
