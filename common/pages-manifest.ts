/** What the build of the dashboard's pages records about its files, for the server of the pages. */

export interface PagesManifest {
  readonly script: string
  readonly style: string
  /** The files that the script imports, directly or through others, before it runs: a browser requests all of them together. */
  readonly preload: readonly string[]
  readonly assets: readonly BuiltAsset[]
}

/** One file of the bundle; it is served below `/assets/` by its name, for ever. */
export interface BuiltAsset {
  readonly name: string
  readonly contentType: string
  /** For the `integrity` attribute. */
  readonly integrity: string
  readonly bytes: number
  readonly brotliBytes: number
}
