/** Sends mail over SMTP, with time limits, and without addresses in errors. */

import nodemailer from 'nodemailer'

import { memberOf, textOf } from '../../domain/strict-json.ts'
import { withoutBrackets } from '../../domain/host.ts'
import { proxyFor, type OutboundProxy } from '../../domain/outbound/proxy.ts'
import { mailAddress, mailSender } from '../../domain/schema/mail-address.ts'
import { MailRefused, type Mailer } from './mailer.ts'

interface SmtpOptions {
  /** `smtp://USER:PASSWORD@HOST:587` or `smtps://…`. */
  readonly url: string
  /** `whence@acme.dev` or `Whence <whence@acme.dev>`. */
  readonly from: string
  /** Through which the server is called; absent or null: directly. */
  readonly proxy?: OutboundProxy | null
}

const CONNECT_MS = 10_000
const SILENCE_MS = 20_000
const REFUSED_FROM = 500
/** As many as mails are sent at the same time: otherwise they would wait for each other here. */
const CONNECTIONS_MAX = 10

export function smtpMailer({ url, from, proxy }: SmtpOptions): Mailer {
  const server = new URL(url)
  const { protocol, hostname, port, username, password } = server
  const proxyUrl = proxyFor(proxy ?? null, server)
  const isSecure = protocol === 'smtps:'
  const transport = nodemailer.createTransport({
    host: withoutBrackets(hostname),
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    secure: isSecure,
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    ...(proxyUrl === null ? {} : { proxy: proxyUrl }),
    pool: true,
    maxConnections: CONNECTIONS_MAX,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    // Our mails have neither attachments nor remote content, and text that looks like a path or an address must not be opened.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const sender = mailSender(from)
  if (sender === null) throw new Error('the sender of mails is no address')
  const domain = sender.address.slice(sender.address.lastIndexOf('@') + 1)
  return {
    async send({ id, to, subject, text, replyTo, regular }) {
      try {
        // Objects, since a text may be read as a list of addresses.
        const answers = replyTo === undefined ? {} : { replyTo: addressed(replyTo) }
        const headers = { 'Auto-Submitted': 'auto-generated', ...endHeaders(regular?.endUrl) }
        await transport.sendMail({
          from: sender,
          to: addressed(to),
          ...answers,
          subject,
          text,
          ...(regular === undefined ? {} : { html: regular.html }),
          headers,
          messageId: `<${id}@${domain}>`,
        })
      } catch (error) {
        throw plainError(error)
      }
    },
    close: () => transport.close(),
  }
}

/** A mail program calls the address by itself only over https (RFC 8058). */
function endHeaders(url: string | undefined): Readonly<Record<string, string>> {
  if (url === undefined) return {}
  const list = { 'List-Unsubscribe': `<${url}>` }
  return url.startsWith('https:') ? { ...list, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : list
}

/** What a mail library would make of any other text may be another mailbox than the one that was meant. */
function addressed(text: string): { readonly name: string; readonly address: string } {
  if (mailAddress(text) !== text) throw new MailRefused('it is addressed to no mail address')
  return { name: '', address: text }
}

/** Servers repeat addresses in their answers, so only the code goes on. */
function plainError(error: unknown): Error {
  if (error instanceof MailRefused) return error
  const responseCode = memberOf(error, 'responseCode')
  if (typeof responseCode !== 'number') {
    return new Error(`mail was not taken: ${textOf(memberOf(error, 'code')) || 'no answer'}`)
  }
  if (responseCode >= REFUSED_FROM) return new MailRefused(`refused with ${responseCode}`)
  return new Error(`mail was not taken: ${responseCode}`)
}
