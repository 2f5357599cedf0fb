/** The questions of the set-up in words, for pages and terminals: its choices, what each pair carries, and what each way to match needs. */

import { carriedBy, hasScript, type CommandPlace, type InstallTool, type Matching, type SetUp } from './choices.ts'

export const PLACE_TITLES: Readonly<Record<CommandPlace, string>> = {
  Html: 'Plain HTML',
  NextJs: 'Next.js',
  Astro: 'Astro',
  VitePress: 'VitePress',
  Docusaurus: 'Docusaurus',
  Mintlify: 'Mintlify',
  GitBook: 'GitBook',
  TagManager: 'Google Tag Manager',
  Readme: 'README or registry page',
}

export const TOOL_TITLES: Readonly<Record<InstallTool, string>> = {
  Curl: 'curl … | sh',
  Npm: 'npm',
  Homebrew: 'Homebrew',
  Pip: 'pip',
  Cargo: 'cargo',
  Go: 'go install',
  Apt: 'apt',
}

/** Until the reader has typed their own. */
export const EXAMPLE_COMMANDS: Readonly<Record<InstallTool, string>> = {
  Curl: 'curl -fsSL https://example.com/install.sh | sh',
  Npm: 'npm install -g example',
  Homebrew: 'brew install example',
  Pip: 'pip install example',
  Cargo: 'cargo install example',
  Go: 'go install example.com/example@latest',
  Apt: 'sudo apt install example',
}

/** One sentence each. */
export interface CarriedWords {
  readonly can: readonly string[]
  readonly cannot: readonly string[]
}

export function carriedWords(setUp: SetUp): CarriedWords {
  const carried = carriedBy(setUp)
  const can: string[] = []
  const cannot: string[] = []
  if (carried.token) can.push('A token: the copied command names its visit, on whatever machine it runs.')
  else cannot.push(`No token: ${whyNoToken(setUp)}`)
  if (carried.marker)
    can.push(
      `A marker: an install within 30 days on the machine of the browser finds its visit${hasScript(setUp.place) ? '' : ', if that browser was on a page of yours with the script'}. Safari and private windows keep none.`,
    )
  else cannot.push('No marker: only a copied token ties an install to its visit.')
  if (carried.place) can.push('A place: the install says where its command stood, which is counted beside campaigns.')
  else if (!hasScript(setUp.place)) cannot.push('No place: nothing of yours runs with the words of the command.')
  if (!carried.token && !carried.marker)
    cannot.push('So no install will be matched to a visit. Installs are counted all the same.')
  return { can, cannot }
}

function whyNoToken({ place, tool }: SetUp): string {
  if (!hasScript(place))
    return `a ${place === 'GitBook' ? 'site of GitBook' : 'README'} takes no script that could add one.`
  return tool === 'Homebrew'
    ? 'Homebrew clears the environment before it runs anything of yours.'
    : tool === 'Apt'
      ? 'sudo drops what the command carries, and packages are set up as root.'
      : `${TOOL_TITLES[tool]} runs none of your code when it installs.`
}

export interface MatchingWords {
  readonly title: string
  readonly gives: string
  /** What it asks of visitors, of people who install, and of their employers: one sentence each. */
  readonly needs: readonly { readonly of: 'Notice' | 'Consent' | 'Security software'; readonly sentence: string }[]
}

/** The second sentence about consent is no legal advice: it says what is stored. */
export const MATCHING_WORDS: Readonly<Record<Matching, MatchingWords>> = {
  TokensOnly: {
    title: 'Tokens only',
    gives: 'An install is matched if its command was copied on your page. The installer looks at no browser.',
    needs: [
      { of: 'Notice', sentence: 'None at the terminal: nothing is searched there.' },
      {
        of: 'Consent',
        sentence:
          'The script keeps in local storage how the visitor came, for 30 days. Where that needs consent, let it wait for your banner (data-consent="required").',
      },
      { of: 'Security software', sentence: 'Sees one short request with curl or wget, and no file of a browser.' },
    ],
  },
  TokensAndMarkers: {
    title: 'Tokens and markers',
    gives: 'Also matches installs whose command carried no token, if they follow a visit on the same machine.',
    needs: [
      {
        of: 'Notice',
        sentence: 'The installer says in one line on the terminal that it looks for the marker, and how to refuse.',
      },
      {
        of: 'Consent',
        sentence:
          'The script also keeps a small file in the visitor’s browser, for 30 days. Where that needs consent, let it wait for your banner (data-consent="required").',
      },
      {
        of: 'Security software',
        sentence:
          'May stop or report a script that reads folders of browsers. Companies can refuse it for a whole machine with one file (docs/hook.md).',
      },
    ],
  },
}
