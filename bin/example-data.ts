/**
 * `npm run -s example-data`: fills the example website with 90 days of made-up traffic, while `make run` runs. It goes through the event
 * log like real traffic, ends with yesterday, and comes to the same rows if it is run again.
 */

import { keysOf, recordOf } from '../domain/typed-keys.ts'
import { parseArgs } from 'node:util'

import { DAY_MS } from '../domain/durations.ts'
import { EXAMPLE_DATA, exampleEndMs } from '../domain/figures/example-data.ts'
import { LIMITS } from '../domain/limits.ts'
import { encodeRecord, recordKey, type LogRecord, type RecordTopic } from '../domain/records.ts'
import { createKeyring } from '../runtime/keyring.ts'
import { masterSecrets } from './wiring/master-secrets.ts'
import { compileSettings } from '../runtime/settings/settings.ts'
import { trafficOfDay } from './example-data/traffic.ts'
import { connectTools } from './tools/control.ts'
import type { ToolStores } from './tools/live.ts'
import { complain, print } from './terminal/output.ts'

const OPTIONS = {
  data: { default: './data', placeholder: 'FOLDER', doc: 'Data folder of the running service.' },
  website: { default: 'acme-dev', placeholder: 'ID', doc: 'Website that gets the traffic.' },
  organization: { default: 'acme', placeholder: 'ID', doc: 'Organisation that it belongs to.' },
  days: { default: '90', placeholder: 'COUNT', doc: 'How many days, up to yesterday (UTC).' },
  seed: { default: '1', placeholder: 'NUMBER', doc: 'Another number makes other traffic.' },
} as const
/** As long as data may be kept. */
const MOST_DAYS = LIMITS.retentionDays.max
/** Most entries of one call. */
const ENTRIES = 500

interface ExampleWish {
  readonly website: string
  readonly organization: string
  readonly days: number
  readonly seed: number
  readonly nowMs: number
}

/**
 * Resolves with the number of records written; the master secret is where the service has it, by `env`.
 * @throws Error if no service runs on the folder.
 */
async function fillWithExamples(data: string, wish: ExampleWish, env: NodeJS.ProcessEnv): Promise<number> {
  const { website, organization, days, seed, nowMs } = wish
  const live = await connectTools(data)
  if (live === null) throw new Error(`no service runs on the data in ${data}: start one with make run`)
  const run = compileSettings('embedded', ['--data', data], env)
  if (run.kind !== 'run') throw new Error('the settings are wrong')
  const keyId = createKeyring(masterSecrets(run.settings, { mayCreate: false })).currentKeyId
  const today = exampleEndMs(nowMs)
  let written = 0
  for (let day = days; day > 0; day -= 1) {
    const records = trafficOfDay({ website, organization, seed, dayMs: today - day * DAY_MS, untilMs: today, keyId })
    written += await appendRecords(live, records)
  }
  await appendRecords(live, [madeUpNote(wish, written)])
  return written
}

const TOPICS: Readonly<Partial<Record<LogRecord['kind'], RecordTopic>>> = {
  visit: 'visits',
  activation: 'activations',
  handoff: 'handoffs',
  install: 'installs',
  activity: 'activity',
}

async function appendRecords(live: ToolStores, records: readonly LogRecord[]): Promise<number> {
  for (const [topic, own] of Map.groupBy(records, ({ kind }) => TOPICS[kind])) {
    if (topic === undefined) throw new Error('a record has no topic')
    for (let from = 0; from < own.length; from += ENTRIES) {
      const entries = own
        .slice(from, from + ENTRIES)
        .map((record) => ({ key: keyOfRecord(record), value: encodeRecord(record) }))
      await live.append(topic, entries)
    }
  }
  return records.length
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
    logRetentionDays: LIMITS.retentionDays.fallback,
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
    return Number.isInteger(wish.seed) ? { ...wish, help } : '--seed must be a whole number'
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
    print(`${written} made-up records were filled in; figures of past hours follow within a minute or two.\n`)
    return 0
  } catch (error) {
    complain(`example-data: ${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  }
}

if (import.meta.main) process.exitCode = await runExampleData(process.argv.slice(2), process.env)
