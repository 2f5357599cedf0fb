/** Results that follow from an object alone, for objects that are never changed. */

/** The same function, called once for each object; its result is kept as long as the object. */
export function oncePerObject<K extends object, V>(make: (object: K) => V): (object: K) => V {
  const made = new WeakMap<K, V>()
  return (object) => {
    const known = made.get(object)
    if (known !== undefined) return known
    const result = make(object)
    made.set(object, result)
    return result
  }
}
