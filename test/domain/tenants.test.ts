/** Two tenants in one namespace, one of whom tries to reach the other through every field that names something. */

import { expect } from 'chai'

import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import { RESOURCE_KINDS, SPEC_SCHEMAS } from '../../domain/resources/resources.ts'
import {
  compile,
  findings,
  ga4Destination,
  installPath,
  organization,
  resource,
  secret,
  website,
} from '../../fixtures/service/manifests.ts'
import type { Manifest } from '../../fixtures/service/manifests.ts'

const VICTIM = { tenant: 'victim' }
const THIEF = { tenant: 'thief' }
const owned = (tenant: string) => ({ labels: { 'whence.dev/tenant': tenant } })
const SECRETS = {
  ga4: 's',
  hook: 's',
  'access-key-id': 'a',
  'secret-access-key': 's',
  token: 't',
  'client-id': 'c',
  'client-secret': 's',
  'refresh-token': 'r',
}

const victim = [
  organization('acme', VICTIM),
  website('site', {
    ...VICTIM,
    additionalDomains: ['https://docs.site.example'],
    pages: [{ id: 'p', url: 'https://page.example/' }],
  }),
  installPath('cli', VICTIM),
  secret('keys', SECRETS, owned('victim')),
  ga4Destination('ga4', VICTIM),
  resource('Member', 'anna', { ...VICTIM, organizationRef: { name: 'acme' }, email: 'anna@acme.dev', role: 'Owner' }),
]
const thief = [
  organization('evil', THIEF),
  website('lair', { ...THIEF, organizationRef: { name: 'evil' } }),
  secret('own', SECRETS, owned('thief')),
]

const destination = (provider: string, block: object): Manifest =>
  resource('Destination', 'grab', { ...THIEF, websiteRef: { name: 'lair' }, provider, ...block })
const stream = (block: object): Manifest =>
  resource('LogStream', 'grab', { ...THIEF, organizationRef: { name: 'evil' }, ...block })
const EVENTS = { url: 'https://evil.example/', events: ['install.matched'] }
const hook = (block: object): Manifest =>
  resource('Webhook', 'grab', { ...THIEF, ...EVENTS, organizationRef: { name: 'evil' }, ...block })
const OWN_HOOK = { name: 'own', key: 'hook' }
const key = { name: 'keys', key: 'token' }
const PROVIDER_BLOCKS: Readonly<Record<string, readonly [string, object]>> = {
  'ga4.apiSecretRef': ['ga4', { ga4: { measurementId: 'G-ABC1234567', apiSecretRef: key } }],
  'googleAds.credentialsRef': [
    'google_ads',
    { googleAds: { customerId: '1234567890', conversionActionId: '1', credentialsRef: { name: 'keys' } } },
  ],
  'meta.accessTokenRef': ['meta', { meta: { pixelId: '123456789012345', accessTokenRef: key } }],
  'tiktok.accessTokenRef': ['tiktok', { tiktok: { pixelCode: 'C4ABCDEFGHIJKLMNOPQ0', accessTokenRef: key } }],
  'x.pixelTokenRef': ['x', { x: { pixelId: 'abc12', eventId: 'tw-abc12-def34', pixelTokenRef: key } }],
}

/** By the field of a spec that refers to something: an object of the thief whose field names something of the victim. */
const ATTEMPTS: Readonly<Record<string, Manifest>> = {
  'Website.organizationRef': website('grab', { ...THIEF }),
  'InstallPath.organizationRef': installPath('grab', { ...THIEF }),
  'Member.organizationRef': resource('Member', 'grab', {
    ...THIEF,
    organizationRef: { name: 'acme' },
    email: 'thief@evil.dev',
    role: 'Owner',
  }),
  'ApiKey.organizationRef': resource('ApiKey', 'grab', {
    ...THIEF,
    organizationRef: { name: 'acme' },
    scopes: ['figures'],
    expiresAt: '1970-06-30T00:00:00Z',
    keyHash: `sha256:${'0'.repeat(64)}`,
  }),
  'ShareLink.websiteRef': resource('ShareLink', 'grab', {
    ...THIEF,
    websiteRef: { name: 'site' },
    period: 'Today',
    expiresAt: '1970-06-30T00:00:00Z',
    tokenHash: `sha256:${'0'.repeat(64)}`,
  }),
  'LogStream.organizationRef': stream({
    organizationRef: { name: 'acme' },
    webhook: { url: 'https://evil.example/', secretRef: { name: 'own', key: 'hook' } },
  }),
  'LogStream.webhook.secretRef': stream({
    webhook: { url: 'https://evil.example/', secretRef: { name: 'keys', key: 'hook' } },
  }),
  'LogStream.webhook.previousSecretRef': stream({
    webhook: { url: 'https://evil.example/', secretRef: OWN_HOOK, previousSecretRef: { name: 'keys', key: 'hook' } },
  }),
  'LogStream.s3.credentialsRef': stream({
    s3: { endpoint: 'https://s3.example', region: 'eu', bucket: 'loot', credentialsRef: { name: 'keys' } },
  }),
  'Webhook.organizationRef': hook({ organizationRef: { name: 'acme' }, secretRef: OWN_HOOK }),
  'Webhook.secretRef': hook({ secretRef: { name: 'keys', key: 'hook' } }),
  'Webhook.previousSecretRef': hook({ secretRef: OWN_HOOK, previousSecretRef: { name: 'keys', key: 'hook' } }),
  'Webhook.urlSecretRef': resource('Webhook', 'grab', {
    ...THIEF,
    organizationRef: { name: 'evil' },
    format: 'Slack',
    urlSecretRef: { name: 'keys', key: 'hook' },
    events: ['alert.opened'],
  }),
  'Destination.websiteRef': ga4Destination('grab', {
    ...THIEF,
    ga4: { measurementId: 'G-ABC1234567', apiSecretRef: { name: 'own', key: 'ga4' } },
  }),
  ...Object.fromEntries(
    Object.entries(PROVIDER_BLOCKS).map(([field, [provider, block]]) => [
      `Destination.${field}`,
      destination(provider, block),
    ]),
  ),
}

function referencesIn(schema: JsonSchema, path: string): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
    /refs?$/i.test(name) ? [`${path}.${name}`] : referencesIn(member, `${path}.${name}`),
  )
}

describe('two tenants in one namespace', () => {
  it('are each in force by themselves, side by side', () => {
    const compilation = compile(...victim, ...thief)
    expect(findings(compilation)).to.deep.equal([])
    expect([...compilation.catalog.websites.keys()]).to.deep.equal(['site', 'lair'])
    expect(compilation.people.members).to.have.length(1)
  })

  it('are tried with every reference that a definition has', () => {
    const all = RESOURCE_KINDS.flatMap((kind) => referencesIn(SPEC_SCHEMAS[kind], kind))
    expect(all.filter((field) => !(field in ATTEMPTS))).to.deep.equal([])
  })

  for (const [field, attempt] of Object.entries(ATTEMPTS)) {
    it(`${field} cannot reach objects of the other, and learns nothing about them`, () => {
      const before = compile(...victim, ...thief)
      const after = compile(...victim, ...thief, attempt)
      const told = findings(after)
      expect(told).to.have.length(1)
      expect(after.catalog.version).to.equal(before.catalog.version)
      expect(after.people.members).to.deep.equal(before.people.members)
      expect(after.people.apiKeys).to.deep.equal(before.people.apiKeys)
      expect(after.people.shareLinks).to.deep.equal(before.people.shareLinks)
      // The same words as if the other had no such object.
      const alone = JSON.parse(
        JSON.stringify(attempt)
          .replaceAll('"acme"', '"nil"')
          .replaceAll('"site"', '"nil"')
          .replaceAll('"keys"', '"nil"'),
      ) as Manifest
      const missing = findings(compile(...victim, ...thief, alone)).map((text) => text.replaceAll('nil', 'X'))
      expect(told.map((text) => text.replaceAll(/\b(acme|site|keys)\b/g, 'X'))).to.deep.equal(missing)
      expect(after.problems[0]?.reason).to.equal('RefNotFound')
    })

    it(`${field} learns nothing about a refused object either`, () => {
      const broken = JSON.parse(JSON.stringify(victim).replaceAll('"Enterprise"', '"Free"')) as Manifest[]
      const { problems } = compile(...broken, ...thief, attempt)
      expect(problems.find(({ object }) => object.endsWith('/grab'))?.reason).to.equal('RefNotFound')
    })
  }

  it('cannot have an origin of the other, as a domain or of a page, whoever is older', () => {
    for (const origin of ['https://site.example', 'https://docs.site.example', 'https://page.example']) {
      const domain = website('grab', { ...THIEF, organizationRef: { name: 'evil' }, primaryOrigin: origin })
      const more = website('grab', { ...THIEF, organizationRef: { name: 'evil' }, additionalDomains: [origin] })
      const page = website('grab', {
        ...THIEF,
        organizationRef: { name: 'evil' },
        pages: [{ id: 'x', url: `${origin}/x` }],
      })
      for (const attempt of [domain, more, page]) {
        const { catalog, problems } = compile(...victim, ...thief, attempt)
        // A domain takes precedence over the origin of a page.
        const isPageLost = origin === 'https://page.example' && attempt !== page
        expect(problems.map(({ reason }) => reason)).to.deep.equal(['OriginTaken'])
        expect(catalog.websites.get('site')?.origins.has(origin)).to.equal(!isPageLost)
        expect(catalog.websites.get('grab')?.origins.has(origin) ?? false).to.equal(isPageLost)
      }
    }
  })

  it('share no origin with those who run the service, nor with namespaces of others', () => {
    const mine = [
      organization('ours'),
      website('ours-dev', { organizationRef: { name: 'ours' }, primaryOrigin: 'https://ours.dev' }),
    ]
    const attempt = website('grab', { ...THIEF, organizationRef: { name: 'evil' }, primaryOrigin: 'https://ours.dev' })
    expect(compile(...mine, ...thief, attempt).problems.map(({ reason }) => reason)).to.deep.equal(['OriginTaken'])
    const shared = website('lair-two', {
      ...THIEF,
      organizationRef: { name: 'evil' },
      primaryOrigin: 'https://lair.example',
    })
    expect(compile(...mine, ...thief, shared).problems).to.deep.equal([])
  })

  it('cannot take an ID, and the default path is one of the own organisation', () => {
    const id = website('grab', { ...THIEF, organizationRef: { name: 'evil' }, id: 'site' })
    expect(compile(...victim, ...thief, id).problems.map(({ reason }) => reason)).to.deep.equal(['IdTaken'])
    const path = organization('grab', { ...THIEF, defaultInstallPath: 'cli' })
    expect(compile(...victim, ...thief, path).problems.map(({ reason }) => reason)).to.deep.equal(['RefNotFound'])
  })

  it('cannot be reached through a namespace that everybody may refer to', () => {
    const open = organization('open', { ...VICTIM, allowedNamespaces: { from: 'All' } }, { namespace: 'shop' })
    const spec = { ...THIEF, organizationRef: { name: 'open', namespace: 'shop' } }
    const { problems, catalog } = compile(open, website('grab', spec))
    expect(problems.map(({ reason }) => reason)).to.deep.equal(['RefNotPermitted'])
    expect(catalog.websites.size).to.equal(0)
  })

  it('refer to nothing of those who run the service, who refer to nothing of theirs', () => {
    const ours = [organization('ours'), secret('root', SECRETS)]
    const up = website('grab', { ...THIEF, organizationRef: { name: 'ours' } })
    const down = website('grab', { organizationRef: { name: 'evil' } })
    const root = destination('ga4', {
      ga4: { measurementId: 'G-ABC1234567', apiSecretRef: { name: 'root', key: 'ga4' } },
    })
    for (const attempt of [up, down, root])
      expect(compile(...ours, ...thief, attempt).problems.map(({ reason }) => reason)).to.deep.equal(['RefNotFound'])
  })
})
