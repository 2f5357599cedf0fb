/** A worker whose watch of the catalog is cut while a destination is made: nothing is skipped, and what waited goes out later. */

import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'
import { Registry } from 'prom-client'

import { atOnce } from '../../domain/published/steps.ts'
import { layOut } from '../../domain/published/layout.ts'
import type { Job } from '../../domain/records.ts'
import { createCredentialStore } from '../../operator/apply/credential-store.ts'
import { createPublisher } from '../../operator/apply/publisher.ts'
import { pack } from '../../operator/decide/pack.ts'
import { openClusterCatalog } from '../../runtime/catalog/cluster-catalog.ts'
import type { CatalogSource } from '../../runtime/catalog/source.ts'
import { createKubeMetrics } from '../../runtime/kube/metrics.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { Stage, until } from '../../fixtures/delivery/harness.ts'
import { jobOf } from '../../fixtures/delivery/jobs.ts'
import { compile, ga4Destination, organization, secret, website } from '../../fixtures/service/manifests.ts'
import { madeUpApi, type MadeUpApi } from '../operator/support/made-up-api.ts'

const PLACE = { namespace: 'whence', name: 'whence' }
const WORLD = [organization('acme'), website('site'), secret('keys', { ga4: 'only-for-tests' })]
const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex')

describe('a worker whose watch is cut while a destination is made', () => {
  let api: MadeUpApi
  let folder: string
  let stage: Stage
  let sources: CatalogSource[]
  let publish: (...objects: readonly object[]) => Promise<void>

  beforeEach(async () => {
    api = madeUpApi()
    folder = await mkdtemp(join(tmpdir(), 'whence-cut-watch-'))
    stage = await Stage.set()
    sources = []
    publish = publisherTo(api)
    await publish(...WORLD)
  })
  afterEach(async () => {
    await stage.strike()
    for (const source of sources) await source.close()
    api.end()
    await rm(folder, { recursive: true, force: true })
  })
  const open = async (): Promise<CatalogSource> => {
    const source = await openClusterCatalog({
      watching: {
        client: api.client,
        metrics: createKubeMetrics(new Registry()),
        logger: SILENT_LOGGER,
        random: () => 0,
      },
      place: PLACE,
      holder: 'ga4',
      folder,
    })
    sources.push(source)
    return source
  }
  const plannedBy = ({ number }: { readonly number: number }): Job => ({
    ...jobOf(),
    website: 'site',
    destination: 'out',
    catalogNumber: number,
  })

  it('skips nothing, and sends what it held once it has caught up', async () => {
    const own = await open()
    const use = (): void => {
      stage.catalog = own.current()
      stage.credentials = own.credentials()
    }
    own.onChange(use)
    use()
    await stage.startWorker()
    api.silence()
    await publish(...WORLD, ga4Destination('out'))
    const planner = await open()
    expect(
      planner
        .current()
        .websites.get('site')
        ?.destinations.map(({ id }) => id),
    ).to.deep.equal(['out'])
    expect(own.current().number).to.be.below(planner.current().number)
    await stage.enqueue(plannedBy(planner.current()))
    await until(async () => (await stage.records()).length === 1)
    expect((await stage.records())[0]).to.include({ status: 'retrying', reason: 'catalog_behind' })
    // The watch ends, and a new one brings what the cut one has not.
    api.end()
    await until(() => own.current().number === planner.current().number)
    stage.clock.advance(30_000)
    await until(async () => (await stage.records()).at(-1)?.status === 'delivered')
    expect((await stage.records()).map(({ status }) => status)).to.deep.equal(['retrying', 'delivered'])
    expect(stage.standIn.total()).to.equal(1)
  })
})

/** Publishes as the operator does. */
function publisherTo(api: MadeUpApi): (...objects: readonly object[]) => Promise<void> {
  const found = (kind: 'ConfigMap' | 'Secret', name: string): KubeObject | undefined =>
    api.objects(kind).find(({ metadata }) => metadata.name === name)
  const put = ({ kind, ...object }: KubeObject): string => {
    api.put(kind as 'ConfigMap' | 'Secret', PLACE.namespace, object)
    return found(kind as 'ConfigMap' | 'Secret', object.metadata.name)?.metadata.resourceVersion ?? ''
  }
  const writer = {
    apply: async (object: KubeObject) => void put(object),
    applyWhereNew: async (_there: unknown, { whole }: { readonly whole: () => KubeObject }) => void put(whole()),
    replace: async (object: KubeObject) => put(object),
    remove: async () => undefined,
  }
  const read = async (name: string) => found('Secret', name) ?? null
  const nonce = (): string => 'nonce'
  const tools = { writer, place: PLACE }
  const publisher = createPublisher({
    ...tools,
    copies: { configMap: (name) => found('ConfigMap', name), configMaps: () => [] },
    marks: { rights: () => '', nowMs: Date.now },
    readIndexMap: async () => found('ConfigMap', 'whence-catalog') ?? null,
    credentials: createCredentialStore({ ...tools, slots: 2, read, nonce, nowMs: Date.now }),
  })
  return async (...objects) => {
    const { catalog, credentials } = compile(...(objects as Parameters<typeof compile>))
    const text = JSON.stringify({ credentials: Object.fromEntries(credentials) })
    await publisher.publish({
      version: catalog.version,
      parts: atOnce(layOut(catalog, [], { sha256Hex, pack })),
      problems: [],
      credentials: new Map([['ga4', [text]]]),
    })
  }
}
