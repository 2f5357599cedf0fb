/** Tells keys that are commands from text that is typed into a field. */

/** Whether what is pressed goes into a field. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}
