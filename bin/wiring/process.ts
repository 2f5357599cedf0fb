/** What every long-running program does around its parts: log, handle signals, stop in order, exit with a code. */

import { createLifecycle, type Lifecycle } from '../../runtime/lifecycle.ts'
import { createLogger, type Logger } from '../../runtime/logger.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import { complain } from '../terminal/output.ts'

interface ProcessParts {
  readonly logger: Logger
  readonly lifecycle: Lifecycle
}

const STOP_DEADLINE_MS = 25_000
/** How long remains, such as a socket to an unreachable engine, may keep a stopped process from ending. */
const LEFT_BEHIND_MS = 1_000

/**
 * Runs until a signal or a failure; resolves with the exit code. If `start` throws, the error is printed and the
 * process ends.
 */
export async function runProgram(
  program: string,
  settings: Settings,
  start: (parts: ProcessParts) => Promise<void>,
): Promise<number> {
  const logger = createLogger({ program, level: settings.logLevel, format: settings.logFormat })
  const lifecycle = createLifecycle({
    logger,
    stopDeadlineMs: STOP_DEADLINE_MS,
    signals: process,
    exit: (code) => process.exit(code),
  })
  // An unhandled rejection is a bug; the process must not continue as if nothing had happened.
  process.on('unhandledRejection', (error) => lifecycle.fail('unhandled rejection', error))
  process.on('uncaughtException', (error) => lifecycle.fail('uncaught exception', error))
  // A part that fails to start stops the others first; the reason is printed even if all have stopped by then.
  const started = start({ logger, lifecycle }).catch((error: unknown) => {
    complain(`whence ${program}: ${startProblem(error, settings)}\n`)
    // The failed part may be outside the lifecycle, which would then wait for a signal.
    return lifecycle.stop('failure')
  })
  // A start may wait for something unreachable; that must not delay an end of the process.
  await Promise.race([started, lifecycle.stopped])
  const code = await lifecycle.stopped
  setTimeout(() => process.exit(code), LEFT_BEHIND_MS).unref()
  return code
}

/** What prevented the start; for an address in use, which option sets another. */
function startProblem(error: unknown, { listen, metricsListen, exampleSite }: Settings): string {
  const { message, code, port } = error as NodeJS.ErrnoException & { readonly port?: number }
  if (code !== 'EADDRINUSE') return error instanceof Error ? message : String(error)
  const options = { '--listen': listen, '--metrics-listen': metricsListen, '--example-site': exampleSite }
  const [option, address] = Object.entries(options).find(([, each]) => each?.port === port) ?? []
  const place = address === undefined || address === null ? `port ${port}` : `${address.host}:${address.port}`
  return `${place} is taken by another program; ${option ?? 'an option'} names another address`
}
