/** The weekly mail over real parts: what it counts, who gets it, that each gets it once, and how a person ends it. */

import { expect } from 'chai'

import { createOutbox } from '../../dashboard/mail/outbox.ts'
import { exportPerson } from '../../dashboard/people/personal-data.ts'
import { createMailChoices } from '../../dashboard/weekly/choices.ts'
import { makeDue } from '../../dashboard/weekly/make.ts'
import { rollUp } from '../../delivery/rollup/rollup.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../domain/durations.ts'
import { eventOfActivity } from '../../domain/webhooks/events.ts'
import { decodeRecord, type ActivityRecord, type MailJob } from '../../domain/records.ts'
import { KEY_IDS } from '../../domain/receipt.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRandomness } from '../../runtime/random.ts'
import { until } from '../../fixtures/until.ts'
import { installRecord } from '../contract/fact-samples.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { OF, unmatchedAt, visitOf } from './support/sourced.ts'
import { organizationOf, SECRET, startStage, type Stage, websiteOf } from './support/stage.ts'

const WEEK_MS = 7 * DAY_MS
/** Half past nine in the winter of Berlin, on a Monday that is over. */
const MONDAY_MS = Math.floor((Date.now() - 4 * DAY_MS) / WEEK_MS) * WEEK_MS + 4 * DAY_MS - WEEK_MS
const NOW_MS = MONDAY_MS + 8.5 * HOUR_MS
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
const FROM = dayOf(MONDAY_MS - WEEK_MS)
const TO = dayOf(MONDAY_MS - DAY_MS)
const HOSTILE = '<img src=x onerror=alert(1)>"\'&\u202e'

const member = (organization: string, name: string, spec: string): string =>
  `---\napiVersion: whence.dev/v1alpha1\nkind: Member\nmetadata: { name: ${organization}-${name} }\nspec: { organizationRef: { name: ${organization} }, ${spec} }\n`
const INVITED = `email: ivo@acme.dev, role: Admin, mail: { weekly: true }, invitation: { id: ${'ab'.repeat(16)}, expiresAt: '${new Date(NOW_MS + DAY_MS).toISOString().slice(0, 19)}Z' }`
const MANIFESTS =
  organizationOf('acme', { timeZone: 'Europe/Berlin' }).replace(
    'displayName: acme Ltd',
    `displayName: 'Acme: "&" <b>'`,
  ) +
  websiteOf(OF.website, 'acme') +
  member('acme', 'anna', 'email: anna@acme.dev, role: Owner, mail: { weekly: true }') +
  member('acme', 'vera', 'email: vera@acme.dev, role: Viewer, mail: { weekly: true }') +
  member('acme', 'nils', 'email: nils@acme.dev, role: Admin') +
  member('acme', 'ivo', INVITED) +
  member('acme', 'crew', 'group: crew, role: Admin, mail: { weekly: true }') +
  '---\n' +
  organizationOf('empty') +
  member('empty', 'anna', 'email: anna@acme.dev, role: Owner, mail: { weekly: true }')

const ofWeek = (weeksAgo: number, day: number): number => MONDAY_MS - weeksAgo * WEEK_MS + day * DAY_MS + 12 * HOUR_MS

describe('the weekly mail', function () {
  this.timeout(120_000)
  let facts: TestFacts
  let stage: Stage
  let handled = 0
  before(async () => {
    facts = await openTestFacts()
    const records = [
      ...visitOf({ atMs: ofWeek(1, 0), source: 'news', campaign: 'launch', installs: 14 }),
      ...visitOf({ atMs: ofWeek(1, 3), source: 'ads', campaign: HOSTILE, installs: 9 }),
      ...visitOf({ atMs: ofWeek(1, 5) }),
      // Sunday at half past eleven in the evening of UTC is Monday in Berlin.
      ...visitOf({ atMs: MONDAY_MS - HOUR_MS / 2, source: 'late', installs: 3 }),
      unmatchedAt(ofWeek(1, 6)),
      unmatchedAt(ofWeek(1, 6)),
      installRecord({ ...OF, installationId: 'in-ci', receivedAtMs: ofWeek(1, 2), isCi: true }),
      ...visitOf({ atMs: ofWeek(2, 1), source: 'news', campaign: 'launch', installs: 25 }),
      ...visitOf({ atMs: ofWeek(2, 6) }),
      unmatchedAt(ofWeek(3, 1)),
    ]
    await storeCounted(facts, records, () => NOW_MS)
    await rollUp({ facts, nowMs: () => NOW_MS })
  })
  after(() => facts?.close())
  beforeEach(async () => {
    stage = await startStage({ manifests: MANIFESTS, facts, clock: () => NOW_MS, isOpen: false })
    handled = 0
  })
  afterEach(() => stage?.stop())

  const logger = createLogger({ program: 'test', level: 'silent' })
  const keys = createKeyring([SECRET])
  const partsOf = (hasMail = true) => {
    const { directory, inventory, eventLog, hotState, nowMs } = stage
    const outbox = hasMail ? createOutbox({ eventLog, randomness: createRandomness(), nowMs }) : null
    const stores = { eventLog, hotState, facts }
    return { roster: { directory, inventory }, stores, outbox, keyIds: KEY_IDS.filter(keys.hasKey), nowMs, logger }
  }
  const failures: unknown[] = []
  const newRound = () => ({
    done: new Map<string, string>(),
    signal: new AbortController().signal,
    failed: (error: unknown) => void failures.push(error),
  })
  const jobs = async (): Promise<readonly MailJob[]> =>
    (await stage.eventLog.read('mail', 0, 100)).map(({ value }) => decodeRecord<MailJob>(value))
  const activity = async (): Promise<readonly ActivityRecord[]> =>
    (await stage.eventLog.read('activity', 0, 100)).map(({ value }) => decodeRecord<ActivityRecord>(value))
  const summaries = async () => (await activity()).filter(({ type }) => type === 'weekly_summary')
  /** As the facts-writer does. */
  const storeActivity = async (): Promise<void> => {
    const all = await activity()
    await storeCounted(facts, all.slice(handled), () => NOW_MS)
    handled = all.length
  }
  const mailsTo = (address: string) => stage.mails.filter((mail) => mail.includes(`To: ${address}\r\n`))
  const endUrlIn = (mail: string): string => /List-Unsubscribe:\s+<([^>]+)>/.exec(mail)?.[1] ?? ''
  const cleanUp = async (): Promise<void> => {
    await facts.connection.command('TRUNCATE TABLE activity')
    await facts.connection.command('TRUNCATE TABLE mail_choices')
  }
  afterEach(cleanUp)

  it('has the numbers of the Overview, which webhooks get too', async () => {
    await makeDue(partsOf(), newRound())
    expect(failures).to.deep.equal([])
    const cookies = await stage.signIn('anna@acme.dev')
    const { body } = await stage.ask('GET', `/api/organizations/acme/overview?from=${FROM}&to=${TO}`, { cookies })
    const figuresOf = ({ installs, visits }: any) => ({
      installs: installs.installs,
      matched: installs.matched,
      lookedUp: installs.matched + installs.unmatched,
      counted: installs.counted,
      knownSource: installs.known_source,
      visits: visits.visits,
      converted: visits.converted,
    })
    const [record, ...others] = await summaries()
    expect(others).to.deep.equal([])
    const summary = record?.summary
    expect(summary?.now).to.deep.equal(figuresOf(body['total']))
    expect(summary?.before).to.deep.equal(figuresOf(body['before'].total))
    expect(summary?.changes[0]).to.deep.equal(body['largestChange'])
    expect(summary?.now).to.deep.include({ installs: 25, matched: 23, lookedUp: 25, visits: 3, converted: 2 })
    expect(summary?.before).to.deep.include({ installs: 25, visits: 2 })
    for (const { letter } of await jobs())
      expect(letter.kind === 'weekly' ? letter.summary : letter).to.deep.equal(summary)
    const event = eventOfActivity(record!, { organizations: new Map() })
    expect(event).to.deep.include({ type: 'summary.weekly', organization: 'acme', data: summary })
  })

  it('goes to people who want it, of every role, and to nobody else', async () => {
    await makeDue(partsOf(), newRound())
    await stage.mailSent()
    expect(stage.mails.map((mail) => /^To: (.*)$/m.exec(mail)?.[1]?.trim()).toSorted()).to.deep.equal([
      'anna@acme.dev',
      'vera@acme.dev',
    ])
  })

  it('is sent once, however often and in how many processes it is made', async () => {
    await Promise.all([makeDue(partsOf(), newRound()), makeDue(partsOf(), newRound())])
    await makeDue(partsOf(), newRound())
    await storeActivity()
    await stage.hotState.takeOnce(`mail-sent/weekly/acme/${FROM}`)
    // As if the hot state were lost: the facts know that it is done.
    await makeDue(partsOf(), newRound())
    await stage.mailSent()
    expect(mailsTo('anna@acme.dev')).to.have.length(1)
    expect(await summaries()).to.have.length(1)
  })

  for (const dies of [
    'before mail 1',
    'after mail 1',
    'before mail 2',
    'after mail 2',
    'before activity',
    'after activity',
  ]) {
    it(`is sent once to each if the process dies ${dies}, as soon as another looks`, async () => {
      const parts = partsOf()
      let mails = 0
      const dying = (step: string): void => {
        if (step === dies) throw new Error('killed')
      }
      const append: typeof stage.eventLog.append = async (topic, entries, options) => {
        const step = topic === 'mail' ? `mail ${++mails}` : topic
        dying(`before ${step}`)
        await stage.eventLog.append(topic, entries, options)
        dying(`after ${step}`)
      }
      const outbox = createOutbox({ eventLog: { append }, randomness: createRandomness(), nowMs: stage.nowMs })
      const stores = { ...parts.stores, eventLog: { append } }
      await makeDue({ ...parts, outbox, stores }, newRound())
      expect(failures.splice(0)).to.have.length(1)
      await makeDue(parts, newRound())
      await stage.mailSent()
      for (const address of ['anna@acme.dev', 'vera@acme.dev']) expect(mailsTo(address), address).to.have.length(1)
      // Written twice, it is one entry and one event: both have one ID.
      expect(new Set((await summaries()).map(({ id, atMs }) => `${id} ${atMs}`)).size).to.equal(1)
    })
  }

  it('is not made before Monday at nine, nor when that is long ago, nor for nobody', async () => {
    for (const nowMs of [MONDAY_MS + 6 * HOUR_MS, MONDAY_MS + 4 * DAY_MS])
      await makeDue({ ...partsOf(), nowMs: () => nowMs }, newRound())
    await makeDue(partsOf(false), newRound())
    expect(await jobs()).to.deep.equal([])
    expect(await activity()).to.deep.equal([])
  })

  it('comes late after an outage, and not again when the zone of the organisation changes', async () => {
    await makeDue({ ...partsOf(), nowMs: () => NOW_MS + DAY_MS }, newRound())
    expect(await jobs()).to.have.length(2)
    await storeActivity()
    await stage.hotState.takeOnce(`mail-sent/weekly/acme/${FROM}`)
    await stage.apply('all.yaml', MANIFESTS.replace('Europe/Berlin', 'Pacific/Honolulu'))
    await until(() => stage.directory.organizations().get('acme')?.timeZone === 'Pacific/Honolulu')
    // It is Monday at nine there as well.
    await makeDue({ ...partsOf(), nowMs: () => MONDAY_MS + 20 * HOUR_MS }, newRound())
    expect(failures).to.deep.equal([])
    expect(await jobs()).to.have.length(2)
    expect(await summaries()).to.have.length(1)
  })

  it('waits until the hours of the week are counted', async () => {
    const hour = MONDAY_MS - 2 * DAY_MS
    await facts.insert('hour_marks', [{ ...OF, hour, writer: 'w', made_at: NOW_MS, row_version: 1 }])
    await makeDue(partsOf(), newRound())
    expect(await jobs()).to.deep.equal([])
    await rollUp({ facts, nowMs: () => NOW_MS })
    await makeDue(partsOf(), newRound())
    expect(await jobs()).to.have.length(2)
  })

  it('shows what visitors and owners wrote as text, loads nothing, and has one header for each thing', async () => {
    await makeDue(partsOf(), newRound())
    await stage.mailSent()
    const [mail = ''] = mailsTo('anna@acme.dev')
    const html = mail.slice(mail.indexOf('<!doctype html>'))
    expect(html).to.contain('&#60;img src=x')
    expect(html).not.to.contain('<img')
    expect(mail).not.to.contain('\u202e')
    expect(html).to.contain('Acme: &#34;&#38;&#34; &#60;b&#62;')
    // The one that a visitor wrote.
    expect(html.match(/\bsrc=|\bbackground=|url\(|@import|<link/g)).to.deep.equal(['src='])
    const addresses = [...html.matchAll(/href="([^"]+)"/g)].map(([, address = '']) => address)
    expect(
      addresses.every((address) => address.startsWith(stage.url)),
      addresses.join(' '),
    ).to.equal(true)
    const head = mail.slice(0, mail.indexOf('\r\n\r\n'))
    for (const name of ['Subject', 'To', 'From', 'List-Unsubscribe'])
      expect(
        head.split('\r\n').filter((line) => line.startsWith(`${name}:`)),
        name,
      ).to.have.length(1)
    expect(endUrlIn(mail)).not.to.match(/anna|acme\.dev/)
  })

  it('ends by the button of a page or by the mail program, and only by these', async () => {
    await makeDue(partsOf(), newRound())
    await stage.mailSent()
    const url = endUrlIn(mailsTo('anna@acme.dev')[0] ?? '')
    const choices = createMailChoices({ facts, hotState: stage.hotState, noteActivity: async () => '' })
    for (const method of ['GET', 'HEAD']) expect((await fetch(url, { method })).status).to.equal(200)
    expect(await (await fetch(url)).text()).to.contain('Acme: &#34;&#38;&#34;')
    expect((await fetch(url, { method: 'DELETE' })).status).to.equal(405)
    expect(await choices.isEnded('acme', 'anna@acme.dev')).to.equal(false)
    const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })
    const told = await fetch(url, { method: 'POST', body })
    expect([told.status, (await told.text()).includes('has ended')]).to.deep.equal([200, true])
    expect((await fetch(url, { method: 'POST', body })).status).to.equal(200)
    expect((await activity()).filter(({ type }) => type === 'weekly_mail_ended')).to.have.length(1)
    expect(await choices.isEnded('acme', 'anna@acme.dev')).to.equal(true)
    expect(await choices.isEnded('acme', 'vera@acme.dev')).to.equal(false)
    expect(await choices.isEnded('empty', 'anna@acme.dev')).to.equal(false)
    for (const changed of [`${url}A`, `${url.slice(0, -2)}AA`, url.replace(/[^/]+$/, ''), url.replace(/[^/]+$/, 'x')])
      expect((await fetch(changed, { method: 'POST' })).status, changed).to.equal(404)
  })

  it('stays ended whatever a manifest says, and without the hot state, until the person wants it again', async () => {
    const cookies = await stage.signIn('anna@acme.dev')
    const path = '/api/organizations/acme/weekly-mail'
    const state = async () => (await stage.ask('GET', path, { cookies })).body['state']
    const choose = async (isOn: boolean) => (await stage.ask('PUT', path, { cookies, body: { isOn } })).status
    expect(await state()).to.equal('on')
    expect(await choose(false)).to.equal(204)
    expect(await state()).to.equal('ended')
    await storeActivity()
    const [ended] = (await activity()).filter(({ type }) => type === 'weekly_mail_ended')
    await stage.hotState.takeOnce(`mail-choice/${ended?.mailDigest}`)
    expect(await state(), 'from the facts alone').to.equal('ended')
    const { directory, inventory, writer, hotState, nowMs } = stage
    const { personId } = keys
    const people = {
      roster: { directory, inventory, writer },
      hotState,
      facts,
      nowMs,
      personId,
      onRemoved: async () => undefined,
    }
    expect((await exportPerson('anna@acme.dev', people)).endedWeeklyMails).to.deep.equal(['acme'])
    await makeDue(partsOf(), newRound())
    await stage.mailSent()
    expect(mailsTo('anna@acme.dev')).to.deep.equal([])
    expect(mailsTo('vera@acme.dev')).to.have.length(1)
    stage.advance(SECOND_MS)
    expect(await choose(true)).to.equal(204)
    expect(await state()).to.equal('on')
    await storeActivity()
    const [row] = await facts.run('mailChoices', { organization: 'acme', digests: [ended?.mailDigest ?? ''] })
    expect(row?.is_ended).to.equal(false)
  })

  it('is turned on by each for themselves, in their own Member where the dashboard may write that', async () => {
    const path = '/api/organizations/acme/weekly-mail'
    const cookies = await stage.signIn('nils@acme.dev')
    expect((await stage.ask('GET', path, { cookies })).body['state']).to.equal('off')
    const told = await stage.ask('PUT', path, { cookies, body: { isOn: true } })
    expect([told.status, told.body['error']]).to.deep.equal([409, 'managed_elsewhere'])
    expect(told.body['patch'].yaml).to.contain('weekly: true')
  })
})
