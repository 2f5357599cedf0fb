/** The types of settings, derived from the tables: what each command reads, and what is known of it once it was checked. */

import type { CommandName, COMMANDS } from './commands.ts'
import type { SettingParser } from './parse.ts'
import type { KUBE, MASTER_SECRET, PROXY, TOGETHER, TOOL } from './setting-groups.ts'
import type { SettingName, SETTINGS } from './table.ts'

type SettingTable = typeof SETTINGS
type RowOfCommand<C extends CommandName> = (typeof COMMANDS)[C]
type NameIn<C extends CommandName> = RowOfCommand<C>['settings'][number]

type ValueOf<N extends SettingName> = SettingTable[N] extends { readonly parse: SettingParser<infer T> } ? T : never
/** Null if a setting has no default; a default in a folder of this machine is none for a command whose engines are servers. */
type Absent<N extends SettingName, C extends CommandName> = SettingTable[N]['fallback'] extends null
  ? null
  : SettingTable[N]['fallback'] extends (above: never) => infer F
    ? null extends F
      ? RowOfCommand<C> extends { readonly engines: 'servers' }
        ? null
        : never
      : never
    : never

type Given<N extends SettingName> = { readonly [Each in N]: ValueOf<Each> }
type NotGiven<N extends SettingName> = { readonly [Each in N]: null }

/** These settings as parsed, for whoever takes them from any command; null if one is absent. */
export type SettingsNamed<N extends SettingName> = {
  readonly [Each in N]: ValueOf<Each> | (SettingTable[Each]['fallback'] extends null ? null : never)
}

export type StoreSettings = SettingsNamed<(typeof TOOL)[number]>
export type KubeSettings = SettingsNamed<(typeof KUBE)[number]>
export type ProxySettings = SettingsNamed<(typeof PROXY)[number]>

type NeedsOf<C extends CommandName> = RowOfCommand<C> extends { readonly needs: infer Needs } ? Needs : unknown

type RequiredBy<C extends CommandName> = NeedsOf<C> extends { readonly always: readonly (infer N)[] } ? N : never

/** The engines that the chosen role needs are given. */
type ByRole<C extends CommandName> =
  NeedsOf<C> extends { readonly byRole: infer Roles }
    ? { [R in keyof Roles]: { readonly role: R } & GivenAll<Roles[R]> }[keyof Roles]
    : unknown
type GivenAll<Names> = Names extends readonly (infer N extends SettingName)[] ? Given<N> : never

/** The master secrets are in one of two places. */
export type MasterSecretSettings = { readonly secret: string } | { readonly secret: null; readonly secretFile: string }
type WithSecret<C extends CommandName> =
  (typeof MASTER_SECRET)[number] extends NameIn<C>
    ? NeedsOf<C> extends { readonly secretWith: infer W extends SettingName }
      ? NotGiven<W> | (Given<W> & MasterSecretSettings)
      : MasterSecretSettings
    : unknown

/** All settings of a group are given, or none. */
export type TogetherSettings<G extends keyof typeof TOGETHER> =
  Given<(typeof TOGETHER)[G][number]> | NotGiven<(typeof TOGETHER)[G][number]>
type InGroup<C extends CommandName, G extends keyof typeof TOGETHER> =
  (typeof TOGETHER)[G][number] extends NameIn<C> ? TogetherSettings<G> : unknown

/** Exactly the settings that a command reads, all of them checked. */
export type SettingsOf<C extends CommandName> = {
  readonly [N in NameIn<C>]: ValueOf<N> | (N extends RequiredBy<C> ? never : Absent<N, C>)
} & ByRole<C> &
  WithSecret<C> &
  InGroup<C, 'signIn'> &
  InGroup<C, 'mail'> &
  InGroup<C, 'billing'>
