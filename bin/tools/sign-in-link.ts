/** `whencectl sign-in-link`: prints a link that signs a person in to the dashboard once. */

import type { RunOutcome } from '../../runtime/settings/settings.ts'
import { mailAddress } from '../../domain/schema/mail-address.ts'
import { connectTools } from './control.ts'
import { print } from '../terminal/output.ts'

export async function signInLinkTool({ settings, flags }: RunOutcome<'sign-in-link'>): Promise<number> {
  const email = mailAddress(flags.get('--email') ?? '')
  if (email === null) throw new Error('--email must name an address such as anna@acme.dev')
  const live = await connectTools(settings.data)
  if (live === null) throw new Error(`no service runs on the data in ${settings.data}; --data names its folder`)
  const link = await live.signInLink({ email, ownerOf: flags.get('--owner-of') ?? null })
  print(`This link signs ${email} in once, within 15 minutes:\n\n  ${link}\n`)
  return 0
}
