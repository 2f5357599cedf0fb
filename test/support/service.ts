/** The whole embedded service inside the test: real LMDB, real chDB, a stand-in for GA4, a clock that tests can move. */

import { mkdtemp, rm, writeFile, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startService, type Service } from '../../bin/service.ts'
import { startGa4StandIn, type Ga4StandIn } from '../../stand-ins/ga4.ts'
import { createLifecycle } from '../../runtime/lifecycle.ts'
import { createLogger } from '../../runtime/logger.ts'
import { compileSettings } from '../../runtime/settings/settings.ts'
import { freePort } from './free-port.ts'

export interface TestService extends Service {
  readonly url: string
  readonly metricsUrl: string
  readonly folder: string
  readonly ga4: Ga4StandIn
  /** Lines of the process's own log. */
  readonly logLines: readonly string[]
  /** Moves the service's clock. */
  readonly advance: (ms: number) => void
  readonly nowMs: () => number
  /** Writes manifests and waits until they are in force. */
  readonly apply: (files: Readonly<Record<string, string>>) => Promise<void>
  /** Resolves when every role, or the named one alone, has worked off its topics. */
  readonly drain: (group?: string) => Promise<void>
  readonly stop: () => Promise<void>
}

export interface TestServiceOptions {
  readonly manifests?: Readonly<Record<string, string>>
  /** An existing folder of an earlier service, to continue with its data. */
  readonly folder?: string
  readonly env?: Readonly<Record<string, string>>
  /** A clock of the test's own; real time, moved by `advance`, without it. */
  readonly nowMs?: () => number
}

export const TEST_ORIGIN = 'https://acme.dev'
export const TEST_SECRET = 'only-for-tests-only-for-tests-only-for-tests'
const DRAIN_TRIES = 600
const DRAIN_PAUSE_MS = 25

/** Organisation `acme` (Standard), website `acme-dev`, install path `cli`, destination `acme-ga4` in mode Live. */
export const MANIFESTS: Readonly<Record<string, string>> = {
  'acme.yaml': `
apiVersion: whence.dev/v1alpha1
kind: Organization
metadata: { name: acme }
spec: { displayName: Acme, plan: Standard }
---
apiVersion: whence.dev/v1alpha1
kind: InstallPath
metadata: { name: cli }
spec: { organizationRef: { name: acme }, displayName: Acme CLI }
---
apiVersion: whence.dev/v1alpha1
kind: Website
metadata: { name: acme-dev }
spec:
  organizationRef: { name: acme }
  displayName: acme.dev
  primaryOrigin: ${TEST_ORIGIN}
  additionalDomains: ['https://docs.acme.dev', 'http://localhost:8081']
  pages: [{ id: install-page, url: 'https://acme.dev/install' }]
  providers: [ga4, google_ads, meta]
---
apiVersion: v1
kind: Secret
metadata: { name: acme-ga4 }
stringData: { api-secret: secret-of-the-ga4-stream }
---
apiVersion: whence.dev/v1alpha1
kind: Destination
metadata: { name: acme-ga4 }
spec:
  websiteRef: { name: acme-dev }
  displayName: GA4
  provider: ga4
  mode: Live
  ga4: { measurementId: G-TEST000001, apiSecretRef: { name: acme-ga4, key: api-secret } }
`,
}

/** Starts it on free ports in a folder of its own; `stop` ends it and removes what it made. */
export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'whence-test-')))
  const manifests = join(folder, 'manifests')
  await mkdir(manifests, { recursive: true })
  await writeAll(manifests, options.manifests ?? MANIFESTS)
  const ga4 = await startGa4StandIn({ port: 0 })
  let offsetMs = 0
  const nowMs = options.nowMs ?? (() => Date.now() + offsetMs)
  const logLines: string[] = []
  const logger = createLogger({ program: 'test', level: 'debug', write: (line) => void logLines.push(line) })
  const lifecycle = createLifecycle({ logger, stopDeadlineMs: 20_000, signals: NO_SIGNALS, exit: () => undefined })
  const settings = await testSettings(folder, ga4.url, options.env ?? {})
  const service = await startService({ settings, env: options.env ?? {}, logger, lifecycle, nowMs, version: 'test' })
  return {
    ...service,
    url: `http://127.0.0.1:${service.port}`,
    metricsUrl: `http://127.0.0.1:${service.metricsPort}/metrics`,
    folder,
    ga4,
    logLines,
    nowMs,
    advance: (ms) => void (offsetMs += ms),
    apply: async (files) => {
      const before = service.catalog.current().version
      await writeAll(manifests, files)
      for (let tries = 0; service.catalog.current().version === before && tries < DRAIN_TRIES; tries++)
        await wait(DRAIN_PAUSE_MS)
      if (service.catalog.current().version === before) throw new Error('the manifests did not take effect')
    },
    drain: (group) => drain(service, group),
    stop: async () => {
      await lifecycle.stop('request')
      await ga4.stop()
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}

const NO_SIGNALS = { on: () => undefined, off: () => undefined }

async function testSettings(folder: string, ga4Url: string, env: Readonly<Record<string, string>>) {
  const port = await freePort()
  const argv = [
    ...['--listen', `127.0.0.1:${port}`, '--metrics-listen', '127.0.0.1:0'],
    ...['--data', join(folder, 'data'), '--manifests', join(folder, 'manifests')],
  ]
  const outcome = compileSettings('embedded', argv, { WHENCE_SECRET: TEST_SECRET, WHENCE_GA4_URL: ga4Url, ...env })
  if (outcome.kind !== 'run') throw new Error(JSON.stringify(outcome))
  return outcome.settings
}

async function writeAll(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
}

/** Quiet twice in a row: a role that finishes may have given another one work in between. */
async function drain(service: Service, group?: string): Promise<void> {
  let quiet = 0
  for (let tries = 0; tries < DRAIN_TRIES; tries++) {
    const lag = await service.eventLog.lag()
    // Waiting rooms hold what is not due yet; they are not waited for.
    const asked = lag.filter((row) => group === undefined || row.group === group)
    const waiting = asked.filter(({ topic, entries }) => entries > 0 && !/\.\d+[smh]$/.test(topic))
    quiet = waiting.length === 0 ? quiet + 1 : 0
    if (quiet === 3) return
    await wait(DRAIN_PAUSE_MS)
  }
  throw new Error(`not drained: ${JSON.stringify((await service.eventLog.lag()).filter(({ entries }) => entries > 0))}`)
}
