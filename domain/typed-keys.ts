/** Keys and records of which the type knows every name; `Object.keys` and `Object.fromEntries` forget them. */

/** Keys of a table of this program. Not for values from outside, which may have more members than their type. */
export function keysOf<T extends object>(table: T): readonly (keyof T & string)[] {
  // The type lists every member, as the table was written here.
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- see the comment above
  return Object.keys(table) as (keyof T & string)[]
}

/** A value for each name that has one. */
export function partialOf<N extends string, V>(
  names: readonly N[],
  valueOf: (name: N) => V | undefined,
): { readonly [K in N]?: V } {
  return presentOf(recordOf(names, valueOf))
}

/** The members that have a value. */
export function presentOf<T extends object>(members: T): Present<T> {
  // Absent ones are left out, and none is added.
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- see the comment above
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  ) as Present<T>
}

type Present<T> = { [N in keyof T]?: Exclude<T[N], undefined | null> }

/** One value for each name. */
export function recordOf<N extends string, V>(names: readonly N[], valueOf: (name: N) => V): Readonly<Record<N, V>> {
  // Each name has its entry.
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- see the comment above
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<N, V>
}
