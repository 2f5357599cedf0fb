/** What every long-running program does around its parts: log, handle signals, stop in order, exit with a code. */

import { setTimeout as pause } from 'node:timers/promises'

import type { Registry } from 'prom-client'

import { memberOf } from '../../domain/strict-json.ts'
import { endedWithin } from '../../common/deadline.ts'
import { createLifecycle, type Lifecycle } from '../../runtime/lifecycle.ts'
import { createLogger, type Logger } from '../../runtime/logger.ts'
import { createRegistry, taskFailures, type ListenAddress } from '../../runtime/metrics.ts'
import type { SettingsNamed } from '../../runtime/settings/settings-of.ts'
import { complain } from '../terminal/output.ts'
import { version } from './version.ts'

/** What all parts of one process share. */
export interface Process {
  readonly logger: Logger
  readonly lifecycle: Lifecycle
  readonly registry: Registry
  readonly nowMs: () => number
}

/** How diagnostics are written, and the addresses that another program may have taken. */
interface ProgramSettings extends SettingsNamed<'logLevel' | 'logFormat'> {
  readonly listen?: ListenAddress
  readonly metricsListen?: ListenAddress
  readonly exampleSite?: { readonly host: string; readonly port: number | null } | null
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
  settings: ProgramSettings,
  start: (own: Process) => Promise<void>,
): Promise<number> {
  const registry = createRegistry(program, version())
  const { logLevel: level, logFormat: format } = settings
  const logger = createLogger({ program, level, format, onTaskFailure: taskFailures(registry) })
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
  const started = start({ logger, lifecycle, registry, nowMs: Date.now }).catch((error: unknown) => {
    complain(`whencectl ${program}: ${startProblem(error, settings)}\n`)
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
function startProblem(error: unknown, { listen, metricsListen, exampleSite }: ProgramSettings): string {
  if (memberOf(error, 'code') !== 'EADDRINUSE') return error instanceof Error ? error.message : String(error)
  const port = memberOf(error, 'port')
  const options = { '--listen': listen, '--metrics-listen': metricsListen, '--example-site': exampleSite }
  const [option, address] = Object.entries(options).find(([, each]) => each?.port === port) ?? []
  const place = address === undefined || address === null ? `port ${String(port)}` : `${address.host}:${address.port}`
  return `${place} is taken by another program; ${option ?? 'an option'} names another address`
}

interface BackgroundPart {
  readonly close: () => Promise<void>
}

interface KeepOpeningOptions {
  /** Of the part, for log lines. */
  readonly name: string
  readonly logger: Logger
  /** How long the program waits for the part before it goes on without it; tests set it, and the pause between tries. */
  readonly patienceMs?: number
  readonly againMs?: number
}

const PATIENCE_MS = 1_000
const AGAIN_MS = 5_000

/**
 * Opens a part that the program can be without for a time, in the background if that takes long, until it is open. Resolves once
 * it is, or is known not to be for now. `close` waits for no opening; what opens later is closed.
 */
export async function keepOpening(
  open: () => Promise<BackgroundPart>,
  options: KeepOpeningOptions,
): Promise<BackgroundPart> {
  const { name, logger, patienceMs = PATIENCE_MS, againMs = AGAIN_MS } = options
  const stopping = new AbortController()
  const { signal } = stopping
  let part: BackgroundPart | null = null
  const tryUntilOpen = async (): Promise<void> => {
    for (let tries = 1; part === null && !signal.aborted; tries++) {
      try {
        part = await open()
        if (tries > 1) logger.info({ part: name, tries }, 'opened')
      } catch (error) {
        if (!signal.aborted) logger.warn({ part: name, tries, err: error }, 'not opened yet, trying again')
        await pause(againMs, undefined, { signal }).catch(() => undefined)
      }
    }
    if (signal.aborted) await part?.close()
  }
  const opening = tryUntilOpen()
  await endedWithin(opening, patienceMs)
  return {
    async close() {
      stopping.abort()
      await part?.close()
    },
  }
}
