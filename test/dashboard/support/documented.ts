/** Holds answers of the dashboard's API against its document: every field of an answer stands there, with its type. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

import { matchPath } from '../../../dashboard/http/route.ts'

type Json = Readonly<Record<string, unknown>>

interface AnswerDocument {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Documented>> }>>>
  >
  readonly components: { readonly schemas: Json }
}

interface Documented {
  /** Of a refusal: its codes. */
  readonly description?: string
  readonly content?: Readonly<Record<string, { readonly schema: Json }>>
}

const DOCS = join(import.meta.dirname, '../../../docs')
const documentIn = (file: string) => JSON.parse(readFileSync(join(DOCS, file), 'utf8')) as AnswerDocument
const OF_PAGES = documentIn('dashboard-openapi.json')
/** What programs read is public. */
const OF_PROGRAMS = documentIn('openapi.json')
const DOCUMENT: AnswerDocument = {
  paths: { ...OF_PROGRAMS.paths, ...OF_PAGES.paths },
  components: { schemas: { ...OF_PROGRAMS.components.schemas, ...OF_PAGES.components.schemas } },
}
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true })
ajv.addVocabulary(['components'])
ajv.addSchema({ $id: 'document', components: closed(DOCUMENT.components) })
const checks = new Map<Json, ValidateFunction>()

interface Answered {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** What the document does not say of an answer; null if it says everything. */
export function undocumented(answered: Answered): string | null {
  const { method, path, status, headers, text } = answered
  const pathname = path.split('?')[0] ?? ''
  const found = Object.entries(DOCUMENT.paths).find(
    ([template, of]) =>
      matchPath(template.replaceAll(/\{(\w+)\}/g, ':$1'), pathname) !== null && of[method.toLowerCase()] !== undefined,
  )
  const answer = found?.[1][method.toLowerCase()]?.responses[String(status)]
  if (status >= 400) return found === undefined ? null : undocumentedRefusal({ method, path: pathname, text }, answer)
  return undocumentedAnswer({ method, path: pathname, status, text, contentType: headers.get('content-type') }, answer)
}

interface Succeeded extends Omit<Answered, 'headers'> {
  readonly contentType: string | null
}

function undocumentedAnswer(
  { method, path: pathname, status, text, contentType }: Succeeded,
  answer: Documented | undefined,
): string | null {
  if (answer === undefined) return `no answer ${status} to ${method} ${pathname} is documented`
  if (answer.content === undefined) return text === '' ? null : `the answer to ${method} ${pathname} has a body`
  const schema = Object.entries(answer.content).find(([type]) => contentType?.startsWith(type))?.[1].schema
  if (schema === undefined) return `${method} ${pathname} answers ${contentType}`
  if (contentType?.startsWith('application/json') !== true) return null
  const check = checkOf(schema)
  return check(JSON.parse(text)) ? null : `${method} ${pathname}: ${ajv.errorsText(check.errors)}`
}

/** What is no route is refused as such; a page is what a person sees instead of JSON. */
function undocumentedRefusal(
  { method, path, text }: Pick<Answered, 'method' | 'path' | 'text'>,
  documented: Documented | undefined,
): string | null {
  if (!text.startsWith('{')) return null
  const { error } = JSON.parse(text) as { readonly error?: string }
  const codes = documented?.description?.split(/, | /).map((word) => word.replaceAll(/[`:]/g, '')) ?? []
  return codes.includes(error ?? '') ? null : `the refusal ${error} of ${method} ${path} is not documented`
}

function checkOf(schema: Json): ValidateFunction {
  const check = checks.get(schema) ?? ajv.compile(closed(schema) as Json)
  checks.set(schema, check)
  return check
}

/** Clients must take members that they do not know; here they are findings. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const all = Object.entries(schema).map(([name, value]) => [
    name,
    name === '$ref' ? `document${String(value)}` : closed(value),
  ])
  const isOpen = 'properties' in schema && 'type' in schema && !('additionalProperties' in schema)
  return { ...Object.fromEntries(all), ...(isOpen ? { additionalProperties: false } : {}) }
}
