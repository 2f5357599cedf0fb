/** A process that dies anywhere while somebody pays or asks for support: nobody pays twice, and nothing that was answered is lost. */

import { expect } from 'chai'

import type { Payments } from '../../dashboard/billing/payments.ts'
import { decodeRecord, type ActivityRecord } from '../../domain/records.ts'
import type { StripeStandIn } from '../../fixtures/service/stripe.ts'
import { until } from '../../fixtures/until.ts'
import { billingOver, sendEvent, STANDARD, startStripe } from './support/billing.ts'
import { organizationOf, startStage, stepper, type Stage, type Told } from './support/stage.ts'

/** Throws at the step whose number is given; whatever was done before stays. */
class Life {
  readonly steps: string[] = []
  diesAt: number | null = null

  step(step: string): void {
    this.steps.push(step)
    if (this.diesAt !== null && this.steps.length > this.diesAt) throw new Error(`died ${step}`)
  }

  begin(diesAt: number | null): void {
    this.steps.length = 0
    this.diesAt = diesAt
  }
}

/** The same payments, each request of which is two steps. */
function stepped(payments: Payments, step: (name: string) => void): Payments {
  const around = stepper(step)
  const entries = Object.entries(payments) as [keyof Payments, (...args: never[]) => Promise<unknown>][]
  return Object.fromEntries(entries.map(([name, call]) => [name, around(name, call)])) as unknown as Payments
}

const around = (names: readonly string[]): readonly string[] =>
  names.flatMap((name) => [`before ${name}`, `after ${name}`])
const CHECKOUT = around([
  'createCustomer',
  'readCustomer',
  'writeBilling',
  'subscriptions',
  'checkouts',
  'createCheckout',
])
const LOOK = ['readCustomer', 'subscriptions']
/** Whose customer it is; then what is paid for now, until nothing is left to write. */
const EVENT = around(['readCustomer', ...LOOK, 'writeBilling', ...LOOK])

describe('a dashboard that dies while somebody pays', () => {
  let stage: Stage
  let stripe: StripeStandIn
  const life = new Life()
  before(async () => {
    stripe = await startStripe()
    const billing = await billingOver(stripe.url)
    const step = (name: string): void => life.step(name)
    stage = await startStage({
      manifests: organizationOf('host'),
      billing: async () => ({ ...billing, payments: stepped(billing.payments, step) }),
      onStep: (name) => {
        if (/ (create|note|append)$/.test(name)) return
        life.step(name)
      },
    })
  })
  after(async () => {
    await stage?.stop()
    await stripe?.close()
  })

  /** A separate organisation for each kill, with somebody who may pay for it. */
  const founded = async (name: string): Promise<string> => {
    const owner = `owner@${name}.dev`
    await stage.writer.create({
      kind: 'Organization',
      namespace: 'default',
      name,
      spec: { displayName: name, plan: 'Free' },
    })
    const member = { organizationRef: { name }, email: owner, role: 'Owner' }
    await stage.writer.create({ kind: 'Member', namespace: 'default', name: `${name}-owner`, spec: member })
    return stage.signIn(owner)
  }
  let addresses = 0
  const post = (name: string, what: string, cookies: string, body: object): Promise<Told> => {
    const address = `10.3.${addresses >> 8}.${addresses++ % 256}`
    return stage.ask('POST', `/api/organizations/${name}/billing/${what}`, { cookies, body, address })
  }
  const checkout = (name: string, cookies: string): Promise<Told> =>
    post(name, 'checkout', cookies, { plan: 'Standard' })
  const specOf = async (name: string): Promise<Record<string, any>> => ({
    ...(await stage.writer.read({ kind: 'Organization', namespace: 'default', name }))?.spec,
  })
  const sessionIn = ({ body }: Told): string => String(body['url']).split('/').at(-1) ?? ''
  /** The organisation's customers and subscriptions at the provider. */
  const customersOf = (name: string, first: number) =>
    stripe
      .customers()
      .slice(first)
      .map((id) => [name, id])
  const eventsSince = (first: number) => stripe.events().slice(first)

  it('has these steps', async () => {
    const cookies = await founded('first')
    life.begin(null)
    const told = await checkout('first', cookies)
    expect(life.steps).to.deep.equal(CHECKOUT)
    stripe.pay(sessionIn(told))
    life.begin(null)
    await sendEvent(stage, stripe.events().at(-1) ?? {})
    expect(life.steps).to.deep.equal(EVENT)
    expect((await specOf('first'))['plan']).to.equal('Standard')
  })

  for (const [place, step] of CHECKOUT.entries())
    it(`leads to one page and one customer if it dies ${step} of a checkout`, async () => {
      const name = `checkout-${place}`
      const cookies = await founded(name)
      const before = stripe.customers().length
      life.begin(place)
      expect((await checkout(name, cookies)).status, 'nothing is promised').to.be.at.least(500)
      life.begin(null)
      const told = await checkout(name, cookies)
      expect([told.status, customersOf(name, before).length]).to.deep.equal([200, 1])
      const [, customer] = customersOf(name, before)[0] ?? []
      const open = stripe.sessions().filter((each) => each.customer === customer && each.status === 'open')
      expect(open.map(({ id }) => id)).to.deep.equal([sessionIn(told)])
      expect((await specOf(name))['billing']).to.deep.equal({ customer })
    })

  for (const [place, step] of EVENT.entries())
    it(`gives the plan that was paid for once if it dies ${step} of an event`, async () => {
      const name = `event-${place}`
      const cookies = await founded(name)
      const first = stripe.events().length
      life.begin(null)
      const { id, customer } = stripe.pay(sessionIn(await checkout(name, cookies)))
      const events = eventsSince(first)
      life.begin(place)
      const told = await sendEvent(stage, events.at(-1) ?? {})
      const isTaken = told.status === 204
      expect(isTaken, 'answered ok').to.equal(false)
      life.begin(null)
      // An event that was not answered ok is sent again, and the person comes back from the page meanwhile.
      const answers = await Promise.all([
        ...events.map((event) => sendEvent(stage, event)),
        post(name, 'refresh', cookies, {}),
      ])
      expect(answers.every(({ status }) => [200, 204, 503].includes(status))).to.equal(true)
      expect(await specOf(name)).to.deep.include({
        plan: 'Standard',
        billing: { customer, subscription: id, price: STANDARD },
      })
      expect(stripe.subscriptions().filter((each) => each.customer === customer)).to.have.length(1)
      expect((await checkout(name, cookies)).body['error'], 'nobody pays twice').to.equal('already_subscribed')
    })
})

describe('a dashboard that dies while somebody asks for support', () => {
  let stage: Stage
  let cookies = ''
  const life = new Life()
  const PEOPLE = ['first', 'second', 'third', 'fourth', 'fifth']
  const addressOf = (name: string): string => `${name}@acme.dev`
  before(async () => {
    const members = Object.fromEntries(PEOPLE.map((name) => [addressOf(name), 'Viewer']))
    stage = await startStage({
      manifests: organizationOf('acme', { members }),
      supportMail: 'help@whence.test',
      onStep: (name) => life.step(name),
    })
  })
  after(() => stage?.stop())

  /** A sign-in is recorded after its answer; that must not count as a step of what follows. */
  const signedIn = async (name: string): Promise<void> => {
    const noted = (await activity('sign_in')).length
    life.begin(null)
    cookies = await stage.signIn(addressOf(name))
    await until(async () => (await activity('sign_in')).length > noted && life.steps.includes('after note'))
  }
  const activity = async (type: string): Promise<readonly ActivityRecord[]> =>
    (await stage.eventLog.read('activity', 0, 1_000))
      .map(({ value }) => decodeRecord<ActivityRecord>(value))
      .filter((entry) => entry.type === type)
  const ask = (place: number): Promise<Told> =>
    stage.ask('POST', '/api/organizations/acme/support', {
      cookies,
      body: { id: String(place).padStart(32, 'a'), message: `Request ${place}.` },
    })
  const STEPS = around(['append', 'note'])

  it('has these steps', async () => {
    await signedIn('first')
    life.begin(null)
    expect((await ask(9)).status).to.equal(202)
    expect(life.steps).to.deep.equal(STEPS)
  })

  for (const [place, step] of STEPS.entries())
    it(`has it mailed once if it dies ${step}`, async () => {
      await signedIn(PEOPLE[place + 1] ?? '')
      life.begin(place)
      expect((await ask(place)).status, 'nothing is promised').to.be.at.least(500)
      life.begin(null)
      const told = await ask(place)
      expect(told.status).to.equal(202)
      const mails = () => stage.mails.filter((mail) => mail.includes(`Request ${place}.`))
      await until(() => mails().length > 0)
      await stage.mailSent()
      expect(mails()).to.have.length(1)
      const entries = (await activity('support_requested')).filter(({ message }) =>
        message.includes(told.body['request']),
      )
      expect(entries.length).to.be.greaterThan(0)
    })
})
