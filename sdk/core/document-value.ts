/**
 * What the page's document has of its class, whatever its elements are called: the name or ID of an element becomes a property of the
 * document, and shadows these. Smaller than `native.ts`, for the parts that every visitor loads.
 */

interface ServedDocument extends Document {
  readonly prerendering?: boolean
}

/** A value of the document that no element replaces. */
export const documentValue = <Name extends keyof ServedDocument>(name: Name): ServedDocument[Name] =>
  Reflect.get(Document.prototype, name, document)

/** The first element that matches. The root element has no names of others. */
export const findInPage = (selector: string): Element | null => documentValue('documentElement').querySelector(selector)
