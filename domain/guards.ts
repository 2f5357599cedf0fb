/** Checks of values that come from outside, such as stored or sent JSON: each gives the type of what it has checked. */

import { isObject, memberOf } from './strict-json.ts'

export type Guard<T> = (value: unknown) => value is T

export function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** A finite one. */
export function isNumber(value: unknown): value is number {
  return Number.isFinite(value)
}

/** A whole one that is exact. */
export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

export function isFlag(value: unknown): value is boolean {
  return typeof value === 'boolean'
}

export function orNull<T>(isRight: Guard<T>): Guard<T | null> {
  return (value) => value === null || isRight(value)
}

/** For a member that may be left out. */
export function orAbsent<T>(isRight: Guard<T>): Guard<T | undefined> {
  return (value) => value === undefined || isRight(value)
}

/** Whether a value is one of these. */
export function isOneOf<const T>(values: readonly T[]): Guard<T> {
  return (value): value is T => values.some((each) => each === value)
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

/** The entries of a member that is a list; none if it is not. */
export function listIn(value: unknown, name: string): readonly unknown[] {
  const list = memberOf(value, name)
  return isList(list) ? list : []
}

export function listOf<T>(isEntry: Guard<T>): Guard<readonly T[]> {
  return (value) => Array.isArray(value) && value.every(isEntry)
}

/** An object whose members all are of one kind. */
export function mapOf<T>(isMember: Guard<T>): Guard<Readonly<Record<string, T>>> {
  return (value): value is Readonly<Record<string, T>> => isObject(value) && Object.values(value).every(isMember)
}

/** An object with these members; it may have more. */
export function shapeOf<T extends object>(members: { readonly [K in keyof T]-?: Guard<T[K]> }): Guard<T> {
  const checks = Object.entries<Guard<unknown>>(members)
  return (value): value is T => isObject(value) && checks.every(([name, isRight]) => isRight(value[name]))
}

/** The value of this JSON; null if the text is no JSON, or of another shape. */
export function parsedAs<T>(isRight: Guard<T>, text: string): T | null {
  try {
    const value: unknown = JSON.parse(text)
    return isRight(value) ? value : null
  } catch {
    return null
  }
}
