/** The chart's values: contradictions are refused with a message, and what teams set has its effect. */

import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'

import { kubeTools } from '../../fixtures/engines/kube.ts'
import type { KubeManifest } from './support/render.ts'
import { CHART, podsOf, render, VALUE_SETS } from './support/render.ts'

/** The first use of helm on a machine builds it. */
const BUILD_MS = 1_300_000

describe("the chart's values", function () {
  this.timeout(180_000)
  let helm = ''

  before(async function () {
    this.timeout(BUILD_MS)
    const tools = await kubeTools()
    if (tools === null) return this.skip()
    helm = tools.helm
    return undefined
  })

  const refusal = (set: string, values = 'cluster'): Promise<string> =>
    render(helm, values, [set]).then(
      () => 'taken',
      (error: { readonly stderr: string }) => error.stderr,
    )

  it('are refused if they contradict each other or leave the network open', async () => {
    const wrong: readonly (readonly [string, RegExp])[] = [
      ['api.autoscaling.enabled=true,api.autoscaling.minReplicas=5,api.autoscaling.maxReplicas=3', /minReplicas: at most api\.autoscaling\.maxReplicas/],
      ['api.spool.enabled=true,api.spool.size=1Gi,api.spool.megabytes=1000', /1Gi cannot hold 1000 MB, for which it takes 1382M/],
      ['api.spool.enabled=true,api.spool.size=2Gi,api.spool.megabytes=5000', /2Gi cannot hold 5000 MB/],
      ['api.spool.size=2K', /size/],
      ['networkPolicy.kubernetes.to=null', /networkPolicy\.kubernetes\.to: the place of the API server.*kubectl get endpointslices/],
      ['networkPolicy.kafka.to=null', /networkPolicy\.kafka\.to/],
      ['networkPolicy.redis.to=null', /networkPolicy\.redis\.to/],
      ['networkPolicy.clickhouse.to=null', /networkPolicy\.clickhouse\.to/],
      ['networkPolicy.kubernetes.to[0].ipBlock.cidr=0.0.0.0/0', /cidr/],
      ['networkPolicy.redis.to[0]=x', /redis\.to/],
      ['networkPolicy.dns.to={}', /dns\.to/],
      ['metrics.serviceMonitor.enabled=true', /networkPolicy\.metricsFrom: where Prometheus is/],
      ['pods.terminationGracePeriodSeconds=30,pods.preStopSleepSeconds=10', /terminationGracePeriodSeconds/],
      ['service.externalTrafficPolicy=Local', /externalTrafficPolicy: only with/],
      ['connectionsPerAddress=-1', /connectionsPerAddress/],
      ['brand=a--b', /brand/],
      ['brand=my-', /brand/],
      [`baseUrl=https://acme.dev/it's`, /baseUrl/],
      ['api.pod.runAsUser=1000', /runAsUser is not allowed/],
      [String.raw`commonLabels.app\.kubernetes\.io/name=y`, /app\.kubernetes\.io\/name/],
      [String.raw`api.pod.labels.app\.kubernetes\.io/component=y`, /app\.kubernetes\.io\/component/],
      ['operator.pod.tolleration=x', /tolleration is not allowed/],
    ]
    for (const [set, said] of wrong) expect(await refusal(set), set).to.match(said)
    const right = ['api.spool.enabled=true,api.spool.size=1500M', 'networkPolicy.enabled=false,networkPolicy.kafka.to=null,metrics.serviceMonitor.enabled=true']
    for (const set of right) expect(await refusal(set), set).to.equal('taken')
  })

  it('may be those of an older chart, which lack what this one added', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'whence-values-'))
    try {
      const older = join(folder, 'whence')
      await cp(CHART, older, { recursive: true })
      // `null` means something there, so it is never filled in.
      await writeFile(join(older, 'values.yaml'), 'pods: { runAsUser: 65532 }\n')
      for (const name of VALUE_SETS) expect(await render(helm, name, [], older), name).to.deep.equal(await render(helm, name))
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  const pod = (manifests: readonly KubeManifest[], of: string) => {
    const found = podsOf(manifests).find((each) => each.of === of)
    if (found === undefined) throw new Error(`there is no pod of ${of}`)
    return found
  }

  it('of one component are its own, over those of all', async () => {
    const manifests = await render(helm, 'everything')
    const api = pod(manifests, 'Deployment w-whence-api')
const meta = pod(manifests, 'Deployment w-whence-meta')
const state = pod(manifests, 'Deployment w-whence-state')
    expect(api.spec['nodeSelector']).to.deep.equal({ 'kubernetes.io/os': 'linux', pool: 'ingest' })
    expect(state.spec['nodeSelector']).to.deep.equal({ 'kubernetes.io/os': 'linux' })
    expect(api.spec).to.not.have.property('tolerations')
    expect(state.spec['tolerations']).to.have.length(1)
    expect([api, state].map(({ spec }) => spec['priorityClassName'])).to.deep.equal(['system-node-critical', 'system-cluster-critical'])
    expect(api.metadata['labels']).to.include({ edge: 'yes', team: 'growth', 'cost-center': 'growth' })
    expect(state.metadata['labels']).to.not.have.property('edge')
    expect(api.spec['containers'].map(({ name }: KubeManifest) => name)).to.deep.equal(['api', 'proxy'])
    expect(state.spec['containers']).to.have.length(1)
    const names = ({ spec }: typeof api) => spec['containers'][0].env.map(({ name }: KubeManifest) => name)
    expect(names(meta)).to.include('HTTPS_PROXY').and.not.include('NODE_EXTRA_CA_CERTS')
    expect(names(state)).to.include('NODE_EXTRA_CA_CERTS')
  })

  it('of all are on the pods of each component', async () => {
    const manifests = await render(helm, 'everything')
    const workloads = podsOf(manifests).filter(({ of }) => of.startsWith('Deployment '))
    expect(workloads.length).to.be.greaterThan(9)
    for (const { of, spec, metadata } of workloads) {
      expect(spec['volumes'].map(({ name }: KubeManifest) => name), of).to.include('roots')
      expect(spec['containers'][0].volumeMounts, of).to.deep.include({ name: 'roots', mountPath: '/etc/roots', readOnly: true })
      expect(spec['affinity'], of).to.have.property('nodeAffinity')
      const [spread] = spec['topologySpreadConstraints']
      expect(spread, of).to.include({ maxSkew: 2, whenUnsatisfiable: 'DoNotSchedule' })
      const component = 'app.kubernetes.io/component'
      expect(spread.labelSelector.matchLabels[component]).to.equal(metadata['labels'][component])
    }
  })

  it('of one component may switch off what holds for all', async () => {
    const [on, off] = ['pods.topologySpread=true', 'pods.topologySpread=true,api.pod.topologySpread=false'].map((set) => render(helm, 'cluster', [set]))
    const spread = async (given: typeof on) => pod((await given) ?? [], 'Deployment w-whence-api').spec['topologySpreadConstraints']
    expect(await spread(on)).to.have.length(2)
    expect(await spread(off)).to.equal(undefined)
  })

  it('label and annotate every object, and never what selects a pod', async () => {
    const manifests = (await render(helm, 'everything')).filter(({ kind, metadata, apiVersion }) => {
      const isTeams = kind === 'ConfigMap' && /^(extra|w-text)$/.test(metadata.name)
      return !isTeams && kind !== 'CustomResourceDefinition' && apiVersion !== 'whence.dev/v1alpha1'
    })
    expect(manifests.length).to.be.greaterThan(60)
    for (const { kind, metadata, spec } of manifests) {
      const where = `${kind} ${metadata.name}`
      expect(metadata.labels, where).to.include({ 'cost-center': 'growth' })
      expect(metadata.annotations, where).to.include({ 'acme.dev/owner': 'growth' })
      expect(JSON.stringify(spec?.selector ?? spec?.podSelector ?? {}), where).to.not.contain('cost-center')
    }
  })

  it('give each ServiceAccount its identity at a cloud', async () => {
    const accounts = (await render(helm, 'everything')).filter(({ kind }) => kind === 'ServiceAccount')
    expect(accounts.length).to.be.greaterThan(8)
    for (const { metadata } of accounts) {
      expect(metadata.annotations).to.include({ 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/whence' })
      expect(metadata.annotations['acme.dev/only']).to.equal(metadata.name === 'w-whence-operator' ? 'operator' : undefined)
    }
  })

  it('bring objects of the team along, whose texts are templates', async () => {
    const manifests = await render(helm, 'everything')
    const data = (name: string) => manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name)
    expect(data('extra')?.['data']).to.deep.equal({ release: 'w' })
    expect(data('w-text')).to.not.equal(undefined)
  })

  it('mount the keys of engines only into pods that reach engines', async () => {
    const manifests = await render(helm, 'stand-ins', ['engineFiles.existingSecret=files'])
    const volumes = (of: string) => JSON.stringify(pod(manifests, of).spec['volumes'] ?? [])
    expect(volumes('Deployment w-whence-api')).to.contain('"files"')
    expect(volumes('Deployment w-whence-stand-ins')).to.not.contain('"files"')
  })
})
