/** Definitions of the next version in a cluster whose service is still this one's, and back: collection never stops. */

import { expect } from 'chai'

import { SCHEMA_HASH_ANNOTATION } from '../../domain/resources/crd.ts'
import type { Engines } from '../../fixtures/engines/engines.ts'
import { startEngines } from '../../fixtures/engines/engines.ts'
import { kafkaJars } from '../../fixtures/engines/kafka.ts'
import type { KubeServer } from '../../fixtures/engines/kube.ts'
import { kubeTools, startKube } from '../../fixtures/engines/kube.ts'
import { organization, website, type Manifest } from '../../fixtures/service/manifests.ts'
import type { Stage } from './support/stage.ts'
import { openStage, until } from './support/stage.ts'
import { startApiPod, startVisitors } from './support/visitors.ts'

const BUILD_AND_START_MS = 1_300_000

describe('websites under definitions that are newer than the operator', function () {
  this.timeout(300_000)
  let kube: KubeServer
  let engines: Engines
  let stage: Stage

  before(async function () {
    this.timeout(BUILD_AND_START_MS)
    const tools = await kubeTools()
    const jars = await kafkaJars()
    if (tools === null || jars === null) return this.skip()
    engines = await startEngines({ jars })
    kube = await startKube(tools)
    await kube.installCrds()
    const names = ['whence', 'crowd', 'quiet']
    await kube.apply(names.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })))
    stage = await openStage(kube)
    return undefined
  })
  after(async () => {
    await stage?.stop()
    await kube?.stop()
    await engines?.stop()
  })

  const at = (namespace: string, objects: readonly Manifest[]) =>
    objects.map((object: any) => ({ ...object, metadata: { ...object.metadata, namespace } }))
  const sitePath = (namespace: string, name: string) =>
    `/apis/whence.dev/v1alpha1/namespaces/${namespace}/websites/${name}`
  const conditionOf = async (namespace: string, name: string, type: string) =>
    (await kube.want(sitePath(namespace, name))).status?.conditions?.find((each: any) => each.type === type)
  const isReady = (namespace: string, name: string) =>
    until(`${namespace}/${name} is ready`, async () => (await conditionOf(namespace, name, 'Ready'))?.status === 'True')

  it('keep their fields and collect all the time, whether the new fields are used or not, also after going back', async () => {
    const sites = Array.from({ length: 12 }, (_, n) => {
      // One page of each lies on an origin that is none of its domains.
      const pages = [{ id: 'install', url: `https://install-${n}.example/now` }]
      return website(`s${n}`, { pages })
    })
    await kube.apply(at('crowd', [organization('acme'), ...sites]))
    const choice = { namespaces: ['crowd', 'quiet'] }
    const first = stage.operator('operator-n', null, choice)
    const reader = await stage.catalog()
    const count = () => [...reader.current().websites.keys()].filter((id) => /^s\d+$/.test(id)).length
    await until('all are in force', () => count() === 12)
    await isReady('crowd', 's11')
    const pods = await Promise.all(
      ['api-0', 'api-1'].map((name) => startApiPod({ kube, stage, engines: engines.env }, name)),
    )
    const pages = sites.flatMap((_, n) => [
      { website: `s${n}`, pageUrl: `https://s${n}.example/` },
      { website: `s${n}`, pageUrl: `https://install-${n}.example/now` },
    ])
    const visitors = await startVisitors(pods, pages)
    let least = 12
    const load = setInterval(() => (least = Math.min(least, count())), 5)
    const crd = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/websites.whence.dev'
    const patch = (body: object) =>
      kube.want(crd, { method: 'PATCH', contentType: 'application/merge-patch+json', body })
    const crdBefore = await kube.want(crd)
    const { versions } = crdBefore.spec
    const newer = structuredClone(versions)
    const { properties } = newer[0].schema.openAPIV3Schema.properties.spec
    properties.later = { type: 'string', default: 'soon', description: 'Of the next version.' }
    properties.used = { type: 'string', description: 'Of the next version too.' }
    await patch({ metadata: { annotations: { [SCHEMA_HASH_ANNOTATION]: 'of-the-next' } }, spec: { versions: newer } })
    await until('the default shows', async () => (await kube.want(sitePath('crowd', 's0'))).spec.later === 'soon')
    await kube.apply(at('crowd', [{ ...sites[1], spec: { ...(sites[1]?.['spec'] as object), used: 'yes' } }]))
    await first.close()
    const second = stage.operator('operator-n-again', null, choice)
    await kube.apply(at('crowd', [{ ...sites[2], spec: { ...(sites[2]?.['spec'] as object), displayName: 'Edited' } }]))
    await until('an edit comes into force', () => reader.current().websites.get('s2')?.displayName === 'Edited')
    const warning = await until('the warning is there', () => conditionOf('crowd', 's1', 'Warning'))
    expect(warning).to.include({ status: 'True', reason: 'UnknownField' })
    await isReady('crowd', 's1')
    const differs = async () => /definition_differs\{kind="Website"\} 1/.test(await second.registry.metrics())
    await until('the difference is said', differs)
    const said = async () => {
      const { status } = await kube.want('/apis/whence.dev/v1alpha1/namespaces/crowd/organizations/acme')
      return status.conditions.some(({ reason }: any) => reason === 'DefinitionsDiffer')
    }
    await until('the organisation says so', said)
    await second.close()
    const { annotations } = crdBefore.metadata
    await patch({ metadata: { annotations }, spec: { versions } })
    await until('the default is gone', async () => (await kube.want(sitePath('crowd', 's0'))).spec.later === undefined)
    stage.operator('operator-back', null, choice)
    await kube.apply(at('crowd', [{ ...sites[3], spec: { ...(sites[3]?.['spec'] as object), displayName: 'Back' } }]))
    await until('an edit comes into force', () => reader.current().websites.get('s3')?.displayName === 'Back')
    await until('no warning is left', async () => (await conditionOf('crowd', 's1', 'Warning')) === undefined)
    await until('nothing differs', async () => !(await said()))
    clearInterval(load)
    const before = visitors.recorded()
    await until(
      'all pages were visited once more at both pods',
      () => visitors.recorded() > before + 2 * pages.length * 2,
    )
    await visitors.stop()
    expect(visitors.refused()).to.deep.equal([])
    expect(least).to.equal(12)
    const fresh = await startApiPod({ kube, stage, engines: engines.env }, 'api-fresh')
    const later = await startVisitors([fresh], pages)
    await later.stop()
    for (const { program } of [...pods, fresh]) await program.end('SIGTERM')
  })
})
