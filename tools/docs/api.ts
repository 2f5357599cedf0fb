/** docs/api.md from its own words (tools/docs/api-words.md) and the OpenAPI document: every endpoint with its fields. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { openApiDocument } from '../../api/openapi/document.ts'
import { code, page, table } from './markdown.ts'

interface FieldSchema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, FieldSchema>>
  readonly required?: readonly string[]
  readonly items?: FieldSchema
  readonly additionalProperties?: FieldSchema | boolean
  readonly anyOf?: readonly FieldSchema[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly maxProperties?: number
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description?: string
  readonly schema: FieldSchema
}

interface Answer {
  readonly description: string
  readonly headers?: Readonly<Record<string, object>>
  readonly content?: Readonly<Record<string, { readonly schema: FieldSchema }>>
}

interface Operation {
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: FieldSchema }>> }
  readonly responses: Readonly<Record<string, Answer>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, FieldSchema>> }
}

const JSON_TYPE = 'application/json'
const WORDS = join(import.meta.dirname, 'api-words.md')

export function apiPage(): string {
  const options = { baseUrl: 'https://whence.example', version: '', brand: 'whence' }
  const document = openApiDocument(options) as unknown as Document
  const sections = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => section({ path, method, operation }, document)),
  )
  const [head = '', tail = ''] = readFileSync(WORDS, 'utf8').trim().split('\n---\n')
  return page('The public interface', 'tools/docs/api-words.md and the OpenAPI document', [
    head.trim(),
    '## Endpoints',
    ...sections,
    tail.trim(),
  ])
}

interface Endpoint {
  readonly path: string
  readonly method: string
  readonly operation: Operation
}

function section({ path, method, operation }: Endpoint, document: Document): string {
  const { parameters, requestBody, responses } = operation
  return [
    `### ${method.toUpperCase()} ${path}`,
    sentences(operation),
    ...parameterTable(parameters ?? []),
    ...queryTable(parameters ?? []),
    ...formsOf(requestBody?.content[JSON_TYPE]?.schema).map((form) => fieldTable('Body', form, document)),
    answerPart(responses['200']?.content ?? {}, document),
    errorLine(responses),
  ].join('\n\n')
}

function sentences({ summary, description }: Operation): string {
  return description === undefined ? `${summary}.` : `${summary}. ${description}`
}

/** The forms that a body may have. */
function formsOf(body: FieldSchema | undefined): readonly FieldSchema[] {
  return body === undefined ? [] : (body.anyOf ?? [body])
}

function answerPart(content: NonNullable<Answer['content']>, document: Document): string {
  const said = content[JSON_TYPE]?.schema
  if (said !== undefined) return fieldTable('Answer', said, document)
  return `Answers ${Object.keys(content).map(code).join(', ')}.`
}

function parameterTable(parameters: readonly Parameter[]): readonly string[] {
  const headers = parameters.filter((each) => each.in === 'header')
  if (headers.length === 0) return []
  const rows = headers.map(({ name, required, description = '' }) => [code(name), required ? 'yes' : '', description])
  return [table(['Header', 'Required', 'Meaning'], rows)]
}

function queryTable(parameters: readonly Parameter[]): readonly string[] {
  const rows = parameters
    .filter((each) => each.in === 'query')
    .map(({ name, schema, description = '' }) => [code(name), typeText(schema), description])
  return rows.length === 0 ? [] : [table(['Parameter', 'Type', 'Meaning'], rows)]
}

function errorLine(responses: Operation['responses']): string {
  const rows = Object.entries(responses).filter(([status]) => Number(status) >= 400)
  const codes = rows.flatMap(([status, { description }]) =>
    [...description.matchAll(/`([a-z_]+)`: /g)].map(([, name = '']) => `${code(name)} (${status})`),
  )
  return `Errors: ${codes.join(', ')}.`
}

function fieldTable(title: string, schema: FieldSchema, document: Document): string {
  const rows = fieldRows(resolved(schema, document), '', document)
  return rows.length === 0 ? `${title}: a JSON object.` : table([title, 'Type', 'Required', 'Meaning'], rows)
}

function resolved(schema: FieldSchema, { components }: Document): FieldSchema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : (components.schemas[name] ?? schema)
}

/** One row for each field, nested fields after their parents. */
function fieldRows(schema: FieldSchema, prefix: string, document: Document): readonly (readonly string[])[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const isRequired = schema.required?.includes(name) === true
    const own = [code(`${prefix}${name}`), typeText(field), isRequired ? 'yes' : '', field.description ?? '']
    return [own, ...innerRows(field, `${prefix}${name}`, document)]
  })
}

function innerRows(sent: FieldSchema, name: string, document: Document): readonly (readonly string[])[] {
  const field = withoutNull(sent)
  if (field.properties !== undefined) return fieldRows(field, `${name}.`, document)
  if (field.items?.properties !== undefined) return fieldRows(field.items, `${name}[].`, document)
  const map = field.additionalProperties
  const member = typeof map === 'object' ? withoutNull(map) : undefined
  return member?.properties !== undefined ? fieldRows(member, `${name}.*.`, document) : []
}

/** Without the null that stands for an absent member, which the page says once. */
function withoutNull(field: FieldSchema): FieldSchema {
  const { type, anyOf, enum: words, ...rest } = field
  const kept = anyOf?.filter((one) => one.type !== 'null')
  if (anyOf !== undefined && kept?.length === 1) return { ...kept[0], ...rest }
  const single = typeof type === 'string' ? type : type?.find((one) => one !== 'null')
  return {
    ...rest,
    ...(single === undefined ? {} : { type: single }),
    ...(kept === undefined ? {} : { anyOf: kept }),
    ...(words === undefined ? {} : { enum: words.filter((word) => word !== null) }),
  }
}

function typeText(sent: FieldSchema): string {
  const schema = withoutNull(sent)
  const { type, anyOf, items, maxLength, minLength, maxItems, maxProperties } = schema
  if (schema.const !== undefined) return code(JSON.stringify(schema.const))
  if (schema.enum !== undefined) return schema.enum.map((value) => code(String(value))).join(', ')
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeText))].join(' or ')
  if (type === undefined) return 'anything'
  const length = minLength === maxLength ? `, ${maxLength} characters` : `, at most ${maxLength} characters`
  return [
    type,
    maxLength === undefined ? '' : length,
    items === undefined ? '' : ` of ${typeText(items)}`,
    maxItems === undefined ? '' : `, at most ${maxItems}`,
    maxProperties === undefined ? '' : `, at most ${maxProperties} members`,
  ].join('')
}
