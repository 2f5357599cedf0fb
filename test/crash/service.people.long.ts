/** Kills the whole program while people sign up, pay, invite, accept and ask for support, and holds it to what it had answered. */

import { randomInt } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { expect } from 'chai'

import { freePort } from '../../fixtures/engines/free-port.ts'
import type { StripeStandIn } from '../../fixtures/service/stripe.ts'
import { until } from '../../fixtures/until.ts'
import { parseManifests, readManifests } from '../../runtime/catalog/manifests.ts'
import { compileManifests } from '../../runtime/catalog/source.ts'
import { diceOf } from '../chaos/dice.ts'
import { SECRET_KEY, STANDARD, startStripe, WEBHOOK_SECRET } from '../dashboard/support/billing.ts'
import { startPostOffice, type PostOffice } from '../dashboard/support/post-office.ts'
import { startChild, type ServiceChild } from './service.child.ts'
import { holds, travel, type RestartedProgram, type Journey, type Step } from './service.people.ts'

/** `npm run -s chaos` uses 300; `kill-points.test.ts` and `kills-paying.test.ts` go through every step of each flow in one process. */
const CYCLES = Number(process.env['WHENCE_CRASH_CYCLES'] ?? 2)
const SEED = Number(process.env['WHENCE_CRASH_SEED'] ?? randomInt(2 ** 31))
const TOLD_EVERY = 50
const CYCLE_BUDGET_MS = 20_000
/** Longer than a mail waits whose sender was killed, and the tier after that. */
const SETTLING_MS = 300_000
const PEOPLE = 8
/** Requests that are answered before a kill, and how long it waits then: about as long as a request takes. */
const FEWEST_REQUESTS = 6
const MOST_REQUESTS = 60
const LONGEST_WAIT_MS = 30
const KILL_AT_START_EVERY = 10
const LONGEST_START_MS = 2_500

/** The program as people meet it, over all its starts. */
class Restarts {
  readonly journeys: Journey[] = []
  readonly faults: string[] = []
  /** Requests that a kill left without an answer, by step. */
  readonly cutOff = new Map<Step, number>()
  answered = 0
  isEnding = false
  #gate = Promise.withResolvers<void>()
  #count = 0

  program(parts: Pick<RestartedProgram, 'url' | 'data' | 'stripe' | 'random'>): RestartedProgram {
    return {
      ...parts,
      ready: () => this.#gate.promise,
      began: () => undefined,
      ended: (step, isAnswered) => {
        if (isAnswered) this.answered += 1
        else this.cutOff.set(step, (this.cutOff.get(step) ?? 0) + 1)
      },
    }
  }

  begin(): void {
    this.#gate.resolve()
  }

  /** Whoever asks from now on waits for the next start. */
  pause(): void {
    this.#gate = Promise.withResolvers<void>()
  }

  /** One after the other, until the last start; what was begun is finished then. */
  async people(program: RestartedProgram): Promise<void> {
    while (!this.isEnding) {
      const number = (this.#count += 1)
      try {
        this.journeys.push(await travel(program, number))
      } catch (error) {
        this.faults.push(`journey ${number}: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }
}

describe('the service and kill -9 while people use the dashboard', () => {
  let folder: string
  let stripe: StripeStandIn
  let post: PostOffice
  let port: number
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-people-'))
    await mkdir(join(folder, 'manifests'))
    await writeFile(join(folder, 'stripe-key'), SECRET_KEY, { mode: 0o600 })
    await writeFile(join(folder, 'stripe-webhook'), WEBHOOK_SECRET, { mode: 0o600 })
    stripe = await startStripe()
    post = await startPostOffice()
    port = await freePort()
  })
  after(async () => {
    await post?.stop()
    await stripe?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const start = (): ServiceChild =>
    startChild({
      folder,
      port,
      ga4Url: 'http://127.0.0.1:9',
      words: ['--base-url', `http://127.0.0.1:${port}`, '--sign-up', 'Open'],
      env: {
        WHENCE_SMTP_URL: post.url,
        WHENCE_MAIL_FROM: 'whence@whence.test',
        WHENCE_SUPPORT_MAIL: 'help@whence.test',
        WHENCE_STRIPE_URL: stripe.url,
        WHENCE_STRIPE_SECRET_FILE: join(folder, 'stripe-key'),
        WHENCE_STRIPE_WEBHOOK_SECRET_FILE: join(folder, 'stripe-webhook'),
        WHENCE_STRIPE_PRICES: `Standard=${STANDARD}`,
      },
    })

  it(`leaves no orphan, doubles nothing and loses nothing that was answered ok over ${CYCLES} kills`, async function () {
    this.timeout(CYCLES * CYCLE_BUDGET_MS + SETTLING_MS)
    const random = diceOf(SEED).next
    const restarts = new Restarts()
    const program = restarts.program({ url: `http://127.0.0.1:${port}`, data: join(folder, 'data'), stripe, random })
    const people = Array.from({ length: PEOPLE }, () => restarts.people(program))
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      const isKilledAtStart = cycle % KILL_AT_START_EVERY === KILL_AT_START_EVERY - 1
      await startAndKill(start(), restarts, random, isKilledAtStart)
      if (cycle % TOLD_EVERY === TOLD_EVERY - 1)
        console.log(`        ${cycle + 1} of ${CYCLES} kills, ${restarts.journeys.length} journeys`)
    }
    restarts.isEnding = true
    const last = start()
    await last.ready
    restarts.begin()
    await Promise.all(people)
    const cutOff = [...restarts.cutOff].map(([step, count]) => `${step} ${count}`).join(', ')
    console.log(
      `        seed ${SEED}: ${restarts.journeys.length} journeys, ${restarts.answered} answers; cut off: ${cutOff}`,
    )
    expect(restarts.faults).to.deep.equal([])
    for (const journey of restarts.journeys) await holds(program, journey)
    await judgeMails(restarts.journeys, post)
    last.kill('SIGTERM')
    expect((await last.ended).status, last.stderr().slice(-2_000)).to.equal(0)
    await judgeFolder(restarts.journeys, join(folder, 'manifests'))
    judgePayments(restarts.journeys, stripe)
    // A run in which next to nothing was under way would show nothing.
    expect(restarts.journeys.length).to.be.at.least(PEOPLE)
    expect([...restarts.cutOff.values()].reduce((sum, count) => sum + count, 0)).to.be.at.least(CYCLES)
  })
})

async function startAndKill(
  child: ServiceChild,
  restarts: Restarts,
  random: () => number,
  isKilledAtStart: boolean,
): Promise<void> {
  if (isKilledAtStart) await Promise.race([wait(random() * LONGEST_START_MS), child.ready])
  else {
    await child.ready
    const enough = restarts.answered + FEWEST_REQUESTS + Math.floor(random() * (MOST_REQUESTS - FEWEST_REQUESTS))
    let hasEnded = false
    void child.ended.then(() => (hasEnded = true))
    restarts.begin()
    await until(() => restarts.answered >= enough || hasEnded)
    await wait(random() * LONGEST_WAIT_MS)
    restarts.pause()
  }
  child.kill('SIGKILL')
  const { signal } = await child.ended
  expect(signal, child.stderr().slice(-4_000)).to.equal('SIGKILL')
}

/** A mail that was being sent at a kill may arrive twice, with one ID; nobody gets two. */
async function judgeMails(journeys: readonly Journey[], { mails }: PostOffice): Promise<void> {
  const idsOf = (text: string): readonly string[] =>
    mails.filter((mail) => mail.includes(text)).map((mail) => /^message-id: (.+)$/im.exec(mail)?.[1]?.trim() ?? '')
  await until(() => journeys.every(({ message }) => idsOf(message).length > 0))
  const all = journeys.flatMap(({ message, guest }) => [idsOf(message), idsOf(`To: ${guest}`)])
  expect(all.filter((ids) => new Set(ids).size > 1)).to.deep.equal([])
  const sent = all.reduce((sum, ids) => sum + ids.length, 0)
  const twice = all.filter((ids) => ids.length > 1).length
  console.log(`        ${sent} mails, ${twice} of them again with the same ID`)
}

interface PlainManifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: Readonly<Record<string, any>>
}

/** Every object belongs to a journey, is complete, and is the only one of its kind there. */
async function judgeFolder(journeys: readonly Journey[], folder: string): Promise<void> {
  const written = join(folder, 'dashboard')
  const files = await readManifests(folder, written)
  expect(compileManifests(files, { env: {}, nowMs: Date.now() }).problems).to.deep.equal([])
  const objects = parseManifests(files, {}).objects.map(({ value }) => value as PlainManifest)
  const of = (kind: string) => objects.filter((object) => object.kind === kind)
  const organizations = of('Organization').map(({ metadata, spec }) => [metadata.name, spec['plan'], spec['billing']])
  const paid = ({ organization, customer, subscription }: Journey) => [
    organization,
    'Standard',
    { customer, subscription, price: STANDARD },
  ]
  expect(organizations).to.have.deep.members(journeys.map(paid))
  const members = of('Member').map(({ spec }) => [spec['organizationRef'].name, spec['email'], spec['invitation']])
  const joined = journeys.flatMap(({ organization, owner, guest }) => [
    [organization, owner, undefined],
    [organization, guest, undefined],
  ])
  expect(members).to.have.deep.members(joined)
  expect(objects.length, 'and nothing else').to.equal(3 * journeys.length)
  expect((await readdir(written)).length, 'files').to.equal(objects.length)
}

function judgePayments(journeys: readonly Journey[], stripe: StripeStandIn): void {
  expect(stripe.requests().flatMap(({ messages }) => messages)).to.deep.equal([])
  expect(stripe.customers()).to.have.members(journeys.map(({ customer }) => customer))
  expect(stripe.subscriptions().map(({ id }) => id)).to.have.members(journeys.map(({ subscription }) => subscription))
  expect(stripe.sessions().filter(({ status }) => status !== 'complete')).to.deep.equal([])
}
