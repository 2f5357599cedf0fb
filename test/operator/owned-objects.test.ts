/** Everything that the operator writes except statuses names the owner that is deleted with the release. */

import { expect } from 'chai'

import { owningClient } from '../../operator/apply/owned-objects.ts'
import type { KubeClient, KubeRequest } from '../../runtime/kube/client.ts'

const PLACE = { namespace: 'whence', name: 'w' }
const CORE = '/api/v1/namespaces/whence'
const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'w-ga4', labels: { a: 'b' } }, data: { x: 'y' } }

describe('objects of the operator', () => {
  let uid: string | null = 'uid-1'
  let isAway = false
  let nowMs = 0
  let requests: KubeRequest[] = []
  const inner = {
    request: async (request: KubeRequest) => {
      requests.push(request)
      if (request.method !== 'GET') return null
      if (isAway) throw new Error('away')
      return { items: uid === null ? [] : [{ metadata: { uid } }] }
    },
  } as unknown as KubeClient
  let client: KubeClient

  beforeEach(() => {
    ;[uid, isAway, nowMs, requests] = ['uid-1', false, 0, []]
    client = owningClient(inner, PLACE, () => nowMs)
  })

  const written = async (path: string, method: KubeRequest['method'] = 'PATCH') => {
    await client.request({ method, path, body })
    return (requests.at(-1)?.body as typeof body).metadata as Readonly<Record<string, unknown>>
  }
  const owner = (is = 'uid-1') => [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'w-owner', uid: is }]

  it('name their owner: ConfigMaps, Secrets and the Lease', async () => {
    const lease = '/apis/coordination.k8s.io/v1/namespaces/whence/leases'
    for (const [path, method] of [
      [`${CORE}/secrets/w-ga4?fieldManager=x`, 'PATCH'],
      [`${CORE}/configmaps/w-catalog`, 'PATCH'],
      [lease, 'POST'],
      [`${lease}/w`, 'PUT'],
    ] as const)
      expect(await written(path, method), path).to.deep.equal({ ...body.metadata, ownerReferences: owner() })
    const looks = requests.filter(({ method }) => method === 'GET')
    expect(looks.map(({ path }) => path)).to.deep.equal([`${CORE}/configmaps?fieldSelector=metadata.name%3Dw-owner`])
  })

  it('are no others: neither statuses and events, nor what lies elsewhere, and nothing that is read or deleted changes', async () => {
    const untouched = [
      '/apis/whence.dev/v1alpha1/namespaces/whence/websites/x/status',
      '/api/v1/namespaces/other/secrets/x',
      '/apis/events.k8s.io/v1/namespaces/whence/events',
    ]
    for (const path of untouched) expect(await written(path), path).to.equal(body.metadata)
    await client.request({ method: 'DELETE', path: `${CORE}/configmaps/x` })
    expect(requests.at(-1)).to.deep.equal({ method: 'DELETE', path: `${CORE}/configmaps/x` })
  })

  it('name the last known owner while it cannot be read, and none if there is none', async () => {
    await written(`${CORE}/secrets/x`)
    isAway = true
    nowMs = 60_000
    expect((await written(`${CORE}/secrets/x`))['ownerReferences']).to.deep.equal(owner())
    ;[isAway, uid, nowMs] = [false, null, 65_000]
    expect(await written(`${CORE}/secrets/x`)).to.deep.equal(body.metadata)
  })

  it('name the new owner if it was recreated', async () => {
    await written(`${CORE}/secrets/x`)
    uid = 'uid-2'
    expect((await written(`${CORE}/secrets/x`))['ownerReferences']).to.deep.equal(owner())
    nowMs = 60_000
    expect((await written(`${CORE}/secrets/x`))['ownerReferences']).to.deep.equal(owner('uid-2'))
  })
})
