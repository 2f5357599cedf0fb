/**
 * The thread of reads, as the thread of the requests sees it: what people read in the dashboard, and replays of decisions, run there. Its
 * garbage collections and its long loops then hold up no install event. It is started when it is first needed.
 */

import { recordOf } from '../../domain/typed-keys.ts'
import { Worker } from 'node:worker_threads'

import { endedWithin } from '../../common/deadline.ts'
import { READING_ROUTES, type ReadingHandlers, type ReadingParts } from '../../dashboard/reading.ts'
import {
  isOfPerson,
  isScoped,
  type Call,
  type Handler,
  type ScopedCall,
  type StreamAnswer,
} from '../../dashboard/http/call.ts'
import type { ReadWebsite } from '../../dashboard/reads/scope.ts'
import type { Directory, DirectoryOrganization, DirectoryWebsite } from '../../dashboard/resources/directory.ts'
import type { Destination } from '../../domain/catalog.ts'
import type { EngineForThreads } from '../../ports/facts/engine/connection.ts'
import type { FactsWriter } from '../../ports/facts/facts.ts'
import type { SettingsNamed } from '../../runtime/settings/settings-of.ts'
import { Moved, openChannel, type Channel } from './channel.ts'
import type { CarriedCall, CarriedOutcome, MainOffers, ReadOffers, ReadThreadData } from './messages.ts'

export interface ReadThread {
  /** The same handlers, run in the thread. */
  readonly handlers: (parts: ReadingParts) => ReadingHandlers
  /** Finishes the open replays of decisions. Rejects like `runReplays`, and at once with the reason of `signal`: the thread may then still store a step. */
  readonly runReplays: (signal: AbortSignal) => Promise<void>
  /** Ends it; what it still does is given up. */
  readonly close: () => Promise<void>
}

/** What the thread starts with. */
export interface ReadThreadStart {
  readonly settings: SettingsNamed<'logLevel' | 'logFormat'>
  /** Master secrets. */
  readonly secrets: readonly string[]
  readonly connection: EngineForThreads
}

/** What the thread asks of this one. */
export interface ReadThreadParts {
  readonly facts: FactsWriter
  readonly websites: Directory['websites']
  readonly nowMs: () => number
  /** Called if the thread ends by itself, which is a fault of the program. */
  readonly onFailure: (error: Error) => void
}

const ENDED = 'the thread of reads has ended'
/** How long a stop waits for entries of downloads that end at the same time; the process has 25 s for all its parts. */
const LAST_ENTRIES_MS = 2_000

interface RunningThread {
  readonly worker: Worker
  readonly channel: Channel<ReadOffers>
}

export function createReadThread(start: ReadThreadStart, parts: ReadThreadParts): ReadThread {
  /** Calls that the thread works on, by the ID of their request. */
  const calls = new Map<string, ScopedCall>()
  let reading: ReadingParts | null = null
  let running: RunningThread | null = null
  let isStopped = false
  /** Downloads that end just now: each still writes its entry of the activity. */
  const leaving = new Set<Promise<void>>()

  function channel(): Channel<ReadOffers> {
    if (isStopped) throw new Error(ENDED)
    running ??= startThread(
      start,
      offersOf(start.connection, parts.facts, calls, () => reading),
      parts.onFailure,
    )
    return running.channel
  }

  async function handle(route: (typeof READING_ROUTES)[number], call: Call): ReturnType<Handler> {
    if (!isScoped(call)) throw new Error('reads are of an organisation')
    const { requestId: request, signal } = call
    const thread = channel()
    const end = (): void => {
      calls.delete(request)
      // It can only fail if the thread has ended, and with it everything that it had begun.
      const left = thread.call('leave', request).catch(() => undefined)
      leaving.add(left)
      void left.finally(() => leaving.delete(left))
    }
    calls.set(request, call)
    try {
      const outcome: CarriedOutcome = await thread.call(
        'handle',
        { route, call: carriedCall(call, parts.websites) },
        signal,
      )
      if (outcome.kind === 'stream') return streamedAnswer(outcome, { channel: thread, call, end })
      calls.delete(request)
      return outcome
    } catch (error) {
      // The client may have left while its download was opened.
      end()
      throw error
    }
  }

  return {
    handlers(given) {
      reading = given
      return recordOf(READING_ROUTES, (route) => (call) => handle(route, call))
    },
    runReplays: async (signal) => channel().call('runReplays', { nowMs: parts.nowMs() }, signal),
    async close() {
      isStopped = true
      await endedWithin(Promise.allSettled(leaving), LAST_ENTRIES_MS)
      if (running === null) return
      running.channel.close(new Error(ENDED))
      forget(running.worker)
      await running.worker.terminate()
    },
  }
}

function startThread(
  { settings, secrets, connection }: ReadThreadStart,
  offers: MainOffers,
  onFailure: (error: Error) => void,
): RunningThread {
  const workerData: ReadThreadData = {
    secrets,
    yielding: connection.yielding ?? {},
    logLevel: settings.logLevel,
    logFormat: settings.logFormat,
  }
  const worker = new Worker(new URL('worker.ts', import.meta.url), { name: 'reads', workerData })
  const channel = openChannel<ReadOffers>(worker, offers)
  const fail = (error: Error): void => {
    forget(worker)
    channel.close(error)
    onFailure(error)
  }
  worker.on('error', (error) => fail(error instanceof Error ? error : new Error(String(error))))
  worker.on('messageerror', fail)
  worker.on('exit', (code) => fail(new Error(`it ended by itself, with code ${code}`)))
  return { worker, channel }
}

/** Nothing more is to be heard of it; an error without a listener would end this thread. */
function forget(worker: Worker): void {
  worker.removeAllListeners()
  worker.on('error', () => undefined)
}

function offersOf(
  connection: EngineForThreads,
  facts: FactsWriter,
  calls: ReadonlyMap<string, ScopedCall>,
  reading: () => ReadingParts | null,
): MainOffers {
  const parts = (): ReadingParts => {
    const given = reading()
    if (given === null) throw new Error('no handlers were asked for')
    return given
  }
  return {
    async lines({ statement, parameters, turn, share }, signal) {
      if (connection.lines === undefined) throw new Error('the engine is not in this process')
      const lines = await connection.lines(statement, parameters, { turn, share, signal })
      return new Moved<Uint8Array>(lines, lines)
    },
    insert: ({ table, rows }) => facts.insert(table, rows),
    countHits: (hits) => parts().control.hotState.countHits(hits),
    noteActivity: (entry) => parts().control.noteActivity(entry),
    async stillAllowed({ request, least }) {
      const call = calls.get(request)
      return call !== undefined && isOfPerson(call) && (await parts().control.stillAllowed(call, least))
    },
  }
}

/** Only what handlers use: the catalog's own objects hold much more, and this thread would have to copy it for every read. */
function carriedCall(call: ScopedCall, websitesOf: Directory['websites']): CarriedCall {
  const { search: _query, signal: _signal, ...rest } = call
  const { organization, role, reader } = call.scope
  const { website: wanted } = call.query
  const websites = websitesOf(organization.id).filter(({ id }) => wanted === undefined || id === wanted)
  return {
    ...rest,
    scope: { organization: carriedOrganization(organization), role, reader },
    websites: websites.map(carriedWebsite),
  }
}

function carriedOrganization(organization: DirectoryOrganization): DirectoryOrganization {
  const { id, namespace, objectName, displayName, plan, tenant, logRetentionDays, timeZone, installPaths } =
    organization
  const carried = { id, namespace, objectName, displayName, plan, logRetentionDays, timeZone, installPaths }
  return tenant === undefined ? carried : { ...carried, tenant }
}

function carriedWebsite({ id, displayName, retentionDays, destinations }: DirectoryWebsite): ReadWebsite {
  const shown = (each: Destination) => {
    return { id: each.id, displayName: each.displayName, provider: each.provider, mode: each.mode }
  }
  return { id, displayName, retentionDays, destinations: destinations.map(shown) }
}

interface OpenStream {
  readonly channel: Channel<ReadOffers>
  readonly call: Call
  readonly end: () => void
}

function streamedAnswer(
  { kind, contentType, headers, isChecked }: Extract<CarriedOutcome, { kind: 'stream' }>,
  { channel, call, end }: OpenStream,
): StreamAnswer {
  return {
    kind,
    contentType,
    ...(headers === undefined ? {} : { headers }),
    chunks: chunksOf(channel, call),
    ...(isChecked ? { mayGoOn: () => channel.call('mayGoOn', call.requestId) } : {}),
    onEnd: end,
  }
}

async function* chunksOf(channel: Channel<ReadOffers>, { requestId, signal }: Call): AsyncGenerator<Uint8Array> {
  for (;;) {
    const chunk = await channel.call('next', requestId, signal)
    if (chunk === null) return
    yield chunk
  }
}
