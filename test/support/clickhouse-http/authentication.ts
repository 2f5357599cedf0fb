/** Lets the one user of the fixture in, by the three ways that ClickHouse's HTTP interface knows. */

import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

import { RequestRefused } from './refusals.ts'
import { header } from './request.ts'

export interface Account {
  readonly user: string
  /** Empty: none is required. */
  readonly password: string
}

/** Throws `RequestRefused` (516) for another name or password. Without any, a request is from the user `default`. */
export function authenticate(request: IncomingMessage, url: URL, account: Account): void {
  const { user, password } = credentials(request, url)
  if (isSame(user, account.user) && isSame(password, account.password)) return
  const why = 'Authentication failed: password is incorrect, or there is no user with such name'
  throw new RequestRefused(516, 'AUTHENTICATION_FAILED', `${user}: ${why}`)
}

function credentials(request: IncomingMessage, url: URL): Account {
  const basic = /^Basic (.+)$/i.exec(header(request, 'authorization') ?? '')?.[1]
  if (basic !== undefined) {
    const [user = '', ...rest] = Buffer.from(basic, 'base64').toString().split(':')
    return { user, password: rest.join(':') }
  }
  return {
    user: header(request, 'x-clickhouse-user') ?? url.searchParams.get('user') ?? 'default',
    password: header(request, 'x-clickhouse-key') ?? url.searchParams.get('password') ?? '',
  }
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [given, expected].map((text) => createHash('sha256').update(text).digest())
  return left !== undefined && right !== undefined && timingSafeEqual(left, right)
}
