/** Paying for a plan, against a stand-in for Stripe that keeps state: its present answer counts, whatever its events say. */

import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { expect } from 'chai'

import { createPresent } from '../../dashboard/billing/present.ts'
import { reconcilePlans } from '../../dashboard/billing/reconcile.ts'
import { isSigned } from '../../dashboard/billing/signature.ts'
import type { DashboardBilling } from '../../dashboard/dashboard.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { RATE_RULES } from '../../domain/limits.ts'
import { signStripeEvent, type StripeStandIn } from '../../fixtures/service/stripe.ts'
import { billingOver, ENTERPRISE, sendEvent, STANDARD, startStripe, WEBHOOK_SECRET } from './support/billing.ts'
import { organizationOf, startStage, type Stage, type Told } from './support/stage.ts'

const OWNER = 'owner@acme.dev'
const BILLING = '/api/organizations/acme/billing'
const ORGANIZATION = { kind: 'Organization', namespace: 'default', name: 'acme' }

describe('billing', () => {
  let stage: Stage
  let stripe: StripeStandIn
  let billing: DashboardBilling
  let cookies = ''
  let addresses = 0
  let warnings: string[] = []
  beforeEach(async () => {
    let nowMs = Date.now
    warnings = []
    stripe = await startStripe(() => nowMs())
    billing = await billingOver(stripe.url)
    stage = await startStage({
      manifests: organizationOf('fixed', { plan: 'Free', members: { [OWNER]: 'Owner' } }),
      billing: async () => billing,
    })
    nowMs = stage.nowMs
    const organization = { displayName: 'Acme', plan: 'Free' }
    expect(await stage.writer.create({ ...ORGANIZATION, spec: organization })).to.deep.equal({ kind: 'written' })
    const member = { organizationRef: { name: 'acme' }, email: OWNER, role: 'Owner' }
    await stage.writer.create({ kind: 'Member', namespace: 'default', name: 'owner', spec: member })
    cookies = await stage.signIn(OWNER)
  })
  afterEach(async () => {
    // Each request had the documented form.
    const messages = stripe.requests().flatMap((request) => request.messages)
    await stage.stop()
    await stripe.close()
    expect(messages).to.deep.equal([])
  })

  const post = (path: string, body: object = {}): Promise<Told> =>
    stage.ask('POST', `${BILLING}/${path}`, { cookies, body, address: `10.0.0.${addresses++ % 250}` })
  const spec = async (): Promise<Record<string, unknown>> => ({ ...(await stage.writer.read(ORGANIZATION))?.spec })
  const plan = async (): Promise<unknown> => (await spec())['plan']
  /** Goes to the page that the checkout names, and pays there. */
  const subscribe = async (to = 'Standard'): Promise<string> => {
    const { body } = await post('checkout', { plan: to })
    return stripe.pay(String(body['url']).split('/').at(-1) ?? '').id
  }
  const reconcile = (): Promise<number> =>
    reconcilePlans({
      applyPresent: createPresent({ ...billing, writer: stage.writer, nowMs: stage.nowMs, logger: noticing }),
      directory: stage.directory,
      random: () => 0,
      logger: noticing,
    })
  const noticing = {
    ...SILENT_LOGGER,
    warn: (...said: readonly unknown[]) => void warnings.push(String(said.at(-1))),
    info: () => undefined,
  }
  /** As somebody may do it with kubectl. */
  const put = async (fields: object): Promise<void> => {
    const before = await stage.writer.read(ORGANIZATION)
    const written = await stage.writer.replace(
      { ...ORGANIZATION, spec: { ...before?.spec, ...fields } },
      before?.version ?? '',
    )
    expect(written).to.deep.equal({ kind: 'written' })
  }

  it('leaves no trace in an installation without it', async () => {
    const plain = await startStage({ manifests: organizationOf('acme', { members: { [OWNER]: 'Owner' } }) })
    try {
      const who = await plain.signIn(OWNER)
      for (const path of [BILLING, `${BILLING}/checkout`, `${BILLING}/portal`, '/api/billing/webhook']) {
        const told = await plain.ask(path === BILLING ? 'GET' : 'POST', path, {
          cookies: who,
          body: path === BILLING ? undefined : {},
        })
        expect([told.status, told.text], path).to.deep.equal([404, '{"error":"not_found"}'])
      }
      expect((await plain.ask('GET', '/api/me', { cookies: who })).body['hasBilling']).to.equal(false)
    } finally {
      await plain.stop()
    }
    expect((await stage.ask('GET', '/api/me', { cookies })).body['hasBilling']).to.equal(true)
  })

  it('leads to a page for paying, and gives the plan once the event arrives', async () => {
    expect((await stage.ask('GET', BILLING, { cookies })).body).to.deep.equal({
      plan: 'Free',
      offers: ['Standard', 'Enterprise'],
      isCustomer: false,
      managedBy: null,
      message: '',
    })
    const subscription = await subscribe()
    expect(await plan(), 'paid, and nobody was told').to.equal('Free')
    for (const event of stripe.events()) expect((await sendEvent(stage, event)).status).to.equal(204)
    const [customer] = stripe.customers()
    expect(await spec()).to.deep.equal({
      displayName: 'Acme',
      plan: 'Standard',
      billing: { customer, subscription, price: STANDARD },
    })
    expect((await post('checkout', { plan: 'Enterprise' })).body['error']).to.equal('already_subscribed')
    const portal = await post('portal')
    expect([portal.status, new URL(portal.body['url']).host]).to.deep.equal([200, new URL(stripe.url).host])
    stripe.change(subscription, { price: ENTERPRISE })
    expect((await post('refresh')).body).to.include({ plan: 'Enterprise', isCustomer: true })
    const log = stage.logLines.join('\n')
    for (const secret of [customer ?? '', 'sk_test', OWNER]) expect(log).to.not.include(secret)
  })

  it('ends with the period, and removes nothing', async () => {
    const subscription = await subscribe('Enterprise')
    await post('refresh')
    const before = await stage.writer.read(ORGANIZATION)
    const rich = { ...before?.spec, logRetentionDays: 90 }
    await stage.writer.replace({ ...ORGANIZATION, spec: rich }, before?.version ?? '')
    for (const [place, name] of ['one', 'two'].entries()) {
      const website = { organizationRef: { name: 'acme' }, primaryOrigin: `https://${place}.acme.dev` }
      expect((await stage.writer.create({ kind: 'Website', namespace: 'default', name, spec: website })).kind).to.equal(
        'written',
      )
    }
    const endsAtS = Math.floor(stage.nowMs() / 1_000) + 3_600
    for (const status of ['past_due', 'active', 'canceled'] as const) {
      stripe.change(subscription, { status, endsAtS })
      expect((await post('refresh')).body['plan'], status).to.equal('Enterprise')
    }
    stage.advance(3_601_000)
    expect(await reconcile()).to.equal(1)
    const [customer] = stripe.customers()
    expect(await spec()).to.deep.equal({
      displayName: 'Acme',
      plan: 'Free',
      logRetentionDays: 7,
      billing: { customer },
    })
    expect((await stage.writer.read({ kind: 'Website', namespace: 'default', name: 'two' }))?.spec).to.not.equal(
      undefined,
    )
    expect(
      stage.directory.websites('acme').map(({ id }) => id),
      'the older one stays in force',
    ).to.deep.equal(['one'])
    // After the end, a plan that is set by hand stays.
    const ended = await stage.writer.read(ORGANIZATION)
    await stage.writer.replace({ ...ORGANIZATION, spec: { ...ended?.spec, plan: 'Standard' } }, ended?.version ?? '')
    expect(await reconcile()).to.equal(0)
    expect(await plan()).to.equal('Standard')
  })

  it('ends with the period that was paid, although Stripe goes on to others, and does not come back with the cancellation', async () => {
    const subscription = await subscribe('Enterprise')
    await post('refresh')
    stage.advance(31 * DAY_MS)
    cookies = await stage.signIn(OWNER)
    stripe.change(subscription, { status: 'past_due' })
    expect((await post('refresh')).body['plan'], 'tried again').to.equal('Enterprise')
    stripe.change(subscription, { status: 'unpaid' })
    expect((await post('refresh')).body['plan'], 'given up').to.equal('Free')
    for (let month = 0; month < 24; month += 1) {
      stage.advance(30 * DAY_MS)
      await reconcile()
      expect(await plan(), `month ${month}`).to.equal('Free')
    }
    stripe.change(subscription, { status: 'canceled' })
    await reconcile()
    expect(await plan(), 'cancelled').to.equal('Free')
    cookies = await stage.signIn(OWNER)
    stripe.change(subscription, { status: 'active' })
    expect((await post('refresh')).body['plan'], 'paid after all').to.equal('Enterprise')
  })

  it('ends with a cancellation after payments that failed', async () => {
    const subscription = await subscribe('Enterprise')
    await post('refresh')
    stage.advance(31 * DAY_MS)
    stripe.change(subscription, { status: 'past_due' })
    stripe.change(subscription, { status: 'canceled' })
    await reconcile()
    expect(await plan()).to.equal('Free')
  })

  it('ends with the period of a status that keeps none, even if it is the only subscription', async () => {
    for (const status of ['paused', 'made_up_since']) {
      const subscription = await subscribe('Enterprise')
      await post('refresh')
      stripe.change(subscription, { status, endsAtS: Math.floor(stage.nowMs() / 1_000) + 60 })
      expect((await post('refresh')).body['plan'], status).to.equal('Enterprise')
      stage.advance(61_000)
      expect((await post('refresh')).body['plan'], status).to.equal('Free')
    }
  })

  it('begins with the first payment, and not while that is missing or after it failed', async () => {
    const subscription = await subscribe('Enterprise')
    for (const status of ['incomplete', 'incomplete_expired']) {
      stripe.change(subscription, { status })
      expect((await post('refresh')).body['plan'], status).to.equal('Free')
    }
    await put({ plan: 'Standard' })
    expect((await post('refresh')).body['plan'], 'set by hand').to.equal('Standard')
  })

  it('ends whatever that leaves out, even the install path that the organisation names', async () => {
    const subscription = await subscribe('Enterprise')
    await post('refresh')
    for (const name of ['one', 'two'])
      await stage.writer.create({
        kind: 'InstallPath',
        namespace: 'default',
        name,
        spec: { organizationRef: { name: 'acme' } },
      })
    const before = await stage.writer.read(ORGANIZATION)
    const named = { ...ORGANIZATION, spec: { ...before?.spec, defaultInstallPath: 'two' } }
    expect(await stage.writer.replace(named, before?.version ?? '')).to.deep.equal({ kind: 'written' })
    stripe.change(subscription, { status: 'canceled', endsAtS: Math.floor(stage.nowMs() / 1_000) })
    expect((await post('refresh')).body['plan']).to.equal('Free')
    const { plan: inForce, installPaths = [] } = stage.directory.organizations().get('acme') ?? {}
    expect([inForce, installPaths.map(({ id }) => id)]).to.deep.equal(['Free', ['one']])
    expect((await spec())['defaultInstallPath'], 'a downgrade removes nothing').to.equal('two')
  })

  it('accepts signatures that are up to five minutes off in either direction, and no others', async () => {
    await subscribe()
    const event = stripe.events().at(-1) ?? {}
    const now = Math.floor(stage.nowMs() / 1_000) * 1_000
    const body = Buffer.from('{"a":1}')
    const isGood = (ageMs: number): boolean =>
      isSigned({ body, header: signStripeEvent(String(body), WEBHOOK_SECRET, now - ageMs) }, WEBHOOK_SECRET, now)
    const ages = [0, 299_000, -299_000, 300_000, -300_000, 301_000, -301_000, 86_400_000, -86_400_000]
    expect(ages.filter(isGood)).to.deep.equal([0, 299_000, -299_000, 300_000, -300_000])
    const statuses = await Promise.all(
      [299_000, -298_000, 301_500, -301_500].map((ageMs) => sendEvent(stage, event, ageMs)),
    )
    expect(statuses.map(({ status }) => status)).to.deep.equal([204, 204, 400, 400])
    expect(statuses[2]?.body).to.deep.equal({ error: 'invalid_signature' })
    const header = signStripeEvent(String(body), WEBHOOK_SECRET, now)
    const old = signStripeEvent(String(body), WEBHOOK_SECRET, now - 600_000)
    const [time = '', mac = ''] = header.split(',')
    for (const [what, forged] of [
      ['of another secret', signStripeEvent(String(body), 'whsec_other', now)],
      ['of another body', signStripeEvent('{"a":2}', WEBHOOK_SECRET, now)],
      ['with a second time', `${time},${old}`],
      ['without a time', mac],
      ['without a signature', time],
      ['of an older scheme', `${time},${mac.replace('v1=', 'v0=')}`],
      ['that is nothing', ''],
      ['that is long', `${'a=b,'.repeat(1_000)}${header}`],
    ] as const)
      expect(isSigned({ body, header: forged }, WEBHOOK_SECRET, now), what).to.equal(false)
    expect(
      isSigned({ body, header: `${header},v1=${'0'.repeat(64)}` }, WEBHOOK_SECRET, now),
      'one of several',
    ).to.equal(true)
    const other = await sendEvent(stage, event, 0, 'whsec_before')
    expect(other.status, 'the secret before').to.equal(204)
    const large = await sendEvent(stage, { text: 'x'.repeat(300_000) })
    expect([large.status, large.body['error']]).to.deep.equal([413, 'body_too_large'])
  })

  it('arrives at one plan from events in any order, duplicated and late', async () => {
    const first = await subscribe()
    stripe.change(first, { status: 'past_due' })
    stripe.change(first, { status: 'active', price: ENTERPRISE })
    stripe.change(first, { status: 'canceled', endsAtS: Math.floor(stage.nowMs() / 1_000) - 1 })
    const second = await subscribe()
    stripe.change(second, { price: 'price_standard_before' })
    const [customer] = stripe.customers()
    const wanted = { customer, subscription: second, price: 'price_standard_before' }
    const undo = async (): Promise<void> => {
      const before = await stage.writer.read(ORGANIZATION)
      const undone = { ...before?.spec, plan: 'Free', billing: { customer } }
      await stage.writer.replace({ ...ORGANIZATION, spec: undone }, before?.version ?? '')
    }
    for (let seed = 1; seed <= 2; seed += 1) {
      await undo()
      for (const event of shuffled([...stripe.events(), ...stripe.events()], seed))
        expect((await sendEvent(stage, event)).status).to.equal(204)
      expect(await spec(), `seed ${seed}`).to.deep.include({ plan: 'Standard', billing: wanted })
    }
    await undo()
    const told = await Promise.all(shuffled(stripe.events(), 3).map((event) => sendEvent(stage, event)))
    // An event that others keep overtaking must be sent again.
    expect(told.every(({ status }) => status === 204 || status === 503)).to.equal(true)
    expect(await spec(), 'all at once').to.deep.include({ plan: 'Standard', billing: wanted })
  })

  it('corrects changes that no event reported, and asks again if Stripe could not answer', async () => {
    await subscribe('Enterprise')
    expect(await reconcile()).to.equal(1)
    expect(await plan()).to.equal('Enterprise')
    expect(await reconcile()).to.equal(0)
    const [subscription] = stripe.subscriptions()
    stripe.change(subscription?.id ?? '', { price: STANDARD })
    stripe.fail('*', { kind: 'status', status: 503 })
    const event = stripe.events().at(-1) ?? {}
    expect((await sendEvent(stage, event)).status, 'not taken').to.equal(503)
    expect((await post('portal')).status).to.equal(503)
    expect(await reconcile(), 'waits for the next day').to.equal(0)
    stripe.fail('*', null)
    expect((await sendEvent(stage, event)).status, 'sent again').to.equal(204)
    expect(await plan()).to.equal('Standard')
  }).timeout(60_000)

  it('sells once, however often and by whom it is requested', async () => {
    const told = await Promise.all(Array.from({ length: 4 }, () => post('checkout', { plan: 'Standard' })))
    // Requests that wrote the customer at the same time may have to be repeated.
    expect(told.every(({ status }) => status === 200 || status === 412)).to.equal(true)
    expect(new Set(told.flatMap(({ body }) => body['url'] ?? [])).size).to.equal(1)
    expect(stripe.customers()).to.have.length(1)
    const other = await post('checkout', { plan: 'Enterprise' })
    expect(other.status).to.equal(200)
    expect(stripe.sessions().map(({ status }) => status)).to.deep.equal(['expired', 'open'])
    await post('checkout', { plan: 'Standard' })
    expect(stripe.sessions().map(({ status }) => status)).to.deep.equal(['expired', 'expired', 'open'])
    expect((await post('checkout', { plan: 'Free' })).status).to.equal(400)
  })

  it('allows 10 pages an hour for an organisation', async () => {
    await post('checkout', { plan: 'Standard' })
    const statuses = []
    for (let times = 0; times < RATE_RULES.billing_sessions.limit; times += 1)
      statuses.push((await post('portal')).status)
    expect(statuses.at(-1)).to.equal(429)
    expect(statuses.filter((status) => status === 200)).to.have.length(RATE_RULES.billing_sessions.limit - 1)
  })

  it('is read-only if others manage the plan, and says so', async () => {
    const path = '/api/organizations/fixed/billing'
    const told = await stage.ask('POST', `${path}/checkout`, { cookies, body: { plan: 'Standard' } })
    expect([told.status, told.body['error'], told.body['manager']]).to.deep.equal([
      409,
      'managed_elsewhere',
      'all.yaml',
    ])
    expect(told.body['message']).to.include('managed elsewhere')
    const shown = await stage.ask('GET', path, { cookies })
    expect(shown.body).to.include({ managedBy: 'all.yaml', message: told.body['message'] })
    expect(stripe.total(), 'nobody was asked').to.equal(0)
    const statuses: number[] = []
    for (let times = 0; times < RATE_RULES.billing_sessions.limit; times += 1) {
      const more = { cookies, body: { plan: 'Standard' }, address: `10.7.0.${times}` }
      statuses.push((await stage.ask('POST', `${path}/checkout`, more)).status)
    }
    expect(new Set(statuses), 'a refusal uses up no session').to.deep.equal(new Set([409]))
  })

  it("accepts no plan from another organisation's customer, and lets no Owner write plan or customer", async () => {
    await subscribe()
    await post('refresh')
    const [foreign = ''] = stripe.customers()
    await stage.apply(
      'other.yaml',
      `apiVersion: whence.dev/v1alpha1\nkind: Organization\nmetadata: { name: other }\nspec: { plan: Free, billing: { customer: ${foreign} } }\n---\napiVersion: whence.dev/v1alpha1\nkind: Member\nmetadata: { name: other-1 }\nspec: { organizationRef: { name: other }, email: ${OWNER}, role: Owner }\n`,
    )
    expect(await reconcile()).to.equal(0)
    const other = { ...ORGANIZATION, name: 'other' }
    expect((await stage.writer.read(other))?.spec['plan']).to.equal('Free')
    const resource = '/api/organizations/acme/resources/Organization/default/acme'
    const { headers, body } = await stage.ask('GET', resource, { cookies })
    for (const change of [{ plan: 'Enterprise' }, { billing: { customer: 'cus_mine' } }]) {
      const told = await stage.ask('PUT', resource, {
        cookies,
        headers: { 'If-Match': headers.get('etag') ?? '' },
        body: { spec: { ...body['spec'], ...change } },
      })
      expect([told.status, told.body['error']]).to.deep.equal([403, 'forbidden'])
    }
    // With kubectl somebody may still write it, but it has no effect.
    const stolen = await billing.payments.createCustomer('other', 'of-another')
    await put({ plan: 'Free', billing: { customer: stolen } })
    expect((await post('portal')).body['error']).to.equal('foreign_customer')
    expect((await post('checkout', { plan: 'Standard' })).body['error']).to.equal('foreign_customer')
    expect(await reconcile()).to.equal(0)
    expect(warnings).to.deep.equal(Array(3).fill('the customer in spec.billing belongs to another organisation'))
  })

  it('ends the plan with a customer that was deleted at Stripe, and sells to the organisation again', async () => {
    await subscribe('Enterprise')
    await post('refresh')
    await put({ logRetentionDays: 90 })
    const [first = ''] = stripe.customers()
    stripe.deleteCustomer(first)
    expect(stripe.subscriptions().map(({ status }) => status)).to.deep.equal(['canceled'])
    expect((await post('portal')).body['error']).to.equal('not_subscribed')
    expect((await sendEvent(stage, stripe.events().at(-1) ?? {})).status).to.equal(204)
    expect(await spec()).to.deep.equal({ displayName: 'Acme', plan: 'Free', logRetentionDays: 7 })
    expect((await stage.ask('GET', BILLING, { cookies })).body).to.include({ plan: 'Free', isCustomer: false })
    expect(await reconcile(), 'once').to.equal(0)
    // Within a day Stripe answers the key of the first customer with the first customer.
    const subscription = await subscribe()
    const [, second] = stripe.customers()
    expect((await post('refresh')).body['plan']).to.equal('Standard')
    expect((await spec())['billing']).to.deep.equal({ customer: second, subscription, price: STANDARD })
  })

  it('notices a deleted customer without an event, by itself or when somebody wants to pay', async () => {
    await subscribe('Enterprise')
    await post('refresh')
    stripe.deleteCustomer(stripe.customers()[0] ?? '')
    expect(await reconcile()).to.equal(1)
    expect(await spec()).to.deep.equal({ displayName: 'Acme', plan: 'Free' })
    await subscribe('Enterprise')
    await post('refresh')
    stripe.deleteCustomer(stripe.customers()[1] ?? '')
    const told = await post('checkout', { plan: 'Standard' })
    expect(told.status).to.equal(200)
    const billed = { plan: 'Free', billing: { customer: stripe.customers()[2] } }
    expect(await spec(), 'nothing is paid for yet').to.deep.equal({ displayName: 'Acme', ...billed })
    expect(warnings).to.deep.equal([])
  })

  it('leaves a plan that was set by hand if the customer is deleted', async () => {
    await post('checkout', { plan: 'Standard' })
    await put({ plan: 'Enterprise' })
    stripe.deleteCustomer(stripe.customers()[0] ?? '')
    expect(await reconcile()).to.equal(1)
    expect(await spec()).to.deep.equal({ displayName: 'Acme', plan: 'Enterprise' })
  })

  it('keeps the plan of a customer that Stripe does not know, as with the key of another account, until somebody pays again', async () => {
    const billed = { customer: 'cus_unknown', subscription: 'sub_unknown', price: ENTERPRISE }
    await put({ plan: 'Enterprise', billing: billed })
    expect(await reconcile()).to.equal(0)
    expect((await post('portal')).body['error']).to.equal('not_subscribed')
    expect(await spec()).to.deep.include({ plan: 'Enterprise', billing: billed })
    expect(warnings).to.deep.equal(['the payment provider does not know the customer in spec.billing'])
    await subscribe()
    expect(await plan(), 'nothing is paid for').to.equal('Free')
    expect((await post('refresh')).body['plan']).to.equal('Standard')
  })

  it('does not change a plan whose price is unknown, and events of other products', async () => {
    const subscription = await subscribe()
    await post('refresh')
    stripe.change(subscription, { price: 'price_of_a_friend' })
    expect((await post('refresh')).body['plan']).to.equal('Standard')
    for (const event of [
      { id: 'evt_1', type: 'charge.succeeded', data: { object: { object: 'charge', customer: 'cus_elsewhere' } } },
      { id: 'evt_2', type: 'ping' },
    ])
      expect((await sendEvent(stage, event)).status).to.equal(204)
  })
})

function shuffled<T>(items: readonly T[], seed: number): readonly T[] {
  const left = [...items]
  let state = seed
  return items.flatMap(() => {
    state = (state * 48_271) % 2_147_483_647
    return left.splice(state % left.length, 1)
  })
}
