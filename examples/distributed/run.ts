/**
 * `make run-distributed`: the example of `make run`, run as many processes, on a real Kafka, a real Redis and the ClickHouse
 * fixture. Everything listens on free loopback ports and keeps its data in temporary folders, which are removed at the end.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyQuickstart, portLike, QUICKSTART_SITE_PORT } from '../../bin/demo/quickstart.ts'
import { startExampleSite } from '../../bin/example-site.ts'
import { printsUsage } from '../../bin/terminal/usage.ts'
import { PROVIDER_ADDRESSES } from '../../domain/providers/addresses.ts'
import { startStandIns, type StandInAddresses } from '../../bin/stand-ins.ts'
import { openCatalogFolder } from '../../runtime/catalog/source.ts'
import { createLifecycle, type Lifecycle } from '../../runtime/lifecycle.ts'
import { createLogger, type Logger } from '../../runtime/logger.ts'
import { DELIVERY_ROLES } from '../../runtime/settings/table.ts'
import { compileSettings } from '../../runtime/settings/settings.ts'
import type { SettingsOf } from '../../runtime/settings/settings-of.ts'
import { startEngines } from '../../fixtures/engines/engines.ts'
import { kafkaJars } from '../../fixtures/engines/kafka.ts'
import { startProgram } from '../../fixtures/service/programs.ts'
import { hasRedisServer } from '../../fixtures/engines/redis.ts'

const API_PORT = 8080
const STOP_MS = 40_000
const SECRET = 'only-for-trying-it-out-only-for-trying-it-out'

interface Parts {
  readonly lifecycle: Lifecycle
  readonly logger: Logger
}

async function main(): Promise<number> {
  const logger = createLogger({ program: 'run-distributed', level: 'warn' })
  const exit = (code: number): void => process.exit(code)
  const lifecycle = createLifecycle({ logger, stopDeadlineMs: STOP_MS, signals: process, exit })
  process.on('SIGHUP', () => void lifecycle.stop('request'))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => say('Stopping every process …'))
  try {
    await start({ lifecycle, logger })
  } catch (error) {
    say(error instanceof Error ? error.message : String(error))
    await lifecycle.stop('failure')
  }
  return lifecycle.stopped
}

async function start(parts: Parts): Promise<void> {
  const { lifecycle, logger } = parts
  say('Starting the service as many processes. Everything stays on this machine.')
  const jars = await kafkaJars(say)
  if (jars === null || !hasRedisServer()) throw new Error('Java, Maven and redis-server are needed for this')
  const engines = await lifecycle.start(
    'engines',
    () => startEngines({ jars, isDetached: true, onProgress: (what) => say(`  ${what}`) }),
    (started) => started.stop(),
  )
  const folder = await lifecycle.start(
    'temporary folder',
    () => mkdtemp(join(tmpdir(), 'whence-distributed-')),
    (path) => rm(path, { recursive: true, force: true }),
  )
  const sitePort = await portLike(QUICKSTART_SITE_PORT)
  const port = await portLike(API_PORT)
  await copyQuickstart(folder, sitePort)
  const standIns = await startStandIns(quickstartSettings(folder), lifecycle)
  const env = { ...engines.env, WHENCE_MANIFESTS: folder, WHENCE_METRICS_LISTEN: '127.0.0.1:0' }
  const listen = `127.0.0.1:${port}`
  const api = { words: ['api', '--listen', listen], env: { ...env, WHENCE_SECRET: SECRET } }
  await startAll([...rolesWith(env, standIns), api], parts)
  const catalog = await lifecycle.start(
    'catalog',
    () => openCatalogFolder({ folder, env: {}, logger, nowMs: Date.now }),
    (source) => source.close(),
  )
  const site = await lifecycle.start(
    'example site',
    () =>
      startExampleSite({
        listen: { host: '127.0.0.1', port: sitePort },
        catalog: catalog.current,
        baseUrl: `http://${listen}`,
        ga4Url: standIns.ga4Url ?? null,
        explain: `npm run -s whencectl -- explain --facts ${engines.env.WHENCE_FACTS.replace('default:@', '')}`,
        onEnd: 'Ctrl+C ends every process and deletes what they stored.',
      }),
    (server) => server.close(),
  )
  say(site.steps)
}

/** What the stand-ins replace: the example's settings, none of them from this shell. */
function quickstartSettings(folder: string): SettingsOf<'embedded'> {
  const outcome = compileSettings('embedded', ['--manifests', folder], {})
  if (outcome.kind !== 'run') throw new Error('the settings of the example are wrong')
  return outcome.settings
}

interface Start {
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

function rolesWith(env: Readonly<Record<string, string>>, standIns: StandInAddresses): readonly Start[] {
  const given = Object.fromEntries(
    PROVIDER_ADDRESSES.flatMap(({ setting, variable }) => {
      const url = standIns[setting]
      return url === undefined ? [] : [[variable, url]]
    }),
  ) as Readonly<Record<string, string>>
  return DELIVERY_ROLES.map((role) => ({ words: ['delivery', '--role', role], env: { ...env, ...given } }))
}

/** Starts all at once and reports each when it is up. If one ends by itself, all end: a missing part would only confuse. */
async function startAll(starts: readonly Start[], { lifecycle }: Parts): Promise<void> {
  let isEnding = false
  const programs = await lifecycle.start(
    'processes',
    () => starts.map(({ words, env }) => ({ words, program: startProgram(words, { env, isDetached: true }) })),
    async (started) => {
      isEnding = true
      await Promise.all(started.map(({ program }) => program.end('SIGTERM')))
    },
  )
  const working = programs.map(async ({ words, program }) => {
    const name = `whencectl ${words.join(' ')}`
    const fail = (how: unknown): void => {
      if (!isEnding) lifecycle.fail(name, new Error(`it ended (${String(how)}): ${program.stderr()}`))
    }
    program.ended.then(fail, fail)
    await program.ready
    say(`  ${name} (process ${program.pid})`)
  })
  await Promise.all(working)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

// The reader of the output has gone: that counts as Ctrl-C, and no process may be left behind.
process.stdout.on('error', () => process.kill(process.pid, 'SIGTERM'))
const USAGE = `Usage: npm run -s example-distributed

Runs the example of \`make run\` as many processes, on a real Kafka, a real Redis and ClickHouse over HTTP, until Ctrl+C. It takes no options.`
if (!printsUsage(process.argv.slice(2), USAGE)) process.exitCode = await main()
