/** Configuration through the dashboard's API, in a folder: who may change what, versions, plans, dry runs, and Git's own files. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'chai'

import { RESOURCE_KINDS } from '../../domain/resources/resources.ts'
import { openCatalogFolder } from '../../runtime/catalog/source.ts'
import { createLogger } from '../../runtime/logger.ts'
import { organizationOf, startStage, type Asked, type Stage, type Told } from './support/stage.ts'

const PEOPLE = {
  'owner@mine.dev': 'Owner',
  'admin@mine.dev': 'Admin',
  'member@mine.dev': 'Member',
}
const AT = '/api/organizations/mine'
const manifest = (kind: string, name: string, spec: object): string =>
  `---\n${JSON.stringify({ apiVersion: 'whence.dev/v1alpha1', kind, metadata: { name }, spec })}\n`
const SITE = { organizationRef: { name: 'mine' }, primaryOrigin: 'https://git.example' }
const OTHERS = [
  organizationOf('other', { plan: 'Standard', members: { 'owner@other.dev': 'Owner', 'viewer@other.dev': 'Viewer' } }),
  manifest('Website', 'theirs', { organizationRef: { name: 'other' }, primaryOrigin: 'https://theirs.example' }),
].join('')

describe('configuration through the dashboard', () => {
  let stage: Stage
  const cookies = new Map<string, string>()
  before(async () => {
    const manifests = [
      organizationOf('mine', { plan: 'Standard', members: { ...PEOPLE } }),
      manifest('Website', 'from-git', SITE),
      OTHERS,
    ]
    stage = await startStage({ manifests: manifests.join('---\n') })
    for (const email of Object.keys(PEOPLE)) cookies.set(email.split('@')[0] ?? '', await stage.signIn(email))
    cookies.set('other', await stage.signIn('owner@other.dev'))
    cookies.set('viewer', await stage.signIn('viewer@other.dev'))
  })
  after(() => stage?.stop())

  let addresses = 0
  const ask = (method: string, path: string, who: string, asked: Asked = {}): Promise<Told> =>
    stage.ask(method, path, {
      cookies: cookies.get(who) ?? '',
      address: `10.1.${addresses >> 8}.${addresses++ % 256}`,
      ...asked,
    })
  const make = (kind: string, name: string, spec: object, who = 'admin'): Promise<Told> =>
    ask('POST', `${AT}/resources/${kind}`, who, { body: { name, spec } })
  const read = (kind: string, name: string, who = 'member'): Promise<Told> =>
    ask('GET', `${AT}/resources/${kind}/default/${name}`, who)
  const put = (kind: string, name: string, spec: object, who = 'admin', version?: string): Promise<Told> =>
    read(kind, name).then((told) =>
      ask('PUT', `${AT}/resources/${kind}/default/${name}`, who, {
        body: { spec },
        headers: { 'If-Match': `"${version ?? String(told.body['version'])}"` },
      }),
    )
  const drop = async (kind: string, name: string, who = 'admin'): Promise<Told> => {
    const { body } = await read(kind, name)
    return ask('DELETE', `${AT}/resources/${kind}/default/${name}`, who, {
      headers: { 'If-Match': `"${String(body['version'])}"` },
    })
  }

  it('lists and reads what belongs to the organisation, of every kind, with conditions and origin', async () => {
    for (const kind of RESOURCE_KINDS)
      expect((await ask('GET', `${AT}/resources/${kind}`, 'member')).status, kind).to.equal(200)
    const { body } = await ask('GET', `${AT}/resources/Website`, 'member')
    expect(body['resources'].map(({ name }: { name: string }) => name)).to.deep.equal(['from-git'])
    const [site] = body['resources']
    expect(site.origin).to.deep.equal({ by: 'gitops', manager: 'all.yaml' })
    expect(site.conditions.find(({ type }: { type: string }) => type === 'Ready').status).to.equal('True')
    expect((await read('Website', 'theirs')).status).to.equal(404)
    expect((await read('Website', 'nothing')).status).to.equal(404)
    expect((await ask('GET', `${AT}/resources/Secret`, 'owner')).status).to.equal(404)
  })

  it('hides addresses of members from Viewers, and what an invitation is accepted with from all', async () => {
    const at = '/api/organizations/other'
    await ask('POST', `${at}/members`, 'other', { body: { email: 'new@other.dev', role: 'Viewer' } })
    const asSeen = async (who: string) => (await ask('GET', `${at}/resources/Member`, who)).text
    expect(await asSeen('viewer')).to.not.include('@other.dev')
    expect(await asSeen('other')).to.include('viewer@other.dev')
    expect(await asSeen('other'))
      .to.include('"invitation":{"expiresAt"')
      .and.not.match(/"id":/)
    const [invited] = JSON.parse(await asSeen('other'))['resources'].filter(
      ({ spec }: { spec: { invitation?: object } }) => spec.invitation !== undefined,
    )
    for (const method of ['PUT', 'DELETE']) {
      const path = `${at}/resources/Member/default/${invited.name}`
      const headers = { 'If-Match': '"x"' }
      const told = await ask(method, path, 'other', { headers, ...(method === 'PUT' ? { body: { spec: {} } } : {}) })
      expect([told.status, told.body['current'].spec.invitation]).to.deep.equal([412, invited.spec.invitation])
    }
  })

  it('makes, changes and removes an object, each version with its own ETag', async () => {
    const made = await make('Website', 'shop', { primaryOrigin: 'https://shop.example' })
    expect([made.status, made.body['origin'].by, made.body['spec'].organizationRef]).to.deep.equal([
      201,
      'dashboard',
      { name: 'mine' },
    ])
    expect(made.headers.get('etag')).to.equal(`"${made.body['version']}"`)
    const changed = await put('Website', 'shop', { ...made.body['spec'], displayName: 'Shop' })
    expect([changed.status, changed.body['spec'].displayName]).to.deep.equal([200, 'Shop'])
    expect(changed.body['version']).to.not.equal(made.body['version'])
    expect((await drop('Website', 'shop')).status).to.equal(204)
    expect((await read('Website', 'shop')).status).to.equal(404)
  })

  it('makes, finds and removes an object whatever YAML reads in its name, and however long that is', async () => {
    const names = [
      'yes',
      'no',
      'on',
      'off',
      'y',
      'n',
      'null',
      'true',
      'false',
      '1e3',
      '0x10',
      '0o7',
      '007',
      '08',
      '2026-11-27',
      '1.5',
    ]
    for (const name of [...names, 'a'.repeat(253), `${'b'.repeat(126)}.${'c'.repeat(126)}`]) {
      const id = `id-${name.replaceAll('.', '-')}`.slice(0, 60)
      const spec = { id, displayName: name.slice(0, 80), organizationRef: { name: 'mine' } }
      const made = await make('InstallPath', name, spec)
      expect([made.status, made.body['name']], name).to.deep.equal([201, name])
      const found = await read('InstallPath', name)
      expect([found.status, found.body['spec'].displayName], name).to.deep.equal([200, spec.displayName])
      expect((await put('InstallPath', name, { ...found.body['spec'], displayName: 'Other' })).status, name).to.equal(
        200,
      )
      expect((await drop('InstallPath', name)).status, name).to.equal(204)
      expect((await read('InstallPath', name)).status, name).to.equal(404)
    }
    expect((await stage.writtenFiles()).filter((file) => file.includes('installpath'))).to.deep.equal([])
  })

  it('writes only over the version that was seen: 428 without a version, 412 with both versions', async () => {
    const { body } = await make('InstallPath', 'cli', {}, 'member')
    const first = String(body['version'])
    const path = `${AT}/resources/InstallPath/default/cli`
    expect((await ask('PUT', path, 'member', { body: { spec: body['spec'] } })).status).to.equal(428)
    const next = await put('InstallPath', 'cli', { ...body['spec'], paused: true }, 'member')
    const late = await put('InstallPath', 'cli', { ...body['spec'], displayName: 'Late' }, 'member', first)
    expect([late.status, late.body]).to.deep.equal([
      412,
      { error: 'conflict', given: first, current: { version: next.body['version'], spec: next.body['spec'] } },
    ])
    const raced = await Promise.all(
      Array.from({ length: 8 }, (_, number) =>
        put(
          'InstallPath',
          'cli',
          { ...body['spec'], displayName: `N ${number}` },
          'member',
          String(next.body['version']),
        ),
      ),
    )
    expect(raced.filter(({ status }) => status === 200)).to.have.length(1)
    expect(raced.filter(({ status }) => status === 412)).to.have.length(7)
    await drop('InstallPath', 'cli', 'member')
  })

  it('reports what is wrong with each field, and what a change would cause, without making it', async () => {
    const fault = await make('Website', 'bad', { primaryOrigin: 'https://bad.example', retentionDays: 12 })
    expect([fault.status, fault.body]).to.deep.equal([
      400,
      {
        error: 'invalid_field',
        field: '/spec/retentionDays',
        message: 'spec.retentionDays: 12 is below 30',
        reason: 'InvalidField',
      },
    ])
    const dry = await ask('POST', `${AT}/resources/Website?dryRun=All`, 'admin', {
      body: {
        name: 'dry',
        spec: { primaryOrigin: 'https://dry.example', pages: [{ id: 'p', url: 'https://git.example/x' }] },
      },
    })
    expect([dry.status, dry.body['fits'], dry.body['spec'].retentionDays]).to.deep.equal([200, true, 395])
    expect((await read('Website', 'dry')).status).to.equal(404)
    const gone = await ask('DELETE', `${AT}/resources/Website/default/from-git?dryRun=All`, 'admin', {
      headers: { 'If-Match': `"${String((await read('Website', 'from-git')).body['version'])}"` },
    })
    expect([gone.status, gone.body['error'], gone.body['manager']]).to.deep.equal([
      409,
      'managed_elsewhere',
      'all.yaml',
    ])
    const made = await make('Website', 'tried', { primaryOrigin: 'https://tried.example' })
    const fits = await ask('DELETE', `${AT}/resources/Website/default/tried?dryRun=All`, 'admin', {
      headers: { 'If-Match': `"${String(made.body['version'])}"` },
    })
    expect([fits.status, fits.body]).to.deep.equal([200, { fits: true, warnings: [] }])
    expect((await read('Website', 'tried')).status).to.equal(200)
    expect((await drop('Website', 'tried')).status).to.equal(204)
  })

  it('warns about what else the compiler would leave out', async () => {
    const pages = [{ id: 'p', url: 'https://theirs.example/install' }]
    const spec = { organizationRef: { name: 'mine' }, primaryOrigin: 'https://warned.example', pages }
    await stage.apply(
      'elsewhere.yaml',
      manifest('Organization', 'far', { plan: 'Free' }).replace('"name":"far"', '"name":"far","namespace":"far"') +
        manifest('Website', 'far', { organizationRef: { name: 'far' }, primaryOrigin: 'https://far.example' }).replace(
          '"name":"far"}',
          '"name":"far","namespace":"far"}',
        ),
    )
    const told = await make('Website', 'warned', { ...spec, pages: [{ id: 'p', url: 'https://far.example/x' }] })
    expect(told.status).to.equal(201)
    expect(
      told.body['warnings'].map(({ reason, field }: { reason: string; field: string }) => [reason, field]),
    ).to.deep.equal([['OriginTaken', '/spec/pages/0/url']])
    const taken = await make('Website', 'taken', { primaryOrigin: 'https://far.example' })
    expect([taken.status, taken.body['reason'], taken.body['field']]).to.deep.equal([
      400,
      'OriginTaken',
      '/spec/primaryOrigin',
    ])
    await drop('Website', 'warned')
  })

  it('answers 402 with what is used and allowed, and leaves concurrent requests to the compiler', async () => {
    const made = await Promise.all(
      Array.from({ length: 6 }, (_, number) =>
        make('Website', `w${number}`, { primaryOrigin: `https://w${number}.example` }),
      ),
    )
    expect(made.map(({ status }) => status).sort()).to.deep.equal([201, 201, 402, 402, 402, 402])
    const refused = await make('Website', 'more', { primaryOrigin: 'https://more.example' })
    expect([refused.status, refused.body]).to.deep.equal([
      402,
      {
        error: 'plan_limit',
        limit: 'websites',
        used: 3,
        allowed: 3,
        plan: 'Standard',
        message:
          'the plan Standard allows 3 websites; whoever runs this service can set `plan: Enterprise` in the Organization',
      },
    ])
    const webhook = { url: 'https://logs.example/in', secretRef: { name: 'none', key: 'k' } }
    const stream = await make('LogStream', 'logs', { webhook })
    expect([stream.status, stream.body]).to.deep.equal([
      402,
      {
        error: 'plan_required',
        limit: 'logStreams',
        used: 0,
        allowed: 0,
        plan: 'Standard',
        message:
          'the plan Standard allows no log streams; whoever runs this service can set `plan: Enterprise` in the Organization',
      },
    ])
    for (const number of [0, 1, 2, 3, 4, 5]) await drop('Website', `w${number}`)
  })

  describe('by role', () => {
    const destination = (name: string, mode: string) => ({
      websiteRef: { name: 'mine-site' },
      provider: 'ga4',
      mode,
      ga4: { measurementId: 'G-ABC1234567', apiSecretRef: { name, key: 'api-secret' } },
    })
    let secret = ''
    before(async () => {
      await make('Website', 'mine-site', { primaryOrigin: 'https://mine.example' })
      const told = await ask('POST', `${AT}/secrets`, 'member', {
        body: { values: { 'api-secret': 'top secret ${HOME}' } },
      })
      secret = String(told.body['name'])
    })

    it('Members change pages, install paths and destinations that only validate', async () => {
      const site = (await read('Website', 'mine-site')).body['spec']
      const pages = [{ id: 'p', url: 'https://mine.example/p' }]
      expect((await put('Website', 'mine-site', { ...site, pages }, 'member')).status).to.equal(200)
      expect((await put('Website', 'mine-site', { ...site, pages, retentionDays: 30 }, 'member')).status).to.equal(403)
      expect((await make('Website', 'more', { primaryOrigin: 'https://more.example' }, 'member')).status).to.equal(403)
      expect((await make('Destination', 'live', destination(secret, 'Live'), 'member')).status).to.equal(403)
      expect((await make('Destination', 'ga4', destination(secret, 'Validate'), 'member')).status).to.equal(201)
      expect((await put('Destination', 'ga4', destination(secret, 'Live'), 'member')).status).to.equal(403)
      expect((await put('Destination', 'ga4', destination(secret, 'Live'), 'admin')).status).to.equal(200)
      // The object before counts as well as the one after.
      expect((await put('Destination', 'ga4', destination(secret, 'Validate'), 'member')).status).to.equal(403)
      expect((await drop('Destination', 'ga4', 'member')).status).to.equal(403)
      expect((await drop('Destination', 'ga4', 'admin')).status).to.equal(204)
    })

    it('nobody sets a plan or moves an object, and only its Owner removes the organisation', async () => {
      await stage.apply('own.yaml', '')
      const { body } = await read('Organization', 'mine')
      for (const who of ['owner', 'admin'])
        expect((await put('Organization', 'mine', { ...body['spec'], plan: 'Enterprise' }, who)).status, who).to.equal(
          403,
        )
      expect(
        (await put('Organization', 'mine', { ...body['spec'], billing: { customer: 'cus_1' } }, 'owner')).status,
      ).to.equal(403)
      expect((await drop('Organization', 'mine', 'admin')).status).to.equal(403)
      expect((await make('Organization', 'new', { plan: 'Free' }, 'owner')).status).to.equal(403)
      const site = (await read('Website', 'mine-site')).body['spec']
      for (const [field, value] of [
        ['organizationRef', { name: 'other' }],
        ['tenant', 'evil'],
        ['installation', 'x'],
      ] as const) {
        const moved = await put('Website', 'mine-site', { ...site, [field]: value }, 'owner')
        expect([moved.status, moved.body['field']]).to.deep.equal([400, `/spec/${field}`])
        const born = await make('Website', 'moved', { primaryOrigin: 'https://moved.example', [field]: value }, 'owner')
        expect([born.status, born.body['field']]).to.deep.equal([400, `/spec/${field}`])
      }
      const foreign = await make('Destination', 'd', {
        ...destination(secret, 'Validate'),
        websiteRef: { name: 'theirs' },
      })
      // Nothing of the request is repeated.
      expect([foreign.body['field'], foreign.body['message']]).to.deep.equal([
        '/spec/websiteRef/name',
        'there is no such Website in the organisation',
      ])
      expect((await make('Member', 'm', { email: 'x@y.dev', role: 'Owner' }, 'owner')).status).to.equal(400)
    })

    it('windows are 24, 72 or 168 hours here, and others that were set elsewhere stay', async () => {
      const odd = { ...destination(secret, 'Validate'), reconstructionWindowHours: 25 }
      const refused = await make('Destination', 'odd', odd)
      expect([refused.status, refused.body['field'], refused.body['message']]).to.deep.equal([
        400,
        '/spec/reconstructionWindowHours',
        'must be 24, 72 or 168',
      ])
      for (const reconstructionWindowHours of [24, 72, 168]) {
        expect((await make('Destination', 'odd', { ...odd, reconstructionWindowHours })).status).to.equal(201)
        await drop('Destination', 'odd')
      }
    })

    it('Secrets need a key, and keys as Kubernetes allows them', async () => {
      const files = await stage.writtenFiles()
      const told = (values: object) => ask('POST', `${AT}/secrets`, 'member', { body: { values } })
      const none = await told({})
      expect([none.status, none.body]).to.deep.equal([
        400,
        { error: 'invalid_field', field: '/values', message: 'needs at least 1 entry' },
      ])
      for (const key of ['../x', '.', '..', '..data', 'a b', '', 'ä', 'a/b', 'a\n', 'k'.repeat(254)]) {
        const { status, body } = await told({ good: 'v', [key]: 'v' })
        expect([status, body['error'], body['field']], key).to.deep.equal([400, 'invalid_field', '/values'])
        expect(body['message'], key).to.match(/^key 2 /)
      }
      expect(await stage.writtenFiles(), 'nothing was written').to.deep.equal(files)
      const keys = ['api-secret', '.hidden', 'a..b', '-', 'K_1', 'k'.repeat(253)]
      const made = await told(Object.fromEntries(keys.map((key) => [key, 'v'])))
      expect([made.status, made.body['keys']]).to.deep.equal([201, keys])
    })

    it('Secrets are written with a new name each, only for the service, and shown to nobody', async () => {
      const again = await ask('POST', `${AT}/secrets`, 'member', { body: { values: { 'api-secret': 'another' } } })
      expect(again.status).to.equal(201)
      expect(again.body['name']).to.not.equal(secret)
      expect(again.text).to.not.include('another')
      const files = await stage.writtenFiles()
      const file = files.find((name) => name.includes(secret)) ?? ''
      // Values must not name variables of the service's environment.
      expect(await readFile(join(stage.written, file), 'utf8')).to.include('top secret $${HOME}')
      for (const method of ['GET', 'PUT', 'DELETE'])
        expect(
          (
            await ask(
              method,
              `${AT}/resources/Secret/default/${secret}`,
              'owner',
              method === 'PUT' ? { body: { spec: {} } } : {},
            )
          ).status,
        ).to.equal(404)
      expect(stage.logLines.join('\n')).to.not.include('top secret')
    })
  })

  it('does not change files of others, field by field, with the change to copy', async () => {
    const { body } = await read('Website', 'from-git')
    expect(body['readOnly']).to.deep.equal([{ field: '/spec', manager: 'all.yaml' }])
    const wanted = { ...body['spec'], displayName: "It's Git's" }
    const told = await put('Website', 'from-git', wanted)
    expect([told.status, told.body['error'], told.body['manager'], told.body['field']]).to.deep.equal([
      409,
      'managed_elsewhere',
      'all.yaml',
      '/spec/displayName',
    ])
    expect(told.body['patch'].kubectl).to.equal(
      String.raw`kubectl patch website.whence.dev from-git --namespace default --type merge --patch '{"spec":{"displayName":"It'\''s Git'\''s"}}'`,
    )
    expect(told.body['patch'].yaml).to.include('kind: Website').and.include("displayName: It's Git's")
    expect((await read('Website', 'from-git')).body['spec']).to.deep.equal(body['spec'])
  })

  it('gives nothing of an organisation to the Owner of another, by any method', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const at = (name: string) =>
        ask(method, `/api/organizations/other/resources/Website/default/${name}`, 'other', {
          ...(method === 'PUT' ? { body: { spec: SITE } } : {}),
          headers: { 'If-Match': '"x"' },
        })
      const foreign = await at('from-git')
      const none = await at('nothing')
      expect([foreign.status, foreign.text], method).to.deep.equal([404, none.text])
    }
  })
})

describe('removing what others refer to, through the dashboard', () => {
  const OWN = { kind: 'Organization', namespace: 'default', name: 'own' }
  const other = (): string => organizationOf('other', { members: { 'owner@other.dev': 'Owner' } })
  let stage: Stage
  let addresses = 0
  beforeEach(async () => {
    stage = await startStage({ manifests: other() })
    await stage.writer.create({ ...OWN, spec: { displayName: 'Own', plan: 'Enterprise' } })
    for (const role of ['Owner', 'Admin', 'Member']) {
      const name = role.toLowerCase()
      const spec = { organizationRef: { name: 'own' }, email: `${name}@own.dev`, role }
      await stage.writer.create({ kind: 'Member', namespace: 'default', name, spec })
    }
  })
  afterEach(() => stage?.stop())

  const ask = async (method: string, path: string, email: string, asked: Asked = {}): Promise<Told> =>
    stage.ask(method, `/api/organizations/${path}`, {
      cookies: await stage.signIn(email),
      address: `10.3.${addresses >> 8}.${addresses++ % 256}`,
      ...asked,
    })
  const make = async (kind: string, name: string, spec: object, organization = 'own'): Promise<void> => {
    const told = await ask('POST', `${organization}/resources/${kind}`, `owner@${organization}.dev`, {
      body: { name, spec },
    })
    expect(told.status, told.text).to.equal(201)
  }
  const change = async (kind: string, name: string, fields: object): Promise<Told> => {
    const path = `own/resources/${kind}/default/${name}`
    const { body } = await ask('GET', path, 'owner@own.dev')
    const headers = { 'If-Match': `"${String(body['version'])}"` }
    return ask('PUT', path, 'owner@own.dev', { body: { spec: { ...body['spec'], ...fields } }, headers })
  }
  const drop = async (kind: string, name: string, email: string, isDryRun = false): Promise<Told> => {
    const path = `own/resources/${kind}/default/${name}`
    const { body } = await ask('GET', path, email)
    const headers = { 'If-Match': `"${String(body['version'])}"` }
    return ask('DELETE', isDryRun ? `${path}?dryRun=All` : path, email, { headers })
  }
  const warned = ({ body }: Told): readonly string[] =>
    body['warnings'].map(({ object, reason }: { object: string; reason: string }) => `${object} ${reason}`)
  const inForce = (organization: string): readonly string[] =>
    stage.directory.websites(organization).map(({ id }) => id)

  /** Changes of another organisation take effect with their answers, also the loss of a right; and the service starts again. */
  const goesOn = async (): Promise<void> => {
    await make('Website', 'fresh', { primaryOrigin: 'https://fresh.example' }, 'other')
    expect(inForce('other')).to.deep.equal(['fresh'])
    const spec = { organizationRef: { name: 'other' }, email: 'guest@other.dev', role: 'Admin' }
    await stage.writer.create({ kind: 'Member', namespace: 'default', name: 'guest', spec })
    const guest = await stage.signIn('guest@other.dev')
    const invite = () =>
      ask('POST', 'other/members', '', { cookies: guest, body: { group: 'accomplices', role: 'Admin' } })
    expect((await ask('GET', 'other/members', '', { cookies: guest })).status).to.equal(200)
    expect((await ask('PUT', 'other/members/guest', 'owner@other.dev', { body: { role: 'Viewer' } })).status).to.equal(
      204,
    )
    expect((await invite()).status).to.equal(403)
    expect((await ask('DELETE', 'other/members/guest', 'owner@other.dev')).status).to.equal(204)
    expect((await ask('GET', 'other/members', '', { cookies: guest })).status).to.equal(404)
    expect((await invite()).status).to.equal(404)
    const logger = createLogger({ program: 'test', level: 'silent' })
    const { manifests: folder, written, nowMs } = stage
    const again = await openCatalogFolder({ folder, written, env: {}, logger, nowMs })
    await again.close()
    const started = [...again.current().websites.values()].filter((website) => website.organization.id === 'other')
    expect(started.map(({ id }) => id)).to.deep.equal(['fresh'])
  }

  it('a Website that has a Destination', async () => {
    await make('Website', 'shop', { primaryOrigin: 'https://shop.example' })
    const secret = await ask('POST', 'own/secrets', 'owner@own.dev', { body: { values: { k: 'only-for-tests' } } })
    const apiSecretRef = { name: String(secret.body['name']), key: 'k' }
    const ga4 = { measurementId: 'G-ABC1234567', apiSecretRef }
    await make('Destination', 'dest', { websiteRef: { name: 'shop' }, provider: 'ga4', ga4 })
    const dry = await drop('Website', 'shop', 'admin@own.dev', true)
    expect([dry.status, dry.body['fits'], warned(dry)]).to.deep.equal([200, true, ['Destination/dest RefNotFound']])
    expect((await drop('Website', 'shop', 'admin@own.dev')).status).to.equal(204)
    expect(inForce('own')).to.deep.equal([])
    await goesOn()
    // Whoever makes it again has its Destination again.
    await make('Website', 'shop', { primaryOrigin: 'https://shop.example' })
    expect(stage.directory.websites('own')[0]?.destinations.map(({ id }) => id)).to.deep.equal(['dest'])
  })

  it('an InstallPath that the organisation names', async () => {
    await make('InstallPath', 'cli', {})
    await make('InstallPath', 'app', {})
    expect((await change('Organization', 'own', { defaultInstallPath: 'app' })).status).to.equal(200)
    const dry = await drop('InstallPath', 'app', 'member@own.dev', true)
    expect(warned(dry)).to.deep.equal(['Organization/own RefNotFound'])
    expect((await drop('InstallPath', 'app', 'member@own.dev')).status).to.equal(204)
    expect(
      stage.directory
        .organizations()
        .get('own')
        ?.installPaths.map(({ id }) => id),
    ).to.deep.equal(['cli'])
    expect((await change('Organization', 'own', { displayName: 'Renamed' })).status).to.equal(200)
    await goesOn()
  })

  it('an organisation that has members and websites', async () => {
    await make('Website', 'shop', { primaryOrigin: 'https://shop.example' })
    const dry = await drop('Organization', 'own', 'owner@own.dev', true)
    expect(warned(dry)).to.deep.equal([
      'Website/shop RefNotFound',
      ...['owner', 'admin', 'member'].map((name) => `Member/${name} RefNotFound`),
    ])
    const owner = await stage.signIn('owner@own.dev')
    expect((await drop('Organization', 'own', 'owner@own.dev')).status).to.equal(204)
    expect((await stage.ask('GET', '/api/me', { cookies: owner })).body['organizations']).to.deep.equal([])
    expect((await ask('GET', 'own/resources/Website', '', { cookies: owner })).status).to.equal(404)
    await goesOn()
  })

  it('is refused if a file of somebody else would no longer compile, and the answer names the object there', async () => {
    await make('InstallPath', 'cli', {}, 'other')
    const path = 'other/resources/InstallPath/default/cli'
    const { body } = await ask('GET', path, 'owner@other.dev')
    const headers = { 'If-Match': `"${String(body['version'])}"` }
    await stage.apply('all.yaml', other().replace('plan:', 'defaultInstallPath: cli, plan:'))
    const refused = {
      error: 'managed_elsewhere',
      manager: 'all.yaml',
      field: '/spec/defaultInstallPath',
      object: 'Organization/other',
      message: 'spec.defaultInstallPath: the organisation has no install path cli',
    }
    for (const query of ['?dryRun=All', '']) {
      const told = await ask('DELETE', path + query, 'owner@other.dev', { headers })
      expect([told.status, told.body], query).to.deep.equal([409, refused])
      const renamed = { body: { spec: { ...body['spec'], id: 'renamed' } }, headers }
      const changed = await ask('PUT', path + query, 'owner@other.dev', renamed)
      expect([changed.status, changed.body], query).to.deep.equal([409, refused])
    }
    await goesOn()
  })

  it('is unavailable while a file of somebody else is refused, as every change is: no right is said to be taken away', async () => {
    const admin = await stage.signIn('admin@own.dev')
    const isIn = async (): Promise<boolean> => (await ask('GET', 'own/members', '', { cookies: admin })).status === 200
    await stage.apply('broken.yaml', manifest('Website', 'broken', { ...SITE, retentionDays: 12 }))
    const answers = [
      await ask('DELETE', 'own/members/admin', 'owner@own.dev'),
      await ask('PUT', 'own/members/admin', 'owner@own.dev', { body: { role: 'Viewer' } }),
      await ask('POST', 'own/members', 'owner@own.dev', { body: { group: 'people', role: 'Viewer' } }),
      await ask('POST', 'own/resources/Website', 'owner@own.dev', {
        body: { spec: { primaryOrigin: 'https://late.example' } },
      }),
      await drop('Organization', 'own', 'owner@own.dev'),
      await drop('Organization', 'own', 'owner@own.dev', true),
    ]
    expect(answers.map(({ status, body }) => [status, body['error']])).to.deep.equal(
      answers.map(() => [503, 'unavailable']),
    )
    expect(await isIn()).to.equal(true)
    await stage.apply('broken.yaml', '# mended')
    expect(await isIn()).to.equal(true)
    expect((await ask('DELETE', 'own/members/admin', 'owner@own.dev')).status).to.equal(204)
    expect(await isIn()).to.equal(false)
  })

  it('leaves what stays in force after a downgrade open to changes, and nothing else is let in', async () => {
    for (const name of ['one', 'two', 'three'])
      await make('Website', name, { primaryOrigin: `https://${name}.example` })
    const stored = await stage.writer.read(OWN)
    if (stored === null) throw new Error('it was just written')
    await stage.writer.writeBilling(stored, { plan: 'Free', billing: { customer: 'cus_1' } })
    expect(inForce('own')).to.deep.equal(['one'])
    const renamed = await change('Website', 'one', { displayName: 'Renamed' })
    expect([renamed.status, renamed.body['spec']?.displayName]).to.deep.equal([200, 'Renamed'])
    expect((await change('Website', 'two', { displayName: 'Renamed' })).status).to.equal(200)
    expect(inForce('own')).to.deep.equal(['one'])
    const more = await ask('POST', 'own/resources/Website', 'owner@own.dev', {
      body: { name: 'four', spec: { primaryOrigin: 'https://four.example' } },
    })
    expect([more.status, more.body['error']]).to.deep.equal([402, 'plan_limit'])
    expect((await drop('Website', 'one', 'owner@own.dev')).status).to.equal(204)
    expect(inForce('own')).to.deep.equal(['two'])
  })
})
