/** `whencectl init`: asks a few questions, writes the manifests of an organisation and its website, and prints what to paste where. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { carriedWords } from '../../domain/onboarding/set-up-words.ts'
import { setUpSnippets } from '../../domain/onboarding/snippets.ts'
import { formatProblems, lintFolder } from '../../runtime/catalog/source.ts'
import type { RunOutcome } from '../../runtime/settings/settings.ts'
import { complain, print } from '../terminal/output.ts'
import { createAsker, type Asker } from './init/ask.ts'
import { newNames, setUpManifests } from './init/manifests.ts'
import {
  commandQuestion,
  MATCHING,
  ORGANIZATION,
  ORIGIN,
  PLACE,
  TIME_ZONE,
  TOOL,
  type InitAnswers,
} from './init/questions.ts'

const FOLDER = 'manifests'
const WITHOUT_DEFAULT = [ORGANIZATION, ORIGIN, PLACE, TOOL, MATCHING] as const

/** @throws Error for a flag that does not fit, an answer that is missing, or a file that is there already */
export async function initTool(run: RunOutcome<'init'>, env: NodeJS.ProcessEnv): Promise<number> {
  const [folder = FOLDER] = run.positionals
  const { baseUrl, defaultPlan } = run.settings
  const isSure = run.flags.has('--yes')
  const missing = WITHOUT_DEFAULT.filter(({ flag }) => isSure && !run.flags.has(flag)).map(({ flag }) => flag)
  if (missing.length > 0) throw new Error(`with --yes, say ${missing.join(', ')} too`)
  const asker = createAsker({ flags: run.flags, isSure })
  const answers = await askAll(asker).finally(asker.close)
  const names = newNames(answers)
  const file = join(folder, `${names.organization}.yaml`)
  await writeNew(folder, file, setUpManifests(answers, names, defaultPlan))
  complain(`\nWrote ${file}.\n\n`)
  print(setUpText(answers, names.website, baseUrl))
  print(nextSteps(folder, file, baseUrl))
  const problems = await lintFolder({ folder, env })
  if (problems.length > 0) complain(`\n${formatProblems(problems)}\n`)
  return problems.length === 0 ? 0 : 1
}

async function askAll({ ask }: Asker): Promise<InitAnswers> {
  const organization = await ask(ORGANIZATION)
  const timeZone = await ask(TIME_ZONE)
  const origin = await ask(ORIGIN)
  const place = await ask(PLACE)
  const tool = await ask(TOOL)
  const command = await ask(commandQuestion(tool))
  return { organization, timeZone, origin, place, tool, command, matching: await ask(MATCHING) }
}

async function writeNew(folder: string, file: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  try {
    await writeFile(file, text, { flag: 'wx', mode: 0o644 })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
      throw new Error(`${file} is there already: name another folder, or change that file`, { cause: error })
    throw error
  }
}

function setUpText(answers: InitAnswers, website: string, baseUrl: string): string {
  const { can, cannot } = carriedWords(answers)
  const snippets = setUpSnippets(answers, { baseUrl, website, path: null, installCommand: answers.command })
  const parts = snippets
    // The manifests say this already.
    .filter(({ step }) => step !== 'scan')
    .map(({ where, text }, index) => `${index + 1}. ${where}:\n\n${asBlock(text)}\n`)
  return [
    'What an install brings along:',
    ...can.map((sentence) => `  + ${sentence}`),
    ...cannot.map((sentence) => `  - ${sentence}`),
    '',
    ...parts,
  ].join('\n')
}

function asBlock(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '    ')
}

function nextSteps(folder: string, file: string, baseUrl: string): string {
  return `
Then start the service, on this machine or in a cluster:

    whencectl embedded --manifests ${folder}
    kubectl apply -f ${file}

The texts name the service as ${baseUrl}; --base-url gives the address that visitors and installers reach.
Open a page with the script: the dashboard there shows which step is done, and what is wrong with one that is not.
`
}
