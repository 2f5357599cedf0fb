/** Small checks for the stand-ins' rules; each reports what is wrong with a value, or nothing. */

export type Json = Readonly<Record<string, unknown>>

/** Null if it is not a JSON object. */
export function parsed(body: string): Json | null {
  try {
    const value: unknown = JSON.parse(body)
    return isJson(value) ? value : null
  } catch {
    return null
  }
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isFilledText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Collects findings under a path. */
export class Findings {
  readonly all: string[] = []

  /** True if the value is right. */
  expect(isRight: boolean, finding: string): boolean {
    if (!isRight) this.all.push(finding)
    return isRight
  }

  onlyKnown(value: Json, known: readonly string[], path: string): void {
    for (const field of Object.keys(value)) this.expect(known.includes(field), `${path}${field} is no field`)
  }

  /** It may be absent; otherwise it must be one of these. */
  oneOf(value: unknown, values: readonly unknown[], path: string): void {
    this.expect(value === undefined || values.includes(value), `${path} must be one of ${values.join(', ')}`)
  }
}
