/** The one rule for mail addresses, at every door: what is signed in, a member, invited or mailed is exactly one mailbox. */

import { isPlainHost } from '../host.ts'

/** RFC 5321, as corrected by its erratum 1690. */
export const ADDRESS_CHARS = 254
const LOCAL_CHARS = 64
/** Dot-atoms of RFC 5322: quoted texts, comments and addresses of machines in brackets are read differently by different programs. */
const ADDRESS =
  /^([a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*)@((?:[a-z0-9-]+\.)+[a-z0-9-]*[a-z][a-z0-9-]*)$/
/** Other letters may have an ASCII letter as their lower case (U+212A has k): the text would become somebody else's address. */
const ASCII = /^[\x21-\x7e]+$/
/** The address alone, or in angle brackets behind a name. */
const NAMED = /^(?:([^\s<>]+)|(?:([^<>"@\p{C}]{1,80}) )?<([^\s<>]+)>)$/u

/** In lower case, so that one person is one text; null if the text is no address. Nothing is trimmed or taken out. */
export function mailAddress(text: string): string | null {
  if (text.length > ADDRESS_CHARS || !ASCII.test(text)) return null
  const address = text.toLowerCase()
  const [, local = '', domain = ''] = ADDRESS.exec(address) ?? []
  const isAddress = local !== '' && local.length <= LOCAL_CHARS && isPlainHost(domain)
  return isAddress ? address : null
}

interface MailSender {
  /** Empty if there is none. */
  readonly name: string
  readonly address: string
}

/** `whence@acme.dev` or `Whence <whence@acme.dev>`; null if it is neither. */
export function mailSender(text: string): MailSender | null {
  const [, plain, name = '', bracketed] = NAMED.exec(text) ?? []
  const address = mailAddress(plain ?? bracketed ?? '')
  return address === null ? null : { name, address }
}
