/** `whencectl statement NAME`: prints a statement as it is sent to the engine, with its parameters, for `EXPLAIN` or a console. */

import { isObject } from '../../domain/strict-json.ts'
import { LOG_COMMENT } from '../../ports/facts/engine/connection.ts'
import { textLiteral } from '../../ports/facts/erasure/names.ts'
import { QUERIES } from '../../ports/facts/queries.ts'
import type { CommandArguments } from '../../runtime/settings/settings.ts'
import { print } from '../terminal/output.ts'

/** A query as far as its text needs. A method, so that queries of any parameters are some: it throws if it misses one. */
interface NamedStatement {
  sql(params: object): string
  readonly turn: string
}

const STATEMENTS: ReadonlyMap<string, NamedStatement> = new Map(Object.entries(QUERIES))

export async function statementTool({ positionals, flags }: CommandArguments): Promise<number> {
  const [named] = positionals
  print(named === undefined ? statementNames() : statementText(statementNameIn(named), paramsIn(flags.get('--params'))))
  return 0
}

/** `log_comment` says `whence:visitLines`; both forms name it. */
function statementNameIn(text: string): string {
  return text.startsWith(`${LOG_COMMENT}:`) ? text.slice(LOG_COMMENT.length + 1) : text
}

function statementNames(): string {
  return [...STATEMENTS].map(([name, { turn }]) => `${name} (${turn})\n`).join('')
}

function paramsIn(text: string | undefined): Readonly<Record<string, unknown>> {
  if (text === undefined) return {}
  try {
    const params: unknown = JSON.parse(text)
    if (isObject(params)) return params
  } catch {
    // The same words as for JSON that is no object.
  }
  throw new Error('--params takes a JSON object, such as {"organization": "acme"}')
}

/**
 * The statement with a comment that names it and its parameters, and a `SET` for each: with its value if that is given, else commented out.
 * @throws Error if there is no such statement, or if its text follows from parameters that are not given
 */
export function statementText(name: string, params: Readonly<Record<string, unknown>>): string {
  const statement = STATEMENTS.get(name)
  if (statement === undefined) throw new Error(`no statement is called ${name}; without a name all are listed`)
  const sql = sqlOf(statement, name, params)
  const types = new Map(
    [...sql.matchAll(/\{(\w+):([^}]+)\}/g)].map(([, parameter = '', type = '']) => [parameter, type]),
  )
  const settings = [...types].map(([parameter, type]) =>
    parameter in params
      ? `SET param_${parameter} = ${textLiteral(valueText(params[parameter]))}; -- ${type}`
      : `-- SET param_${parameter} = '...'; -- ${type}`,
  )
  return [`-- ${LOG_COMMENT}:${name} (${statement.turn})`, ...settings, `${sql};`, ''].join('\n')
}

function sqlOf(statement: NamedStatement, name: string, params: Readonly<Record<string, unknown>>): string {
  try {
    return statement.sql(params)
  } catch (error) {
    throw new Error(`the text of ${name} follows from parameters that --params does not give`, { cause: error })
  }
}

/** As the engine reads a parameter: texts bare, those in a list quoted. */
function valueText(value: unknown): string {
  if (Array.isArray(value))
    return `[${value.map((each) => (typeof each === 'string' ? textLiteral(each) : valueText(each))).join(', ')}]`
  return typeof value === 'string' ? value : JSON.stringify(value)
}
