/** The catalog compiler: what is accepted, what is refused and why, and who keeps a place when there is not enough room. */

import { expect } from 'chai'
import fc from 'fast-check'

import { isBlocking, PROBLEM_REASONS } from '../../domain/resources/problems.ts'
import { RESOURCE_KINDS } from '../../domain/resources/resources.ts'
import { compileCatalog } from '../../domain/catalog/compile-catalog.ts'
import { LIMITS, PLAN_LIMITS } from '../../domain/limits.ts'
import { PLANS, type Plan } from '../../domain/model.ts'
import {
  compile,
  findings,
  ga4Destination,
  installPath,
  logStream,
  organization,
  type Manifest,
  resource,
  secret,
  webhook,
  website,
} from '../../fixtures/service/manifests.ts'

const ACME = organization('acme')
const SITE = website('site')
const KEYS = secret('keys', {
  ga4: 'ga4-secret',
  meta: 'meta-token',
  hook: 'hook-secret',
  empty: '',
  'access-key-id': 'AKIA',
  'secret-access-key': 's3-secret',
})

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

describe('compileCatalog', () => {
  describe('organizations', () => {
    it('fills in name and retention, and shows the namespace unless it is the default one', () => {
      const { catalog, problems } = compile(
        organization('acme', { plan: 'Standard' }),
        organization('beta', { plan: 'Free', displayName: 'Beta' }, { namespace: 'team' }),
      )
      expect(problems).to.deep.equal([])
      expect(catalog.organizations.get('acme')).to.deep.include({
        displayName: 'acme',
        plan: 'Standard',
        logRetentionDays: 30,
      })
      expect(catalog.organizations.get('team/beta')).to.deep.include({ displayName: 'Beta', logRetentionDays: 7 })
    })

    it("accepts log retention up to the plan's maximum", () => {
      for (const plan of PLANS) {
        const most = PLAN_LIMITS[plan].logRetentionDays
        expect(compile(organization('acme', { plan, logRetentionDays: most })).problems).to.deep.equal([])
        const over = compile(organization('acme', { plan, logRetentionDays: most + 1 }))
        expect(over.problems[0]).to.include({ reason: 'InvalidField', field: '/spec/logRetentionDays' })
        expect(over.catalog.organizations.size).to.equal(0)
      }
      expect(findings(compile(organization('acme', { logRetentionDays: 6 })))).to.deep.equal([
        'Organization/acme InvalidField spec.logRetentionDays: 6 is below 7',
      ])
    })

    it('leaves the ID of an install path with the older one of the organisation, and with one of each organisation', () => {
      const result = compile(ACME, installPath('cli', { displayName: 'old' }), installPath('other', { id: 'cli' }))
      expect(result.problems.map(({ object, reason, field }) => `${object} ${reason} ${field}`)).to.deep.equal([
        'InstallPath/other IdTaken /spec/id',
      ])
      expect(
        result.catalog.organizations.get('acme')?.installPaths.map(({ displayName }) => displayName),
      ).to.deep.equal(['old'])
      const theirs = installPath('theirs', { id: 'cli', organizationRef: { name: 'beta' } })
      expect(compile(ACME, organization('beta'), installPath('cli'), theirs).problems).to.deep.equal([])
    })

    it('counts installs toward the oldest path unless the organisation names one', () => {
      const paths = [installPath('cli'), installPath('brew')]
      const first = (...objects: unknown[]) =>
        compile(...objects, ...paths).catalog.organizations.get('acme')?.firstInstallPath
      expect(first(ACME)).to.equal('cli')
      expect(first(organization('acme', { defaultInstallPath: 'brew' }))).to.equal('brew')
      expect(compile(ACME).catalog.organizations.get('acme')?.firstInstallPath).to.equal(null)
    })

    it('reports a default path that does not exist, and keeps the organisation with its oldest one', () => {
      const result = compile(organization('acme', { defaultInstallPath: 'brw' }), installPath('cli'), SITE)
      expect(result.problems).to.have.length(1)
      expect(result.problems[0]).to.include({ reason: 'RefNotFound', field: '/spec/defaultInstallPath' })
      expect(result.catalog.organizations.get('acme')?.firstInstallPath).to.equal('cli')
      expect(result.catalog.websites.has('site')).to.equal(true)
    })
  })

  describe('websites', () => {
    it('registers the origins of domains and pages, normalised and once each', () => {
      const { catalog, problems } = compile(
        ACME,
        website('site', {
          primaryOrigin: 'https://ACME.dev:443',
          additionalDomains: ['https://docs.acme.dev/', 'https://acme.dev'],
          pages: [{ id: 'get', url: 'https://get.acme.dev/cli' }],
        }),
      )
      expect(problems).to.deep.equal([])
      const site = catalog.websites.get('site')
      expect(site?.primaryOrigin).to.equal('https://acme.dev')
      expect([...(site?.origins ?? [])]).to.deep.equal([
        'https://acme.dev',
        'https://docs.acme.dev',
        'https://get.acme.dev',
      ])
      expect(site?.pages).to.deep.equal([{ id: 'get', origin: 'https://get.acme.dev', path: '/cli' }])
      expect([...catalog.origins]).to.have.members([...(site?.origins ?? [])])
    })

    it('fills in retention, hook and ID', () => {
      const site = compile(ACME, SITE).catalog.websites.get('site')
      expect(site).to.deep.include({
        id: 'site',
        displayName: 'site',
        retentionDays: 395,
        hookScan: 'Notice',
        crossOrigin: 'Carry',
        ignoredReferrers: [],
        selectionPolicy: 'latest_visit',
        installationsPerVisitWarning: 10,
        pages: [],
      })
      expect(compile(ACME, website('site', { hook: {} })).catalog.websites.get('site')?.hookScan).to.equal('Notice')
    })

    it('keeps the hosts that are no source, and whether landings are carried', () => {
      const { catalog, problems } = compile(
        ACME,
        website('site', { ignoredReferrers: ['accounts.google.com', '127.0.0.1'], crossOrigin: 'Disabled' }),
      )
      expect(problems).to.deep.equal([])
      expect(catalog.websites.get('site')).to.deep.include({
        ignoredReferrers: ['accounts.google.com', '127.0.0.1'],
        crossOrigin: 'Disabled',
      })
    })

    const HOSTS_ALONE = 'must be a host such as accounts.google.com: lower case, without scheme, port and path'
    const WRONG: readonly (readonly [string, Record<string, unknown>, string])[] = [
      ...[
        'https://accounts.google.com',
        'Accounts.google.com',
        'a.dev:443',
        'a.dev/path',
        '*.a.dev',
        '.a.dev',
        'münchen.de',
      ].map(
        (host) =>
          [`${host} as a host`, { ignoredReferrers: [host] }, `spec.ignoredReferrers.0: ${HOSTS_ALONE}`] as const,
      ),
      [
        'too many hosts',
        { ignoredReferrers: Array.from({ length: LIMITS.ignoredReferrers + 1 }, (_, index) => `h${index}.dev`) },
        'spec.ignoredReferrers: has 51 entries, more than 50',
      ],
      [
        'crossing that YAML 1.1 made a boolean',
        { crossOrigin: false },
        'spec.crossOrigin: must be one of Carry, Disabled',
      ],
      ['a short retention', { retentionDays: 12 }, 'spec.retentionDays: 12 is below 30'],
      ['a long retention', { retentionDays: 1_096 }, 'spec.retentionDays: 1096 is above 1095'],
      ['retention as a text', { retentionDays: '30' }, 'spec.retentionDays: must be a whole number: remove the quotes'],
      ['an ID in capitals', { id: 'Acme' }, 'spec.id: may have only lower-case letters'],
      ['a long ID', { id: 'a'.repeat(64) }, 'spec.id: has 64 characters, more than 63'],
      ['a long name', { displayName: 'n'.repeat(81) }, 'spec.displayName: has 81 characters, more than 80'],
      ['a name with a line break', { displayName: 'a\nb' }, 'spec.displayName: must not have line breaks'],
      ['an unknown provider', { providers: ['ga5'] }, 'spec.providers.0: "ga5" is not one of ga4'],
      ['a provider twice', { providers: ['ga4', 'ga4'] }, 'spec.providers: has an entry twice'],
      ['a misspelt field', { retentionDay: 30 }, 'spec.retentionDay: is not a field here; did you mean retentionDays?'],
      [
        'a scan that YAML 1.1 made a boolean',
        { hook: { scan: false } },
        'spec.hook.scan: must be one of Notice, Silent, Disabled',
      ],
      ['plain http', { primaryOrigin: 'http://acme.dev' }, 'spec.primaryOrigin: must begin with https://'],
      [
        'a domain with a path',
        { additionalDomains: ['https://a.dev/x'] },
        'spec.additionalDomains.0: is not an origin',
      ],
      [
        'a page on plain http',
        { pages: [{ id: 'a', url: 'http://a.dev/' }] },
        'spec.pages.0.url: must begin with https://',
      ],
      ['a page with a query', { pages: [{ id: 'a', url: 'https://a.dev/?x' }] }, 'spec.pages.0.url: has a query'],
      [
        'two pages of one ID',
        { pages: [{ id: 'a', url: 'https://a.dev/' }, { id: 'a', url: 'https://a.dev/b' }] }, // prettier-ignore
        'spec.pages.1.id: is the ID of another page',
      ],
      [
        'more than 30 pages',
        { pages: many(31, (index) => ({ id: `p${index}`, url: `https://a.dev/${index}` })) },
        'spec.pages: has 31 entries, more than 30',
      ],
    ]
    for (const [what, spec, message] of WRONG) {
      it(`refuses ${what}`, () => {
        const result = compile(ACME, website('site', spec))
        expect(result.problems).to.have.length(1)
        expect(result.problems[0]?.message).to.contain(message)
        expect(result.problems[0]?.object).to.equal('Website/site')
        expect(isBlocking(result.problems[0] ?? { reason: '' })).to.equal(true)
        expect(result.catalog.websites.size).to.equal(0)
      })
    }

    it('accepts names of 80 characters, counted as people count them', () => {
      expect(compile(ACME, website('site', { displayName: '🦊'.repeat(80) })).problems).to.deep.equal([])
      expect(compile(ACME, website('site', { displayName: '🦊'.repeat(81) })).problems).to.have.length(1)
    })

    it('requires an ID if the name of the object cannot be one', () => {
      const dotted = compile(ACME, website('acme.dev', { primaryOrigin: 'https://acme.dev' }))
      expect(findings(dotted)[0]).to.contain('Website/acme.dev InvalidField spec.id: is missing')
      const named = compile(ACME, website('acme.dev', { id: 'acme-dev', primaryOrigin: 'https://acme.dev' }))
      expect([...named.catalog.websites.keys()]).to.deep.equal(['acme-dev'])
    })

    it('leaves an ID with the older of two websites, in the whole installation', () => {
      const result = compile(
        ACME,
        organization('beta', {}, { namespace: 'team' }),
        website('one', { id: 'shop' }),
        website('two', { id: 'shop', organizationRef: { name: 'beta' } }, { namespace: 'team' }),
      )
      expect(result.catalog.websites.get('shop')?.displayName).to.equal('one')
      expect(result.problems).to.have.length(1)
      expect(result.problems[0]).to.include({ object: 'Website/team/two', reason: 'IdTaken', field: '/spec/id' })
      expect(result.problems[0]?.message).not.to.contain('one')
    })

    it('share an origin within a namespace, and loopback with everybody; otherwise the older one keeps it', () => {
      const own = { primaryOrigin: 'https://shared.example' }
      const foreign = { organizationRef: { name: 'other' } }
      const world = [ACME, organization('other'), website('one', own), website('two', { ...own, ...foreign })]
      expect(compile(...world).problems).to.deep.equal([])
      const local = { primaryOrigin: 'http://localhost:3000' }
      const rivals = [website('mine', local), website('theirs', { ...foreign, ...local })]
      const taken = compile(
        ...world,
        ...rivals,
        organization('guest', {}, { namespace: 'team' }),
        website(
          'rival',
          { organizationRef: { name: 'guest' }, additionalDomains: ['https://shared.example'] },
          { namespace: 'team' },
        ),
      )
      expect(taken.problems.map(({ object, reason, field }) => `${object} ${reason} ${field}`)).to.deep.equal([
        'Website/team/rival OriginTaken /spec/additionalDomains',
      ])
      expect([...taken.catalog.websites.keys()]).to.have.members(['one', 'two', 'mine', 'theirs'])
    })

    it('share loopback origins with every namespace', () => {
      const guest = organization('guest', {}, { namespace: 'team' })
      for (const primaryOrigin of ['http://localhost:3000', 'http://app.localhost', 'http://127.0.0.1:8081']) {
        const theirs = website('theirs', { primaryOrigin, organizationRef: { name: 'guest' } }, { namespace: 'team' })
        const { catalog, problems } = compile(ACME, guest, website('mine', { primaryOrigin }), theirs)
        expect(problems, primaryOrigin).to.deep.equal([])
        expect([...catalog.websites.keys()], primaryOrigin).to.have.members(['mine', 'theirs'])
      }
    })

    const inTeam = { namespace: 'team' }
    const guest = organization('guest', {}, inTeam)
    const rival = (name: string, spec: object) => website(name, { organizationRef: { name: 'guest' }, ...spec }, inTeam)
    const page = (url: string, id = 'p') => ({ id, url })
    const warned = (result: ReturnType<typeof compile>) =>
      result.problems.map(({ object, reason, field, isWarning }) => `${object} ${reason} ${field} ${String(isWarning)}`)

    it('own the origins of their pages as they own their domains, domains before pages', () => {
      const owner = website('owner', { primaryOrigin: 'https://owned.example' })
      const thief = rival('thief', {
        pages: [page('https://owned.example/install'), page('https://own.example/', 'q')],
      })
      for (const world of [
        [ACME, guest, owner, thief],
        [ACME, guest, thief, owner],
      ]) {
        const result = compile(...world)
        expect(warned(result)).to.deep.equal(['Website/team/thief OriginTaken /spec/pages/0/url true'])
        const { origins, pages } = result.catalog.websites.get('thief') ?? {}
        expect([...(origins ?? [])]).to.deep.equal(['https://thief.example', 'https://own.example'])
        expect(pages?.map(({ id }) => id)).to.deep.equal(['q'])
        expect(result.catalog.websites.get('owner')?.origins).to.include('https://owned.example')
      }
    })

    it('leave the origin of a page with the older of two websites, and share it within a namespace', () => {
      const pages = [page('https://docs.example/install')]
      const result = compile(
        ACME,
        guest,
        website('one', { pages }),
        rival('two', { pages }),
        website('three', { pages }),
      )
      expect(warned(result)).to.deep.equal(['Website/team/two OriginTaken /spec/pages/0/url true'])
      expect(result.catalog.websites.get('three')?.origins).to.include('https://docs.example')
    })

    it("count the origins of pages toward the plan's domains, and leave out only the pages beyond it", () => {
      const most = PLAN_LIMITS.Standard.domainsPerWebsite
      const pages = many(most + 1, (index) => page(`https://p${index}.example/a`, `p${index}`))
      const twice = page('https://p0.example/b', 'again')
      const acme = organization('acme', { plan: 'Standard' })
      const result = compile(acme, website('site', { pages: [...pages, twice] }))
      expect(warned(result)).to.deep.equal([
        `Website/site PlanLimit /spec/pages/${most - 1}/url true`,
        `Website/site PlanLimit /spec/pages/${most}/url true`,
      ])
      expect(result.catalog.websites.get('site')?.origins.size).to.equal(most)
      expect(result.catalog.websites.get('site')?.pages.map(({ id }) => id)).to.include('again')
      expect(warned(compile(acme, website('site', { pages: pages.slice(0, most - 1) })))).to.deep.equal([])
    })

    it('leave out the last pages of a list that is too long for the catalog, and stay in force', () => {
      const path = 'x'.repeat(8_000)
      const pages = many(30, (index) => page(`https://site.example/${path}${index}`, `p${index}`))
      const result = compile(ACME, website('site', { pages }))
      const kept = result.catalog.websites.get('site')?.pages ?? []
      expect(kept.length).to.be.within(2, 8)
      expect(result.problems).to.have.length(30 - kept.length)
      expect(result.problems.every(({ reason, isWarning }) => reason === 'TooLarge' && isWarning)).to.equal(true)
    })

    it('does not let a refused website hold an ID', () => {
      const result = compile(ACME, website('one', { id: 'shop', retentionDays: 1 }), website('two', { id: 'shop' }))
      expect(result.catalog.websites.get('shop')?.displayName).to.equal('two')
    })
  })

  describe('destinations', () => {
    const compileOne = (spec: Record<string, unknown>, ...more: unknown[]) =>
      compile(ACME, SITE, KEYS, ...more, ga4Destination('out', spec))

    it('fills in mode, event types and window, and takes the credential from its Secret', () => {
      const { catalog, credentials, problems } = compileOne({})
      expect(problems).to.deep.equal([])
      const site = catalog.websites.get('site')
      expect(site?.destinations).to.deep.equal([
        {
          id: 'out',
          website: 'site',
          organization: 'acme',
          namespace: 'default',
          displayName: 'out',
          provider: 'ga4',
          mode: 'Validate',
          eventTypes: ['install_started', 'install_completed', 'first_run'],
          reconstructionWindowHours: 72,
          ci: 'Exclude',
          repeats: 'Exclude',
          settings: { measurementId: 'G-ABC1234567' },
        },
      ])
      expect(site?.measurementIds).to.deep.equal(['G-ABC1234567'])
      expect(credentials.get('acme/site/out')).to.deep.equal({ apiSecret: 'ga4-secret' })
    })

    it('never puts a credential or a reference to one into the catalog', () => {
      const { catalog } = compileOne({})
      const shown = JSON.stringify([...catalog.websites.values()])
      expect(shown).not.to.contain('ga4-secret')
      expect(shown).not.to.contain('apiSecretRef')
    })

    const OTHERS = {
      google_ads: {
        googleAds: { customerId: '123', conversionActionId: '456', credentialsRef: { name: 'google' } },
        secret: { 'client-id': 'a', 'client-secret': 'b', 'refresh-token': 'c' },
        credentials: { clientId: 'a', clientSecret: 'b', refreshToken: 'c' },
        settings: { customerId: '123', conversionActionId: '456' },
      },
      meta: {
        meta: { pixelId: '123', accessTokenRef: { name: 'google', key: 'k' } },
        secret: { k: 'v' },
        credentials: { accessToken: 'v' },
        settings: { pixelId: '123', eventName: 'CLIInstall' },
      },
      tiktok: {
        tiktok: { pixelCode: 'C1', accessTokenRef: { name: 'google', key: 'k' } },
        secret: { k: 'v' },
        credentials: { accessToken: 'v' },
        settings: { pixelCode: 'C1', eventName: 'Download' },
      },
      x: {
        x: { pixelId: 'o87ne', eventId: 'tw-o87ne-abc12', pixelTokenRef: { name: 'google', key: 'k' } },
        secret: { k: 'v' },
        credentials: { pixelToken: 'v' },
        settings: { pixelId: 'o87ne', eventId: 'tw-o87ne-abc12' },
      },
    } as const
    for (const [provider, { secret: values, credentials, settings, ...block }] of Object.entries(OTHERS)) {
      it(`accepts a destination of ${provider}, by default for what begins an installation`, () => {
        const out = resource('Destination', 'out', { websiteRef: { name: 'site' }, provider, ...block })
        const result = compile(ACME, SITE, secret('google', values), out)
        expect(findings(result)).to.deep.equal([])
        const destination = result.catalog.websites.get('site')?.destinations[0]
        expect(destination).to.deep.include({
          provider,
          eventTypes: ['install_completed', 'first_run'],
          repeats: 'Exclude',
          settings,
        })
        expect(result.credentials.get('acme/site/out')).to.deep.equal(credentials)
      })
    }

    it('accepts a Google service account in place of a refresh token', () => {
      const spec = { websiteRef: { name: 'site' }, provider: 'google_ads', googleAds: OTHERS.google_ads.googleAds }
      const account = secret('google', { 'service-account.json': '{}' })
      const result = compile(ACME, SITE, account, resource('Destination', 'out', spec))
      expect(result.credentials.get('acme/site/out')).to.deep.equal({ serviceAccountJson: '{}' })
      const half = compile(ACME, SITE, secret('google', { 'client-id': 'a' }), resource('Destination', 'out', spec))
      expect(half.problems[0]).to.include({ reason: 'RefNotFound', field: '/spec/googleAds/credentialsRef' })
    })

    it('reads credentials from base64 as well, and a text wins over it', () => {
      const coded = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'coded' }, data: { ga4: 'Z8OpaGVpbQ==' } }
      const ga4 = { measurementId: 'G-1', apiSecretRef: { name: 'coded', key: 'ga4' } }
      const first = compile(ACME, SITE, coded, ga4Destination('out', { ga4 }))
      expect(first.credentials.get('acme/site/out')).to.deep.equal({ apiSecret: 'géheim' })
      const both = compile(ACME, SITE, { ...coded, stringData: { ga4: 'plain' } }, ga4Destination('out', { ga4 }))
      expect(both.credentials.get('acme/site/out')).to.deep.equal({ apiSecret: 'plain' })
      const broken = compile(ACME, { ...coded, data: { ga4: '***' } })
      expect(broken.problems[0]).to.include({ object: 'Secret/coded', reason: 'InvalidField', field: '/data/ga4' })
    })

    it('keeps measurement IDs in the order of creation, without repeats', () => {
      const ga4 = (measurementId: string) => ({ ga4: { measurementId, apiSecretRef: { name: 'keys', key: 'ga4' } } })
      const made = ['G-2', 'G-1', 'G-2'].map((id, index) => ga4Destination(`d${index}`, ga4(id)))
      const site = compile(ACME, SITE, KEYS, ...made).catalog.websites.get('site')
      expect(site?.destinations.map(({ id }) => id)).to.deep.equal(['d0', 'd1', 'd2'])
      expect(site?.measurementIds).to.deep.equal(['G-2', 'G-1'])
    })

    const ga4 = { measurementId: 'G-1', apiSecretRef: { name: 'keys', key: 'ga4' } }
    const WRONG: readonly (readonly [string, Record<string, unknown>, string, string])[] = [
      ['no block', { ga4: null }, 'InvalidField', 'spec.ga4: must be a map'],
      [
        'a wrong measurement ID',
        { ga4: { ...ga4, measurementId: 'UA-1' } },
        'InvalidField',
        'spec.ga4.measurementId: must be G-',
      ],
      [
        "another provider's block",
        { x: OTHERS.x.x },
        'ProviderMismatch',
        'spec.x: belongs to another provider than ga4',
      ],
      [
        'a secret written down',
        { ga4: { ...ga4, apiSecret: 'hunter2' } },
        'UnknownField',
        'did you mean apiSecretRef?',
      ],
      ['no secret', { ga4: { measurementId: 'G-1' } }, 'MissingField', 'spec.ga4.apiSecretRef: is missing'],
      [
        'an empty value in the Secret',
        { ga4: { ...ga4, apiSecretRef: { name: 'keys', key: 'empty' } } },
        'RefNotFound',
        'Secret keys has no value for empty',
      ],
      [
        'a missing Secret',
        { ga4: { ...ga4, apiSecretRef: { name: 'nope', key: 'k' } } },
        'RefNotFound',
        'there is no Secret nope',
      ],
      [
        'a missing key',
        { ga4: { ...ga4, apiSecretRef: { name: 'keys', key: 'k' } } },
        'RefNotFound',
        'has no value for k',
      ],
      ['no hours', { reconstructionWindowHours: 0 }, 'InvalidField', 'spec.reconstructionWindowHours: 0 is below 1'],
      ['too many hours', { reconstructionWindowHours: 169 }, 'InvalidField', '169 is above 168'],
      ['half an hour', { reconstructionWindowHours: 1.5 }, 'InvalidField', 'must be a whole number, not 1.5'],
      ['no event type', { eventTypes: [] }, 'InvalidField', 'needs at least 1 entry'],
      ['an unknown event type', { eventTypes: ['install'] }, 'InvalidField', '"install" is not one of'],
      [
        'an unknown mode',
        { mode: 'live' },
        'InvalidField',
        '"live" is not one of Validate, Live, Paused; did you mean Live?',
      ],
      ['an unknown website', { websiteRef: { name: 'sita' } }, 'RefNotFound', 'there is no Website sita'],
    ]
    for (const [what, spec, reason, message] of WRONG) {
      it(`refuses ${what}`, () => {
        const result = compileOne(spec)
        expect(result.problems).to.have.length(1)
        expect(result.problems[0]).to.include({ object: 'Destination/out', reason })
        expect(result.problems[0]?.message).to.contain(message)
        expect(JSON.stringify(result.problems)).not.to.contain('hunter2')
        expect(result.catalog.websites.get('site')?.destinations).to.deep.equal([])
        expect(result.credentials.size).to.equal(0)
      })
    }

    it('requires the block of its provider', () => {
      const spec = { websiteRef: { name: 'site' }, provider: 'ga4' }
      expect(findings(compile(ACME, SITE, resource('Destination', 'out', spec)))).to.deep.equal([
        'Destination/out ProviderMismatch spec: the provider ga4 needs the block ga4',
      ])
    })

    it("lets the provider's own module refuse settings that fit the schema", () => {
      const objects = [ACME, SITE, KEYS, ga4Destination('out')].map((value) => ({ value, locate: () => '' }))
      const checkProviderSettings = () => [{ field: '/measurementId', message: 'is the one of the example' }]
      const result = compileCatalog({ objects, sha256Hex: (text) => text, rules: { checkProviderSettings } })
      expect(result.problems[0]).to.include({ field: '/spec/ga4/measurementId', reason: 'InvalidField' })
    })
  })

  describe('references', () => {
    it('use no Secret that is reserved, by whatever sign', () => {
      const types = ['service-account-token', 'dockerconfigjson', 'dockercfg', 'tls'].map(
        (name) => `kubernetes.io/${name}`,
      )
      const typed = [...types, 'bootstrap.kubernetes.io/token', 'helm.sh/release.v1'].map((type) => ({ ...KEYS, type }))
      const labelled = (labels: object) => secret('keys', { ga4: 'x' }, { labels })
      const reserved = [
        ...typed,
        labelled({ 'whence.dev/reserved': 'true' }),
        labelled({ 'whence.dev/catalog': 'whence' }),
      ]
      for (const keys of reserved) {
        const result = compile(ACME, SITE, keys, ga4Destination('out'))
        expect(result.problems.map(({ reason, field }) => `${reason} ${field}`)).to.deep.equal([
          'SecretReserved /spec/ga4/apiSecretRef/name',
        ])
        expect(result.credentials.size).to.equal(0)
      }
      expect(compile(ACME, SITE, labelled({ team: 'a' }), ga4Destination('out')).problems).to.deep.equal([])
      expect(compile(ACME, SITE, { ...KEYS, type: 'Opaque' }, ga4Destination('out')).problems).to.deep.equal([])
      const objects = [ACME, SITE, KEYS, ga4Destination('out')].map((value) => ({ value, locate: () => '' }))
      const ownSecrets = new Set(['Secret/default/keys'])
      const own = compileCatalog({ objects, rules: { ownSecrets }, sha256Hex: (text) => text })
      expect(own.problems.map(({ reason }) => reason)).to.deep.equal(['SecretReserved'])
    })

    it('use no value that is larger than a credential may be', () => {
      const most = LIMITS.credentialBytes
      const result = (value: string) => compile(ACME, SITE, secret('keys', { ga4: value }), ga4Destination('out'))
      expect(result('x'.repeat(most)).problems).to.deep.equal([])
      const over = result(`${'x'.repeat(most - 1)}ü`)
      expect(over.problems.map(({ reason }) => reason)).to.deep.equal(['TooLarge'])
      expect(over.catalog.websites.get('site')?.destinations).to.deep.equal([])
    })

    it('stay within a namespace', () => {
      const result = compile(ACME, website('site', {}, { namespace: 'team' }))
      expect(findings(result)).to.deep.equal([
        'Website/team/site RefNotFound spec.organizationRef.name: there is no Organization acme in namespace team',
      ])
    })

    it('reach another namespace if both sides allow it, and count toward the plan of the one that is referred to', () => {
      const allowedNamespaces = { from: 'Selector', selector: { matchLabels: { team: 'shop' } } }
      const elsewhere = { organizationRef: { name: 'acme', namespace: 'default' } }
      const result = compile(
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { team: 'shop' } } },
        organization('acme', { plan: 'Standard', allowedNamespaces }),
        installPath('cli', elsewhere, { namespace: 'shop' }),
        website('site', { ...elsewhere, allowedNamespaces: { from: 'All' } }, { namespace: 'shop' }),
        secret('keys', { ga4: 'of-the-agency' }, { namespace: 'agency' }),
        ga4Destination('out', { websiteRef: { name: 'site', namespace: 'shop' } }, { namespace: 'agency' }),
      )
      expect(findings(result)).to.deep.equal([])
      const site = result.catalog.websites.get('site')
      expect(site?.organization).to.include({ id: 'acme', firstInstallPath: 'cli' })
      expect(site?.destinations.map(({ id }) => id)).to.deep.equal(['out'])
      expect(result.credentials.get('acme/site/out')).to.deep.equal({ apiSecret: 'of-the-agency' })
    })

    it('are refused in the same words, whether the object forbids them, is missing or is itself refused', () => {
      const ref = { organizationRef: { name: 'acme', namespace: 'default' } }
      const stranger = website('site', ref, { namespace: 'shop' })
      const refusals = [
        [organization('acme')],
        [organization('acme', { allowedNamespaces: { from: 'Same' } })],
        [organization('acme', { allowedNamespaces: { from: 'Selector', selector: { matchLabels: { team: 'x' } } } })],
        [organization('acme', { plan: 'Gold', allowedNamespaces: { from: 'All' } })],
        [],
      ].map((objects) => findings(compile(...objects, stranger)).filter((text) => text.startsWith('Website')))
      for (const refusal of refusals)
        expect(refusal).to.deep.equal([
          'Website/shop/site RefNotPermitted spec.organizationRef.namespace: namespace default has no Organization acme that allows references from namespace shop',
        ])
    })

    it('report that an object of another namespace is refused, if it admits them', () => {
      const allowedNamespaces = { from: 'All' }
      const one = organization('acme', { plan: 'Free' })
      const full = website('full', { allowedNamespaces })
      const destination = ga4Destination(
        'out',
        { websiteRef: { name: 'full', namespace: 'default' } },
        { namespace: 'shop' },
      )
      const result = compile(one, website('first'), full, destination)
      expect(result.problems.map(({ object, reason }) => `${object} ${reason}`)).to.deep.equal([
        'Website/full PlanLimit',
        'Destination/shop/out RefNotAccepted',
      ])
    })

    it('let the older one of two destinations keep its name, whatever their namespaces', () => {
      const ref = { websiteRef: { name: 'site', namespace: 'default' } }
      const keys = (namespace: string) => secret('keys', { ga4: namespace }, { namespace })
      const result = compile(
        ...[ACME, website('site', { allowedNamespaces: { from: 'All' } }), keys('a'), keys('b')],
        ...[ga4Destination('out', ref, { namespace: 'a' }), ga4Destination('out', ref, { namespace: 'b' })],
      )
      expect(findings(result)).to.deep.equal([
        'Destination/b/out IdTaken metadata.name: an older destination of the website has this name',
      ])
      expect(result.credentials.get('acme/site/out')).to.deep.equal({ apiSecret: 'a' })
    })

    it('match labels as Kubernetes does', () => {
      const requirement = (key: string, operator: string, ...values: string[]) => ({
        matchExpressions: [{ key, operator, ...(values.length === 0 ? {} : { values }) }],
      })
      const cases: readonly (readonly [object, boolean])[] = [
        [{}, true],
        [{ matchLabels: { team: 'shop', tier: 'one' } }, true],
        [{ matchLabels: { team: 'shop', tier: 'two' } }, false],
        [{ matchLabels: { 'kubernetes.io/metadata.name': 'shop' } }, true],
        [requirement('team', 'In', 'a', 'shop'), true],
        [requirement('team', 'In', 'a'), false],
        [requirement('other', 'In', 'a'), false],
        [requirement('team', 'NotIn', 'shop'), false],
        [requirement('other', 'NotIn', 'shop'), true],
        [requirement('team', 'Exists'), true],
        [requirement('other', 'Exists'), false],
        [requirement('other', 'DoesNotExist'), true],
        [{ ...requirement('team', 'Exists'), matchLabels: { team: 'x' } }, false],
      ]
      for (const [selector, isIn] of cases) {
        const result = compile(
          { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { team: 'shop', tier: 'one' } } },
          organization('acme', { allowedNamespaces: { from: 'Selector', selector } }),
          website('site', { organizationRef: { name: 'acme', namespace: 'default' } }, { namespace: 'shop' }),
        )
        expect(result.catalog.websites.has('site'), JSON.stringify(selector)).to.equal(isIn)
      }
    })

    it('to a refused object say so, and do not call it missing', () => {
      const result = compile(organization('acme', { plan: 'Gold' }), SITE, installPath('cli'))
      const reasons = result.problems.map(({ object, reason }) => `${object} ${reason}`)
      expect(reasons).to.have.members([
        'Organization/acme InvalidField',
        'Website/site RefNotAccepted',
        'InstallPath/cli RefNotAccepted',
      ])
    })

    it('may come before what they refer to', () => {
      const result = compile(ga4Destination('out'), SITE, KEYS, ACME)
      expect(findings(result)).to.deep.equal([])
      expect(result.catalog.websites.get('site')?.destinations).to.have.length(1)
    })
  })

  describe("the plan's limits", () => {
    for (const plan of PLANS) {
      const limits = PLAN_LIMITS[plan]
      const acme = organization('acme', { plan })

      it(`${plan} has room for ${limits.websites} websites, and the older ones keep their place`, () => {
        const result = compile(acme, ...many(limits.websites + 1, (index) => website(`w${index}`)))
        expect([...result.catalog.websites.keys()]).to.deep.equal(many(limits.websites, (index) => `w${index}`))
        expect(result.problems).to.have.length(1)
        expect(result.problems[0]).to.include({ object: `Website/w${limits.websites}`, reason: 'PlanLimit' })
      })

      it(`${plan} has room for ${limits.installPaths} install paths`, () => {
        const result = compile(acme, ...many(limits.installPaths + 1, (index) => installPath(`p${index}`)))
        expect(result.catalog.organizations.get('acme')?.installPaths).to.have.length(limits.installPaths)
        expect(result.problems).to.have.length(1)
        expect(result.problems[0]).to.include({ object: `InstallPath/p${limits.installPaths}`, reason: 'PlanLimit' })
      })

      it(`${plan} has room for ${limits.domainsPerWebsite} domains of a website, the primary one included`, () => {
        const domains = (count: number) => many(count, (index) => `https://d${index}.example`)
        const fits = compile(acme, website('site', { additionalDomains: domains(limits.domainsPerWebsite - 1) }))
        expect(findings(fits)).to.deep.equal([])
        const over = compile(acme, website('site', { additionalDomains: domains(limits.domainsPerWebsite) }))
        expect(over.problems[0]).to.include({ reason: 'PlanLimit', field: '/spec/additionalDomains' })
        expect(over.catalog.websites.size).to.equal(0)
      })

      it(`${plan} has room for ${limits.destinationsPerWebsite} destinations of a website`, () => {
        const made = many(limits.destinationsPerWebsite + 1, (index) => ga4Destination(`d${index}`))
        const result = compile(acme, SITE, KEYS, ...made)
        expect(result.catalog.websites.get('site')?.destinations).to.have.length(limits.destinationsPerWebsite)
        const reason = limits.destinationsPerWebsite === 0 ? 'PlanRequired' : 'PlanLimit'
        expect(result.problems.map((problem) => problem.reason)).to.deep.equal([reason])
      })

      it(`${plan} has room for ${limits.logStreams} log streams`, () => {
        const result = compile(acme, KEYS, ...many(limits.logStreams + 1, (index) => logStream(`s${index}`)))
        const reason = limits.logStreams === 0 ? 'PlanRequired' : 'PlanLimit'
        expect(result.problems.map((problem) => problem.reason)).to.deep.equal([reason])
      })
    }

    it('name the owner of each object without room, if its references tell', () => {
      const mine = organization('mine', { plan: 'Free' })
      const result = compile(
        mine,
        website('first', { organizationRef: { name: 'mine' } }),
        website('second', { organizationRef: { name: 'mine' } }),
        installPath('p0', { organizationRef: { name: 'mine' } }),
        installPath('p1', { organizationRef: { name: 'mine' } }),
        website('lost', { organizationRef: { name: 'nobody' } }),
        ga4Destination('far', { websiteRef: { name: 'first' } }),
        KEYS,
      )
      const owners = result.problems.map(({ object, reason, organization: owner }) => [object, reason, owner])
      expect(owners).to.have.deep.members([
        ['Website/second', 'PlanLimit', 'mine'],
        ['InstallPath/p1', 'PlanLimit', 'mine'],
        ['Destination/far', 'PlanRequired', 'mine'],
        ['Website/lost', 'RefNotFound', undefined],
      ])
    })

    it('allow log streams only addresses that may be called, and count no others', () => {
      const acme = organization('acme', { plan: 'Enterprise' })
      const toBucket = (endpoint: string) => {
        const s3 = { endpoint, region: 'eu', bucket: 'logs', credentialsRef: { name: 'keys' } }
        const stream = resource('LogStream', 'bucket', { organizationRef: { name: 'acme' }, s3 })
        return compile(acme, KEYS, stream).problems.map(({ field, reason }) => [field, reason])
      }
      expect(toBucket('https://s3.eu-central-1.amazonaws.com')).to.deep.equal([])
      for (const address of ['http://s3.acme.dev', 'https://0x7f.1', 'https://[::ffff:10.0.0.1]', 'https://minio.svc'])
        expect(toBucket(address), address).to.deep.equal([['/spec/s3/endpoint', 'InvalidField']])
      const inner = { url: 'https://169.254.169.254/in', secretRef: { name: 'keys', key: 'hook' } }
      const { problems } = compile(acme, KEYS, logStream('hook', { webhook: inner }))
      expect(problems.map(({ field }) => field)).to.deep.equal(['/spec/webhook/url'])
    })

    it('are counted for each organisation and each website by itself', () => {
      const result = compile(
        organization('acme', { plan: 'Free' }),
        organization('beta', { plan: 'Free' }),
        website('one'),
        website('two', { organizationRef: { name: 'beta' } }),
      )
      expect(findings(result)).to.deep.equal([])
      expect(result.catalog.websites.size).to.equal(2)
    })

    it('leave out what belongs to a website that has no room, without blocking the rest', () => {
      const result = compile(
        organization('acme', { plan: 'Standard' }),
        ...many(4, (index) => website(`w${index}`)),
        KEYS,
        ga4Destination('out', { websiteRef: { name: 'w3' } }),
      )
      expect(result.problems.map(({ reason }) => reason)).to.deep.equal(['PlanLimit', 'RefNotAccepted'])
      expect(result.problems.some(isBlocking)).to.equal(false)
    })

    it('say what the plan allows, and which plan whoever runs the service can set', () => {
      const messageOf = (plan: Plan, ...objects: readonly Manifest[]): string | undefined =>
        compile(organization('acme', { plan }), ...objects).problems[0]?.message
      const paths = (count: number) => Array.from({ length: count }, (_, place) => installPath(`p${place}`))
      const more = (plan: Plan): string => `; whoever runs this service can set \`plan: ${plan}\` in the Organization`
      expect(messageOf('Free', website('one'), website('two'))).to.equal(
        `the plan Free allows 1 website${more('Standard')}`,
      )
      expect(messageOf('Free', ...paths(2))).to.equal(`the plan Free allows 1 install path${more('Enterprise')}`)
      expect(messageOf('Standard', ...paths(2))).to.equal(
        `the plan Standard allows 1 install path${more('Enterprise')}`,
      )
      expect(messageOf('Enterprise', ...paths(11))).to.equal(
        'the plan Enterprise allows 10 install paths, and no plan allows more',
      )
    })
  })

  describe('objects', () => {
    it('of foreign groups are ignored', () => {
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } }
      const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'x' }, spec: { replicas: 1 } }
      expect(compile(namespace, deployment).problems).to.deep.equal([])
    })

    const STRANGE: readonly (readonly [string, unknown, string])[] = [
      [
        'a misspelt kind',
        { ...ACME, kind: 'Organisation' },
        'Organisation/acme UnknownKind kind: is not a kind of whence.dev; did you mean Organization?',
      ],
      [
        'another version',
        { ...ACME, apiVersion: 'whence.dev/v1' },
        'Organization/acme UnknownKind apiVersion: must be whence.dev/v1alpha1',
      ],
      [
        'no version',
        { ...ACME, apiVersion: undefined },
        'Organization/acme UnknownKind apiVersion: must be whence.dev/v1alpha1',
      ],
      ['nothing at all', {}, 'Object/ UnknownKind kind: is not a kind of whence.dev; there are'],
      ['a text', 'hello', 'Object/ UnknownKind'],
      ['null', null, 'Object/ UnknownKind'],
      [
        'no metadata',
        { ...ACME, metadata: null },
        'Organization/ InvalidField metadata: must be a map of fields, but nothing',
      ],
      ['no name', { ...ACME, metadata: {} }, 'Organization/ MissingField metadata.name: is missing'],
      ['a bad name', { ...ACME, metadata: { name: 'A B' } }, 'metadata.name: may have only lower-case letters'],
      [
        'no spec',
        { apiVersion: 'whence.dev/v1alpha1', kind: 'Website', metadata: { name: 'x' } },
        'Website/x MissingField spec: is missing',
      ],
      [
        'a field beside the spec',
        { ...ACME, sepc: {} },
        'Organization/acme UnknownField sepc: is not a field here; did you mean spec?',
      ],
      [
        'no plan',
        organizationWithout('plan'),
        'MissingField spec.plan: is missing; choose one of Free, Standard, Enterprise',
      ],
      [
        'a Secret with a number',
        secret('s', { pin: 1234 }),
        'Secret/s InvalidField stringData.pin: must be a text: put it in quotes',
      ],
    ]
    for (const [what, object, finding] of STRANGE) {
      it(`with ${what} are reported`, () => {
        const result = compile(object)
        expect(result.problems).to.have.length(1)
        expect(findings(result)[0]).to.contain(finding)
      })
    }

    it('of one name and kind count once, the older one', () => {
      const result = compile(organization('acme', { plan: 'Free' }), organization('acme', { plan: 'Standard' }))
      expect(result.problems.map(({ reason }) => reason)).to.deep.equal(['DuplicateObject'])
      expect(result.catalog.organizations.get('acme')?.plan).to.equal('Free')
    })

    it('of which only the name is in memory are too large, and what refers to them says so within their tenant', () => {
      const why = 'no room'
      const source = (value: unknown) => ({ value, locate: () => '' })
      const large = (value: unknown) => ({ ...source(value), tooLarge: why })
      const tenant = 'one'
      const objects = [
        source(ACME),
        large(resource('Website', 'site', { tenant })),
        large(secret('keys', {})),
        source(website('other')),
        source(ga4Destination('own', { tenant })),
        source(ga4Destination('strange')),
        source(ga4Destination('keyed', { websiteRef: { name: 'other' } })),
      ]
      const compilation = compileCatalog({ objects, sha256Hex: (text) => text })
      expect(findings(compilation)).to.deep.equal([
        'Website/site TooLarge no room',
        'Destination/own RefNotAccepted spec.websiteRef.name: Website site is itself refused',
        'Destination/strange RefNotFound spec.websiteRef.name: there is no Website site in namespace default',
        'Destination/keyed TooLarge spec.ga4.apiSecretRef.name: Secret keys: no room',
      ])
      expect([...compilation.catalog.websites.keys()]).to.deep.equal(['other'])
    })

    it('that an API server accepted by newer definitions lose what is unknown here, with a warning, and stay', () => {
      const ga4 = { measurementId: 'G-ABC1234567', apiSecretRef: { name: 'keys', key: 'ga4' }, later: 1 }
      const newer = website('site', { later: { a: 1 }, hook: { scan: 'Silent', later: true } })
      const source = (value: unknown) => ({ value, locate: () => '', isAdmitted: true })
      const objects = [ACME, newer, KEYS, ga4Destination('out', { ga4 })].map(source)
      for (const time of ['first', 'second']) {
        const { catalog, problems } = compileCatalog({ objects, sha256Hex: (text) => text })
        expect(
          problems.map(({ field, isWarning }) => `${field} ${String(isWarning)}`),
          time,
        ).to.deep.equal(['/spec/later true', '/spec/hook/later true', '/spec/ga4/later true'])
        expect(catalog.websites.get('site')?.hookScan).to.equal('Silent')
        expect(catalog.websites.get('site')?.destinations[0]?.settings).to.deep.equal({ measurementId: 'G-ABC1234567' })
      }
      const strict = compile(ACME, newer)
      expect(strict.problems.every((problem) => isBlocking(problem))).to.equal(true)
    })

    it('may carry what Kubernetes adds', () => {
      const metadata = { uid: 'x', labels: { a: 'b' }, creationTimestamp: '2026-01-01T00:00:00Z', managedFields: [] }
      const result = compile({ ...organization('acme', {}, metadata), status: { conditions: [] } })
      expect(result.problems).to.deep.equal([])
    })

    it('have problems that name the place of the field', () => {
      const [problem] = compile(ACME, website('site', { retentionDays: 1 })).problems
      expect(problem?.source).to.equal('object 1/spec/retentionDays')
    })

    it('with values of Secrets never show these in a problem', () => {
      const result = compile(secret('keys', { ga4: ['canary-value'] }), ACME, SITE, ga4Destination('out'))
      expect(result.problems.length).to.be.greaterThan(0)
      expect(JSON.stringify(result.problems)).not.to.contain('canary-value')
    })
  })

  describe('log streams', () => {
    it('go to a bucket or to a webhook, not to both and not to none', () => {
      const s3 = { endpoint: 'https://s3.example', region: 'eu', bucket: 'logs', credentialsRef: { name: 'keys' } }
      expect(compile(ACME, KEYS, logStream('s', { s3 })).problems[0]).to.include({
        reason: 'InvalidField',
        field: '/spec',
      })
      expect(
        compile(ACME, KEYS, resource('LogStream', 's', { organizationRef: { name: 'acme' } })).problems,
      ).to.have.length(1)
      expect(findings(compile(ACME, KEYS, logStream('s')))).to.deep.equal([])
    })

    it('say how a bucket is addressed and what it encrypts with', () => {
      const place = { region: 'eu', bucket: 'logs', credentialsRef: { name: 'keys' } }
      const compiled = (s3: Readonly<Record<string, unknown>>) => {
        const spec = { organizationRef: { name: 'acme' }, s3: { endpoint: 'https://s3.acme.dev', ...place, ...s3 } }
        const { catalog, problems } = compile(ACME, KEYS, resource('LogStream', 's', spec))
        return { s3: catalog.organizations.get('acme')?.logStreams[0]?.s3, fields: problems.map(({ field }) => field) }
      }
      expect(compiled({}).s3).to.include({ addressing: 'Path', encryption: null })
      const encryption = { algorithm: 'aws:kms', kmsKeyId: 'arn:aws:kms:eu:1:key/2' }
      expect(compiled({ addressing: 'VirtualHost', encryption }).s3).to.deep.include({
        addressing: 'VirtualHost',
        encryption,
      })
      const addressing = '/spec/s3/addressing'
      const key = '/spec/s3/encryption/kmsKeyId'
      const virtual = { addressing: 'VirtualHost' }
      for (const [wrong, field] of [
        [{ ...virtual, bucket: 'acme.logs' }, addressing],
        [{ ...virtual, endpoint: 'https://93.184.215.14' }, addressing],
        [{ ...virtual, endpoint: 'https://[2606:4700::1111]' }, addressing],
        [{ addressing: 'Host' }, addressing],
        [{ encryption: { algorithm: 'AES256', kmsKeyId: 'k' } }, key],
        [{ encryption: { algorithm: 'aws:kms', kmsKeyId: 'a\r\nb' } }, key],
        [{ encryption: { algorithm: 'rot13' } }, '/spec/s3/encryption/algorithm'],
      ] as const)
        expect(compiled(wrong).fields, JSON.stringify(wrong)).to.deep.equal([field])
    })

    it('require their Secret, as destinations do', () => {
      expect(findings(compile(ACME, logStream('s')))).to.deep.equal([
        'LogStream/s RefNotFound spec.webhook.secretRef.name: there is no Secret keys in namespace default',
      ])
      expect(findings(compile(ACME, secret('keys', { ga4: 'x' }), logStream('s')))).to.deep.equal([
        'LogStream/s RefNotFound spec.webhook.secretRef.key: Secret keys has no value for hook',
      ])
    })
  })

  describe('webhooks', () => {
    it('are ten for each organisation whatever its plan, and the older ones keep their place', () => {
      const many = Array.from({ length: LIMITS.webhooks + 1 }, (_, index) => webhook(`hook-${index}`))
      const { catalog, problems } = compile(ACME, KEYS, ...many)
      expect(problems.map(({ object, reason }) => `${object} ${reason}`)).to.deep.equal(['Webhook/hook-10 TooMany'])
      expect(problems.some(isBlocking)).to.equal(false)
      expect(catalog.organizations.get('acme')?.webhooks).to.have.length(LIMITS.webhooks)
    })

    it('have their secrets beside the catalog and never in it, the previous one until it ends', () => {
      const values = { hook: 'present-secret', before: 'secret-before' }
      const changing = {
        previousSecretRef: { name: 'keys', key: 'before' },
        previousSecretUntil: '2026-11-29T06:00:00Z',
      }
      const { catalog, credentials } = compile(ACME, secret('keys', values), webhook('events', changing))
      const [own] = catalog.organizations.get('acme')?.webhooks ?? []
      expect(own).to.deep.include({ id: 'default/events', previousSecretUntilMs: Date.UTC(2026, 10, 29, 6) })
      expect(credentials.get('Webhook/default/events')).to.deep.equal({
        secret: 'present-secret',
        previous: 'secret-before',
      })
      expect(JSON.stringify([...catalog.organizations])).not.to.match(/secret-before|present-secret/)
    })

    it('of the format Slack have an address that is a secret, beside the catalog and never in it', () => {
      const spec = {
        format: 'Slack',
        urlSecretRef: { name: 'keys', key: 'slack' },
        url: undefined,
        secretRef: undefined,
      }
      const values = { hook: 'x', slack: 'https://hooks.slack.com/services/canary' }
      const { catalog, credentials, problems } = compile(ACME, secret('keys', values), webhook('channel', spec))
      expect(problems).to.deep.equal([])
      expect(catalog.organizations.get('acme')?.webhooks[0]).to.include({ format: 'Slack', url: '' })
      expect(credentials.get('Webhook/default/channel')).to.deep.equal({ url: values.slack })
      expect(JSON.stringify([...catalog.organizations])).not.to.include('canary')
    })

    it('have exactly one of the two forms', () => {
      const urlSecretRef = { name: 'keys', key: 'hook' }
      for (const [changes, field] of [
        [{ url: undefined }, '/spec/url'],
        [{ secretRef: undefined }, '/spec/secretRef'],
        [{ urlSecretRef }, '/spec/urlSecretRef'],
        [{ format: 'Slack', url: undefined, secretRef: undefined }, '/spec/urlSecretRef'],
        [{ format: 'Slack', urlSecretRef, secretRef: undefined }, '/spec/url'],
        [{ format: 'Slack', urlSecretRef, url: undefined }, '/spec/secretRef'],
      ] as const) {
        const { problems } = compile(ACME, KEYS, webhook('w', changes))
        expect(problems[0], JSON.stringify(changes)).to.include({ field, reason: 'InvalidField' })
      }
    })

    it('require their Secrets, a public address and existing types of events', () => {
      expect(findings(compile(ACME, webhook('w')))).to.deep.equal([
        'Webhook/w RefNotFound spec.secretRef.name: there is no Secret keys in namespace default',
      ])
      for (const url of ['https://127.0.0.1/', 'https://10.0.0.1/x', 'http://hooks.example/', 'https://a.local/'])
        expect(compile(ACME, KEYS, webhook('w', { url })).problems[0], url).to.include({ field: '/spec/url' })
      for (const events of [[], ['install.unknown'], ['install.matched', 'install.matched']])
        expect(compile(ACME, KEYS, webhook('w', { events })).catalog.organizations.get('acme')?.webhooks).to.deep.equal(
          [],
        )
    })
  })

  describe('the version', () => {
    it('is the same for equal catalogs and differs with every change', () => {
      const beta = organization('beta')
      const base = [ACME, beta, SITE, website('other', { organizationRef: { name: 'beta' } }), installPath('cli')]
      const version = compile(...base).catalog.version
      expect(compile(...base).catalog.version).to.equal(version)
      expect(compile(...[...base].reverse()).catalog.version).to.equal(version)
      const changes = [
        [...base, installPath('brew')],
        [...base, website('third')],
        base.map((object) => (object === SITE ? website('site', { retentionDays: 30 }) : object)),
      ]
      const versions = changes.map((objects) => compile(...objects).catalog.version)
      expect(new Set([version, ...versions]).size).to.equal(4)
    })
  })

  describe('the table of reasons', () => {
    it('name every kind to whoever wrote one that does not exist', () => {
      for (const kind of RESOURCE_KINDS) expect(PROBLEM_REASONS.UnknownKind.fix).to.include(kind)
    })

    it('contains only reasons of the compiler or the folder, each with meaning and fix', () => {
      for (const [reason, row] of Object.entries(PROBLEM_REASONS)) {
        expect(reason).to.match(/^[A-Z][A-Za-z]+$/)
        expect(row.meaning, reason).to.match(/\.$/)
        expect(row.fix, reason).to.match(/\.$/)
      }
    })

    it('counts an unknown reason as blocking', () => expect(isBlocking({ reason: 'NoSuchReason' })).to.equal(true))
  })

  it('never throws, whatever the objects are', () => {
    const kinds = fc.constantFrom('Organization', 'Website', 'InstallPath', 'Destination', 'LogStream', 'Secret')
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.constant(null),
        fc.integer(),
        fc.string(),
        fc.boolean(),
        tie('list'),
        tie('map'),
      ),
      list: fc.array(tie('any'), { maxLength: 3 }),
      map: fc.dictionary(fc.constantFrom('name', 'spec', 'plan', 'ga4', 'url', 'id', '__proto__', 'hook'), tie('any')),
    })).any
    const object = fc.record({
      apiVersion: fc.constantFrom('whence.dev/v1alpha1', 'v1'),
      kind: kinds,
      metadata: fc.oneof(value, fc.record({ name: fc.constantFrom('a', 'b') })),
      spec: value,
      stringData: value,
    })
    fc.assert(
      fc.property(fc.array(fc.oneof(object, value), { maxLength: 6 }), (objects) => {
        const { problems } = compile(...objects)
        for (const { reason } of problems) expect(PROBLEM_REASONS).to.have.property(reason)
      }),
      { numRuns: 300 },
    )
  })
})

function organizationWithout(field: string): unknown {
  const object = organization('acme') as { spec: Record<string, unknown> }
  return { ...object, spec: Object.fromEntries(Object.entries(object.spec).filter(([name]) => name !== field)) }
}
