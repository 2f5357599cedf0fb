/** The rows of the table of settings that are about payments. Without them there is no trace of billing. */

import { PLANS, type Plan } from '../../domain/model.ts'
import { parsePath, type SettingParser } from './parse.ts'

const NO_BILLING = 'none: no billing'
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/** Each price that a plan has or had; of several the first is sold. */
const parseStripePrices: SettingParser<readonly { readonly plan: Plan; readonly price: string }[]> = (text) => {
  const entries = text.split(',').map((part) => part.trim().split('='))
  const prices = entries.flatMap(([name, price = '', more]) => {
    const plan = PLANS.find((each) => each === name)
    const isRight = plan !== undefined && plan !== 'Free' && /^\w{1,255}$/.test(price) && more === undefined
    return isRight ? [{ plan, price }] : []
  })
  const isTwice = new Set(prices.map(({ price }) => price)).size < prices.length
  if (prices.length < entries.length) {
    return { ok: false, why: 'must be plans and prices, as in Standard=price_1AbC,Enterprise=price_2DeF' }
  }
  return isTwice ? { ok: false, why: 'names a price twice' } : { ok: true, value: prices }
}

const parseStripeUrl: SettingParser<string> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : null
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.includes(url.hostname))
  return url !== null && isSafe && url.href === `${url.origin}/`
    ? { ok: true, value: url.origin }
    : { ok: false, why: 'must be an https origin, or http on this machine' }
}

export const BILLING_SETTINGS = {
  stripeSecretFile: {
    option: '--stripe-secret-file',
    env: 'WHENCE_STRIPE_SECRET_FILE',
    placeholder: 'FILE',
    doc: "Holds Stripe's secret key (better a restricted one: customers, subscriptions, checkout and portal sessions).",
    parse: parsePath,
    fallback: null,
    fallbackDoc: NO_BILLING,
  },
  stripeWebhookSecretFile: {
    option: '--stripe-webhook-secret-file',
    env: 'WHENCE_STRIPE_WEBHOOK_SECRET_FILE',
    placeholder: 'FILE',
    doc: "Holds the signing secret of Stripe's webhook, one a line while it changes.",
    parse: parsePath,
    fallback: null,
    fallbackDoc: NO_BILLING,
  },
  stripePrices: {
    option: '--stripe-prices',
    env: 'WHENCE_STRIPE_PRICES',
    placeholder: 'PRICES',
    doc: 'Plans and their prices at Stripe, as in Standard=price_1AbC; a former price of a plan follows its current one.',
    parse: parseStripePrices,
    fallback: null,
    fallbackDoc: NO_BILLING,
  },
  stripeUrl: {
    option: '--stripe-url',
    env: 'WHENCE_STRIPE_URL',
    placeholder: 'URL',
    doc: "Origin of Stripe's API, for tests.",
    parse: parseStripeUrl,
    fallback: 'https://api.stripe.com',
  },
} as const
