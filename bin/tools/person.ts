/** `whencectl person export EMAIL` and `whencectl person erase EMAIL`: shows or erases what is kept of one person. */

import type { RunOutcome } from '../../runtime/settings/settings.ts'
import { mailAddress } from '../../domain/schema/mail-address.ts'
import { connectTools } from './control.ts'
import { print } from '../terminal/output.ts'

const AFTERWARDS = `Not reached from here: what Git or kubectl writes again, backups (erase the person again after the restore of one that is
older), mails that were sent, and the payment provider. Activity keeps the pseudonym alone.
`

const ONLY_OWNER = `The person is the only Owner of the organisations under onlyOwnerOf, and is still a member there: make somebody else Owner
(sign-in-link --owner-of), or remove the organisation, and erase the person again.
`

export async function personTool({ settings, positionals }: RunOutcome<'person'>): Promise<number> {
  const [action = '', given = ''] = positionals
  if (action !== 'export' && action !== 'erase') throw new Error('say export or erase, then the address')
  const email = mailAddress(given)
  if (email === null) throw new Error('name an address such as anna@acme.dev')
  const live = await connectTools(settings.data)
  if (live === null) throw new Error(`no service runs on the data in ${settings.data}; --data names its folder`)
  if (action === 'export') {
    print(`${JSON.stringify(await live.exportPerson(email), null, 2)}\n`)
    return 0
  }
  const erased = await live.erasePerson(email)
  print(`${JSON.stringify(erased, null, 2)}\n${AFTERWARDS}`)
  if (erased.onlyOwnerOf.length > 0) print(ONLY_OWNER)
  return erased.left.length + erased.onlyOwnerOf.length === 0 ? 0 : 1
}
