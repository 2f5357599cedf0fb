/** Times in resources: an end that cannot be read would never come. */

import { expect } from 'chai'
import fc from 'fast-check'

import { utcTime } from '../../domain/resources/resource-fields.ts'
import { checkSchema } from '../../domain/schema/json-schema.ts'
import {
  compile,
  findings,
  logStream,
  organization,
  resource,
  secret,
  webhook,
} from '../../fixtures/service/manifests.ts'

const MESSAGE = 'must be a time in UTC such as 2026-11-29T06:00:00Z'
const NO_TIMES = [
  '2026-13-01T00:00:00Z',
  '2026-00-10T00:00:00Z',
  '2026-11-00T00:00:00Z',
  '2026-11-32T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-04-31T00:00:00Z',
  '2026-11-29T24:00:00Z',
  '2026-11-29T25:00:00Z',
  '2026-11-29T06:60:00Z',
  '2026-11-29T06:00:60Z',
  '2026-11-29 06:00:00Z',
]
const TIMES = ['2026-01-31T00:00:00Z', '2028-02-29T23:59:59Z', '2026-12-31T19:30:00Z', '2026-06-30T09:00:00Z']
const ACME = organization('acme')
const KEYS = secret('keys', { hook: 'present', before: 'past' })
const previousSecretRef = { name: 'keys', key: 'before' }
const invitation = { id: '0123456789abcdef0123456789abcdef' }
const invited = (expiresAt: string) => {
  const person = { email: 'anna@acme.dev', role: 'Viewer', invitation: { ...invitation, expiresAt } }
  return resource('Member', 'anna', { organizationRef: { name: 'acme' }, ...person })
}
const stream = (previousSecretUntil: string) => {
  const secrets = { secretRef: { name: 'keys', key: 'hook' }, previousSecretRef, previousSecretUntil }
  return logStream('logs', { webhook: { url: 'https://logs.acme.dev/in', ...secrets } })
}
const hook = (previousSecretUntil: string) => webhook('events', { previousSecretRef, previousSecretUntil })

describe('a time in a resource', () => {
  it('is refused if there is no such time, so that no secret signs, and no seat is taken, for ever', () => {
    for (const time of NO_TIMES)
      for (const [object, problem] of [
        [hook(time), 'Webhook/events InvalidField spec.previousSecretUntil'],
        [stream(time), 'LogStream/logs InvalidField spec.webhook.previousSecretUntil'],
        [invited(time), 'Member/anna InvalidField spec.invitation.expiresAt'],
      ] as const)
        expect(findings(compile(ACME, KEYS, object)), time).to.deep.equal([`${problem}: ${MESSAGE}`])
  })

  it('leaves out only its own object if there is no such time', () => {
    const { catalog } = compile(ACME, KEYS, hook('2026-13-01T00:00:00Z'), webhook('others'), logStream('logs'))
    const { webhooks = [], logStreams = [] } = catalog.organizations.get('acme') ?? {}
    expect(webhooks.map(({ objectName }) => objectName)).to.deep.equal(['others'])
    expect(logStreams).to.have.length(1)
  })

  it('is accepted if there is', () => {
    for (const time of TIMES) {
      const { problems } = compile(ACME, KEYS, hook(time), stream(time), invited(time))
      expect(
        problems.filter(({ isWarning }) => isWarning !== true),
        time,
      ).to.deep.equal([])
    }
  })

  it('can be read whenever it is accepted, at most a day after what is written', () => {
    const digits = (most: number) => fc.integer({ min: 0, max: most }).map((value) => String(value).padStart(2, '0'))
    const texts = fc
      .tuple(fc.integer({ min: 0, max: 9_999 }), digits(14), digits(33), digits(25), digits(61), digits(61))
      .map(([year, month, day, ...time]) => `${String(year).padStart(4, '0')}-${month}-${day}T${time.join(':')}Z`)
    const isAccepted = (text: string) => checkSchema(utcTime('A time.'), text).length === 0
    fc.assert(
      fc.property(texts.filter(isAccepted), (text) => {
        const written = text.replace('Z', '.000Z')
        expect(new Date(text).toISOString()).to.be.oneOf([written, written.replace('-02-29', '-03-01')])
      }),
      { numRuns: 2_000 },
    )
  })
})
