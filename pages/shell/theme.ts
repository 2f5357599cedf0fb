/** Colours, type and spacing of the component library. Our own styles take them from its CSS variables. */

import { createTheme, type MantineColorsTuple } from '@mantine/core'

/** Pine green: white on its seventh shade, and its fourth shade on black, both have enough contrast for text. */
const PINE: MantineColorsTuple = [
  '#ecf8f4',
  '#d6efe6',
  '#a9dfcb',
  '#78ceae',
  '#4fbf95',
  '#2fae82',
  '#1c8a66',
  '#13745a',
  '#0d5f4a',
  '#064a39',
]

export const THEME = createTheme({
  primaryColor: 'pine',
  primaryShade: { light: 7, dark: 7 },
  colors: { pine: PINE },
  fontFamily: 'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace',
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
})
