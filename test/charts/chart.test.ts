/** The charts as helm renders them: every combination is sound, safe, and says nothing that the programs do not know. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'
import { Registry } from 'prom-client'
import { parse } from 'yaml'

import { NOTICED_TOPICS } from '../../delivery/webhooks/notice.ts'
import { createOperatorMetrics } from '../../operator/metrics.ts'
import { isCommand } from '../../runtime/settings/commands.ts'
import { compileSettings } from '../../runtime/settings/settings.ts'
import { ROLE_ENGINES } from '../../runtime/settings/setting-groups.ts'
import { SETTINGS } from '../../runtime/settings/table.ts'
import { RECORD_TOPICS } from '../../domain/records.ts'
import { PROVIDER_IDS } from '../../domain/providers/index.ts'
import { RESOURCE_KINDS } from '../../domain/resources/resources.ts'
import { ROUTES } from '../../dashboard/api/routes.ts'
import { signInPages } from '../../dashboard/sign-in/page.ts'
import { kubeTools } from '../../fixtures/engines/kube.ts'
import { valueRows } from '../../tools/docs/charts.ts'
import { ROOT, sourceFiles } from '../tidy/source-files.ts'
import type { KubeManifest, RenderedPod } from './support/render.ts'
import { CHART, CRD_CHART, podsOf, render, renderAll, runHelm, VALUE_SETS, valueFile } from './support/render.ts'

/** The first use of helm on a machine builds it. */
const BUILD_MS = 1_300_000
/** What a Secret of the team would hold, by the variable that it is given as. */
const SECRET_VALUES: Readonly<Record<string, string>> = {
  WHENCE_EVENT_LOG: 'kafka://kafka:9092',
  WHENCE_HOT_STATE: 'redis://redis:6379/0',
  WHENCE_FACTS: 'http://clickhouse:8123/whence',
  WHENCE_SMTP_URL: 'smtp://mail:587',
}
/** Destinations of network policies, by the variable with the address. */
const ENGINE_PLACES: Readonly<Record<string, string>> = {
  WHENCE_EVENT_LOG: 'kafka',
  WHENCE_HOT_STATE: 'redis',
  WHENCE_FACTS: 'clickhouse',
}
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** Node's own and the process's, which the client library of Prometheus brings along. */
const isOfNode = (name: string) => /^(process|nodejs)_/.test(name)

describe('the chart', function () {
  this.timeout(180_000)
  let helm = ''
  const rendered = new Map<string, readonly KubeManifest[]>()

  before(async function () {
    this.timeout(BUILD_MS)
    const tools = await kubeTools()
    if (tools === null) return this.skip()
    helm = tools.helm
    for (const [name, manifests] of await renderAll(helm)) rendered.set(name, manifests)
    return undefined
  })

  const everyPod = (): readonly (RenderedPod & { readonly in: string })[] =>
    [...rendered].flatMap(([name, manifests]) => podsOf(manifests).map((pod) => ({ ...pod, in: name })))
  const containers = () => everyPod().flatMap((pod) => pod.spec['containers'].map((it: KubeManifest) => ({ ...it, pod })))
  const at = (name: (typeof VALUE_SETS)[number]) => rendered.get(name) ?? []
  const one = (manifests: readonly KubeManifest[], kind: string, name: string): KubeManifest => {
    const found = manifests.find((it) => it['kind'] === kind && it['metadata'].name === name)
    if (found === undefined) throw new Error(`there is no ${kind} ${name}`)
    return found
  }

  it('passes lint with every listed set of values, and so does the chart of definitions', async () => {
    for (const name of VALUE_SETS) {
      const { stdout } = await runHelm(helm, ['lint', '--strict', CHART, '-f', valueFile(name)])
      expect(stdout, name).to.contain('1 chart(s) linted, 0 chart(s) failed')
    }
    expect((await runHelm(helm, ['lint', '--strict', CRD_CHART])).stdout).to.contain('0 chart(s) failed')
  })

  it('gives no object twice, and each its release and version', () => {
    for (const [name, manifests] of rendered) {
      const keys = manifests.map((it) => `${it['kind']} ${it['metadata'].namespace ?? ''}/${it['metadata'].name}`)
      expect(keys.length, name).to.be.greaterThan(5)
      expect(new Set(keys).size, name).to.equal(keys.length)
      const own = manifests.filter(({ apiVersion }) => apiVersion !== 'whence.dev/v1alpha1')
      for (const { kind, metadata } of own)
        expect(metadata.labels, `${kind} ${metadata.name}`).to.include({ 'app.kubernetes.io/instance': 'w' })
    }
  })

  it('sets only variables that the settings know, as the program that reads them takes them', () => {
    const known = new Set<string>(Object.values(SETTINGS).map(({ env }) => env))
    let checked = 0
    for (const { pod, args = [], command, env = [] } of containers()) {
      const own = env.filter(({ name }: KubeManifest) => name.startsWith('WHENCE_'))
      for (const { name } of own) expect(known, `${pod.of} in ${pod.in}`).to.include(name)
      // The test's own script, and a container of the team.
      if (command !== undefined || args.length === 0) continue
      const values = own.map(({ name, value }: KubeManifest) => [name, value ?? SECRET_VALUES[name] ?? 'pod-0'])
      const [program] = args
      if (!isCommand(program)) throw new Error(`${pod.of} runs ${program}`)
      const outcome = compileSettings(program, args.slice(1), Object.fromEntries(values))
      expect(outcome.kind === 'problems' ? outcome.text : '', `${pod.of} in ${pod.in}`).to.equal('')
      checked++
    }
    expect(checked).to.be.greaterThan(50)
  })

  it('gives each pod only what it reads: the master secret to api, dashboard and the operator that audits', () => {
    for (const { pod, args = [], env = [] } of containers()) {
      const names = env.map(({ name }: KubeManifest) => name)
      const isServing = ['api', 'embedded', 'dashboard'].includes(args[0])
      expect(names.includes('WHENCE_LISTEN'), pod.of).to.equal(isServing)
      const isAuditing = args[0] === 'operator' && names.includes('WHENCE_EVENT_LOG')
      if (!isServing) expect(names.includes('WHENCE_SECRET_FILE'), pod.of).to.equal(isAuditing)
      if (args[0] === 'operator') expect(names).not.to.include('WHENCE_HOT_STATE')
      expect(names, pod.of).not.to.include('WHENCE_SECRET')
      const peoples = names.filter((name: string) => /_(SMTP|MAIL|OIDC)_/.test(name))
      if (!['dashboard', 'embedded'].includes(args[0])) expect(peoples, pod.of).to.deep.equal([])
    }
  })

  it('gives each pod the addresses of the engines that it may reach, and of no other', () => {
    let compared = 0
let roles = 0
    for (const [name, manifests] of rendered) {
      const reaching = (place: string): readonly string[] | null => {
        const policy = manifests.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name.endsWith(`-${place}`))
        return policy?.['spec'].podSelector.matchExpressions[0].values ?? null
      }
      for (const { of, spec, metadata } of podsOf(manifests)) {
        const component: string = metadata['labels']['app.kubernetes.io/component']
        const [{ args = [], env = [] }] = spec['containers']
        const names: readonly string[] = env.map((each: KubeManifest) => each['name']).filter((each: string) => each in ENGINE_PLACES)
        const reached = Object.keys(ENGINE_PLACES).filter((each) => reaching(ENGINE_PLACES[each] ?? '')?.includes(component))
        // The migration has a policy of its own.
        if (reaching('kafka') !== null && component !== 'migrate') {
          expect(names, `${of} in ${name}`).to.have.members(reached)
          compared += 1
        }
        if (args[0] !== 'delivery') continue
        const engines = ROLE_ENGINES[args[2] as keyof typeof ROLE_ENGINES].map((engine) => SETTINGS[engine].env)
        expect(names, `${of} in ${name}`).to.have.members(engines)
        roles += 1
      }
    }
    expect(compared).to.be.greaterThan(200)
    expect(roles).to.be.greaterThan(100)
  })

  it('mounts Secrets only in pods that read them', () => {
    let mounted = 0
    for (const { of, in: where, spec } of everyPod()) {
      const [{ args = [], env = [], command }] = spec['containers']
      const names: readonly string[] = env.map((each: KubeManifest) => each['name'])
      const readers: Readonly<Record<string, boolean>> = {
        secret: names.includes('WHENCE_SECRET_FILE'),
        engines: args[0] !== 'embedded' && names.some((each) => each in ENGINE_PLACES),
        oidc: names.includes('WHENCE_OIDC_CLIENT_SECRET_FILE'),
        billing: names.includes('WHENCE_STRIPE_SECRET_FILE'),
        manifests: args[0] === 'embedded',
      }
      for (const { name, secret, projected } of spec['volumes'] ?? []) {
        const isOfSecret = secret !== undefined || JSON.stringify(projected ?? {}).includes('"secret"')
        if (!isOfSecret || command !== undefined) continue
        expect(readers[name], `${String(name)} of ${of} in ${where}`).to.equal(true)
        mounted += 1
      }
    }
    expect(mounted).to.be.greaterThan(100)
  })

  it("leaves room in the operator's limit of memory beside the heap that it may take", () => {
    const operators = containers().filter(({ args = [] }) => args[0] === 'operator')
    expect(operators.length).to.be.greaterThan(0)
    for (const { env = [], resources } of operators) {
      const options = env.find(({ name }: KubeManifest) => name === 'NODE_OPTIONS')
      const heapMb = Number(/--max-old-space-size=(\d+)/.exec(options?.value ?? '')?.[1])
      const limitMb = Number(/^(\d+)Mi$/.exec(resources.limits.memory)?.[1])
      expect(heapMb * 2).to.be.at.most(limitMb)
    }
  })

  it('says how Node.js divides its memory wherever it would go by a small limit', () => {
    const roles = containers().filter(({ args = [] }) => ['api', 'dashboard', 'delivery', 'operator'].includes(args[0]))
    expect(roles.length).to.be.greaterThan(30)
    const doc: string = valueRows().find(({ path }) => path === 'pods.nodeOptions')?.schema.description ?? ''
    for (const program of ['api', 'dashboard', 'delivery role']) expect(doc.split(';')[0]).to.contain(program)
    for (const { pod, env = [] } of roles) {
      const options = env.filter(({ name }: KubeManifest) => name === 'NODE_OPTIONS')
      expect(options.length, pod.of).to.equal(1)
      expect(options[0].value, pod.of).to.match(/--max-semi-space-size=\d/)
    }
  })

  it("says of an api's memory what was measured", () => {
    const row = /^\| memory of that api process.*?(\d+) MB after visits/m.exec(read('docs/performance.md'))
    const places = [/It took (\d+) MB under full load/.exec(read('docs/kubernetes.md')), /it uses (\d+) MB under load/.exec(read('charts/whence/values.yaml'))]
    expect(row?.[1]).to.match(/^\d+$/)
    expect(places.map((place) => place?.[1])).to.deep.equal([row?.[1], row?.[1]])
  })

  it('holds every pod to the restricted standard, with a read-only root and bounds', () => {
    for (const { pod, securityContext, resources, image } of containers()) {
      const where = `${pod.of} in ${pod.in}`
      expect(pod.spec['securityContext'], where).to.deep.include({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      })
      const { runAsUser = null, fsGroup = null } = pod.spec['securityContext']
      if (pod.in.includes('runAsUser=null')) expect([runAsUser, fsGroup], where).to.deep.equal([null, null])
      else expect(runAsUser, where).to.be.greaterThan(0)
      expect(securityContext, where).to.deep.equal({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(resources.requests, where).to.have.keys('cpu', 'memory')
      expect(resources.limits, where).to.include.keys('memory')
      expect(image, where).not.to.match(/:latest$|:$/)
    }
  })

  it('mounts no token by default, and a short-lived one if the API server is needed', () => {
    for (const { spec, of } of everyPod()) {
      expect(spec['automountServiceAccountToken'], of).to.equal(false)
      const env = spec['containers'].flatMap((it: KubeManifest) => it['env'] ?? [])
      const needs = env.some(({ name }: KubeManifest) => name === 'WHENCE_KUBE_TOKEN_FILE')
      const volumes = JSON.stringify(spec['volumes'] ?? [])
      expect(volumes.includes('serviceAccountToken'), of).to.equal(needs)
      expect(spec['serviceAccountName'] !== undefined || !needs, of).to.equal(true)
    }
  })

  it('mounts every file that a variable names, and bounds every scratch volume', () => {
    for (const { pod, env = [], volumeMounts = [] } of containers()) {
      const paths = volumeMounts.map(({ mountPath }: KubeManifest) => mountPath)
      for (const { name, value } of env)
        if (/^\/(etc|var)\//.test(value ?? '') && name.startsWith('WHENCE_'))
          expect(
            paths.some((path: string) => value.startsWith(path)),
            `${name} of ${pod.of}`,
          ).to.equal(true)
      const volumes: readonly KubeManifest[] = pod.spec['volumes'] ?? []
      const claimed = volumeMounts.map(({ name }: KubeManifest) => name)
      const claims = pod.of.startsWith('StatefulSet') ? ['data'] : []
      expect([...volumes.map(({ name }) => name), ...claims], pod.of).to.include.members(claimed)
      for (const { emptyDir, name } of volumes)
        if (emptyDir !== undefined) expect(emptyDir, `${name} of ${pod.of}`).to.have.keys('sizeLimit')
    }
  })

  it('gives each reader of the catalog a place that it can write the last good one to', () => {
    let readers = 0
    for (const { pod, args = [], env = [], volumeMounts = [] } of containers()) {
      const value = (wanted: string): unknown => env.find(({ name }: KubeManifest) => name === wanted)?.value
      if (value('WHENCE_CATALOG') === undefined || args[0] === 'operator') continue
      readers += 1
      const data = value('WHENCE_DATA')
      const mount = volumeMounts.find(({ mountPath }: KubeManifest) => mountPath === data)
      expect(mount, pod.of).to.be.an('object').that.does.not.have.property('readOnly')
      const volume = (pod.spec['volumes'] ?? []).find(({ name }: KubeManifest) => name === mount.name)
      // A pod with a spool keeps both on its own claim.
      if (volume === undefined) expect(pod.of).to.match(/^StatefulSet /)
      else expect(volume.emptyDir, pod.of).to.deep.equal({ sizeLimit: '256Mi' })
    }
    expect(readers).to.be.greaterThan(50)
  })

  it('asks each long-running pod whether it lives, and whether it takes work', () => {
    for (const { pod, name, livenessProbe, startupProbe, readinessProbe, ports = [] } of containers()) {
      if (/^(Job|Pod) /.test(pod.of)) continue
      const names = ports.map(({ name }: KubeManifest) => name)
      const isTeams = livenessProbe === undefined && name === 'proxy'
      if (isTeams) continue
      for (const probe of [livenessProbe, startupProbe, readinessProbe]) expect(names, pod.of).to.include(probe.httpGet.port)
    }
  })

  it('tells each pod that people or programs call that it will end, without a shell, and lets it answer meanwhile', () => {
    const told = new Set<string>()
    for (const { pod, name, lifecycle } of containers()) {
      if (lifecycle === undefined) continue
      told.add(name)
      const { command } = lifecycle.preStop.exec
      expect(command, pod.of).to.deep.equal(['node', '-e', "process.kill(1, 'SIGUSR2'); setTimeout(() => {}, 5000)"])
      expect(pod.spec['shareProcessNamespace'], pod.of).to.equal(undefined)
    }
    // The container of the embedded program is called like the product.
    expect([...told].toSorted()).to.deep.equal(['api', 'dashboard', 'whence'])
  })

  it('selects pods that are there: Services, budgets, policies and scalers', () => {
    for (const [name, manifests] of rendered) {
      const labels = podsOf(manifests).map(({ metadata }) => metadata['labels'] as Record<string, string>)
      const isThere = (wanted: Readonly<Record<string, string>>) =>
        labels.some((own) => Object.entries(wanted).every(([key, value]) => own[key] === value))
      for (const { kind, metadata, spec } of manifests) {
        const where = `${kind} ${metadata.name} in ${name}`
        if (kind === 'Service') expect(isThere(spec.selector), where).to.equal(true)
        if (kind === 'PodDisruptionBudget') expect(isThere(spec.selector.matchLabels), where).to.equal(true)
        if (kind === 'NetworkPolicy') expect(isThere(spec.podSelector.matchLabels), where).to.equal(true)
        const target = spec?.scaleTargetRef?.name
        if (target !== undefined) expect(one(manifests, 'Deployment', target)['spec'], where).not.to.have.key('replicas')
      }
    }
  })

  it('refuses values that it does not know, and says what is missing', async () => {
    const wrong: readonly (readonly [string, RegExp])[] = [
      ['api.replica=3', /replica is not allowed/],
      ['profile=huge', /profile must be one of/],
      ['pods.runAsUser=0', /runAsUser/],
      ['secret.existingSecret=', /secret\.existingSecret/],
      ['baseUrl=', /baseUrl: the address/],
      ['baseUrl=acme.dev', /baseUrl/],
      ['gateway.enabled=true', /gateway\.parentRefs/],
      ['baseUrl=https://acme.dev/collect,gateway.enabled=true,gateway.parentRefs[0].name=public', /baseUrl: without a path/],
      ['baseUrl=https://acme.dev/collect/,ingress.enabled=true,ingress.hosts={acme.dev}', /baseUrl: without a path/],
      ['keda.enabled=true', /keda\.bootstrapServers/],
      ['mail.support=help@acme.dev', /mail\.existingSecret/],
      ['mail.existingSecret=mail', /mail\.from[^]*networkPolicy\.mail\.to/],
      ['billing.existingSecret=stripe', /billing\.prices[^]*networkPolicy\.payments\.to/],
      ['oidc.issuer=https://id.acme.dev', /oidc\.clientId[^]*oidc\.existingSecret[^]*networkPolicy\.identityProvider\.to/],
      ['api.spool.enabled=true,api.autoscaling.enabled=true', /scale api\.spool away/],
    ]
    for (const [set, said] of wrong) {
      const refusal = await render(helm, 'cluster', [set]).then(
        () => 'taken',
        (error: { readonly stderr: string }) => error.stderr,
      )
      expect(refusal, set).to.match(said)
    }
  })

  it('lets a proxy of the team take off a path of the base address, and tests the Service without it', async () => {
    const manifests = await render(helm, 'cluster', ['baseUrl=https://acme.dev/collect'])
    const [pod] = podsOf(manifests).filter(({ of }) => of === 'Pod w-whence-test')
    expect(pod?.spec['containers'][0].args[0]).to.equal('http://w-whence:80')
    const [api] = podsOf(manifests).filter(({ of }) => of === 'Deployment w-whence-api')
    expect(api?.spec['containers'][0].env).to.deep.include({ name: 'WHENCE_BASE_URL', value: 'https://acme.dev/collect' })
    const route = 'baseUrl=https://acme.dev/,gateway.enabled=true,gateway.parentRefs[0].name=public'
    const bare = await render(helm, 'cluster', [route])
    expect(one(bare, 'HTTPRoute', 'w-whence')['spec'].hostnames).to.deep.equal(['acme.dev'])
  })

  it('has a meaning for each value, and a default for each meaning', () => {
    const rows = valueRows()
    expect(rows.length).to.be.greaterThan(80)
    expect(rows.filter(({ schema }) => schema.description === undefined).map(({ path }) => path)).to.deep.equal([])
    const absent = rows.filter(({ fallback }) => fallback === undefined).map(({ path }) => path)
    expect(absent).to.deep.equal(['global'])
  })

  it('reads every value somewhere', () => {
    const templates = sourceFiles(['charts/whence/templates'], ['.yaml', '.tpl', '.txt'])
    const text = templates.map((file) => file.text).join('\n')
    const unread = valueRows()
      .map(({ path }) => path.split('.'))
      .filter((path) => !['global', 'providers', 'providerUrls', 'networkPolicy'].includes(path[0] ?? ''))
      .filter((path) => !text.includes(`.${path.at(-1)}`) && !text.includes(`"${path.at(-1)}"`) && !text.includes(`.${path.slice(0, -1).join('.')} `))
    expect(unread.map((path) => path.join('.'))).to.deep.equal([])
  })

  it('carries the definitions, kept when the release goes, and refers to nothing else of its own kinds', () => {
    const crds = at('cluster').filter(({ kind }) => kind === 'CustomResourceDefinition')
    expect(crds.map(({ metadata }) => metadata.name)).to.have.length(RESOURCE_KINDS.length)
    for (const { metadata } of crds)
      expect(metadata.annotations).to.include({ 'helm.sh/resource-policy': 'keep' }).and.to.have.any.keys('whence.dev/schema-hash')
    const own = at('cluster').filter(({ apiVersion }) => apiVersion === 'whence.dev/v1alpha1')
    expect(own).to.have.length(3)
    for (const { metadata } of own) expect(metadata.annotations).to.include({ 'helm.sh/hook': 'test' })
  })

  it('gives the dashboard its own paths on the host, and nothing of collection', () => {
    let shown = ''
    const signIn = signInPages({ brand: 'Whence' })
    const isPage = (path: string) => signIn({ method: 'GET', url: path } as never, { writeHead: () => undefined, end: (body: string) => void (shown = body) } as never)
    expect(isPage('/sign-in')).to.equal(true)
    // The page and whatever it loads of its own.
    const ofSignIn = ['/sign-in', ...[...shown.matchAll(/(?:href|src)="(\/sign-in[^"]*)"/g)].map(([, path = '']) => path)]
    expect(ofSignIn).to.have.length(3)
    expect(ofSignIn.every(isPage)).to.equal(true)
    const [route] = at('everything').filter(({ kind }) => kind === 'HTTPRoute')
    const rules = route?.['spec'].rules.flatMap(({ matches, backendRefs }: KubeManifest) =>
      matches.map(({ path }: KubeManifest) => ({ ...path, value: path.value, to: backendRefs[0].name })),
    ) as readonly KubeManifest[]
    const [ingress] = at('everything').filter(({ kind }) => kind === 'Ingress')
    const paths = ingress?.['spec'].rules[0].http.paths.map(({ path, pathType, backend }: KubeManifest) => ({
      type: pathType === 'Prefix' ? 'PathPrefix' : pathType, value: path, to: backend.service.name,
    })) as readonly KubeManifest[]
    for (const table of [rules, paths]) {
      const to = (path: string): string => {
        const fits = table.filter(({ type, value }) => (type === 'Exact' ? path === value : value === '/' || value === '' || path === value || path.startsWith(`${value}/`)))
        const best = fits.toSorted((a, b) => Number(b['type'] === 'Exact') - Number(a['type'] === 'Exact') || b['value'].length - a['value'].length)
        return String(best[0]?.['to'])
      }
      for (const { path } of Object.values(ROUTES)) expect(to(path.replaceAll(':', '')), path).to.equal('w-whence-dashboard')
      for (const path of ['/', '/app/acme/members', '/assets/app.js', ...ofSignIn]) expect(to(path), path).to.equal('w-whence-dashboard')
      const collection = ['/v1/visits', '/v1/events', '/health', '/browser.js', '/report.sh', '/openapi.json', '/api/limits', '/skills/whence-setup/SKILL.md']
      for (const path of collection) expect(to(path), path).to.equal('w-whence')
    }
  })

  it('lets the dashboard make Secrets and see none, and gives pods that collect no right to write', () => {
    let seen = 0
    for (const [name, manifests] of rendered)
      for (const { kind, metadata, rules = [] } of manifests) {
        if (!/Role$/.test(kind)) continue
        const where = `${kind} ${metadata.name} in ${name}`
        const verbsOn = (resource: string) => rules.filter(({ resources }: KubeManifest) => resources.includes(resource)).flatMap((rule: KubeManifest) => rule['verbs'])
        if (/-dashboard$/.test(metadata.name)) {
          expect(verbsOn('secrets'), where).to.deep.equal(['create'])
          seen += 1
        }
        if (/-api$|-api-/.test(metadata.name)) expect(rules.flatMap((rule: KubeManifest) => rule['verbs']).sort(), where).to.deep.equal(['list', 'watch'])
      }
    expect(seen).to.be.greaterThan(10)
  })

  it('keeps what people change in the dashboard of one pod on its volume', () => {
    for (const set of ['embedded', 'embedded-full'] as const) {
      const [pod] = podsOf(at(set))
      const [{ env, volumeMounts }] = pod?.spec['containers']
      const folder = env.find(({ name }: KubeManifest) => name === 'WHENCE_DASHBOARD_FOLDER')?.value as string
      const { name } = volumeMounts.find(({ mountPath }: KubeManifest) => folder.startsWith(`${mountPath}/`))
      expect(name).to.equal('data')
    }
  })

  it('gives no wildcard, reads Secrets only in namespaces of custom resources, and keeps organisations apart', () => {
    for (const [name, manifests] of rendered)
      for (const { kind, metadata, rules = [] } of manifests) {
        if (!/Role$/.test(kind)) continue
        expect(JSON.stringify(rules), `${kind} ${metadata.name} in ${name}`).not.to.contain('*')
        const secrets = rules.filter(({ resources, resourceNames }: KubeManifest) => resources.includes('secrets') && resourceNames === undefined)
        const verbs = secrets.flatMap((rule: KubeManifest) => rule['verbs'])
        if (!/-resources$/.test(metadata.name)) expect(verbs.filter((verb: string) => verb !== 'create')).to.deep.equal([])
        const labels = JSON.stringify(metadata.labels)
        const writes = rules.filter((rule: KubeManifest) => rule['resources'].includes('organizations') && rule['verbs'].includes('patch'))
        if (writes.length > 0) expect(labels).not.to.contain('aggregate-to')
      }
    const [labels] = [...rendered.values()].flat().filter(({ kind, metadata }) => kind === 'ClusterRole' && /-namespaces$/.test(metadata.name))
    const [rule] = labels?.['rules'] ?? []
    expect(rule, 'of several namespaces the labels, and of no other').to.deep.include({ resourceNames: ['team-a', 'team-b'], verbs: ['list', 'watch'] })
    const bound = at('cluster').filter(({ kind }) => kind === 'ClusterRoleBinding')
    expect(bound, 'an installation of one namespace has no right outside of it').to.deep.equal([])
  })

  it('keeps the disk of each api with a spool, and lets nothing scale it away', () => {
    const manifests = at('spool')
    const api = one(manifests, 'StatefulSet', 'w-whence-api')['spec']
    expect(api.persistentVolumeClaimRetentionPolicy).to.deep.equal({ whenDeleted: 'Retain', whenScaled: 'Retain' })
    const mounts = api.template.spec.containers[0].volumeMounts.map(({ name }: KubeManifest) => name)
    expect(mounts).to.include(api.volumeClaimTemplates[0].metadata.name)
    expect(manifests.map(({ kind }) => kind)).not.to.include('HorizontalPodAutoscaler')
  })

  it('scales by every topic that a role takes work from, and by no other', () => {
    const wanted = new Map<string, readonly string[]>([
      ['facts-writer', RECORD_TOPICS],
      ['dispatch', ['installs']],
      ['webhooks', ['webhooks', ...NOTICED_TOPICS]],
      ...PROVIDER_IDS.map((id) => [id.replaceAll('_', '-'), [`deliver.${id}`]] as const),
    ])
    const scaled = at('everything').filter(({ kind }) => kind === 'ScaledObject')
    expect(scaled.map(({ metadata }) => metadata.name)).to.have.members([...wanted.keys()].map((name) => `w-whence-${name}`))
    for (const { metadata, spec } of scaled) {
      const topics = spec.triggers.map((trigger: KubeManifest) => trigger['metadata'].topic)
      const own = wanted.get(metadata.name.replace('w-whence-', ''))?.map((topic) => `whence.${topic}`)
      expect(topics, metadata.name).to.have.members(own ?? [])
    }
  })

  it('scales by topics and groups that are on Kafka', () => {
    const topics = new Set<string>([...RECORD_TOPICS, 'webhooks', ...PROVIDER_IDS.map((id) => `deliver.${id}`)])
    const triggers = at('everything')
      .filter(({ kind }) => kind === 'ScaledObject')
      .flatMap(({ spec }) => spec.triggers)
    expect(triggers.length).to.be.greaterThan(10)
    const groups = new Set(['facts-writer', 'dispatch', 'webhooks', ...PROVIDER_IDS.map((id) => `deliver.${id}`)])
    for (const { metadata } of triggers) {
      const topic = String(metadata.topic).replace('whence.', '')
      expect(topics).to.include(topic)
      const [group, of] = String(metadata.consumerGroup).replace('whence.', '').split(':')
      expect(of).to.equal(topic)
      expect(groups).to.include(group)
    }
  })

  it('asks for metrics that the programs have, and for nothing else', () => {
    const names = sourceFiles(['api', 'dashboard', 'delivery', 'runtime', 'ports', 'operator', 'bin'], ['.ts'])
      .flatMap(({ text }) => [...text.matchAll(/'(whence_[a-z0-9_]+)'/g)])
      .map((match) => match[1] ?? '')
    const registry = new Registry()
    createOperatorMetrics(registry, { depth: () => 0, longestRunningMs: () => 0, unpublishedMs: () => 0 })
    names.push(...registry.getMetricsAsArray().map(({ name }) => name))
    const known = new Set(names.flatMap((name) => [name, `${name}_bucket`, `${name}_count`, `${name}_sum`]))
    const asked = [
      ...sourceFiles(['charts/whence/files'], ['alerts.yaml']),
      ...sourceFiles(['charts/whence/files/dashboards'], ['.json']),
    ].flatMap(({ text }) => [...text.matchAll(/\b((?:whence|process|nodejs)_[a-z0-9_]+)\b/g)])
    const wanted = new Set(asked.map((match) => match[1] ?? ''))
    expect(wanted.size).to.be.greaterThan(10)
    expect([...wanted].filter((name) => !known.has(name) && !isOfNode(name))).to.deep.equal([])
  })

  it('has a runbook for each alert', () => {
    const [rule] = at('everything').filter(({ kind }) => kind === 'PrometheusRule')
    const alerts = rule?.['spec'].groups[0].rules as readonly KubeManifest[]
    expect(alerts.length).to.be.greaterThan(10)
    const sections = [...read('docs/runbooks.md').matchAll(/^## (\w+)$/gm)].map((match) => match[1])
    expect(alerts.map(({ alert }) => alert)).to.have.members(sections)
    for (const { alert, annotations } of alerts)
      expect(annotations.runbook_url).to.equal(`docs/runbooks.md#${String(alert).toLowerCase()}`)
  })

  it('has dashboards that can be read as such', () => {
    const boards = at('everything').filter(({ kind, metadata }) => kind === 'ConfigMap' && /-dashboard-/.test(metadata.name))
    expect(boards).to.have.length(2)
    for (const { data } of boards)
      for (const text of Object.values(data as Record<string, string>)) {
        const { panels } = JSON.parse(text) as { readonly panels: readonly KubeManifest[] }
        expect(panels.map(({ id }) => id)).to.deep.equal(panels.map((_, index) => index + 1))
      }
  })

  it('names the definitions that the project has, with the same version in chart and package', () => {
    const version = (JSON.parse(read('package.json')) as { readonly version: string }).version
    for (const chart of ['charts/whence', 'charts/whence-crds']) {
      const { appVersion } = parse(read(`${chart}/Chart.yaml`)) as { readonly appVersion: string }
      expect(appVersion).to.equal(version)
    }
  })
})
