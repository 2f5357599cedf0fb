/** The questions of the set-up, and what a command with these answers carries. Nothing is chosen before the reader chooses. */

import { TextInput } from '@mantine/core'
import { useState, type ReactNode } from 'react'

import {
  COMMAND_PLACES,
  INSTALL_TOOLS,
  MATCHING_CHOICES,
  type CommandPlace,
  type InstallTool,
  type Matching,
  type SetUp,
} from '../../domain/onboarding/choices.ts'
import {
  carriedWords,
  EXAMPLE_COMMANDS,
  MATCHING_WORDS,
  PLACE_TITLES,
  TOOL_TITLES,
} from '../../domain/onboarding/set-up-words.ts'
import type { SetUpAnswers } from '../data/set-up.ts'

interface QuestionsProps {
  readonly answers: SetUpAnswers
  readonly onAnswer: (part: SetUpAnswers) => void
}

export function Questions({ answers, onAnswer }: QuestionsProps): ReactNode {
  const { place, tool, matching, command = '' } = answers
  // The address follows a moment later, which would move the cursor.
  const [typed, setTyped] = useState(command)
  const setUp = place === undefined || tool === undefined || matching === undefined ? null : { place, tool, matching }
  // Whoever comes back with answers sees the steps first. Later it is the reader who opens and closes.
  const [isOpen] = useState(setUp === null)
  return (
    <details className="card questions" open={isOpen}>
      <summary>
        <h2>Your set-up</h2>
        {setUp !== null && <span>{titlesOf(setUp)}</span>}
      </summary>
      <Choices<CommandPlace>
        name="place"
        legend="Where does the install command stand?"
        choices={COMMAND_PLACES}
        titles={PLACE_TITLES}
        chosen={place}
        onChoose={(to) => onAnswer({ place: to })}
      />
      <Choices<InstallTool>
        name="tool"
        legend="How do people install?"
        choices={INSTALL_TOOLS}
        titles={TOOL_TITLES}
        chosen={tool}
        onChoose={(to) => onAnswer({ tool: to })}
      />
      {tool !== undefined && (
        <TextInput
          label="Your install command"
          description="As people type it. The texts below are made with it."
          placeholder={EXAMPLE_COMMANDS[tool]}
          value={typed}
          spellCheck={false}
          onChange={({ currentTarget }) => {
            setTyped(currentTarget.value)
            onAnswer({ command: currentTarget.value })
          }}
        />
      )}
      <Matchings chosen={matching} onChoose={(to) => onAnswer({ matching: to })} />
      {setUp !== null && <CarriedList setUp={setUp} />}
    </details>
  )
}

function titlesOf({ place, tool, matching }: SetUp): string {
  return [PLACE_TITLES[place], TOOL_TITLES[tool], MATCHING_WORDS[matching].title].join(' · ')
}

interface ChoicesProps<Choice extends string> {
  readonly name: string
  readonly legend: string
  readonly choices: readonly Choice[]
  readonly titles: Readonly<Record<Choice, string>>
  readonly chosen: Choice | undefined
  readonly onChoose: (choice: Choice) => void
}

function Choices<Choice extends string>(props: ChoicesProps<Choice>): ReactNode {
  const { name, legend, choices, titles, chosen, onChoose } = props
  return (
    <fieldset>
      <legend>{legend}</legend>
      <div className="set-up-choices">
        {choices.map((choice) => (
          <label key={choice} className="set-up-choice">
            <input
              type="radio"
              name={name}
              value={choice}
              checked={choice === chosen}
              onChange={() => onChoose(choice)}
            />
            {titles[choice]}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

interface MatchingsProps {
  readonly chosen: Matching | undefined
  readonly onChoose: (matching: Matching) => void
}

function Matchings({ chosen, onChoose }: MatchingsProps): ReactNode {
  return (
    <fieldset>
      <legend>By what are installs tied to visits?</legend>
      <div className="matchings">
        {MATCHING_CHOICES.map((matching) => {
          const { title, gives, needs } = MATCHING_WORDS[matching]
          return (
            <div key={matching} className="matching" data-chosen={matching === chosen}>
              <label className="set-up-choice">
                <input
                  type="radio"
                  name="matching"
                  value={matching}
                  checked={matching === chosen}
                  onChange={() => onChoose(matching)}
                />
                {title}
              </label>
              <p>{gives}</p>
              <dl>
                {needs.map(({ of, sentence }) => (
                  <div key={of}>
                    <dt>{of}</dt>
                    <dd>{sentence}</dd>
                  </div>
                ))}
              </dl>
            </div>
          )
        })}
      </div>
    </fieldset>
  )
}

function CarriedList({ setUp }: { readonly setUp: SetUp }): ReactNode {
  const { can, cannot } = carriedWords(setUp)
  return (
    <div className="carried" role="status">
      <h3>What an install brings along</h3>
      <ul>
        {can.map((sentence) => (
          <li key={sentence} data-carried="yes">
            {sentence}
          </li>
        ))}
        {cannot.map((sentence) => (
          <li key={sentence} data-carried="no">
            {sentence}
          </li>
        ))}
      </ul>
    </div>
  )
}
