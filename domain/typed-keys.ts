/** Keys and records of which the type knows every name; `Object.keys` and `Object.fromEntries` forget them. */

/** Keys of a table of this program. Not for values from outside, which may have more members than their type. */
export function keysOf<T extends object>(table: T): readonly (keyof T & string)[] {
  // The type lists every member, as the table was written here.
  return Object.keys(table) as (keyof T & string)[]
}

/** One value for each name. */
export function recordOf<N extends string, V>(names: readonly N[], valueOf: (name: N) => V): Readonly<Record<N, V>> {
  // Each name has its entry.
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<N, V>
}
