/** Requests that neither a browser nor curl would send: each is answered as in the contract or not at all, and nothing breaks. */

import { expect } from 'chai'
import { ERRORS, type ErrorCode } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { newId } from '../../fixtures/service/requests.ts'
import { eventBody, freshAddress, logsOf, startApi, type Api } from './support/api.ts'
import { exchangeRaw, FIN, type Piece, type RawAnswer, type RawExchange } from './support/raw.ts'

/** `200`, or the code of the refusal; `closed` if the connection ends without an answer. */
type Outcome = ErrorCode | number | 'closed'

interface Case {
  readonly name: string
  readonly pieces: () => readonly Piece[]
  /** The answers in their order, with alternatives if HTTP allows several. */
  readonly outcome: readonly Outcome[]
  readonly isClosed?: boolean
}

const CRLF = '\r\n'
const HOST = 'Host: whence.test'
const JSON_TYPE = 'Content-Type: application/json'

function head(first: string, ...lines: readonly string[]): string {
  return [first, ...lines, '', ''].join(CRLF)
}

/** A valid install report with other header lines. */
function report(lines: readonly string[], body = JSON.stringify(eventBody()), length = true): string {
  const own = [
    HOST,
    JSON_TYPE,
    `X-Forwarded-For: ${freshAddress()}`,
    ...(length ? [`Content-Length: ${Buffer.byteLength(body)}`] : []),
  ]
  return head('POST /v1/events HTTP/1.1', ...own, ...lines) + Buffer.from(body).toString('latin1')
}

function chunked(chunks: readonly (string | Buffer)[], end = `0${CRLF}${CRLF}`): Buffer {
  const parts = chunks.map((chunk) => {
    const bytes = Buffer.from(chunk)
    return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}${CRLF}`), bytes, Buffer.from(CRLF)])
  })
  return Buffer.concat([...parts, Buffer.from(end)])
}

function chunkedReport(body: Buffer | string, lines: readonly string[] = []): Piece[] {
  const start = head(
    'POST /v1/events HTTP/1.1',
    HOST,
    JSON_TYPE,
    `X-Forwarded-For: ${freshAddress()}`,
    'Transfer-Encoding: chunked',
    ...lines,
  )
  return [start, Buffer.from(body)]
}

const sound = (): string => JSON.stringify(eventBody())
const get = (target: string, ...lines: readonly string[]): string => head(`GET ${target} HTTP/1.1`, HOST, ...lines)
const CLOSE = 'Connection: close'
const REFUSED: readonly Outcome[] = ['invalid_request']

function row(
  name: string,
  outcome: Outcome | readonly Outcome[],
  make: () => Piece | readonly Piece[],
  more: Partial<Case> = {},
): Case {
  return {
    name,
    outcome: typeof outcome === 'object' ? outcome : [outcome],
    pieces: () => {
      const made = make()
      return Array.isArray(made) ? (made as readonly Piece[]) : [made as Piece]
    },
    ...more,
  }
}

/** Lines that make the length of a body ambiguous, each beside a valid Content-Length or in its place. */
const LENGTHS: readonly (readonly [string, readonly string[]])[] = [
  ['Content-Length and Transfer-Encoding', ['Content-Length: 5', 'Transfer-Encoding: chunked']],
  ['Transfer-Encoding and Content-Length', ['Transfer-Encoding: chunked', 'Content-Length: 5']],
  ['Content-Length: 0 and Transfer-Encoding', ['Content-Length: 0', 'Transfer-Encoding: chunked']],
  ['two equal lengths', ['Content-Length: 5', 'Content-Length: 5']],
  ['two lengths', ['Content-Length: 5', 'Content-Length: 6']],
  ['a list of lengths', ['Content-Length: 5, 5']],
  ['a signed length', ['Content-Length: +5']],
  ['a negative length', ['Content-Length: -5']],
  ['a length in hex', ['Content-Length: 0x5']],
  ['a length with an exponent', ['Content-Length: 1e3']],
  ['a length with a fraction', ['Content-Length: 5.0']],
  ['an empty length', ['Content-Length: ']],
  ['a length beyond 64 bits', ['Content-Length: 99999999999999999999999']],
  ['a length that wraps around to 5', ['Content-Length: 18446744073709551621']],
  ['a length with a letter behind', ['Content-Length: 5a']],
  ['a length of words', ['Content-Length: five']],
  ['a blank before the colon', ['Content-Length : 5']],
  ['a tab before the colon', ['Content-Length\t: 5']],
  ['Transfer-Encoding with a blank before the colon', ['Transfer-Encoding : chunked']],
  ['Transfer-Encoding: identity', ['Transfer-Encoding: identity', 'Content-Length: 5']],
  ['Transfer-Encoding: xchunked', ['Transfer-Encoding: xchunked']],
  ['Transfer-Encoding: chunked, identity', ['Transfer-Encoding: chunked, identity']],
  ['Transfer-Encoding: chunked twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']],
  ['Transfer-Encoding: chunked, chunked', ['Transfer-Encoding: chunked, chunked']],
  ['Transfer-Encoding: chunked and cow', ['Transfer-Encoding: chunked', 'Transfer-Encoding: cow']],
  [
    'Transfer-Encoding: cow and chunked, with a length',
    ['Transfer-Encoding: cow', 'Transfer-Encoding: chunked', 'Content-Length: 5'],
  ],
  ['Transfer-Encoding behind a vertical tab', ['Transfer-Encoding: \x0bchunked']],
  ['Transfer-Encoding in quotes', ['Transfer-Encoding: "chunked"']],
  ['an empty Transfer-Encoding', ['Transfer-Encoding: ', 'Content-Length: 5']],
  ['a folded length', ['Content-Length:', ' 5']],
  ['a folded Transfer-Encoding', ['Transfer-Encoding:', ' chunked']],
  ['a header folded onto the length', ['X: 1', '\tContent-Length: 5']],
  ['a length behind a bare CR', ['X: 1\rContent-Length: 5']],
  ['a length behind a bare LF', ['X: 1\nContent-Length: 5']],
  ['a NUL in the name', ['Content-\0Length: 5']],
  ['a NUL in the value', ['X: a\0b', 'Content-Length: 5']],
]

const CHUNKS: readonly (readonly [string, string])[] = [
  ['a negative size', `-1${CRLF}`],
  ['a size that is no number', `zz${CRLF}`],
  ['an empty size', `${CRLF}`],
  ['a size beyond 64 bits', `fffffffffffffffff${CRLF}{}`],
  ['a size with a sign', `+2${CRLF}{}${CRLF}0${CRLF}${CRLF}`],
  ['a size with 0x', `0x2${CRLF}{}${CRLF}0${CRLF}${CRLF}`],
  ['a size behind a blank', ` 2${CRLF}{}${CRLF}0${CRLF}${CRLF}`],
  ['a size before a bare LF', `2\n{}${CRLF}0${CRLF}${CRLF}`],
  ['data longer than its size', `2${CRLF}{}}}}}${CRLF}0${CRLF}${CRLF}`],
  ['a CR inside an extension', `2;a=\rb${CRLF}{}${CRLF}0${CRLF}${CRLF}`],
  ['a LF inside an extension', `2;a=\nb${CRLF}{}${CRLF}0${CRLF}${CRLF}`],
  ['a NUL inside an extension', `2;a=\0${CRLF}{}${CRLF}0${CRLF}${CRLF}`],
  ['an extension of 64 KB', `2;${'a'.repeat(65_536)}${CRLF}{}${CRLF}0${CRLF}${CRLF}`],
  ['a trailer with a length', `0${CRLF}Content-Length: 7${CRLF}${CRLF}`],
  ['a trailer without a colon', `0${CRLF}trailer${CRLF}${CRLF}`],
]

const REQUEST_LINES: readonly (readonly [string, string, Outcome | readonly Outcome[]])[] = [
  ['HTTP/0.9', `GET /health${CRLF}${CRLF}`, REFUSED],
  ['HTTP/1.2', head('GET /health HTTP/1.2', HOST), REFUSED],
  ['HTTP/2.0', head('GET /health HTTP/2.0', HOST), REFUSED],
  ['the preface of HTTP/2', `PRI * HTTP/2.0${CRLF}${CRLF}SM${CRLF}${CRLF}`, REFUSED],
  ['HTTP/11.1', head('GET /health HTTP/11.1', HOST), REFUSED],
  ['HTTP/1.', head('GET /health HTTP/1.', HOST), REFUSED],
  ['http/1.1', head('GET /health http/1.1', HOST), REFUSED],
  ['ICE/1.0', head('GET /health ICE/1.0', HOST), REFUSED],
  ['no version and a blank', head('GET /health ', HOST), REFUSED],
  ['no target', head('GET HTTP/1.1', HOST), REFUSED],
  ['a blank in the target', head('GET /hea lth HTTP/1.1', HOST), REFUSED],
  ['a tab for a blank', head('GET\t/health\tHTTP/1.1', HOST), REFUSED],
  ['a blank in front', head(' GET /health HTTP/1.1', HOST), REFUSED],
  ['a method in small letters', head('get /health HTTP/1.1', HOST), REFUSED],
  ['an unknown method', head('BREW /health HTTP/1.1', HOST), REFUSED],
  ['a method of 8 KB', head(`${'A'.repeat(8_192)} /health HTTP/1.1`, HOST), REFUSED],
  ['a target without a slash', head('GET health HTTP/1.1', HOST), REFUSED],
  ['a target of another host', head('GET http://evil.example/health HTTP/1.1', HOST), REFUSED],
  [
    'a target of another host, whatever stands behind',
    head('GET http://evil.example/?whence.test HTTP/1.1', HOST),
    REFUSED,
  ],
  [
    'a target of our own host behind another',
    head('GET http://whence.test@evil.example/health HTTP/1.1', HOST),
    REFUSED,
  ],
  ['a target of our own host with a user', head('GET http://u:p@whence.test/health HTTP/1.1', HOST), REFUSED],
  ['a target of our own host and another port', head('GET http://whence.test:81/health HTTP/1.1', HOST), REFUSED],
  ['a target of our own host with a fragment', head('GET http://whence.test/health#x HTTP/1.1', HOST), REFUSED],
  ['a target of another scheme', head('GET file:///etc/passwd HTTP/1.1', HOST), REFUSED],
  ['a target that is an authority', head('GET evil.example:443 HTTP/1.1', HOST), REFUSED],
  ['CONNECT', head('CONNECT evil.example:443 HTTP/1.1', HOST), REFUSED],
  ['CONNECT with bytes behind', `${head('CONNECT evil.example:443 HTTP/1.1', HOST)}GET / HTTP/1.1`, REFUSED],
  ['OPTIONS *', head('OPTIONS * HTTP/1.1', HOST), REFUSED],
  ['GET *', head('GET * HTTP/1.1', HOST), REFUSED],
  ['a NUL in the target', head('GET /hea\0lth HTTP/1.1', HOST), REFUSED],
  ['a control character in the target', head('GET /hea\x01lth HTTP/1.1', HOST), REFUSED],
  ['a target of 20 KB', head(`GET /${'a'.repeat(20_000)} HTTP/1.1`, HOST), 'headers_too_large'],
  ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', REFUSED],
  ['an SSH banner', `SSH-2.0-OpenSSH_9.6${CRLF}`, REFUSED],
  ['SMTP', `EHLO evil.example${CRLF}`, REFUSED],
  ['Redis', `*1${CRLF}$4${CRLF}PING${CRLF}`, REFUSED],
  ['zeros', '\0'.repeat(64), REFUSED],
  ['every byte there is', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('latin1'), REFUSED],
  ['a header without a colon', head('GET /health HTTP/1.1', HOST, 'nonsense'), REFUSED],
  ['a header without a name', head('GET /health HTTP/1.1', HOST, ': x'), REFUSED],
  ['a header name with a blank', head('GET /health HTTP/1.1', HOST, 'X Y: 1'), REFUSED],
  ['a header name with a colour', head('GET /health HTTP/1.1', HOST, 'X\x1b[31m: 1'), REFUSED],
  ['a header name beyond ASCII', head('GET /health HTTP/1.1', HOST, 'X\xe9: 1'), REFUSED],
  ['a bell in a value', head('GET /health HTTP/1.1', HOST, 'X: \x07'), REFUSED],
  ['a first header that is folded', head('GET /health HTTP/1.1', ' Host: x', HOST), REFUSED],
  ['bare LF at every line', `GET /health HTTP/1.1\n${HOST}\n\n`, REFUSED],
  ['bare CR at every line', `GET /health HTTP/1.1\r${HOST}\r\r`, REFUSED],
  ['no Host', head('GET /health HTTP/1.1'), REFUSED],
  ['two Hosts', head('GET /health HTTP/1.1', HOST, HOST), REFUSED],
  ['two Hosts that differ', head('GET /health HTTP/1.1', HOST, 'hOST: evil.example'), REFUSED],
  [
    '2,000 headers',
    head('GET /health HTTP/1.1', HOST, ...Array.from({ length: 2_000 }, (_, index) => `X${index}: 1`)),
    ['headers_too_large'],
  ],
  [
    '65 headers',
    head('GET /health HTTP/1.1', HOST, ...Array.from({ length: 64 }, (_, index) => `X${index}: 1`)),
    'headers_too_large',
  ],
  ['a header of 20 KB', head('GET /health HTTP/1.1', HOST, `Cookie: ${'a'.repeat(20_000)}`), 'headers_too_large'],
  ['a header name of 20 KB', head('GET /health HTTP/1.1', HOST, `${'a'.repeat(20_000)}: 1`), 'headers_too_large'],
  ['an expectation nobody knows', head('GET /health HTTP/1.1', HOST, 'Expect: the-unexpected'), REFUSED],
]

const TAKEN: readonly (readonly [string, () => Piece | readonly Piece[], Outcome | readonly Outcome[]])[] = [
  [
    '64 headers',
    () => head('GET /health HTTP/1.1', HOST, CLOSE, ...Array.from({ length: 62 }, (_, index) => `X${index}: 1`)),
    200,
  ],
  ['HTTP/1.0 without a Host', () => head('GET /health HTTP/1.0'), 200],
  ['empty lines in front', () => CRLF.repeat(3) + get('/health', CLOSE), 200],
  ['header names in any case', () => head('GET /health HTTP/1.1', 'hOsT: x', 'CONNECTION: close'), 200],
  ['an empty Host', () => head('GET /health HTTP/1.1', 'Host:', CLOSE), 200],
  ['bytes beyond ASCII in a value', () => get('/health', 'User-Agent: \xff\xfe\xe9', CLOSE), 200],
  ['a query of 8 KB', () => get(`/health?${'a=b&'.repeat(2_000)}`, CLOSE), 200],
  ['a broken query', () => get('/health?%zz=%&&&=', CLOSE), 200],
  ['two blanks before the version', () => head('GET /health  HTTP/1.1', HOST, CLOSE), 200],
  ['a fragment in the target', () => get('/health#x', CLOSE), 'invalid_request'],
  ['dots in the path', () => get('/v1/../health', CLOSE), 'not_found'],
  ['two slashes in front', () => get('//evil.example/health', CLOSE), 'not_found'],
  ['a backslash in front', () => get('/\\evil.example', CLOSE), 'not_found'],
  ['bytes beyond ASCII in the path', () => get('/v1/projects/\xc3\xa9/report.sh', CLOSE), ['invalid_request']],
  ['an overlong escape in the path', () => get('/v1/projects/%c0%ae/report.sh', CLOSE), 'invalid_request'],
  ['a NUL escape in the path', () => get('/v1/projects/%00/report.sh', CLOSE), 'website_not_found'],
  ['a path of 15 KB', () => get(`/v1/projects/${'a'.repeat(15_000)}/report.sh`, CLOSE), 'website_not_found'],
  ['TRACE', () => head('TRACE /v1/events HTTP/1.1', HOST, CLOSE, 'Cookie: secret'), 'method_not_allowed'],
  ['PROPFIND', () => head('PROPFIND /v1/events HTTP/1.1', HOST, CLOSE), 'method_not_allowed'],
  ['a method override', () => get('/v1/events', 'X-HTTP-Method-Override: POST', CLOSE), 'method_not_allowed'],
  [
    'an upgrade to WebSocket',
    () =>
      get(
        '/health',
        'Connection: Upgrade, close',
        'Upgrade: websocket',
        'Sec-WebSocket-Key: x',
        'Sec-WebSocket-Version: 13',
      ),
    200,
  ],
  [
    'an upgrade to h2c',
    () =>
      get(
        '/health',
        'Connection: Upgrade, HTTP2-Settings, close',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA',
      ),
    200,
  ],
  ['a body with GET', () => get('/health', 'Content-Length: 5', CLOSE) + 'hello', 200],
  [
    'a body cut into two segments',
    () => {
      const text = report([CLOSE])
      return [text.slice(0, -20), { pauseMs: 20 }, text.slice(-20)]
    },
    200,
  ],
  [
    'a head cut into two segments',
    () => {
      const text = report([CLOSE])
      return [text.slice(0, 30), { pauseMs: 20 }, text.slice(30)]
    },
    200,
  ],
  ['one byte at a time', () => [...report([CLOSE])], 200],
  [
    'a character split over segments',
    () => {
      const bytes = Buffer.from(report([CLOSE], JSON.stringify(eventBody({ language: 'de-é-🚀' }))), 'latin1')
      const cut = bytes.length - 5
      return [bytes.subarray(0, cut), { pauseMs: 20 }, bytes.subarray(cut)]
    },
    200,
  ],
  [
    'a character split over chunks',
    () => {
      const bytes = Buffer.from(JSON.stringify(eventBody({ language: '🚀é🚀' })))
      return chunkedReport(chunked([...bytes].map((byte) => Buffer.from([byte]))), [CLOSE])
    },
    200,
  ],
  [
    'chunks with extensions and trailers',
    () => {
      const text = sound()
      return chunkedReport(
        `${text.length.toString(16)};name="value"${CRLF}${text}${CRLF}0;x${CRLF}X-Trailer: 1${CRLF}${CRLF}`,
        [CLOSE],
      )
    },
    200,
  ],
  [
    'a chunk size with zeros in front',
    () => {
      const text = sound()
      return chunkedReport(`000${text.length.toString(16).toUpperCase()}${CRLF}${text}${CRLF}0${CRLF}${CRLF}`, [CLOSE])
    },
    200,
  ],
  ['an empty chunked body', () => chunkedReport(`0${CRLF}${CRLF}`, [CLOSE]), 'invalid_json'],
  ['no body at all', () => head('POST /v1/events HTTP/1.1', HOST, JSON_TYPE, CLOSE), 'invalid_json'],
  [
    'Content-Length: 0',
    () => head('POST /v1/events HTTP/1.1', HOST, JSON_TYPE, 'Content-Length: 0', CLOSE),
    'invalid_json',
  ],
  [
    'a length with blanks around',
    () => {
      const text = sound()
      return head('POST /v1/events HTTP/1.1', HOST, JSON_TYPE, `Content-Length: \t ${text.length} \t`, CLOSE) + text
    },
    200,
  ],
  [
    'a length with zeros in front',
    () => {
      const text = sound()
      return head('POST /v1/events HTTP/1.1', HOST, JSON_TYPE, `Content-Length: 000${text.length}`, CLOSE) + text
    },
    200,
  ],
  [
    'Transfer-Encoding: CHUNKED',
    () => {
      const text = sound()
      return [head('POST /v1/events HTTP/1.1', HOST, JSON_TYPE, 'Transfer-Encoding: CHUNKED', CLOSE), chunked([text])]
    },
    200,
  ],
  ['two content types', () => report([JSON_TYPE, CLOSE]), 'invalid_request'],
  ['two content types that differ', () => report(['content-type: text/plain', CLOSE]), 'invalid_request'],
  ['two origins', () => report(['Origin: https://acme.dev', 'Origin: https://evil.example', CLOSE]), 'invalid_request'],
  ['two encodings', () => report(['Content-Encoding: identity', 'Content-Encoding: gzip', CLOSE]), 'invalid_request'],
  ['an encoding that is empty', () => report(['Content-Encoding:', CLOSE]), 'unsupported_encoding'],
  [
    'a content type behind 8 KB of blanks',
    () =>
      head(
        'POST /v1/events HTTP/1.1',
        HOST,
        `Content-Type: application/json${' '.repeat(8_000)}x`,
        'Content-Length: 2',
        CLOSE,
      ) + '{}',
    'unsupported_media_type',
  ],
  ['a GPC header of 8 KB', () => report([`Sec-GPC: ${', '.repeat(4_000)}1`, CLOSE]), 200],
  ['an origin of 8 KB', () => report([`Origin: https://${'a.'.repeat(4_000)}example`, CLOSE]), 'native_endpoint'],
  [
    'forwarded addresses by the thousand',
    () => report([`X-Forwarded-For: ${'192.0.2.1, '.repeat(900)}192.0.2.1`, CLOSE]),
    200,
  ],
  ['forwarded nonsense', () => report(["X-Forwarded-For: '; DROP TABLE visits; --", CLOSE]), 200],
  [
    'Expect: 100-continue',
    () => {
      const text = sound()
      return [
        head(
          'POST /v1/events HTTP/1.1',
          HOST,
          JSON_TYPE,
          `Content-Length: ${text.length}`,
          'Expect: 100-continue',
          CLOSE,
        ),
        { pauseMs: 30 },
        text,
      ]
    },
    [100, 200],
  ],
  [
    'Expect: 100-continue before too much',
    () => head('POST /v1/events HTTP/1.1', HOST, JSON_TYPE, 'Content-Length: 20000', 'Expect: 100-continue'),
    'body_too_large',
  ],
  [
    'exactly 16 KB in pieces',
    () => {
      const text = sound()
      const padded = `${text.slice(0, -1)}${' '.repeat(LIMITS.bodyBytes - text.length)}}`
      return chunkedReport(chunked([padded.slice(0, 9_000), padded.slice(9_000)]), [CLOSE])
    },
    200,
  ],
  ['one byte more than 16 KB in pieces', () => chunkedReport(chunked(['x'.repeat(16_384), 'x']), []), 'body_too_large'],
  [
    'a flood of chunks',
    () => chunkedReport(chunked(Array.from({ length: 64 }, () => 'x'.repeat(16_384))), []),
    'body_too_large',
  ],
  [
    '20,000 chunks of one byte',
    () => chunkedReport(chunked(Array.from({ length: 20_000 }, () => 'x')), []),
    'body_too_large',
  ],
  [
    '16,000 chunks of one byte',
    () => chunkedReport(chunked(Array.from({ length: 16_000 }, () => ' ')), [CLOSE]),
    'invalid_json',
  ],
  [
    'a declared megabyte of which nothing comes',
    () => head('POST /v1/visits HTTP/1.1', HOST, JSON_TYPE, 'Content-Length: 1000000'),
    'body_too_large',
  ],
  [
    'a declared terabyte',
    () => head('POST /v1/visits HTTP/1.1', HOST, JSON_TYPE, 'Content-Length: 1099511627776') + 'x',
    'body_too_large',
  ],
  [
    'a wrong type with a declared megabyte',
    () =>
      head('POST /v1/visits HTTP/1.1', HOST, 'Content-Type: text/plain', 'Content-Length: 1000000') + 'x'.repeat(3_000),
    'unsupported_media_type',
  ],
  [
    'a wrong method with a flood',
    () => [
      head('POST /v1/projects/acme-dev/report.sh HTTP/1.1', HOST, 'Transfer-Encoding: chunked'),
      chunked(['x'.repeat(50_000)]),
    ],
    'method_not_allowed',
  ],
  [
    'no such address with a flood',
    () => [head('POST /nothing HTTP/1.1', HOST, 'Transfer-Encoding: chunked'), chunked(['x'.repeat(50_000)])],
    'not_found',
  ],
  [
    'a client that ends in the middle of a body',
    () => [head('POST /v1/events HTTP/1.1', HOST, JSON_TYPE, 'Content-Length: 100'), '{"project"', FIN],
    'invalid_request',
  ],
  ['a client that ends in the middle of a head', () => ['POST /v1/events HTTP/1.1\r\nHost: x', FIN], 'invalid_request'],
  ['a client that ends after its request', () => [get('/health'), FIN], 200],
  ['a client that says nothing', () => [FIN], 'closed'],
]

/** Several requests on one connection. */
const PIPELINES: readonly (readonly [string, () => Piece | readonly Piece[], readonly Outcome[]])[] = [
  ['ten at once', () => get('/health').repeat(9) + get('/health', CLOSE), Array.from({ length: 10 }, () => 200)],
  [
    'reports and reads mixed',
    () => report([]) + get('/health') + report([]) + get('/nothing', CLOSE),
    [200, 200, 200, 'not_found'],
  ],
  ['nothing behind Connection: close', () => get('/health', CLOSE) + get('/health'), [200]],
  [
    'a refusal keeps the connection if the body was read',
    () => report([], '{') + report([CLOSE]),
    ['invalid_json', 200],
  ],
  [
    'a wrong type keeps the connection if the body was read',
    () =>
      head('POST /v1/events HTTP/1.1', HOST, 'Content-Type: text/plain', 'Content-Length: 5') +
      'hello' +
      get('/health', CLOSE),
    ['unsupported_media_type', 200],
  ],
  [
    'a body too large is no further request',
    () => head('POST /v1/events HTTP/1.1', HOST, JSON_TYPE, 'Content-Length: 20000') + get('/health').repeat(3),
    ['body_too_large'],
  ],
  [
    'chunks too large are no further request',
    () => [...chunkedReport(chunked([get('/health').repeat(1_000)])), get('/health')],
    ['body_too_large'],
  ],
  [
    'a body of GET is no further request',
    () => get('/health', `Content-Length: ${get('/nothing').length}`) + get('/nothing') + get('/health', CLOSE),
    [200, 200],
  ],
  [
    'a body of a wrong method is no further request',
    () =>
      head('DELETE /v1/events HTTP/1.1', HOST, `Content-Length: ${get('/nothing').length}`) +
      get('/nothing') +
      get('/health', CLOSE),
    ['method_not_allowed', 200],
  ],
  [
    'nonsense behind an answered request',
    () => [get('/health'), { pauseMs: 100 }, 'NONSENSE\r\n\r\n'],
    [200, 'invalid_request'],
  ],
]

describe('raw HTTP', () => {
  let api: Api
  before(async () => {
    api = await startApi()
  })
  after(() => api.stop())

  const codeOf = (answer: RawAnswer): Outcome => {
    if (answer.status < 400) return answer.status
    const { error } = JSON.parse(answer.body) as { error: ErrorCode }
    expect(ERRORS[error]?.status).to.equal(answer.status)
    expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8')
    return error
  }
  const expectOutcome = ({ name, outcome, isClosed }: Case, exchange: RawExchange): void => {
    const codes = exchange.answers.map(codeOf)
    expect(exchange.rest, name).to.equal('')
    expect(codes.length === 0 ? ['closed'] : codes, name).to.deep.equal(outcome)
    if (isClosed !== undefined) expect(exchange.isClosed, name).to.equal(isClosed)
  }
  const check = (cases: readonly Case[]): void => {
    for (const one of cases) {
      it(one.name, async () => {
        expectOutcome(one, await exchangeRaw(api.service.port, one.pieces()))
      })
    }
  }

  describe('whose length is ambiguous is refused and the connection closed', () => {
    check(
      LENGTHS.map(([name, lines]) =>
        row(name, REFUSED, () => [report(lines, '', false), `5${CRLF}hello${CRLF}0${CRLF}${CRLF}`], { isClosed: true }),
      ),
    )
  })

  describe('whose chunks are malformed is refused and the connection closed', () => {
    check(CHUNKS.map(([name, chunks]) => row(name, REFUSED, () => chunkedReport(chunks), { isClosed: true })))
  })

  describe('whose headers are malformed is refused and the connection closed', () => {
    check(REQUEST_LINES.map(([name, text, outcome]) => row(name, outcome, () => text, { isClosed: true })))
  })

  describe('that is unusual is answered as what it is', () => {
    check(TAKEN.map(([name, make, outcome]) => row(name, outcome, make, { isClosed: true })))
  })

  describe('with several requests on one connection', () => {
    check(PIPELINES.map(([name, make, outcome]) => row(name, outcome, make, { isClosed: true })))
  })

  it('has a corpus of at least 150 cases', () => {
    const count = LENGTHS.length + CHUNKS.length + REQUEST_LINES.length + TAKEN.length + PIPELINES.length
    expect(count).to.be.at.least(150)
  })

  it('ends slow headers after 5 s and slow bodies after 10 s, with an answer', async () => {
    const start = 'POST /v1/events HTTP/1.1\r\nHost: x\r\n'
    const [slowHead, slowBody, silentBody, silent] = await Promise.all([
      exchangeRaw(api.service.port, [start, { pauseMs: 3_000 }, 'X: 1\r\n', { pauseMs: 4_500 }]),
      exchangeRaw(api.service.port, [
        report([`Content-Length: 100`], '', false),
        ...Array.from({ length: 12 }, () => [{ pauseMs: 1_000 }, '{']).flat(),
      ]),
      exchangeRaw(api.service.port, [report([`Content-Length: 100`], '', false), { pauseMs: 12_000 }]),
      exchangeRaw(api.service.port, [{ pauseMs: 7_500 }]),
    ])
    for (const exchange of [slowHead, slowBody, silentBody]) {
      expect(exchange.answers.map(codeOf)).to.deep.equal(['request_timeout'])
      expect(exchange.isClosed).to.equal(true)
    }
    expect(silent.isClosed).to.equal(true)
    const logged = await logsOf(api, ({ code }) => code === 'request_timeout', 2)
    // How much had come by then is up to the clocks of both sides.
    expect(logged.map(({ status, path, body }) => `${status} ${path} ${body.replace(/^\{+$/, '{')}`)).to.have.members([
      '408 /v1/events {',
      '408 /v1/events ',
    ])
  }).timeout(30_000)

  it('may name our own host in its target, by which it is found as by its path', async () => {
    const own = `http://127.0.0.1:${api.service.port}`
    for (const [target, host] of [
      ['http://whence.test/health', HOST],
      ['HTTP://WHENCE.test:80/health?x', HOST],
      [`${own}/health`, HOST],
      [`${own}/health`, `Host: 127.0.0.1:${api.service.port}`],
    ] as const) {
      const { answers } = await exchangeRaw(api.service.port, [head(`GET ${target} HTTP/1.1`, host, CLOSE)])
      expect(answers.map(codeOf), target).to.deep.equal([200])
    }
    const body = JSON.stringify(eventBody())
    const post = report([CLOSE], body).replace('POST /v1/events', 'POST http://whence.test/v1/events')
    expect((await exchangeRaw(api.service.port, [post])).answers.map(codeOf)).to.deep.equal([200])
  })

  it('leaves no half-open connection of a client that does not hang up', async () => {
    const exchange = await exchangeRaw(api.service.port, ['NONSENSE\r\n\r\n', { pauseMs: 800 }])
    expect(exchange.isClosed).to.equal(true)
  })

  it('survives clients that vanish in any state', async () => {
    const { connect } = await import('node:net')
    const texts = [
      report([]),
      head('CONNECT x:1 HTTP/1.1', HOST),
      get('/health'),
      'NONSENSE\r\n\r\n',
      ...chunkedReport(chunked(['x'.repeat(30_000)])).map((piece) =>
        (piece as Buffer | string).toString('latin1' as 'utf8'),
      ),
    ]
    for (const text of texts) {
      for (const cut of [1, 20, text.length - 1, text.length]) {
        await new Promise<void>((resolve) => {
          const socket = connect({ port: api.service.port, host: '127.0.0.1' }, () => {
            socket.write(text.slice(0, cut), () => socket.resetAndDestroy())
          })
          socket.on('close', () => resolve()).on('error', () => undefined)
        })
      }
    }
    expect((await api.get('/health')).status).to.equal(200)
  })

  describe('afterwards', () => {
    it('the service is healthy, there was no fault, and metrics name a bounded set of routes', async () => {
      expect((await api.event({ event_id: newId() })).status).to.equal(200)
      expect(api.service.logLines.filter((line) => /request failed|"level":"(error|fatal)"/.test(line))).to.deep.equal(
        [],
      )
      const metrics = await (await fetch(api.service.metricsUrl)).text()
      const routes = new Set(
        [...metrics.matchAll(/whence_requests_total\{[^}]*route="([^"]*)"/g)].map(([, route]) => route),
      )
      expect([...routes].sort()).to.deep.equal([
        '',
        '/health',
        '/v1/events',
        '/v1/projects/{website}/report.sh',
        '/v1/visits',
      ])
      expect(metrics).to.not.match(/status="5\d\d"/)
      expect(metrics).to.match(/whence_requests_total\{route="",status="400",code="invalid_request"/)
    })
  })
})
