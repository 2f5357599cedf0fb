/** The questions of the set-up, what may be answered, and what a command at a place can carry to an install. */

/** Where the install command stands that people copy. */
export const COMMAND_PLACES = [
  'Html',
  'NextJs',
  'Astro',
  'VitePress',
  'Docusaurus',
  'Mintlify',
  'GitBook',
  'TagManager',
  'Readme',
] as const
export type CommandPlace = (typeof COMMAND_PLACES)[number]

/** With what people install. */
export const INSTALL_TOOLS = ['Curl', 'Npm', 'Homebrew', 'Pip', 'Cargo', 'Go', 'Apt'] as const
export type InstallTool = (typeof INSTALL_TOOLS)[number]

/** By what installs are tied to visits. Nothing is chosen until somebody chooses: markers need more than tokens. */
export const MATCHING_CHOICES = ['TokensOnly', 'TokensAndMarkers'] as const
export type Matching = (typeof MATCHING_CHOICES)[number]

/** All three answers. */
export interface SetUp {
  readonly place: CommandPlace
  readonly tool: InstallTool
  readonly matching: Matching
}

/** What the texts to paste are made for. */
export interface SetUpNames {
  /** Public address of the service, without a slash at its end. */
  readonly baseUrl: string
  /** ID of the website. */
  readonly website: string
  /** Install path that the installer names; null for the first one. */
  readonly path: string | null
  /** As people type it; one line. */
  readonly installCommand: string
}

/** What an install brings along. */
export interface CarriedParts {
  /** A copied command names its very visit, on whatever machine it runs. */
  readonly token: boolean
  /** A browser on the machine of the install may name a visit. */
  readonly marker: boolean
  /** The command says where it stood; that is counted, and matches nothing. */
  readonly place: boolean
}

/** Where the script may stand: nobody can add one to a README, or to a site of GitBook. */
export type ScriptedPlace = Exclude<CommandPlace, 'GitBook' | 'Readme'>

export function hasScript(place: CommandPlace): place is ScriptedPlace {
  return place !== 'GitBook' && place !== 'Readme'
}

/** Whether code of the vendor gets what the copied command says: the others run none, or clear its environment. */
function passesOn(tool: InstallTool): boolean {
  return tool === 'Curl' || tool === 'Npm'
}

export function carriedBy({ place, tool, matching }: SetUp): CarriedParts {
  return {
    token: hasScript(place) && passesOn(tool),
    marker: matching === 'TokensAndMarkers',
    place: !hasScript(place) && passesOn(tool),
  }
}
