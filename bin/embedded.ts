/** `whence embedded`: the whole service in one process, with an example website beside it where one is asked for. */

import { startExampleSite } from './example-site.ts'
import { startService } from './service.ts'
import { version } from './version.ts'
import { createLifecycle } from '../runtime/lifecycle.ts'
import { createLogger } from '../runtime/logger.ts'
import type { RunOutcome } from '../runtime/settings.ts'
import { startGa4Simulator } from '../delivery/simulator/ga4.ts'

const STOP_DEADLINE_MS = 25_000

export async function embedded({ settings }: RunOutcome, env: NodeJS.ProcessEnv): Promise<number> {
  const logger = createLogger({ program: 'embedded', level: settings.logLevel, format: settings.logFormat })
  const lifecycle = createLifecycle({
    logger,
    stopDeadlineMs: STOP_DEADLINE_MS,
    signals: process,
    exit: (code) => process.exit(code),
  })
  // A part that rejects without anybody waiting is a bug; the process must not go on as if nothing had happened.
  process.on('unhandledRejection', (error) => lifecycle.fail('unhandled rejection', error))
  process.on('uncaughtException', (error) => lifecycle.fail('uncaught exception', error))
  try {
    const { exampleSite } = settings
    // Nobody who tries the example has a GA4 account for it: without an address of one's own a stand-in takes the hits.
    const needsStandIn = exampleSite !== null && settings.ga4Url === null
    const ga4 = needsStandIn
      ? await lifecycle.start('ga4 stand-in', () => startGa4Simulator({ port: 0 }), (server) => server.stop())
      : null
    const withGa4 = ga4 === null ? settings : { ...settings, ga4Url: ga4.url }
    const service = await startService({
      settings: withGa4,
      env,
      logger,
      lifecycle,
      nowMs: Date.now,
      version: version(),
    })
    logger.info({ listen: `${settings.listen.host}:${service.port}`, baseUrl: settings.baseUrl }, 'collecting')
    if (exampleSite !== null) {
      const { catalog } = service
      const options = { listen: exampleSite, catalog: catalog.current, baseUrl: settings.baseUrl, ga4Url: ga4?.url ?? null }
      const site = await lifecycle.start('example site', () => startExampleSite(options), (server) => server.close())
      process.stdout.write(site.steps)
    }
  } catch (error) {
    process.stderr.write(`whence embedded: ${error instanceof Error ? error.message : String(error)}\n`)
    // What failed may be no part of the lifecycle, which then would wait for a signal.
    await lifecycle.stop('failure')
  }
  return lifecycle.stopped
}
