/** Two installations that see one namespace of a real API server, left to themselves for ten minutes: neither writes a status. */

import { setTimeout as pause } from 'node:timers/promises'

import { expect } from 'chai'

import { ga4Destination, installPath, organization, website, type Manifest } from '../../fixtures/service/manifests.ts'
import type { Stage } from '../operator/support/stage.ts'
import { openStage, until } from '../operator/support/stage.ts'
import type { KubeServer } from '../../fixtures/engines/kube.ts'
import { kubeTools, startKube } from '../../fixtures/engines/kube.ts'

const MINUTES = 10
const MINUTE_MS = 60_000
const SETTLE_MS = 5_000

describe('two installations that see one namespace', function () {
  this.timeout(1_500_000)
  let kube: KubeServer
  let stage: Stage

  before(async () => {
    const tools = await kubeTools()
    if (tools === null) throw new Error('there is no API server to try it with')
    kube = await startKube(tools)
    await kube.installCrds()
    const namespaces = ['whence', 'other', 'shop'].map((name) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    }))
    await kube.apply(namespaces)
    stage = await openStage(kube)
  })
  after(async () => {
    await stage?.stop()
    await kube?.stop()
  })

  const path = (plural: string) => `/apis/whence.dev/v1alpha1/namespaces/shop/${plural}`
  const statusWrites = async () =>
    (await kube.audit()).filter(({ verb, objectRef }) => verb !== 'get' && objectRef?.subresource === 'status').length
  /** One of each kind, refused ones among them. */
  const apply = () => {
    const keys = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, stringData: { ga4: 'made-up' } }
    const objects: Manifest[] = [
      organization('acme'),
      installPath('cli'),
      website('site'),
      website('orphan', { organizationRef: { name: 'nobody' } }),
    ]
    const all = [
      ...objects,
      keys,
      ga4Destination('out'),
      ga4Destination('broken', { websiteRef: { name: 'not-there' } }),
    ]
    return kube.apply(all.map((each: any) => ({ ...each, metadata: { ...each.metadata, namespace: 'shop' } })))
  }
  const writtenWhileSettling = async () => {
    const before = await statusWrites()
    await pause(SETTLE_MS)
    return (await statusWrites()) - before
  }

  it(`write no status in ${MINUTES} minutes, whoever came first, and the second one says once whose the objects are`, async () => {
    stage.operator('operator-one', null, { installation: 'one' })
    await apply()
    const readiness = async (name: string) =>
      (await kube.want(`${path('websites')}/${name}`)).status?.conditions?.find(({ type }: any) => type === 'Ready')
        ?.status
    await until('the website is ready', async () => (await readiness('site')) === 'True')
    await until('the other is refused', async () => (await readiness('orphan')) === 'False')
    const place = { namespace: 'other', name: 'whence' }
    const second = stage.operator('operator-two', null, { installation: 'two', place })
    await until('the second one has seen whose they are', async () =>
      /whence_operator_foreign_objects 6$/m.test(await second.registry.metrics()),
    )
    await until('nobody writes', async () => (await writtenWhileSettling()) === 0)
    const before = await statusWrites()
    for (let minute = 0; minute < MINUTES; minute += 1) {
      await pause(MINUTE_MS)
      expect((await statusWrites()) - before, `after ${minute + 1} minutes`).to.equal(0)
    }
    const { items } = await kube.want('/apis/events.k8s.io/v1/namespaces/shop/events')
    const told = items.filter(({ reason }: any) => reason === 'OtherInstallation')
    expect(told.map(({ regarding }: any) => `${regarding.kind}/${regarding.name}`).sort()).to.deep.equal([
      'Destination/broken',
      'Destination/out',
      'InstallPath/cli',
      'Organization/acme',
      'Website/orphan',
      'Website/site',
    ])
    expect((await kube.want(`${path('websites')}/site`)).status).to.include({ installation: 'one' })
  })
})
