/** A value of the document for parts that need no more of it: the smaller sister of `native.ts`. */
export const documentValue = (name: 'cookie' | 'currentScript'): unknown =>
  Reflect.get(Document.prototype, name, document)
