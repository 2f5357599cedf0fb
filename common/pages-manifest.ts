/** What the build of the dashboard's pages says about its files, and the server of the pages reads. */

export interface PagesManifest {
  readonly script: string
  readonly style: string
  /** What the script imports at once, so that a browser asks for all of it together. */
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
