/**
 * `npm run -s example-data`: fills the example website with two years of made-up traffic, while `make run` runs. It goes through the event
 * log like real traffic, ends with yesterday, and adds nothing if it is run again.
 */

import { keysOf, recordOf } from '../domain/typed-keys.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { DAY_MS } from '../domain/durations.ts'
import { EXAMPLE_DATA, exampleEndMs } from '../domain/figures/example-data.ts'
import { LIMITS } from '../domain/limits.ts'
import { encodeRecord, recordKey, type LogRecord, type RecordTopic } from '../domain/records.ts'
import { createKeyring } from '../runtime/keyring.ts'
import { masterSecrets } from './wiring/master-secrets.ts'
import { compileSettings } from '../runtime/settings/settings.ts'
import { EXAMPLE_DEFAULTS } from './example-data/defaults.ts'
import { spendOf } from './example-data/spend.ts'
import { trafficOfDay } from './example-data/traffic.ts'
import { connectTools } from './tools/control.ts'
import type { ToolStores } from './tools/live.ts'
import { complain, print } from './terminal/output.ts'

const OPTIONS = {
  data: { default: EXAMPLE_DEFAULTS.data, placeholder: 'FOLDER', doc: 'Data folder of the running service.' },
  website: { default: EXAMPLE_DEFAULTS.website, placeholder: 'ID', doc: 'Website that gets the traffic.' },
  organization: { default: EXAMPLE_DEFAULTS.organization, placeholder: 'ID', doc: 'Organisation that it belongs to.' },
  days: { default: '760', placeholder: 'COUNT', doc: 'How many days, up to yesterday (UTC).' },
  seed: { default: '1', placeholder: 'NUMBER', doc: 'Another number makes other traffic.' },
} as const
/** As long as data may be kept. */
const MOST_DAYS = LIMITS.retentionDays.max
/** IDs of visits and requests have room for it. */
const MOST_SEED = 999_999
/** Most entries of one call. */
const ENTRIES = 2_000
const PROGRESS_MS = 2_000
/** Most hours that one answer about uncounted ones names. */
const HOURS_NAMED = 1_000

interface ExampleWish {
  readonly website: string
  readonly organization: string
  readonly days: number
  readonly seed: number
  readonly nowMs: number
}

interface FillingIn {
  readonly live: ToolStores
  readonly wish: ExampleWish
  readonly keyId: number
}

/**
 * Resolves with the number of records written, once all of them are counted; 0 if there was such traffic already. The master secret is where the
 * service has it, by `env`.
 * @throws Error if no service runs on the folder.
 */
async function fillWithExamples(data: string, wish: ExampleWish, env: NodeJS.ProcessEnv): Promise<number> {
  const live = await connectTools(data)
  if (live === null) throw new Error(`no service runs on the data in ${data}: start one with make run`)
  const run = compileSettings('embedded', ['--data', data], env)
  if (run.kind !== 'run') throw new Error('the settings are wrong')
  if (await isFilledIn(live, wish)) return 0
  const keyId = createKeyring(masterSecrets(run.settings, { mayCreate: false })).currentKeyId
  const filling = { live, wish, keyId }
  const written = await writeTraffic(filling)
  await live.append('activity', [entryOf(madeUpNote(wish, written.records))])
  await untilCounted(filling, written.facts)
  return written.records
}

/** Traffic of another day or seed beside it would be no more traffic of the same visitors, but twice as many of them. */
async function isFilledIn({ run }: ToolStores, { organization, website, nowMs }: ExampleWish): Promise<boolean> {
  const notes = await run('activityPage', {
    organization,
    type: EXAMPLE_DATA.activityType,
    limit: 100,
    since_ms: nowMs - LIMITS.retentionDays.max * DAY_MS,
    until_ms: nowMs + LIMITS.clockSkewMs,
  })
  return notes.some(({ subject }) => subject === website)
}

async function writeTraffic({ live, wish, keyId }: FillingIn) {
  const { website, organization, days, seed, nowMs } = wish
  const untilMs = exampleEndMs(nowMs)
  const waiting = new Map<RecordTopic, TopicEntry[]>()
  let records = 0
  let facts = 0
  const flush = async (least: number): Promise<void> => {
    for (const [topic, entries] of waiting)
      while (entries.length > least) await live.append(topic, entries.splice(0, ENTRIES))
  }
  for (let left = days; left > 0; left -= 1) {
    const day = { website, organization, seed, dayMs: untilMs - left * DAY_MS, untilMs, keyId }
    for (const record of trafficOfDay(day)) {
      const topic = topicOfRecord(record)
      const entries = waiting.get(topic) ?? []
      waiting.set(topic, entries)
      entries.push(entryOf(record))
      records += 1
      if (record.kind === 'visit' || record.kind === 'install') facts += 1
    }
    await flush(ENTRIES)
    if (left % 100 === 0) print(`${left} of ${days} days are still to be written ...\n`)
  }
  await flush(0)
  await live.append('spend', spendOf({ website, organization, seed, dayMs: untilMs, untilMs, keyId }, days))
  return { records, facts }
}

/** Says how many hours are left, until the facts hold all and every hour of them is counted. */
async function untilCounted({ live, wish }: FillingIn, facts: number): Promise<void> {
  const { organization, website, days, nowMs } = wish
  const untilMs = exampleEndMs(nowMs)
  const all = {
    organizations: [organization],
    websites: [website],
    since_ms: untilMs - days * DAY_MS,
    until_ms: untilMs,
  }
  let isWritten = false
  for (;;) {
    if (!isWritten) {
      const [stored] = await live.run('factsWithin', all)
      isWritten = (stored?.facts ?? 0) >= facts
    }
    const hours = await live.run('dirtyHours', { until_ms: untilMs, limit: HOURS_NAMED })
    const left = hours.filter((hour) => hour.organization === organization && hour.website === website).length
    if (isWritten && left === 0) return
    const shown = left === HOURS_NAMED ? `${left} hours or more` : `${left} hours`
    print(isWritten ? `${shown} are still to be counted ...\n` : 'the records are being stored ...\n')
    await delay(PROGRESS_MS)
  }
}

const TOPICS: Readonly<Partial<Record<LogRecord['kind'], RecordTopic>>> = {
  visit: 'visits',
  activation: 'activations',
  handoff: 'handoffs',
  install: 'installs',
  delivery: 'deliveries',
  activity: 'activity',
}

interface TopicEntry {
  readonly key: string
  readonly value: string
}

function topicOfRecord({ kind }: LogRecord): RecordTopic {
  const topic = TOPICS[kind]
  if (topic === undefined) throw new Error('a record has no topic')
  return topic
}

function entryOf(record: LogRecord): TopicEntry {
  return { key: keyOfRecord(record), value: encodeRecord(record) }
}

/** Entries of one visit, and of one event, stay in order. */
function keyOfRecord(record: LogRecord): string {
  switch (record.kind) {
    case 'visit':
      return recordKey(record.visit, record.visit.visitId)
    case 'activation':
    case 'handoff':
      return recordKey(record, record.visitId)
    case 'install':
      return recordKey(record.install, record.install.eventId)
    case 'delivery':
      return recordKey(record, record.jobId)
    default:
      return recordKey({ organization: '', website: '' }, 'example')
  }
}

/** An activity entry, kept for as long as the traffic: by it pages know that their figures contain some that is made up. */
function madeUpNote({ website, organization, days, seed, nowMs }: ExampleWish, written: number): LogRecord {
  const day = Math.floor(nowMs / DAY_MS)
  return {
    v: 1,
    kind: 'activity',
    id: `${EXAMPLE_DATA.idPrefix}${seed}-${day}`,
    atMs: nowMs,
    organization,
    website,
    type: EXAMPLE_DATA.activityType,
    subject: website,
    logRetentionDays: LIMITS.retentionDays.max,
    message: `${written} records of ${days} days of made-up traffic were filled in; their pages are on ${new URL(EXAMPLE_DATA.origin).host}.`,
  }
}

function helpText(): string {
  const rows = keysOf(OPTIONS).map((name) => {
    const { placeholder, doc, default: fallback } = OPTIONS[name]
    return `  ${`--${name} ${placeholder}`.padEnd(22)}${doc} (default: ${fallback})\n`
  })
  return `Usage: npm run -s example-data -- [options]\n\nFills the example website with made-up traffic, while make run runs.\n\n${rows.join('')}`
}

/** The options; a text if something is wrong with them. */
function optionsOf(argv: readonly string[]) {
  const names = keysOf(OPTIONS)
  const flags = recordOf(names, (name) => ({ type: 'string' as const, default: OPTIONS[name].default }))
  try {
    const { values } = parseArgs({ args: [...argv], options: { ...flags, help: { type: 'boolean' } } })
    const { days, seed, help = false, ...of } = values
    const wish = { ...of, days: Number(days), seed: Number(seed) }
    if (!Number.isInteger(wish.days) || wish.days < 1 || wish.days > MOST_DAYS)
      return `--days must be a number from 1 to ${MOST_DAYS}`
    const isSeed = Number.isInteger(wish.seed) && wish.seed >= 0 && wish.seed <= MOST_SEED
    return isSeed ? { ...wish, help } : `--seed must be a whole number from 0 to ${MOST_SEED}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

async function runExampleData(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const options = optionsOf(argv)
  if (typeof options === 'string') {
    complain(`example-data: ${options}; see --help\n`)
    return 2
  }
  const { data, help, ...wish } = options
  if (help) {
    print(helpText())
    return 0
  }
  try {
    const written = await fillWithExamples(data, { ...wish, nowMs: Date.now() }, env)
    print(
      written === 0
        ? `${wish.website} has made-up traffic already; only an empty data folder removes it.\n`
        : `${written} made-up records were filled in, and all their hours are counted.\n`,
    )
    return 0
  } catch (error) {
    complain(`example-data: ${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  }
}

if (import.meta.main) process.exitCode = await runExampleData(process.argv.slice(2), process.env)
