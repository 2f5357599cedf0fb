/** Support requests: durable before the answer, one mail each, with what was shown and nothing else. */

import { expect } from 'chai'

import { erasePerson, exportPerson } from '../../dashboard/people/personal-data.ts'
import { LIMITS, RATE_RULES } from '../../domain/limits.ts'
import { decodeRecord, type ActivityRecord, type MailJob } from '../../domain/records.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { until } from '../../fixtures/until.ts'
import { organizationOf, SECRET, startStage, type Stage, type Told } from './support/stage.ts'

const VIEWER = 'viewer@acme.dev'
const PATH = '/api/organizations/acme/support'

describe('support requests', () => {
  let stage: Stage
  let cookies = ''
  let ids = 0
  const manifests = [
    organizationOf('acme', { plan: 'Standard', members: { 'owner@acme.dev': 'Owner', [VIEWER]: 'Viewer' } }),
    ...['one', 'two'].map(
      (name) =>
        `apiVersion: whence.dev/v1alpha1\nkind: InstallPath\nmetadata: { name: ${name} }\nspec: { organizationRef: { name: acme } }\n`,
    ),
  ].join('---\n')
  beforeEach(async () => {
    stage = await startStage({ manifests, supportMail: 'help@whence.test' })
    cookies = await stage.signIn(VIEWER)
  })
  afterEach(() => stage?.stop())

  const newId = (): string => String(ids++).padStart(32, '0')
  const ask = (body: object, who = cookies): Promise<Told> =>
    stage.ask('POST', PATH, { cookies: who, body, address: `10.0.0.${ids % 250}` })
  const settled = async (): Promise<void> => {
    await stage.mailSent()
    await until(async () => (await stage.eventLog.progress('mail', 'mail')).done.length > 0)
  }

  it('go out with the message, and with the diagnostics that were shown', async () => {
    const shown = await stage.ask('GET', PATH, { cookies })
    expect(shown.body).to.deep.include({ isMailed: true })
    const { diagnostics } = shown.body
    expect(diagnostics).to.deep.include({ version: '1.2.3', plan: 'Standard', role: 'Viewer', errors: [] })
    expect(diagnostics.conditions).to.deep.include({
      kind: 'InstallPath',
      name: 'two',
      type: 'Accepted',
      reason: 'PlanLimit',
    })
    const told = await ask({ id: newId(), message: 'Wo sind meine Zahlen?\n.\nZeile', diagnostics })
    expect(told.status).to.equal(202)
    await settled()
    expect(stage.mails).to.have.length(1)
    const [mail = ''] = stage.mails
    expect(mail)
      .to.match(/^To: help@whence\.test$/m)
      .and.to.match(/^Reply-To: viewer@acme\.dev$/m)
    for (const part of ['Wo sind meine Zahlen?', 'Zeile', '"PlanLimit"', '"1.2.3"', told.body['request']])
      expect(mail).to.include(part)
    const activity = (await stage.eventLog.read('activity', 0, 10)).map(({ value }) =>
      decodeRecord<ActivityRecord>(value),
    )
    const asked = activity.filter(({ type }) => type !== 'sign_in')
    expect(asked.map(({ organization, type }) => [organization, type])).to.deep.equal([['acme', 'support_requested']])
    expect(JSON.stringify(activity) + stage.logLines.join('')).to.not.match(/viewer@acme|Zahlen/)
  })

  it('carry no diagnostics unless they are wanted, and none that the list does not name', async () => {
    await ask({ id: newId(), message: 'hello' })
    await settled()
    expect(stage.mails[0]).to.not.include('Diagnostics')
    for (const diagnostics of [
      { body: 'x' },
      { errors: [{ at: 1, code: 'anna@acme.dev' }] },
      { conditions: [{ kind: 'Member', name: 'anna', type: 'Ready', reason: 'x' }] },
      { version: 'a b' },
    ]) {
      const told = await ask({ id: newId(), message: 'hello', diagnostics })
      expect([told.status, told.body['error']], JSON.stringify(diagnostics)).to.deep.equal([400, 'invalid_field'])
    }
  })

  it('keep to the sizes of the contract, counted in code points and bytes', async () => {
    const most = LIMITS.supportMessageChars
    const name = 'n'.repeat(253)
    const condition = { kind: 'Website', name, type: 'Accepted', reason: 'PlanLimit' }
    const big = { conditions: Array.from({ length: 50 }, () => condition) }
    const statuses = [
      (await ask({ id: newId(), message: '😀'.repeat(most) })).status,
      (await ask({ id: newId(), message: '😀'.repeat(most) + 'x' })).status,
      (await ask({ id: newId(), message: '' })).status,
      (await ask({ id: newId(), message: 'x', diagnostics: big })).status,
    ]
    expect(statuses).to.deep.equal([202, 400, 400, 400])
  })

  it('repeated with one ID, by one person, are one mail', async () => {
    const id = newId()
    const owner = await stage.signIn('owner@acme.dev')
    const told = await Promise.all([1, 2, 3].map(() => ask({ id, message: 'once' })))
    expect(told.map(({ status }) => status)).to.deep.equal([202, 202, 202])
    expect(new Set(told.map(({ body }) => body['request'])).size).to.equal(1)
    await ask({ id, message: 'somebody else' }, owner)
    await until(() => stage.mails.length === 2)
    // Requests during which a letter was being sent check again.
    stage.advance(6_000)
    await until(async () => {
      const { done, ends } = await stage.eventLog.progress('mail.5s', 'mail')
      return ends.every((end, partition) => end === done[partition])
    })
    expect(stage.mails.filter((mail) => mail.includes('once'))).to.have.length(1)
  })

  it('are 5 a day for a person, and 20 for an organisation, with an entry in its activity', async () => {
    const statuses: number[] = []
    for (let times = 0; times <= RATE_RULES.support_per_person.limit; times++)
      statuses.push((await ask({ id: newId(), message: 'again' })).status)
    expect(statuses).to.deep.equal([202, 202, 202, 202, 202, 429])
    const last = await ask({ id: newId(), message: 'again' })
    expect(Object.keys(last.body)).to.deep.equal(['error', 'retryAfter'])
    expect(last.body['retryAfter']).to.be.within(1, 86_400)
    const rules = async (): Promise<readonly string[]> =>
      (await stage.eventLog.read('activity', 0, 1_000))
        .map(({ value }) => decodeRecord<ActivityRecord>(value))
        .filter(({ type }) => type === 'rate_limit_reached')
        .map(({ subject }) => subject)
    await until(async () => (await rules()).length > 0)
    expect(new Set(await rules())).to.deep.equal(new Set(['support_per_person']))
    const people = Array.from({ length: 4 }, (_, place) => `p${place}@acme.dev`)
    await stage.apply(
      'more.yaml',
      organizationOf('busy', {
        members: Object.fromEntries([...people, 'late@acme.dev'].map((each) => [each, 'Viewer'])),
      }),
    )
    const busy = '/api/organizations/busy/support'
    let taken = 0
    for (const person of [...people, ...people.slice(0, 1)]) {
      const who = await stage.signIn(person)
      for (let times = 0; times < RATE_RULES.support_per_person.limit; times++) {
        const body = { id: newId(), message: 'x' }
        const { status } = await stage.ask('POST', busy, { cookies: who, body, address: `10.1.0.${ids % 250}` })
        taken += status === 202 ? 1 : 0
      }
    }
    expect(taken).to.equal(RATE_RULES.support_per_organization.limit)
    // Whoever asked for nothing yet learns that the organisation did, and so does its activity.
    const who = await stage.signIn('late@acme.dev')
    const late = await stage.ask('POST', busy, {
      cookies: who,
      body: { id: newId(), message: 'x' },
      address: '10.3.0.1',
    })
    expect(late.status).to.equal(429)
    await until(async () => (await rules()).includes('support_per_organization'))
  })

  it('use up one place of the day, however often one is repeated', async () => {
    const owner = await stage.signIn('owner@acme.dev')
    const body = { id: newId(), message: 'once more' }
    for (let times = 0; times <= RATE_RULES.support_per_person.limit; times++)
      expect((await ask(body, owner)).status).to.equal(202)
    for (let times = 1; times < RATE_RULES.support_per_person.limit; times++)
      expect((await ask({ id: newId(), message: 'another' }, owner)).status, 'others have the rest').to.equal(202)
    expect((await ask({ id: newId(), message: 'another' }, owner)).status).to.equal(429)
    expect((await ask(body, owner)).status, 'a repeat').to.equal(202)
  })

  it('are refused before anything is promised while the log is unreachable, and if there is no recipient', async () => {
    const quiet = await startStage({ manifests })
    try {
      const who = await quiet.signIn(VIEWER)
      const told = await quiet.ask('POST', PATH, { cookies: who, body: { id: newId(), message: 'x' } })
      expect([told.status, told.body]).to.deep.equal([503, { error: 'mail_not_configured' }])
      expect((await quiet.ask('GET', PATH, { cookies: who })).body['isMailed']).to.equal(false)
    } finally {
      await quiet.stop()
    }
    await stage.eventLog.close()
    // A request that was not accepted uses up no window.
    for (let times = 0; times <= RATE_RULES.support_per_person.limit; times++)
      expect((await ask({ id: newId(), message: 'x' })).status).to.equal(503)
  })

  it('of a person who is erased are not sent, and are shown until then', async () => {
    const keys = createKeyring([SECRET])
    const { directory, writer, hotState, nowMs } = stage
    const asked: unknown[] = []
    const facts = {
      run: (async (query: string, params: { readonly type: string; readonly subject: string }) => {
        asked.push([query, params.type, params.subject])
        return ['acme', 'left-since'].map((organization) => ({ organization, noticed_at_ms: 5, message: 'Asked.' }))
      }) as never,
    }
    const parts = {
      roster: { directory, inventory: stage.inventory, writer },
      hotState,
      facts,
      nowMs,
      personId: keys.personId,
      onRemoved: async () => undefined,
    }
    const { supportRequests } = await exportPerson(VIEWER, parts)
    expect(supportRequests, 'also of organisations that the person has left').to.deep.equal([
      { organization: 'acme', at: 5, message: 'Asked.' },
      { organization: 'left-since', at: 5, message: 'Asked.' },
    ])
    expect(asked).to.deep.include(['activityAbout', 'support_requested', keys.personId(VIEWER)])
    const letter = { kind: 'support', organization: 'acme', person: keys.personId(VIEWER), email: VIEWER } as const
    const createdAtMs = nowMs() - 1
    await erasePerson(VIEWER, parts)
    const job: MailJob = {
      v: 1,
      mailId: 'f'.repeat(32),
      letter: { ...letter, message: 'late', diagnostics: '' },
      createdAtMs,
      deadlineAtMs: createdAtMs + 60_000,
      tries: 0,
      dueAtMs: createdAtMs,
    }
    await stage.eventLog.append('mail', [{ key: job.mailId, value: JSON.stringify(job) }])
    await settled()
    expect(stage.mails).to.deep.equal([])
  })
})
