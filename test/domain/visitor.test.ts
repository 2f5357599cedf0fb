/** Who looked at a page, and on which platform. */

import { expect } from 'chai'

import { visitorOf } from '../../domain/collection/visitor.ts'

const WINDOWS =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36'
const MAC =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15'

describe("a visitor's platform", () => {
  const rows: readonly (readonly [platform: string, userAgent: string, client?: Record<string, unknown>])[] = [
    ['windows', WINDOWS],
    ['macos', MAC],
    ['macos', MAC, { touch: false }],
    ['ios', MAC, { touch: true }],
    ['ios', MAC, { touch: 5 }],
    ['ios', 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15'],
    ['android', 'Mozilla/5.0 (Linux; Android 16; K) AppleWebKit/537.36 Chrome/150.0.0.0 Mobile Safari/537.36'],
    ['linux', 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0'],
    ['linux', 'Mozilla/5.0 (X11; Ubuntu; rv:150.0) Gecko/20100101 Firefox/150.0'],
    ['', 'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 Chrome/150.0.0.0 Safari/537.36'],
    ['', 'curl/8.9.1'],
    ['macos', WINDOWS, { platform: 'macOS' }],
    ['windows', '', { platform: 'Windows' }],
    ['windows', WINDOWS, { platform: 'Chrome OS, or so' }],
  ]
  rows.forEach(([platform, userAgent, client = {}], index) => {
    it(`is ${platform || 'none'} (${index}: ${userAgent.slice(0, 60)} ${JSON.stringify(client)})`, () => {
      expect(visitorOf({ userAgent, client }).platform).to.equal(platform)
    })
  })
})

describe('a visitor', () => {
  it('is a person if nothing says otherwise', () => {
    expect(visitorOf({ userAgent: WINDOWS, client: { automation: false } }).kind).to.equal('')
  })

  it('is a bot by its name, also if a script drives it', () => {
    const bot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
    expect(visitorOf({ userAgent: bot, client: { automation: true } }).kind).to.equal('bot')
  })

  it('is an agent by its name, and else automation if a script drives the browser', () => {
    const agent = `${WINDOWS}; compatible; ChatGPT-User/1.0; +https://openai.com/bot`
    expect(visitorOf({ userAgent: agent, client: { automation: true } }).kind).to.equal('ChatGPT-User')
    expect(visitorOf({ userAgent: WINDOWS, client: { automation: true } }).kind).to.equal('automation')
    expect(visitorOf({ userAgent: WINDOWS, client: { automation: 'true' } }).kind).to.equal('')
  })
})
