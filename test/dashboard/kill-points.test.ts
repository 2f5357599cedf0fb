/** A process that dies anywhere between inviting and accepting: no member twice, none incomplete, and no promise broken. */

import { expect } from 'chai'

import { RECORD_TOPICS, WAITING_TIERS, type Topic } from '../../domain/records.ts'
import { organizationOf, startStage, type Stage, type Told } from './support/stage.ts'

const OWNER = 'owner@acme.dev'
const MEMBERS = '/api/organizations/acme/members'
/** Before and after each of them. */
const STEPS = ['append', 'create', 'replace'].flatMap((name) => [`before ${name}`, `after ${name}`])
const CANARY_ADDRESS = '203.0.113.77'
const canary = (name: string | number): string => `canary-${name}@acme.dev`

describe('a dashboard that dies while somebody is invited and accepts', () => {
  let stage: Stage
  let owner: string
  let steps: string[] = []
  let diesAt: number | null = null
  before(async () => {
    stage = await startStage({
      manifests: organizationOf('acme', { members: { [OWNER]: 'Owner' } }),
      onStep: (step) => {
        // A sign-in is recorded after its answer, at any time.
        if (step.endsWith(' note')) return
        steps.push(step)
        // Nothing after this runs any more, whatever was done before stays.
        if (diesAt !== null && steps.length > diesAt) throw new Error(`died ${step}`)
      },
    })
    owner = await stage.signIn(OWNER)
  })
  after(() => stage?.stop())

  const ask = (path: string, cookies: string, body?: object): Promise<Told> =>
    stage.ask('POST', path, { cookies, address: CANARY_ADDRESS, ...(body === undefined ? {} : { body }) })
  const membersOf = (email: string) =>
    stage.directory.members().filter(({ identity }) => identity.kind === 'person' && identity.email === email)
  const invitationOf = async (cookies: string): Promise<string | undefined> => {
    const { body } = await stage.ask('GET', '/api/me', { cookies })
    return (body['invitations'] as { id: string }[])[0]?.id
  }
  /** Invites and accepts as far as possible. Returns which of the two was answered ok. */
  const invited = async (email: string): Promise<{ readonly isInvited: boolean; readonly isIn: boolean }> => {
    const made = await ask(MEMBERS, owner, { email, role: 'Viewer' })
    if (made.status !== 201) return { isInvited: false, isIn: false }
    const cookies = await stage.signIn(email)
    const accepted = await ask('/api/invitations/accept', cookies, { invitation: await invitationOf(cookies) })
    return { isInvited: true, isIn: accepted.status === 200 }
  }

  it('has these steps', async () => {
    steps = []
    expect(await invited(canary('first'))).to.deep.equal({ isInvited: true, isIn: true })
    expect(steps).to.deep.equal(STEPS)
  })

  for (const [place, step] of STEPS.entries())
    it(`leaves one member with whom both sides can continue if it dies ${step}`, async () => {
      const email = canary(place)
      steps = []
      diesAt = place
      const told = await invited(email)
      diesAt = null
      expect(told.isIn, 'answered ok').to.equal(false)
      // Whatever was answered ok exists.
      if (told.isInvited) expect(membersOf(email)).to.have.length(1)
      // Both start over.
      const again = await ask(MEMBERS, owner, { email, role: 'Viewer' })
      expect(again.status === 201 || again.body['error'] === 'already_member', again.text).to.equal(true)
      const cookies = await stage.signIn(email)
      const invitation = await invitationOf(cookies)
      if (invitation !== undefined)
        expect((await ask('/api/invitations/accept', cookies, { invitation })).status).to.equal(200)
      const found = membersOf(email).map(({ role, invitation: open }) => [role, open])
      expect(found).to.deep.equal([['Viewer', null]])
    })

  it('sends nobody two letters', async () => {
    await stage.mailSent()
    const mailsTo = (name: string | number) => stage.mails.filter((mail) => mail.includes(canary(name))).length
    // A person who accepts before a letter is sent needs none.
    expect(['first', ...STEPS.keys()].filter((name) => mailsTo(name) > 1)).to.deep.equal([])
  })

  it('leaves addresses of people and of their machines in no line, no entry of the log and no name of an object', async () => {
    const topics: readonly Topic[] = [...RECORD_TOPICS, 'mail', ...WAITING_TIERS.map((tier): Topic => `mail.${tier}`)]
    const read = await Promise.all(topics.map((topic) => stage.eventLog.read(topic, 0, 10_000)))
    const entries = read.flat().map(({ key, value }) => `${key} ${value}`)
    expect(entries.length).to.be.greaterThan(5)
    expect(stage.logLines.length).to.be.greaterThan(5)
    const names = [...(await stage.writtenFiles()), ...stage.directory.members().map(({ name }) => name)]
    const all = [...entries, ...stage.logLines, ...names]
    expect(all.filter((text) => text.includes('canary-') || text.includes(CANARY_ADDRESS))).to.deep.equal([])
  })
})
