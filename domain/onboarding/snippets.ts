/** Every text that a set-up needs, in the order in which it is pasted. */

import { hookCommand, installerLine } from '../collection/installer-line.ts'
import type { InstallTool, SetUp, SetUpNames } from './choices.ts'
import { firstRunCode, LANGUAGE_TITLES, type ProgramLanguage } from './first-run.ts'
import { commandSnippet, scriptSnippet } from './site-snippets.ts'
import type { SetUpSnippet } from './snippet.ts'

export function setUpSnippets(setUp: SetUp, names: SetUpNames): readonly SetUpSnippet[] {
  const { matching, tool } = setUp
  const snippets = [
    matching === 'TokensOnly' ? SCAN_DISABLED : null,
    scriptSnippet(setUp, names),
    commandSnippet(setUp, names),
    ...reportSnippets(tool, names),
  ]
  return snippets.filter((each) => each !== null)
}

const SCAN_DISABLED: SetUpSnippet = {
  step: 'scan',
  what: 'the setting',
  where: 'In the Website: the installer then looks at no browser',
  text: 'spec:\n  hook: { scan: Disabled }',
}

/** How installs are reported: by the script that the command runs, by the package, or by the program at its first run. */
function reportSnippets(tool: InstallTool, names: SetUpNames): readonly SetUpSnippet[] {
  const line = installerLine(names)
  switch (tool) {
    case 'Curl':
      return [reportSnippet('the line', 'The last line of the script that your install command runs', line)]
    case 'Npm':
      return [
        reportSnippet(
          'the entry',
          'In package.json, as a member of "scripts"',
          '"postinstall": "sh ./report-install.sh || exit 0"',
        ),
        reportSnippet('the file', 'In report-install.sh, which your package contains', line),
        firstRun('node', names),
      ]
    default:
      return LANGUAGES[tool].map((language) => firstRun(language, names))
  }
}

/** In which the program may be written: what is installed by Homebrew or apt may be in any. */
const LANGUAGES: Readonly<Record<Exclude<InstallTool, 'Curl' | 'Npm'>, readonly ProgramLanguage[]>> = {
  Homebrew: ['go', 'rust', 'python', 'node'],
  Pip: ['python'],
  Cargo: ['rust'],
  Go: ['go'],
  Apt: ['go', 'rust', 'python', 'node'],
}

function firstRun(language: ProgramLanguage, names: SetUpNames): SetUpSnippet {
  const title = LANGUAGE_TITLES[language]
  const code = firstRunCode(language, { command: hookCommand(names, 'first_run'), folder: names.website })
  return reportSnippet(`the code in ${title}`, `In your program, if it is written in ${title}: at its start`, code)
}

function reportSnippet(what: string, where: string, text: string): SetUpSnippet {
  return { step: 'report', what, where, text }
}
