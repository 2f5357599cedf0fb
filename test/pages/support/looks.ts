/** How a browser shows the pages: wide or narrow, light or dark. */

export interface Look {
  readonly width: 1280 | 390
  readonly scheme: 'light' | 'dark'
}

export const WIDE: Look = { width: 1280, scheme: 'light' }
export const WIDE_DARK: Look = { width: 1280, scheme: 'dark' }
export const NARROW: Look = { width: 390, scheme: 'light' }
export const NARROW_DARK: Look = { width: 390, scheme: 'dark' }
export const ALL_LOOKS: readonly Look[] = [WIDE, WIDE_DARK, NARROW, NARROW_DARK]

/** Whether each page is opened in all its looks (`make pages`). */
export const IS_WHOLE = process.env['WHENCE_PAGES'] === 'all'

/** What a test opens a page in: each width and each scheme once, or all. */
export const LOOKS: readonly Look[] = IS_WHOLE ? ALL_LOOKS : [WIDE, NARROW_DARK]
