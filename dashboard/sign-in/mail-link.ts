/**
 * Signing in by a link in a mail. The browser that asked opens it with one click; any other browser needs the code of the
 * mail too, so that a scanner that opens links and presses buttons gets nowhere. Only a POST changes anything.
 */

import { refuse } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { isKnown } from '../../domain/people/standing.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import type { Randomness } from '../../runtime/random.ts'
import { answer, optionalText, textField, type Call, type Handler, type HandlerOutcome } from '../http/call.ts'
import { codeHit, mailHits, mailInAllHit, refuseByRate } from '../http/limits.ts'
import type { Outbox } from '../mail/outbox.ts'
import type { LetterAbout, WrittenLetter } from '../mail/post.ts'
import { signInMail } from '../mail/texts.ts'
import type { Directory } from '../resources/directory.ts'
import { sha256Hex } from '../../common/digest.ts'
import { secretText, type Sessions } from '../sessions/sessions.ts'
import { finishSignIn } from './finish.ts'

interface MailLinkParts {
  readonly hotState: HotState
  readonly sessions: Sessions
  readonly directory: Directory
  /** Null: the installation sends no mail. */
  readonly outbox: Outbox | null
  readonly randomness: Randomness
  readonly baseUrl: string
  /** Keyed hash of an address or code, for keys and records. */
  readonly hash: (text: string) => string
}

interface LinkRecord {
  readonly email: string
  /** Digest of the cookie of the browser that asked. */
  readonly browser: string
  /** Keyed hash of the code and the link. */
  readonly code: string
}

const CODE_DIGITS = 8
const ID_BYTES = 16

/** The same answer for every address, as soon for one as for another: whether a mail is due is decided behind it. */
export function askForMail(parts: MailLinkParts): Handler {
  return async (call) => {
    if (parts.outbox === null) return refuse('mail_not_configured')
    const email = textField(call, 'email').toLowerCase()
    const limited = await refuseByRate(mailHits(parts.hash(email), call.addressHash), parts.hotState)
    if (limited !== null) return limited
    const browser = call.browser ?? secretText(parts.randomness)
    const id = parts.randomness.hex(ID_BYTES)
    const { link, code } = secretsOf(id, parts.hash)
    const record: LinkRecord = { email, browser: sha256Hex(browser), code: parts.hash(`${link} ${code}`) }
    await parts.hotState.putOnce(`mail-link/${link}`, JSON.stringify(record), LIMITS.signInMs)
    await parts.outbox.put({ kind: 'sign-in', link: id })
    return answer({ ok: true }, { status: 202, cookies: { browser: { value: browser, forMs: LIMITS.signInMs } } })
  }
}

interface LinkSecrets {
  /** What the link in the mail carries: 43 characters. */
  readonly token: string
  /** Digest of the token. */
  readonly link: string
  readonly code: string
}

/** Both follow from the ID under a key of ours, so that a mail can wait on the log without them. */
function secretsOf(id: string, hash: (text: string) => string): LinkSecrets {
  const token = Buffer.from(`${id}${hash(`mail link ${id}`)}`, 'hex').toString('base64url')
  const number = BigInt(`0x${hash(`mail code ${id}`)}`) % 10n ** BigInt(CODE_DIGITS)
  return { token, link: sha256Hex(token), code: String(number).padStart(CODE_DIGITS, '0') }
}

interface SignInLetterParts extends Pick<MailLinkParts, 'hotState' | 'directory' | 'baseUrl' | 'hash'> {
  /** Strangers may sign up, so they may sign in first. */
  readonly isOpen: boolean
}

/** The mail of a link that is still valid, to a person whom some member names, or to anybody who may sign up. */
export function writeSignIn(
  parts: SignInLetterParts,
): (letter: { readonly link: string }, about: LetterAbout) => Promise<WrittenLetter> {
  return async ({ link: id }, { tries }) => {
    const { token, link, code } = secretsOf(id, parts.hash)
    const text = await parts.hotState.readOnce(`mail-link/${link}`)
    if (text === null) return 'void'
    const { email } = JSON.parse(text) as LinkRecord
    if (!parts.isOpen && !isKnown(email, parts.directory.members())) return 'void'
    const counts = tries === 0
    const isOver = counts && (await refuseByRate([mailInAllHit(parts.hash(email))], parts.hotState)) !== null
    return isOver ? 'void' : signInMail(email, { link: `${parts.baseUrl}/sign-in#mail=${token}`, code })
  }
}

export function confirmMail(parts: MailLinkParts): Handler {
  return async (call) => {
    const link = sha256Hex(textField(call, 'token'))
    const key = `mail-link/${link}`
    const text = await parts.hotState.readOnce(key)
    if (text === null) return refuse('sign_in_refused')
    const record = JSON.parse(text) as LinkRecord
    const refused = await refuseOtherBrowser(call, { link, record }, parts)
    if (refused !== null) return refused
    // Of several at once only one gets it.
    if ((await parts.hotState.takeOnce(key)) === null) return refuse('sign_in_refused')
    return finishSignIn(call, parts.sessions, { email: record.email, method: 'mail', groups: [] })
  }
}

/** The browser that asked needs no code; another one has five tries, and then the link is void. */
async function refuseOtherBrowser(
  call: Call,
  { link, record }: { readonly link: string; readonly record: LinkRecord },
  { hotState, hash }: MailLinkParts,
): Promise<HandlerOutcome | null> {
  if (call.browser !== null && sha256Hex(call.browser) === record.browser) return null
  const code = optionalText(call, 'code')
  if (code === null) return refuse('code_required')
  const counted = await hotState.countHits([codeHit(link, LIMITS.signInCodeTries)])
  if (counted.kind === 'counted') return hash(`${link} ${code}`) === record.code ? null : refuse('sign_in_refused')
  await hotState.takeOnce(`mail-link/${link}`)
  return refuse('sign_in_refused')
}
