/**
 * The browser's own properties, whatever the page's elements are called: the name or ID of an element becomes a
 * property of the window, and shadows those of the document and of its form.
 */

/**
 * `object` with the properties of its class alone, methods bound to it. Only to read and call: the browser takes none of
 * these as an argument.
 */
export const native = <T extends object>(object: T): T =>
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
  new Proxy({} as T, {
    get: (_, name) => {
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
      const value: unknown = Reflect.get(Object.getPrototypeOf(object) as object, name, object)
      return typeof value === 'function' ? (value.bind(object) as unknown) : value
    },
  })

/** The page's document. On a server, where the package may be imported, it has no properties. */
export const nativeDocument = native(globalThis.document)
