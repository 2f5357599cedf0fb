/** `POST /v1/events`: which visit an install belongs to, reported once. */

import { expect } from 'chai'
import { LIMITS } from '../../domain/limits.ts'
import { issueReceipt, issueToken } from '../../domain/receipt.ts'
import { newId } from '../../fixtures/service/requests.ts'
import { until } from '../../fixtures/until.ts'
import { eventBody, manifestsWith, startApi, TEST_ORIGIN, visitBody, type Api } from './support/api.ts'
import { claimsOf, KEYS } from './support/keys.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

describe('POST /v1/events', () => {
  let api: Api
  before(async () => {
    api = await startApi()
  })
  after(() => api.stop())

  const report = async (more: Record<string, unknown> = {}): Promise<Record<string, any>> => {
    const reply = await api.event(more)
    expect(reply.status, reply.text).to.equal(200)
    return reply.body
  }
  const installOf = async (eventId: string) => {
    await api.service.drain('facts-writer')
    const rows = await api.service.facts.run('installsByEventId', { event_id: eventId })
    expect(rows.length).to.equal(1)
    return rows[0]!
  }
  /** A receipt of any age, made with the service's own keys and activated; `restMs` is the time left before it expires. */
  const aged = async (ageMs: number): Promise<string> => {
    const receipt = issue({ issuedAtMs: api.service.nowMs() - ageMs })
    expect((await api.activate(receipt)).status).to.equal(200)
    return receipt
  }
  const issue = (more: Partial<Parameters<typeof issueReceipt>[1]> = {}): string =>
    issueReceipt(KEYS, {
      organization: 'acme',
      website: 'acme-dev',
      origin: TEST_ORIGIN,
      issuedAtMs: api.service.nowMs(),
      random: Uint8Array.from(Buffer.from(newId().slice(0, 10), 'hex')),
      isHandoffOnly: false,
      isUnrecorded: false,
      gpc: false,
      ...more,
    }).text

  describe('200', () => {
    it('ties an install to the visit whose receipt it carries', async () => {
      const body = await report({ receipts: [await api.activeReceipt()] })
      expect(body).to.deep.include({
        ok: true,
        duplicate: false,
        resolution: 'matched',
        candidate_count: 1,
        selection_policy: 'latest_visit',
      })
      expect(body['ga']).to.deep.equal({
        status: 'pending',
        deliveries: [{ destination: 'acme-ga4', status: 'pending', session_mode: 'original_session_window' }],
      })
    })

    it('answers with the fields of the contract and without identifiers', async () => {
      const receipt = await api.activeReceipt({ referrer: 'https://secret.example/page' })
      const event = eventBody({ receipts: [receipt] })
      const reply = await api.post('/v1/events', event)
      expect(Object.keys(reply.body)).to.have.members([
        'ok',
        'event_id',
        'duplicate',
        'resolution',
        'candidate_count',
        'selection_policy',
        'ga',
      ])
      expect(reply.body['event_id']).to.equal(event['event_id'])
      for (const hidden of [
        receipt,
        claimsOf(receipt).visitId,
        'secret.example',
        '123456789',
        event['installation_id'],
      ]) {
        expect(reply.text).to.not.include(hidden)
      }
    })

    it('writes one row and one delivery that name the same visit', async () => {
      const receipt = await api.activeReceipt({ page_url: `${TEST_ORIGIN}/same` })
      const event = eventBody({ receipts: [receipt] })
      await api.post('/v1/events', event)
      const deliveries = () =>
        api.service.facts.run('deliveriesOfInstall', {
          organization: 'acme',
          website: 'acme-dev',
          event_id: event['event_id'],
        })
      // On a busy machine the visit may reach the facts so late that the install waits for it in a tier.
      await until(async () => (await deliveries())[0]?.status === 'delivered')
      const install = await installOf(event['event_id'])
      const asked = { organizations: ['acme'], websites: ['acme-dev'], visit_ids: [install.visit_id] }
      const [visit] = await api.service.facts.run('visitsByIds', asked)
      expect(visit!.page_url).to.equal(`${TEST_ORIGIN}/same`)
      const clientId = JSON.parse(visit!.identities).ga4['G-TEST000001'].client_id
      const hits = api.service.ga4.requests().filter(({ body }) => (body as any).client_id === clientId)
      expect(hits.at(-1)?.messages).to.deep.equal([])
      const [delivery] = await deliveries()
      expect(delivery).to.deep.include({ destination: 'acme-ga4', status: 'delivered' })
    })

    it('chooses the latest of several candidates and counts each visit once', async () => {
      const receipts = [await api.activeReceipt(), await api.activeReceipt(), await api.activeReceipt()]
      const event = eventBody({ receipts: [receipts[2], receipts[0], receipts[2], receipts[1], receipts[0]] })
      const { body } = await api.post('/v1/events', event)
      expect(body).to.deep.include({ resolution: 'matched', candidate_count: 3, selection_policy: 'latest_visit' })
      const newest = receipts
        .map((receipt) => claimsOf(receipt))
        .toSorted((a, b) => b.issuedAtMs - a.issuedAtMs || (b.visitId > a.visitId ? 1 : -1))
      expect((await installOf(event['event_id'])).visit_id).to.equal(newest[0]?.visitId)
    })

    it('stores the verdict of every receipt it looked at', async () => {
      const revoked = await api.activeReceipt()
      const active = await api.activeReceipt({ previous_receipt: revoked })
      const receipts = [
        active,
        revoked,
        (await api.visit()).body['marker'].receipt,
        issue({ issuedAtMs: api.service.nowMs() - 31 * DAY_MS }),
        issue({ isHandoffOnly: true }),
        issue({ isUnrecorded: true }),
        issue({ issuedAtMs: api.service.nowMs() + HOUR_MS }),
        issue({ website: 'other-dev' }),
        'A'.repeat(43),
        '🚀'.repeat(43),
      ]
      const event = eventBody({ receipts })
      const { body } = await api.post('/v1/events', event)
      expect(body).to.deep.include({ resolution: 'matched', candidate_count: 1 })
      const verdicts = JSON.parse((await installOf(event['event_id'])).verdicts) as { verdict: string }[]
      expect(verdicts.map(({ verdict }) => verdict)).to.deep.equal([
        'active',
        'revoked',
        'never_activated',
        'expired',
        'handoff_only',
        'unrecorded',
        'forged',
        'forged',
        'forged',
        'forged',
      ])
    })

    it('ignores receipts that are not candidates and still records the install', async () => {
      const body = await report({ receipts: ['A'.repeat(43), (await api.visit()).body['marker'].receipt] })
      expect(body).to.deep.include({ resolution: 'unmatched', candidate_count: 0, selection_policy: 'none' })
      expect(body['ga']).to.deep.equal({
        status: 'skipped',
        deliveries: [{ destination: 'acme-ga4', status: 'skipped', session_mode: 'none' }],
      })
    })

    it('accepts 64 receipts', async () => {
      const receipts = [...Array.from({ length: 63 }, () => issue()), await api.activeReceipt()]
      // Receipts that no store knows are decided once ClickHouse has everything.
      await api.service.drain('facts-writer')
      const body = await report({ receipts })
      expect(body).to.deep.include({ resolution: 'matched', candidate_count: 1 })
    })

    it('matches on the 30th day and not on the 31st', async () => {
      const receipt = await aged(30 * DAY_MS - 2 * HOUR_MS)
      expect(await report({ receipts: [receipt] })).to.deep.include({ resolution: 'matched' })
      api.service.advance(3 * HOUR_MS)
      expect(await report({ receipts: [receipt] })).to.deep.include({ resolution: 'unmatched' })
    })

    it('stores the machine facts of the contract, as text or as a list, and ignores others', async () => {
      const event = eventBody({
        browsers: 'chromium',
        arch: ['arm64', 'x86_64'],
        default_browser: ['firefox'],
        timezone: 'Europe/Berlin',
        language: ['de_DE.UTF-8'],
        hostname: 'unknown1',
        platform: 'darwin',
      })
      await api.post('/v1/events', event)
      const row = await installOf(event['event_id'])
      expect(row).to.deep.include({
        arch: '["arm64","x86_64"]',
        default_browser: 'firefox',
        timezone: 'Europe/Berlin',
        language: 'de_DE.UTF-8',
        platform: 'darwin',
      })
      expect(row.browsers).to.deep.equal(['chromium'])
      expect(JSON.stringify(row)).to.not.include('unknown1')
    })

    it('stores what the installer states, the country of the time zone, and whether it ran in CI or a container', async () => {
      const stated = { product_version: 'v1.4.0', place: 'README – top', ci: true, container: true }
      const event = eventBody({ ...stated, timezone: 'Asia/Calcutta' })
      await api.post('/v1/events', event)
      const row = await installOf(event['event_id'])
      expect(row).to.deep.include({
        product_version: 'v1.4.0',
        place: 'README – top',
        country: 'IN',
        is_ci: true,
        is_container: true,
      })
      const other = eventBody({ product_version: '', place: null, timezone: 'Etc/UTC' })
      await api.post('/v1/events', other)
      const none = { product_version: '', place: '', country: '', is_ci: false, is_container: false }
      expect(await installOf(other['event_id'])).to.deep.include(none)
    })

    it('stores the coding agent that the hook names, and why there is no visit', async () => {
      const rows = []
      for (const userAgent of ['whence-hook/1 agent/claude-code', 'whence-hook/1', 'Mozilla/5.0 agent/codex']) {
        const event = eventBody({ receipts: ['A'.repeat(43)] })
        await api.post('/v1/events', event, { headers: { 'user-agent': userAgent } })
        rows.push(await installOf(event['event_id']))
      }
      expect(rows.map(({ agent }) => agent)).to.deep.equal(['claude-code', '', ''])
      expect(rows.map(({ reason }) => reason)).to.deep.equal(['forged', 'forged', 'forged'])
      const event = eventBody()
      await api.post('/v1/events', event)
      expect((await installOf(event['event_id'])).reason).to.equal('no_receipt')
    })

    it('accepts an event with only the required fields', async () => {
      const body = { project: 'acme-dev', event_id: newId(), installation_id: newId(), event_type: 'first_run' }
      expect((await api.post('/v1/events', body)).body).to.deep.include({ resolution: 'unmatched', duplicate: false })
    })

    it('accepts identifiers of 8 and of 128 characters', async () => {
      for (const id of ['a'.repeat(8), `${'Z_-9'.repeat(32)}`]) {
        expect((await report({ event_id: id, installation_id: id }))['event_id']).to.equal(id)
      }
    })
  })

  describe('a handoff token', () => {
    it('is matched by itself', async () => {
      const { token } = (await api.handoff(visitBody())).body
      expect(await report({ handoff: token })).to.deep.include({
        resolution: 'matched',
        candidate_count: 1,
        selection_policy: 'handoff',
      })
    })

    it('leaves the event unmatched if it is unusable, and is never an error', async () => {
      const expired = issueReceipt(KEYS, {
        organization: 'acme',
        website: 'acme-dev',
        origin: TEST_ORIGIN,
        issuedAtMs: api.service.nowMs() - 31 * DAY_MS,
        random: new Uint8Array(5),
        isHandoffOnly: true,
        isUnrecorded: false,
        gpc: false,
      })
      const foreign = issueReceipt(KEYS, {
        organization: 'acme',
        website: 'other-dev',
        origin: TEST_ORIGIN,
        issuedAtMs: api.service.nowMs(),
        random: new Uint8Array(5),
        isHandoffOnly: true,
        isUnrecorded: false,
        gpc: false,
      })
      const ahead = issueReceipt(KEYS, {
        organization: 'acme',
        website: 'acme-dev',
        origin: TEST_ORIGIN,
        issuedAtMs: api.service.nowMs() + HOUR_MS,
        random: new Uint8Array(5),
        isHandoffOnly: true,
        isUnrecorded: false,
        gpc: false,
      })
      const tokens = [
        '',
        'wht_',
        `wht_${'A'.repeat(43)}`,
        'x'.repeat(9_000),
        '\u0000',
        '\ud800',
        await api.activeReceipt(),
        issueToken(KEYS, { organization: 'acme', website: 'acme-dev' }, expired.claims, false),
        issueToken(KEYS, { organization: 'acme', website: 'other-dev' }, foreign.claims, false),
        issueToken(KEYS, { organization: 'acme', website: 'acme-dev' }, ahead.claims, false),
      ]
      for (const handoff of tokens) {
        expect(await report({ handoff }), handoff.slice(0, 50)).to.deep.include({
          resolution: 'unmatched',
          selection_policy: 'none',
        })
      }
    })

    it('may come with an empty list of receipts', async () => {
      const { token } = (await api.handoff(visitBody())).body
      expect(await report({ handoff: token, receipts: [] })).to.deep.include({ resolution: 'matched' })
      expect(await report({ handoff: token, receipts: null })).to.deep.include({ resolution: 'matched' })
    })

    it('is none if it is empty, beside receipts too', async () => {
      const receipt = await api.activeReceipt()
      expect(await report({ handoff: '', receipts: [receipt] })).to.deep.include({
        resolution: 'matched',
        selection_policy: 'latest_visit',
      })
      const eventId = newId()
      await report({ event_id: eventId, handoff: '' })
      expect(JSON.parse((await installOf(eventId)).verdicts)).to.deep.equal([])
    })

    it('is 400 handoff_excludes_receipts together with receipts', async () => {
      const reply = await api.event({ handoff: 'wht_x', receipts: ['A'.repeat(43)] })
      expect(reply.status).to.equal(400)
      expect(reply.body).to.deep.equal({ error: 'handoff_excludes_receipts' })
    })
  })

  describe('same_installation', () => {
    it('follows an installation to the visit of its first event', async () => {
      const first = eventBody({ receipts: [await api.activeReceipt()] })
      await api.post('/v1/events', first)
      const body = await report({ installation_id: first['installation_id'], event_type: 'first_run' })
      expect(body).to.deep.include({ resolution: 'matched', candidate_count: 0, selection_policy: 'same_installation' })
      expect(body['ga'].deliveries[0]).to.deep.include({ status: 'pending' })
    })

    it('yields to candidates of the event itself', async () => {
      const first = eventBody({ receipts: [await api.activeReceipt()] })
      await api.post('/v1/events', first)
      const body = await report({ installation_id: first['installation_id'], receipts: [await api.activeReceipt()] })
      expect(body).to.deep.include({ selection_policy: 'latest_visit', candidate_count: 1 })
    })

    it('applies if a token or all receipts are unusable', async () => {
      const first = eventBody({ receipts: [await api.activeReceipt()] })
      await api.post('/v1/events', first)
      const installation_id = first['installation_id']
      for (const more of [{ handoff: 'wht_x' }, { receipts: ['A'.repeat(43)] }]) {
        expect(await report({ installation_id, ...more })).to.deep.include({ selection_policy: 'same_installation' })
      }
    })

    it('is not known on the same website by another installation', async () => {
      await report({ receipts: [await api.activeReceipt()] })
      expect(await report({ event_type: 'first_run' })).to.deep.include({ resolution: 'unmatched' })
    })

    it('ends with the 30 days of the visit, however late the first event was', async () => {
      const receipt = await aged(29 * DAY_MS)
      const first = eventBody({ receipts: [receipt] })
      await api.post('/v1/events', first)
      const again = { installation_id: first['installation_id'] }
      api.service.advance(23 * HOUR_MS)
      expect(await report(again)).to.deep.include({ selection_policy: 'same_installation' })
      api.service.advance(2 * HOUR_MS)
      expect(await report(again)).to.deep.include({ resolution: 'unmatched', selection_policy: 'none' })
    })
  })

  describe('a repeated event_id', () => {
    it('gets the first answer again, whatever it says', async () => {
      const event = eventBody({ receipts: [await api.activeReceipt()] })
      const first = await api.post('/v1/events', event)
      const repeat = await api.post('/v1/events', {
        ...event,
        receipts: [],
        event_type: 'first_run',
        installation_id: newId(),
      })
      expect(repeat.status).to.equal(200)
      expect(repeat.body).to.deep.equal({ ...first.body, duplicate: true })
    })

    it('is another event on another website', async () => {
      await api.service.apply({
        'other.yaml': `
apiVersion: whence.dev/v1alpha1
kind: Website
metadata: { name: other-dev }
spec: { organizationRef: { name: acme }, displayName: other, primaryOrigin: 'https://other.dev' }
`,
      })
      const event = eventBody()
      await api.post('/v1/events', event)
      expect((await api.post('/v1/events', { ...event, project: 'other-dev' })).body['duplicate']).to.equal(false)
      expect((await api.post('/v1/events', { ...event, project: 'other-dev' })).body['duplicate']).to.equal(true)
    })

    it('is distinguished by case and by every character', async () => {
      const id = `Event-${newId()}`
      expect((await report({ event_id: id }))['duplicate']).to.equal(false)
      expect((await report({ event_id: id.toLowerCase() }))['duplicate']).to.equal(false)
      expect((await report({ event_id: `${id}_` }))['duplicate']).to.equal(false)
    })
  })

  describe('the install path', () => {
    const pathOf = async (install_path: unknown): Promise<string> => {
      const event = eventBody({ install_path })
      await api.post('/v1/events', event)
      return (await installOf(event['event_id'])).install_path
    }

    it("is the organisation's first one if it is missing or unknown", async () => {
      for (const sent of ['cli', undefined, null, '', 'nothing', '__proto__', 'x'.repeat(5_000)]) {
        expect(await pathOf(sent)).to.equal('cli')
      }
    })
  })

  describe('session_mode', () => {
    it('is client_only for an install after the reconstruction window', async () => {
      const receipt = await aged(72 * HOUR_MS - HOUR_MS)
      expect((await report({ receipts: [receipt] }))['ga'].deliveries[0]).to.deep.include({
        status: 'pending',
        session_mode: 'original_session_window',
      })
      api.service.advance(2 * HOUR_MS)
      expect((await report({ receipts: [receipt] }))['ga'].deliveries[0]).to.deep.include({
        status: 'pending',
        session_mode: 'client_only',
      })
    })
  })

  describe('400 invalid_field', () => {
    const rows: readonly (readonly [string, Record<string, unknown>, string])[] = [
      ['an event ID of 7 characters', { event_id: 'a'.repeat(7) }, '/event_id'],
      ['an event ID of 129 characters', { event_id: 'a'.repeat(129) }, '/event_id'],
      ['an event ID with a dot', { event_id: 'abcdefg.h' }, '/event_id'],
      ['an event ID with a line break at its end', { event_id: 'abcdefgh\n' }, '/event_id'],
      ['an event ID with a letter beyond ASCII', { event_id: 'abcdefghé' }, '/event_id'],
      ['an installation ID of 7 characters', { installation_id: 'a'.repeat(7) }, '/installation_id'],
      ['an unknown event type', { event_type: 'installed' }, '/event_type'],
      ['an event type in capitals', { event_type: 'FIRST_RUN' }, '/event_type'],
      [
        '65 receipts',
        { receipts: Array.from({ length: LIMITS.receiptsPerInstall + 1 }, () => 'A'.repeat(43)) },
        '/receipts',
      ],
      ['a receipt of 42 characters', { receipts: ['A'.repeat(42)] }, '/receipts/0'],
      ['a receipt of 44 characters', { receipts: ['A'.repeat(43), 'A'.repeat(44)] }, '/receipts/1'],
      ['a receipt that is null', { receipts: [null] }, '/receipts/0'],
      ['receipts as text', { receipts: 'A'.repeat(43) }, '/receipts'],
      ['a token that is a number', { handoff: 7 }, '/handoff'],
      ['another platform', { platform: 'win32' }, '/platform'],
      ['an install path that is a number', { install_path: 7 }, '/install_path'],
      ['33 browsers', { browsers: Array.from({ length: 33 }, () => 'x') }, '/browsers'],
      ['a browser of 129 characters', { browsers: ['x'.repeat(129)] }, '/browsers'],
      ['an arch that is an object', { arch: {} }, '/arch'],
      ['a version of 65 characters', { product_version: '1'.repeat(65) }, '/product_version'],
      ['a version with a line break', { product_version: '1.0\n' }, '/product_version'],
      ['a version that is a number', { product_version: 1 }, '/product_version'],
      ['a place of 65 characters', { place: 'x'.repeat(65) }, '/place'],
      ['a place that reverses its neighbours', { place: 'a\u202Eb' }, '/place'],
      ['a text that says it ran in CI', { ci: 'true' }, '/ci'],
      ['a number that says it ran in a container', { container: 1 }, '/container'],
    ]
    for (const [name, more, field] of rows) {
      it(`answers ${name} with the pointer ${field}`, async () => {
        const reply = await api.event(more)
        expect(reply.status, reply.text).to.equal(400)
        expect(reply.body).to.deep.include({ error: 'invalid_field', field })
      })
    }
  })

  describe('403 native_endpoint', () => {
    it('answers any Origin header, even if it is empty or null', async () => {
      for (const origin of [TEST_ORIGIN, 'null', '']) {
        const reply = await api.event({}, { headers: { Origin: origin } })
        expect(reply.status, origin).to.equal(403)
        expect(reply.body).to.deep.equal({ error: 'native_endpoint' })
      }
    })
  })
})

describe('POST /v1/events with other resources', () => {
  let api: Api
  afterEach(() => api.stop())

  const withResources = async (text: string): Promise<void> => {
    api = await startApi({ manifests: { 'all.yaml': text } })
  }
  const ORGANIZATION = `
apiVersion: whence.dev/v1alpha1
kind: Organization
metadata: { name: acme }
spec: { displayName: Acme, plan: Enterprise }
---
apiVersion: whence.dev/v1alpha1
kind: Website
metadata: { name: acme-dev }
spec: { organizationRef: { name: acme }, displayName: acme, primaryOrigin: 'https://acme.dev' }
`
  const path = (name: string, isPaused: boolean): string => `
---
apiVersion: whence.dev/v1alpha1
kind: InstallPath
metadata: { name: ${name} }
spec: { organizationRef: { name: acme }, displayName: ${name}, paused: ${isPaused} }
`

  it('records installs of an organisation without install paths, and answers not_queued without destinations', async () => {
    await withResources(ORGANIZATION)
    const event = eventBody()
    const { body } = await api.post('/v1/events', event)
    expect(body['ga']).to.deep.equal({ status: 'not_queued', deliveries: [] })
    await api.service.drain('facts-writer')
    const [row] = await api.service.facts.run('installsByEventId', { event_id: event['event_id'] })
    expect(row!.install_path).to.equal('')
  })

  it('only counts installs of a paused path and reads nothing', async () => {
    await withResources(ORGANIZATION + path('paused', true) + path('open', false))
    const receipt = await api.activeReceipt()
    const event = eventBody({ receipts: [receipt], install_path: 'paused' })
    const { body } = await api.post('/v1/events', event)
    expect(body).to.deep.include({ resolution: 'counted', candidate_count: 0, selection_policy: 'none' })
    const open = await api.event({ receipts: [receipt], install_path: 'open' })
    expect(open.body).to.deep.include({ resolution: 'matched' })
    // The first path is the paused one: an unknown path counts there.
    expect((await api.event({ receipts: [receipt], install_path: 'unknown' })).body['resolution']).to.equal('counted')
    await api.service.drain('facts-writer')
    const [row] = await api.service.facts.run('installsByEventId', { event_id: event['event_id'] })
    expect(row).to.deep.include({ resolution: 'counted', visit_id: '', verdicts: '[]', install_path: 'paused' })
  })
})

describe('POST /v1/events of a website that counts the first visit', () => {
  let api: Api
  before(async () => {
    const change = ['displayName: acme.dev', 'displayName: acme.dev\n  selectionPolicy: first_visit'] as const
    api = await startApi({ manifests: manifestsWith(change) })
  })
  after(() => api.stop())

  it('chooses the oldest of several candidates', async () => {
    const receipts = [await api.activeReceipt(), await api.activeReceipt(), await api.activeReceipt()]
    const event = eventBody({ receipts: receipts.toReversed() })
    const { body } = await api.post('/v1/events', event)
    expect(body).to.deep.include({ resolution: 'matched', candidate_count: 3, selection_policy: 'first_visit' })
    const [oldest] = receipts
      .map((receipt) => claimsOf(receipt))
      .toSorted((a, b) => a.issuedAtMs - b.issuedAtMs || (a.visitId > b.visitId ? 1 : -1))
    await api.service.drain('facts-writer')
    const [row] = await api.service.facts.run('installsByEventId', { event_id: event['event_id'] as string })
    expect(row).to.deep.include({ selection_policy: 'first_visit', visit_id: oldest?.visitId })
  })
})
