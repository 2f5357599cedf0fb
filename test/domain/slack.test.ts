/** Messages for Slack: what strangers wrote calls nobody, and nothing is larger than Slack takes. */

import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'

import { WEBHOOK_EVENT_TYPES } from '../../domain/model.ts'
import { hourOfJob } from '../../domain/webhooks/slack-hour.ts'
import { slackTarget } from '../../domain/webhooks/slack-address.ts'
import { slackHour, slackMessage, type CountedSource } from '../../domain/webhooks/slack-message.ts'
import { WEBHOOK_MESSAGES } from '../../domain/webhooks/payloads.ts'

const plainText = (maxLength: number) => ({
  type: 'object',
  required: ['type', 'text'],
  additionalProperties: false,
  properties: {
    type: { const: 'plain_text' },
    text: { type: 'string', minLength: 1, maxLength },
    emoji: { type: 'boolean' },
  },
})
const block = (type: string, properties: object) => ({
  type: 'object',
  required: ['type', ...Object.keys(properties)],
  additionalProperties: false,
  properties: { type: { const: type }, ...properties },
})
/** What we send, as Slack's reference of blocks and of incoming webhooks bounds it. */
const SCHEMA = {
  type: 'object',
  required: ['text', 'blocks'],
  additionalProperties: false,
  properties: {
    text: { type: 'string', minLength: 1, maxLength: 3_000 },
    blocks: {
      type: 'array',
      minItems: 1,
      maxItems: 50,
      items: {
        oneOf: [
          block('header', { text: plainText(150) }),
          block('section', { text: plainText(3_000) }),
          block('context', { elements: { type: 'array', minItems: 1, maxItems: 10, items: plainText(3_000) } }),
        ],
      },
    },
  },
}
const HOSTILE = '<!channel> <https://evil.example|click> *bold* & <@U123>'

describe('messages for Slack', () => {
  const fits = new Ajv2020({ strict: false }).compile(SCHEMA)
  const timestamp = '2026-11-28T06:00:00.000Z'

  it('say the numbers of a week in a line for each, and what changed', () => {
    const data = WEBHOOK_MESSAGES['summary.weekly'].example
    const { blocks } = slackMessage({ type: 'summary.weekly', timestamp, data })
    const lines = blocks.flatMap((each) => (each.type === 'section' ? [each.text.text] : []))
    expect(lines).to.deep.equal([
      'from: 2026-11-16',
      'to: 2026-11-22',
      'timeZone: Europe/Berlin',
      'That week: installs 412, matched 301, looked up 398, counted 0, known source 244, visits 9120, converted 288',
      'The week before: installs 350, matched 262, looked up 341, counted 0, known source 201, visits 8344, converted 270',
      'Changed: by campaign, value launch, installs 96, before 12',
    ])
  })

  it('fit what Slack takes, of every type, however long the texts are', () => {
    for (const type of [...WEBHOOK_EVENT_TYPES, 'test' as const]) {
      for (const more of [{}, { message: 'x'.repeat(9_000), campaign: '😀'.repeat(3_000) }]) {
        const message = slackMessage({ type, timestamp, data: { ...WEBHOOK_MESSAGES[type].example, ...more } })
        expect(fits(message), `${type}: ${JSON.stringify(fits.errors)}`).to.equal(true)
      }
    }
  })

  it('fit it for an hour on hundreds of websites with thousands of sources, and say how many are left out', () => {
    const rows: CountedSource[] = Array.from({ length: 10_000 }, (_, place) => {
      return { website: `site-${place % 300}`, source: 's'.repeat(place % 2_000), matched: 1, unmatched: place % 2 }
    })
    const message = slackHour({ sinceMs: 0, rows })
    expect(fits(message), JSON.stringify(fits.errors)).to.equal(true)
    const texts = message.blocks.flatMap((each) => (each.type === 'section' ? [each.text.text] : []))
    expect(texts.at(-1)).to.equal(`${300 - (texts.length - 1)} more`)
    expect(texts.join('').length, 'msg_blocks_too_long').to.be.within(9_000, 13_000)
    const short = Array.from({ length: 300 }, (_, place) => ({ ...rows[0]!, website: `site-${place}`, source: 's' }))
    expect(JSON.stringify(slackHour({ sinceMs: 0, rows: short }))).to.include('253 more')
    expect(fits(slackHour({ sinceMs: 0, rows: [] }))).to.equal(true)
  })

  it('have texts of visitors in plain text alone, where a mention is none', () => {
    const data = { ...WEBHOOK_MESSAGES['alert.opened'].example, message: HOSTILE, website: HOSTILE }
    const one = slackMessage({ type: 'alert.opened', timestamp, data })
    const hour = slackHour({ sinceMs: 0, rows: [{ website: 'acme', source: HOSTILE, matched: 3, unmatched: 0 }] })
    for (const message of [one, hour]) {
      expect(message.text).not.to.include('<')
      expect(JSON.stringify(message)).to.include('<!channel>').and.not.to.include('mrkdwn')
    }
  })

  it('go to addresses of Slack alone', () => {
    const own = 'https://hooks.slack.com/services/T0/B0/x'
    expect(slackTarget(own)).to.equal(own)
    const standIn = 'http://127.0.0.1:8123'
    expect(slackTarget(own, standIn)).to.equal(`${standIn}/services/T0/B0/x`)
    expect(slackTarget(`${standIn}/services/x`, standIn)).to.equal(`${standIn}/services/x`)
    expect(slackTarget('https://hooks.slack.com//evil.example/x', standIn)).to.equal(`${standIn}//evil.example/x`)
    expect(slackTarget(`${standIn}/services/x`)).to.equal(null)
    for (const address of [
      'https://hooks.slack.com',
      'http://hooks.slack.com/services/x',
      'https://hooks.slack.com.evil.example/services/x',
      'https://user@hooks.slack.com/services/x',
      'https://hooks.slack.com:8443/services/x',
      'https://evil.example/hooks.slack.com',
      'x',
      '',
    ])
      expect(slackTarget(address), address).to.equal(null)
  })

  it('tell an hour from one event', () => {
    const body = (data: object) => JSON.stringify({ type: 'install.matched', timestamp, data })
    expect(hourOfJob({ type: 'install.matched', body: body({ hour: 3_600_000 }) })).to.equal(3_600_000)
    expect(hourOfJob({ type: 'install.matched', body: body({ eventId: 'x' }) })).to.equal(null)
    expect(hourOfJob({ type: 'alert.opened', body: body({ hour: 1 }) })).to.equal(null)
  })
})
