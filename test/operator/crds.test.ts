/** The definitions on a real API server: it accepts them, each rule refuses and accepts as intended, and all validators agree. */

import { expect } from 'chai'
import fc from 'fast-check'

import { RESOURCE_PLURALS } from '../../domain/resources/crd.ts'
import { ALLOWED_NAMESPACES_RULES, OBJECT_RULES, SPEC_RULES, textRules } from '../../domain/resources/crd-rules.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import { LIMITS, PLAN_LIMITS } from '../../domain/limits.ts'
import { PLANS } from '../../domain/model.ts'
import { PROVIDER_DESCRIPTORS, PROVIDER_IDS } from '../../domain/providers/index.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import { RESOURCE_KINDS, SPEC_SCHEMAS } from '../../domain/resources/resources.ts'
import type { KubeAnswer, KubeServer } from '../../fixtures/engines/kube.ts'
import { kubeTools, startKube } from '../../fixtures/engines/kube.ts'
import type { Manifest } from '../../fixtures/service/manifests.ts'
import { compile, organization, resource, secret, website } from '../../fixtures/service/manifests.ts'

const BUILD_AND_START_MS = 1_300_000
/** `make test` tries some; the long form tries ten thousand. */
const RANDOM_OBJECTS = Number(process.env['WHENCE_RANDOM_OBJECTS'] ?? 500)

let kube: KubeServer | null = null

const server = (): KubeServer => {
  if (kube === null) throw new Error('the API server is not running')
  return kube
}

const collection = (kind: ResourceKind) => `/apis/whence.dev/v1alpha1/namespaces/default/${RESOURCE_PLURALS[kind]}`

/** The API server's answer to this object, which is not stored. */
const tryOut = (object: Manifest): Promise<KubeAnswer> =>
  server().call(`${collection(object['kind'] as ResourceKind)}?dryRun=All&fieldValidation=Strict`, {
    method: 'POST',
    body: object,
  })

const ga4 = { measurementId: 'G-ABC1234567', apiSecretRef: { name: 'keys', key: 'ga4' } }
const BLOCKS: Readonly<Record<string, object>> = {
  ga4: { ga4 },
  google_ads: { googleAds: { customerId: '1', conversionActionId: '2', credentialsRef: { name: 'google' } } },
  meta: { meta: { pixelId: '1', accessTokenRef: { name: 'keys', key: 'meta' } } },
  tiktok: { tiktok: { pixelCode: 'C1', accessTokenRef: { name: 'keys', key: 'tiktok' } } },
  x: { x: { pixelId: 'o1', eventId: 'tw-o1-e', pixelTokenRef: { name: 'keys', key: 'x' } } },
}

const organizationRef = { name: 'acme' }
const SPECS: { readonly [K in ResourceKind]: Readonly<Record<string, unknown>> } = {
  Organization: { plan: 'Enterprise' },
  Website: { organizationRef, primaryOrigin: 'https://acme.dev' },
  InstallPath: { organizationRef },
  Destination: { websiteRef: { name: 'site' }, provider: 'ga4', ga4 },
  LogStream: {
    organizationRef,
    webhook: { url: 'https://logs.example.com', secretRef: { name: 'keys', key: 'hook' } },
  },
  Webhook: {
    organizationRef,
    url: 'https://hooks.example.com',
    events: ['install.matched'],
    secretRef: { name: 'keys', key: 'hook' },
  },
  Member: { organizationRef, email: 'anna@acme.dev', role: 'Owner' },
  ApiKey: {
    organizationRef,
    scopes: ['figures'],
    expiresAt: '2027-06-30T00:00:00Z',
    keyHash: `sha256:${'0'.repeat(64)}`,
  },
  ShareLink: {
    websiteRef: { name: 'acme' },
    period: 'Last28Days',
    filters: [{ field: 'campaign', is: ['show-hn'] }],
    expiresAt: '2027-06-30T00:00:00Z',
    tokenHash: `sha256:${'0'.repeat(64)}`,
  },
}
const valid = (kind: ResourceKind, spec: Readonly<Record<string, unknown>> = {}, name = 'one') =>
  resource(kind, name, { ...SPECS[kind], ...spec })

interface Example {
  readonly kind: ResourceKind
  readonly message: string
  readonly good: Manifest
  readonly bad: Manifest
}

const firstOf = (rules: readonly { readonly message: string }[]): string => rules[0]?.message ?? ''
const secondOf = (rules: readonly { readonly message: string }[]): string => firstOf(rules.slice(1))

/** One example for every rule about a single object; rules about changes have a test of their own. */
function examples(): readonly Example[] {
  const list: Example[] = []
  const add = (kind: ResourceKind, message: string, good: Manifest, bad: Manifest) =>
    list.push({ kind, message, good, bad })
  const long = 'a'.repeat(LIMITS.nameChars + 1)
  const shown = RESOURCE_KINDS.filter((kind) => SPEC_SCHEMAS[kind].properties?.['displayName'] !== undefined)
  for (const kind of shown) {
    const ids = kind === 'Website' || kind === 'InstallPath' ? { id: 'a' } : {}
    const tooLong = firstOf(OBJECT_RULES[kind])
    add(kind, tooLong, valid(kind, { displayName: 'x', ...ids }, long), valid(kind, ids, long))
    add(
      kind,
      'must not have line breaks',
      valid(kind, { displayName: 'Größe 1' }),
      valid(kind, { displayName: 'a\nb' }),
    )
  }
  for (const kind of ['Website', 'InstallPath'] as const) {
    const message = secondOf(OBJECT_RULES[kind])
    add(kind, message, valid(kind, { id: 'a' }, 'a.b'), valid(kind, {}, 'a.b'))
    add(kind, 'may have only lower-case letters', valid(kind, { id: '0-a-' }), valid(kind, { id: 'A' }))
  }
  const billing = { customer: 'cus_1', subscription: 'sub_1', price: 'price_1' }
  add(
    'Organization',
    'may have only letters, digits, hyphens and underscores',
    valid('Organization', { billing }),
    valid('Organization', { billing: { ...billing, customer: 'cus 1' } }),
  )
  add(
    'Website',
    'must be a host',
    valid('Website', { ignoredReferrers: ['accounts.google.com', 'localhost'] }),
    valid('Website', { ignoredReferrers: ['https://accounts.google.com'] }),
  )
  const pages = (id: string, url: string) => valid('Website', { pages: [{ id, url }] })
  add(
    'Website',
    'must be an origin',
    valid('Website', { primaryOrigin: 'http://localhost:3000' }),
    valid('Website', { primaryOrigin: 'http://acme.dev' }),
  )
  add(
    'Website',
    'must be an origin',
    valid('Website', { additionalDomains: ['https://bücher.example'] }),
    valid('Website', { additionalDomains: ['https://*.acme.dev'] }),
  )
  add(
    'Website',
    'must be the address of a page',
    pages('a', 'https://acme.dev/install'),
    pages('a', 'https://acme.dev/install?x'),
  )
  add('Website', 'may have only lower-case letters', pages('a', 'https://acme.dev'), pages('-a', 'https://acme.dev'))
  add(
    'Organization',
    'may have only lower-case letters',
    valid('Organization', { defaultInstallPath: 'cli' }),
    valid('Organization', { defaultInstallPath: 'CLI' }),
  )
  for (const plan of PLANS) {
    const most = PLAN_LIMITS[plan].logRetentionDays
    if (plan !== 'Enterprise') {
      const of = (logRetentionDays: number) => valid('Organization', { plan, logRetentionDays })
      add('Organization', firstOf(SPEC_RULES.Organization), of(most), of(most + 1))
    }
  }
  const ruled = (kind: string, threshold: number) => valid('Organization', { alerts: { rules: [{ kind, threshold }] } })
  add(
    'Organization',
    'alerts.rules: the threshold of InstallsDown',
    ruled('InstallsDown', 99),
    ruled('InstallsDown', 100),
  )
  add('Organization', 'alerts.rules: the threshold of InstallsUp', ruled('InstallsUp', 101), ruled('InstallsUp', 100))
  add(
    'Organization',
    'alerts.rules: the threshold of MatchRateDown',
    ruled('MatchRateDown', 99),
    ruled('MatchRateDown', 100),
  )
  add(
    'Organization',
    'alerts.rules: the threshold of DeliveriesFailing',
    ruled('DeliveriesFailing', 100),
    ruled('DeliveriesFailing', 101),
  )
  add('Organization', 'alerts.rules: the threshold of QuotaNear', ruled('QuotaNear', 100), ruled('QuotaNear', 101))
  add('Organization', 'alerts.rules: NothingArrives has no', ruled('QuotaNear', 1), ruled('NothingArrives', 24))
  const zoned = (timeZone: string) => valid('Organization', { timeZone })
  add('Organization', secondOf(SPEC_RULES.Organization), zoned('Asia/Kolkata'), zoned('Asia/Bangalore'))
  for (const kind of ['Website', 'InstallPath', 'LogStream', 'Webhook', 'Destination'] as const) {
    const field = kind === 'Destination' ? 'websiteRef' : 'organizationRef'
    const at = (namespace: string) => valid(kind, { [field]: { name: 'acme', namespace } })
    add(kind, 'may have only lower-case letters, digits and hyphens, and must begin', at('team-1'), at('team-'))
  }
  for (const kind of ['Organization', 'Website'] as const) {
    const [one = '', two = ''] = ALLOWED_NAMESPACES_RULES.map(({ message }) => message)
    const letting = (allowedNamespaces: object) => valid(kind, { allowedNamespaces })
    const selecting = (requirement: object) =>
      letting({ from: 'Selector', selector: { matchExpressions: [{ key: 'team', ...requirement }] } })
    const selector = { matchLabels: { team: 'a' } }
    add(kind, one, letting({ from: 'Selector', selector }), letting({ from: 'Selector' }))
    add(kind, one, letting({ from: 'All' }), letting({ selector }))
    add(kind, two, selecting({ operator: 'In', values: ['a'] }), selecting({ operator: 'In' }))
    add(kind, two, selecting({ operator: 'Exists' }), selecting({ operator: 'Exists', values: ['a'] }))
  }
  PROVIDER_IDS.forEach((provider, index) => {
    const { [provider]: block = {} } = BLOCKS
    const good = resource('Destination', 'one', { websiteRef: { name: 'site' }, provider, ...block })
    const bad = resource('Destination', 'one', { websiteRef: { name: 'site' }, provider })
    add('Destination', firstOf(SPEC_RULES.Destination.slice(index)), good, bad)
  })
  const withBlock = (provider: string, block: string, fields: object) =>
    resource('Destination', 'one', {
      websiteRef: { name: 'site' },
      provider,
      [block]: { ...(BLOCKS[provider] as Record<string, object>)[block], ...fields },
    })
  add('Destination', 'must be G-', withBlock('ga4', 'ga4', {}), withBlock('ga4', 'ga4', { measurementId: 'UA-1' }))
  add(
    'Destination',
    'must be only digits',
    withBlock('meta', 'meta', {}),
    withBlock('meta', 'meta', { pixelId: '1-2' }),
  )
  add('Destination', 'may have only letters, digits', withBlock('x', 'x', {}), withBlock('x', 'x', { pixelId: 'a b' }))
  senderExamples(add)
  memberExamples(add)
  keyExamples(add)
  linkExamples(add)
  return list
}

function senderExamples(add: (kind: ResourceKind, message: string, good: Manifest, bad: Manifest) => void): void {
  const webhook = (url: string) => valid('LogStream', { webhook: { url, secretRef: { name: 'keys', key: 'hook' } } })
  add('LogStream', 'must be a plain https', webhook('https://logs.example.com/in'), webhook('http://logs.example.com'))
  const { secretRef } = SPECS.Webhook
  const told = (changes: Readonly<Record<string, unknown>>) => valid('Webhook', changes)
  add(
    'Webhook',
    'must be a plain https',
    told({ url: 'https://hooks.acme.dev/in' }),
    told({ url: 'http://hooks.acme.dev' }),
  )
  const urlSecretRef = { name: 'keys', key: 'slack' }
  const slack = { format: 'Slack', url: undefined, secretRef: undefined, urlSecretRef }
  add('Webhook', 'with the format Slack', told(slack), told({ ...slack, secretRef }))
  add('Webhook', 'with the format Standard', told({}), told({ urlSecretRef }))
  const until = (previousSecretUntil: string) => told({ previousSecretRef: secretRef, previousSecretUntil })
  const signedUntil = (previousSecretUntil: string) => {
    const secrets = { secretRef, previousSecretRef: secretRef, previousSecretUntil }
    return valid('LogStream', { webhook: { url: 'https://logs.example.com/in', ...secrets } })
  }
  add('LogStream', 'must be a time', signedUntil('2026-11-29T06:00:00Z'), signedUntil('2026-11-29 06:00:00Z'))
  add('Webhook', 'must be a time', until('2026-11-29T06:00:00Z'), until('2026-11-29 06:00:00Z'))
  add('Webhook', 'must be a time', until('2026-12-31T23:59:59Z'), until('2026-13-01T00:00:00Z'))
  const bucket = (s3: object) =>
    resource('LogStream', 'one', {
      organizationRef,
      s3: { endpoint: 'https://s3.acme.dev', region: 'eu', bucket: 'logs', credentialsRef: { name: 'keys' }, ...s3 },
    })
  const [kind = '', endpoint = '', prefix = ''] = SPEC_RULES.LogStream.map(({ message }) => message)
  add('LogStream', kind, valid('LogStream'), resource('LogStream', 'one', { organizationRef }))
  add('LogStream', 'must be lower case letters', bucket({}), bucket({ bucket: 'Logs' }))
  add(
    'LogStream',
    'must be letters, digits, dots, hyphens',
    bucket({ region: 'eu-central-1' }),
    bucket({ region: 'eu central' }),
  )
  const encrypted = (kmsKeyId: string) => bucket({ encryption: { algorithm: 'aws:kms', kmsKeyId } })
  add('LogStream', 'must be the ID or ARN of a key', encrypted('arn:aws:kms:eu:1:key/2'), encrypted('a key'))
  add(
    'LogStream',
    endpoint,
    bucket({ endpoint: 'https://s3.acme.dev/' }),
    bucket({ endpoint: 'https://s3.acme.dev/x' }),
  )
  for (const [good, bad] of [
    ['a/b', 'a//b'],
    ['/.a/', '../a'],
    ['...', '.'],
    ['', '/'],
  ] as const)
    add('LogStream', prefix, bucket({ prefix: good }), bucket({ prefix: bad }))
}

function memberExamples(add: (kind: ResourceKind, message: string, good: Manifest, bad: Manifest) => void): void {
  const member = (spec: object) => resource('Member', 'one', { organizationRef, role: 'Viewer', ...spec })
  const invitation = { id: '0123456789abcdef0123456789abcdef', expiresAt: '2026-11-29T06:00:00Z' }
  const invited = (change: object) => member({ email: 'anna@acme.dev', invitation: { ...invitation, ...change } })
  const [one = '', two = ''] = SPEC_RULES.Member.map(({ message }) => message)
  const at = (installation: string) => valid('Member', { installation })
  add('Member', 'may have only lower-case letters, digits and hyphens, and must begin', at('eu-1'), at('eu-'))
  add('Member', one, member({ group: 'team' }), member({ group: 'team', email: 'anna@acme.dev' }))
  add('Member', one, member({ email: "o'brien+x@mail.acme.dev" }), member({}))
  add('Member', two, invited({}), member({ group: 'team', invitation }))
  add('Member', 'must be an address', member({ email: 'a@acme.dev' }), member({ email: 'Anna@acme.dev' }))
  add('Member', 'must not have line breaks', member({ group: 'Alle Entwickler' }), member({ group: 'a\nb' }))
  add('Member', 'must be hexadecimal', invited({}), invited({ id: 'g'.repeat(32) }))
  add('Member', 'must be a time', invited({}), invited({ expiresAt: '2026-11-29 06:00:00Z' }))
  add('Member', 'must be a time', invited({}), invited({ expiresAt: '2026-04-31T06:00:00Z' }))
}

function keyExamples(add: (kind: ResourceKind, message: string, good: Manifest, bad: Manifest) => void): void {
  const changed = (changes: Readonly<Record<string, unknown>>) => valid('ApiKey', changes)
  const installation = (name: string) => changed({ installation: name })
  add('ApiKey', 'may have only lower-case letters, digits', installation('eu-1'), installation('eu-'))
  add('ApiKey', 'must be a time', valid('ApiKey'), changed({ expiresAt: '2027-06-31T00:00:00Z' }))
  add('ApiKey', 'must be sha256:', valid('ApiKey'), changed({ keyHash: 'F'.repeat(71) }))
}

function linkExamples(add: (kind: ResourceKind, message: string, good: Manifest, bad: Manifest) => void): void {
  const changed = (changes: Readonly<Record<string, unknown>>) => valid('ShareLink', changes)
  const installation = (name: string) => changed({ installation: name })
  add('ShareLink', 'may have only lower-case letters, digits', installation('eu-1'), installation('eu-'))
  add('ShareLink', 'must be a time', valid('ShareLink'), changed({ expiresAt: '2027-06-31T00:00:00Z' }))
  add('ShareLink', 'must be sha256:', valid('ShareLink'), changed({ tokenHash: 'F'.repeat(71) }))
}

/** The messages of all rules in a schema, at any depth. */
function textMessages(schema: JsonSchema): readonly string[] {
  const below = [...Object.values(schema.properties ?? {}), ...(schema.items === undefined ? [] : [schema.items])]
  return [...textRules(schema).map(({ message }) => message), ...below.flatMap(textMessages)]
}

describe('custom resource definitions', function () {
  before(async function () {
    this.timeout(BUILD_AND_START_MS)
    const tools = await kubeTools()
    if (tools === null) return this.skip()
    kube = await startKube(tools)
    await kube.installCrds()
  })

  after(() => kube?.stop())

  it('are accepted by the API server without a warning about their rules', async () => {
    for (const kind of RESOURCE_KINDS) {
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${RESOURCE_PLURALS[kind]}.whence.dev`
      const { status } = await server().want(path)
      const bad = status.conditions.filter((condition: any) => condition.type === 'NonStructuralSchema')
      expect(bad, kind).to.deep.equal([])
      expect((await tryOut(valid(kind))).status, kind).to.equal(201)
    }
  })

  it('have an example for every rule', () => {
    const shown = examples()
    for (const kind of RESOURCE_KINDS) {
      const blocks = SPEC_SCHEMAS[kind].properties?.['allowedNamespaces'] === undefined ? [] : ALLOWED_NAMESPACES_RULES
      const rules = [...OBJECT_RULES[kind], ...SPEC_RULES[kind], ...blocks].filter(
        ({ rule }) => !rule.includes('oldSelf'),
      )
      const messages = [...rules.map(({ message }) => message), ...textMessages(SPEC_SCHEMAS[kind])]
      const without = messages.filter(
        (message) => !shown.some((example) => example.kind === kind && message.startsWith(example.message)),
      )
      expect(without, kind).to.deep.equal([])
    }
  })

  it('refuse what each rule is about, say why, and accept similar valid values', async () => {
    for (const { message, good, bad } of examples()) {
      const taken = await tryOut(good)
      expect(taken.status, `${message}: ${String(taken.body.message)}`).to.equal(201)
      const refused = await tryOut(bad)
      expect(refused.status, message).to.equal(422)
      expect(refused.body.message).to.contain(message)
    }
  })

  it('keep the ID of a website and of an install path as it is, whether it was written down or not', async () => {
    for (const kind of ['Website', 'InstallPath'] as const) {
      await server().apply([valid(kind, {}, 'plain'), valid(kind, { id: 'own' }, 'named')])
      const change = (name: string, spec: object) =>
        server().call(`${collection(kind)}/${name}?dryRun=All`, {
          method: 'PATCH',
          body: { spec },
          contentType: 'application/merge-patch+json',
        })
      expect((await change('plain', { id: 'plain' })).status).to.equal(200)
      for (const refused of [await change('plain', { id: 'other' }), await change('named', { id: null })]) {
        expect(refused.status).to.equal(422)
        expect(refused.body.message).to.contain('spec.id cannot be changed')
      }
    }
  })

  it('use the counts, ranges and lengths in the table of limits', async () => {
    const { retentionDays, reconstructionHours, logRetentionDays } = LIMITS
    const page = (index: number) => ({ id: `p${index}`, url: 'https://acme.dev' })
    const cases: readonly (readonly [Manifest, Manifest])[] = [
      [
        valid('Website', { retentionDays: retentionDays.max }),
        valid('Website', { retentionDays: retentionDays.max + 1 }),
      ],
      [
        valid('Website', { retentionDays: retentionDays.min }),
        valid('Website', { retentionDays: retentionDays.min - 1 }),
      ],
      [
        valid('Organization', { logRetentionDays: logRetentionDays.min }),
        valid('Organization', { logRetentionDays: logRetentionDays.min - 1 }),
      ],
      [
        valid('Destination', { reconstructionWindowHours: reconstructionHours.max }),
        valid('Destination', { reconstructionWindowHours: reconstructionHours.max + 1 }),
      ],
      [
        valid('Website', { displayName: 'ü'.repeat(LIMITS.nameChars) }),
        valid('Website', { displayName: 'ü'.repeat(LIMITS.nameChars + 1) }),
      ],
      [
        valid('Website', { id: 'a'.repeat(LIMITS.websiteIdChars) }),
        valid('Website', { id: 'a'.repeat(LIMITS.websiteIdChars + 1) }),
      ],
      [
        valid('Website', { pages: Array.from({ length: LIMITS.pagesPerWebsite }, (_, index) => page(index)) }),
        valid('Website', { pages: Array.from({ length: LIMITS.pagesPerWebsite + 1 }, (_, index) => page(index)) }),
      ],
      [valid('Website', { pages: [page(1)] }), valid('Website', { pages: [page(1), page(1)] })],
    ]
    for (const [good, bad] of cases) {
      expect((await tryOut(good)).status).to.equal(201)
      expect((await tryOut(bad)).status, JSON.stringify(bad['spec']).slice(0, 200)).to.equal(422)
    }
  })

  it('fill in the defaults that the compiler fills in', async () => {
    const { body } = await tryOut(valid('Website'))
    expect(body.spec).to.deep.include({
      retentionDays: LIMITS.retentionDays.fallback,
      hook: { scan: 'Notice' },
      providers: [],
    })
  })

  it(`refuse and accept what the validators and the compiler refuse and accept, on ${RANDOM_OBJECTS} random objects`, async function () {
    this.timeout(Math.max(120_000, RANDOM_OBJECTS * 60))
    const objects = fc.sample(anyObject(), { numRuns: RANDOM_OBJECTS, seed: 6_021 })
    const verdicts = { taken: 0, refused: 0 }
    const differences: string[] = []
    const look = async (object: Manifest): Promise<void> => {
      const { status, body } = await tryOut(object)
      const problems = localProblems(object)
      verdicts[problems.length === 0 ? 'taken' : 'refused'] += 1
      if ((status === 201) !== (problems.length === 0)) {
        differences.push(JSON.stringify({ object, status, why: body.message, problems }).slice(0, 2_000))
      }
    }
    const queue = [...objects]
    const lane = async (): Promise<void> => {
      for (let object = queue.pop(); object !== undefined; object = queue.pop()) await look(object)
    }
    await Promise.all(Array.from({ length: 8 }, lane))
    expect(differences).to.deep.equal([])
    expect(Math.min(verdicts.taken, verdicts.refused), 'both happen').to.be.greaterThan(RANDOM_OBJECTS / 10)
  })
})

/** What the compiler says of the object alone; what depends on other objects no schema can know. */
function localProblems(object: Manifest): readonly string[] {
  const world = [
    organization('acme'),
    website('site'),
    secret('keys', { ga4: 'x', meta: 'x', tiktok: 'x', x: 'x', hook: 'x' }),
  ]
  const name = `${String(object['kind'])}/${(object['metadata'] as { name: string }).name}`
  const isLocal = ['UnknownField', 'MissingField', 'InvalidField', 'ProviderMismatch']
  return compile(...world, object)
    .problems.filter((problem) => problem.object === name && isLocal.includes(problem.reason))
    .map(({ field, message }) => `${field} ${message}`)
}

const ORIGINS = [
  'https://acme.dev',
  'HTTPS://Docs.Acme.dev:8443/',
  'http://localhost:3000',
  'http://127.0.0.1',
  'https://[2001:db8::1]',
  'https://bücher.example',
]
const NO_ORIGINS = [
  'acme.dev',
  'http://acme.dev',
  'https://acme.dev/path',
  'https://*.acme.dev',
  'https://a@acme.dev',
  'ftp://acme.dev',
  'https://acme.dev?x',
  'https://acme dev',
  'https:acme.dev',
  '',
]
const PAGES = [...ORIGINS, 'https://acme.dev/install', 'https://acme.dev/a/@b', 'http://localhost/x']
const NO_PAGES = [
  'https://acme.dev/?x',
  'https://acme.dev/#x',
  'https://u:p@acme.dev/',
  'http://acme.dev/x',
  '/install',
  'https://acme.dev/a b',
  '',
]

const OUTBOUND = ['https://hooks.acme.dev', 'HTTPS://acme.dev:8443/in?x=1', 'https://8.8.8.8/']
const NO_OUTBOUND = [
  'http://acme.dev',
  'https://u:p@acme.dev',
  'https://acme.dev/#x',
  'https://acme dev',
  'acme.dev',
  '',
]

const ADDRESSES = { origin: [ORIGINS, NO_ORIGINS], page: [PAGES, NO_PAGES], outbound: [OUTBOUND, NO_OUTBOUND] } as const

function anyObject(): fc.Arbitrary<Manifest> {
  const kinds = RESOURCE_KINDS.map((kind) =>
    fc
      .record({ name: anyName(), spec: anyOf(SPEC_SCHEMAS[kind]), block: fc.constantFrom(...PROVIDER_IDS) })
      .map(({ name, spec, block }) => {
        if (typeof spec !== 'object' || spec === null || Array.isArray(spec)) return resource(kind, name, spec as never)
        return resource(kind, name, kind === 'Destination' ? withOneBlock(spec, block) : spec)
      }),
  )
  return fc.oneof(...kinds)
}

/** Random blocks hardly ever fit the provider; mostly keep one, and mostly that of the provider. */
function withOneBlock(spec: Readonly<Record<string, unknown>>, block: string): Record<string, unknown> {
  const names = PROVIDER_IDS.map((id) => PROVIDER_DESCRIPTORS[id].block.field)
  const kept = Object.fromEntries(Object.entries(spec).filter(([name]) => !names.includes(name)))
  return block === 'x' && spec['provider'] !== 'x'
    ? spec
    : { ...kept, provider: block, ...BLOCKS[block], ...own(spec, block) }
}

function own(spec: Readonly<Record<string, unknown>>, provider: string): object {
  const { field: block } = PROVIDER_DESCRIPTORS[provider as 'ga4'].block
  return spec[block] === undefined ? {} : { [block]: spec[block] }
}

function anyName(): fc.Arbitrary<string> {
  const odd = fc.constantFrom('a.b', 'a'.repeat(LIMITS.websiteIdChars + 1), 'a'.repeat(LIMITS.nameChars + 1))
  return fc.oneof({ weight: 9, arbitrary: fc.constant('one') }, { weight: 1, arbitrary: odd })
}

/** Mostly a value that fits the schema, now and then one that does not. */
function anyOf(schema: JsonSchema): fc.Arbitrary<any> {
  const misfits = fc.constantFrom<unknown>('', 'text', 0, 7.5, true, [], {}, ['a', 'a'], { a: 1 })
  return fc.oneof({ weight: 60, arbitrary: fitting(schema) }, { weight: 1, arbitrary: misfits })
}

function fitting(schema: JsonSchema): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({ min: (schema.minimum ?? 0) - 1, max: (schema.maximum ?? 99) + 1 })
    case 'array': {
      const item = schema.items === undefined ? fc.constant('') : anyOf(schema.items)
      const plain = fc.array(item, { minLength: schema.minItems ?? 0, maxLength: 4 })
      const distinct = fc.uniqueArray(item, { minLength: schema.minItems ?? 0, maxLength: 4 })
      return schema.uniqueItems === true
        ? fc.oneof({ weight: 9, arbitrary: distinct }, { weight: 1, arbitrary: plain })
        : plain
    }
    case 'object':
      return anyMembers(schema)
    case 'string':
      return anyText(schema)
  }
}

function anyMembers(schema: JsonSchema): fc.Arbitrary<Record<string, unknown>> {
  const members = Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, member]) => [name, anyOf(member)]),
  )
  const required = schema.required ?? []
  const complete = fc.record(members, { requiredKeys: [...required] })
  const partial = fc.record(members, { requiredKeys: [] })
  const foreign = complete.map((value) => ({ ...value, foreign: 1 }))
  return fc.oneof(
    { weight: 40, arbitrary: complete },
    { weight: 1, arbitrary: partial },
    { weight: 1, arbitrary: foreign },
  )
}

function anyText(schema: JsonSchema): fc.Arbitrary<string> {
  if (schema.enum !== undefined)
    return fc.oneof(
      { weight: 40, arbitrary: fc.constantFrom(...schema.enum) },
      { weight: 1, arbitrary: fc.constant('Off') },
    )
  if (schema.address !== undefined) {
    const [good, bad] = ADDRESSES[schema.address]
    return fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom(...good) },
      { weight: 1, arbitrary: fc.constantFrom(...bad) },
    )
  }
  const most = Math.min(schema.maxLength ?? 100, 300)
  const free = fc.string({ unit: 'grapheme', maxLength: 12 })
  const tooLong = fc.constant('a'.repeat(most + 1))
  const fits =
    schema.pattern === undefined
      ? fc.string({ minLength: Math.max(schema.minLength ?? 0, 3), maxLength: 12 })
      : fc.stringMatching(new RegExp(schema.pattern, 'u')).map((text) => [...text].slice(0, 20).join(''))
  return fc.oneof({ weight: 40, arbitrary: fits }, { weight: 1, arbitrary: free }, { weight: 1, arbitrary: tooLong })
}
