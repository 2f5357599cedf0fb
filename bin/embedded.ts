/** `whence embedded`: the whole service in one process, with an example website beside it where one is asked for. */

import { startExampleSite } from './example-site.ts'
import { startService } from './service.ts'
import { startStandIns } from './stand-ins.ts'
import { version } from './version.ts'
import { createLifecycle } from '../runtime/lifecycle.ts'
import { createLogger } from '../runtime/logger.ts'
import type { RunOutcome } from '../runtime/settings.ts'

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
    // Nobody who tries the example has accounts for it: without addresses of one's own stand-ins take the deliveries.
    const inUse = exampleSite === null ? settings : await startStandIns(settings, lifecycle)
    const service = await startService({
      settings: inUse,
      env,
      logger,
      lifecycle,
      nowMs: Date.now,
      version: version(),
    })
    logger.info({ listen: `${settings.listen.host}:${service.port}`, baseUrl: settings.baseUrl }, 'collecting')
    if (exampleSite !== null) {
      const { catalog } = service
      const options = { listen: exampleSite, catalog: catalog.current, baseUrl: settings.baseUrl, ga4Url: settings.ga4Url === null ? inUse.ga4Url : null }
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
