/**
 * People who found an organisation, pay for it, invite somebody who accepts, and ask for support, while the program is killed again and
 * again. Whatever had no answer is tried again, as the pages, the payment provider and people do; whatever was answered ok must hold.
 */

import { strict as assert } from 'node:assert'

import { connectTools } from '../../bin/tools/control.ts'
import { signStripeEvent, type StripeStandIn } from '../../fixtures/service/stripe.ts'
import { WEBHOOK_SECRET } from '../dashboard/support/billing.ts'

export type Step = 'sign in' | 'found' | 'check out' | 'event' | 'invite' | 'accept' | 'support' | 'look'

/** What people meet: a program at one address that may be gone at any moment, and a payment provider that stays. */
export interface RestartedProgram {
  readonly url: string
  readonly data: string
  readonly stripe: StripeStandIn
  /** Between 0 and 1. */
  readonly random: () => number
  /** Resolves once the program takes requests. */
  readonly ready: () => Promise<void>
  readonly began: (step: Step) => void
  readonly ended: (step: Step, isAnswered: boolean) => void
}

interface Asked {
  readonly method?: 'GET' | 'POST'
  readonly cookies?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

interface Told {
  readonly status: number
  readonly body: Record<string, any>
  readonly cookies: string
}

/** What somebody has been promised in the end. */
export interface Journey {
  readonly organization: string
  readonly owner: string
  readonly guest: string
  readonly customer: string
  readonly subscription: string
  readonly message: string
}

const ANSWER_MS = 30_000
const PAUSE_MS = 5

/** Null: no answer, or one that promises nothing. */
async function ask(program: RestartedProgram, step: Step, path: string, asked: Asked = {}): Promise<Told | null> {
  const { method = 'POST', cookies = '', body, headers = {} } = asked
  await program.ready()
  program.began(step)
  let told: Told | null = null
  try {
    const response = await fetch(`${program.url}${path}`, {
      method,
      headers: { ...ownPage(program), ...(cookies === '' ? {} : { Cookie: cookies }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    told = { status: response.status, body: bodyOf(await response.text()), cookies: cookiesOf(response) }
  } catch (error) {
    if (error instanceof DOMException) throw new Error(`${step}: no answer in time`, { cause: error })
  }
  const isAnswered = told !== null && told.status !== 503
  program.ended(step, isAnswered)
  return isAnswered ? told : null
}

/** The address is another one each time: the rates of an address are not what is tested. */
function ownPage({ random }: RestartedProgram): Readonly<Record<string, string>> {
  const part = (): number => Math.floor(random() * 256)
  const address = `10.${part()}.${part()}.${part()}`
  return { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json', 'X-Forwarded-For': address }
}

function bodyOf(text: string): Record<string, any> {
  return text === '' ? {} : (JSON.parse(text) as Record<string, any>)
}

function cookiesOf({ headers }: Response): string {
  return headers
    .getSetCookie()
    .map((line) => line.split(';')[0] ?? '')
    .join('; ')
}

/** Tries until there is an answer. */
async function insist(program: RestartedProgram, step: Step, path: string, asked: Asked = {}): Promise<Told> {
  for (;;) {
    const told = await ask(program, step, path, asked)
    if (told !== null) return told
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

async function look(program: RestartedProgram, path: string, cookies: string): Promise<Record<string, any>> {
  const told = await insist(program, 'look', path, { method: 'GET', cookies })
  assert.equal(told.status, 200, `GET ${path}: ${JSON.stringify(told.body)}`)
  return told.body
}

/** By a link of the operator's, of which each holds once: after a kill there is another one. */
async function signIn(program: RestartedProgram, email: string): Promise<string> {
  for (;;) {
    await program.ready()
    const link = await linkFor(program, email)
    if (link === null) continue
    const token = link.slice(link.indexOf('#link=') + '#link='.length)
    const told = await ask(program, 'sign in', '/api/sign-in/link', { body: { token } })
    if (told === null) continue
    assert.equal(told.status, 200, `sign in: ${JSON.stringify(told.body)}`)
    return told.cookies
  }
}

async function linkFor({ data }: RestartedProgram, email: string): Promise<string | null> {
  try {
    const tools = await connectTools(data)
    return tools === null ? null : await tools.signInLink({ email, ownerOf: null })
  } catch {
    return null
  }
}

export async function travel(program: RestartedProgram, number: number): Promise<Journey> {
  const owner = `owner-${number}@people.dev`
  const guest = `guest-${number}@people.dev`
  const cookies = await signIn(program, owner)
  const organization = await found(program, cookies, `Organisation ${number}`)
  const own = `/api/organizations/${organization}`
  const { customer, id: subscription } = await pay(program, own, cookies)
  const message = `Journey ${number} needs help.`
  const joining = invite(program, { own, cookies, guest }).then(() => accept(program, guest, organization))
  await Promise.all([joining, askForHelp(program, own, cookies, { number, message })])
  const again = await insist(program, 'check out', `${own}/billing/checkout`, { cookies, body: { plan: 'Standard' } })
  assert.equal(again.body['error'], 'already_subscribed', 'nobody pays twice')
  const journey = { organization, owner, guest, customer, subscription, message }
  await holds(program, journey, cookies)
  return journey
}

/** A person who got no answer looks first whether it is there. */
async function found(program: RestartedProgram, cookies: string, displayName: string): Promise<string> {
  for (;;) {
    const { organizations } = await look(program, '/api/me', cookies)
    if (organizations.length > 0) return String(organizations[0].id)
    const told = await ask(program, 'found', '/api/organizations', { cookies, body: { displayName } })
    if (told === null) continue
    assert.equal(told.status, 201, `found: ${JSON.stringify(told.body)}`)
    return String(told.body['id'])
  }
}

async function pay(program: RestartedProgram, own: string, cookies: string) {
  const { stripe, random } = program
  const checkout = (): Promise<Told> =>
    insist(program, 'check out', `${own}/billing/checkout`, { cookies, body: { plan: 'Standard' } })
  const told = await checkout()
  assert.equal(told.status, 200, `check out: ${JSON.stringify(told.body)}`)
  const page = String(told.body['url'])
  if (random() < 0.3) assert.equal((await checkout()).body['url'], page, 'one page to pay on')
  const paid = stripe.pay(page.split('/').at(-1) ?? '')
  const events = stripe.events().filter(({ data }) => customerOf(data.object) === paid.customer)
  // In any order, some of them twice; or none at all, and the person comes back from the page.
  const isLost = random() < 0.25
  const sent = isLost ? [] : [...events, ...events.filter(() => random() < 0.3)].toSorted(() => random() - 0.5)
  const back = insist(program, 'look', `${own}/billing/refresh`, { cookies, body: {} })
  await Promise.all([back, ...sent.map((event) => send(program, event))])
  const { plan } = await look(program, own, cookies)
  assert.equal(plan, 'Standard', 'the plan that was paid for')
  return paid
}

function customerOf(object: object): unknown {
  const { object: kind, id, customer } = object as { readonly object: string; readonly id: string; customer?: unknown }
  return kind === 'customer' ? id : customer
}

/** As Stripe does: until it is taken. */
async function send(program: RestartedProgram, event: object): Promise<void> {
  const body = JSON.stringify(event)
  for (;;) {
    const headers = {
      'Sec-Fetch-Site': 'cross-site',
      'Stripe-Signature': signStripeEvent(body, WEBHOOK_SECRET, Date.now()),
    }
    const told = await ask(program, 'event', '/api/billing/webhook', { body, headers })
    if (told === null) continue
    assert.equal(told.status, 204, `event: ${JSON.stringify(told.body)}`)
    return
  }
}

interface Inviting {
  readonly own: string
  readonly cookies: string
  readonly guest: string
}

async function invite(program: RestartedProgram, { own, cookies, guest }: Inviting): Promise<void> {
  let isRepeated = false
  for (;;) {
    const told = await ask(program, 'invite', `${own}/members`, { cookies, body: { email: guest, role: 'Viewer' } })
    if (told === null) {
      isRepeated = true
      continue
    }
    const isThere = told.status === 201 || (isRepeated && told.body['error'] === 'already_member')
    assert.ok(isThere, `invite: ${JSON.stringify(told.body)}`)
    const { members } = await look(program, `${own}/members`, cookies)
    assert.equal(members.filter(({ email }: { email: string }) => email === guest).length, 1, 'invited once')
    return
  }
}

async function accept(program: RestartedProgram, guest: string, organization: string): Promise<void> {
  const cookies = await signIn(program, guest)
  for (;;) {
    const { organizations, invitations } = await look(program, '/api/me', cookies)
    if (organizations.some(({ id }: { id: string }) => id === organization)) return
    assert.equal(invitations.length, 1, 'an invitation that can be accepted')
    const body = { invitation: invitations[0].id }
    const told = await ask(program, 'accept', '/api/invitations/accept', { cookies, body })
    if (told === null) continue
    assert.equal(told.status, 200, `accept: ${JSON.stringify(told.body)}`)
    const now = await look(program, '/api/me', cookies)
    assert.deepEqual([now['organizations'].length, now['invitations'].length], [1, 0], 'in, and not invited any more')
    return
  }
}

async function askForHelp(
  program: RestartedProgram,
  own: string,
  cookies: string,
  { number, message }: { readonly number: number; readonly message: string },
): Promise<void> {
  const body = { id: String(number).padStart(32, 'a'), message }
  const told = await insist(program, 'support', `${own}/support`, { cookies, body })
  assert.equal(told.status, 202, `support: ${JSON.stringify(told.body)}`)
}

/** What the owner of a finished journey sees, at any later time too. */
export async function holds(program: RestartedProgram, journey: Journey, cookies?: string): Promise<void> {
  const { owner, guest, organization } = journey
  const session = cookies ?? (await signIn(program, owner))
  const { organizations } = await look(program, '/api/me', session)
  assert.deepEqual(
    organizations.map(({ id, role }: Record<string, string>) => [id, role]),
    [[organization, 'Owner']],
  )
  const { plan } = await look(program, `/api/organizations/${organization}`, session)
  assert.equal(plan, 'Standard')
  const { members } = await look(program, `/api/organizations/${organization}/members`, session)
  const rows = members.map((row: Record<string, any>) => [row['email'], row['role'], row['invitedUntil'] ?? null])
  assert.deepEqual(rows.toSorted(), [
    [guest, 'Viewer', null],
    [owner, 'Owner', null],
  ])
}
