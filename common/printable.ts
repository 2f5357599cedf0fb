/**
 * Text from outside must not control a terminal: removes control characters, and those that hide or reorder their
 * neighbours.
 */

const STEERING = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g
const STEERING_BUT_LINES =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g
const REPLACEMENT = '\uFFFD'

/** As one line: line breaks are replaced too. */
export function printable(text: string): string {
  return text.replace(STEERING, REPLACEMENT)
}

/** The same for a text whose line breaks this service wrote. */
export function printableLines(text: string): string {
  return text.replace(STEERING_BUT_LINES, REPLACEMENT)
}

/** JSON text with such characters escaped, so that a parser still reads them; line breaks between values stay. */
export function printableJson(json: string): string {
  return json.replace(STEERING_BUT_LINES, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
