/** Every request to Stripe that billing makes, against Stripe's own description of its API. */

import { expect } from 'chai'

import type { Payments } from '../../dashboard/billing/payments.ts'
import { stripePayments } from '../../dashboard/billing/stripe.ts'
import { startStripeMock, stripeMockProgram, type StripeMock } from '../../fixtures/engines/stripe-mock.ts'
import { STANDARD } from './support/billing.ts'

const BUILD_MS = 300_000
/** In the form that stripe-mock accepts. */
const SECRET_KEY = 'sk_test_123'

describe('requests to Stripe', function () {
  let mock: StripeMock
  let payments: Payments
  before(async function () {
    this.timeout(BUILD_MS)
    const program = await stripeMockProgram()
    if (program === null) return this.skip()
    mock = await startStripeMock(program)
    payments = await stripePayments({ secretKey: SECRET_KEY, url: mock.url })
    return undefined
  })
  after(() => mock?.stop())

  it('have the form of the description, and so have the answers that are read', async () => {
    const customer = await payments.createCustomer('acme', 'a-key')
    expect(customer).to.match(/^cus_/)
    expect(await payments.readCustomer(customer)).to.have.property('organization')
    const [subscription] = await payments.subscriptions(customer)
    expect(subscription?.id).to.be.a('string').and.not.equal('')
    expect(subscription?.createdAtMs).to.be.greaterThan(0)
    expect(subscription?.periodEndsAtMs, "the end of the period is the item's").to.be.greaterThan(0)
    expect(subscription?.periodBeganAtMs, 'and so is its beginning').to.be.greaterThan(0)
    const checkout = {
      customer,
      organization: 'acme',
      price: STANDARD,
      returnUrl: 'https://whence.acme.dev/app/acme/usage',
    }
    expect(await payments.createCheckout(checkout, 'another-key')).to.have.property('url')
    const [known] = await payments.checkouts(customer)
    expect(known?.id).to.match(/^cs_/)
    await payments.endCheckout(known?.id ?? '')
    expect((await payments.createPortal(customer, checkout.returnUrl)).url).to.match(/^https:/)
  })

  it('would be refused with a parameter that does not exist', async () => {
    const statusOf = async (body: string): Promise<number> => {
      const headers = { Authorization: `Bearer ${SECRET_KEY}`, 'Content-Type': 'application/x-www-form-urlencoded' }
      return (await fetch(`${mock.url}/v1/customers`, { method: 'POST', headers, body })).status
    }
    expect([await statusOf('metadata[organization]=1'), await statusOf('made_up=1')]).to.deep.equal([200, 400])
  })
})
