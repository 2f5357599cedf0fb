/** The thread of reads itself: handlers and replays on facts that the thread of the requests reads for it. */

import { parentPort, workerData } from 'node:worker_threads'

import { readingHandlers } from '../../dashboard/reading.ts'
import type { Call, HandlerOutcome, StreamAnswer } from '../../dashboard/http/call.ts'
import { createCursors } from '../../dashboard/logs/cursor.ts'
import { createReadScope, type ReadWebsite } from '../../dashboard/reads/scope.ts'
import { runReplays, type BegunReplays } from '../../delivery/rollup/replay-jobs.ts'
import { KEY_IDS } from '../../domain/receipt.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { createLogger } from '../../runtime/logger.ts'
import { yieldThisThread } from '../wiring/v8-threads.ts'
import { Moved, openChannel, type Channel } from './channel.ts'
import { linesConnection } from './lines-connection.ts'
import type { CarriedCall, CarriedOutcome, MainOffers, ReadOffers, ReadThreadData } from './messages.ts'

// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the main thread of this program gives it
const { secrets, yielding, logLevel: level, logFormat: format } = workerData as ReadThreadData
if (parentPort === null) throw new Error('this file is the code of a thread')
yieldThisThread()
const logger = createLogger({ program: 'embedded', level, format })
const main: Channel<MainOffers> = openChannel<MainOffers>(parentPort, readOffers())

function readOffers(): ReadOffers {
  const connection = linesConnection((asked, signal) => main.call('lines', asked, signal), yielding)
  const facts = clickhouseFacts(connection, { nowMs: Date.now })
  const keys = createKeyring(secrets)
  const websites = new WeakMap<Call, readonly ReadWebsite[]>()
  const elapsedMs = (): number => performance.now()
  const handlers = readingHandlers({
    facts,
    scope: createReadScope({ facts, elapsedMs, websitesOf: (call) => websites.get(call) ?? [] }),
    cursors: createCursors(keys.cursorMac),
    keyIds: KEY_IDS.filter(keys.hasKey),
    clock: { elapsedMs },
    control: {
      hotState: { countHits: (hits) => main.call('countHits', hits) },
      stillAllowed: ({ requestId: request }, least) => main.call('stillAllowed', { request, least }),
      noteActivity: (entry) => main.call('noteActivity', entry),
      logger,
    },
  })
  const streams = new Map<string, OpenDownload>()
  const begun: BegunReplays = new Map()
  return {
    async handle({ route, call: carried }, signal) {
      const gone = new AbortController()
      const leave = (): void => gone.abort(signal.reason)
      signal.addEventListener('abort', leave)
      const call = callOf(carried, gone.signal)
      websites.set(call, carried.websites)
      const outcome = await handlers[route](call)
      if (outcome.kind !== 'stream') return writtenOutcome(outcome)
      const download = openDownload(outcome, gone)
      streams.set(call.requestId, download)
      // Its client left just now, and nobody will ask for it.
      if (signal.aborted) await endDownload(streams, call.requestId)
      const { kind, contentType, headers, mayGoOn } = outcome
      const head = { kind, contentType, ...(headers === undefined ? {} : { headers }) }
      return { ...head, isChecked: mayGoOn !== undefined }
    },
    async next(request) {
      const download = streams.get(request)
      if (download === undefined) throw new Error('this download is ended')
      const { value } = await download.chunks.next()
      if (value === undefined) return null
      const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value
      return new Moved(bytes, bytes)
    },
    mayGoOn: async (request) => (await streams.get(request)?.mayGoOn?.()) ?? false,
    leave: (request) => endDownload(streams, request),
    runReplays({ nowMs }, signal) {
      const aheadMs = nowMs - Date.now()
      const deps = { facts: { ...facts, insert }, logger, nowMs: () => Date.now() + aheadMs }
      return runReplays(deps, { begun, signal })
    },
  }
}

interface OpenDownload {
  readonly mayGoOn?: NonNullable<StreamAnswer['mayGoOn']>
  readonly chunks: AsyncIterator<string | Uint8Array, void>
  readonly gone: AbortController
}

function openDownload({ chunks, mayGoOn }: StreamAnswer, gone: AbortController): OpenDownload {
  return { chunks: chunks[Symbol.asyncIterator](), gone, ...(mayGoOn === undefined ? {} : { mayGoOn }) }
}

/** Also one that is ended already. */
async function endDownload(streams: Map<string, OpenDownload>, request: string): Promise<void> {
  const download = streams.get(request)
  streams.delete(request)
  download?.gone.abort()
  await download?.chunks.return?.()
}

function callOf({ websites: _, ...call }: CarriedCall, signal: AbortSignal): Call {
  return { ...call, search: new URLSearchParams(), signal }
}

/** Its body as JSON, so that the thread of the requests need not write it. */
function writtenOutcome(outcome: Exclude<HandlerOutcome, StreamAnswer>): CarriedOutcome | Moved<CarriedOutcome> {
  if (outcome.kind !== 'answer') return outcome
  const { body, ...head } = outcome
  const json = new TextEncoder().encode(JSON.stringify(body))
  return new Moved<CarriedOutcome>({ ...head, kind: 'written', json }, json)
}

/** Rows of results, which the thread of the requests inserts in its turn. */
const insert: Facts['insert'] = (table, rows) => main.call('insert', { table, rows })
