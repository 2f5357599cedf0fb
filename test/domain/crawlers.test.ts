/** Which visitors are crawlers. */

import { expect } from 'chai'
import { list } from 'isbot'

import { CRAWLER_PATTERNS, isCrawler } from '../../domain/collection/crawlers.ts'

/** What isbot takes for a bot and this service does not. */
const LEFT_OUT = {
  'HTTP clients': [
    String.raw`\bperl\b`,
    '^apache/',
    '^client/',
    String.raw`^dispatch/\d`,
    '^jetty/',
    '^microsoft bits',
    '^php',
    '^postman',
    '^python',
    '^rest',
    '^svn',
    '^wget',
    'java(?!;)',
    'library',
    String.raw`node\b`,
    '^azure',
    '^openai/',
    '(?<!lib)http',
    'url',
  ],
  'headless and driven browsers': [
    'headless',
    'phantomjs',
    'playwright',
    'selenium',
    'cypress/',
    'webkit2png',
    'dejaclick',
    'functionize',
    'testlocally',
  ],
  'programs that people sit at': ['^claude-code/', 'cursor/', 'manus-user/'],
  'plain names and versions': [
    String.raw`;\s\w+;$`,
    String.raw`\(\)`,
    String.raw`\b\w+/1\.0;`,
    String.raw`^[<\(;]`,
    String.raw`^[\w \.\-\(?:\):%]+(?:/v?\d+(?:\.\d+)?(?:\.\d{1,10})*?)?(?:,|$)`,
    String.raw`^[\w\-]+/[\w]+$`,
    '^[^ ]{50,}$',
    String.raw`^\d+\b`,
    String.raw`^\w+/[\w\(\)]*$`,
    String.raw`^\w+/\d\.\d\s\([\w@]+\)$`,
    String.raw`^mozilla/\d\.\d\s[\w\.-]+$`,
    String.raw`^mozilla/\d\.\d\s\((?:compatible;)?(?:\s?[\w\d-.]+[\s/]\d+\.\d+)?\)$`,
    String.raw`\|`,
  ],
}

describe('a crawler', () => {
  it('is what isbot takes for one, but for the patterns that are left out', () => {
    const leftOut = Object.values(LEFT_OUT).flat()
    expect([...CRAWLER_PATTERNS, ...leftOut].filter((pattern) => !list.includes(pattern))).to.deep.equal(['https?://'])
    expect(list.filter((pattern) => !CRAWLER_PATTERNS.includes(pattern))).to.have.members(leftOut)
  })

  it('is named by its User-Agent', () => {
    for (const userAgent of [
      'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
      'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/150.0.0.0 Safari/537.36',
      'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
      'Mozilla/5.0 (compatible; AhrefsBot/7.0)',
      'Mozilla/5.0 (Linux; Android 6.0.1) AppleWebKit/537.36 Chrome/150.0.0.0 Mobile Safari/537.36 (compatible; Something; +https://who.example/)',
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/150.0.0.0 Safari/537.36 Chrome-Lighthouse',
      'facebookexternalhit/1.1',
    ])
      expect(isCrawler(userAgent), userAgent).to.equal(true)
  })

  it('is no browser, headless ones included, and no HTTP client', () => {
    for (const userAgent of [
      '',
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36 Edg/150.0.0.0',
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) GSA/400.0 Mobile/15E148 Safari/604.1',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 [FBAN/FBIOS;FBAV/500.0]',
      'Mozilla/5.0 (Linux; Android 16; Pixel 10) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Mobile Safari/537.36',
      'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0',
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/150.0.0.0 Safari/537.36',
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 Cursor/2.0.0 Chrome/140.0.0.0 Electron/38.0.0 Safari/537.36',
      'curl/8.9.1',
      'python-requests/2.32',
      'okhttp/4.12.0',
    ])
      expect(isCrawler(userAgent), userAgent).to.equal(false)
  })
})
