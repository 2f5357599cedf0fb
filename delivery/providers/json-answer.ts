/** Reads values of unknown shape from providers' answers and from checked settings, without trusting any of them. */

import { objectOf, textOf, type JsonObject } from '../../domain/strict-json.ts'

/** Empty if it is not a JSON object. */
export function jsonObject(body: string): JsonObject {
  try {
    return objectOf(JSON.parse(body))
  } catch {
    return {}
  }
}

/** Objects of a list; empty if it is not a list. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(objectOf) : []
}

/** Null if it is not a whole number. */
export function integerOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null
}

/** A provider's own code if it is safe to show: words, digits and a few marks; empty for anything else. */
export function codeWord(value: unknown): string {
  const text = textOf(value)
  return /^[A-Za-z0-9_.:-]{1,80}$/.test(text) ? text : ''
}
