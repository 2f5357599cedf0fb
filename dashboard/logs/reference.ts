/** Turns pasted text into references that Logs can be searched by: receipts and tokens reach no address and no log. */

import { LIMITS } from '../../domain/limits.ts'
import { readReceipt, readToken, RECEIPT_OR_TOKEN, TOKEN_PREFIX, type ReceiptKeys } from '../../domain/receipt.ts'
import { objectSchema } from '../../domain/schema/json-schema.ts'
import { answer, textField } from '../http/call.ts'
import type { ReadScope } from '../reads/scope.ts'

/** The keys that receipts are read and hashed with. */
export type ReferenceKeys = ReceiptKeys & {
  /** Under every secret that is still read. */
  readonly logHashes: (value: string) => readonly string[]
}

export const REFERENCE_SCHEMA = objectSchema(
  {
    text: {
      type: 'string',
      description: 'A receipt, a token, or an ID of an event, installation or visit.',
      minLength: LIMITS.idChars.min,
      maxLength: LIMITS.idChars.max,
    },
  },
  ['text'],
)

/** A receipt is answered by its visit, if it is one of this organisation, and by its hashes; an ID by itself. */
export function answerReferences(scope: ReadScope, keys: ReferenceKeys) {
  return scope(async (reads, call) => {
    const text = textField(call, 'text').trim()
    if (!RECEIPT_OR_TOKEN.test(text)) return answer({ references: [text] })
    const visits = reads.websites.flatMap(({ id }) => {
      const owned = { organization: reads.organization.id, website: id }
      const claims = readReceipt(keys, owned, text) ?? readToken(keys, owned, text)
      return claims === null ? [] : [claims.visitId]
    })
    // An event's ID may have the form of a receipt.
    const itself = visits.length === 0 && !text.startsWith(TOKEN_PREFIX) ? [text] : []
    return answer({ references: [...visits, ...keys.logHashes(text), ...itself] })
  })
}
