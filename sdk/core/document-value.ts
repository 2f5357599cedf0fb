/** A value of the document that the page cannot replace, as `native.ts` gives it, for parts that need nothing else of that file. */
export const documentValue = (name: 'cookie' | 'currentScript'): unknown =>
  Reflect.get(Document.prototype, name, document)
