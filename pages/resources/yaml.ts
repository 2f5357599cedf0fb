/** Writes plain data as YAML that `kubectl apply` accepts, for reading and copying. */

import { isObject } from '../../domain/strict-json.ts'
import { printableJson } from '../../common/printable.ts'

/** Text that needs no quotes; anything that YAML could read as a number, a boolean or null is quoted. */
const PLAIN = /^[A-Za-z][A-Za-z0-9_./-]*$/
const RESERVED = /^(?:true|false|yes|no|on|off|null|y|n)$/i

/** Lines with line ends, indented by two spaces per level. */
export function yamlOf(value: Readonly<Record<string, unknown>>): string {
  return fields(value, '')
}

function fields(value: Readonly<Record<string, unknown>>, indent: string): string {
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => `${indent}${scalar(name)}:${inside(member, indent)}`)
    .join('')
}

/** What follows a colon or a hyphen. */
function inside(value: unknown, indent: string): string {
  if (Array.isArray(value)) return value.length === 0 ? ' []\n' : `\n${items(value, `${indent}  `)}`
  if (!isObject(value)) return ` ${scalar(value)}\n`
  const text = fields(value, `${indent}  `)
  return text === '' ? ' {}\n' : `\n${text}`
}

function items(values: readonly unknown[], indent: string): string {
  return values
    .map((value) => {
      const text = inside(value, indent)
      // The first field follows the hyphen.
      return text.startsWith('\n') ? `${indent}- ${text.slice(1).trimStart()}` : `${indent}-${text}`
    })
    .join('')
}

/** JSON is YAML, so quotes and escapes are JSON's. What nobody sees, or what turns a line around, is escaped too. */
function scalar(value: unknown): string {
  if (typeof value === 'string' && PLAIN.test(value) && !RESERVED.test(value)) return value
  return printableJson(JSON.stringify(value))
}
