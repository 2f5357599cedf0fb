/** The position of the next page of a list, as a text that browsers return and cannot change. */

import { parsedAs, isList } from '../../domain/guards.ts'
import { decodeBase64url, encodeBase64url } from '../../domain/base64url.ts'
import { refuseField, type Refusal } from '../../domain/errors.ts'
import type { LogPosition } from '../../domain/logs/walk.ts'
import { CURSOR_CHARS } from '../api/shapes.ts'

const MAC_CHARS = 32
const SEPARATOR = '.'

export interface Cursors {
  /** `list` names the list, so that its cursor is not valid for another one. */
  readonly write: (list: string, position: LogPosition) => string
  /** Null if we did not write it for this list. */
  readonly read: (list: string, cursor: string) => LogPosition | null
}

/** For a cursor that `read` does not know. */
export function refuseCursor(): Refusal {
  return refuseField('/cursor', 'is none that this list gave')
}

export function createCursors(mac: (text: string) => string): Cursors {
  const signed = (list: string, text: string): string => mac(`${list}\0${text}`).slice(0, MAC_CHARS)
  return {
    write(list, { beforeMs, beforeId }) {
      const text = encodeBase64url(Buffer.from(JSON.stringify([beforeMs, beforeId])))
      return `${text}${SEPARATOR}${signed(list, text)}`
    },
    read(list, cursor) {
      const [text = '', sent = ''] = cursor.length > CURSOR_CHARS ? [] : cursor.split(SEPARATOR)
      // A keyed hash of our own text: the time of the comparison reveals nothing that helps to forge another.
      if (text === '' || sent !== signed(list, text)) return null
      const bytes = decodeBase64url(text)
      if (bytes === null) return null
      const [beforeMs, beforeId] = parsedAs(isList, Buffer.from(bytes).toString('utf8')) ?? []
      return typeof beforeMs === 'number' && typeof beforeId === 'string' ? { beforeMs, beforeId } : null
    },
  }
}
