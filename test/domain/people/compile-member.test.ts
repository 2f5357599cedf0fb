/** Which Members are in force. */

import { createHash } from 'node:crypto'

import { expect } from 'chai'

import { compileCatalog, type Compilation } from '../../../domain/catalog/compile-catalog.ts'
import { compile, findings, organization, resource } from '../../../fixtures/service/manifests.ts'

import { NO_ADDRESSES } from '../../support/no-addresses.ts'

const organizationRef = { name: 'acme' }
const ID = '0123456789abcdef0123456789abcdef'
const invitation = { id: ID, expiresAt: '2026-11-29T06:00:00Z' }
const member = (name: string, spec: object = {}, metadata: object = {}) =>
  // As in YAML: undefined members are absent.
  JSON.parse(
    JSON.stringify(
      resource('Member', name, { organizationRef, email: `${name}@acme.dev`, role: 'Owner', ...spec }, { ...metadata }),
    ),
  ) as unknown

const ACME = organization('acme')

function compileAt(time: string, ...objects: readonly unknown[]): Compilation {
  return compileCatalog({
    objects: objects.map((value, index) => ({ value, locate: (field) => `object ${index}${field}` })),
    sha256Hex: (text) => createHash('sha256').update(text).digest('hex'),
    nowMs: Date.parse(time),
  })
}

describe('members', () => {
  it('want the weekly mail if their object says so', () => {
    const { people } = compile(ACME, member('anna', { mail: { weekly: true } }), member('ivo', { mail: {} }))
    expect(people.members.map(({ name, wantsWeeklyMail }) => [name, wantsWeeklyMail])).to.deep.equal([
      ['anna', true],
      ['ivo', false],
    ])
  })

  it('are persons or groups with a role, and are no part of the catalog', () => {
    const without = compile(ACME)
    const group = { email: undefined, group: 'Platform Team', role: 'Viewer' }
    const {
      people: { members },
      problems,
      catalog,
    } = compile(ACME, member('anna'), member('team', group))
    expect(problems).to.deep.equal([])
    expect(catalog.version).to.equal(without.catalog.version)
    const common = { namespace: 'default', organization: 'acme', invitation: null, wantsWeeklyMail: false }
    expect(members).to.deep.equal([
      { ...common, name: 'anna', identity: { kind: 'person', email: 'anna@acme.dev' }, role: 'Owner' },
      { ...common, name: 'team', identity: { kind: 'group', group: 'Platform Team' }, role: 'Viewer' },
    ])
  })

  it('name exactly one person or group, and only persons are invited', () => {
    const both = member('a', { group: 'team' })
    const none = member('b', { email: undefined })
    const invited = member('c', { email: undefined, group: 'team', invitation })
    expect(findings(compile(ACME, both, none, invited))).to.deep.equal([
      'Member/a InvalidField spec: must have either email or group, and not both',
      'Member/b InvalidField spec: must have either email or group, and not both',
      'Member/c InvalidField spec: a group has no invitation',
    ])
  })

  it('have an address in lower case and no other spelling of it', () => {
    for (const email of [
      'Anna@acme.dev',
      'anna@acme',
      'anna',
      'a b@acme.dev',
      'anna@acme.dev\n',
      'anna@äcme.dev',
      '@a.b',
    ])
      expect(compile(ACME, member('anna', { email })).people.members, email).to.deep.equal([])
    for (const email of NO_ADDRESSES)
      expect(compile(ACME, member('anna', { email })).people.members, JSON.stringify(email)).to.deep.equal([])
    for (const email of ["o'brien@acme.dev", 'a+b@mail.acme.dev', 'a.b-c_d@xn--cme-pla.dev'])
      expect(compile(ACME, member('anna', { email })).people.members, email).to.have.length(1)
  })

  it('have names, as every object that people name, without what is not seen, steers a terminal or turns text around', () => {
    const wrong = [
      '\u0000',
      '\n',
      '\u001b',
      '\u007f',
      '\u0085',
      '\u009b',
      '\u00ad',
      '\u034f',
      '\u061c',
      '\u115f',
      '\u1160',
      '\u17b4',
      '\u180e',
      '\u200b',
      '\u200e',
      '\u200f',
      '\u2028',
      '\u202a',
      '\u202e',
      '\u2066',
      '\u2069',
      '\u206a',
      '\u206f',
      '\u2800',
      '\u3164',
      '\ufeff',
      '\uffa0',
      '\ufff0',
      '\ufff9',
    ]
    for (const character of wrong) {
      const name = `Ac${character}me`
      const group = member('team', { email: undefined, group: name, role: 'Viewer' })
      const path = resource('InstallPath', 'path', { organizationRef, displayName: name })
      const found = findings(compile(ACME, group, path, organization('named', { displayName: name })))
      expect(
        found.map((each) => each.split(' ', 2).join(' ')),
        JSON.stringify(name),
      ).to.have.members([
        'Organization/named InvalidField',
        'InstallPath/path InvalidField',
        'Member/team InvalidField',
      ])
    }
    for (const name of ['Ünïcode Ltd', '株式会社', 'علامة', 'می\u200cخواهم', '👩\u200d💻', "O'Brien & Sons"])
      expect(
        findings(compile(ACME, resource('InstallPath', 'path', { organizationRef, displayName: name }))),
        name,
      ).to.deep.equal([])
  })

  it('belong only to the Organization of their own namespace', () => {
    const abroad = member('anna', {}, { namespace: 'shop' })
    expect(findings(compile(ACME, abroad))).to.deep.equal([
      'Member/shop/anna RefNotFound spec.organizationRef.name: there is no Organization acme in namespace shop',
    ])
    const named = member('anna', { organizationRef: { name: 'acme', namespace: 'default' } }, { namespace: 'shop' })
    const open = organization('acme', { allowedNamespaces: { from: 'All' } })
    expect(compile(open, named).people.members).to.deep.equal([])
  })

  it('count once: of two with one address the older counts', () => {
    const {
      people: { members },
      problems,
    } = compile(ACME, member('anna'), member('b', { email: 'anna@acme.dev', role: 'Viewer' }))
    expect(members.map(({ name }) => name)).to.deep.equal(['anna'])
    expect(problems.map(({ reason, object }) => `${object} ${reason}`)).to.deep.equal(['Member/b Duplicate'])
  })

  it('fit the plan, pending ones included, but not those whose invitation has expired', () => {
    const standard = organization('acme', { plan: 'Standard' })
    const objects = [standard, member('a'), member('b', { invitation }), member('c'), member('d')]
    const before = compileAt('2026-11-29T05:59:59Z', ...objects)
    expect(findings(before)).to.deep.equal([
      'Member/d PlanLimit the plan Standard allows 3 members; whoever runs this service can set `plan: Enterprise` in the Organization',
    ])
    const after = compileAt('2026-11-29T06:00:00Z', ...objects)
    expect(findings(after)).to.deep.equal([])
    expect(after.people.members.map(({ name }) => name)).to.deep.equal(['a', 'b', 'c', 'd'])
  })

  it('keep an Owner when the plan has fewer places: the oldest one comes first, then the oldest members', () => {
    const viewer = member('viewer', { role: 'Viewer' })
    const others = [member('pending', { invitation }), member('team', { email: undefined, group: 'team' })]
    const owners = [member('owner'), member('second')]
    const all = [viewer, ...others, ...owners, member('gone', { role: 'Admin' })]
    const free = compile(organization('acme', { plan: 'Free' }), ...all)
    expect(free.people.members.map(({ name }) => name)).to.deep.equal(['owner'])
    expect(findings(free)).to.deep.equal(
      ['viewer', 'pending', 'team', 'second', 'gone'].map(
        (name) =>
          `Member/${name} PlanLimit the plan Free allows 1 member; whoever runs this service can set \`plan: Standard\` in the Organization`,
      ),
    )
    const standard = compile(organization('acme', { plan: 'Standard' }), ...all)
    expect(standard.people.members.map(({ name }) => name)).to.deep.equal(['viewer', 'pending', 'owner'])
  })

  it('keep an Owner who may own the organisation, and not one who owns too many', () => {
    const many = Array.from({ length: 5 }, (_, place) => `org-${place}`)
    const anna = (name: string) => member(`anna-${name}`, { organizationRef: { name }, email: 'anna@acme.dev' })
    const free = organization('acme', { plan: 'Free' })
    const both = [member('anna'), member('viewer', { role: 'Viewer' }), member('owner')]
    const { members } = compile(free, ...many.map((name) => organization(name)), ...many.map(anna), ...both).people
    expect(members.filter((each) => each.organization === 'acme').map(({ name }) => name)).to.deep.equal(['owner'])
  })

  it('own 5 organisations and belong to 20, and invitations by strangers use up neither', () => {
    const many = Array.from({ length: 24 }, (_, place) => `org-${place}`)
    const anna = (name: string, spec: object = {}) =>
      member(`anna-${name}`, { organizationRef: { name }, email: 'anna@acme.dev', ...spec })
    const organizations = many.map((name) => organization(name))
    const pending = many.slice(0, 3).map((name) => anna(name, { invitation }))
    const owned = many.slice(3, 9).map((name) => anna(name))
    const joined = many.slice(9).map((name) => anna(name, { role: 'Viewer' }))
    const {
      people: { members },
      problems,
    } = compile(...organizations, ...pending, ...owned, ...joined)
    const active = members.filter(({ invitation: open }) => open === null)
    expect(active.filter(({ role }) => role === 'Owner')).to.have.length(5)
    expect(active).to.have.length(20)
    const refused = problems.filter(({ isWarning }) => isWarning !== true)
    expect(refused.map(({ reason }) => reason)).to.deep.equal(['PersonLimit'])
    expect(refused.map(({ message }) => message).join()).to.not.include('org-')
  })

  it('warn about an organisation whose members have no Owner who is a person', () => {
    const group = member('team', { email: undefined, group: 'team' })
    const findingsOf = (...members: readonly unknown[]) => findings(compile(ACME, ...members))
    const warning = 'Organization/acme NoOwner no person among its members is its Owner'
    expect(findingsOf(group)).to.deep.equal([warning])
    expect(findingsOf(member('anna', { invitation }))).to.deep.equal([warning])
    expect(findingsOf(group, member('anna'))).to.deep.equal([])
    expect(findingsOf()).to.deep.equal([])
  })
})
