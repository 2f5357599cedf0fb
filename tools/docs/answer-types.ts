/**
 * What each route of the dashboard's API answers, read from the types of its handlers by the compiler: the code that makes an
 * answer is the only place where its shape is written down.
 */

import { join } from 'node:path'
import ts from 'typescript'

/** A JSON Schema. */
type Schema = Readonly<Record<string, unknown>>

const ROOT = join(import.meta.dirname, '../..')
const ROUTES = join(ROOT, 'dashboard/routes.ts')
const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024,
  lib: ['lib.es2024.d.ts'],
  module: ts.ModuleKind.NodeNext,
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  skipLibCheck: true,
}

/** An answer of a route: a JSON body by its schema, a stream of another type, or neither. */
export interface RouteAnswer {
  readonly status: number
  readonly contentType: string | null
  /** Null: not JSON. */
  readonly schema: Schema | null
}

interface AnswerTypes {
  /** The answers of each handler, by the name of its route. */
  readonly answers: ReadonlyMap<string, readonly RouteAnswer[]>
  /** Schemas of the types that have a name, to which the others refer. */
  readonly named: Readonly<Record<string, Schema>>
}

export function answerTypes(): AnswerTypes {
  const program = ts.createProgram([ROUTES], OPTIONS)
  const reader = { checker: program.getTypeChecker(), named: new Map<string, Schema>() }
  const found = new Map<string, readonly RouteAnswer[]>()
  for (const file of program.getSourceFiles())
    if (/\/dashboard\/[\w-]+\/routes\.ts$/.test(file.fileName))
      for (const handler of handlersOf(file, reader.checker)) found.set(handler.name, answersOf(handler, reader))
  return { answers: found, named: Object.fromEntries([...reader.named].sort(([a], [b]) => (a < b ? -1 : 1))) }
}

interface Reader {
  readonly checker: ts.TypeChecker
  readonly named: Map<string, Schema>
}

/** Members of the object that the file's function `…Handlers` returns. */
function handlersOf(file: ts.SourceFile, checker: ts.TypeChecker): readonly ts.Symbol[] {
  const makers = file.statements.filter(ts.isFunctionDeclaration).filter(({ name }) => name?.text.endsWith('Handlers'))
  return makers.flatMap(({ body }) => {
    const returned = body?.statements.find(ts.isReturnStatement)?.expression
    return returned === undefined ? [] : checker.getTypeAtLocation(returned).getProperties()
  })
}

function answersOf(handler: ts.Symbol, reader: Reader): readonly RouteAnswer[] {
  const { checker } = reader
  const [signature] = checker.getTypeOfSymbol(handler).getCallSignatures()
  const outcome = signature === undefined ? undefined : checker.getAwaitedType(signature.getReturnType())
  const answers = outcome === undefined ? [] : partsOf(outcome).flatMap((each) => answerOf(each, reader))
  if (answers.length === 0) throw new Error(`the handler of ${handler.name} answers nothing that the compiler knows`)
  const byPlace = Map.groupBy(answers, ({ status, contentType }) => `${status} ${contentType}`)
  return [...byPlace.values()].map(onlyOrAny)
}

/** Several shapes of one status become alternatives. */
function onlyOrAny(answers: readonly RouteAnswer[]): RouteAnswer {
  const [first] = answers as readonly [RouteAnswer, ...RouteAnswer[]]
  const schemas = new Map(answers.flatMap(({ schema }) => (schema === null ? [] : [[JSON.stringify(schema), schema]])))
  return schemas.size < 2 ? first : { ...first, schema: { anyOf: [...schemas.values()] } }
}

/** A refusal is none: those are listed by their codes. */
function answerOf(outcome: ts.Type, reader: Reader): readonly RouteAnswer[] {
  const { checker } = reader
  const memberOf = (name: string): ts.Type | null => {
    const member = outcome.getProperty(name)
    return member === undefined ? null : checker.getTypeOfSymbol(member)
  }
  const kind = textsOf(memberOf('kind'))[0]
  if (kind === 'stream')
    return textsOf(memberOf('contentType')).map((contentType) => ({ status: 200, contentType, schema: null }))
  if (kind !== 'answer') return []
  const body = memberOf('body')
  const isEmpty = body === null || (body.flags & ts.TypeFlags.Undefined) !== 0
  const content = isEmpty
    ? { contentType: null, schema: null }
    : { contentType: 'application/json', schema: schemaOf([body], reader) }
  return partsOf(memberOf('status')).map((status) => ({ status: (status as ts.NumberLiteralType).value, ...content }))
}

function partsOf(type: ts.Type | null): readonly ts.Type[] {
  if (type === null) return []
  return type.isUnion() ? type.types : [type]
}

function textsOf(type: ts.Type | null): readonly string[] {
  return partsOf(type).flatMap((each) => (each.isStringLiteral() ? [each.value] : []))
}

/** As `JSON.stringify` writes a value of the type. */
function schemaOf(types: readonly ts.Type[], reader: Reader): Schema {
  const parts = [...new Set(types.flatMap(partsOf))].filter(({ flags }) => (flags & NEVER_WRITTEN) === 0)
  const words = parts.flatMap((each) => (each.isStringLiteral() ? [each.value] : []))
  const lists = parts.filter((each) => itemsOf(each, reader) !== undefined)
  const objects = parts.filter((each) => isObject(each, reader))
  const others = parts.filter((each) => !each.isStringLiteral() && !lists.includes(each) && !objects.includes(each))
  const schemas = [
    ...(words.length === 0 ? [] : [{ type: 'string', enum: words.toSorted() }]),
    ...others.map(plainSchema),
    ...(lists.length === 0 ? [] : [listSchema(lists, reader)]),
    ...(objects.length === 0 ? [] : [namedOrOwn(objects, reader)]),
  ]
  return joined([...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()])
}

const NEVER_WRITTEN = ts.TypeFlags.Undefined | ts.TypeFlags.Never

/** `null` beside one other type is one more type of it, as OpenAPI 3.1 says it. */
function joined(schemas: readonly Schema[]): Schema {
  const [value, ...more] = schemas.filter(({ type }) => type !== 'null')
  if (value === undefined) return { type: 'null' }
  if (more.length > 0) return { anyOf: schemas }
  if (schemas.length === 1) return value
  if ('$ref' in value) return { anyOf: [value, { type: 'null' }] }
  const words = value['enum'] as readonly string[] | undefined
  return { ...value, type: [value['type'], 'null'], ...(words === undefined ? {} : { enum: [...words, null] }) }
}

const PLAIN: readonly (readonly [ts.TypeFlags, Schema])[] = [
  [ts.TypeFlags.Null, { type: 'null' }],
  [ts.TypeFlags.StringLike, { type: 'string' }],
  [ts.TypeFlags.NumberLike, { type: 'number' }],
  [ts.TypeFlags.BooleanLike, { type: 'boolean' }],
]

/** Whatever is unknown may be anything. */
function plainSchema(type: ts.Type): Schema {
  // Text with a brand, such as the ID of a visit.
  const bare = type.isIntersection() ? type.types : [type]
  const found = PLAIN.find(([flags]) => bare.some((each) => (each.flags & flags) !== 0))
  return found === undefined ? {} : found[1]
}

function listSchema(lists: readonly ts.Type[], reader: Reader): Schema {
  return {
    type: 'array',
    items: schemaOf(
      lists.flatMap((list) => itemsOf(list, reader) ?? []),
      reader,
    ),
  }
}

function itemsOf(type: ts.Type, { checker }: Reader): ts.Type | undefined {
  return checker.isArrayLikeType(type) ? checker.getIndexTypeOfType(type, ts.IndexKind.Number) : undefined
}

function isObject(type: ts.Type, reader: Reader): boolean {
  const parts = type.isIntersection() ? type.types : [type]
  return parts.every(({ flags }) => (flags & ts.TypeFlags.Object) !== 0) && itemsOf(type, reader) === undefined
}

/** By its name if it has one: each name is declared once in the whole project. */
function namedOrOwn(shapes: readonly ts.Type[], reader: Reader): Schema {
  const [only] = shapes
  const name = only === undefined || shapes.length > 1 ? null : nameOf(only)
  if (name === null) return objectSchemaOf(shapes, reader)
  if (!reader.named.has(name)) reader.named.set(name, objectSchemaOf(shapes, reader))
  return { $ref: `#/components/schemas/${name}` }
}

function nameOf({ symbol, aliasSymbol, aliasTypeArguments = [] }: ts.Type): string | null {
  if (aliasSymbol !== undefined) return aliasTypeArguments.length === 0 ? aliasSymbol.name : null
  return symbol !== undefined && (symbol.flags & ts.SymbolFlags.Interface) !== 0 ? symbol.name : null
}

/** Of objects of several shapes all members: those that only some of them have are optional. */
function objectSchemaOf(shapes: readonly ts.Type[], reader: Reader): Schema {
  const { checker } = reader
  const values = shapes.flatMap((shape) => checker.getIndexTypeOfType(shape, ts.IndexKind.String) ?? [])
  const members = Map.groupBy(
    shapes.flatMap((shape) => checker.getPropertiesOfType(shape)),
    ({ name }) => name,
  )
  const properties = [...members].map(([name, all]) => [name, memberSchema(all, reader)] as const)
  const isAlwaysThere = (name: string) =>
    shapes.every((shape) => {
      const member = shape.getProperty(name)
      return member !== undefined && !isOptional(member, checker)
    })
  const required = [...members.keys()].filter(isAlwaysThere)
  return {
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
    ...(values.length === 0 ? {} : { additionalProperties: schemaOf(values, reader) }),
  }
}

function isOptional(member: ts.Symbol, checker: ts.TypeChecker): boolean {
  const mayBeAbsent = partsOf(checker.getTypeOfSymbol(member)).some(({ flags }) => (flags & NEVER_WRITTEN) !== 0)
  return (member.flags & ts.SymbolFlags.Optional) !== 0 || mayBeAbsent
}

function memberSchema(members: readonly ts.Symbol[], reader: Reader): Schema {
  const comments = members.map((member) => ts.displayPartsToString(member.getDocumentationComment(reader.checker)))
  const description = (comments.find((comment) => comment !== '') ?? '').replaceAll(/\s+/g, ' ').trim()
  const types = members.map((member) => reader.checker.getTypeOfSymbol(member))
  return { ...schemaOf(types, reader), ...(description === '' ? {} : { description }) }
}
