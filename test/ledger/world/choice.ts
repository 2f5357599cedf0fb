/** Which part of a book somebody asks for. */

import { isOfVisit, nameOfEntry, namesOfVisit, type Book } from './book.ts'

/** One of the words, none of them, or a word in which one of them stands, whatever its capitals. An empty word: it has none. */
export interface Choice {
  readonly by: string
  readonly how: 'is' | 'is_not' | 'contains'
  readonly words: readonly string[]
}

/** One choice, with several words and without, and two at once. */
export const CHOICES: readonly (readonly Choice[])[] = [
  [{ by: 'source', how: 'is', words: ['newsletter', 'hn'] }],
  [{ by: 'source', how: 'is', words: ['', 'podcast'] }],
  [{ by: 'campaign', how: 'is_not', words: ['launch', 'show-hn'] }],
  [{ by: 'campaign', how: 'is', words: ['(Google Ads, auto-tagged)'] }],
  [{ by: 'page', how: 'contains', words: ['INSTALL', 'docs.'] }],
  [{ by: 'page', how: 'is', words: ['https://acme.dev/install', 'https://acme.dev/'] }],
  [{ by: 'page', how: 'is_not', words: ['https://docs.acme.dev/cli'] }],
  [{ by: 'version', how: 'is', words: ['1.4.0', ''] }],
  [
    { by: 'source', how: 'is', words: ['newsletter'] },
    { by: 'page', how: 'is', words: ['https://acme.dev/install'] },
  ],
  [
    { by: 'channel', how: 'is', words: ['Referral'] },
    { by: 'visitor_platform', how: 'is_not', words: ['linux', 'macos'] },
  ],
  [
    { by: 'campaign', how: 'is_not', words: [''] },
    { by: 'landing_page', how: 'contains', words: ['cli', 'install'] },
  ],
  [
    { by: 'source', how: 'is', words: ['hn', 'google', ''] },
    { by: 'source', how: 'contains', words: ['OG'] },
  ],
  [
    { by: 'country', how: 'is', words: ['DE', ''] },
    { by: 'path', how: 'is_not', words: ['brew'] },
  ],
]

/** As the address of a page says it. */
export function choiceText({ by, how, words }: Choice): string {
  return `${by}:${how}:${words.map((word) => word.replaceAll(/[,\\]/g, String.raw`\$&`)).join(',')}`
}

/** What all of these choices fit. Installs have one name or none, visits as many as they saw pages. */
export function chosen({ visitors, entries, outcomes }: Book, choices: readonly Choice[]): Book {
  return {
    outcomes,
    visitors: visitors.filter((visitor) => choices.every((each) => fits(each, namesOfVisit(each.by, visitor)))),
    entries: entries.filter((entry) =>
      choices.every((each) => {
        const name = nameOfEntry(each.by, entry)
        return fits(each, name === null ? [] : [name])
      }),
    ),
  }
}

/** Whether visits can be told apart by these: they know nothing of machines. */
export function isOfVisits(choices: readonly Choice[]): boolean {
  return choices.every(({ by }) => isOfVisit(by))
}

function fits({ how, words }: Choice, names: readonly string[]): boolean {
  switch (how) {
    case 'is':
      return names.some((name) => words.includes(name))
    case 'is_not':
      return !names.some((name) => words.includes(name))
    case 'contains':
      return names.some((name) => words.some((word) => name.toLowerCase().includes(word.toLowerCase())))
  }
}
