/** Globals, whatever the page's elements are called: the name or ID of an element becomes a property of the window. */

/** A global of the browser, or one that a script has set; undefined if there is none. */
export const globalOf = (name: string): unknown =>
  Reflect.getOwnPropertyDescriptor(window, name) && Reflect.get(window, name)
