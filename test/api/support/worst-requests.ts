/** The worst requests that we could think of, each in any size: they fill a header, the address or a field to its limit. */

import { eventBody, visitBody } from '../../../fixtures/service/requests.ts'

/** A header block may have 16,384 bytes in all. */
const HEADER_BYTES = 15_600
const BODY_BYTES = 16_384

/** What a value is filled with. A text that the grammar of its place does not allow is refused, which must be cheap too. */
const FILLERS = [
  ' ',
  ',',
  ';',
  '"',
  "'",
  '/',
  '?',
  '#',
  '&',
  '=',
  '.',
  ':',
  '-',
  '_',
  '%',
  '\\',
  '[',
  ']',
  '{',
  '@',
  '0',
  '1',
  'a',
  'A',
  ' ;',
  '; ',
  ', ',
  ';q=0',
  '""',
  '\\"',
  '%25',
  '%2525',
  '%41',
  '\\u0041',
  '&gclid=a',
  '?gclid=',
  'gclid=',
  '&a=',
  ';;=',
  '://',
  '../',
  'wht_',
  'AAAB',
  'BAGh_VmtMw',
  '1.',
  '::',
  '[::',
  '127.0.0.1,',
  '1-',
  '-1',
  '1e',
  'W/',
  '"a",',
  '[[',
  '{"a":',
  '"gpc" :',
  '"gclid" : "',
]
const TABS = '\t'
const BINARY = ['\0', 'A\0', '\ufeff', 'é', '\ud800', '🚀']

const HEADERS = [
  'Accept-Encoding',
  'User-Agent',
  'X-Forwarded-For',
  'Origin',
  'Content-Type',
  'Content-Encoding',
  'Sec-GPC',
  'Cookie',
  'Host',
  'Referer',
  'If-None-Match',
  'Access-Control-Request-Method',
  'Access-Control-Request-Headers',
  'Expect',
  'Forwarded',
  'X-Other',
]

type Make = (size: number) => Buffer

export interface Case {
  readonly name: string
  readonly make: Make
}

function repeated(filler: string, chars: number): string {
  return filler.repeat(Math.ceil(chars / filler.length)).slice(0, chars)
}

function request(first: string, lines: readonly string[], body: string | Buffer = ''): Buffer {
  const bytes = Buffer.from(body)
  const own = lines.some((line) => line.startsWith('Host:')) ? [] : ['Host: a.example']
  const length = first.startsWith('POST') ? [`Content-Length: ${bytes.length}`] : []
  return Buffer.concat([Buffer.from([first, ...own, ...length, ...lines, '', ''].join('\r\n'), 'latin1'), bytes])
}

export function posted(path: string, body: string | Buffer): Buffer {
  const origin = path === '/v1/events' ? [] : ['Origin: https://acme.dev']
  return request(`POST ${path} HTTP/1.1`, ['Content-Type: application/json', ...origin], body)
}

const GETS = [
  '/browser.js',
  '/v1/projects/acme-dev/report.sh',
  '/v1/projects/acme-dev/browser-config',
  '/health',
  '/nothing',
]

function headerCases(): Case[] {
  return HEADERS.flatMap((header) =>
    [...FILLERS, TABS].flatMap((filler) => {
      const line = (size: number): string => `${header}: a${repeated(filler, size * HEADER_BYTES)}b`
      const sound = JSON.stringify(visitBody())
      const other = ['Content-Type: application/json', 'Origin: https://acme.dev'].filter(
        (each) => !each.startsWith(header),
      )
      const path = GETS[(header.length + filler.length) % GETS.length] ?? '/browser.js'
      const isAddress = header === 'Origin' || header === 'Referer'
      return [
        ...(isAddress
          ? [
              {
                name: `${header} of a host of ${JSON.stringify(filler)}`,
                make: (size: number) =>
                  request(
                    'POST /v1/visits HTTP/1.1',
                    [`${header}: https://${repeated(filler, size * 8_000)}`, ...other],
                    sound,
                  ),
              },
            ]
          : []),
        {
          name: `${header} of ${JSON.stringify(filler)}, GET`,
          make: (size) => request(`GET ${header === 'Accept-Encoding' ? '/browser.js' : path} HTTP/1.1`, [line(size)]),
        },
        {
          name: `${header} of ${JSON.stringify(filler)}, POST`,
          make: (size) => request('POST /v1/visits HTTP/1.1', [line(size), ...other], sound),
        },
      ] satisfies Case[]
    }),
  )
}

function targetCases(): Case[] {
  return ['/', '/v1/projects/', '/v1/projects/acme-dev/paths/', '/v1/visits?', '/skills/'].flatMap((start) =>
    FILLERS.filter((filler) => !/[ #"]/.test(filler)).map((filler) => ({
      name: `path ${start} of ${filler}`,
      make: (size) => request(`GET ${start}${repeated(filler, size * HEADER_BYTES)} HTTP/1.1`, []),
    })),
  )
}

/** Raw bodies that are not JSON, or only just. */
function bodyCases(): Case[] {
  const starts = ['', '{"gpc":true,', '{"project":"acme-dev","gpc":true,"x":"', '[', '{"a":"']
  return starts.flatMap((start) =>
    [...FILLERS, TABS, ...BINARY].map((filler) => ({
      name: `body ${start} of ${JSON.stringify(filler)}`,
      make: (size) => {
        const bytes = Buffer.from(start + repeated(filler, size * BODY_BYTES))
        return posted('/v1/visits', bytes.subarray(0, size * BODY_BYTES))
      },
    })),
  )
}

type Body = Record<string, unknown>

/** Places of texts in a body, and their maximum lengths. */
const FIELDS: readonly (readonly [path: string, chars: number, place: (text: string) => Body])[] = [
  ['/v1/visits', 15_000, (text) => visitBody({ other: text })],
  ['/v1/visits', 15_000, (text) => visitBody({ gpc: true, other: text })],
  ['/v1/visits', 8_000, (text) => visitBody({ page_url: `https://acme.dev/${text}` })],
  ['/v1/visits', 8_000, (text) => visitBody({ page_url: text, gpc: true })],
  ['/v1/visits', 8_000, (text) => visitBody({ page_url: `https://${text}`, url_id: 'url_0' })],
  [
    '/v1/visits',
    8_000,
    (text) => visitBody({ page_url: `https://${text}/`, url_id: 'url_0', referrer: `http://${text}/` }),
  ],
  [
    '/v1/visits',
    8_000,
    (text) => visitBody({ referrer: `https://a.${text}.example/`, source: { referrer: `a:${text}` } }),
  ],
  ['/v1/visits', 8_000, (text) => visitBody({ referrer: `https://a.example/?${text}`, gpc: true })],
  ['/v1/visits', 8_000, (text) => visitBody({ referrer: text })],
  ['/v1/visits', 8_000, (text) => visitBody({ source: { referrer: text, landed_at: text.slice(0, 64) } })],
  ['/v1/visits', 15_000, (text) => visitBody({ project: text })],
  ['/v1/visits', 15_000, (text) => visitBody({ url_id: text })],
  ['/v1/visits', 15_000, (text) => visitBody({ previous_receipt: text })],
  ['/v1/visits', 1_000, (text) => visitBody({ identities: identitiesOf(text) })],
  ['/v1/visits', 1_000, (text) => visitBody({ identities: identitiesOf(text), gpc: true, other: text })],
  ['/v1/visits', 6_000, (text) => visitBody({ identities: { google_ads: { session_attributes: text } } })],
  [
    '/v1/visits',
    6_000,
    (text) =>
      visitBody({ gpc: true, other: text, identities: { google_ads: { session_attributes: `b${text.slice(1)}` } } }),
  ],
  [
    '/v1/visits',
    6_000,
    (text) =>
      visitBody({ gpc: true, other: text, identities: { google_ads: { session_attributes: `${text.slice(1)}b` } } }),
  ],
  ['/v1/visits', 256, (text) => visitBody({ identities: { custom: { a: fieldsOf(text) } } })],
  [
    '/v1/visits',
    150,
    (text) =>
      visitBody({
        source: { utm: { source: text, medium: text, campaign: text, term: text, content: text, id: text } },
      }),
  ],
  ['/v1/visits', 256, (text) => visitBody({ client: { brands: text, model: text, language: text, timezone: text } })],
  ['/v1/visits/activate', 15_000, (text) => ({ project: 'acme-dev', receipt: text })],
  ['/v1/handoffs', 15_000, (text) => ({ project: 'acme-dev', receipt: text })],
  ['/v1/events', 15_000, (text) => eventBody({ handoff: text, receipts: undefined })],
  ['/v1/events', 15_000, (text) => eventBody({ install_path: text })],
  ['/v1/events', 15_000, (text) => eventBody({ event_id: text })],
  ['/v1/events', 15_000, (text) => eventBody({ platform: text })],
  [
    '/v1/events',
    128,
    (text) =>
      eventBody({ arch: text, timezone: text, language: text, browsers: Array.from({ length: 32 }, () => text) }),
  ],
  ['/v1/events', 64, (text) => eventBody({ product_version: text, place: text })],
]

function identitiesOf(text: string): Body {
  return {
    ga4: { 'G-TEST000001': { client_id: text, session_id: text } },
    google_ads: { gclid: `b${text}`, wbraid: `${text}b`, gbraid: text, gcl_aw: text },
    meta: { fbp: text, fbc: text, fbclid: text },
    tiktok: { ttp: text, ttclid: text, ttclid_at: text.slice(0, 60) },
    x: { twclid: text },
  }
}

function fieldsOf(text: string): Body {
  return Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`${index}${text.slice(1)}`, text]))
}

function fieldCases(): Case[] {
  return FIELDS.flatMap(([path, chars, place], index) =>
    [...FILLERS, TABS, ...BINARY].map((filler) => ({
      name: `field ${index} of ${path} filled with ${JSON.stringify(filler)}`,
      make: (size) =>
        posted(
          path,
          fitted((room) => JSON.stringify(place(repeated(filler, Math.min(chars * size, room)))), size),
        ),
    })),
  )
}

/** The longest text below the limit: escapes make it longer than requested. */
function fitted(make: (chars: number) => string, size: number): string {
  let room = BODY_BYTES
  for (;;) {
    const text = make(Math.floor(room))
    if (Buffer.byteLength(text) <= BODY_BYTES * size || room < 8) return text
    room *= 0.9
  }
}

/** Lists and objects, as wide and as deep as they get, and many of what is looked for. */
function shapeCases(): Case[] {
  const list = (size: number, make: (index: number) => string, chars: number) =>
    Array.from({ length: Math.floor((size * BODY_BYTES) / chars) }, (_, index) => make(index)).join('')
  const within = (start: object, inner: string) => `${JSON.stringify(start).slice(0, -1)},"x":${inner}}`
  const visitOf = (more: Body) => JSON.stringify(visitBody(more))
  const alike = (size: number) =>
    Array.from({ length: Math.floor(size * 60) }, (_, index) => `${'a'.repeat(20 + index)}b`)
  const shapes: Readonly<Record<string, (size: number) => string>> = {
    'nested lists': (size) => '['.repeat(size * 8_000) + ']'.repeat(size * 8_000),
    'nested objects': (size) => '{"a":'.repeat(size * 2_300) + '1' + '}'.repeat(size * 2_300),
    'many members': (size) => `{${list(size, (index) => `"k${index}":1,`, 9)}"z":1}`,
    'equal members': (size) => `{${list(size, () => '"fbp":1,', 8)}"gpc":true}`,
    'equal members of a broken body': (size) => `{"gpc":true,${list(size, () => '"fbp":1,', 8)}`,
    'many nulls': (size) => `{"a":[${list(size, () => 'null,', 5)}null]}`,
    'click IDs under GPC': (size) =>
      within(
        visitBody({
          gpc: true,
          referrer: `https://a.example/?${list(size / 2.2, (index) => `gclid=${String(index).padStart(9, 'c')}&`, 16)}`,
        }),
        `"${list(size / 2.4, (index) => `gclid=${String(index).padStart(9, 'c')}&`, 16)}"`,
      ),
    'one click ID under GPC, many times': (size) =>
      within(
        visitBody({ gpc: true, referrer: 'https://a.example/?gclid=aaaaaaaa' }),
        `"${repeated('aaaaaaaa ', size * 15_000)}"`,
      ),
    'strings of click IDs': (size) =>
      within(
        visitBody({
          gpc: true,
          referrer: `https://a.example/?${list(size / 2.2, (index) => `gclid=${'a'.repeat(90)}${String(index).padStart(4, '0')}&`, 101)}`,
        }),
        `["${repeated('a', size * 7_000)}"]`,
      ),
    'made-up receipts': (size) =>
      JSON.stringify(
        eventBody({
          receipts: Array.from({ length: Math.floor(size * 64) }, (_, index) => `BAGh_VmtMw${index}`.padEnd(43, 'A')),
        }),
      ),
    'a value that is nearly there everywhere': (size) =>
      visitOf({
        gpc: true,
        identities: {
          google_ads: { session_attributes: `${repeated('a', size * 2_990)}b${repeated('a', size * 2_990)}` },
        },
        x: repeated('a', size * 9_000),
      }),
    'values that begin alike': (size) =>
      visitOf({
        gpc: true,
        referrer: `https://a.example/?${alike(size)
          .map((value) => `gclid=${value}`)
          .join('&')}`,
        x: `${alike(size).at(-1)} ${repeated('a', size * 8_000)}`,
      }),
    'what looks issued': (size) => within(visitBody(), `"${repeated('BAGh_VmtMwAAAA-', size * 15_000)}"`),
  }
  return Object.entries(shapes).map(([name, make]) => ({
    name,
    make: (size) => posted(make(1).includes('event_id') ? '/v1/events' : '/v1/visits', make(size).slice(0, BODY_BYTES)),
  }))
}

export const WORST_REQUESTS: Readonly<Record<string, () => readonly Case[]>> = {
  'any header': headerCases,
  'the address asked for': targetCases,
  'a body that is no JSON': bodyCases,
  'any field': fieldCases,
  'lists and objects': shapeCases,
}
