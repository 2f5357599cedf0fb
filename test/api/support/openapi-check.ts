/** Checks real answers against the OpenAPI document: statuses, codes and the schemas of bodies. */

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { openApiDocument } from '../../../api/openapi/document.ts'
import { ERRORS, type ErrorCode } from '../../../domain/errors.ts'
import type { Reply } from '../../../fixtures/service/requests.ts'

type Json = Record<string, any>

export const DOCUMENT = openApiDocument({
  baseUrl: 'https://whence.example',
  version: '0.0.0',
  brand: 'whence',
}) as Json

const ajv = new Ajv2020({ strict: false, allErrors: true })
ajv.addSchema(DOCUMENT, 'openapi')
const validators = new Map<string, ValidateFunction>()

/** Every error code that any answer of this run has carried. */
export const SEEN_CODES = new Set<string>()

/** Throws if an answer is not as documented. */
export function expectDocumented(method: string, path: string, reply: Reply): void {
  const where = `${method} ${path} ${reply.status} ${reply.text.slice(0, 200)}`
  if (reply.status >= 400) expectError(where, reply, method === 'HEAD')
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
  const [template, operations] = findPath(path.split('?')[0] ?? path) ?? []
  if (template === undefined || operations?.[verb] === undefined) {
    const expected = template === undefined ? [404, 400, 431] : [405, 400, 431, 204]
    expect(reply.status, where).to.be.oneOf(expected)
    return
  }
  const answer = operations[verb].responses[String(reply.status)]
  expect(answer, `${where}: the document does not know this status`).to.not.equal(undefined)
  expectHeaders(where, reply, answer)
  if (method === 'HEAD' || reply.status === 304) return
  expectContent(where, reply, { answer, pointer: ['paths', template, verb, 'responses', String(reply.status)] })
}

/** What every HTTP answer may have, and what is named by the content in the document. */
const USUAL_HEADERS = [
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
]

function expectHeaders(where: string, reply: Reply, answer: Json): void {
  const known = [...USUAL_HEADERS, ...Object.keys(answer['headers'] ?? {}).map((name) => name.toLowerCase())]
  const unknown = [...reply.headers.keys()].filter((name) => !known.includes(name))
  expect(unknown, `${where}: the document does not know these headers`).to.deep.equal([])
}

function expectError(where: string, reply: Reply, isHead: boolean): void {
  expect(reply.headers.get('content-type'), where).to.equal('application/json; charset=utf-8')
  if (isHead) return
  const code = reply.body['error'] as ErrorCode
  expect(ERRORS[code]?.status, where).to.equal(reply.status)
  SEEN_CODES.add(code)
}

function expectContent(
  where: string,
  reply: Reply,
  { answer, pointer }: { answer: Json; pointer: readonly string[] },
): void {
  const type = (reply.headers.get('content-type') ?? '').split(';')[0] ?? ''
  expect(Object.keys(answer['content'] ?? {}), where).to.include(type)
  if (type !== 'application/json') return
  const place = [...pointer, 'content', type, 'schema'].map((step) => encodeURIComponent(escapeStep(step)))
  const validate = validatorOf(`openapi#/${place.join('/')}`)
  expect(validate(reply.body), `${where}: ${ajv.errorsText(validate.errors)}`).to.equal(true)
}

function validatorOf(ref: string): ValidateFunction {
  const known = validators.get(ref)
  if (known !== undefined) return known
  const made = ajv.compile({ $ref: ref })
  validators.set(ref, made)
  return made
}

function escapeStep(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1')
}

function findPath(path: string): readonly [string, Json] | undefined {
  const paths = Object.entries(DOCUMENT['paths'] as Record<string, Json>)
  return paths.find(([template]) => {
    const pattern = template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')
    return new RegExp(`^${pattern}$`).test(path)
  })
}
