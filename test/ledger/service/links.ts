/** The share links of a world's website: what each shows is fixed when it is made. */

import { specTime, shareLinkOf } from '../../dashboard/support/stage.ts'
import type { Choice } from '../world/choice.ts'
import { DAY } from '../world/world.ts'

interface Link {
  readonly path: string
  /** The same period as the Overview is asked for under this name. */
  readonly words: 'the last seven days' | 'yesterday'
  readonly choices: readonly Choice[]
  readonly manifest: string
}

/** As a link says it. */
const SPELT: Readonly<Record<Choice['how'], string>> = { is: 'is', is_not: 'isNot', contains: 'contains' }

function linkOf(name: string, words: Link['words'], choices: readonly Choice[]): Link {
  const period = words === 'yesterday' ? 'Yesterday' : 'Last7Days'
  const filters = choices.map(({ by, how, words: values }) => JSON.stringify({ field: by, [SPELT[how]]: values }))
  const { text, page } = shareLinkOf(name, {
    website: 'acme-dev',
    expiresAt: specTime(Date.now() + 30 * DAY),
    more: `period: ${period}, filters: [${filters.join(', ')}]`,
  })
  return { path: page, words, choices, manifest: text }
}

export const LINKS: Readonly<Record<string, Link>> = {
  everything: linkOf('everything', 'the last seven days', []),
  yesterday: linkOf('yesterday', 'yesterday', []),
  'two filters': linkOf('two-filters', 'the last seven days', [
    { by: 'source', how: 'is', words: ['hn', 'google', ''] },
    { by: 'landing_page', how: 'contains', words: ['install', 'cli'] },
  ]),
  'filters of machines': linkOf('machines', 'the last seven days', [
    { by: 'country', how: 'is', words: ['DE', ''] },
    { by: 'path', how: 'is_not', words: ['brew'] },
  ]),
}
