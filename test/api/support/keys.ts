/** The test service's keys: what its receipts and tokens say. */

import { readReceipt, readToken, type ReceiptClaims } from '../../../domain/receipt.ts'
import { createKeyring } from '../../../runtime/keyring.ts'
import { TEST_SECRET } from '../../../fixtures/service/service.ts'

export const KEYS = createKeyring([TEST_SECRET])

export function claimsOf(receipt: string, website = 'acme-dev'): ReceiptClaims {
  const claims = readReceipt(KEYS, { organization: 'acme', website }, receipt)
  if (claims === null) throw new Error('no genuine receipt')
  return claims
}

export function tokenClaimsOf(token: string, website = 'acme-dev'): ReceiptClaims {
  const claims = readToken(KEYS, { organization: 'acme', website }, token)
  if (claims === null) throw new Error('no genuine token')
  return claims
}
