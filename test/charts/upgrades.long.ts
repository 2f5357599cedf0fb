/** What helm does on a real API server when a release is installed into what is there, or changed: no pods run here. */

import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'
import { parse, stringify } from 'yaml'

import type { KubeServer, KubeTools } from '../../fixtures/engines/kube.ts'
import { kubeTools, startKube } from '../../fixtures/engines/kube.ts'
import type { KubeManifest } from './support/render.ts'
import { CHART, runHelm, valueFile } from './support/render.ts'

const BUILD_AND_START_MS = 1_300_000
const ns = 'whence'
const REPLICAS = 6

/** As much of KEDA's definition as an API server needs to take its objects. */
const SCALED_OBJECTS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'scaledobjects.keda.sh' },
  spec: {
    group: 'keda.sh',
    names: { kind: 'ScaledObject', listKind: 'ScaledObjectList', plural: 'scaledobjects', singular: 'scaledobject' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1alpha1', served: true, storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } } },
      },
    ],
  },
}

describe('a release that changes, on a real API server', function () {
  this.timeout(180_000)
  let tools: KubeTools
  let kube: KubeServer
  let folder = ''
  let values = ''

  before(async function () {
    this.timeout(BUILD_AND_START_MS)
    const found = await kubeTools()
    if (found === null) return this.skip()
    tools = found
    folder = await mkdtemp(join(tmpdir(), 'whence-upgrade-'))
    kube = await startKube(tools)
    await kube.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: ns } }, SCALED_OBJECTS])
    await kube.kubectl(['wait', '--for=condition=Established', '--timeout=60s', 'crd/scaledobjects.keda.sh'])
    values = join(folder, 'values.json')
    await writeFile(values, JSON.stringify({ api: { replicas: REPLICAS }, factsWriter: { replicas: REPLICAS } }))
    return undefined
  })
  after(async () => {
    await kube?.stop()
    if (folder !== '') await rm(folder, { recursive: true, force: true })
  })

  const helm = (...words: string[]) =>
    runHelm(tools.helm, [...words, '--kubeconfig', kube.kubeconfig, '--namespace', ns]).then(
      ({ stdout }) => stdout,
      ({ stderr }: { readonly stderr: string }) => Promise.reject(new Error(stderr)),
    )
  const setting = (...sets: string[]) => ['-f', valueFile('cluster'), '-f', values, ...sets.flatMap((set) => ['--set', set])]
  const said = (work: Promise<string>) => work.then(() => 'done', (error: Error) => error.message)
  const replicas = async (name: string): Promise<number> => {
    const { spec } = await kube.want(`/apis/apps/v1/namespaces/${ns}/deployments/whence-${name}`)
    return spec.replicas
  }
  const list = async (path: string): Promise<readonly KubeManifest[]> => (await kube.want(path)).items

  it('is refused with a message if a watched namespace is missing, before anything of it exists', async () => {
    const words = await said(helm('install', 'whence', CHART, ...setting('watch.namespaces={whence,not-there,nor-there}')))
    expect(words).to.match(/watch\.namespaces: there is no namespace not-there, nor-there; make it first/)
    expect(await list(`/apis/batch/v1/namespaces/${ns}/jobs`)).to.deep.equal([])
    expect(await helm('list', '--all', '--short')).to.equal('')
  })

  it('lets the migration through a policy of its own before anything else of the release is there', async () => {
    const denies = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name: 'deny', namespace: ns }, spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'] } }
    await kube.kubectl(['apply', '-f', '-'], JSON.stringify(denies))
    // The Job never runs here, so the installation ends while it waits for it.
    expect(await said(helm('install', 'whence', CHART, ...setting(), '--timeout', '5s'))).to.match(/timed out|deadline/)
    const [job] = await list(`/apis/batch/v1/namespaces/${ns}/jobs`)
    const policies = await list(`/apis/networking.k8s.io/v1/namespaces/${ns}/networkpolicies`)
    expect(policies.map(({ metadata }) => metadata.name)).to.have.members(['deny', 'whence-migrate'])
    const own = policies.find(({ metadata }) => metadata.name === 'whence-migrate')
    expect(Number(own?.['metadata'].resourceVersion)).to.be.lessThan(Number(job?.['metadata'].resourceVersion))
    const labels = job?.['spec'].template.metadata.labels
    for (const [key, value] of Object.entries(own?.['spec'].podSelector.matchLabels)) expect(labels[key]).to.equal(value)
    await helm('uninstall', 'whence')
    // Helm leaves what hooks made of a release that failed.
    await kube.kubectl(['delete', '-n', ns, 'job/whence-migrate', 'networkpolicy/whence-migrate', '--wait=false'])
  })

  it('keeps as many pods as there are when something else begins to scale them', async () => {
    await helm('install', 'whence', CHART, ...setting('migrate.enabled=false'))
    expect([await replicas('api'), await replicas('facts-writer')]).to.deep.equal([REPLICAS, REPLICAS])
    const scaled = ['api.autoscaling.enabled=true', 'keda.enabled=true', 'keda.bootstrapServers=kafka:9092']
    await helm('upgrade', 'whence', CHART, ...setting('migrate.enabled=false', ...scaled))
    expect(await list(`/apis/autoscaling/v2/namespaces/${ns}/horizontalpodautoscalers`)).to.have.length(1)
    expect([await replicas('api'), await replicas('facts-writer')]).to.deep.equal([REPLICAS, REPLICAS])
  })

  it('keeps what was scaled to through the next upgrade, and takes its own number again when nothing scales any more', async () => {
    await kube.kubectl(['scale', '-n', ns, 'deployment/whence-api', '--replicas=9'])
    const scaled = ['api.autoscaling.enabled=true', 'keda.enabled=true', 'keda.bootstrapServers=kafka:9092']
    await helm('upgrade', 'whence', CHART, ...setting('migrate.enabled=false', ...scaled, 'brand=origin'))
    expect(await replicas('api')).to.equal(9)
    await helm('upgrade', 'whence', CHART, ...setting('migrate.enabled=false'))
    expect(await replicas('api')).to.equal(REPLICAS)
    await helm('uninstall', 'whence')
  })

  it('takes the values of an older chart with --reuse-values', async () => {
    const older = join(folder, 'older')
    await cp(CHART, older, { recursive: true })
    const own = parse(await readFile(join(CHART, 'values.yaml'), 'utf8')) as Record<string, Record<string, unknown>>
    const { outboundProxy: _new, networkPolicy: { outboundProxy: _place, ...networkPolicy } = {}, ...rest } = own
    await writeFile(join(older, 'values.yaml'), stringify({ ...rest, networkPolicy }))
    await rm(join(older, 'templates'), { recursive: true })
    await mkdir(join(older, 'templates'))
    await helm('install', 'whence', older, ...setting('migrate.enabled=false', 'brand=origin'))
    await helm('upgrade', 'whence', CHART, '--reuse-values')
    const api = await kube.want(`/apis/apps/v1/namespaces/${ns}/deployments/whence-api`)
    expect(api.spec.template.spec.containers[0].env).to.deep.include({ name: 'WHENCE_BRAND', value: 'origin' })
    await helm('uninstall', 'whence')
  })

  it('takes a watched namespace that is there', async () => {
    await kube.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'websites' } }])
    await helm('install', 'whence', CHART, ...setting('migrate.enabled=false', 'watch.namespaces={websites}'))
    const roles = await list('/apis/rbac.authorization.k8s.io/v1/namespaces/websites/roles')
    expect(roles.map(({ metadata }) => metadata.name)).to.have.members(['whence-dashboard', 'whence-operator-resources'])
    await helm('uninstall', 'whence')
  })
})
