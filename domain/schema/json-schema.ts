/** The part of JSON Schema that our resources and routes use. */

/** The keywords in use; the same data becomes the OpenAPI schema of a custom resource. */
export interface JsonSchema {
  readonly type: 'object' | 'array' | 'string' | 'integer' | 'boolean'
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly string[]
  /** Anchored; written for engines without look-around. */
  readonly pattern?: string
  /** Counted in code points. */
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[] | undefined
  readonly minProperties?: number
  readonly maxProperties?: number
  /** Of each member's name; custom resources have no such keyword. */
  readonly propertyNames?: JsonSchema
  /** Absent: unknown members are refused. A schema: the object is a map of such values. `true`: unknown members are not checked. */
  readonly additionalProperties?: JsonSchema | true
  /** The pattern's requirement in words, for the message. */
  readonly patternMeaning?: string
  /** What kind of address the text is. The compiler parses it; the API server checks its outer form. */
  readonly address?: 'origin' | 'page' | 'outbound'
}

/** Of an object with these properties and no others. */
export function objectSchema(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): JsonSchema {
  return { type: 'object', properties, required }
}
