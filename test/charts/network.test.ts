/** The chart's NetworkPolicies as a cluster reads them: what each component reaches is the union of all rules that select it. */

import { expect } from 'chai'
import ipaddr from 'ipaddr.js'

import { PROVIDER_IDS } from '../../domain/providers/index.ts'
import { kubeTools } from '../../fixtures/engines/kube.ts'
import type { KubeManifest } from './support/render.ts'
import { podsOf, render, renderAll, VALUE_SETS } from './support/render.ts'

/** The first use of helm on a machine builds it. */
const BUILD_MS = 1_300_000
const COMPONENT = 'app.kubernetes.io/component'
const PROVIDERS: readonly string[] = PROVIDER_IDS.map((id) => id.replaceAll('_', '-'))
/** What must never be reached by way of the internet: addresses of each, in IPv4 and IPv6. */
const INNER = [
  '10.1.2.3', '172.16.0.1', '172.31.255.254', '192.168.1.1', '100.64.0.1', '100.100.100.200', '127.0.0.1', '0.0.0.0',
  '169.254.169.254', '169.254.20.10', '168.63.129.16', '192.0.0.192', '224.0.0.1', '255.255.255.255',
  '::1', 'fe80::1', 'fd00:ec2::254', 'fc00::1', '64:ff9b::a00:1', '::ffff:10.0.0.1', 'ff02::1',
]
const OUTER = ['142.250.185.78', '2a00:1450:4001:830::200e']
/** What each component needs, as the programs open it; `internet` is the providers, and addresses of customers. */
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  operator: ['clickhouse', 'kafka', 'kubernetes'],
  api: ['clickhouse', 'kafka', 'kubernetes', 'redis'],
  'facts-writer': ['clickhouse', 'kafka'],
  dashboard: ['clickhouse', 'internet', 'kafka', 'kubernetes', 'redis'],
  state: ['clickhouse', 'kafka', 'redis'],
  dispatch: ['clickhouse', 'kafka', 'kubernetes', 'redis'],
  rollup: ['clickhouse', 'kafka', 'kubernetes'],
  streams: ['clickhouse', 'internet', 'kafka', 'kubernetes', 'redis'],
  migrate: ['clickhouse', 'kafka'],
  webhooks: ['clickhouse', 'internet', 'kafka', 'kubernetes', 'redis'],
  ...Object.fromEntries(PROVIDERS.map((name) => [name, ['internet', 'kafka', 'kubernetes', 'redis']])),
  test: ['api'],
}

interface Rule {
  readonly ports: readonly { readonly port: number; readonly protocol: string }[]
  readonly to?: readonly KubeManifest[]
}

const isSelected = ({ matchLabels = {}, matchExpressions = [] }: KubeManifest, labels: Readonly<Record<string, string>>): boolean =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
  matchExpressions.every(({ key, operator, values }: KubeManifest) => {
    if (operator !== 'In' && operator !== 'NotIn') throw new Error(`the test does not read ${String(operator)}`)
    return values.includes(labels[key]) === (operator === 'In')
  })

const policiesOf = (manifests: readonly KubeManifest[]) => manifests.filter(({ kind }) => kind === 'NetworkPolicy')
const egressOf = (manifests: readonly KubeManifest[], labels: Readonly<Record<string, string>>): readonly Rule[] =>
  policiesOf(manifests)
    .filter(({ spec }) => spec.policyTypes.includes('Egress') && isSelected(spec.podSelector, labels))
    .flatMap(({ spec }) => spec.egress ?? [])
const holds = (block: KubeManifest, address: string): boolean => {
  const parsed = ipaddr.parse(address)
  const isIn = (cidr: string): boolean => {
    const [network, bits] = ipaddr.parseCIDR(cidr)
    return network.kind() === parsed.kind() && parsed.match(network, bits)
  }
  return isIn(block['cidr']) && !(block['except'] ?? []).some(isIn)
}

describe("the chart's network policies", function () {
  this.timeout(180_000)
  let helm = ''
  let all: readonly (readonly [string, readonly KubeManifest[]])[] = []

  before(async function () {
    this.timeout(BUILD_MS)
    const tools = await kubeTools()
    if (tools === null) return this.skip()
    helm = tools.helm
    all = [...(await renderAll(helm))].filter(([, manifests]) => policiesOf(manifests).length > 0)
    return undefined
  })

  const components = (manifests: readonly KubeManifest[]) =>
    new Map(podsOf(manifests).map(({ metadata }) => [String(metadata['labels'][COMPONENT]), metadata['labels'] as Record<string, string>]))

  it('select every pod for both directions, so that what is not named is closed', () => {
    expect(all.length).to.be.greaterThan(10)
    for (const [name, manifests] of all)
      for (const [component, labels] of components(manifests))
        for (const type of ['Ingress', 'Egress']) {
          const policies = policiesOf(manifests).filter(({ spec }) => spec.policyTypes.includes(type))
          expect(policies.some(({ spec }) => isSelected(spec.podSelector, labels)), `${component} in ${name}`).to.equal(true)
        }
  })

  it('have no rule to anywhere, for no component', () => {
    let checked = 0
    for (const [name, manifests] of all)
      for (const [component, labels] of components(manifests)) {
        const rules = egressOf(manifests, labels)
        const open = rules.filter(({ to = [], ports }) => to.length === 0 || ports.length === 0 || to.some((peer) => Object.keys(peer).length === 0))
        expect(open, `${component} in ${name}`).to.deep.equal([])
        checked += rules.length
      }
    expect(checked).to.be.greaterThan(300)
  })

  it('let what calls the internet reach the proxy, which it alone is told', async () => {
    const address = 'outboundProxy.existingSecret=whence-proxy'
    const calling = ['webhooks', 'streams', 'dashboard', ...PROVIDERS]
    for (const [name, callers] of [['cluster', calling], ['embedded-full', ['api']]] as const) {
      const set = [`${address},networkPolicy.outboundProxy.to[0].ipBlock.cidr=10.0.8.15/32`]
      const manifests = await render(helm, name, set)
      const proxied = (labels: Readonly<Record<string, string>>) =>
        egressOf(manifests, labels).some(({ to = [], ports }) => ports[0]?.port === 3128 && to[0]?.['ipBlock']?.cidr === '10.0.8.15/32')
      const reaching = [...components(manifests)].filter(([, labels]) => proxied(labels)).map(([component]) => component)
      const told = podsOf(manifests).filter(({ spec }) => spec['containers'][0].env?.some((each: KubeManifest) => each['name'] === 'HTTPS_PROXY'))
      expect(reaching.toSorted(), name).to.deep.equal([...callers].toSorted())
      expect(told.map(({ metadata }) => metadata['labels'][COMPONENT]).toSorted(), name).to.deep.equal([...callers].toSorted())
    }
    const refused = await render(helm, 'cluster', [address]).catch((error: Error) => error.message)
    expect(refused).to.contain('networkPolicy.outboundProxy.to: the place of the proxy')
  })

  it('let each component reach what it needs and nothing else', async () => {
    const manifests = await render(helm, 'cluster')
    const places: Readonly<Record<string, (peer: KubeManifest) => boolean>> = {
      dns: (peer) => peer['podSelector']?.matchLabels['k8s-app'] === 'kube-dns',
      ...Object.fromEntries(
        ['kafka', 'redis', 'clickhouse'].map((place) => [
          place,
          (peer: KubeManifest) => peer['namespaceSelector']?.matchLabels['kubernetes.io/metadata.name'] === place,
        ]),
      ),
      kubernetes: (peer) => peer['ipBlock']?.cidr === '10.0.0.1/32',
      internet: (peer) => ['0.0.0.0/0', '2000::/3'].includes(peer['ipBlock']?.cidr),
      api: (peer) => peer['podSelector']?.matchLabels[COMPONENT] === 'api',
    }
    const found = new Map(
      [...components(manifests)].map(([component, labels]) => {
        const peers = egressOf(manifests, labels).flatMap(({ to = [] }) => to)
        const reached = peers.map((peer) => Object.entries(places).find(([, is]) => is(peer))?.[0] ?? JSON.stringify(peer))
        return [component, [...new Set(reached)].sort()]
      }),
    )
    expect([...found.keys()].sort()).to.deep.equal(Object.keys(NEEDS).sort())
    for (const [component, reached] of found)
      expect(reached, component).to.deep.equal([...(NEEDS[component] ?? []), 'dns'].sort())
  })

  it('let no provider and no log stream reach an inner address but those that the values name', async () => {
    let blocks = 0
    for (const set of VALUE_SETS.filter((name) => name !== 'all-namespaces' && name !== 'everything')) {
      const manifests = await render(helm, set)
      const delivering = [...components(manifests)].filter(([name]) => PROVIDERS.includes(name) || ['streams', 'webhooks'].includes(name) || !manifests.some(({ kind }) => kind === 'Deployment'))
      expect(delivering.length, set).to.be.greaterThan(0)
      for (const [component, labels] of delivering.filter(([name]) => name !== 'test')) {
        const wide = egressOf(manifests, labels)
          .flatMap(({ to = [] }) => to)
          .flatMap(({ ipBlock }) => (ipBlock === undefined || ipBlock.cidr === '10.0.0.1/32' ? [] : [ipBlock as KubeManifest]))
        blocks += wide.length
        for (const address of INNER) expect(wide.some((block) => holds(block, address)), `${component} in ${set}: ${address}`).to.equal(false)
        for (const address of OUTER) expect(wide.some((block) => holds(block, address)), `${component} in ${set}: ${address}`).to.equal(true)
      }
    }
    expect(blocks).to.be.greaterThan(10)
  })

  it("take the cluster's own public addresses out of the internet, and a proxy of the team in", async () => {
    const manifests = all.find(([name]) => name === 'everything')?.[1] ?? []
    const rules = egressOf(manifests, components(manifests).get('meta') ?? {})
    const peers = rules.flatMap(({ to = [] }) => to)
    expect(peers.filter(({ ipBlock }) => ipBlock !== undefined && holds(ipBlock, '2001:db8::1'))).to.deep.equal([])
    expect(JSON.stringify(peers)).to.contain('"kubernetes.io/metadata.name":"acme"')
  })

  it('let those who sign people in reach mail server, identity provider and Stripe, and nobody else', () => {
    for (const [set, who] of [['everything', 'dashboard'], ['embedded-full', 'api']] as const) {
      const manifests = all.find(([name]) => name === set)?.[1] ?? []
      for (const [component, labels] of components(manifests)) {
        const text = JSON.stringify(egressOf(manifests, labels))
        for (const address of ['203.0.113.25/32', '203.0.113.44/32', '203.0.113.60/32'])
          expect(text.includes(address), `${component} in ${set}: ${address}`).to.equal(component === who)
      }
    }
  })

  it('reach DNS on the ports and in the place that the values name', () => {
    const manifests = all.find(([name]) => name === 'everything')?.[1] ?? []
    const rules = egressOf(manifests, components(manifests).get('state') ?? {})
    const dns = rules.filter(({ ports }) => ports.some(({ protocol }) => protocol === 'UDP'))
    expect(dns).to.deep.equal([
      {
        ports: [{ port: 5353, protocol: 'UDP' }, { port: 5353, protocol: 'TCP' }],
        to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'openshift-dns' } } }],
      },
    ])
  })

  it('let no peer reach the metrics unless the values name them', () => {
    for (const [name, manifests] of all) {
      const open = policiesOf(manifests)
        .flatMap(({ spec }): readonly KubeManifest[] => spec.ingress ?? [])
        .filter(({ ports }) => ports.some(({ port }: KubeManifest) => port === 9090))
      for (const { from } of open) expect(from, name).to.be.an('array').that.is.not.empty
      if (['cluster', 'embedded', 'spool'].includes(name)) expect(open, name).to.deep.equal([])
    }
  })

  it('let the migration work in a namespace that denies everything, before the others are there', async () => {
    const isHook = ({ metadata }: KubeManifest) => metadata.annotations?.['helm.sh/hook'] === 'pre-install,pre-upgrade'
    for (const [name, manifests] of all) {
      const job = manifests.find((it) => it['kind'] === 'Job' && isHook(it))
      if (job === undefined) continue
      const before = policiesOf(manifests).filter(isHook)
      const weight = ({ metadata }: KubeManifest) => Number(metadata.annotations['helm.sh/hook-weight'] ?? 0)
      for (const policy of before) expect(weight(policy), name).to.be.lessThan(weight(job))
      const early = egressOf(before, job['spec'].template.metadata.labels)
      const late = egressOf(manifests, job['spec'].template.metadata.labels)
      expect(early.length, name).to.equal(3)
      expect(late, name).to.deep.include.members([...early])
      const policy = before[0]?.['metadata'].annotations['helm.sh/hook-delete-policy']
      expect(policy, 'it goes once the migration is done').to.equal('before-hook-creation,hook-succeeded')
    }
  })
})
