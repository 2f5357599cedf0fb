/**
 * Signing in with a link in a mail. The browser that requested it needs one click; any other browser needs the code of the
 * mail too, so that mail scanners that open links and press buttons cannot sign in. Only a POST changes anything.
 */

import { shapeOf, isText, isFlag, parsedAs } from '../../domain/guards.ts'
import { refuse, refuseField, type Refusal } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { mailAddress } from '../../domain/schema/mail-address.ts'
import { isKnown } from '../../domain/people/standing.ts'
import type { HitCounter } from '../../ports/hot-state/hot-state.ts'
import type { OnceVerbs } from '../../ports/hot-state/session-verbs.ts'
import type { Randomness } from '../../runtime/random.ts'
import { answer, answerAccepted, type CallTo } from '../http/call.ts'
import { codeHit, mailHit, mailInAllHit, refuseByRate } from '../http/limits.ts'
import { NO_ADDRESS } from '../api/sign-in.ts'
import type { Outbox } from '../mail/outbox.ts'
import type { LetterAbout, WrittenLetter } from '../mail/post.ts'
import { signInMail } from '../mail/texts.ts'
import type { Directory } from '../resources/directory.ts'
import { sha256Hex } from '../../common/digest.ts'
import { secretText, type Sessions } from '../sessions/sessions.ts'
import { finishSignIn } from './finish.ts'
import { knownBrowser, rememberBrowser } from './known-browser.ts'

export interface MailLinkParts {
  readonly hotState: HitCounter & OnceVerbs
  readonly sessions: Sessions
  /** Null: the installation sends no mail. */
  readonly outbox: Outbox | null
  readonly randomness: Randomness
  /** Keyed hash of an address or code, for keys and records. */
  readonly hash: (text: string) => string
}

interface LinkRecord {
  readonly email: string
  /** Digest of the cookie of the browser that requested it. */
  readonly browser: string
  /** Keyed hash of the code and the link. */
  readonly code: string
  /** The address has signed in there before. */
  readonly isKnown: boolean
}

const isLinkRecord = shapeOf<LinkRecord>({ email: isText, browser: isText, code: isText, isKnown: isFlag })

const CODE_DIGITS = 8
const ID_BYTES = 16

/** The same answer for every address, after the same time: whether to send a mail is decided afterwards. */
export function askForMail(parts: MailLinkParts) {
  return async (call: CallTo<'signInMail'>) => {
    if (parts.outbox === null) return refuse('mail_not_configured')
    const email = mailAddress(call.body.email)
    if (email === null) return refuseField('/email', NO_ADDRESS)
    const mailHash = parts.hash(email)
    const known = await knownBrowser(call, { email, mailHash }, parts.hotState)
    const { addressHash } = call
    const limited = await refuseByRate([mailHit(mailHash, { known, addressHash })], parts.hotState)
    if (limited !== null) return limited
    const browser = call.browser ?? secretText(parts.randomness)
    const id = parts.randomness.hex(ID_BYTES)
    const { link, code } = secretsOf(id, parts.hash)
    const hashes = { browser: sha256Hex(browser), code: parts.hash(`${link} ${code}`) }
    const record: LinkRecord = { email, ...hashes, isKnown: known !== null }
    await parts.hotState.putOnce(`mail-link/${link}`, JSON.stringify(record), LIMITS.signInMs)
    await parts.outbox.put({ kind: 'sign-in', link: id })
    return answerAccepted({ ok: true }, { cookies: { browser: { value: browser, forMs: LIMITS.knownBrowserMs } } })
  }
}

interface LinkSecrets {
  /** The token in the mailed link: 43 characters. */
  readonly token: string
  /** Digest of the token. */
  readonly link: string
  readonly code: string
}

/** Both are derived from the ID with a secret key, so that a mail can wait on the log without them. */
function secretsOf(id: string, hash: (text: string) => string): LinkSecrets {
  const token = Buffer.from(`${id}${hash(`mail link ${id}`)}`, 'hex').toString('base64url')
  const number = BigInt(`0x${hash(`mail code ${id}`)}`) % 10n ** BigInt(CODE_DIGITS)
  return { token, link: sha256Hex(token), code: String(number).padStart(CODE_DIGITS, '0') }
}

interface SignInLetterParts {
  readonly hotState: HitCounter & OnceVerbs
  readonly directory: Directory
  readonly baseUrl: string
  readonly hash: (text: string) => string
  /** If sign-up is open, anyone may sign in first. */
  readonly isOpen: boolean
  /** The service's name as people read it. */
  readonly brand: string
}

/** The mail of a link that is still valid, to a person with a membership or invitation, or to anyone if sign-up is open. */
export function writeSignIn(
  parts: SignInLetterParts,
): (letter: { readonly link: string }, about: LetterAbout) => Promise<WrittenLetter> {
  return async ({ link: id }, { tries }) => {
    const { token, link, code } = secretsOf(id, parts.hash)
    const text = await parts.hotState.readOnce(`mail-link/${link}`)
    if (text === null) return 'void'
    const record = parsedAs(isLinkRecord, text)
    if (record === null) return 'void'
    const { email, isKnown: isOfKnownBrowser } = record
    if (!parts.isOpen && !isKnown(email, parts.directory.members())) return 'void'
    const counts = tries === 0 && !isOfKnownBrowser
    const isOver = counts && (await refuseByRate([mailInAllHit(parts.hash(email))], parts.hotState)) !== null
    const { baseUrl, brand } = parts
    return isOver ? 'void' : signInMail(email, { link: `${baseUrl}/sign-in#mail=${token}`, code, brand })
  }
}

export function confirmMail(parts: MailLinkParts) {
  return async (call: CallTo<'confirmMail'>) => {
    const link = sha256Hex(call.body.token)
    const key = `mail-link/${link}`
    const text = await parts.hotState.readOnce(key)
    const record = text === null ? null : parsedAs(isLinkRecord, text)
    if (record === null) return refuse('sign_in_refused')
    const refused = await refuseOtherBrowser(call, { link, record }, parts)
    if (refused !== null) return refused
    // Only one of several requests at once gets it.
    if ((await parts.hotState.takeOnce(key)) === null) return refuse('sign_in_refused')
    const { email } = record
    const browser = call.browser ?? secretText(parts.randomness)
    await rememberBrowser(browser, parts.hash(email), parts.hotState)
    const { body, cookies } = await finishSignIn(call, parts.sessions, { email, method: 'mail', groups: [] })
    const kept = { browser: { value: browser, forMs: LIMITS.knownBrowserMs } }
    return answer(body, { cookies: { ...cookies, ...(call.browser === null ? kept : {}) } })
  }
}

/** The browser that requested it needs no code; another one has five attempts, and then the link is void. */
async function refuseOtherBrowser(
  call: CallTo<'confirmMail'>,
  { link, record }: { readonly link: string; readonly record: LinkRecord },
  { hotState, hash }: MailLinkParts,
): Promise<Refusal | null> {
  if (call.browser !== null && sha256Hex(call.browser) === record.browser) return null
  const { code } = call.body
  if (code === undefined) return refuse('code_required')
  const counted = await hotState.countHits([codeHit(link, LIMITS.signInCodeTries)])
  if (counted.kind === 'counted') return hash(`${link} ${code}`) === record.code ? null : refuse('sign_in_refused')
  await hotState.takeOnce(`mail-link/${link}`)
  return refuse('sign_in_refused')
}
