/** The texts of mails: plain, one link, and no tracking. */

import type { AlertWords } from '../../domain/alerts/alert-words.ts'
import type { Mail } from './mailer.ts'
import { plainLine } from './plain-line.ts'

export function signInMail(
  to: string,
  { link, code, brand }: { readonly link: string; readonly code: string; readonly brand: string },
): Mail {
  return {
    to,
    subject: `Sign in to ${brand}`,
    text: [
      'Open this link in the browser in which you asked for it, within 15 minutes:',
      '',
      link,
      '',
      `In another browser you are asked for this code: ${code}`,
      '',
      'If you did not ask to sign in, ignore this mail: nobody gets in without it.',
      '',
    ].join('\n'),
  }
}

export function invitationMail(
  to: string,
  wish: { readonly link: string; readonly organization: string; readonly role: string; readonly brand: string },
): Mail {
  const organization = plainLine(wish.organization)
  return {
    to,
    subject: `Invitation to ${organization} on ${wish.brand}`,
    text: [
      `You are invited to ${organization} with the role ${wish.role}. The invitation holds for 7 days and can be used once:`,
      '',
      wish.link,
      '',
      'You will be asked to sign in with this address. If you do not expect this, ignore the mail.',
      '',
    ].join('\n'),
  }
}

export function alertMail(
  to: string,
  wish: {
    readonly words: AlertWords
    readonly isOpen: boolean
    readonly organization: string
    readonly link: string
  },
): Mail {
  const { title, sentence, advice } = wish.words
  const organization = plainLine(wish.organization)
  return {
    to,
    subject: `${wish.isOpen ? '' : 'No longer: '}${title} (${organization})`,
    text: [
      sentence,
      '',
      ...(wish.isOpen ? [advice, ''] : []),
      wish.link,
      '',
      'Owners and Admins get this mail. An Admin can change the rules at the organisation, under Alerts.',
      '',
    ].join('\n'),
  }
}
