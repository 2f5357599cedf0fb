/** What is left of requests that a rate refused, and of invitations that nobody accepted. */

import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { expect } from 'chai'

import { deleteExpired } from '../../dashboard/people/expired.ts'
import { noteRefused } from '../../dashboard/http/refused.ts'
import { erasePerson, exportPerson } from '../../dashboard/people/personal-data.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { createRandomness } from '../../runtime/random.ts'
import { addFactRows } from '../../delivery/facts-writer/fact-rows.ts'
import { LIMITS, RATE_RULES } from '../../domain/limits.ts'
import { decodeRecord, type ActivityRecord, type RequestRecord } from '../../domain/records.ts'
import { until } from '../../fixtures/until.ts'
import { organizationOf, SECRET, startStage, type Stage } from './support/stage.ts'

const OWNER = 'owner@acme.dev'

describe('in the dashboard', () => {
  let stage: Stage
  beforeEach(async () => {
    const acme = organizationOf('acme', { members: { [OWNER]: 'Owner' } })
    stage = await startStage({
      manifests: `${acme}---\n${organizationOf('other', { members: { 'b@other.dev': 'Owner' } })}`,
    })
  })
  afterEach(() => stage?.stop())

  const records = async <T extends { readonly v: 1 }>(topic: 'requests' | 'activity'): Promise<readonly T[]> =>
    (await stage.eventLog.read(topic, 0, 1_000)).map(({ value }) => decodeRecord<T>(value))

  it('a reached rate is in Logs and activity of the organisation, and of no other', async () => {
    const cookies = await stage.signIn(OWNER)
    const address = '203.0.113.77'
    const ask = (path: string) => stage.ask('PUT', path, { cookies, address, body: { role: 'Viewer' } })
    const own = '/api/organizations/acme/members/secret-name'
    for (let times = 0; times < RATE_RULES.dashboard_writes.limit; times++) await ask(own)
    const refused = [await ask(own), await ask(own), await ask('/api/organizations/other/members/x')]
    expect(refused.map(({ status }) => status)).to.deep.equal([429, 429, 429])
    expect(Object.keys(refused[0]?.body ?? {})).to.deep.equal(['error', 'retryAfter'])
    await until(async () => (await records('requests')).length === 2 && (await records('activity')).length > 0)
    const requests = await records<RequestRecord>('requests')
    for (const { request } of requests)
      expect(request).to.include({
        organization: 'acme',
        status: 429,
        method: 'PUT',
        body: '',
        bodyForm: 'none',
        website: '',
      })
    expect(requests.map(({ request }) => request.path)).to.deep.equal(
      Array.from({ length: 2 }, () => '/api/organizations/:organization/members/:member'),
    )
    const kinds: unknown[] = []
    for (const record of requests)
      addFactRows(record, { topic: 'requests', partition: 0, offset: 0 }, (table, row) =>
        kinds.push([table, (row as { kind?: string }).kind]),
      )
    expect(kinds).to.deep.equal([
      ['request_logs', 'dashboard'],
      ['request_logs', 'dashboard'],
    ])
    const activity = (await records<ActivityRecord>('activity')).filter(({ type }) => type !== 'sign_in')
    expect(activity.map(({ organization, type, subject }) => [organization, type, subject])).to.deep.equal([
      ['acme', 'rate_limit_reached', 'dashboard_writes'],
    ])
    expect(JSON.stringify([requests, activity])).to.not.match(/owner@acme|203\.0\.113|secret-name/)
  })

  it('a reached rate at an address of no organisation is told to all organisations of the person', async () => {
    const cookies = await stage.signIn(OWNER)
    const ask = () => stage.ask('GET', '/api/me', { cookies })
    for (let times = 0; times < RATE_RULES.dashboard_reads.limit; times++) await ask()
    expect((await ask()).status).to.equal(429)
    await until(async () => (await records('requests')).length > 0 && (await records('activity')).length > 1)
    const requests = await records<RequestRecord>('requests')
    expect(requests.map(({ request }) => [request.organization, request.path])).to.deep.equal([['acme', '/api/me']])
    const activity = (await records<ActivityRecord>('activity')).filter(({ type }) => type !== 'sign_in')
    expect(activity.map(({ organization, type, subject }) => [organization, type, subject])).to.deep.equal([
      ['acme', 'rate_limit_reached', 'dashboard_reads'],
    ])
  })

  it('refused requests are recorded up to a number per second for each organisation, and the rest is counted', async () => {
    let nowMs = 5_000
    const appended: string[] = []
    let shed = 0
    let counted = 0
    const note = noteRefused({
      eventLog: { append: async (topic) => void appended.push(topic) },
      hotState: {
        countHits: async () => {
          counted += 1
          return { kind: 'limited', retryAfterS: 1 } as never
        },
      },
      randomness: createRandomness(),
      nowMs: () => nowMs,
      logger: SILENT_LOGGER,
      countShed: () => void (shed += 1),
    })
    const refuseMany = (organization: string, times: number): void => {
      for (let place = 0; place < times; place += 1)
        note({
          organization: { id: organization, logRetentionDays: 30 } as never,
          req: { method: 'GET', headers: {} } as never,
          route: '/api/x',
          by: { person: null, addressHash: 'a' },
          durationMs: 1,
          outcome: { kind: 'refused', code: 'rate_limited', rule: 'dashboard_reads' } as never,
        })
    }
    refuseMany('loud', 5_000)
    refuseMany('quiet', 3)
    expect([appended.length, counted, shed]).to.deep.equal([23, 23, 4_980])
    nowMs += 1_000
    refuseMany('loud', 5)
    expect([appended.length, counted, shed]).to.deep.equal([28, 28, 4_980])
    for (let place = 0; place < 2_000; place += 1) refuseMany(`each-${place}`, 1)
    expect(appended.length, 'of all organisations together').to.equal(23 + LIMITS.loggedRefusalsPerS)
  })

  it('changes and refusals are in the process log, reads only at the level debug, none with addresses or names', async () => {
    const cookies = await stage.signIn(OWNER)
    stage.logLines.splice(0)
    await stage.ask('GET', '/api/organizations/acme/members', { cookies })
    await stage.ask('POST', '/api/organizations/acme/members', {
      cookies,
      body: { email: 'x@acme.dev', role: 'Viewer' },
    })
    await stage.ask('PUT', '/api/organizations/acme/members/secret-name', { cookies, body: { role: 'Viewer' } })
    const lines = stage.logLines.map((line) => JSON.parse(line) as Record<string, unknown>)
    const told = lines.filter(({ msg }) => msg === 'dashboard')
    expect(told.map(({ level, method, status, code }) => [level, method, status, code])).to.deep.equal([
      ['debug', 'GET', 200, ''],
      ['info', 'POST', 201, ''],
      ['info', 'PUT', 404, 'not_found'],
    ])
    expect(JSON.stringify(told)).to.not.match(/x@acme|secret-name/)
  })

  it('a person is shown as a whole and erased: members, invitations, sessions and pins', async () => {
    const owner = await stage.signIn(OWNER)
    const invite = (email: string) =>
      stage.ask('POST', '/api/organizations/acme/members', { cookies: owner, body: { email, role: 'Viewer' } })
    await invite('gone@acme.dev')
    await invite('stays@acme.dev')
    const session = await stage.signIn('gone@acme.dev')
    const forgotten: string[] = []
    const parts = {
      roster: stage,
      hotState: stage.hotState,
      facts: { run: async () => [] },
      nowMs: stage.nowMs,
      personId: createKeyring([SECRET]).personId,
      onRemoved: async ({ name }: { readonly name: string }) => void forgotten.push(name),
    }
    const shown = await exportPerson('gone@acme.dev', parts)
    expect(shown.members.map(({ organization, role, isInvited }) => [organization, role, isInvited])).to.deep.equal([
      ['acme', 'Viewer', true],
    ])
    const erased = await erasePerson('gone@acme.dev', parts)
    expect([erased.removed, erased.left, erased.person]).to.deep.equal([shown.members, [], shown.person])
    expect(forgotten).to.deep.equal(shown.members.map(({ name }) => name))
    expect((await stage.ask('GET', '/api/me', { cookies: session })).status).to.equal(401)
    expect((await exportPerson('gone@acme.dev', parts)).members).to.deep.equal([])
    expect((await exportPerson('stays@acme.dev', parts)).members).to.have.length(1)
    // In files of others: reported, but not changed.
    const left = (await erasePerson(OWNER, parts)).left
    expect(left.map(({ manager }) => manager)).to.deep.equal(['all.yaml'])
    expect((await stage.ask('GET', '/api/me', { cookies: owner })).status, 'signed out all the same').to.equal(401)
  })

  it('a person whom a smaller plan left out is shown and erased as well, and does not come back with a larger one', async () => {
    const at = (kind: string, name: string) => ({ kind, namespace: 'default', name })
    const organization = at('Organization', 'shrunk')
    const planIs = async (plan: 'Free' | 'Standard') => {
      const stored = await stage.writer.read(organization)
      if (stored !== null) await stage.writer.writeBilling(stored, { plan, billing: undefined })
    }
    await stage.writer.create({ ...organization, spec: { displayName: 'Shrunk', plan: 'Standard' } })
    for (const [name, role] of [
      ['first', 'Owner'],
      ['gone', 'Admin'],
    ] as const) {
      const spec = { organizationRef: { name: 'shrunk' }, email: `${name}@shrunk.dev`, role }
      await stage.writer.create({ ...at('Member', `shrunk-${name}`), spec })
    }
    await planIs('Free')
    const { hotState, nowMs } = stage
    const parts = {
      roster: stage,
      hotState,
      nowMs,
      facts: { run: async () => [] },
      onRemoved: async () => undefined,
      personId: createKeyring([SECRET]).personId,
    }
    const member = {
      organization: 'shrunk',
      namespace: 'default',
      name: 'shrunk-gone',
      role: 'Admin',
      isInvited: false,
    }
    expect((await exportPerson('gone@shrunk.dev', parts)).members).to.deep.equal([member])
    expect((await erasePerson('gone@shrunk.dev', parts)).removed).to.deep.equal([member])
    await planIs('Standard')
    expect(JSON.stringify(stage.directory.members())).to.not.include('gone@')
    expect(await stage.writer.read(at('Member', 'shrunk-gone'))).to.equal(null)
    // Nobody belongs to an organisation that is gone, but the address is still there.
    const stored = await stage.writer.read(organization)
    await stage.writer.remove(organization, stored?.version ?? '')
    const { removed } = await erasePerson('first@shrunk.dev', parts)
    expect(removed.map(({ organization: of, name }) => [of, name])).to.deep.equal([['', 'shrunk-first']])
  })

  it('an invitation that expired 30 days ago is deleted, and no other', async () => {
    const cookies = await stage.signIn(OWNER)
    for (const email of ['old@acme.dev', 'renewed@acme.dev'])
      await stage.ask('POST', '/api/organizations/acme/members', { cookies, body: { email, role: 'Viewer' } })
    const names = () =>
      stage.directory
        .members()
        .map(({ name }) => name)
        .sort()
    const before = names()
    stage.advance(LIMITS.invitationMs + LIMITS.expiredInvitationMs - 60_000)
    expect(await deleteExpired(stage, stage.nowMs), 'a minute before').to.equal(0)
    const again = await stage.signIn(OWNER)
    const { body } = await stage.ask('GET', '/api/organizations/acme/members', { cookies: again })
    const renewed = (body['members'] as { name: string; email: string }[]).find(
      ({ email }) => email === 'renewed@acme.dev',
    )
    await stage.ask('POST', `/api/organizations/acme/members/${renewed?.name}/invitation`, { cookies: again })
    stage.advance(120_000)
    const deleted = await Promise.all([deleteExpired(stage, stage.nowMs), deleteExpired(stage, stage.nowMs)])
    expect(deleted[0] + deleted[1], 'of two at once').to.equal(1)
    expect(names())
      .to.have.length(before.length - 1)
      .and.to.include(renewed?.name)
    expect(JSON.stringify(stage.directory.members())).to.not.include('old@acme.dev')
  })
})
