/**
 * `make chaos` and `npm run -s chaos-rounds`: the distributed service under load while its parts are broken, round after
 * round, and a judgement of every decision after each. Usage:
 *
 *     node test/chaos/run.ts [--rounds 20] [--seed N] [--faults-per-round 6] [--people 4] [--only TEXT] [--report FILE]
 *                             [--broker-session-ms 6000]
 *
 * A round goes through the next faults of a shuffled deck, so that a few rounds see all of them. Exits with 1 if any
 * promise was broken, and prints each violation with its whole story. `WHENCE_CHAOS` is another way to say how many rounds.
 */

import { randomInt } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { kafkaJars } from '../../fixtures/engines/kafka.ts'
import { hasRedisServer } from '../../fixtures/engines/redis.ts'
import { toxiproxyProgram } from '../../fixtures/engines/toxiproxy.ts'
import { Client } from './client.ts'
import { diceOf, type Dice } from './dice.ts'
import { FAULTS, type Fault } from './faults.ts'
import { figureTable, type Figure } from './figures.ts'
import { searchService } from './search.ts'
import { playRound, type RoundResult } from './round.ts'
import { startChaosService } from './service.ts'
import { storyOf } from './story.ts'
import { TOLERANCES } from './tolerances.ts'

/** Most stories printed for one rule; the others would be the same. */
const MOST_STORIES = 5
const SIGNALS = ['SIGINT', 'SIGTERM'] as const

interface Options {
  readonly rounds: number
  readonly seed: number
  readonly faultsPerRound: number
  /** New ones a second; each makes about eight calls. */
  readonly people: number
  readonly faults: readonly Fault[]
  readonly report: string | null
  /** `broker.session.timeout.ms` of Kafka; undefined for that of the fixture. */
  readonly sessionMs: number | undefined
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: process.env['WHENCE_CHAOS'] ?? '20' },
      seed: { type: 'string', default: String(randomInt(1_000_000_000)) },
      'faults-per-round': { type: 'string', default: '6' },
      people: { type: 'string', default: '4' },
      only: { type: 'string', default: '' },
      report: { type: 'string' },
      'broker-session-ms': { type: 'string' },
    },
  })
  const faults = FAULTS.filter(({ name }) => name.includes(values.only))
  if (faults.length === 0) throw new Error(`no fault's name has "${values.only}" in it`)
  const [rounds, seed, people] = [values.rounds, values.seed, values.people].map(Number) as [number, number, number]
  const faultsPerRound = Number(values['faults-per-round'])
  const session = values['broker-session-ms']
  const sessionMs = session === undefined ? undefined : Number(session)
  return { rounds, seed, people, faultsPerRound, faults, report: values.report ?? null, sessionMs }
}

/** Every fault once before any comes again. */
function* deckOf(faults: readonly Fault[], dice: Dice): Generator<Fault, never> {
  for (;;) yield* dice.shuffled(faults)
}

async function main(): Promise<number> {
  const options = readOptions()
  const jars = await kafkaJars(say)
  const linkProgram = await toxiproxyProgram()
  if (jars === null || linkProgram === null || !hasRedisServer()) {
    throw new Error('Java, Maven, Go and redis-server are needed for this: sh test/install-tools.sh')
  }
  say(`${options.rounds} rounds, seed ${options.seed}`)
  const dice = diceOf(options.seed)
  const deck = deckOf(options.faults, dice)
  const client = new Client()
  const service = await startChaosService({ jars, linkProgram, onProgress: say, sessionMs: options.sessionMs })
  const results: RoundResult[] = []
  let isStopping = false
  const interrupt = (): void => {
    say('Stopping after this round; once more to stop at once.')
    if (isStopping) void service.stop().finally(() => process.exit(1))
    isStopping = true
  }
  for (const signal of SIGNALS) process.on(signal, interrupt)
  try {
    for (let round = 1; round <= options.rounds && !isStopping; round++) {
      const faults = Array.from({ length: options.faultsPerRound }, () => deck.next().value)
      say(`Round ${round} of ${options.rounds}`)
      const result = await playRound({ service, client, dice, faults, people: options.people, say })
      results.push(result)
      tell(result)
      if (options.report !== null) await writeFile(options.report, reportOf(results, options))
    }
    const search = await searchService(service, client)
    say(search.text)
    const isClean = search.isClean && results.every(({ verdict }) => verdict.violations.length === 0)
    if (options.report !== null) await writeFile(options.report, `${reportOf(results, options)}\n${search.text}\n`)
    say(figureTable(results.flatMap(({ figures }) => figures)))
    return isClean ? 0 : 1
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt)
    client.close()
    await service.stop()
  }
}

function tell({ history, verdict, calls }: RoundResult): void {
  const outcomes = Map.groupBy(calls, ({ outcome }) => outcome)
  const told = [...outcomes].map(([outcome, some]) => `${some.length} ${outcome}`).join(', ')
  const { installs, hits } = history.stored
  say(`  ${told}; ${installs.length} installs, ${hits.length} hits; ${verdict.violations.length} violations`)
  for (const [name, times] of verdict.tolerated) say(`  tolerated ${times} times: ${name}`)
  for (const [rule, some] of Map.groupBy(verdict.violations, (violation) => violation.rule)) {
    say(`  ${some.length} x ${rule}`)
    for (const violation of some.slice(0, MOST_STORIES)) say(storyOf(violation, history))
  }
}

function reportOf(results: readonly RoundResult[], { seed, rounds }: Options): string {
  const figures: readonly Figure[] = results.flatMap((result) => result.figures)
  const calls = results.flatMap((result) => result.calls)
  const violations = results.flatMap(({ verdict }) => verdict.violations)
  const sum = (name: string): number =>
    results.reduce((all, { verdict }) => all + (verdict.tolerated.get(name) ?? 0), 0)
  const rules = [...Map.groupBy(violations, ({ rule }) => rule)].map(([rule, some]) => `${some.length} x ${rule}`)
  const installs = results.reduce((all, { history }) => all + history.stored.installs.length, 0)
  return [
    `${results.length} of ${rounds} rounds with seed ${seed} on ${cpus().length} processors (${cpus()[0]?.model ?? 'unknown'}), ${new Date().toISOString().slice(0, 10)}:`,
    `${calls.length} calls, ${calls.filter(({ outcome }) => outcome === 'ok').length} answered ok, ${installs} installs,`,
    `${figures.length} faults, ${violations.length} violations${rules.length === 0 ? '' : ` (${rules.join(', ')})`}.`,
    '',
    figureTable(figures),
    '',
    '| Tolerance | Times | What documents it |',
    '| --- | --- | --- |',
    ...TOLERANCES.map(({ name, sentence }) => `| ${name} | ${sum(name)} | ${sentence} |`),
    '',
  ].join('\n')
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

process.exitCode = await main()
