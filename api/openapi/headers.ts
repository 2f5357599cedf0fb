/** Headers of requests and answers, for the OpenAPI document. */

import type { SchemaJson } from './schemas.ts'

const ANSWER_HEADERS = {
  'Cache-Control': 'How long the answer may be kept; `no-store` for answers of collection.',
  Vary: 'What of the request the answer depends on.',
  ETag: 'Version of the content, for `If-None-Match`.',
  'X-Content-Type-Options': '`nosniff`',
  'Access-Control-Allow-Origin': 'The origin of the request if some website has registered it; `*` for files.',
  'Cross-Origin-Resource-Policy': '`cross-origin` for files.',
  'Retry-After': 'The wait before a retry, in seconds.',
  Allow: 'The methods that the address has.',
} as const

type AnswerHeader = keyof typeof ANSWER_HEADERS

/** Answers of collection, refusals included. */
export const COLLECTED: readonly AnswerHeader[] = [
  'Cache-Control',
  'Vary',
  'Access-Control-Allow-Origin',
  'X-Content-Type-Options',
]
/** Files that are the same for all clients, or for all of a website. */
export const FILED: readonly AnswerHeader[] = [
  'Cache-Control',
  'ETag',
  'Vary',
  'Access-Control-Allow-Origin',
  'Cross-Origin-Resource-Policy',
  'X-Content-Type-Options',
]
export const PLAIN: readonly AnswerHeader[] = ['Cache-Control', 'X-Content-Type-Options']

/** Headers that go with a status whatever the address is. */
const BY_STATUS: Readonly<Record<number, AnswerHeader>> = { 405: 'Allow', 429: 'Retry-After', 503: 'Retry-After' }

export function headerComponents(): SchemaJson {
  const rows = Object.entries(ANSWER_HEADERS).map(([name, description]): readonly [string, SchemaJson] => [
    name,
    { description, schema: { type: name === 'Retry-After' ? 'integer' : 'string' } },
  ])
  return Object.fromEntries(rows)
}

/** The member `headers` of an answer with this status. */
export function answerHeaders(names: readonly AnswerHeader[], status: number): SchemaJson {
  const more = BY_STATUS[status]
  const all = more === undefined ? names : [...names, more]
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

const header = (name: string, required: boolean, description: string): SchemaJson => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string' },
})

/** Browsers send it automatically. */
export const ORIGIN = header(
  'Origin',
  true,
  "Origin of the page, one of the website's. Browsers send it automatically.",
)
export const OPTIONAL_ORIGIN = header('Origin', false, 'Origin of the page; registered ones may read the answer.')
export const SEC_GPC: SchemaJson = {
  ...header('Sec-GPC', false, 'Global Privacy Control, as `gpc` in the body.'),
  schema: { type: 'string', enum: ['1'] },
}
export const IF_NONE_MATCH = header('If-None-Match', false, 'An `ETag` of before: `304` if nothing changed.')
