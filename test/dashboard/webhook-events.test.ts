/** What people and plans do in the folder of the embedded program, from the change to the receiver of a webhook. */

import { expect } from 'chai'

import { startWebhooks } from '../../delivery/webhooks/webhooks.ts'
import { until } from '../../fixtures/until.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { FactsDouble } from '../../fixtures/delivery/facts-double.ts'
import { createRandomness } from '../../runtime/random.ts'
import { Receiver, SECRET } from '../delivery/webhooks/receiver.ts'
import { organizationOf, startStage, type Stage, type Told } from './support/stage.ts'

const OWNER = 'owner@acme.dev'
const acme = (plan: string): string => organizationOf('acme', { plan, members: { [OWNER]: 'Owner' } })
const HOOK = `
apiVersion: v1
kind: Secret
metadata: { name: hook }
stringData: { secret: ${SECRET} }
---
apiVersion: whence.dev/v1alpha1
kind: Webhook
metadata: { name: acme-events }
spec:
  organizationRef: { name: acme }
  url: https://hooks.acme.dev/in
  secretRef: { name: hook, key: secret }
  events: [member.joined, plan.changed]
`

describe('webhook events about people and plans', () => {
  let stage: Stage
  let receiver: Receiver
  let role: { close(): Promise<void> }
  let owner: string
  before(async () => {
    receiver = await Receiver.open()
    stage = await startStage({ manifests: acme('Standard'), isAudited: true })
    await stage.apply('hook.yaml', HOOK)
    const { eventLog, hotState, catalog, nowMs } = stage
    role = await startWebhooks(
      {
        eventLog,
        hotState,
        facts: new FactsDouble(),
        nowMs,
        randomness: createRandomness(),
        telemetry: { logger: SILENT_LOGGER },
        catalog,
      },
      receiver.outbound(),
    )
    owner = await stage.signIn(OWNER)
  })
  after(async () => {
    await role?.close()
    await stage?.stop()
    await receiver?.close()
  })

  const MEMBERS = '/api/organizations/acme/members'
  const post = (path: string, cookies: string, body?: object): Promise<Told> =>
    stage.ask('POST', path, { cookies, ...(body === undefined ? {} : { body }) })
  const told = () => receiver.received.map(({ payload: { type, data } }) => [type, data])
  /** Of every entry that is on the log now. */
  const isTold = () =>
    until(async () => {
      const { done, ends } = await stage.eventLog.progress('activity', 'webhooks')
      return ends.every((end, partition) => end === done[partition])
    })
  const entriesAbout = async (subject: string): Promise<number> =>
    (await stage.eventLog.read('activity', 0, 1_000)).filter(({ value }) => value.includes(`"${subject}"`)).length

  it('say who joined, once it was accepted, and nothing of inviting, inviting again, changing and removing', async () => {
    const invited = await post(MEMBERS, owner, { email: 'anna@acme.dev', role: 'Viewer' })
    const member = String(invited.body['name'])
    const noted = (count: number) => until(async () => (await entriesAbout(`Member/${member}`)) >= count)
    await noted(1)
    expect((await post(`${MEMBERS}/${member}/invitation`, owner)).status).to.equal(201)
    await noted(2)
    const anna = await stage.signIn('anna@acme.dev')
    const { body } = await stage.ask('GET', '/api/me', { cookies: anna })
    const [invitation] = body['invitations'] as { id: string }[]
    await isTold()
    expect(told()).to.deep.equal([])
    const accepted = await post('/api/invitations/accept', anna, { invitation: invitation?.id })
    expect(accepted.status).to.equal(200)
    await noted(3)
    const at = `${MEMBERS}/${member}`
    expect((await stage.ask('PUT', at, { cookies: owner, body: { role: 'Admin' } })).status).to.equal(204)
    await noted(4)
    expect((await stage.ask('DELETE', at, { cookies: owner })).status).to.equal(204)
    await noted(6)
    await isTold()
    await until(() => told().length > 0)
    expect(told()).to.deep.equal([['member.joined', { member }]])
    expect(receiver.received[0]?.verifiedBy).to.deep.equal([SECRET])
  })

  it('say which plan it is now', async () => {
    const before = told().length
    await stage.apply('all.yaml', acme('Enterprise'))
    await until(() => told().length > before)
    expect(told().at(-1)).to.deep.equal(['plan.changed', { plan: 'Enterprise' }])
  })
})
