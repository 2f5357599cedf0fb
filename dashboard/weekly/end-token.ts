/** The address that ends somebody's weekly mail. It names organisation and person to nobody but this service. */

import type { SealedTexts } from '../../runtime/keyring.ts'

/** Below `/api/`, which every proxy already sends to the dashboard. */
export const END_PATH = '/api/mail/weekly/'

interface WeeklyReader {
  /** ID of the organisation. */
  readonly organization: string
  readonly email: string
}

export function endAddress(baseUrl: string, seal: SealedTexts['seal'], { organization, email }: WeeklyReader): string {
  return `${baseUrl}${END_PATH}${seal(`${organization}\n${email}`)}`
}

/** Null if it was not made here. */
export function readerOf(token: string, open: SealedTexts['open']): WeeklyReader | null {
  const [organization, email, ...more] = open(token)?.split('\n') ?? []
  return organization === undefined || email === undefined || more.length > 0 ? null : { organization, email }
}
