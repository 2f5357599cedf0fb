/** The texts of mails: plain, one link, and no tracking. */

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
