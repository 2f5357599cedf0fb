/** Calls the dashboard's API. Every answer that is not a success becomes an `ApiProblem`. */

import { type JsonObject, objectOf } from '../../domain/strict-json.ts'

/** The API refused the request, or could not be reached. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  /** The API's code; `unreachable` if there was no answer. */
  readonly code: string
  /** 0 if there was no answer. */
  readonly status: number
  /** Finds the request in the process log. */
  readonly requestId: string | null
  /** The rest of the answer: for example a field and its message, what a plan allows, or the seconds to wait. */
  readonly detail: Readonly<Record<string, unknown>>
  constructor({ code, status, requestId, detail }: Pick<ApiProblem, 'code' | 'status' | 'requestId' | 'detail'>) {
    super(code)
    this.code = code
    this.status = status
    this.requestId = requestId
    this.detail = detail
  }
}

interface Question {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly body?: object
  /** A CSV file in place of a body. */
  readonly file?: Blob
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** The body of a successful answer; `T` is the shape that the route promises. */
export async function ask<T>(path: string, question: Question = {}): Promise<T> {
  const { method = 'GET', body, file, headers = {}, signal } = question
  const sent = file ?? (body === undefined ? undefined : JSON.stringify(body))
  const type = file === undefined ? 'application/json' : 'text/csv'
  const response = await fetch(path, {
    method,
    headers: { ...headers, ...(sent === undefined ? {} : { 'content-type': type }) },
    ...(sent === undefined ? {} : { body: sent }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error
    throw new ApiProblem({ code: 'unreachable', status: 0, requestId: null, detail: {} })
  })
  const text = await response.text()
  const parsed = parse(text)
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the server's own tests check its answers
  if (response.ok) return parsed as T
  const { error, ...detail } = parsed
  throw new ApiProblem({
    code: typeof error === 'string' ? error : 'internal',
    status: response.status,
    requestId: response.headers.get('x-request-id'),
    detail,
  })
}

/** A path with its parameters filled in: `path('/api/organizations/:organization', {organization})`. */
export function path(pattern: string, values: Readonly<Record<string, string>>): string {
  return pattern.replace(/:([A-Za-z]+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
}

/** A query string of the defined values; a name comes once for each member of a list. */
export function query(
  values: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>,
): string {
  const entries = Object.entries(values).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [value].flat().map((each) => [name, String(each)]),
  )
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries).toString()}`
}

function parse(text: string): JsonObject {
  if (text === '') return {}
  try {
    return objectOf(JSON.parse(text))
  } catch {
    return {}
  }
}

/** The cursor of the first page of a list; that of a later one comes with the page before it. */
export const FIRST_PAGE: string | null = null
