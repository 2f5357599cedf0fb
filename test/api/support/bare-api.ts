/** Only the api, with ports that do nothing: all its processor time goes into the request. */

import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Registry } from 'prom-client'
import { createApp } from '../../../api/app.ts'
import type { ApiDeps } from '../../../api/deps.ts'
import { createApiMetrics } from '../../../api/metrics.ts'
import { listen, type ServerParts } from '../../../api/server.ts'
import { ACME } from '../../../fixtures/delivery/builders.ts'
import type { Catalog, Website } from '../../../domain/catalog.ts'
import { PROVIDER_IDS } from '../../../domain/providers/index.ts'
import type { SessionVerbs } from '../../../ports/hot-state/session-verbs.ts'
import { localHotState } from '../../../ports/hot-state/redis/local-hot-state.ts'
import { createLogger } from '../../../runtime/logger.ts'
import { createRandomness } from '../../../runtime/random.ts'
import { KEYS } from './keys.ts'

export interface BareApi {
  readonly port: number
  /** Sends the bytes of one request and resolves with the status once its whole answer is there. */
  readonly exchange: (request: Buffer) => Promise<number>
  readonly close: () => Promise<void>
}

/** Organisation `acme` (Standard) with `count` websites, the first of which is `acme-dev` with `https://acme.dev`. */
export function bareCatalog(count = 1): Catalog {
  const websites = Array.from({ length: count }, (_, index): Website => {
    const origin = index === 0 ? 'https://acme.dev' : `https://site-${index}.dev`
    return {
      id: index === 0 ? 'acme-dev' : `site-${index}`,
      namespace: 'default',
      objectName: `site-${index}`,
      organization: index % 25 === 0 || count <= 25 ? ACME : { ...ACME, id: `org-${index % 400}` },
      displayName: origin,
      primaryOrigin: origin,
      origins: new Set([origin]),
      pages: [],
      providers: new Set(PROVIDER_IDS),
      retentionDays: 395,
      hookScan: 'Notice',
      crossOrigin: 'Carry',
      ignoredReferrers: [],
      selectionPolicy: 'latest_visit',
      installationsPerVisitWarning: 10,
      destinations: [],
      measurementIds: [],
    }
  })
  return {
    version: '1',
    number: 1,
    organizations: new Map(websites.map((website) => [website.organization.id, website.organization])),
    websites: new Map(websites.map((website) => [website.id, website])),
    origins: new Set(websites.map(({ primaryOrigin }) => primaryOrigin)),
  }
}

/** Collection does not use these. */
const refused = (): Promise<never> => Promise.reject(new Error('the api knows no sessions'))
const NO_SESSIONS: SessionVerbs = {
  putSession: refused,
  readSession: refused,
  dropSession: refused,
  dropSessionsOf: refused,
  putOnce: refused,
  readOnce: refused,
  takeOnce: refused,
  replaceOnce: refused,
}

export function bareDeps(catalog: Catalog): ApiDeps {
  const hotState = {
    ...localHotState(Date.now),
    countHits: async (hits: readonly unknown[]) => ({ kind: 'counted', counts: hits.map(() => 1) }) as const,
    flush: () => Promise.resolve(),
    health: () => ({ isReachable: true, isShared: true }),
    close: () => Promise.resolve(),
    ...NO_SESSIONS,
  }
  return {
    eventLog: {
      append: () => Promise.resolve(),
      health: () => ({ isAccepting: true }) as never,
      progress: () => Promise.resolve({ done: [0], ends: [0] }),
      async *readLast() {},
    },
    hotState,
    facts: { run: () => Promise.resolve([]), health: () => ({ isReachable: true }) as never },
    catalog: () => catalog,
    keys: KEYS,
    nowMs: Date.now,
    randomness: createRandomness(),
    logger: createLogger({ program: 'test', level: 'silent' }),
    metrics: createApiMetrics(new Registry()),
    options: {
      site: { baseUrl: 'https://whence.example', brand: 'whence', version: 'test' },
      trustProxy: ['127.0.0.1'],
      prices: null,
      sdkFolder: fileURLToPath(new URL('../../../sdk/dist', import.meta.url)),
      isCatalogComplete: () => true,
    },
  }
}

export async function startBareApi(catalog = bareCatalog(), parts?: ServerParts): Promise<BareApi> {
  const server = await listen(createApp(bareDeps(catalog)), { host: '127.0.0.1', port: 0 }, parts)
  const exchange = exchanger(server.port)
  return {
    port: server.port,
    exchange: exchange.ask,
    close: async () => {
      exchange.end()
      await server.close()
    },
  }
}

/** One connection, reopened after each answer that closed it. */
function exchanger(port: number) {
  let socket = connect(port, '127.0.0.1')
  let answered: (status: number) => void = () => undefined
  let received = ''
  const take = (chunk: Buffer): void => {
    received += chunk.toString('latin1')
    const end = received.indexOf('\r\n\r\n')
    if (end === -1) return
    const head = received.slice(0, end)
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
    if (received.length < end + 4 + length) return
    received = ''
    if (/\r\nconnection: close/i.test(head)) reconnect()
    answered(Number(head.slice(9, 12)))
  }
  const reconnect = (): void => {
    socket.removeListener('data', take).destroy()
    socket = connect(port, '127.0.0.1').on('data', take).on('error', lost).setNoDelay()
  }
  const lost = (): void => answered(0)
  reconnect()
  return {
    ask: (request: Buffer) =>
      new Promise<number>((resolve) => {
        answered = resolve
        socket.write(request)
      }),
    end: () => void socket.destroy(),
  }
}
