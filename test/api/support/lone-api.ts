/**
 * The api without anything behind it: the hot state and the log on LMDB, which pass the contracts of their ports, and facts that hold nothing. It starts in a
 * tenth of the time of a whole service, and is enough for whatever an answer, the log or the hot state shows.
 */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createApp } from '../../../api/app.ts'
import { connectionPeer } from '../../../api/http/client-address.ts'
import { listen } from '../../../api/server.ts'
import { movableClock } from '../../../fixtures/clocks.ts'
import { until } from '../../../fixtures/until.ts'
import { MANIFESTS, type TestService } from '../../../fixtures/service/service.ts'
import { lmdbEventLog } from '../../../ports/event-log/lmdb/lmdb.ts'
import { lmdbHotState } from '../../../ports/hot-state/lmdb/lmdb.ts'
import { openLmdb } from '../../../ports/shared/lmdb/environment.ts'
import { openCatalogFolder } from '../../../runtime/catalog/source.ts'
import { createLogger } from '../../../runtime/logger.ts'
import { callsTo, type Calls } from './api.ts'
import { bareDeps } from './bare-api.ts'

export interface LoneApi extends Calls {
  readonly service: Pick<
    TestService,
    'url' | 'port' | 'folder' | 'logLines' | 'hotState' | 'eventLog' | 'nowMs' | 'advance' | 'apply'
  >
  readonly stop: () => Promise<void>
}

interface LoneApiOptions {
  readonly manifests?: Readonly<Record<string, string>>
  /** By default real time; `advance` moves either. */
  readonly nowMs?: () => number
}

export async function startLoneApi(options: LoneApiOptions = {}): Promise<LoneApi> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-api-'))
  const manifests = join(folder, 'manifests')
  await mkdir(manifests)
  const write = async (files: Readonly<Record<string, string>>): Promise<void> => {
    for (const [name, text] of Object.entries(files)) await writeFile(join(manifests, name), text)
  }
  await write(options.manifests ?? MANIFESTS)
  const { nowMs, advance } = movableClock(options.nowMs)
  const logLines: string[] = []
  const logger = createLogger({ program: 'test', level: 'debug', write: (line) => void logLines.push(line) })
  const catalog = await openCatalogFolder({ folder: manifests, env: {}, logger, nowMs })
  const environment = await openLmdb(join(folder, 'lmdb'), { nowMs, onFatal: fail })
  const eventLog = await lmdbEventLog(environment)
  const hotState = await lmdbHotState(environment, { sweepEveryMs: Infinity })
  const bare = bareDeps(catalog.current())
  const { metrics, options: bareOptions } = bare
  const app = createApp({
    ...bare,
    eventLog,
    hotState,
    nowMs,
    logger,
    catalog: catalog.current,
    options: { ...bareOptions, isCatalogComplete: () => catalog.problems().length === 0 },
  })
  const server = await listen(
    app,
    { host: '127.0.0.1', port: 0 },
    {
      onBroken: (status, code) => metrics.answered('', status, code, 0),
      onEnded: metrics.connectionEnded,
      peers: { most: 1_000, peerOf: connectionPeer(bareOptions.trustProxy) },
    },
  )
  const url = `http://127.0.0.1:${server.port}`
  return {
    ...callsTo(url),
    service: {
      url,
      port: server.port,
      folder,
      logLines,
      hotState,
      eventLog,
      nowMs,
      advance,
      apply: async (files) => {
        const before = catalog.current().version
        await write(files)
        await until(() => catalog.current().version !== before)
      },
    },
    async stop() {
      await server.close()
      await eventLog.close()
      await hotState.close()
      await environment.close()
      await catalog.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function fail(error: Error): never {
  throw error
}
