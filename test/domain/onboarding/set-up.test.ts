import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'

import { installerLine } from '../../../domain/collection/installer-line.ts'
import {
  carriedBy,
  COMMAND_PLACES,
  hasScript,
  INSTALL_TOOLS,
  MATCHING_CHOICES,
  type SetUp,
  type SetUpNames,
} from '../../../domain/onboarding/choices.ts'
import { carriedWords, EXAMPLE_COMMANDS } from '../../../domain/onboarding/set-up-words.ts'
import { withPlace } from '../../../domain/onboarding/site-snippets.ts'
import { setUpSnippets } from '../../../domain/onboarding/snippets.ts'

const NAMES: SetUpNames = {
  baseUrl: 'https://whence.acme.dev',
  website: 'acme-dev',
  path: 'cli',
  installCommand: 'curl -fsSL https://acme.dev/install.sh | sh',
}
const ALL: readonly SetUp[] = COMMAND_PLACES.flatMap((place) =>
  INSTALL_TOOLS.flatMap((tool) => MATCHING_CHOICES.map((matching) => ({ place, tool, matching }))),
)
const textsOf = (setUp: SetUp, names: SetUpNames = NAMES): readonly string[] =>
  setUpSnippets(setUp, names).map(({ text }) => text)
const named = (tool: SetUp['tool']): SetUpNames => ({ ...NAMES, installCommand: EXAMPLE_COMMANDS[tool] })

describe('a set-up', () => {
  it('carries a token where the script runs and the command runs code of the vendor', () => {
    const withToken = ALL.filter((setUp) => carriedBy(setUp).token)
    expect(new Set(withToken.map(({ tool }) => tool))).to.deep.equal(new Set(['Curl', 'Npm']))
    expect(withToken.every(({ place }) => hasScript(place))).to.equal(true)
  })

  it('says of a pair that carries neither token nor marker that nothing will be matched', () => {
    for (const setUp of ALL) {
      const { token, marker } = carriedBy(setUp)
      const says = carriedWords(setUp).cannot.some((words) => words.startsWith('So no install will be matched'))
      expect(says, JSON.stringify(setUp)).to.equal(!token && !marker)
    }
  })

  it('switches markers off on both sides, in the script and in the hook, or on neither', () => {
    for (const setUp of ALL) {
      const texts = textsOf(setUp, named(setUp.tool)).join('\n')
      const isOff = setUp.matching === 'TokensOnly'
      expect(texts.includes('scan: Disabled'), JSON.stringify(setUp)).to.equal(isOff)
      expect(/data-markers['"]?[=:,] ?['"]off/.test(texts), JSON.stringify(setUp)).to.equal(
        isOff && hasScript(setUp.place),
      )
    }
  })

  it('has a place in the command exactly where no script stands beside it', () => {
    for (const setUp of ALL) {
      const texts = textsOf(setUp, named(setUp.tool)).join('\n')
      expect(texts.includes('WHENCE_PLACE='), JSON.stringify(setUp)).to.equal(carriedBy(setUp).place)
    }
  })

  it('reports by the one line of installers, or by the program at its first run', () => {
    expect(textsOf({ place: 'Html', tool: 'Curl', matching: 'TokensAndMarkers' }).at(-1)).to.equal(installerLine(NAMES))
    for (const tool of INSTALL_TOOLS.filter((each) => each !== 'Curl')) {
      const texts = textsOf({ place: 'Html', tool, matching: 'TokensAndMarkers' }, named(tool))
      expect(texts.at(-1), tool).to.include('| sh -s -- first_run')
    }
  })

  it('shows the recipes that are run as the documentation prints them', () => {
    const page = readFileSync(new URL('../../../docs/hook-recipes.md', import.meta.url), 'utf8')
    const recipe = (name: string) => new RegExp(`<!-- recipe: ${name} -->\n\`\`\`\\w+\n([^]*?)\n\`\`\``).exec(page)?.[1]
    const [go, rust, python, node] = textsOf({ place: 'Readme', tool: 'Homebrew', matching: 'TokensAndMarkers' })
    expect({ node, python, go, rust }).to.deep.equal({
      node: recipe('first-run-node'),
      python: recipe('first-run-python'),
      go: recipe('first-run-go'),
      rust: recipe('first-run-rust'),
    })
    const npm = textsOf({ place: 'Readme', tool: 'Npm', matching: 'TokensAndMarkers' })
    expect(recipe('npm-package')).to.include(npm[1])
    expect(recipe('npm-postinstall')?.replace('\\\n  ', '')).to.include(npm[2])
  })

  it('passes a command on whatever it contains', () => {
    const hostile = `curl "https://acme.dev/i.sh?a=1&b=2" | sh -s -- '<x>' \\{{y}}`
    const html = textsOf(
      { place: 'Html', tool: 'Curl', matching: 'TokensAndMarkers' },
      { ...NAMES, installCommand: hostile },
    )
    expect(html[1]).to.include(
      "data-whence-command>curl &quot;https://acme.dev/i.sh?a=1&amp;b=2&quot; | sh -s -- '&lt;x&gt;' \\{{y}}</pre>",
    )
    for (const place of ['NextJs', 'Astro'] as const) {
      const [, text = ''] = textsOf(
        { place, tool: 'Curl', matching: 'TokensAndMarkers' },
        { ...NAMES, installCommand: hostile },
      )
      const literal = /'curl(?:[^'\\]|\\.)*'/.exec(text)?.[0] ?? ''
      expect(runInNewContext(literal), place).to.equal(hostile)
    }
  })

  it('names the hosts of the installer, which a documentation site takes for its own only then', () => {
    const [script] = textsOf(
      { place: 'VitePress', tool: 'Curl', matching: 'TokensAndMarkers' },
      { ...NAMES, installCommand: 'curl -fsSL https://raw.githubusercontent.com/acme/acme/main/install.sh | sh' },
    )
    expect(script).to.include("'data-script-hosts': 'raw.githubusercontent.com',")
  })
})

describe('a command with a place', () => {
  const CASES: readonly (readonly [command: string, withWord: string])[] = [
    ['curl -fsSL https://a.dev/i.sh | sh', 'curl -fsSL https://a.dev/i.sh | env WHENCE_PLACE=readme sh'],
    ['curl https://a.dev/i | sudo bash -s -- -y', 'curl https://a.dev/i | sudo env WHENCE_PLACE=readme bash -s -- -y'],
    ['sh -c "$(curl https://a.dev/i)"', 'env WHENCE_PLACE=readme sh -c "$(curl https://a.dev/i)"'],
    ['npm install -g acme', 'env WHENCE_PLACE=readme npm install -g acme'],
    ['sudo npm install -g acme', 'sudo env WHENCE_PLACE=readme npm install -g acme'],
    ['curl https://show.dev/x | jq . | /bin/sh', 'curl https://show.dev/x | jq . | env WHENCE_PLACE=readme /bin/sh'],
  ]
  for (const [command, withWord] of CASES)
    it(`is ${withWord}`, () => {
      expect(withPlace(command, 'readme')).to.equal(withWord)
    })
})
