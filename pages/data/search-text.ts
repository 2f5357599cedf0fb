/** The query of an address as text: lists as repeated names, so that people can read and change it. All else as the router has it. */

import { defaultParseSearch, defaultStringifySearch } from '@tanstack/react-router'

/** The only list of an address. */
const LIST = 'filter'

export function parseSearch(text: string): Record<string, unknown> {
  const all = new URLSearchParams(text)
  const values = all.getAll(LIST)
  all.delete(LIST)
  const others = defaultParseSearch(`?${all.toString()}`)
  return values.length === 0 ? others : { ...others, [LIST]: values }
}

export function stringifySearch({ [LIST]: list, ...others }: Record<string, unknown>): string {
  const values = Array.isArray(list) ? list : []
  const text = defaultStringifySearch(others)
  const own = values.map((value) => `${LIST}=${readably(String(value))}`)
  return own.length === 0 ? text : `${text === '' ? '?' : `${text}&`}${own.join('&')}`
}

/** A colon, a comma and a slash mean nothing else in a query. */
function readably(value: string): string {
  return encodeURIComponent(value).replaceAll(/%(?:3A|2C|2F)/g, (code) => decodeURIComponent(code))
}
