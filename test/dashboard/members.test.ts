/** Members and invitations: who may do what, and that at most one of many acceptances counts. */

import { expect } from 'chai'

import { inviteAgain } from '../../dashboard/people/invitations.ts'
import { createTrail } from '../../dashboard/events/trail.ts'
import { ownerWish } from '../../dashboard/people/first-owner.ts'
import { erasePerson } from '../../dashboard/people/personal-data.ts'
import { LIMITS } from '../../domain/limits.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { createRandomness } from '../../runtime/random.ts'
import { organizationOf, SECRET, startStage, type Stage, type Told } from './support/stage.ts'

const MORE = 'whoever runs this service can set'
const FREE = `the plan Free allows 1 member; ${MORE} \`plan: Standard\` in the Organization`
const FULL = `the plan Standard allows 3 members; ${MORE} \`plan: Enterprise\` in the Organization`
const ROLES = {
  Owner: 'owner@acme.dev',
  Admin: 'admin@acme.dev',
  Member: 'member@acme.dev',
  Viewer: 'viewer@acme.dev',
} as const
type Role = keyof typeof ROLES

describe('members', () => {
  let stage: Stage
  beforeEach(async () => {
    const members = Object.fromEntries(Object.entries(ROLES).map(([role, email]) => [email, role]))
    const small = organizationOf('small', { plan: 'Standard', members: { 'boss@small.dev': 'Owner' } })
    stage = await startStage({ manifests: `${organizationOf('acme', { members })}---\n${small}` })
  })
  afterEach(() => stage?.stop())

  const as = (role: Role): Promise<string> => stage.signIn(ROLES[role])
  let addresses = 0
  const write = (method: string, path: string, cookies: string, body?: object): Promise<Told> =>
    stage.ask(method, `/api/organizations/${path}`, {
      cookies,
      body,
      address: `10.1.${addresses >> 8}.${addresses++ % 256}`,
    })
  const invite = (cookies: string, body: object, organization = 'acme'): Promise<Told> =>
    write('POST', `${organization}/members`, cookies, body)
  const accept = (cookies: string, invitation: string): Promise<Told> =>
    stage.ask('POST', '/api/invitations/accept', {
      cookies,
      body: { invitation },
      address: `10.2.${addresses >> 8}.${addresses++ % 256}`,
    })
  const invitationFor = async (email: string): Promise<string> => {
    await stage.mailSent()
    const mails = stage.mails.filter((mail) => mail.includes(`To: ${email}`))
    return /#invitation=([0-9a-f]{32})/.exec(mails.at(-1) ?? '')?.[1] ?? ''
  }
  const rolesOf = async (cookies: string): Promise<Record<string, string>> => {
    const { body } = await stage.ask('GET', '/api/me', { cookies })
    return Object.fromEntries(
      (body['organizations'] as { id: string; role: string }[]).map(({ id, role }) => [id, role]),
    )
  }

  it('are invited by mail, and are members once they have proven the address and accepted', async () => {
    const told = await invite(await as('Admin'), { email: 'new@acme.dev', role: 'Viewer' })
    expect([told.status, Object.keys(told.body)]).to.deep.equal([201, ['name']])
    expect(told.body['name']).to.match(/^m-[0-9a-f]{12}$/)
    const person = await stage.signIn('new@acme.dev')
    expect(await rolesOf(person)).to.deep.equal({})
    const id = await invitationFor('new@acme.dev')
    const { body: me } = await stage.ask('GET', '/api/me', { cookies: person })
    expect(me['invitations']).to.have.length(1)
    expect(me['invitations'][0]).to.include({ id, organization: 'acme Ltd', role: 'Viewer' })
    expect((await accept(await as('Viewer'), id)).body).to.deep.equal({ error: 'invitation_over' })
    expect((await accept(person, id)).body).to.deep.equal({ organization: 'acme', role: 'Viewer' })
    expect(await rolesOf(person)).to.deep.equal({ acme: 'Viewer' })
    expect((await accept(person, id)).body).to.deep.equal({ error: 'invitation_over' })
    const names = (await stage.writtenFiles()).join()
    expect(names).to.not.include('new@')
    expect(names).to.match(/^\d{13}-member-default-m-[0-9a-f]{12}\.yaml$/)
  })

  it('are written once, of 100 acceptances at once', async () => {
    await invite(await as('Admin'), { email: 'new@acme.dev', role: 'Viewer' })
    const id = await invitationFor('new@acme.dev')
    const person = await stage.signIn('new@acme.dev')
    const told = await Promise.all(Array.from({ length: 100 }, () => accept(person, id)))
    expect(told.filter(({ status }) => status === 200)).to.have.length(1)
    expect(told.filter(({ body }) => body['error'] === 'invitation_over')).to.have.length(99)
    expect(await stage.writtenFiles()).to.have.length(1)
  })

  it('cannot accept an invitation that was sent again, was withdrawn, or has expired', async () => {
    const admin = await as('Admin')
    const person = await stage.signIn('new@acme.dev')
    const { body } = await invite(admin, { email: 'new@acme.dev', role: 'Viewer' })
    const first = await invitationFor('new@acme.dev')
    expect((await write('POST', `acme/members/${body['name']}/invitation`, admin, undefined)).status).to.equal(201)
    const second = await invitationFor('new@acme.dev')
    expect(second).to.not.equal(first)
    expect((await accept(person, first)).status).to.equal(410)
    expect((await write('DELETE', `acme/members/${body['name']}`, admin)).status).to.equal(204)
    expect((await accept(person, second)).status).to.equal(410)
    expect(await stage.writtenFiles()).to.deep.equal([])
    await invite(admin, { email: 'new@acme.dev', role: 'Viewer' })
    const third = await invitationFor('new@acme.dev')
    stage.advance(LIMITS.invitationMs)
    expect((await accept(await stage.signIn('new@acme.dev'), third)).status).to.equal(410)
  })

  it('lose their rights with the next request, in every session', async () => {
    const admin = await as('Admin')
    await invite(admin, { email: 'new@acme.dev', role: 'Admin' })
    const person = await stage.signIn('new@acme.dev')
    await accept(person, await invitationFor('new@acme.dev'))
    const { body } = await stage.ask('GET', '/api/organizations/acme/members', { cookies: person })
    const { name } = (body['members'] as { name: string; email: string }[]).find(
      ({ email }) => email === 'new@acme.dev',
    ) ?? { name: '' }
    await write('PUT', `acme/members/${name}`, admin, { role: 'Viewer' })
    expect((await invite(person, { email: 'x@acme.dev', role: 'Viewer' })).body).to.deep.equal({ error: 'forbidden' })
    await write('DELETE', `acme/members/${name}`, admin)
    expect((await stage.ask('GET', '/api/organizations/acme', { cookies: person })).status).to.equal(404)
  })

  it('are changed by Admins, and owners only by Owners', async () => {
    const admin = await as('Admin')
    expect((await invite(admin, { email: 'new@acme.dev', role: 'Owner' })).body).to.deep.equal({ error: 'forbidden' })
    expect((await invite(await as('Owner'), { email: 'new@acme.dev', role: 'Owner' })).status).to.equal(201)
    const { body } = await stage.ask('GET', '/api/organizations/acme/members', { cookies: admin })
    const { name } = (body['members'] as { name: string; email: string }[]).find(
      ({ email }) => email === 'new@acme.dev',
    ) ?? { name: '' }
    expect((await write('PUT', `acme/members/${name}`, admin, { role: 'Viewer' })).status).to.equal(403)
    expect((await write('DELETE', `acme/members/${name}`, admin)).status).to.equal(403)
    expect((await write('POST', `acme/members/${name}/invitation`, admin)).status).to.equal(403)
  })

  it('always include an Owner who is a person', async () => {
    const owner = await as('Owner')
    expect((await write('PUT', 'acme/members/acme-0', owner, { role: 'Admin' })).body).to.deep.equal({
      error: 'last_owner',
    })
    expect((await write('DELETE', 'acme/members/acme-0', owner)).body).to.deep.equal({ error: 'last_owner' })
    expect((await write('POST', 'acme/leave', owner)).body).to.deep.equal({ error: 'last_owner' })
    await invite(owner, { group: 'bosses', role: 'Owner' })
    expect((await write('DELETE', 'acme/members/acme-0', owner)).body).to.deep.equal({ error: 'last_owner' })
  })

  /** Two Owners of an organisation that the dashboard wrote, and what each of them sends. */
  const twoOwners = async (name: string) => {
    const at = (kind: string, object: string) => ({ kind, namespace: 'default', name: object })
    await stage.writer.create({ ...at('Organization', name), spec: { displayName: name, plan: 'Enterprise' } })
    const emails = ['a', 'b'].map((each) => `${each}@${name}.dev`)
    for (const email of emails) {
      const spec = { organizationRef: { name }, email, role: 'Owner' }
      await stage.writer.create({ ...at('Member', email.replace('@', '-at-')), spec })
    }
    const people = await Promise.all(emails.map(async (email) => ({ email, cookies: await stage.signIn(email) })))
    return people.map(({ email, cookies }, place) => {
      const other = `${name}/members/${(emails[1 - place] ?? '').replace('@', '-at-')}`
      return {
        email,
        leave: () => write('POST', `${name}/leave`, cookies),
        demote: () => write('PUT', other, cookies, { role: 'Admin' }),
        remove: () => write('DELETE', other, cookies),
      }
    })
  }
  const ownersOf = (organization: string) =>
    stage.directory.members().filter((member) => member.organization === organization && member.role === 'Owner')

  it('always include an Owner who is a person, also if two leave, demote or remove each other at once', async () => {
    const ways = ['leave', 'demote', 'remove'] as const
    const pairs = ways.flatMap((first) => ways.map((second) => [first, second] as const))
    for (const [place, [first, second]] of pairs.entries()) {
      const name = `pair-${place}`
      const [one, two] = await twoOwners(name)
      const told = await Promise.all([one?.[first](), two?.[second]()])
      const what = `${first} and ${second}`
      expect(ownersOf(name), what).to.have.length(1)
      expect(
        told.filter((each) => each?.status === 204),
        what,
      ).to.have.length(1)
      const lost = told.find((each) => each?.status !== 204)
      expect([lost?.status, lost?.body['error']], what).to.be.deep.oneOf([
        [409, 'last_owner'],
        [412, 'conflict'],
        [403, 'forbidden'],
        [404, 'not_found'],
      ])
    }
  })

  it('always include an Owner who is a person, also if one is erased while another leaves', async () => {
    const parts = {
      roster: stage,
      hotState: stage.hotState,
      facts: { run: async () => [] },
      nowMs: stage.nowMs,
      onRemoved: async () => undefined,
      personId: createKeyring([SECRET]).personId,
    }
    const [one, two] = await twoOwners('erased')
    await Promise.all([erasePerson(one?.email ?? '', parts), two?.leave()])
    expect(ownersOf('erased')).to.have.length(1)
    const [left] = ownersOf('erased')
    const email = left?.identity.kind === 'person' ? left.identity.email : ''
    const { removed, onlyOwnerOf } = await erasePerson(email, parts)
    expect([removed, onlyOwnerOf.map(({ organization }) => organization)]).to.deep.equal([[], ['erased']])
    expect(ownersOf('erased')).to.have.length(1)
    const wish = { email: 'next@erased.dev', organization: 'erased' }
    expect(await ownerWish(stage, { ...wish, hash: () => 'abcdef012345' })).to.equal(null)
    expect((await erasePerson(email, parts)).onlyOwnerOf).to.deep.equal([])
  })

  it('get an Owner again by order of the operator, whoever is there, whatever the plan, and whatever file is broken', async () => {
    const { writer } = stage
    const at = (kind: string, name: string) => ({ kind, namespace: 'default', name })
    const make = async (name: string, plan: string, members: Readonly<Record<string, object>>) => {
      await writer.create({ ...at('Organization', name), spec: { displayName: name, plan } })
      for (const [member, more] of Object.entries(members)) {
        const spec = { organizationRef: { name }, email: `${member}@${name}.dev`, ...more }
        expect((await writer.create({ ...at('Member', `${name}-${member}`), spec })).kind).to.equal('written')
      }
    }
    const expiresAt = new Date(stage.nowMs() + 86_400_000).toISOString().replace(/\.\d+/, '')
    const invitation = { id: '0'.repeat(32), expiresAt }
    await make('lost', 'Enterprise', { admin: { role: 'Admin' }, asked: { role: 'Viewer', invitation } })
    await make('full', 'Free', { admin: { role: 'Admin' } })
    await stage.apply(
      'broken.yaml',
      'apiVersion: whence.dev/v1alpha1\nkind: Website\nmetadata: { name: broken }\nspec: {}\n',
    )
    const owner = (email: string, organization: string) =>
      ownerWish(stage, { email, organization, hash: () => 'abcdef012345' })
    expect(await owner('admin@lost.dev', 'lost'), 'with another role').to.equal(null)
    expect(await owner('asked@lost.dev', 'lost'), 'invited').to.equal(null)
    expect(await owner('new@full.dev', 'full'), 'a full plan').to.equal(null)
    expect(ownersOf('lost').map(({ name, invitation: open }) => [name, open])).to.deep.equal([
      ['lost-admin', null],
      ['lost-asked', null],
    ])
    expect(await rolesOf(await stage.signIn('new@full.dev'))).to.deep.equal({ full: 'Owner' })
    expect(await owner('admin@acme.dev', 'acme'), 'of another manager').to.equal(
      'the member is managed by all.yaml: make the person Owner there',
    )
  })

  it('leave by themselves, and are out at once', async () => {
    const admin = await as('Admin')
    await invite(admin, { email: 'guest@acme.dev', role: 'Viewer' })
    const guest = await stage.signIn('guest@acme.dev')
    await accept(guest, await invitationFor('guest@acme.dev'))
    const left = await write('POST', 'acme/leave', guest)
    expect([left.status, left.text]).to.deep.equal([204, ''])
    expect(await rolesOf(guest)).to.deep.equal({})
  })

  it('in files of others are read-only, and the answer names the file', async () => {
    const told = await write('DELETE', 'acme/members/acme-3', await as('Admin'))
    expect([told.status, told.body]).to.deep.equal([
      409,
      { error: 'managed_elsewhere', manager: 'all.yaml', field: '' },
    ])
    expect((await write('POST', 'acme/leave', await as('Viewer'))).body['error']).to.equal('managed_elsewhere')
  })

  it('in files of others are changed there, by the patch in the answer', async () => {
    const told = await write('PUT', 'acme/members/acme-3', await as('Admin'), { role: 'Member' })
    const { patch, ...rest } = told.body
    expect([told.status, rest]).to.deep.equal([
      409,
      { error: 'managed_elsewhere', manager: 'all.yaml', field: '/spec/role' },
    ])
    expect(patch.kubectl).to.equal(
      `kubectl patch member.whence.dev acme-3 --namespace default --type merge --patch '{"spec":{"role":"Member"}}'`,
    )
    expect(patch.yaml).to.include('kind: Member').and.include('role: Member').and.include(ROLES.Viewer)
  })

  it('stay with their installation, and are invited to that of the organisation', async () => {
    const ownerOf = (name: string) => ({ kind: 'Member', namespace: 'default', name })
    const installed = await stage.writer.create({
      kind: 'Organization',
      namespace: 'default',
      name: 'apart',
      spec: { displayName: 'Apart', plan: 'Standard', installation: 'second' },
    })
    const spec = { organizationRef: { name: 'apart' }, email: 'boss@apart.dev', role: 'Owner', installation: 'second' }
    expect([installed, await stage.writer.create({ ...ownerOf('boss'), spec })]).to.deep.equal([
      { kind: 'written' },
      { kind: 'written' },
    ])
    const boss = await stage.signIn('boss@apart.dev')
    const name = String((await invite(boss, { email: 'new@apart.dev', role: 'Viewer' }, 'apart')).body['name'])
    const group = String((await invite(boss, { group: 'staff', role: 'Viewer' }, 'apart')).body['name'])
    const installationOf = async (member: string) => (await stage.writer.read(ownerOf(member)))?.spec['installation']
    expect([await installationOf(name), await installationOf(group)]).to.deep.equal(['second', 'second'])
    expect((await write('POST', `apart/members/${name}/invitation`, boss)).status).to.equal(201)
    expect(await installationOf(name), 'invited again').to.equal('second')
    expect((await write('PUT', `apart/members/${name}`, boss, { role: 'Admin' })).status).to.equal(204)
    expect((await stage.writer.read(ownerOf(name)))?.spec).to.include({ installation: 'second', role: 'Admin' })
    const person = await stage.signIn('new@apart.dev')
    expect((await accept(person, await invitationFor('new@apart.dev'))).status).to.equal(200)
    expect((await stage.writer.read(ownerOf(name)))?.spec).to.deep.equal({
      ...spec,
      email: 'new@apart.dev',
      role: 'Admin',
    })
  })

  it('fit the plan, pending ones included, also of invitations at once', async () => {
    const boss = await stage.signIn('boss@small.dev')
    const told = await Promise.all(
      Array.from({ length: 6 }, (_, place) => invite(boss, { email: `p${place}@small.dev`, role: 'Viewer' }, 'small')),
    )
    expect(told.filter(({ status }) => status === 201)).to.have.length(2)
    // Whether they were refused before or only when they were written.
    const full = { error: 'plan_limit', limit: 'members', used: 3, allowed: 3, plan: 'Standard', message: FULL }
    const refused = told.filter(({ status }) => status !== 201)
    expect(refused.map(({ body }) => body)).to.deep.equal(Array(4).fill(full))
    expect(await stage.metrics()).to.include('whence_dashboard_limits_total{limit="members"} 4')
    const { body } = await invite(boss, { email: 'late@small.dev', role: 'Viewer' }, 'small')
    expect(body).to.deep.equal(full)
  })

  it('cannot be invited again after their time if their place was given to somebody else, who stays', async () => {
    let boss = await stage.signIn('boss@small.dev')
    const { body } = await invite(boss, { email: 'late@small.dev', role: 'Viewer' }, 'small')
    const again = () => write('POST', `small/members/${body['name']}/invitation`, boss)
    stage.advance(LIMITS.invitationMs)
    boss = await stage.signIn('boss@small.dev')
    for (const email of ['a@small.dev', 'b@small.dev']) {
      expect((await invite(boss, { email, role: 'Admin' }, 'small')).status).to.equal(201)
      const person = await stage.signIn(email)
      expect((await accept(person, await invitationFor(email))).status).to.equal(200)
    }
    const mails = stage.mails.length
    const told = await again()
    expect([told.status, told.body]).to.deep.equal([
      402,
      { error: 'plan_limit', limit: 'members', used: 3, allowed: 3, plan: 'Standard', message: FULL },
    ])
    await stage.mailSent()
    expect(stage.mails.length, 'no mail').to.equal(mails)
    expect(await rolesOf(await stage.signIn('b@small.dev'))).to.deep.equal({ small: 'Admin' })
  })

  it('can be invited again after their time while the plan has room for them, and before it even if it has none', async () => {
    let boss = await stage.signIn('boss@small.dev')
    const { body } = await invite(boss, { email: 'late@small.dev', role: 'Viewer' }, 'small')
    await invite(boss, { email: 'other@small.dev', role: 'Viewer' }, 'small')
    const again = async () => (await write('POST', `small/members/${body['name']}/invitation`, boss)).status
    expect(await again()).to.equal(201)
    stage.advance(LIMITS.invitationMs)
    boss = await stage.signIn('boss@small.dev')
    expect(await again()).to.equal(201)
  })

  it('cannot be invited again once they have accepted, even if the directory does not show it yet', async () => {
    const boss = await stage.signIn('boss@small.dev')
    const { body } = await invite(boss, { email: 'new@small.dev', role: 'Viewer' }, 'small')
    const invitation = await invitationFor('new@small.dev')
    const behind = stage.directory.members()
    const person = await stage.signIn('new@small.dev')
    await accept(person, invitation)
    const parts = {
      roster: { directory: { ...stage.directory, members: () => behind }, writer: stage.writer },
      hotState: stage.hotState,
      letters: { outbox: null, baseUrl: '' },
      randomness: createRandomness(),
      hash: String,
      trail: createTrail(async () => '', String),
    }
    const organization = stage.directory.organizations().get('small')
    const call = {
      params: { member: body['name'] },
      scope: { organization, role: 'Owner' },
      nowMs: stage.nowMs(),
      session: { person: 'p_0123456789abcdef' },
      requestId: 'r',
    }
    expect(await inviteAgain(parts as never)(call as never)).to.include({ code: 'conflict' })
    expect(await rolesOf(person)).to.deep.equal({ small: 'Viewer' })
  })

  it('whom a smaller plan left out are listed with the reason, and can be changed and removed; an Owner stays in force', async () => {
    const at = (kind: string, name: string) => ({ kind, namespace: 'default', name })
    const organization = at('Organization', 'shrunk')
    await stage.writer.create({ ...organization, spec: { displayName: 'Shrunk', plan: 'Standard' } })
    for (const [name, role] of [
      ['viewer', 'Viewer'],
      ['owner', 'Owner'],
      ['gone', 'Admin'],
    ] as const) {
      const spec = { organizationRef: { name: 'shrunk' }, email: `${name}@shrunk.dev`, role }
      expect((await stage.writer.create({ ...at('Member', name), spec })).kind).to.equal('written')
    }
    const stored = await stage.writer.read(organization)
    if (stored === null) throw new Error('the organisation is there')
    await stage.writer.writeBilling(stored, { plan: 'Free', billing: undefined })
    const owner = await stage.signIn('owner@shrunk.dev')
    expect(await rolesOf(owner)).to.deep.equal({ shrunk: 'Owner' })
    for (const email of ['viewer@shrunk.dev', 'gone@shrunk.dev'])
      expect(await rolesOf(await stage.signIn(email)), email).to.deep.equal({})
    const outOfForce = { reason: 'PlanLimit', message: FREE }
    const listed = async () =>
      (
        (await stage.ask('GET', '/api/organizations/shrunk/members', { cookies: owner })).body['members'] as {
          name: string
          role: string
          person: string
        }[]
      ).map(({ person, ...member }) => {
        expect(person).to.match(/^p_[0-9a-f]+$/)
        return member
      })
    expect(await listed()).to.deep.equal([
      { name: 'owner', kind: 'person', email: 'owner@shrunk.dev', role: 'Owner' },
      { name: 'viewer', kind: 'person', email: 'viewer@shrunk.dev', role: 'Viewer', outOfForce },
      { name: 'gone', kind: 'person', email: 'gone@shrunk.dev', role: 'Admin', outOfForce },
    ])
    // The older one would take the only place, and the Owner be out of force.
    const promoted = await write('PUT', 'shrunk/members/viewer', owner, { role: 'Owner' })
    expect([promoted.status, promoted.body['error']]).to.deep.equal([402, 'plan_limit'])
    expect((await write('PUT', 'shrunk/members/gone', owner, { role: 'Viewer' })).status).to.equal(204)
    expect((await listed())[2]?.role).to.equal('Viewer')
    expect((await write('DELETE', 'shrunk/members/gone', owner)).status).to.equal(204)
    expect((await listed()).map(({ name }: { name: string }) => name)).to.deep.equal(['owner', 'viewer'])
    expect((await write('DELETE', 'acme/members/viewer', await as('Owner'))).status, 'of another').to.equal(404)
  })

  it('who are out of force count neither as the Owner who is left nor as invited', async () => {
    const at = (kind: string, name: string) => ({ kind, namespace: 'default', name })
    const organization = at('Organization', 'shrunk')
    await stage.writer.create({ ...organization, spec: { displayName: 'Shrunk', plan: 'Standard' } })
    const expiresAt = new Date(stage.nowMs() + 86_400_000).toISOString().replace(/\.\d+/, '')
    const invitation = { id: '0'.repeat(32), expiresAt }
    for (const [name, more] of [
      ['owner', { role: 'Owner' }],
      ['second', { role: 'Owner' }],
      ['asked', { role: 'Viewer', invitation }],
    ] as const) {
      const spec = { organizationRef: { name: 'shrunk' }, email: `${name}@shrunk.dev`, ...more }
      expect((await stage.writer.create({ ...at('Member', name), spec })).kind).to.equal('written')
    }
    const stored = await stage.writer.read(organization)
    if (stored === null) throw new Error('the organisation is there')
    await stage.writer.writeBilling(stored, { plan: 'Free', billing: undefined })
    const owner = await stage.signIn('owner@shrunk.dev')
    expect((await write('POST', 'shrunk/leave', owner)).body).to.deep.equal({ error: 'last_owner' })
    const mails = stage.mails.length
    expect((await write('POST', 'shrunk/members/asked/invitation', owner)).body['error']).to.equal('plan_limit')
    await stage.mailSent()
    expect(stage.mails.length, 'no mail').to.equal(mails)
    const wish = { email: 'second@shrunk.dev', organization: 'shrunk' }
    expect(await ownerWish(stage, { ...wish, hash: String })).to.equal(
      `the person is a member (Owner) that is out of force: ${FREE}`,
    )
    expect((await write('DELETE', 'shrunk/members/second', owner)).status).to.equal(204)
  })

  it('are invited once, and 20 times a day in an organisation', async () => {
    const admin = await as('Admin')
    expect((await invite(admin, { email: ROLES.Viewer, role: 'Viewer' })).body).to.deep.equal({
      error: 'already_member',
    })
    const both = await Promise.all([0, 1].map(() => invite(admin, { email: 'new@acme.dev', role: 'Viewer' })))
    expect(both.map(({ status }) => status).sort()).to.deep.equal([201, 409])
    const { body } = await stage.ask('GET', '/api/organizations/acme/members', { cookies: admin })
    const { name } = (body['members'] as { name: string; email: string }[]).find(
      ({ email }) => email === 'new@acme.dev',
    ) ?? { name: '' }
    const statuses = []
    for (let times = 0; times < 20; times++)
      statuses.push((await write('POST', `acme/members/${name}/invitation`, admin)).status)
    expect(statuses.filter((status) => status === 429).length).to.be.within(1, 3)
    expect(statuses.at(-1)).to.equal(429)
  })

  it('own 5 organisations at most', async () => {
    for (let place = 0; place < 5; place++)
      await stage.apply(`o${place}.yaml`, organizationOf(`o${place}`, { members: { 'rich@acme.dev': 'Owner' } }))
    await invite(await as('Owner'), { email: 'rich@acme.dev', role: 'Owner' })
    const person = await stage.signIn('rich@acme.dev')
    expect((await accept(person, await invitationFor('rich@acme.dev'))).body).to.deep.equal({ error: 'person_limit' })
  })

  it('show their addresses only to Members and above', async () => {
    for (const role of Object.keys(ROLES) as Role[]) {
      const { text } = await stage.ask('GET', '/api/organizations/acme/members', { cookies: await as(role) })
      expect(text.includes('owner@acme.dev'), role).to.equal(role !== 'Viewer')
    }
  })

  it('name either a person or a group, with an existing role', async () => {
    const admin = await as('Admin')
    for (const body of [
      { role: 'Viewer' },
      { email: 'a@b.dev', group: 'g', role: 'Viewer' },
      { email: 'a@b.dev' },
      { email: 'A@b.dev', role: 'Viewer' },
      { email: 'a..b@x.dev', role: 'Viewer' },
      { email: 'a@-b.dev', role: 'Viewer' },
      { email: 'a@b.dev', role: 'Root' },
    ])
      expect((await invite(admin, body)).body['error'], JSON.stringify(body)).to.equal('invalid_field')
  })
})
