/** Api processes on a catalog of the cluster, and visitors that never pause. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import type { EngineEnv } from '../../../fixtures/engines/engines.ts'
import type { KubeServer } from '../../../fixtures/engines/kube.ts'
import { freePort } from '../../../fixtures/engines/free-port.ts'
import { startProgram, type Program } from '../../../fixtures/service/programs.ts'
import { send, urlIdOf, visitBody } from '../../../fixtures/service/requests.ts'
import type { Stage } from './stage.ts'
import { PLACE, until } from './stage.ts'

export interface ApiPod {
  readonly url: string
  readonly program: Program
}

/** A page that must be able to record visits. */
export interface CollectingPage {
  readonly website: string
  readonly pageUrl: string
}

export interface Visitors {
  /** So many visits were recorded so far, of all pages and at all pods together. */
  readonly recorded: () => number
  /** What was answered otherwise, or not at all. */
  readonly refused: () => readonly string[]
  readonly stop: () => Promise<void>
}

const PAUSE_MS = 10

export interface ApiParts {
  readonly kube: KubeServer
  readonly stage: Stage
  readonly engines: EngineEnv
}

/** Started and collecting: `whencectl api` as the chart runs it. */
export async function startApiPod({ kube, stage, engines }: ApiParts, name: string): Promise<ApiPod> {
  const folder = join(stage.folder, name)
  await mkdir(folder)
  const secretFile = join(folder, 'secret')
  await writeFile(secretFile, 'only-for-tests-only-for-tests-only-for-tests', { mode: 0o600 })
  const port = await freePort()
  const program = startProgram(['api'], {
    env: {
      WHENCE_KUBE_URL: kube.url,
      WHENCE_KUBE_TOKEN_FILE: stage.tokenFile,
      WHENCE_KUBE_CA_FILE: kube.caFile,
      WHENCE_CATALOG: `kubernetes:${PLACE.namespace}/${PLACE.name}`,
      WHENCE_SECRET_FILE: secretFile,
      ...engines,
      WHENCE_DATA: join(folder, 'data'),
      WHENCE_LISTEN: `127.0.0.1:${port}`,
      WHENCE_METRICS_LISTEN: '127.0.0.1:0',
      WHENCE_BASE_URL: 'https://whence.example',
      WHENCE_TRUST_PROXY: '127.0.0.1',
    },
  })
  await program.ready
  return { url: `http://127.0.0.1:${port}`, program }
}

/** Resolves once every page can record a visit at every pod; from then on one visit after the other is asked for. */
export async function startVisitors(pods: readonly ApiPod[], pages: readonly CollectingPage[]): Promise<Visitors> {
  const places = pods.flatMap(({ url }) => pages.map((page) => ({ url, ...page })))
  for (const place of places) {
    await until(`${place.pageUrl} collects`, async () => (await visit(place)).status === 200)
  }
  let recorded = 0
  let isOver = false
  const refused: string[] = []
  const run = async (): Promise<void> => {
    for (let number = 0; !isOver; number++) {
      const place = places[number % places.length]
      if (place === undefined) return
      const said = await visit(place).then(
        ({ status, text }) => (status === 200 ? null : `${status} ${text}`),
        (error: unknown) => String(error),
      )
      if (said === null) recorded += 1
      else refused.push(`${place.pageUrl} at ${place.url}: ${said}`)
      await pause(PAUSE_MS)
    }
  }
  const running = run()
  return {
    recorded: () => recorded,
    refused: () => refused,
    async stop() {
      isOver = true
      await running
    },
  }
}

let clients = 0

/** Each from an address of its own, so that no limit is met. */
function visit({ url, website, pageUrl }: CollectingPage & { readonly url: string }) {
  const number = clients++
  const address = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
  const body = visitBody({ project: website, page_url: pageUrl, url_id: urlIdOf(pageUrl) })
  const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': address }
  return send(`${url}/v1/visits`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    origin: new URL(pageUrl).origin,
  })
}
